"""Sweeps: which cells there are, that their figures are those of runs, and that nothing finished is lost."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import weir
from sweeps import CELLS, SET, SHORT, command, killed, weir_sweep
from weir import axes
from weir.errors import ConfigError, ScenarioError
from weir.sweeping.conditions import Condition
from weir.sweeping.plan import Asked, make_plan


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "scenario.toml"
    path.write_text(SHORT, encoding="utf-8")
    return path


# Which cells there are.


@pytest.mark.parametrize(
    ("written", "values"),
    [
        ("workload.load=0.5:0.95:0.05", [0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95]),
        ("a=0.1:0.3:0.1", [0.1, 0.2, 0.3]),
        ("a=1:10:4", [1, 5, 9]),
        ("a=3:5", [3, 4, 5]),
        ("a=1:64:*4", [1, 4, 16, 64]),
        ("a=-1:1:0.5", [-1, -0.5, 0, 0.5, 1]),
        ("a=10ms:30ms:10ms", ["10ms", "20ms", "30ms"]),
        ("a=1:8:*2", [1, 2, 4, 8]),
        ("a=1k:4k:*2", ["1k", "2k", "4k"]),
        ("discipline=alpha:{1,3,10}", ["alpha:1", "alpha:3", "alpha:10"]),
        ("discipline={fifo,in_order(alpha:{1,3})}", ["fifo", "in_order(alpha:1)", "in_order(alpha:3)"]),
        ("a={x,y}-{1,2}", ["x-1", "x-2", "y-1", "y-2"]),
        ("a={1,2.5,true,20Mbit}", [1, 2.5, True, "20Mbit"]),
        ("a=[1, [2, 3]]", [1, [2, 3]]),
        ("discipline=alpha:10,update=recalculate", ["alpha:10,update=recalculate"]),
        ("link.0.rate=20Mbit", ["20Mbit"]),
    ],
)
def test_values_are_what_is_written(written: str, values: list[object]) -> None:
    assert list(axes.read_axis(written).values) == values


def test_a_hundred_steps_have_no_tails() -> None:
    values = axes.read_axis("a=0.01:1:0.01").values
    assert [repr(value) for value in values[:3]] == ["0.01", "0.02", "0.03"]
    assert len(values) == 100
    assert values[-1] == 1


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("load", "must be a key and its values"),
        ("a=", "must be a key and its values"),
        ("a b=1", "`a b` is no key"),
        ("a=1:2:0", "the step is 0, must be above 0"),
        ("a=2:1:1", "the last, 1, is below the first, 2"),
        ("a=1:2:*1", r"\*1 from 1 never ends"),
        ("a=1ms:2s:1ms", "the units ms, s, ms differ"),
        ("a=0:1e9:1", "more than 1,000,000 values"),
        ("a={1,2", "a brace is not closed"),
        ("a={1,1}", "1 is there twice"),
        ("a=[]", "there is no value"),
        ("stop.replications=1:3", "`stop.replications` is the same for all cells"),
    ],
)
def test_wrong_axes_are_refused(written: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as refused:
        axes.read_axis(written)
    assert refused.value.remedy


def plan(text: str = SHORT, *over: str, **more: object):
    return make_plan(text, "s.toml", [], Asked(tuple(map(axes.read_axis, over)), **more))


def test_all_combinations_are_cells_the_first_axis_slowest() -> None:
    made = plan(SHORT, "workload.load={0.5,0.9}", "discipline={fifo,sf}")
    assert [made.label(place) for place in range(4)] == [
        "workload.load=0.5 discipline=fifo",
        "workload.load=0.5 discipline=sf",
        "workload.load=0.9 discipline=fifo",
        "workload.load=0.9 discipline=sf",
    ]
    assert weir.Scenario.from_toml(made.text(3)).disciplines == ("sf",)


def test_zipped_axes_advance_together() -> None:
    over = ("workload.load={0.5,0.9}", "seed={1,2,3}", "stop.packets={1000,2000}")
    made = plan(SHORT, *over, zipped=[("workload.load", "stop.packets")])
    assert len(made.cells) == 6
    assert made.cells[0] == {"workload.load": 0.5, "stop.packets": 1000, "seed": 1}
    assert made.cells[-1] == {"workload.load": 0.9, "stop.packets": 2000, "seed": 3}


def test_a_csv_of_cells_sets_what_it_has() -> None:
    group = axes.csv_group("workload.load, discipline\n0.5, fifo\n0.6,\n", "cells.csv")
    made = plan(SHORT, cells=group)
    assert list(made.cells) == [{"workload.load": 0.5, "discipline": "fifo"}, {"workload.load": 0.6}]
    assert weir.Scenario.from_toml(made.text(1)).disciplines == ("fifo", "sf")


def test_the_table_of_the_file_counts_and_options_win() -> None:
    table = """[sweep]
