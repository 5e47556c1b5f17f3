"""Searches: what is varied, needs as texts, bisection and race, answers known from closed forms, refusals."""

import json
import re
from decimal import Decimal
from pathlib import Path

import pytest

import weir
from weir import _weir, cli
from weir.results.judging import MET, MISSED, NOT_SETTLED, ends, judged
from weir.simulation import run as simulated
from weir.sizing import direction, need, probe, search, study, vary

SCENARIO = """\
weir = 1
model = "server"
disciplines = ["cfcfs", "rr"]

[server]
cores = 4
queue = "unbounded"

[[class]]
name = "short"
share = 0.5
service = { exponential = "10ms" }

[[class]]
name = "long"
service = { exponential = "20ms" }

[workload]
rate = "200/s"

[stop]
requests = 20_000
replications = 8
"""
RECORDING = """\
weir = 1
model = "server"
disciplines = ["cfcfs"]

[server]
cores = 1
queue = "unbounded"

[[class]]
name = "request"

[workload.trace]
file = "requests.csv"
time_unit = "ms"
service = { base = "10ms" }
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "server.toml"
    path.write_text(SCENARIO)
    return path


@pytest.fixture
def recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Four requests at once, every 100 ms: of so many cores, who waits longest waits 30, 10, 10 and 0 ms."""
    monkeypatch.chdir(tmp_path)
    rows = [str(100 * group) for group in range(300) for _ in range(4)]
    (tmp_path / "requests.csv").write_text("time\n" + "\n".join(rows) + "\n")
    path = tmp_path / "recording.toml"
    path.write_text(RECORDING)
    return path


# What is varied.


@pytest.mark.parametrize(
    ("written", "values"),
    [
        ("a=1..5", (1, 2, 3, 4, 5)),
        ("a=1..9:*2", (1, 2, 4, 8, 9)),
        ("a=0.5..0.9:0.2", (0.5, 0.7, 0.9)),
        ("a=0.5..0.52", (0.5, 0.505, 0.51, 0.515, 0.52)),
        ("a=1Mbit..3Mbit", ("1Mbit", "2Mbit", "3Mbit")),
        ("a=0.5ms..0.52ms:0.01ms", ("0.5ms", "0.51ms", "0.52ms")),
        ("a={8,16,32}", (8, 16, 32)),
        ("discipline=alpha:{1,3}", ("alpha:1", "alpha:3")),
        ("a=[1, 4]", (1, 4)),
    ],
)
def test_values_are_read_in_their_order(written: str, values: tuple[object, ...]):
    assert vary.read_vary(written).values == values


def test_the_last_value_is_always_there():
    values = vary.read_vary("a=0.01..0.999").values
    assert (values[0], values[-2], values[-1]) == (0.01, 0.995, 0.999)
    assert len(vary.read_vary("a=1..50000").values) <= 101


def test_values_are_numbers_if_they_have_one_unit():
    assert vary.numbers(("1ms", "20ms")) == [Decimal(1), Decimal(20)]
    assert vary.numbers((1, 2.5)) == [Decimal(1), Decimal("2.5")]
    assert vary.numbers(("1ms", "2s")) == vary.numbers(("fifo", "rr")) == vary.numbers((True,)) == []


# Needs.


@pytest.mark.parametrize(
    ("written", "table", "under"),
    [
        ("p99 response < 200ms", {"metric": "response p99", "bound": "200ms"}, None),
        ("response p99 <= 200 ms", {"metric": "response p99", "bound": "200ms"}, None),
        ("dropped<0.1%", {"metric": "dropped", "bound": "0.1%"}, None),
        ("mean slowdown of short < 10", {"metric": "slowdown mean", "class": "short", "bound": 10}, None),
        ("p99.9 delay of class short ≤ 1.5", {"metric": "delay p99.9", "class": "short", "bound": 1.5}, None),
        ("throughput > 100/s under rr", {"metric": "throughput", "at_least": "100/s"}, "rr"),
    ],
)
def test_needs_are_tables_of_the_scenario(written: str, table: dict[str, object], under: str | None):
    document = {"model": "server", "class": [{"name": "short"}]}
    found = need.read_need(written, document)
    assert (found.table, found.discipline) == (table, under)


