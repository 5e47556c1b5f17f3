"""Requests of a server one by one: rows that agree with the result, whatever the number of threads."""

import csv

import pyarrow.parquet as pq
import pytest

import weir

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
"""
COLUMNS = [
    *("discipline", "replication", "id", "class", "flow", "attempt", "arrival_ns", "start_ns", "end_ns"),
    *("service_ns", "core", "outcome"),
]


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text(TOML)


def test_a_row_an_attempt(tmp_path):
    result = weir.run("s.toml", records="r.csv", threads=2)
    weir.run("s.toml", records="r.parquet", threads=1)
    weir.run("s.toml", records="again.csv", threads=8)
    assert (tmp_path / "r.csv").read_bytes() == (tmp_path / "again.csv").read_bytes()
    table = pq.read_table("r.parquet")
    assert table.column_names == COLUMNS
    with (tmp_path / "r.csv").open(newline="") as text:
        rows = list(csv.DictReader(text))
    assert len(rows) == table.num_rows
    for discipline in result.disciplines:
        for class_ in ("web, short", "report"):
            totals = result.totals(discipline, class_)
            own = [row for row in rows if (row["discipline"], row["class"]) == (discipline, class_)]
            assert len(own) == totals.offered
            assert sum(row["outcome"] in {"served", "late"} for row in own) == totals.done
            assert sum(row["outcome"] == "abandoned" for row in own) == (totals.abandoned or 0)
    for row in rows:
        served = row["outcome"] in {"served", "late"}
        assert (row["core"] != "", row["start_ns"] != "") == (served, served)
        if served:
            assert int(row["start_ns"]) + int(row["service_ns"]) == int(row["end_ns"])
    assert {row["attempt"] for row in rows} == {"1", "2", "3"}


def test_records_change_no_figure():
    with_records = weir.run("s.toml", records="r.parquet")
    without = weir.run("s.toml")
    assert with_records.document["estimates"] == without.document["estimates"]


FAN_OUT = """\
weir = 1
model = "server"
disciplines = ["cfcfs", "random"]
[server]
cores = 4
[[class]]
name = "web"
service = { exponential = "10us" }
patience = "60us"
[workload]
load = 0.7
fan_out = { to = 3, need = 2, cancel = "all" }
hedge = { after = "30us" }
[stop]
duration = "20ms"
warm_up = "0ns"
replications = 2
[measure]
window = "1ms"
over_time = true
"""


def test_a_row_a_sub_request():
    """The response of a request is that of the row which has its outcome."""
    scenario = weir.Scenario.from_toml(FAN_OUT, "f.toml")
    result = weir.run(scenario, records="f.parquet")
    assert result.document["estimates"] == weir.run(scenario).document["estimates"]
    table = pq.read_table("f.parquet")
    assert table.column_names == [*COLUMNS[:6], "part", "copy", "sent_ns", *COLUMNS[6:]]
    rows = table.to_pylist()
    assert {row["part"] for row in rows} == {1, 2, 3}
    assert {row["copy"] for row in rows} == {1, 2}
    for discipline in result.disciplines:
        totals = result.totals(discipline, "web")
        own = [row for row in rows if row["discipline"] == discipline]
        served = [row for row in own if row["outcome"] == "served"]
        assert (len(own), len(served)) == (totals.sent, totals.done)
        assert sum(row["outcome"] == "cancelled" for row in own) == totals.cancelled
        assert sum(row["outcome"] == "abandoned" for row in own) == totals.abandoned
        means = []
        for replication in (0, 1):
            of_it = [row for row in served if row["replication"] == replication]
            means.append(sum(row["end_ns"] - row["arrival_ns"] for row in of_it) / len(of_it) / 1e9)
        response = result.estimate(discipline, metric="response", statistic="mean").value
        assert sum(means) / 2 == pytest.approx(response, rel=1e-12)


def test_windows_of_sub_requests(tmp_path):
    scenario = weir.Scenario.from_toml(FAN_OUT, "f.toml")
    result = weir.run(scenario)
    queue = result.over_time.find(discipline="random", metric="queue", statistic="mean")
    assert (len(queue.values), queue.unit) == (20, "sub-requests")
    result.save("f.html")
    assert "Sub-requests that wait over time" in (tmp_path / "f.html").read_text()
