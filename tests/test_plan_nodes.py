"""Placements of processes on nodes: as text, as JSON, as scenarios, and their simulation."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from weir import _weir, cli
from weir.errors import ConfigError, PlanError
from weir.planning import check as table_check
from weir.planning import nodes, request
from weir.scenario import Scenario

HEAD = """\
weir = 1
title = "Three nodes"

[nodes]
names = ["a", "b", "c"]
reserve = "4ms"
"""
PROCESSES = """
[[process]]
name = "recorder"
need = "50ms"
on = ["a"]
priority = 2
slice = "10ms"

[[process]]
name = "decoder"
need = "30ms"
count = 4

[[process]]
name = "spare"
need = "20ms"
count = 2
apart_from = ["spare", "recorder"]

[[process]]
name = "rest"
need = "10ms"
count = 3
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path("nodes.toml")
    path.write_text(HEAD + PROCESSES)
    return path


def call(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    code = cli.run([str(each) for each in arguments])
    return code, *capsys.readouterr()


def test_a_placement_as_text(capsys, file: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "100")
    code, out, err = call(capsys, "plan", file)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[:2] == [
        "Three nodes",
        "epoch 100.0 ms, of it 4.000 ms for the system: a node can promise 96.00 ms",
    ]
    rows = {line.split()[0]: line.split() for line in lines if line[:2] in {"a ", "b ", "c "}}
    assert all(row[2:] == ["80.00", "16.00", "83", "%"] for row in rows.values())
    assert sum(int(row[1]) for row in rows.values()) == 10
    told = " ".join(out.split())
    assert "fewest nodes: 3, and fewer is impossible; bound 3 (all needs 3, " in told
    assert "largest committed: 80.00 ms, and less is impossible; bound 80.00 ms (mean 80.00 ms, " in told
    assert max(len(line) for line in lines) <= 100


def test_a_placement_as_json(capsys, file: Path):
    code, out, _ = call(capsys, "plan", file, "--json")
    told = json.loads(out)
    plan = told["plan"]
    assert (code, told["target"], plan["kind"], plan["form"]) == (0, None, "nodes", None)
    assert (plan["fewest"]["nodes"], plan["fewest"]["optimal"], plan["balance"]["gap_ns"]) == (3, True, 0)
    needs = [0] * len(plan["nodes"])
    for process in plan["processes"]:
        needs[process["node"]] += process["need_ns"]
        assert process["name"] in plan["nodes"][process["node"]]["processes"]
    assert needs == [node["committed_ns"] for node in plan["nodes"]] == [80_000_000] * 3


def test_as_few_as_suffice(capsys, file: Path):
    file.write_text("weir = 1\n[nodes]\n" + PROCESSES.replace('on = ["a"]\n', ""))
    plan = request.plan(file)
    assert [node["name"] for node in plan["nodes"]] == ["node1", "node2", "node3"]
    assert plan["balance"] is None
    assert "largest committed" not in call(capsys, "plan", file)[1]


def test_b9_the_discipline_of_a_check_is_named(capsys, file: Path):
    """Finding B9: what plain ``epoch`` misses is counted, and said."""
    needs = ("20.1ms", "40.2ms", "39.7ms")
    file.write_text(
        "weir = 1\n[nodes]\ncount = 1\n"
        + "".join(f'[[process]]\nname = "p{n}"\nneed = "{need}"\n' for n, need in enumerate(needs))
    )
    found = nodes.check(file)
    assert (found.is_met, found.discipline) == (True, "epoch:min_slice=1ns")
    assert found.missed_by_default >= 100
    assert sum(row.missed for row in found.processes) == 0
    code, out, _ = call(capsys, "plan", file, "--check")
    told = " ".join(out.split())
    assert code == 0
    assert "check, epoch scheduling (`epoch:min_slice=1ns`), seed 1" in told
    assert f"under plain `epoch`: {found.missed_by_default}" in told
    assert told.endswith("less than 300 us left of a need is not run there")
    told = json.loads(call(capsys, "plan", file, "--check", "--json")[1])["check"]
    assert told["missed_by_default"] == found.missed_by_default


@pytest.mark.parametrize(("missed", "by_default", "code"), [(0, 0, 0), (0, 7, 0), (1, 0, 1), (1, 7, 1)])
def test_only_what_the_plan_promises_decides_the_exit_code(
    capsys, file: Path, monkeypatch: pytest.MonkeyPatch, missed: int, by_default: int, code: int
):
    found = nodes.check(file)
    first, *rest = found.processes
    changed = replace(first, missed=missed, missed_by_default=by_default, worst_shortfall=0.001 * missed)
    monkeypatch.setattr(nodes, "check", lambda *_, **__: replace(found, processes=(changed, *rest)))
    assert call(capsys, "plan", file, "--check")[0] == code


def test_who_has_no_place(capsys, file: Path):
    file.write_text(HEAD + PROCESSES.replace("count = 4", "count = 6"))
    code, out, _ = call(capsys, "plan", file, "--target", "scenario", "--check")
    told = " ".join(out.split())
    assert code == 1
    assert "note: the processes do not all fit: they need at least 4 nodes, and there are 3" in told
    assert (
        "no place: spare.2 (line 20) needs 20ms, and no node has that much left, the most is 6ms on a" in told
    )
    assert "not written for scenario: not every process fits" in told
    assert told.endswith("not checked: not every process fits")
    with pytest.raises(ConfigError, match="cannot carry the plan"):
        request.emit(file, "scenario")


@pytest.mark.parametrize("target", request.NODE_TARGETS)
def test_every_target_is_a_scenario(capsys, file: Path, target: str):
    code, out, _ = call(capsys, "plan", file, "--target", target, "--out", "node.toml")
    assert (code, out.endswith("\nwrote node.toml\n")) == (0, True)
    assert f"what {target} does not keep of the plan:\n- " in out
    scenario = Scenario.from_file("node.toml")
    assert scenario.model == "node"
    assert len(scenario.normalised["process"]) == 10


def test_every_need_is_met_in_the_simulation(capsys, file: Path):
    code, out, _ = call(capsys, "plan", file, "--check")
    assert code == 0
    assert "\nneeds missed: 0 of 1,000 (epochs in which a process was ready throughout)\n" in out
    assert out.endswith("\nevery need is met in every epoch\n")
    found = nodes.check(file, seed=7)
    assert (found.is_met, found.settled, len(found.processes)) == (True, None, 10)
    assert all((row.epochs, row.missed, row.moves) == (100, 0, 0) for row in found.processes)


def test_full_nodes_keep_odd_needs(file: Path):
    needs = ("33.333333ms", "41.1ms", "25.566667ms", "0.000001ms", "20.1ms", "79.899999ms")
    file.write_text(
        "weir = 1\n[nodes]\ncount = 2\n"
        + "".join(f'[[process]]\nname = "p{n}"\nneed = "{need}"\n' for n, need in enumerate(needs))
    )
    plan = request.plan(file)
    assert [node["left_ns"] for node in plan["nodes"]] == [0, 0]
    assert nodes.check(file).is_met


@pytest.mark.parametrize(
    ("epoch", "need", "reserve"),
    [("1us", "0.3us", "0us"), ("86400s", "28000s", "1s"), ("1s", "0.000001ms", "999ms")],
)
def test_the_longest_and_the_shortest_are_scenarios_too(file: Path, epoch: str, need: str, reserve: str):
    file.write_text(
        f'weir = 1\ntitle = "a \\"title\\" \\n of two lines"\n[nodes]\ncount = 2\nepoch = "{epoch}"\n'
        f'reserve = "{reserve}"\n[[process]]\nname = "p é"\nneed = "{need}"\ncount = 4\n'
    )
    for target in request.NODE_TARGETS:
        assert Scenario.from_toml(request.emit(file, target).text).model == "node"


def test_a_check_can_fail(file: Path, monkeypatch: pytest.MonkeyPatch):
    emitted = request.emit(file, "scenario")
    spoiled = request.Emission(emitted.text.replace('node = "b"', 'node = "a"'), emitted.lost)
    monkeypatch.setattr(nodes, "emit", lambda *_: spoiled)
    found = nodes.check(file)
    assert not found.is_met
    assert any(row.missed and row.worst_shortfall > 0 for row in found.processes)


def test_rebalancing_comes_to_meet_all_needs(capsys, file: Path):
    file.write_text(
        'weir = 1\n[nodes]\ncount = 2\n[[process]]\nname = "p"\nneed = "30ms"\ncount = 5\n'
        '[[process]]\nname = "fixed"\nneed = "20ms"\non = ["node2"]\n'
    )
    code, out, _ = call(capsys, "plan", file, "--target", "rebalance", "--check", "--json")
    check = json.loads(out)["check"]
    assert (code, check["met"], check["target"]) == (0, True, "rebalance")
    assert check["settled"] > 0
    rows = {row["name"]: row for row in check["processes"]}
    assert sum(row["moves"] for row in rows.values()) >= 2
    assert (rows["fixed"]["moves"], rows["fixed"]["node"]) == (0, "node2")
    out = call(capsys, "plan", file, "--target", "rebalance", "--check")[1]
    assert "\nall who may be anywhere begin on one node; " in out
    assert out.splitlines()[-1].startswith("no need is missed from ")


def test_refused_options(capsys, file: Path):
    for arguments, said in (
        (("--target", "opensm"), "must be one of scenario, rebalance in a plan for nodes"),
        (("--check", "--load", "0.5"), "a placement is checked without a load"),
        (("--out", "node.toml"), "add `--target scenario`"),
    ):
        code, _, err = call(capsys, "plan", file, *arguments)
        assert (code, said in err) == (2, True)


def test_refused_requests(capsys, file: Path):
    file.write_text(HEAD + PROCESSES.replace('"recorder"]', '"recordre"]'))
    code, _, err = call(capsys, "plan", file)
    assert (code, "did you mean `recorder`?" in err) == (2, True)
    with pytest.raises(PlanError, match="is not the name of a table of processes"):
        request.plan(file)


def test_checks_are_of_their_kind(file: Path):
    with pytest.raises(ConfigError, match="is no request for a table"):
        table_check.check(file)
    file.write_text(
        'weir = 1\n[table]\nentries = 8\nmtu = "2048B"\n[link]\nrate = "10Gbit"\n'
        '[[class]]\nname = "a"\nshare = "50%"\n'
    )
    with pytest.raises(ConfigError, match="is no request of nodes"):
        nodes.check(file)


def test_the_engine_names_its_targets():
    text = HEAD + PROCESSES
    for target in request.NODE_TARGETS:
        assert json.loads(_weir.plan(text, "nodes.toml", target))["form"] == target
