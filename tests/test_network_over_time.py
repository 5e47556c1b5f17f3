"""Windows of a network over time: in the result, on the page, in a table; and what is refused."""

import pyarrow.parquet as pq
import pytest

import weir
from test_records import NETWORK
from weir import cli

TOML = f'{NETWORK}[measure]\nwindow = "100ms"\nover_time = true\n'


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "n.toml").write_text(TOML)


def test_windows_are_in_result_page_and_table(capsys, tmp_path):
    assert cli.run(["run", "n.toml", "--out", "r.json", "--out", "r.html", "--samples", "w.parquet"]) in {
        0,
        1,
    }
    capsys.readouterr()
    result = weir.Result.from_file("r.json")
    fifo = result.disciplines[0]
    queue = result.windows.find(discipline=fifo, name="r1-r2", metric="queue", statistic="mean")
    assert (len(queue.values), queue.interval, queue.unit) == (20, 0.1, "pkt")
    ends = list(zip(queue.low, queue.values, queue.high, strict=True))
    assert all(low <= value <= high for low, value, high in ends)
    found = {(row.metric, row.statistic) for row in result.windows if row.name is None}
    delays = {("delay", statistic) for statistic in ("mean", "p50", "p99")}
    assert found == {("sent", "count"), ("loss", "share"), *delays}
    page = (tmp_path / "r.html").read_text()
    for title in ("Queues over time", "Use of links over time", "Delays by window", "Loss over time"):
        assert title in page
    assert '"high"' in page
    table = pq.read_table("w.parquet")
    assert table.column_names == [
        *("discipline", "name", "metric", "statistic", "unit", "from", "until", "value", "low", "high"),
    ]
    known = sum(value is not None for row in result.windows for value in row.values)
    assert table.num_rows == known


def test_windows_add_up_to_the_totals():
    result = weir.run("n.toml")
    for totals in result.totals:
        sent = result.windows.find(discipline=totals.discipline, name=None, metric="sent", statistic="count")
        assert sum(sent.values) * 2 == totals.offered


def test_without_windows_there_is_no_more_than_before():
    text = TOML.replace("over_time = true\n", "").replace('window = "100ms"\n', "")
    with_windows, without = weir.run("n.toml"), weir.run(weir.Scenario.from_toml(text, "n.toml"))
    assert "windows" not in without.document
    assert without.document["estimates"] == with_windows.document["estimates"]
    with pytest.raises(weir.ScenarioError, match="over_time is true, needs windows"):
        weir.Scenario.from_toml(TOML.replace('window = "100ms"\n', ""), "n.toml")


def test_samples_need_what_is_sampled(capsys, tmp_path):
    (tmp_path / "t.toml").write_text(NETWORK)
    assert cli.run(["run", "t.toml", "--samples", "w.csv"]) == 2
    assert "measure.over_time is not given" in capsys.readouterr().err


def test_a_damaged_interval_is_refused():
    document = weir.run("n.toml").text.replace('"low":[', '"low":[null,', 1)
    with pytest.raises(weir.ResultError, match="as many as `low` and `high`"):
        weir.Result.from_json(document)
