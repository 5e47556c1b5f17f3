"""Windows of a fabric over time: in the result, on the page, in a table; and what is refused."""

import pyarrow.parquet as pq
import pytest

import weir
from test_records import FABRIC
from weir import cli

ONE_LOAD = FABRIC.replace("loads = [0.5, 0.8]", "load = 0.8")
TOML = f'{ONE_LOAD}[measure]\nwindow = "50us"\nover_time = true\n'


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "f.toml").write_text(TOML)


def test_windows_are_in_result_page_and_table(capsys, tmp_path):
    assert cli.run(["run", "f.toml", "--out", "r.json", "--out", "r.html", "--samples", "w.parquet"]) in {
        0,
        1,
    }
    capsys.readouterr()
    result = weir.Result.from_file("r.json")
    fifo = result.disciplines[1]
    inside = result.windows.find(discipline=fifo, name="small", metric="inside", statistic="mean")
    assert (len(inside.values), inside.interval, inside.unit) == (6, 50e-6, "pkt")
    ends = zip(inside.low, inside.values, inside.high, strict=True)
    assert all(low <= value <= high for low, value, high in ends)
    page = (tmp_path / "r.html").read_text()
    for title in ("Packets outside over time", "Throughput by window", "Latency by window"):
        assert title in page
    table = pq.read_table("w.parquet")
    known = sum(value is not None for row in result.windows for value in row.values)
    assert table.num_rows == known
    for totals in result.totals:
        row = result.windows.find(
            discipline=totals.discipline, name=None, metric="delivered", statistic="count"
        )
        assert sum(row.values) * 2 == pytest.approx(totals.delivered)


def test_without_windows_there_is_no_more_than_before():
    with_windows, without = weir.run("f.toml"), weir.run(weir.Scenario.from_toml(ONE_LOAD, "f.toml"))
    assert "windows" not in without.document
    assert without.document["estimates"] == with_windows.document["estimates"]
    with pytest.raises(weir.ScenarioError, match="needs one load, and there are 2"):
        weir.Scenario.from_toml(TOML.replace("load = 0.8", "loads = [0.5, 0.8]"), "f.toml")
