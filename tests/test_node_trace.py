"""The Perfetto trace of a node: written, read back by the package's protos, and held against the result."""

import json
from collections import defaultdict

import pytest
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as protos

import weir
from node_results import document, made, timeline
from weir import _weir, cli
from weir.models.node import trace
from weir.models.node.periods import critical_periods, runs

NAMES = ("g1", "g2", "sink", "Epoch Scheduler")


@pytest.fixture
def result() -> weir.NodeResult:
    return weir.Result.from_json(made())


def packets(path):
    read = protos.Trace()
    read.ParseFromString(path.read_bytes())
    return list(read.packet)


def tracks(found):
    """Return the tracks by number: their names, their groups' for those within one."""
    known = {}
    for packet in found:
        if packet.HasField("track_descriptor"):
            each = packet.track_descriptor
            name = each.process.process_name if each.HasField("process") else each.name
            known[each.uuid] = (known[each.parent_uuid][0] if each.parent_uuid else name, name)
    return known


def slices(found):
    """Return the slices and instants of each track, in the order of the file."""
    known, open_, done, moments = tracks(found), {}, defaultdict(list), defaultdict(list)
    for packet in found:
        if not packet.HasField("track_event"):
            continue
        event, track = packet.track_event, known[packet.track_event.track_uuid]
        if event.type == event.TYPE_SLICE_BEGIN:
            assert track not in open_, "slices of a track nest"
            open_[track] = (event.name, packet.timestamp)
        elif event.type == event.TYPE_SLICE_END:
            name, begin = open_.pop(track)
            done[track].append((name, begin, packet.timestamp))
        elif event.type == event.TYPE_INSTANT:
            moments[track].append((event.name, packet.timestamp))
    assert not open_
    return done, moments


def nanoseconds(seconds):
    return round(seconds * 1e9)


def test_every_run_of_the_result_is_a_slice_of_its_process_and_of_its_node(result, tmp_path):
    path = tmp_path / "node.pftrace"
    result.save_trace(path)
    done, _ = slices(packets(path))
    for line in result.timelines:
        label = result.labels[line.discipline]
        expected, on_node = defaultdict(list), []
        for run in runs(line):
            span = (nanoseconds(run.begin), nanoseconds(run.end))
            name = "overhead" if run.process is None else NAMES[run.process]
            on_node.append((name, *span))
            if run.process is not None:
                expected[name].append((run.kind, *span))
        for name, found in expected.items():
            assert done[label, name] == found
        assert done[label, "processor node"] == on_node
    assert {kind for kind, *_ in done["epoch", "g2"]} == {"normal", "windfall"}


def test_epochs_critical_periods_and_wake_ups_are_marked(result, tmp_path):
    path = tmp_path / "node.pftrace"
    result.save_trace(path)
    done, moments = slices(packets(path))
    line = result.timeline("epoch")
    assert moments["epoch", "epochs"] == [("epoch", nanoseconds(1 + place / 10)) for place in range(5)]
    assert done["epoch", "critical period node"] == [
        ("critical scheduling period", nanoseconds(each.begin), nanoseconds(each.end))
        for each in critical_periods(line)
    ]
    woke = [
        (what, nanoseconds(at))
        for what, process, at in zip(line.marks.what, line.marks.process, line.marks.at, strict=True)
        if process == 0
    ]
    assert sorted(moments["epoch", "g1"]) == sorted(woke)


def test_queues_are_counters(result, tmp_path):
    path = tmp_path / "node.pftrace"
    result.save_trace(path)
    found = packets(path)
    known = tracks(found)
    counted = defaultdict(list)
    for packet in found:
        if packet.track_event.type == protos.TrackEvent.TYPE_COUNTER:
            counted[known[packet.track_event.track_uuid]].append(
                (packet.timestamp, packet.track_event.counter_value)
            )
    line = result.timeline("epoch").lengths
    assert line.at[0] > result.timeline("epoch").from_
    assert counted["epoch", "messages"] == [
        (nanoseconds(at), length) for at, length in zip((1.0, *line.at), (0, *line.length), strict=True)
    ]
    assert set(counted) == {(label, "messages") for label in ("epoch", "cbs", "eevdf")}


def test_every_discipline_is_a_group_of_its_own(result, tmp_path):
    path = tmp_path / "node.pftrace"
    result.save_trace(path)
    found = packets(path)
    groups = [
        packet.track_descriptor.process for packet in found if packet.track_descriptor.HasField("process")
    ]
    assert [(each.pid, each.process_name) for each in groups] == [(1, "epoch"), (2, "cbs"), (3, "eevdf")]
    numbers = [packet.track_descriptor.uuid for packet in found if packet.HasField("track_descriptor")]
    assert len(set(numbers)) == len(numbers) == 3 * (2 + 2 + 4 + 1)
    assert {packet.trusted_packet_sequence_id for packet in found} == {1}
    assert found[0].sequence_flags == 1


