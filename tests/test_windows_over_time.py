"""Windows of a port and of a node over time: in the result, on the page, in a table."""

import pyarrow.parquet as pq
import pytest

import weir
from weir import cli
from weir.results.windows import COLUMNS

PORT = """
weir = 1
model = "port"
disciplines = ["fifo", "sf"]
[workload]
load = 0.7
[stop]
packets = 60000
replications = 3
[measure]
window = "2000u"
over_time = true
"""
NODE = """
weir = 1
model = "node"
disciplines = ["eevdf", "priority_rr"]
law = { work = { lognormal = { mean = "2ms", cv = 2.0 } } }
queue = [{ name = "messages" }]
[[process]]
name = "source"
program = "loop { compute work; enqueue messages; sleep exponential(4ms) }"
[[process]]
name = "sink"
deadline = "20ms"
program = "loop { dequeue messages; compute exponential(2ms) }"
[stop]
duration = "3s"
replications = 3
[measure]
window = "500ms"
over_time = true
"""
TITLES = {
    "port": (
        "Messages inside over time",
        "Throughput by window",
        "Latency by window",
        "Mean latency by window",
    ),
    "node": ("Run time by window", "Responses by window", "Queues over time", "Use of the nodes by window"),
}
ROWS = {
    "port": ("sf", "20pkt", "latency", "u"),
    "node": ("eevdf", "sink", "share", "1"),
}


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("model", "toml"), [("port", PORT), ("node", NODE)])
def test_windows_are_in_result_page_and_table(capsys, tmp_path, model, toml):
    (tmp_path / "s.toml").write_text(toml)
    out = ["--out", "r.json", "--out", "r.html", "--samples", "w.parquet"]
    assert cli.run(["run", "s.toml", *out]) in {0, 1}
    capsys.readouterr()
    result = weir.Result.from_file("r.json")
    discipline, name, metric, unit = ROWS[model]
    row = result.windows.find(discipline=discipline, name=name, metric=metric, statistic="mean")
    assert (row.unit, len(row.values) >= 6) == (unit, True)
    ends = [each for each in zip(row.low, row.values, row.high, strict=True) if None not in each]
    assert ends
    assert all(low <= value <= high for low, value, high in ends)
    page = (tmp_path / "r.html").read_text()
    assert all(title in page for title in TITLES[model])
    table = pq.read_table("w.parquet")
    assert tuple(table.column_names) == COLUMNS
    assert table.num_rows == sum(value is not None for each in result.windows for value in each.values)


@pytest.mark.parametrize(("model", "toml"), [("port", PORT), ("node", NODE)])
def test_without_windows_the_figures_are_the_same(model, toml):
    text = toml[: toml.index("[measure]")]
    without = weir.run(weir.Scenario.from_toml(text, "s.toml"))
    with_windows = weir.run(weir.Scenario.from_toml(toml, "s.toml"))
    assert "windows" not in without.document
    if model == "node":
        assert without.document["estimates"] == with_windows.document["estimates"]
        return
    for row in without.estimates:
        found = with_windows.estimate(
            row.discipline, metric=row.metric, statistic=row.statistic, class_=row.class_, flow=row.flow
        )
        assert found is not None
        assert found.value == pytest.approx(row.value, rel=1e-9)