def test_a_name_is_of_what_the_scenario_calls_so():
    document = {"model": "network", "flow": [{"name": "call"}], "link": [{"name": "up"}]}
    assert need.read_need("p99 delay of call < 1s", document).table["flow"] == "call"
    assert need.read_need("utilisation of up < 90%", document).table["link"] == "up"
    assert need.read_need("utilisation of link x < 90%", document).table["link"] == "x"
    assert "flow" in need.read_need("loss of nobody < 1%", document).table


# Which way.


def test_what_is_known_of_keys():
    waits = [{"metric": "response p99", "bound": "1s"}]
    way = direction.direction
    assert way("server", "server.cores", ["cfcfs"], waits, recorded=True) == "better"
    assert way("server", "server.cores", ["rr"], waits, recorded=False) == "better"
    assert way("server", "server.cores", ["rr"], waits, recorded=True) == "no"
    assert way("server", "server.cores", ["darc"], waits, recorded=False) == "no"
    assert way("port", "workload.load", ["sf"], waits, recorded=False) == "worse"
    assert way("port", "seed", ["sf"], waits, recorded=False) == "no"
    rate = [*waits, {"metric": "throughput", "at_least": "1/s"}]
    assert way("server", "workload.load", ["cfcfs"], rate, recorded=False) == "no"


# The search alone.


def decided(states: dict[int, str]):
    def decide(tried: probe.Tried) -> None:
        tried.state, tried.is_done = states[tried.value], True
        tried.looks += 1

    return decide


@pytest.mark.parametrize("count", [1, 2, 3, 7, 8, 13])
def test_bisection_finds_every_answer(count: int):
    for answer in range(count + 1):
        states = {place: MISSED if place < answer else MET for place in range(count)}
        tried: dict[int, probe.Tried] = {}
        search.bisect(range(count), decided(states), tried)
        left, may_be_none = search.possible(count, tried, is_monotonic=True)
        assert left == ([answer] if answer < count else [])
        assert may_be_none == (answer == count)
        assert len(tried) <= count.bit_length()


@pytest.mark.parametrize("count", [5, 16, 40])
def test_bisection_closes_in_on_what_stays_open(count: int):
    for first in range(count):
        for last in range(first, min(count, first + 4)):
            states = {
                place: MISSED if place < first else probe.OPEN if place <= last else MET
                for place in range(count)
            }
            tried: dict[int, probe.Tried] = {}
            search.bisect(range(count), decided(states), tried)
            left, may_be_none = search.possible(count, tried, is_monotonic=True)
            assert left == list(range(first, min(last + 2, count)))
            assert may_be_none == (last == count - 1)
            assert len(tried) <= search.most_tried(count, is_monotonic=True)


def test_a_race_ends_with_the_first_that_meets():
    looks: list[int] = []
    after = {0: (MISSED, 1), 1: (MISSED, 3), 2: (MET, 2), 3: (MET, 1), 4: (MISSED, 1)}

    def look(tried: probe.Tried) -> None:
        looks.append(tried.value)
        tried.looks += 1
        state, when = after[tried.value]
        if tried.looks == when:
            tried.state, tried.is_done = state, True

    tried: dict[int, probe.Tried] = {}
    search.race(range(5), look, tried)
    # The fourth meets in the first round, so that the fifth is never run; the third in the second.
    assert looks == [0, 1, 2, 3, 1, 2, 1]
    assert search.possible(5, tried, is_monotonic=False) == ([2], False)


def test_a_race_leaves_what_stays_open():
    states = {0: probe.OPEN, 1: MISSED, 2: probe.OPEN, 3: MET}
    tried: dict[int, probe.Tried] = {}
    search.race(range(4), decided(states), tried)
    assert search.possible(4, tried, is_monotonic=False) == ([0, 2, 3], False)
    nothing: dict[int, probe.Tried] = {}
    search.race(range(2), decided({0: MISSED, 1: MISSED}), nothing)
    assert search.possible(2, nothing, is_monotonic=False) == ([], True)


def test_the_probability_is_shared_out_over_all_verdicts():
    terms = probe.Terms(error=0.05, probes=12, needs=2, limit=64)
    assert terms.looks == 7
    # One end of an interval alone can mislead.
    assert (1 - terms.level) / 2 * 12 * 2 * 7 == pytest.approx(0.05)


