"""The port from scenario to result: runs of a few packets, bursts, records; ties of a pool."""

import csv
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import weir
from weir import cli

SCENARIO = """weir = 1
model = "port"
disciplines = ["fifo", "sf"]

[workload]
load = {load}

[stop]
packets = {packets}
replications = {replications}
warm_up = "none"
"""

TRACE = """weir = 1
model = "port"
disciplines = ["fifo", "alpha:10,classes=1/50"]

[workload]
trace = {file = "t.csv", time_unit = "u", length_unit = "pkt"}
"""

BURST = ["time,length,flow,class", "0,20,disk,9", "0,5,web,10", "1,1,disk,10", "2,3,mail,9", "3,7,web,9"]


def scenario(folder: Path, text: str, name: str = "s.toml") -> str:
    (folder / name).write_text(text)
    return str(folder / name)


def drawn(folder: Path, *, load: float = 0.5, packets: int = 20_000, replications: int = 1) -> str:
    return scenario(folder, SCENARIO.format(load=load, packets=packets, replications=replications))


def burst(folder: Path, rows: list[str] = BURST) -> str:
    (folder / "t.csv").write_text("\n".join(rows) + "\n")
    return scenario(folder, TRACE)


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("packets", range(1, 7))
@pytest.mark.parametrize("command", ["run", "compare"])
def test_b13_a_run_of_a_few_packets_has_a_result(tmp_path: Path, capsys, command: str, packets: int):
    """Finding B13: one packet is a run too, of which little can be said."""
    file = drawn(tmp_path, packets=packets)
    assert cli.run([command, file]) == (0 if weir.run(file).settling is None else 1)
    out, err = capsys.readouterr()
    assert "fifo" in out
    assert err == ""


def test_b5_a_burst_runs_whatever_its_load(tmp_path: Path, capsys):
    """Finding B5: a finite trace has means though more arrives than its time can serve."""
    file = burst(tmp_path)
    # Five messages say little of another burst: that is said, with exit code 1.
    assert cli.run(["compare", file]) == 1
    out, err = capsys.readouterr()
    assert err == ""
    assert "warning: the trace brings 960 % of the work" in out
    result = weir.run(file)
    assert result.messages == 5
    assert result.unfinished == 0
    assert result.estimate("fifo").value > 1
    assert cli.run(["run", drawn(tmp_path, load=1.2)]) == 2
    assert "lower workload.load" in capsys.readouterr().err


def test_b1_alphas_go_to_classes_by_value(tmp_path: Path):
    """Finding B1: the first alpha is that of the smallest class, whichever comes first."""
    first, second, *rest = BURST[1:]
    means = []
    for rows in ([first, second, *rest], [second, first, *rest]):
        result = weir.run(burst(tmp_path, [BURST[0], *rows]))
        assert [row.name for row in result.classes] == ["all", "9", "10"]
        means.append(result.estimate("alpha:10,classes=1/50", class_="10").value)
    assert means[0] == pytest.approx(means[1], abs=6)


def test_b4_records_join_the_trace(tmp_path: Path):
    """Finding B4: `id` is the row of the trace, `flow` and `class` are what stands there."""
    weir.run(burst(tmp_path), records=tmp_path / "r.csv")
    given = rows_of(tmp_path / "t.csv")
    rows = rows_of(tmp_path / "r.csv")
    assert len(rows) == 2 * len(given)
    for row in rows:
        whole = given[int(row["id"])]
        assert [row[key] for key in ("flow", "class", "length")] == [
            whole[key] for key in ("flow", "class", "length")
        ]
        assert float(row["arrival"]) == float(whole["time"])
        assert row["replication"] == "0"


