"""Programs of a node run for real: what they record, scenarios made of that, and the comparison."""

import json
import os
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

import weir
from weir import _weir, cli
from weir.errors import ConfigError, TraceError
from weir.importing import executor
from weir.live import epoch, epoch_page
from weir.live.figures import Value, difference

SCENARIO = """weir = 1
model = "node"
disciplines = ["epoch", "eevdf"]

[node]
epoch = "20ms"

[[process]]
name = "control"
need = "4ms"
slice = "1ms"
program = '''
loop {
  sleep until every 5ms
  compute 800us
}
'''

[[process]]
name = "batch"
slice = "1ms"
program = '''
loop {
  compute 10ms
}
'''

[stop]
warm_up = "0s"
duration = "400ms"
"""


@pytest.fixture(scope="module")
def recording(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("recording") / "run.weirexec"
    scenario = weir.Scenario.from_toml(SCENARIO)
    counts = json.loads(_weir.enact(scenario.read, 0, 400_000_000, path, False, None, None))
    assert counts["workers"][0]["polls"] > 0
    return path


def test_a_recording_becomes_a_scenario_that_runs_and_says_what_was_measured(recording, tmp_path):
    made = executor.write(recording, tmp_path / "node")
    document = tomllib.loads(made.scenario.read_text())
    assert document["node"]["epoch"] == "20ms"
    assert document["disciplines"][0].startswith("epoch")
    assert len(document["disciplines"]) == 4
    control, batch = sorted(document["process"], key=lambda row: row["name"], reverse=True)
    assert (control["name"], control["need"], control["slice"]) == ("control", "4ms", "1ms")
    assert (batch["name"], batch["replay"]) == ("batch", "batch.csv")
    rows = (tmp_path / "node" / "control.csv").read_text().splitlines()
    assert rows[0] == "wake_ns,run_ns"
    assert 20 <= len(rows) - 1 <= 82
    measured = {each.process: each for each in made.measured}
    assert measured["control"].count == len(rows) - 1
    assert 0 < measured["control"].mean <= measured["control"].p99 <= measured["control"].longest
    result = weir.run(made.scenario)
    row = result.estimate(document["disciplines"][0], name="control", metric="response", statistic="mean")
    assert row is not None
    assert row.value > 0


def test_the_command_says_what_was_measured_and_what_to_do_next(recording, tmp_path, capsys):
    assert cli.run(["import", "exec", str(recording), "--out", str(tmp_path / "node.toml")]) == 0
    said = capsys.readouterr().out
    assert "Measured, from ready to done" in said
    assert "next: weir compare" in said
    assert (tmp_path / "node.control.csv").exists()
    assert cli.run(["check", str(tmp_path / "node.toml")]) == 0
    capsys.readouterr()
    assert cli.run(["import", "exec", str(recording), "--out", str(tmp_path / "n"), "--json"]) == 0
    assert {row["process"] for row in json.loads(capsys.readouterr().out)["measured"]} == {"control", "batch"}


def test_a_recording_as_a_perfetto_trace(recording, tmp_path, capsys):
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace

    path = tmp_path / "run.pftrace"
    assert (
        cli.run(["import", "exec", str(recording), "--out", str(tmp_path / "n"), "--trace", str(path)]) == 0
    )
    assert f"wrote {path}" in capsys.readouterr().out
    trace = Trace()
    trace.ParseFromString(path.read_bytes())
    tracks = {
        each.track_descriptor.uuid: each.track_descriptor.name
        for each in trace.packet
        if each.HasField("track_descriptor")
    }
    assert set(tracks.values()) == {"", "worker 0", "control", "batch"}
    events = [each for each in trace.packet if each.HasField("track_event")]
    assert [each.timestamp for each in events] == sorted(each.timestamp for each in events)
    begun = {each.track_event.name for each in events if tracks[each.track_event.track_uuid] == "worker 0"}
    assert {"control", "batch"} <= begun
    ready = sum(each.track_event.name == "ready" for each in events)
    bursts = sum(each.count for each in executor.write(recording, tmp_path / "m").measured)
    # Who was ready at the end, and had not run, has no burst.
    assert bursts <= ready <= bursts + 2
    assert (
        cli.run(["import", "exec", str(recording), "--out", str(tmp_path / "n"), "--trace", "run.json"]) == 2
    )
    assert "ends in .pftrace" in capsys.readouterr().err


def test_tasks_alike_that_did_not_live_at_once_are_one_process():
    numbers = executor.array("q", [0, 5, 10, 1, 0, 20, 5, 30, 1, 0, 22, 5, 35, 1, 0])
    terms = {"priority": 1, "need": 0, "slice": None, "period": None, "weight": None, "worker": 0}
    tasks = [
        executor._Task(
            {**terms, "name": f"r#{number}", "ended": ended, "longest_poll": 5}, number - 1, number
        )
        for number, ended in ((1, 10), (2, 30), (3, 35))
    ]
    made = list(executor._processes(tasks, numbers))
    assert [[task.facts["name"] for task in process.tasks] for process in made] == [["r#1", "r#2"], ["r#3"]]
    assert {process.stem for process in made} == {"r"}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"no recording at all", "is no recording of weir-exec"),
        (b"weirexec\x07", "is of version 7 of the format, must be of version 1"),
        (b"weirexec\x01H", "byte 9: ends within a block"),
    ],
)
def test_what_is_no_recording_is_refused_with_what_it_is(content, said, tmp_path):
    path = tmp_path / "run.weirexec"
    path.write_bytes(content)
    with pytest.raises(TraceError, match=said):
        executor.write(path, tmp_path / "node")
    assert not (tmp_path / "node").exists()


