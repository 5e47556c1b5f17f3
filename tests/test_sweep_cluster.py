"""Sweeps on a Dask cluster: the same bytes whatever becomes of workers, a word where a scheduler is gone."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

import weir
from sweeps import CELLS, SET, SHORT, command, killed, weir_sweep
from weir import _weir
from weir.errors import ConfigError, MissingExtraError
from weir.sweeping import cluster
from weir.sweeping.cluster import Cluster, check_address, play_all
from weir.sweeping.plan import Asked, make_plan

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LONG = SHORT.replace("packets = 2_000", "packets = 4_000_000").replace('"sf"]', '"sf", "alpha:10"]')
"""Some tenths of a second a replication."""
MANY = ("--over", "seed=1:24")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("scenario") / "scenario.toml"
    path.write_text(SHORT, encoding="utf-8")
    return path


class Bed:
    """A scheduler, and workers that come and go."""

    def __init__(self, folder: Path) -> None:
        self._file, self._started = folder / "scheduler.json", []
        self.scheduler = self._start("scheduler", "--port", "0")
        for _ in range(600):
            if self._file.exists() and self._file.stat().st_size:
                break
            time.sleep(0.05)
        self.address = json.loads(self._file.read_text())["address"]

    def _start(self, kind: str, *arguments: str) -> subprocess.Popen[bytes]:
        line = [sys.executable, "-m", f"distributed.cli.dask_{kind}", *arguments]
        quiet = subprocess.DEVNULL
        line += ["--scheduler-file", str(self._file), "--no-dashboard"]
        process = subprocess.Popen(line, stdout=quiet, stderr=quiet, cwd=self._file.parent)
        self._started.append(process)
        return process

    def worker(self) -> subprocess.Popen[bytes]:
        return self._start("worker", "--nthreads", "1", "--no-nanny")

    def end(self) -> None:
        for each in reversed(self._started):
            each.kill()
            each.wait()


@pytest.fixture
def bed(tmp_path: Path) -> Iterator[Bed]:
    bed = Bed(tmp_path)
    yield bed
    bed.end()


def kept_in(out: Path, least: int, process: subprocess.Popen[str]) -> None:
    """Wait until so many replications are kept."""
    for _ in range(1200):
        if out.exists() and len(_weir.Sweep(str(out))) >= least:
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    raise AssertionError(f"no {least} replications in a minute")


# The bytes.


def test_the_same_bytes_however_it_is_played(file: Path, tmp_path: Path) -> None:
    """One process, two, four workers of Dask, ten shards that are merged, one that is killed and goes on."""
    folders = {name: tmp_path / name for name in ("one", "two", "dask", "shards", "killed")}
    assert weir_sweep(file, *CELLS, "--out", folders["one"], "--threads", "1").returncode == 0
    quiet = subprocess.DEVNULL
    line = command(file, *CELLS, "--out", folders["two"])
    both = [subprocess.Popen(line, stdout=quiet, stderr=quiet) for _ in range(2)]
    assert [each.wait(300) for each in both] == [0, 0]
    ended = weir_sweep(file, *CELLS, "--out", folders["dask"], "--cluster", "local", "--threads", "4")
    assert ended.returncode == 0, ended.stderr
    shards = [tmp_path / f"shard-{number}" for number in range(1, 11)]
    for number, folder in enumerate(shards, 1):
        assert weir_sweep(file, *CELLS, "--out", folder, "--shard", f"{number}/10").returncode == 0
    assert weir_sweep("merge", *shards, "--out", folders["shards"]).returncode == 0
    killed((file, *CELLS, "--out", folders["killed"]), kills=5, seed=7, longest=1.5)
    sets = {name: (folder / SET).read_bytes() for name, folder in folders.items()}
    assert {name for name, content in sets.items() if content != sets["one"]} == set()


# Workers and schedulers that go.


def test_workers_come_go_and_die(bed: Bed, tmp_path: Path) -> None:
    file = tmp_path / "long.toml"
    file.write_text(LONG, encoding="utf-8")
    first, second = bed.worker(), bed.worker()
    line = command(file, *MANY, "--out", tmp_path / "out", "--cluster", bed.address)
    sweep = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    kept_in(tmp_path / "out", 4, sweep)
    first.kill()
    bed.worker()
    kept_in(tmp_path / "out", 12, sweep)
    second.terminate()
    out, errors = sweep.communicate(timeout=300)
    assert sweep.returncode == 0, errors
    assert "24 cells, 48 replications" in out
    alone = weir_sweep(file, *MANY, "--out", tmp_path / "alone")
    assert alone.returncode == 0, alone.stderr
    assert (tmp_path / "alone" / SET).read_bytes() == (tmp_path / "out" / SET).read_bytes()


def test_a_scheduler_that_vanishes_costs_no_finished_replication(bed: Bed, tmp_path: Path) -> None:
    file, out = tmp_path / "long.toml", tmp_path / "out"
    file.write_text(LONG, encoding="utf-8")
    bed.worker()
    line = command(file, *MANY, "--out", out, "--cluster", bed.address)
    sweep = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    kept_in(out, 4, sweep)
    bed.scheduler.kill()
    _, errors = sweep.communicate(timeout=120)
    assert sweep.returncode == 2, errors
    assert f"the scheduler at {bed.address} is gone" in errors
    assert "give the same command: it plays what is missing" in errors
    assert "Traceback" not in errors
    kept = len(_weir.Sweep(str(out)))
    assert f"{kept} replications are kept" in errors
    ended = weir_sweep(file, *MANY, "--out", out)
    assert f"{kept} of them were there before" in " ".join(ended.stdout.split())


def test_ctrl_c_keeps_what_came_back(bed: Bed, tmp_path: Path) -> None:
    file, out = tmp_path / "long.toml", tmp_path / "out"
    file.write_text(LONG, encoding="utf-8")
    bed.worker()
    line = command(file, *MANY, "--out", out, "--cluster", bed.address)
    sweep = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    kept_in(out, 2, sweep)
    os.kill(sweep.pid, signal.SIGINT)
    _, errors = sweep.communicate(timeout=60)
    assert sweep.returncode == 130, errors
    assert "the same command goes on from there" in errors


# What is refused.


@pytest.mark.parametrize("address", ["locl", "tcp://host", "http://host:80", ""])
def test_what_is_no_address_is_refused(file: Path, address: str) -> None:
    with pytest.raises(ConfigError, match="must be `local` or the address of a Dask scheduler"):
        check_address(address)
    with pytest.raises(ConfigError, match="--cluster is"):
        weir.sweep(file, {"seed": [1]}, cluster=address)


def test_a_scheduler_that_does_not_answer_is_refused(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "_ANSWER", "1s")
    with pytest.raises(ConfigError, match="no scheduler answers at tcp") as refused:
        weir.sweep(file, {"seed": [1]}, cluster="tcp://127.0.0.1:9", out=tmp_path / "out")
    assert "dask scheduler" in refused.value.remedy


def test_a_missing_package_is_told_with_its_extra(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = weir.sweep(file, {"seed": [1]})
    for name in ("distributed", "pandas", "polars"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtraError, match="the package distributed") as refused:
        weir.sweep(file, {"seed": [1]}, cluster="local")
    assert "weir[dask]" in refused.value.remedy
    with pytest.raises(MissingExtraError, match="the package pandas") as refused:
        result.to_pandas()
    assert "weir[pandas]" in refused.value.remedy
    with pytest.raises(MissingExtraError, match="the package polars") as refused:
        result.to_polars()
    assert "weir[polars]" in refused.value.remedy


# What workers send back, by a client that is none.


class Future:
    """What a client hands out: finished, or failed."""

    def __init__(self, number: int, value: Any) -> None:
        self.key, self._value = f"future-{number}", value
        self.status = "error" if isinstance(value, BaseException) else "finished"

    def result(self) -> Any:
        return self._value

    def exception(self) -> Any:
        return self._value

    def add_done_callback(self, done: Any) -> None:
        done(self)


class Client:
    """A client whose workers play at once, and spoil what they send as they are told."""

    status = "running"

    def __init__(self, spoil: Any) -> None:
        self._spoil, self._count = spoil, 0

    def nthreads(self) -> dict[str, int]:
        return {"one": 2}

    def submit(self, work: Any, tasks: Any, *, pure: bool) -> Future:
        assert work is play_all
        assert not pure
        self._count += 1
        return Future(self._count, self._spoil(tasks))


def played_by(file: Path, out: Path, spoil: Any) -> dict[str, Any]:
    """Return how far a sweep of two cells comes by such workers."""
    text = file.read_text(encoding="utf-8")
    from weir import axes

    plan = make_plan(text, str(file), [], Asked((axes.read_axis("seed=1:2"),)))
    kept = _weir.Sweep(str(out))
    workers = Cluster(Client(spoil), "tcp://test:1", lambda _: None)
    return workers.play(kept, plan.engine, plan.name, None)


def test_states_of_another_version_are_not_kept(file: Path, tmp_path: Path) -> None:
    def spoil(tasks):
        back = play_all(tasks)
        return [(("99.1", *key[1:]), played, seconds) for key, played, seconds in back]

    with pytest.raises(ConfigError, match="has another version of weir or other files of data"):
        played_by(file, tmp_path / "out", spoil)
    assert len(_weir.Sweep(str(tmp_path / "out"))) == 0


def test_a_worker_without_weir_is_refused(file: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot play: ModuleNotFoundError: No module named 'weir'"):
        played_by(file, tmp_path / "out", lambda _: ModuleNotFoundError("No module named 'weir'"))


def test_of_replications_that_kill_their_workers_the_others_are_played(file: Path, tmp_path: Path) -> None:
    from distributed.scheduler import KilledWorker

    def spoil(tasks):
        deadly = any("seed = 2" in text and 1 in wanted for text, _, _, _, wanted in tasks)
        return KilledWorker("task", None, 3) if deadly else play_all(tasks)

    with pytest.raises(ConfigError, match="workers died of 1 replication, each that tried") as refused:
        played_by(file, tmp_path / "out", spoil)
    assert "seed = 2" in refused.value.message
    assert len(_weir.Sweep(str(tmp_path / "out"))) == 3


def test_a_cluster_without_workers_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_PATIENCE", 0.0)
    told: list[str] = []
    client = Client(None)
    monkeypatch.setattr(client, "nthreads", dict)
    workers = cluster._Workers(Cluster(client, "tcp://test:1", told.append))
    for _ in range(3):
        workers.look()
    assert len(told) == 1
    assert "tcp://test:1 has no workers: start some with `dask worker tcp://test:1`" in told[0]