# Judgements at other levels.


def test_an_interval_at_another_level_reaches_as_far_as_student_says(file: Path):
    row = weir.run(file).estimate("cfcfs", metric="response")
    assert ends(row, 0.95) == (row.low, row.high)
    low, high = ends(row, 0.99)
    # Seven degrees of freedom: 3.4995 and 2.3646 standard errors.
    assert (high - low) / (row.high - row.low) == pytest.approx(3.49948 / 2.36462, rel=1e-5)
    assert _weir.reach(0.95, 8) == 1
    with pytest.raises(weir.ConfigError, match="level is 1 and groups are 8"):
        _weir.reach(1.0, 8)


def test_what_is_lost_counts_against_a_quantile(file: Path):
    # One core, at most two wait: about one request in five is dropped, or one in fifty.
    def states(rate: str, statistic: str, bound: str) -> list[str]:
        text = SCENARIO.replace("cores = 4", "cores = 1").replace('"unbounded"', "4").replace("200/s", rate)
        asked = f'\n[[need]]\nmetric = "response {statistic}"\nbound = "{bound}"\n'
        file.write_text(text.replace('["cfcfs", "rr"]', '["cfcfs"]') + asked)
        return [each.state for each in judged(weir.run(file))]

    lost = weir.run(file).estimate("cfcfs", metric="dropped")
    assert lost.value == 0
    assert states("60/s", "p50", "10s") == [MET]
    assert states("60/s", "p90", "10s") == [MISSED]
    # Few are lost: the median of all is a little above that of those that were served, and below their p90.
    assert states("20/s", "p50", "1s") == [MET]
    assert states("20/s", "p50", "10ms") == [MISSED]
    assert states("20/s", "p50", "25ms") == [NOT_SETTLED]


# Answers.


@pytest.mark.usefixtures("recording")
def test_an_answer_of_a_recording_is_exact(capsys):
    found = weir.size("recording.toml", "server.cores", "1..8", needs=["p99 response < 25ms"])
    (only,) = found.searches
    assert (only.answer, only.state, only.is_random, only.monotonic) == (2, "found", False, "better")
    assert only.probe(1).judgements[0].value == pytest.approx(0.04, rel=0.01)
    assert all(each.looks == 1 for each in only.probes)
    asked = ["size", "recording.toml", "--vary", "server.cores=1..8", "--need", "p99 response < 15ms"]
    assert cli.run(asked) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "The least server.cores at which the p99 response is at most 15 ms is 4" in out
    assert "Nothing is random" in out


@pytest.mark.usefixtures("recording")
def test_a_recording_is_scaled_and_says_so():
    found = weir.size("recording.toml", "workload.load", "0.1..0.9:0.1", needs=["p99 response < 45ms"])
    assert (found.preferred, found.notes[0].partition(" are scaled")[0]) == (
        "highest",
        "the times of the recording",
    )
    assert found.answer == 0.9


@pytest.mark.usefixtures("file")
def test_every_discipline_has_an_answer_and_the_same_bytes_for_any_number_of_threads():
    asked = ("server.toml", "server.cores", "3..12")
    one, two = (
        weir.size(*asked, needs=["p90 response < 45ms"], threads=threads).to_dict() for threads in (1, 2)
    )
    assert json.dumps(one) == json.dumps(two)
    assert [each["discipline"] for each in one["searches"]] == ["cfcfs", "rr"]
    assert all(each["state"] == "found" for each in one["searches"])
    assert one["searches"][0]["answer"] < one["searches"][1]["answer"]


def test_needs_stand_in_the_file_and_may_be_of_one_discipline(file: Path):
    file.write_text(f'{SCENARIO}\n[[need]]\nmetric = "response p90"\nclass = "short"\nbound = "1s"\n')
    found = weir.size("server.toml", "server.cores", [4, 8], needs=["p50 response < 1us under rr"])
    first, second = found.searches
    assert (first.state, first.answer, len(first.needs)) == ("found", 4, 1)
    assert (second.state, second.answer, second.may_be_none, len(second.needs)) == ("none", None, True, 2)


