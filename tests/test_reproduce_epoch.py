"""The reproduction of epoch scheduling: tables, experiments, claims, comparison, and its scenarios."""

import json
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import validate

from reproduction import (
    an_interruption_never_exits_with_0,
    an_unknown_fidelity_is_refused,
    progress_is_that_of_all_runs,
    stopped_after,
)
from test_reproduce_checks import SCHEMA
from weir import NodeResult
from weir.reproduce import Status, epoch
from weir.reproduce.engine.evidence import NotMeasuredError
from weir.reproduce.engine.series import Fidelity
from weir.reproduce.epoch import claims, comparison, published, runs, sets
from weir.reproduce.epoch.claims import CLAIMS
from weir.reproduce.epoch.evidence import Mean, mean_of
from weir.reproduce.epoch.method import Setting, in_turn, message_time
from weir.reproduce.epoch.open_points import open_points
from weir.scenario import Scenario

GOLDEN = Path(__file__).parent / "reproduce-epoch.txt"
CHAIN = {"table/2/chain/rate", "table/2/chain/time"}
SMALL = runs.Size(mixed=2, busy=2, ready=2)


@pytest.fixture(scope="module")
def results():
    """What the engine finds, with two task sets of each kind, by which the promise is tried."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "SIZES", dict.fromkeys(Fidelity, SMALL))
        patch.setattr(claims, "_LEAST", 500)
        planned = runs.plans(Fidelity.QUICK)
        yield {plan: simulated(plan) for plan in planned}


def simulated(plan):
    return epoch.simulate(runs.scenario(plan), plan.name, threads=None, progress=None)


@pytest.fixture(scope="module")
def made(results):
    return epoch.evaluate(results, fidelity="quick")


def check(reproduction, name):
    return next(each for each in reproduction.checks.checks if each.id == name)


# What is published.


def test_all_is_there(made):
    kinds = [each.kind for each in made.checks.checks]
    assert kinds.count("table") == len(published.costs()) + 2 * len(published.rates()) == 23
    assert kinds.count("text") == len(published.stated()) == 9
    assert kinds.count("experiment") == len(published.experiments()) == 12
    assert kinds.count("rate") == len(runs.ROUNDS)
    assert kinds.count("claim") == len(published.claims()) == len(CLAIMS) == 20


def test_table_1_adds_up():
    value = {cost.id: cost.value for cost in published.costs()}
    for item in ("restart", "slice", "preempt"):
        parts = [name for name in value if name.startswith(f"{item}/") and not name.endswith("/total")]
        assert value[f"{item}/total"] == sum(value[name] for name in parts)
    assert value["registers"] == value["dismiss/swap"] - value["restart/microcode"]


def test_rates_are_those_of_a_full_processor():
    wrong = [row.id for row in published.rates() if f"{1000 / row.rate:.3f}" != f"{row.time:.3f}"]
    assert wrong == ["delivery"]


# What comes of it.


def test_all_that_can_be_checked_is_met(made):
    assert {each.id: each.measured for each in made.missed()} == {}
    assert {each.id for each in made.checks.checks if each.status == Status.NOT_CHECKABLE} == CHAIN
    assert [each.id for each in made.checks.checks if each.status == Status.ARTEFACT] == [
        "table/2/delivery/time"
    ]


def test_tables_and_experiments_are_as_recorded(made):
    """The part of the text that hangs on no random number; a change of it is a change of the node."""
    recorded = made.text().partition("\n\n")[2].partition("\nclaims\n")[0]
    assert recorded == GOLDEN.read_text(encoding="utf-8")


def test_b10_numbers_that_the_scenarios_are_given_say_that_they_are_circular(made):
    """Finding B10: who puts a number in shows nothing by counting it."""
    given = {row.id for row in published.stated() if row.given}
    assert given == {"epoch", "scheduler", "demon", "system", "uncharged", "left"}
    for row in published.stated():
        note = check(made, f"text/{row.id}").note
        assert ("circular: given by " in note) == (row.id in given), note
    assert "6 of them are circular" in made.verdict()


def test_b10_bars_are_no_wider_than_what_is_known(made):
    """Finding B10: 17 us of 100 held nothing, nor did 15 % of a printed number."""
    found = check(made, "experiment/rounds/sink/equation 3")
    assert (found.status, found.published, found.tolerance) == (Status.MET, 117.5, 0.5)
    sensitive = check(made, "claim/E19")
    assert sensitive.status == Status.MET
    assert "at 25/s 69." in sensitive.measured
    assert "at 970/s 1.5" in sensitive.measured or "at 970/s 1.6" in sensitive.measured


def test_json_has_the_shape_of_every_reproduction(made):
    document = json.loads(made.to_json())
    validate(document, SCHEMA)
    counted = ("met", "not_met", "artefact", "not_checkable")
    assert sum(document[name] for name in counted) == len(document["checks"])


@pytest.mark.usefixtures("results")
def test_a_node_with_other_costs_is_found_out():
    """A swap that costs 10 us more shows in the costs of Table 1 that hold it, and in no other."""
    costs = {"restart": "29us", "timer": "100us", "swap": "129us", "post": "16us", "remote": "60us"}
    found = {}
    for plan in runs.plans(Fidelity.QUICK):
        if plan.file != "node.toml" or plan.name.startswith("chain"):
            continue
        document = {**plan.document, "node": {**plan.document["node"], "costs": costs}}
        found[plan] = simulated(replace(plan, document=document))
    other = epoch.evaluate(found)
    missed = {each.id for each in other.missed() if each.id.startswith("table/1/")}
    with_swap = {"slice/total", "slice/swap", "dismiss/swap", "preempt/total", "preempt/swap", "registers"}
    assert missed == {f"table/1/{name}" for name in with_swap}
    assert check(other, "table/1/dismiss/swap").measured == pytest.approx(129, abs=1)


def changed(results, name, change):
    """Return the reproduction of results of which one is changed."""
    found = {}
    for plan, result in results.items():
        found[plan] = result
        if plan.name == name:
            document = json.loads(result.text)
            change(document)
            found[plan] = NodeResult(json.dumps(document))
    return epoch.evaluate(found, fidelity="quick")


def test_a_need_that_is_missed_breaks_the_promise(results):
    def short(document):
        document["process_totals"][0] |= {"needs_missed": 1, "worst_shortfall": 1e-9}

    other = changed(results, "promise/1", short)
    assert check(other, "claim/E01").status == Status.NOT_MET
    assert check(other, "claim/E02").status == Status.MET


def test_a_broken_self_check_is_found_out(results):
    def broken(document):
        document["checks"][0]["ok"] = False

    other = changed(results, "windfall", broken)
    assert check(other, "claim/E16").status == Status.NOT_MET
    assert "in windfall" in check(other, "claim/E16").measured


def test_a_nanosecond_that_is_lost_is_found_out(results):
    def lost(document):
        document["node_totals"][0]["idle_time"] -= 5e-9

    assert check(changed(results, "windfall", lost), "claim/E17").status == Status.NOT_MET


# Method.


def test_equations_give_back_what_was_put_in():
    few, many = (
        Setting(run_time=0.55 * rate + 0.129 * count, messages=rate, schedulings=count, seconds=20.0)
        for rate, count in ((1700.0, 25.0), (1500.0, 970.0))
    )
    found = message_time(few, many)
    assert found.value == pytest.approx(0.55)
    assert 0.5499 < found.low < found.high < 0.5501
    assert many.overhead(0.55).value == pytest.approx(129)
    assert few.sensitivity == 68.0


def test_closed_form_of_two_in_turn():
    assert in_turn(961, 0.5522, 0.152, 20) == pytest.approx(1345.8, abs=0.1)
    assert in_turn(1000, 0.5522, 0.152, 5) == pytest.approx(1342.1, abs=0.1)
    assert in_turn(1000, 0.5522, 0.152, 1e9) == pytest.approx(1000 / 0.7042)


# Task sets.


@pytest.mark.parametrize("number", range(20))
def test_task_sets_fit_the_epoch_and_are_the_same_every_time(number):
    mixed = sets.mixed(1983, number)
    assert mixed == sets.mixed(1983, number)
    assert mixed != sets.mixed(1984, number)
    assert 0.65 * sets.EPOCH <= mixed.committed <= 0.97 * sets.EPOCH
    assert all(process.need % 1_000 == 0 for process in mixed.processes)
    busy = sets.busy(1983, number, 1.0)
    assert sets.EPOCH - len(busy.processes) <= busy.committed <= sets.EPOCH
    ready = sets.ready(1983, number)
    assert ready.raised(runs.RAISED).committed - ready.committed == runs.RAISED
    assert ready.committed + runs.RAISED <= sets.EPOCH


def test_a_period_of_its_own_leaves_the_need_as_it_is():
    control = next(each for each in sets.mixed(1983, 0).processes if each.period)
    whole, part = (control.document(own_period=own) for own in (False, True))
    assert "period" not in whole
    assert part["period"] == whole["deadline"]
    assert part["need"] == whole["need"]


# Comparison.


def row(name, **differences):
    figures = {what: Mean(1.0, 0.9, 1.1, 9) for what in comparison.FIGURES}
    moved = {what: Mean(0.0, -0.1, 0.1, 9) for what in comparison.FIGURES}
    for what, (low, high) in differences.items():
        moved[what.replace("_", " ")] = Mean((low + high) / 2, low, high, 9)
    return comparison.Row(name, figures, moved)


def test_words_name_who_is_clearly_better_or_worse():
    told = comparison.words((row("epoch"), row("share", needs_met=(-9, -1), late=(-2, -1)), row("cbs")))
    assert "Under epoch 1.0 % of needs are met; clearly worse under share." in told
    assert "longer than a period; clearly better under share." in told
    assert "nobody is clearly better or worse" in told
    assert "left idle" in told


def test_a_mean_needs_two_task_sets():
    assert mean_of([1.0, 3.0]).value == 2.0
    with pytest.raises(NotMeasuredError, match="fewer than two"):
        mean_of([1.0])


def test_all_disciplines_are_compared(made):
    names = [each.name for each in made.compared]
    assert names == [*runs.COMPARED, *(f"{spec} (own periods)" for spec in runs.PERIODIC)]
    assert all("needs met" in each.means for each in made.compared)
    assert {"windfall"} == set(made.compared[0].means) - set(made.compared[-4].means)


# How it is shown.


def test_text_says_the_verdict_first(made):
    lines = made.text().splitlines()
    assert lines[0].startswith(
        "epoch, quick: 20 of the 21 values of Tables 1 and 2 that could be checked, of 23"
    )
    assert max(map(len, lines)) <= 100


def test_every_open_point_is_told(made):
    points = open_points(made.evidence)
    assert [point.number for point in points] == [*map(str, range(1, 14)), "3.4"]
    measured = {point.number for point in points if point.measured}
    assert measured == {"2", "3", "8", "10", "11", "12", "3.4"}
    readme = (published.folder() / "README.md").read_text(encoding="utf-8")
    assert all(f"\n| {number} " in readme for number in range(1, 14))


def test_page_needs_nothing_else(made, tmp_path):
    path = tmp_path / "epoch.html"
    made.write_html(path)
    page = path.read_text(encoding="utf-8")
    assert page.index("values of Tables 1 and 2") < page.index("<table")
    assert "src=" not in page.partition("<script>")[0]
    charts = json.loads(page.partition('id="charts">')[2].partition("</script>")[0])
    assert len(charts) == 2


# Scenarios and runs.


def test_plans_are_told_apart_and_quick_is_the_shortest():
    names = [plan.name for plan in runs.plans(Fidelity.QUICK)]
    assert len(set(names)) == len(names)
    work = [sum(plan.work for plan in runs.plans(fidelity)) for fidelity in Fidelity]
    assert work == sorted(work)


def test_every_file_is_a_scenario_and_none_is_left_over():
    files = {plan.file for plan in runs.plans(Fidelity.QUICK)}
    assert files == {path.name for path in published.folder().glob("*.toml")}
    for name in files:
        assert Scenario.from_file(published.folder() / name).model == "node"
    document = tomllib.loads((published.folder() / "sets.toml").read_text(encoding="utf-8"))
    assert tuple(document["disciplines"]) == runs.COMPARED


def test_runs_report_progress_over_all(results):
    progress_is_that_of_all_runs(epoch, results.values())


def test_an_unknown_fidelity_is_refused():
    an_unknown_fidelity_is_refused(epoch)


# Interruption.


@pytest.mark.parametrize("count", [0, 10])
def test_an_interrupted_reproduction_never_exits_with_0(results, count, monkeypatch, capsys, tmp_path):
    an_interruption_never_exits_with_0(epoch, results.values(), count, (monkeypatch, capsys), tmp_path)


def test_interrupted_only_what_was_run_is_counted(results):
    found = epoch.run(fidelity="quick", runner=stopped_after(results.values(), 10))
    assert found.interrupted
    assert found.not_met == 0
    assert check(found, "table/1/restart/total").status == Status.MET
    assert check(found, "claim/E01").status == Status.NOT_CHECKABLE
    assert "interrupted" in found.text().lower()
    assert found.html()