def test_a_cut_timeline_says_where_it_ends(tmp_path):
    cut = weir.Result.from_json(made(("epoch",), timelines=[timeline("epoch", NAMES, truncated=True)]))
    cut.save_trace(tmp_path / "t.pftrace")
    _, moments = slices(packets(tmp_path / "t.pftrace"))
    name, at = moments["epoch", "epochs"][-1]
    assert "the timeline is cut here" in name
    assert at == nanoseconds(1.5)


def test_equal_results_are_equal_bytes(result, tmp_path):
    for name in ("a", "b"):
        result.save_trace(tmp_path / f"{name}.pftrace")
    assert (tmp_path / "a.pftrace").read_bytes() == (tmp_path / "b.pftrace").read_bytes()


# Refusals.


def test_a_result_without_a_timeline_is_refused_and_leaves_no_file(tmp_path):
    none = weir.Result.from_json(made(("epoch",), timelines=[]))
    with pytest.raises(weir.ConfigError, match="no timeline was kept") as refused:
        none.save_trace(tmp_path / "t.pftrace")
    assert "[measure]" in refused.value.remedy
    assert not list(tmp_path.iterdir())


def test_a_file_is_whole_or_absent(result, tmp_path, monkeypatch):
    def broken(*_):
        raise RuntimeError("in the middle")

    monkeypatch.setattr(trace, "critical_periods", broken)
    (tmp_path / "t.pftrace").write_bytes(b"before")
    with pytest.raises(RuntimeError):
        result.save_trace(tmp_path / "t.pftrace")
    assert [path.name for path in tmp_path.iterdir()] == ["t.pftrace"]
    assert (tmp_path / "t.pftrace").read_bytes() == b"before"


def test_another_ending_is_refused(result, tmp_path):
    with pytest.raises(weir.ConfigError, match=r"ends in \.pftrace, not `\.json`") as refused:
        result.save_trace(tmp_path / "t.json")
    assert refused.value.remedy == "write `--trace t.pftrace`"


class Node(weir.Scenario):
    """A scenario that the engine need not know."""

    read = None

    @property
    def normalised(self) -> dict:
        return {"disciplines": ["epoch"], **json.loads(self.text)}


MEASURE = {"sample": "1s", "timeline": {"from": "0ms", "until": "500ms"}}


@pytest.fixture
def node(tmp_path, monkeypatch):
    """Let the command line run a scenario that is JSON here, and give it a made result."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(weir, "Scenario", Node)
    monkeypatch.setattr("weir.simulation.Scenario", Node)
    monkeypatch.setattr(_weir, "run", lambda *_: made(("epoch",)))

    def write(**changes):
        (tmp_path / "node.toml").write_text(json.dumps({"model": "node", "measure": MEASURE, **changes}))

    write()
    return write


@pytest.mark.usefixtures("node")
def test_the_command_line_writes_trace_and_samples(tmp_path, capsys):
    assert cli.run(["run", "node.toml", "--trace", "t.pftrace", "--samples", "s.csv"]) == 0
    assert capsys.readouterr().out.endswith("wrote t.pftrace\nwrote s.csv\n")
    assert len(packets(tmp_path / "t.pftrace")) > 100
    assert (tmp_path / "s.csv").read_text().startswith('"discipline","kind","name","metric","unit","from"')


@pytest.mark.parametrize(
    ("changes", "options", "told"),
    [
        ({"model": "port"}, ["--trace", "t.pftrace"], "a trace is of the model `node`, and this scenario is"),
        ({"model": "port"}, ["--samples", "s.csv"], "measure.over_time is not given"),
        ({"measure": {}}, ["--samples", "s.csv"], "measure.sample is not given"),
        ({}, ["--trace", "t.json"], "--trace is t.json, must end in .pftrace"),
        ({}, ["--samples", "s.xls"], "--samples is s.xls, must end in .csv or .parquet"),
        ({}, ["--trace", "nowhere/t.pftrace"], "the folder nowhere does not exist"),
        ({}, ["--samples", "s.csv", "--out", "s.csv"], "--samples is s.csv, which another option names"),
    ],
)
def test_what_cannot_be_written_is_refused_before_the_run(node, tmp_path, capsys, changes, options, told):
    node(**changes)
    assert cli.run(["run", "node.toml", *options]) == 2
    err = capsys.readouterr().err
    assert told in err
    assert "  remedy: " in err
    assert [path.name for path in tmp_path.iterdir()] == ["node.toml"]


def test_processes_of_several_nodes_have_their_processors():
    parsed = document(("epoch",), nodes=["left", "right"])
    for row in (*parsed["processes"], *parsed["node_totals"]):
        row["node"] = "left"
    parsed["estimates"] = [row for row in parsed["estimates"] if row["kind"] != "node"]
    parsed["samples"] = [row for row in parsed["samples"] if row["kind"] != "node"]
    parsed["differences"] = []
    found = weir.Result.from_json(json.dumps(parsed))
    made = list(trace._packets(found, protos.TracePacket))
    assert ("epoch", "processor right") in tracks(made).values()
    assert ("epoch", "critical period right") in tracks(made).values()