def test_a_recording_cut_anywhere_is_refused_or_read_up_to_there(recording, tmp_path):
    whole = recording.read_bytes()
    path = tmp_path / "cut.weirexec"
    for share in range(1, 20):
        path.write_bytes(whole[: len(whole) * share // 20])
        try:
            made = executor.write(path, tmp_path / "cut")
        except TraceError:
            continue
        assert any("damaged" in note or "no end" in note for note in made.notes)


def test_live_epoch_sets_measured_beside_simulated(tmp_path, capsys):
    scenario = tmp_path / "scenario.toml"
    scenario.write_text(SCENARIO)
    out = tmp_path / "epoch.html"
    # On a busy machine the two may differ; that is what the exit code says.
    assert cli.run(["live", "epoch", str(scenario), "--share", "--out", str(out)]) in (0, 1)
    said = capsys.readouterr().out
    for part in ("epoch: response", "eevdf: response", "control", "29.00 µs", "the longest poll"):
        assert part in said
    page = out.read_text()
    assert "The programs of a node, run for real" in page
    assert "Response: simulated and measured" in page
    study = epoch.run(weir.Scenario.from_toml(SCENARIO), pinned=False)
    control = [each for each in study.responses if (each.discipline, each.process) == ("epoch", "control")]
    assert [each.statistic for each in control] == ["mean", "p99"]
    # A response computes 800 us at least.
    assert all(each.measured.value >= 0.0008 and each.simulated.value >= 0.0008 for each in control)
    costs = {each.path: each.measured for each in study.costs}
    assert 0 < costs["swap"] < 1e-3


def test_a_burst_is_as_many_responses_as_the_process_came_late_to_its_grid():
    late = [(5, 7), (10, 12), (15, 30)]
    assert list(epoch._split(0, 20, late)) == [(0, 7), (5, 12), (10, 20)]
    assert list(epoch._split(8, 20, late)) == [(8, 12), (10, 20)]
    assert list(epoch._split(31, 32, late)) == [(31, 32)]


def response(measured: float, simulated: float, count: int = 1000, statistic: str = "mean") -> epoch.Response:
    values = Value(simulated), Value(measured)
    return epoch.Response(
        discipline="epoch",
        process="control",
        statistic=statistic,
        count=count,
        simulated=values[0],
        measured=values[1],
        difference=difference(values[1], values[0]),
    )


def test_what_agrees_and_what_does_not():
    assert response(0.0101, 0.0100).met is True
    assert response(0.0112, 0.0100).met is False
    assert response(0.0003, 0.0001).met is True
    assert response(0.0112, 0.0100, count=99, statistic="p99").met is None
    study = epoch.Study(
        scenario="s",
        span=1.0,
        repeat=1,
        responses=(response(0.0101, 0.0100), response(0.0112, 0.0100)),
        costs=(epoch.Cost(path="swap", published=119e-6, measured=None),),
        longest_polls={"epoch": (0.001, "batch")},
        reports=("a\nb",),
    )
    assert not study.ok
    assert study.verdicts()[0].startswith("NOT MET: 1 of 2 figures are within 10% or 200 us")
    assert "mean of control under epoch, +1.200 ms" in study.verdicts()[0]
    assert replace(study, responses=study.responses[:1]).ok
    assert not replace(study, responses=()).ok
    assert "–" in epoch_page.html(study)
    json.dumps(study.to_dict(), allow_nan=False)


def test_what_cannot_be_run_for_real_is_refused(tmp_path, capsys):
    port = weir.Scenario.from_dict(
        {
            "weir": 1,
            "model": "port",
            "disciplines": ["rr"],
            "workload": {"load": 0.5},
            "stop": {"packets": 1000},
        }
    )
    with pytest.raises(ConfigError, match="model `port`"):
        epoch.run(port)
    names = json.dumps([f"node{number}" for number in range(64)])
    many = weir.Scenario.from_toml(SCENARIO.replace("[node]", f"[node]\nnames = {names}"))
    if os.cpu_count() >= 64:
        pytest.skip("64 nodes have a processor each here")
    with pytest.raises(ConfigError, match="workers is 64"):
        epoch.run(many)
    path = tmp_path / "scenario.toml"
    path.write_text(SCENARIO)
    assert cli.run(["live", "epoch", str(path), "--real-time", "99"]) == 2
    assert "must be from 1 to 98" in capsys.readouterr().err
