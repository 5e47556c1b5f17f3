"""Packets of networks and fabrics and responses of processes one by one: rows that agree with the result."""

import csv
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import weir
from weir import cli

NETWORK = """\
weir = 1
model = "network"
disciplines = ["fifo:limit=5pkt", "drr:quantum=1500B,limit=5pkt"]
[network]
hosts = ["a", "b", "c"]
routers = ["r1", "r2"]
[[link]]
between = ["a", "r1"]
rate = "100Mbit"
discipline = "fifo"
[[link]]
between = ["c", "r1"]
rate = "100Mbit"
discipline = "fifo"
[[link]]
between = ["r1", "r2"]
rate = "8Mbit"
[[link]]
between = ["r2", "b"]
rate = "100Mbit"
discipline = "fifo"
[[flow]]
from = "a"
to = "b"
gap = { exponential = "1500us" }
size = "1000B"
[[flow]]
from = "c"
to = "b"
gap = { exponential = "1500us" }
size = "1000B"
[stop]
duration = "2s"
warm_up = "0s"
replications = 2
"""
FABRIC = """\
weir = 1
model = "fabric"
disciplines = ["drr:quantum=2048B", "fifo"]
[fabric]
topology = { single = { ports = 4 } }
[[channel]]
name = "small"
[[channel]]
name = "large"
[traffic]
loads = [0.5, 0.8]
[stop]
warm_up = "0us"
duration = "300us"
replications = 2
"""
NODE = """\
weir = 1
model = "node"
disciplines = ["epoch", "eevdf"]
[node]
epoch = "10ms"
[[queue]]
name = "frames"
[[process]]
name = "camera"
need = "1ms"
program = '''
loop {
  sleep 5ms
  compute uniform(200us, 500us)
  enqueue frames
}
'''
[[process]]
name = "detector"
need = "4ms"
deadline = "4ms"
program = '''
loop {
  dequeue frames
  compute 1500us
}
'''
[[process]]
name = "planner"
program = "loop { compute 1s }"
[stop]
warm_up = "0ms"
duration = "200ms"
replications = 2
"""
MODELS = {"network": NETWORK, "fabric": FABRIC, "node": NODE}
COLUMNS = {
    "network": [
        *("flow", "class", "sequence", "size_bytes", "sent_ns", "end_ns", "wait_ns", "outcome", "link"),
    ],
    "fabric": [
        *("load", "source", "destination", "channel", "flow", "sequence", "size_bytes", "generated_ns"),
        *("injected_ns", "delivered_ns", "last"),
    ],
    "node": ["process", "node", "ready_ns", "start_ns", "end_ns", "schedulings", "outcome"],
}


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in MODELS.items():
        (tmp_path / f"{name}.toml").write_text(text)


def where(table: pa.Table, **values: object) -> pa.Table:
    """Return the rows that have these values."""
    for name, value in values.items():
        table = table.filter(pc.equal(table[name], pa.scalar(value, table[name].type)))
    return table


@pytest.mark.parametrize("model", MODELS)
def test_rows_are_the_same_for_any_number_of_threads_and_change_no_figure(model: str):
    with_records = weir.run(f"{model}.toml", records="r.csv", threads=2)
    weir.run(f"{model}.toml", records="again.csv", threads=8)
    weir.run(f"{model}.toml", records="r.parquet", threads=1)
    assert Path("r.csv").read_bytes() == Path("again.csv").read_bytes()
    assert with_records == weir.run(f"{model}.toml")
    table = pq.read_table("r.parquet")
    assert table.column_names == ["discipline", "replication", *COLUMNS[model]]
    with Path("r.csv").open(newline="") as text:
        rows = list(csv.DictReader(text))
    assert len(rows) == table.num_rows > 100
    assert set(table["replication"].to_pylist()) == {0, 1}
    metadata = pq.read_metadata("r.parquet").metadata
    assert metadata[b"weir.seed"] == str(with_records.document["seed"]).encode()


def test_packets_of_a_network():
    result = weir.run("network.toml", records="r.parquet")
    table = pq.read_table("r.parquet")
    assert len(result.document["totals"]) == 2
    for totals in result.document["totals"]:
        own = where(table, discipline=totals["discipline"])
        delivered, dropped = (where(own, outcome=outcome) for outcome in ("delivered", "dropped"))
        assert (delivered.num_rows, dropped.num_rows) == (totals["delivered"], totals["dropped"])
        assert totals["dropped"] > 0
        assert delivered["link"].null_count == delivered.num_rows
        assert set(dropped["link"].to_pylist()) == {"r1-r2"}


def test_packets_of_a_fabric():
    result = weir.run("fabric.toml", records="r.parquet")
    table = pq.read_table("r.parquet")
    assert len(result.document["totals"]) == 4
    for totals in result.document["totals"]:
        own = where(table, discipline=totals["discipline"], load=totals["load"])
        assert own.num_rows == totals["delivered"] > 0
    assert table["delivered_ns"].type == pa.float64()
    assert set(table["channel"].to_pylist()) == {"small", "large"}


def test_responses_of_a_node():
    result = weir.run("node.toml", records="r.parquet")
    table = pq.read_table("r.parquet")
    for totals in result.document["process_totals"]:
        own = where(table, discipline=totals["discipline"], process=totals["process"])
        ended = own.filter(pc.is_valid(own["end_ns"]))
        assert ended.num_rows == totals["waits"]
        assert sum(own["schedulings"].to_pylist()) == totals["schedulings"]
    unfinished = where(table, outcome="unfinished")
    assert unfinished["end_ns"].null_count == unfinished.num_rows > 0


@pytest.mark.parametrize("model", MODELS)
def test_a_refused_run_leaves_the_records_that_were_there(model: str, capsys):
    Path("r.csv").write_text("as it was\n")
    Path("s.toml").write_text(MODELS[model].replace("replications = 2", "replications = 0"))
    assert cli.run(["run", "s.toml", "--records", "r.csv"]) == 2
    capsys.readouterr()
    assert Path("r.csv").read_text() == "as it was\n"