over = { workload.load = "0.5:0.7:0.1", discipline = ["fifo", "sf"] }
except = ["workload.load > 0.6 and discipline == 'sf'"]
replications = 3
precision = "5%"
"""
    made = plan(SHORT + table)
    assert len(made.cells) == 5
    assert (made.replications, made.precision) == (3, 0.05)
    other = plan(SHORT + table, "workload.load=0.9", replications=7)
    assert [cell["workload.load"] for cell in other.cells] == [0.9]
    assert (other.replications, len(other.keys)) == (7, 2)
    assert weir.Scenario.from_toml(SHORT + table).fingerprint == weir.Scenario.from_toml(SHORT).fingerprint


@pytest.mark.parametrize(
    ("over", "more", "message"),
    [
        ((), {}, "no axis is given"),
        (("workload.lod=0.5",), {}, r"axis workload\.lod names no key of the scenario: .*is not a key here"),
        (("lod=0.5",), {}, "axis lod names no key"),
        (("disciplines.7=fifo",), {}, "axis disciplines.7 names no key"),
        (("workload.load=0.5", "workload.load=0.6"), {}, "is given twice"),
        (("workload.load=0.5",), {"zipped": [("seed", "workload.load")]}, "`seed` is no axis"),
        (
            ("workload.load={0.5,0.6}", "seed=1"),
            {"zipped": [("seed", "workload.load")]},
            "seed has 1, workload.load has 2",
        ),
        (("workload.load=0.5",), {"left_out": ["seed > 1"]}, "`seed` is no axis"),
        (("workload.load=0.5",), {"left_out": ["workload.load ="]}, "is no condition"),
        (("workload.load=0.5",), {"left_out": ["__import__('os')"]}, "is not evaluated"),
        (("workload.load=0.5",), {"left_out": ["workload.load > 0"]}, "leave no cell"),
        (
            ("workload.load=0.5",),
            {"left_out": ["workload.load > 'a'"]},
            "cannot be evaluated where workload.load is 0.5",
        ),
    ],
)
def test_wrong_plans_are_refused_before_anything_runs(over, more, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as refused:
        plan(SHORT, *over, **more)
    assert refused.value.remedy


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("sweep = 1", "sweep must be a table"),
        ("sweep = { ovr = {} }", r"sweep\.ovr is not a key here"),
        ("sweep = { over = 1 }", r"sweep\.over must be a table"),
        ("sweep = { zip = 1 }", r"sweep\.zip must be a list"),
        ("sweep = { replications = 0 }", r"sweep\.replications is 0"),
        ('sweep = { precision = "80%" }', r"sweep\.precision is 80%"),
    ],
)
def test_a_wrong_table_is_refused(table: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        plan(f"{table}\n{SHORT}")


def test_conditions_by_hand() -> None:
    keys = ("a", "link.0.rate", "discipline")
    cell = {"a": 3, "link.0.rate": "1M", "discipline": "fifo"}
    holds = ["a == 3", "a > 1 and a < 5", "1 < a <= 3", "not a == 4", "link[0].rate == '1M'", "a % 2 == 1"]
    holds += ["discipline in ['fifo', 'sf']", "-a < 0", "a * 2 >= 6 or a / 0 > 1"]
    assert all(Condition(each, keys)(cell) for each in holds)
    assert not Condition("discipline not in ('fifo',)", keys)(cell)


# That figures are those of runs.


def test_the_figures_of_a_cell_are_those_of_a_run(file: Path, tmp_path: Path) -> None:
    result = weir.sweep(file, {"workload.load": "0.5:0.7:0.1"}, out=tmp_path / "out")
    assert len(result.cells) == 3
    for place, cell in enumerate(result.cells):
        load = cell["workload.load"]
        text = SHORT.replace("load = 0.5", f"load = {load}")
        whole = weir.run(weir.Scenario.from_toml(text, str(file)))
        assert json.dumps(result.result(place).document["estimates"]) == json.dumps(
            whole.document["estimates"]
        )
        rows = [row for row in result.rows() if row["cell"] == place and row["reference"] is None]
        assert [row["value"] for row in rows] == [row.value for row in whole.estimates]
        assert [row["low"] for row in rows] == [row.low for row in whole.estimates]
        assert all(row["workload.load"] == load and row["replications"] == 2 for row in rows)


def test_a_table_is_that_of_arrow_pandas_and_polars(file: Path, tmp_path: Path) -> None:
    result = weir.sweep(file, {"workload.load": [0.5, 0.6]}, out=tmp_path / "out")
    table = result.to_arrow()
    assert table.num_rows == len(result.to_pandas()) == len(result.to_polars()) > 20
    assert table.column_names[:2] == ["cell", "workload.load"]
    assert table.column_names[-1] == "reason"
    import pyarrow as pa
    import pyarrow.parquet as pq

    assert pq.read_table(tmp_path / "out" / SET).equals(table)
    assert pa.table(result).equals(table)


def test_impossible_cells_are_rows_with_their_reason(file: Path, tmp_path: Path) -> None:
    result = weir.sweep(file, {"workload.load": [0.5, -1, 1.5]}, out=tmp_path / "out")
    reasons = result.reasons()
    assert set(reasons) == {1, 2}
    assert "workload.load is -1" in reasons[1]
    assert "not below 1" in reasons[2]
    assert {row["cell"] for row in result.rows()} == {0, 1, 2}


def test_cells_see_the_same_arrivals(file: Path, tmp_path: Path) -> None:
    """A discipline under two names is the same to the last digit; with another seed it is not."""
    result = weir.sweep(file, {"discipline": ["fifo", "alpha:0"], "seed": [1, 2]}, out=tmp_path / "out")
    mean = result.figure("mean latency")
    by_cell = [
        result.numbers(mean, name, [place])[0]
        for place, name in enumerate(["fifo", "fifo", "alpha:0", "alpha:0"])
    ]
    assert by_cell[0] == by_cell[2]
    assert by_cell[1] == by_cell[3] != by_cell[0]


# That nothing is lost, and that bytes depend on the plan alone.


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes]:
    """The scenario, and the set of an undisturbed sweep on one thread."""
    folder = tmp_path_factory.mktemp("whole")
    file = folder / "scenario.toml"
    file.write_text(SHORT, encoding="utf-8")
    ended = weir_sweep(file, *CELLS, "--out", folder / "out", "--threads", "1")
    assert ended.returncode == 0, ended.stderr
    return file, (folder / "out" / SET).read_bytes()


@pytest.mark.parametrize("threads", [2, 8])
def test_threads_change_nothing(whole: tuple[Path, bytes], tmp_path: Path, threads: int) -> None:
    weir_sweep(whole[0], *CELLS, "--out", tmp_path / "out", "--threads", str(threads))
    assert (tmp_path / "out" / SET).read_bytes() == whole[1]


def test_two_processes_in_one_folder_make_the_same_set(whole: tuple[Path, bytes], tmp_path: Path) -> None:
    line = command(whole[0], *CELLS, "--out", tmp_path / "out")
    quiet = subprocess.DEVNULL
    both = [subprocess.Popen(line, stdout=quiet, stderr=quiet) for _ in range(2)]
    assert [each.wait(300) for each in both] == [0, 0]
    assert (tmp_path / "out" / SET).read_bytes() == whole[1]


def test_merged_shards_make_the_same_set(whole: tuple[Path, bytes], tmp_path: Path) -> None:
    shards = [tmp_path / f"shard-{number}" for number in range(1, 11)]
    for number, folder in enumerate(shards, 1):
        ended = weir_sweep(whole[0], *CELLS, "--out", folder, "--shard", f"{number}/10")
        assert ended.returncode == 0, ended.stderr
        assert not (folder / SET).exists()
    ended = weir_sweep("merge", *shards, "--out", tmp_path / "merged")
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "merged" / SET).read_bytes() == whole[1]
    other = tmp_path / "other"
    weir_sweep(whole[0], "--over", "workload.load=0.5", "--out", other, "--shard", "1/1")
    refused = weir_sweep("merge", shards[0], other, "--out", tmp_path / "no")
    assert refused.returncode == 2
    assert "is of another sweep" in refused.stderr


def test_a_killed_sweep_makes_the_same_set(whole: tuple[Path, bytes], tmp_path: Path) -> None:
    killed((whole[0], *CELLS, "--out", tmp_path / "out"), kills=5, seed=3, longest=2.0)
    assert (tmp_path / "out" / SET).read_bytes() == whole[1]


def test_an_interrupted_sweep_says_how_it_goes_on(file: Path, tmp_path: Path) -> None:
    long = (
        "--set",
        "stop.packets=20_000_000",
        "--over",
        "workload.load=0.5:0.9:0.001",
        "--out",
        tmp_path / "out",
    )
    process = subprocess.Popen(
        command(file, *long), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    while not (tmp_path / "out" / "log").exists():
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "kept in" in errors
    assert "the same command goes on from there" in errors
    assert not (tmp_path / "out" / SET).exists()


def test_more_is_added_to_what_is_there(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = weir.sweep(file, {"workload.load": [0.5, 0.6]}, out=out)
    assert (first.state["kept"], first.state["played"]) == (0, 4)
    more = weir.sweep(file, {"workload.load": [0.5, 0.6]}, replications=5, out=out)
    assert (more.state["kept"], more.state["played"]) == (4, 6)
    axis = weir.sweep(file, {"workload.load": [0.6, 0.7]}, replications=5, out=out)
    assert (axis.state["kept"], axis.state["played"]) == (5, 5)
    again = weir.sweep(file, {"workload.load": [0.6, 0.7]}, replications=5, out=out)
    assert again.state["played"] == 0
    text = SHORT.replace("packets = 2_000", "packets = 5_000").replace("replications = 2", "replications = 5")
    text = text.replace("load = 0.5", "load = 0.7")
    run = weir.run(weir.Scenario.from_toml(text, str(file)))
    assert [row.value for row in again.result(1).estimates] == [row.value for row in run.estimates]


def test_a_precision_adds_replications_where_they_are_wanted(file: Path, tmp_path: Path) -> None:
    def swept() -> weir.SweepResult:
        long = ["stop.packets=40_000", "stop.replications=4", "disciplines=['fifo']"]
        out, over = tmp_path / "out", {"workload.load": [0.2, 0.8]}
        return weir.sweep(file, over, settings=long, precision="20%", out=out)

    result = swept()
    counts = {row["cell"]: row["replications"] for row in result.rows()}
    assert counts[1] > counts[0] >= 4
    assert result.widest is not None
    assert result.widest <= 0.2
    again = swept()
    assert again.state["played"] == 0
    assert again.to_arrow().equals(result.to_arrow())


def test_damaged_and_strange_logs_are_told_and_played_again(
    whole: tuple[Path, bytes], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    shutil.copytree(whole[0].parent / "out", out)
    (out / SET).unlink()
    log = next((out / "log").iterdir())
    content = bytearray(log.read_bytes())
    content[200] ^= 0xFF  # in the first record
    log.write_bytes(content[:-10])
    (out / "log" / "0007.log").write_text("something else, of some length", encoding="utf-8")
    ended = weir_sweep(whole[0], *CELLS, "--out", out)
    assert ended.returncode == 0, ended.stderr
    assert "0007.log is no log, or its beginning is damaged: it is left alone" in ended.stderr
    assert (out / SET).read_bytes() == whole[1]


@pytest.mark.skipif(os.geteuid() == 0 and not shutil.which("setpriv"), reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_refused(file: Path, tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.write_text("a file", encoding="utf-8")
    ended = weir_sweep(file, "--over", "workload.load=0.5", "--out", closed)
    assert ended.returncode == 2
    assert "remedy: name another folder with `--out`" in ended.stderr


def test_a_full_disk_says_what_to_do(file: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no device that is always full")
    ended = weir_sweep(file, "--over", "workload.load=0.5", "--out", "/dev/full")
    assert ended.returncode == 2
    assert "remedy" in ended.stderr


# Which is the best.


def test_the_best_and_those_that_cannot_be_told(file: Path, tmp_path: Path) -> None:
    over = {"discipline": "{fifo,sf,alpha:{1}}", "workload.load": [0.8]}
    over["discipline"] = ["fifo", "sf", "alpha:0.01"]
    result = weir.sweep(file, over, replications=6, out=tmp_path / "out")
    best = result.best("mean latency")
    assert best.cells[0].behind == 0
    assert best.possible[0] is best.cells[0]
    assert not next(each for each in best.cells if "fifo" in each.name).possible
    worst = result.best("mean latency", most=True)
    assert "fifo" in worst.cells[0].name
    both = result.frontier("mean latency", "max latency")
    assert {each.standing for each in both.cells} <= {"frontier", "possible", "dominated"}
    for wrong in ("latency", "mean nothing", "mean latency of nobody", "mean latency under nobody"):
        with pytest.raises(ConfigError) as refused:
            result.best(wrong)
        assert refused.value.remedy


def test_the_command_shows_cells_and_says_json(file: Path, tmp_path: Path) -> None:
    asked = (file, *CELLS, "--out", tmp_path / "out", "--best", "mean latency")
    shown = weir_sweep(*asked)
    assert shown.returncode == 0, shown.stderr
    assert "12 cells, 24 replications" in shown.stdout
    assert "Best in mean latency: workload.load=0.5 discipline=" in shown.stdout
    told = json.loads(weir_sweep(*asked, "--json").stdout)
    assert (told["cells"], told["kept"], told["played"]) == (12, 24, 0)
    assert told["best"]["cells"][0]["behind"] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--over", "workload.load=0.5", "--shard", "3/2"], "--shard is '3/2'"),
        (["--over", "workload.load=0.5", "--precision", "x"], "--precision is x"),
        (["--over", "workload.load=0.5", "--set", "stop.settle=true"], ""),
        (["--over", "nothing=0.5"], "axis nothing names no key"),
    ],
)
def test_wrong_options_are_refused(file: Path, tmp_path: Path, arguments: list[str], message: str) -> None:
    ended = weir_sweep(file, *arguments, "--out", tmp_path / "out")
    if message:
        assert ended.returncode == 2
        assert message in ended.stderr
        assert not (tmp_path / "out").exists()
    else:
        assert "stop.settle" in ended.stdout


def test_scenarios_that_are_no_toml_are_refused_with_their_place(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text("weir = \n", encoding="utf-8")
    with pytest.raises(ScenarioError) as refused:
        weir.sweep(path, {"workload.load": [0.5]}, out=tmp_path / "out")
    assert refused.value.line == 1


def test_texts_of_cells_are_those_of_their_documents() -> None:
    """The engine fills holes in the scenario; each text is the document of its cell, however axes meet."""
    from weir import toml

    def texts(*over: str, **more: object) -> None:
        made = plan(SHORT, *over, **more)
        assert len(made.engine) == len(made.cells) == len(list(made.cells))
        for place, cell in enumerate(made.cells):
            assert made.text(place) == toml.dumps(made.document(cell))

    texts("workload.load=0.5:0.9:0.1", "discipline={fifo,sf}", "seed=1:3", left_out=["seed == 2"])
    texts("disciplines=[['fifo'], ['sf', 'fifo']]", "title=[\"a'b\", 'c\\\\d']")
    texts("measure.tails=[true, false]", "workload.lengths=['report']")
    # Where a row sets nothing, the text has another form.
    texts(cells=axes.csv_group("workload.load,seed\n0.5,\n,2\n0.6,3\n", "c.csv"))
    # No holes: two axes write into one place, and a value that is a table.
    texts("disciplines=[['fifo', 'sf'], ['sf', 'fifo']]", "disciplines.0={sf,rr}")
    texts("workload.lengths=[{ fixed = 1 }, { fixed = 2 }]")


def test_a_report_is_made_of_the_folder(file: Path, tmp_path: Path) -> None:
    over = {"workload.load": [0.5, 0.6, -1], "stop.packets": [1000, 2000], "discipline": ["fifo", "sf"]}
    weir.sweep(file, over, out=tmp_path / "out")
    line = [sys.executable, "-m", "weir", "report", str(tmp_path / "out")]
    written = subprocess.run(line, capture_output=True, text=True, check=False)
    assert written.returncode == 0, written.stderr
    page = (tmp_path / "out.html").read_text(encoding="utf-8")
    titles = ["mean latency by workload.load", "mean latency over workload.load and stop.packets"]
    titles += ["mean latency and p99 latency", "Cells without figures", "The least mean latency is "]
    assert [title for title in titles if title not in page] == []
    assert "workload.load is -1" in page
    (tmp_path / "out" / SET).unlink()
    refused = subprocess.run(line, capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert "has no set, or one of another plan" in refused.stderr
