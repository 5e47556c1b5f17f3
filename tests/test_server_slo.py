"""The highest load of a server within a bound: searches, the table, Ctrl-C, and refusals word by word."""

import json
from pathlib import Path

import pytest

import weir
from weir import _weir, cli
from weir.models.server.slo import highest_loads

SCENARIO = """\
weir = 1
model = "server"
disciplines = ["cfcfs", "rr"]

[server]
cores = 1
queue = 9

[[class]]
name = "short"
share = 0.5
service = "10us"

[[class]]
name = "long"
service = "20us"

[workload]
load = 0.5

[stop]
requests = 20_000
replications = 4
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "server.toml"
    path.write_text(SCENARIO)
    return path


def test_the_highest_load_is_bracketed(file: Path):
    found, _ = highest_loads(file, bound=8.0, quantile="p90", precision=0.2)
    assert (found.discipline, found.quantile, found.bound, found.interrupted) == ("cfcfs", "p90", 8.0, False)
    assert found.met is not None
    assert found.not_met is not None
    assert found.from_ < found.met.load < found.not_met.load <= found.to
    assert found.probes == len(found.tried)
    left_out = 1 - 0.9
    for probe in found.tried:
        assert probe.low <= probe.beyond <= probe.high
        assert probe.verdict != "met" or probe.high <= left_out
        assert probe.verdict != "not_met" or probe.low > left_out


def test_who_is_dropped_is_beyond_every_bound(file: Path):
    # At most two wait, so that no request is ever slowed down a thousandfold: who is beyond was dropped.
    file.write_text(SCENARIO.replace("queue = 9", "queue = 2"))
    found, _ = highest_loads(file, bound=1000.0, quantile="p90", class_="all", precision=0.2)
    assert found.not_met is not None
    assert found.not_met.beyond == found.not_met.dropped > 0.1
    assert found.not_met.value is None


def test_json_has_the_keys_of_the_engine(file: Path, capsys):
    assert (
        cli.run(["slo", file.name, "--bound", "20", "--quantile", "p50", "--precision", "50", "--json"]) == 0
    )
    found = json.loads(capsys.readouterr().out)
    assert [each["discipline"] for each in found] == ["cfcfs", "rr"]
    assert {"class", "from", "to", "met", "not_met", "tried"} <= found[0].keys()
    assert {"class", "beyond", "low", "high", "dropped", "value"} <= found[0]["tried"][0].keys()


def test_a_table_says_what_is_beyond_the_bound(file: Path, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "160")
    assert cli.run(["slo", file.name, "--bound", "5", "--quantile", "p90", "--precision", "20"]) == 0
    out, _ = capsys.readouterr()
    assert out.startswith("the highest load at which p90 of the slowdown of each class is within 5\n")
    for title in ("meets it at load", "no more at load", "beyond it then", "p90 then", "of class"):
        assert title in out
    assert " % to " in out


def row(discipline: str, *, probes: int) -> dict[str, object]:
    """What the engine says of a search that was broken off after so many probes."""
    rest = {"met": None, "not_met": None, "tried": [], "reached": False, "interrupted": True}
    asked = {"class": None, "quantile": "p99.9", "bound": 10.0, "precision": 0.01, "from": 0.01, "to": 0.999}
    return {"discipline": discipline, "probes": probes, **asked, **rest}


def test_after_an_interrupt_it_says_who_was_not_searched(file: Path, monkeypatch, capsys):
    found = json.dumps([row("cfcfs", probes=3), row("rr", probes=0), row("jsq", probes=0)])
    monkeypatch.setattr(_weir, "highest_loads", lambda *_: found)
    assert cli.run(["slo", file.name]) == 130
    out, _ = capsys.readouterr()
    lines = [line.rstrip() for line in out.splitlines()]
    assert lines[-1] == "interrupted: what was searched by then; not searched: rr, jsq"
    assert [line.split()[0] for line in lines if line.endswith("not searched")] == ["rr", "jsq"]
    assert [line.split()[0] for line in lines if line.endswith("broken off")] == ["cfcfs"]


def refusal(capsys: pytest.CaptureFixture[str], *options: str) -> tuple[str, str]:
    """Return what is wrong and the remedy, of a command that prints nothing else."""
    assert cli.run(["slo", "server.toml", *options]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    said, remedy = err.splitlines()
    return said.removeprefix("error: "), remedy.removeprefix("  remedy: ")


NO_BOUND = "must be above 1: a request that never waits has slowdown 1"
FINER = "finer than the measurement: slowdowns are known to the nearest 0.001, so it must be at least 1.001"
TOO_FEW = (
    "the requests of `short` are too few for the p99.99 of their slowdown: lengthen the run, add "
    "replications, or ask for a lower quantile"
)
REFUSED_QUESTIONS = [
    (
        ("--class", "shrt"),
        "--class `shrt` is not a class of the scenario",
        "did you mean `short`? choose one of `short`, `long`, and `all` of them together",
    ),
    (("--bound", "1"), f"--bound is 1, {NO_BOUND}", "write one such as 10.0"),
    (("--bound", "nan"), f"--bound is NaN, {NO_BOUND}", "write one such as 10.0"),
    (("--bound", "1.0001"), f"--bound is 1.0001, {FINER}", "raise it"),
    (
        ("--quantile", "p98"),
        "--quantile is `p98`, must be one of p50, p90, p99, p99.9, p99.99",
        "write one such as p99.9",
    ),
    (("--precision", "90"), "--precision is 90 %, must be from 0.01 % to 50 %", "write one such as 1"),
    (("--quantile", "p99.99"), f"server.toml: stop: {TOO_FEW}", "change the scenario as the message says"),
]


@pytest.mark.usefixtures("file")
@pytest.mark.parametrize(("options", "said", "remedy"), REFUSED_QUESTIONS)
def test_a_question_that_cannot_be_answered_is_refused(
    capsys, options: tuple[str, ...], said: str, remedy: str
):
    assert refusal(capsys, *options) == (said, remedy)


TRACE = """\
[workload.trace]
file = "x.csv"
time_unit = "us"
service = { base = "1us" }
class = "kind"
"""
REFUSED_SCENARIOS = [
    (
        [
            ('share = 0.5\nservice = "10us"\n', ""),
            ('service = "20us"\n', ""),
            ("[workload]\nload = 0.5\n", TRACE),
            ("requests = 20_000\n", ""),
        ],
        "15:1: workload.trace has its own times, and it is the load that a search changes",
        "write a `load` in its place, and a `share` and a `service` for each class",
    ),
    (
        [("load = 0.5", "closed = { clients = 4 }"), ("requests = 20_000", 'duration = "1s"')],
        "19:10: workload.closed offers what is served, so it has no load that a search could change",
        "write a `load` in its place: a search needs arrivals from outside at one rate",
    ),
    (
        [("load = 0.5", 'load = 0.1\nlevels = { every = "1ms", count = 2 }')],
        "20:10: workload.levels has several loads, and a search changes one",
        "leave the levels out",
    ),
    (
        [("replications = 4", "replications = 1")],
        "23:16: stop.replications is 1, must be at least 2: an interval decides whether a bound is met",
        "raise it, or leave it out",
    ),
]


def change(file: Path, replaced: list[tuple[str, str]]) -> None:
    text = SCENARIO
    for old, new in replaced:
        assert old in text
        text = text.replace(old, new)
    file.write_text(text)
    file.with_name("x.csv").write_text("time,kind\n0,short\n1,long\n")


@pytest.mark.parametrize(("replaced", "said", "remedy"), REFUSED_SCENARIOS)
def test_a_scenario_that_cannot_be_searched_is_refused_at_its_key(
    capsys, file: Path, replaced: list[tuple[str, str]], said: str, remedy: str
):
    change(file, replaced)
    assert refusal(capsys) == (f"server.toml:{said}", remedy)


def test_a_scenario_of_another_model_is_refused():
    port = {"weir": 1, "model": "port", "disciplines": ["sf"], "workload": {"load": 0.5}}
    with pytest.raises(weir.ConfigError, match="of the model `server`"):
        highest_loads(port)


def test_a_class_without_a_share_has_no_figures_and_is_not_searched(file: Path, capsys):
    change(file, [("share = 0.5", "share = 0.0")])
    result = weir.run(file)
    assert result.ok
    none = result.estimate("cfcfs", name="short", metric="slowdown", statistic="p99")
    assert (none.value, none.reason) == (None, "no observations in this run")
    found, _ = highest_loads(file, bound=8.0, quantile="p90", precision=0.5)
    assert {probe.class_ for probe in found.tried} == {"long"}
    assert refusal(capsys, "--class", "short") == (
        "--class is `short`, has a share of 0 in the scenario, must have requests",
        "name another class, or give it a share",
    )