@pytest.mark.usefixtures("file")
def test_disciplines_race_in_their_order():
    found = weir.size("server.toml", "discipline", ["rr", "jsq", "cfcfs"], needs=["mean response < 32ms"])
    (only,) = found.searches
    assert (found.preferred, only.discipline, only.monotonic) == ("first", None, "no")
    assert only.answer == "jsq"
    assert [each.state for each in only.probes] == ["missed", "met"]


@pytest.mark.usefixtures("file")
def test_what_cannot_be_decided_is_left(capsys):
    asked = ["--vary", "workload.rate=150/s..250/s", "--need", "mean response < 22ms", "--limit", "1"]
    assert cli.run(["size", "server.toml", *asked, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    one = found["searches"][0]
    assert one["state"] == "open"
    assert len(one["possible"]) > 1
    assert one["safe"] == one["possible"][-1]
    assert cli.run(["size", "server.toml", *asked]) == 1
    assert "a larger `--limit` may decide it" in " ".join(capsys.readouterr().out.split())


@pytest.mark.usefixtures("file")
def test_a_value_without_a_steady_state_misses():
    found = weir.size("server.toml", "server.cores", [1, 2, 8], needs=["mean response < 1s"])
    first = found.searches[0]
    assert first.answer == 8
    assert "no mean exists" in first.probe(2).reason


@pytest.mark.parametrize("case", study.CASES, ids=lambda case: case.name)
def test_searches_find_the_answer_of_the_closed_form(case: study.Case):
    assert case.exact(case.answer) < case.bound < case.exact(case.before)
    found = study.counted(case, 20)
    assert found["right"] >= 19, found
    assert found["wrong"] <= 1


# Ctrl-C.


@pytest.mark.usefixtures("file")
def test_after_an_interrupt_it_says_what_is_known(monkeypatch, capsys):
    runs = []

    def run(scenario, **more):
        runs.append(scenario)
        result = simulated(scenario, **more)
        if len(runs) == 3:
            result.document["interrupted"] = True
        return result

    monkeypatch.setattr(probe, "run", run)
    asked = ["--vary", "server.cores=3..12", "--need", "p90 response < 45ms"]
    assert cli.run(["size", "server.toml", *asked]) == 130
    out = " ".join(capsys.readouterr().out.split())
    assert out.startswith("Interrupted: the least server.cores at which")
    assert "Not searched under rr: interrupted before." in out


# Refusals.

SERVER_KEYS = (
    "`cores`, `receivers`, `queue`, `dispatch`, `ring`, `hand_over`, `cold`, `known`, `speeds`, `fault`"
)
METRICS = "`delay`, `response`, `slowdown`, `dropped`, `throughput`, `utilisation`, `overhead`, `in_use`"
EXAMPLES = "write `--need 'p99 response < 200ms'`, or `--need 'loss of call < 0.1%'`"
REFUSED = [
    (
        ("--vary", "server.cores", "--need", "p99 response < 1s"),
        "--vary is 'server.cores', must be a key and its values",
        "write `--vary server.cores=1..64`, or `--vary 'discipline=alpha:{1,3,10}'`",
    ),
    (
        ("--vary", "server.cors=1..4", "--need", "p99 response < 1s"),
        "server.toml: --vary server.cors=1: server.cors is not a key here",
        f"did you mean `cores`? choose one of {SERVER_KEYS}",
    ),
    (
        ("--vary", "server.cores=0..4", "--need", "p99 response < 1s"),
        "server.toml: --vary server.cores=0: server.cores is 0, must be from 1 to 1024",
        "raise it",
    ),
    (
        ("--vary", "server.cores=4..1", "--need", "p99 response < 1s"),
        "--vary server.cores=4:1:1: the last, 1, is below the first, 4",
        "exchange the two",
    ),
    (
        ("--vary", "stop.requests=1..2", "--need", "p99 response < 1s"),
        "--vary is stop.requests=1..2, and stop.requests decides how a run is measured, not what it is of",
        "vary another key; write `--vary server.cores=1..64`, or `--vary 'discipline=alpha:{1,3,10}'`",
    ),
    (
        ("--vary", "server.cores=1..4"),
        "server.toml: nothing is needed",
        f"{EXAMPLES}; or declare `[[need]]` in the file",
    ),
    (
        ("--vary", "server.cores=1..4", "--need", "p99 response"),
        "--need is 'p99 response', must be a figure and its bound",
        EXAMPLES,
    ),
    (
        ("--vary", "server.cores=1..4", "--need", "p99 respons < 1s"),
        (
            "--need 'p99 respons < 1s': need.metric \"respons p99\" is "
            "not a metric that results have of all together"
        ),
        f"did you mean `response`? choose one of {METRICS}",
    ),
    (
        ("--vary", "server.cores=1..4", "--need", "p99 response < 5"),
        "--need 'p99 response < 5': need.bound 5 is not in the unit of `response`",
        'write it as "200ms"',
    ),
    (
        ("--vary", "server.cores=1..4", "--need", "p99 response of shrt < 1s"),
        "--need 'p99 response of shrt < 1s': need.class \"shrt\" is not a class that results have figures of",
        "did you mean `short`? choose one of `short`, `long`",
    ),
    (
        ("--vary", "server.cores=1..4", "--need", "p99 response < 1s under jsq"),
        "--need 'p99 response < 1s under jsq': `jsq` is no discipline of the scenario",
        "name one of: cfcfs, rr",
    ),
    (
        ("--vary", "server.cores=3..4", "--need", "max response < 1s"),
        (
            "server.toml: the longest response has no interval, so that nothing can be said of it with a "
            "probability"
        ),
        "ask for a mean or a quantile, such as `p99.9 response`",
    ),
    (
        ("--vary", "server.cores=1..4", "--need", "p99 response < 1s", "--confidence", "1"),
        "the confidence is 1.0, must be from 0.5 to below 1",
        "write one such as 0.95",
    ),
    (
        ("--vary", "server.cores=1..4", "--need", "p99 response < 1s", "--monotonic", "up"),
        "--monotonic is 'up', must be `better`, `worse` or `no`",
        "write `--monotonic better` if needs are met more easily as the value grows",
    ),
    (
        ("--vary", "class.0.share=0.1..0.4:0.0001", "--need", "p99 response < 1s"),
        "--vary class.0.share: 3,001 values in a race, at most 1,000",
        "take larger steps, or say with `--monotonic better` or `worse` on which side needs are met",
    ),
]


@pytest.mark.usefixtures("file")
@pytest.mark.parametrize(("options", "said", "remedy"), REFUSED, ids=lambda each: str(each)[:40])
def test_what_cannot_be_asked_is_refused(capsys, options: tuple[str, ...], said: str, remedy: str):
    assert cli.run(["size", "server.toml", *options]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    first, second = err.splitlines()
    assert first == f"error: {said}"
    assert second == f"  remedy: {remedy}"


def test_a_broken_scenario_is_refused_at_its_place(file: Path, capsys):
    file.write_text(SCENARIO.replace("cores = 4", "cores = 0"))
    asked = ["--vary", "server.cores=1..4", "--need", "p99 response < 1s"]
    assert cli.run(["size", "server.toml", *asked]) == 2
    assert re.match(r"error: server\.toml:6:9: server\.cores is 0", capsys.readouterr().err)


# Sweeps.


def test_a_sweep_answers_needs_first(file: Path, capsys):
    file.write_text(f'{SCENARIO}\n[[need]]\nmetric = "response p90"\nbound = "45ms"\n')
    asked = ["sweep", "server.toml", "--over", "server.cores={4,16}", "--over", "discipline={cfcfs}"]
    assert cli.run(asked) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert out.startswith(
        "The p90 response is to be at most 45 ms: met in 1 of 2 cells (server.cores=16 discipline=cfcfs), "
        "missed in 1."
    )
    assert cli.run([*asked, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [each["state"] for each in found["judged"]] == ["missed", "met"]
    assert found["needs"][0]["bound"] == 0.045
    assert found["played"] == 0


def test_needs_do_not_change_what_is_played(file: Path, capsys):
    asked = ["sweep", "server.toml", "--over", "server.cores={4,5}", "--json"]
    assert cli.run(asked) == 0
    first = json.loads(capsys.readouterr().out)
    file.write_text(f'{SCENARIO}\n[[need]]\nmetric = "response p90"\nbound = "45ms"\n')
    assert cli.run(asked) == 0
    second = json.loads(capsys.readouterr().out)
    assert (first["kept"], second["kept"], second["played"]) == (0, first["played"], 0)