def test_b4_records_hold_every_replication(tmp_path: Path):
    """Finding B4: no replication is left out, and classes are called as in the result."""
    result = weir.run(drawn(tmp_path, replications=3), records=tmp_path / "r.csv")
    rows = rows_of(tmp_path / "r.csv")
    assert {row["replication"] for row in rows} == {"0", "1", "2"}
    assert {row["class"] for row in rows} == {row.name for row in result.classes[1:]}
    assert {row["flow"] for row in rows} == {"0"}
    for name in result.disciplines:
        delays = [
            float(row["last_service"]) - float(row["arrival"]) for row in rows if row["discipline"] == name
        ]
        assert len(delays) == result.estimate(name).count
        assert sum(delays) / len(delays) == pytest.approx(result.estimate(name).value)


def test_b4_a_refused_run_leaves_the_records_that_were_there(tmp_path: Path, capsys):
    """Finding B4: only a run that was made replaces the file."""
    records = tmp_path / "r.csv"
    records.write_text("as it was\n")
    for file in (drawn(tmp_path, load=1.5), scenario(tmp_path, "weir = 1\n", "other.toml")):
        assert cli.run(["run", file, "--records", str(records)]) == 2
        assert capsys.readouterr().err
        assert records.read_text() == "as it was\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other.toml", "r.csv", "s.toml"]


def test_b4_sigterm_leaves_nothing_half_written(tmp_path: Path):
    """Finding B4: what is being written is removed when the run is ended from outside."""
    file = drawn(tmp_path, packets=1_000_000_000)
    command = [sys.executable, "-m", "weir", "run", file, "--records", str(tmp_path / "r.csv")]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        end = time.monotonic() + 60
        while not list(tmp_path.glob(".r.csv.*.part")) and time.monotonic() < end:
            time.sleep(0.05)
        assert list(tmp_path.glob(".r.csv.*.part"))
        os.kill(process.pid, signal.SIGTERM)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 143, err
    assert b"Traceback" not in err
    assert [path.name for path in tmp_path.iterdir()] == ["s.toml"]


FORKED = """
import os, pathlib, signal, sys, time
from weir import cli

def run(arguments):
    mark = pathlib.Path(arguments[0])
    mark.touch()
    try:
        began, begins = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(begins, b"x")
            time.sleep(20)
            os._exit(9)
        os.read(began, 1)
        os.kill(child, signal.SIGTERM)
        ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        return 0 if mark.exists() and ended == 143 else 1
    finally:
        mark.unlink(missing_ok=True)

cli.run = run
cli.main()
"""


def test_b4_who_is_forked_ends_at_once_and_takes_nothing_down(tmp_path: Path):
    """A helper that a library forks and ends by SIGTERM does not unwind what the command has built."""
    command = [sys.executable, "-c", FORKED, str(tmp_path / "mark")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "discipline",
    [
        "jsq:ties=random",
        "least_work:ties=random",
        "per_server(jsq:ties=random,discipline=sf)",
        "work_stealing(jsq:ties=random)",
        "racks(per_server(least_work:random,discipline=sf),racks=2,choices=2)",
    ],
)
def test_b3_ties_are_broken_by_chance(discipline: str):
    """Finding B3: the word `random` is a value here, and no dispatcher that wants a seed."""
    made = {
        "weir": 1,
        "model": "server",
        "disciplines": [discipline],
        "server": {"cores": 4},
        "class": [{"name": "any", "share": 1, "service": {"exponential": "10us"}}],
        "workload": {"load": 0.5},
        "stop": {"requests": 2000},
    }
    assert weir.run(made).ok


@pytest.mark.parametrize("classes", ["length", "decile"])
def test_b14_every_figure_stands_in_a_result_once(tmp_path: Path, classes: str):
    """Finding B14: the mean slowdown of a class of one length is measured, or follows from its latency."""
    text = SCENARIO.format(load=0.5, packets=20_000, replications=1) + f'[measure]\nclasses = "{classes}"\n'
    result = weir.run(scenario(tmp_path, text))
    keys = [(row.discipline, row.class_, row.flow, row.metric, row.statistic) for row in result.estimates]
    assert len(keys) == len(set(keys))
    assert result.estimate("fifo", metric="slowdown", class_="5pkt").value > 1
