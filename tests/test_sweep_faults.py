"""What goes wrong around a sweep: each fault is a refusal that says what to do, or a row with its reason."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

import weir
from sweep_faults import (
    HEAD,
    can_mount,
    flock_number,
    of_another_version,
    small_disk,
    without_locks,
    without_privilege,
)
from sweeps import CELLS, SET, SHORT, command, weir_sweep
from weir.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

# The folder.


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes]:
    """The scenario, and the set of an undisturbed sweep."""
    folder = tmp_path_factory.mktemp("whole")
    file = folder / "scenario.toml"
    file.write_text(SHORT, encoding="utf-8")
    ended = weir_sweep(file, *CELLS, "--out", folder / "out")
    assert ended.returncode == 0, ended.stderr
    return file, (folder / "out" / SET).read_bytes()


def test_a_folder_closed_to_writing_is_refused(whole: tuple[Path, bytes], tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir()
    closed.chmod(0o555)
    for out in (closed, closed / "inside"):
        ended = without_privilege(whole[0], *CELLS, "--out", out)
        assert ended.returncode == 2, ended.stderr
        assert "permission denied" in ended.stderr
        assert "--out" in ended.stderr.partition("remedy:")[2]
    assert list(closed.iterdir()) == []


def test_a_full_disk_keeps_what_was_finished(whole: tuple[Path, bytes], tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    if not can_mount(disk):
        pytest.skip("a small disk is a mount, and this process may not mount")
    disk.rmdir()
    with small_disk(disk, "64k"):
        ended = weir_sweep(whole[0], *CELLS, "--out", disk / "out")
        assert ended.returncode == 2, ended.stdout
        assert "no space left on device" in ended.stderr
        assert "make room and give the same command again" in ended.stderr
        assert not (disk / "out" / SET).exists()
        subprocess.run(["mount", "-o", "remount,size=20m", disk], check=True)
        ended = weir_sweep(whole[0], *CELLS, "--out", disk / "out")
        assert ended.returncode == 0, ended.stderr
        assert "of them were there before" in ended.stdout
        assert (disk / "out" / SET).read_bytes() == whole[1]


@pytest.mark.skipif(flock_number() is None, reason="the number of flock is not known of this machine")
def test_a_file_system_without_locks_is_refused_but_for_one_process(
    whole: tuple[Path, bytes], tmp_path: Path
) -> None:
    ended = without_locks(whole[0], *CELLS, "--out", tmp_path / "out")
    assert ended.returncode == 2, ended.stderr
    assert "its file system has no locks" in ended.stderr
    assert not list(tmp_path.glob("out/log/*"))
    ended = without_locks(whole[0], *CELLS, "--out", tmp_path / "out", "--alone")
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "out" / SET).read_bytes() == whole[1]


def kept(whole: tuple[Path, bytes], out: Path) -> Path:
    """Return the only log in a copy of what the sweep keeps, without the set."""
    shutil.copytree(whole[0].parent / "out", out)
    (out / SET).unlink()
    (log,) = (out / "log").iterdir()
    return log


@pytest.mark.parametrize("cut", [10, HEAD, HEAD + 20, HEAD + 300, -1])
def test_a_log_that_is_cut_loses_what_is_behind_the_cut(
    whole: tuple[Path, bytes], tmp_path: Path, cut: int
) -> None:
    log = kept(whole, tmp_path / "out")
    content = log.read_bytes()
    log.write_bytes(content[:cut])
    ended = weir_sweep(whole[0], *CELLS, "--out", tmp_path / "out")
    assert ended.returncode == 0, ended.stderr
    before = "23 of them were there before" if cut < 0 else "12 cells, 24 replications; the"
    assert before in " ".join(ended.stdout.split())
    assert (tmp_path / "out" / SET).read_bytes() == whole[1]


def test_a_log_of_another_version_is_left_alone(whole: tuple[Path, bytes], tmp_path: Path) -> None:
    log = kept(whole, tmp_path / "out")
    other = of_another_version(log.read_bytes())
    log.write_bytes(other)
    ended = weir_sweep(whole[0], *CELLS, "--out", tmp_path / "out")
    assert ended.returncode == 0, ended.stderr
    assert re.search(rf"{log.name} is of version 99\.\d+ of the numbers, this is ", ended.stderr)
    assert "it is left alone, and what it holds is played again" in ended.stderr
    assert log.read_bytes() == other
    assert (tmp_path / "out" / SET).read_bytes() == whole[1]


def test_a_set_that_is_damaged_is_made_anew(whole: tuple[Path, bytes], tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(whole[0].parent / "out", out)
    for content in (b"", b"no set", whole[1][:-20]):
        (out / SET).write_bytes(content)
        ended = weir_sweep(whole[0], *CELLS, "--out", out)
        assert ended.returncode == 0, ended.stderr
        assert (out / SET).read_bytes() == whole[1]


def test_two_sweeps_in_one_folder_share_what_they_have_in_common(
    whole: tuple[Path, bytes], tmp_path: Path
) -> None:
    out, loads = tmp_path / "out", ("--over", "workload.load=0.5:0.7:0.1")
    quiet = subprocess.DEVNULL
    other = (*loads, "--over", "discipline={sf,alpha:1}")
    both = [
        subprocess.Popen(command(whole[0], *asked, "--out", out), stdout=quiet, stderr=quiet)
        for asked in (CELLS, other)
    ]
    assert [each.wait(300) for each in both] == [0, 0]
    for asked in (CELLS, other):
        again = weir_sweep(whole[0], *asked, "--out", out)
        assert again.returncode == 0, again.stderr
        assert "all were there before" in again.stdout
        if asked is CELLS:
            assert (out / SET).read_bytes() == whole[1]


# The axes.


def test_an_axis_that_names_no_key_is_refused_with_a_suggestion(
    whole: tuple[Path, bytes], tmp_path: Path
) -> None:
    ended = weir_sweep(whole[0], "--over", "workload.lod=0.5", "--out", tmp_path / "out")
    assert ended.returncode == 2
    assert "axis workload.lod names no key of the scenario" in ended.stderr
    assert "load" in ended.stderr.partition("remedy:")[2]
    assert not (tmp_path / "out").exists()


def test_a_file_of_data_that_changes_is_played_again(tmp_path: Path) -> None:
    file, data = tmp_path / "s.toml", tmp_path / "arrivals.csv"
    file.write_text(TRACED, encoding="utf-8")
    data.write_text("time,length\n0,3\n1,2\n5,1\n", encoding="utf-8")
    first = weir.sweep(file, {"discipline": ["fifo", "sf"]}, out=tmp_path / "out")
    assert not first.reasons(), first.reasons()
    again = weir.sweep(file, {"discipline": ["fifo", "sf"]}, out=tmp_path / "out")
    assert again.state["played"] == 0
    data.write_text("time,length\n0,3\n1,2\n2,9\n", encoding="utf-8")
    other = weir.sweep(file, {"discipline": ["fifo", "sf"]}, out=tmp_path / "out")
    assert other.state["played"] == 2
    assert not other.to_arrow().equals(first.to_arrow())
    data.unlink()
    missing = weir.sweep(file, {"discipline": ["fifo", "sf"]}, out=tmp_path / "out")
    assert all("arrivals.csv" in reason for reason in missing.reasons().values())
    assert len(missing.reasons()) == 2


TRACED = """weir = 1
model = "port"
disciplines = ["fifo"]
[workload]
trace = { file = "arrivals.csv", time_unit = "u", length_unit = "pkt" }
"""


# Classes of Python.


class Plain:
    """First come, first served."""

    def __init__(self):
        self.waiting = []

    def enqueue(self, _now, item):
        self.waiting.append(item)

    def dequeue(self, _now):
        return self.waiting.pop(0) if self.waiting else None


class Raises(Plain):
    """Raises after a while."""

    def dequeue(self, now):
        if now > 100:
            raise IndexError("no such thing")
        return super().dequeue(now)


class Loses(Plain):
    """Forgets every item of some length."""

    def enqueue(self, now, item):
        if item.size < 5:
            super().enqueue(now, item)


class Twice(Plain):
    """Serves an item again."""

    def dequeue(self, now):
        return self.waiting[0] if self.waiting else super().dequeue(now)


class Never(Plain):
    """Never returns."""

    def dequeue(self, now):
        while now > 100:
            pass
        return super().dequeue(now)


FEW = ["stop.packets=400", "disciplines=['fifo']", "workload.preemption='none'"]


def test_a_class_of_python_is_swept_beside_others(whole: tuple[Path, bytes]) -> None:
    result = weir.sweep(whole[0], {"discipline": [Plain, "fifo"], "workload.load": [0.5, 0.6]})
    assert not result.reasons()
    mean = result.figure("mean latency")
    by_cell = {row["cell"]: row["value"] for row in result.of(mean)}
    assert by_cell[0] == by_cell[2]
    assert by_cell[1] == by_cell[3] != by_cell[0]


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (Raises, "`Raises.dequeue` raised IndexError('no such thing')"),
        (Loses, "`Loses.dequeue` returned None"),
        (Twice, "`Twice.dequeue` returned <weir.Item"),
        pytest.param(Never, "`Never.dequeue` did not return in time", marks=pytest.mark.slow),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_a_fault_of_a_class_is_the_reason_of_its_cells(
    whole: tuple[Path, bytes], kind: type, said: str
) -> None:
    result = weir.sweep(whole[0], {"discipline": [kind, "fifo"]}, replications=1)
    (reason,) = result.reasons().items()
    assert reason[0] == 0
    assert said in reason[1]
    assert {row["cell"] for row in result.rows()} == {0, 1}
    assert not weir.sweep(whole[0], {"discipline": [Plain, "fifo"]}, replications=1).reasons()


def test_a_class_of_python_is_refused_where_replications_are_kept(
    whole: tuple[Path, bytes], tmp_path: Path
) -> None:
    for where in ({"out": tmp_path / "out"}, {"cluster": "local"}):
        with pytest.raises(ConfigError, match="`Plain` is a class of Python") as refused:
            weir.sweep(whole[0], {"discipline": [Plain, "fifo"]}, **where)
        assert next(iter(where)) in refused.value.remedy
    asked = ("--over", "discipline={fifo,mine.py:Plain}", "--out", tmp_path / "out")
    ended = weir_sweep(whole[0], *asked)
    assert ended.returncode == 2
    assert "`mine.py:Plain` is a class of Python" in ended.stderr
    assert not (tmp_path / "out").exists()
