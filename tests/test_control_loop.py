"""The service of `examples/control-loop`: its plan, its simulation, and the numbers that its files share."""

import re
import tomllib
from pathlib import Path

import pytest

import weir
from weir.planning import request

EXAMPLE = Path(__file__).parents[1] / "examples" / "control-loop"
TASKS = ("control", "requests", "merge")


def processes(name: str) -> dict[str, dict]:
    text = (EXAMPLE / name).read_text(encoding="utf-8")
    return {each["name"]: each for each in tomllib.loads(text)["process"]}


def test_one_worker_has_room_for_all_needs_and_none_is_missed():
    plan = request.plan(EXAMPLE / "request.toml")
    assert (plan["fewest"]["nodes"], plan["fewest"]["optimal"]) == (1, True)
    assert [node["committed_ns"] for node in plan["nodes"]] == [8_400_000]


def test_in_the_simulation_control_is_always_late_without_needs_and_never_with_them():
    text = (EXAMPLE / "scenario.toml").read_text(encoding="utf-8").replace('"11s"', '"3s"')
    result = weir.run(weir.Scenario(text, str(EXAMPLE / "scenario.toml")))
    late = {name: result.estimate(name, metric="late", name="control").value for name in result.disciplines}
    assert late == {"eevdf": 1, "epoch": 0}
    longest = [
        result.estimate(name, metric="response", statistic="max", name="requests").value
        for name in ("eevdf", "epoch")
    ]
    assert longest[1] < 0.003 < longest[0]


def test_plan_scenario_and_program_ask_for_the_same():
    asked, simulated = processes("request.toml"), processes("scenario.toml")
    assert tuple(asked) == tuple(simulated) == TASKS
    source = (EXAMPLE / "src" / "service.rs").read_text(encoding="utf-8")
    for name in TASKS:
        assert all(asked[name].get(key) == simulated[name].get(key) for key in ("need", "priority", "count"))
        declared = re.search(rf'run\.terms\("{name}", Duration::from_(\w+)\(([\d_]+)\), (\d)\)', source)
        unit = {"millis": "ms", "micros": "us"}[declared[1]]
        assert asked[name]["need"] == declared[2].replace("_", "") + unit
        assert asked[name]["priority"] == int(declared[3])
    assert f"MERGES: usize = {asked['merge']['count']};" in source


@pytest.mark.parametrize("file", ["request.toml", "scenario.toml"])
def test_the_epoch_is_that_of_the_program(file: str):
    document = tomllib.loads((EXAMPLE / file).read_text(encoding="utf-8"))
    main = (EXAMPLE / "src" / "main.rs").read_text(encoding="utf-8")
    epoch = (document.get("nodes") or document["node"])["epoch"]
    assert f"epoch({epoch}," in main
