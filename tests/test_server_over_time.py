"""Windows of a server over time: in the result, on the page, in a table; and what is refused."""

import pyarrow.parquet as pq
import pytest

import weir
from weir import cli
from weir.results.windows import COLUMNS

TOML = """\
weir = 1
model = "server"
disciplines = ["cfcfs", "rr"]
[server]
cores = 2
queue = 3
[[class]]
name = "web, short"
share = 0.5
service = { exponential = "10us" }
patience = "30us"
timeout = "50us"
[[class]]
name = "report"
service = "20us"
[workload]
load = 1.2
retry = { backoff = "20us" }
[stop]
duration = "20ms"
warm_up = "0ns"
replications = 2
[measure]
window = "1ms"
over_time = true
"""


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text(TOML)


def test_windows_are_in_result_page_and_table(capsys, tmp_path):
    assert cli.run(["run", "s.toml", "--out", "r.json", "--out", "r.html", "--samples", "w.parquet"]) in {
        0,
        1,
    }
    capsys.readouterr()
    result = weir.Result.from_file("r.json")
    queue = result.over_time.find(discipline="cfcfs", metric="queue", statistic="mean")
    assert (len(queue.values), queue.interval, queue.unit) == (20, 0.001, "requests")
    found = {(row.metric, row.statistic) for row in result.over_time}
    assert found == {
        ("queue", "mean"), ("utilisation", "mean"), ("arrivals", "count"), ("delay", "p50"), ("delay", "p99"),
        ("dropped", "share"), ("abandoned", "share"), ("late", "share"),
    }  # fmt: skip
    page = (tmp_path / "r.html").read_text()
    for title in (
        "Requests that wait over time",
        "Use of the cores over time",
        "Requests without an answer in time",
    ):
        assert title in page
    table = pq.read_table("w.parquet")
    assert tuple(table.column_names) == COLUMNS
    known = sum(value is not None for row in result.over_time for value in row.values)
    assert table.num_rows == known


def test_without_windows_there_is_no_more_than_before():
    text = TOML.replace("over_time = true\n", "")
    result = weir.run(weir.Scenario.from_toml(text, "s.toml"))
    assert "over_time" not in result.document
    with pytest.raises(weir.ScenarioError, match="over_time is true, needs windows"):
        weir.Scenario.from_toml(TOML.replace('window = "1ms"\n', ""), "s.toml")


def test_a_short_run_is_not_sent_to_settle(capsys, tmp_path):
    """Windows are of one length, so that `--settle` would be refused."""
    (tmp_path / "t.toml").write_text(TOML.replace('duration = "20ms"', 'duration = "2ms"'))
    assert cli.run(["run", "t.toml"]) == 1
    out = " ".join(capsys.readouterr().out.split())
    assert (
        "times as long: write a longer one in `[stop]`, since windows over time are those of one length"
        in out
    )
    assert "--settle" not in out


def test_samples_need_what_is_sampled(capsys, tmp_path):
    (tmp_path / "t.toml").write_text(TOML.replace("over_time = true\n", ""))
    assert cli.run(["run", "t.toml", "--samples", "w.csv"]) == 2
    assert "measure.over_time is not given" in capsys.readouterr().err


def test_records_leave_the_windows_as_they_are():
    with_records = weir.run("s.toml", records="r.parquet")
    assert with_records.document["over_time"] == weir.run("s.toml").document["over_time"]
