"""The reproduction of DTable and DRR: Table 1, Figure 1, claims, variants, sensitivity, and its scenarios."""

import csv
import json
import tomllib

import pytest
from jsonschema import validate

import dtable_results
from reproduction import (
    an_interruption_never_exits_with_0,
    an_unknown_fidelity_is_refused,
    progress_is_that_of_all_runs,
    stopped_after,
)
from test_reproduce_checks import SCHEMA
from weir import FabricResult, _weir
from weir.reproduce import Status, dtable
from weir.reproduce.dtable import planned, published, runs
from weir.reproduce.dtable.claims import CLAIMS
from weir.reproduce.dtable.method import TABLE_1, Shape, saturated_shares
from weir.reproduce.dtable.published import CHANNELS
from weir.reproduce.dtable.runs import Fidelity
from weir.reproduce.dtable.wiring import Wiring


@pytest.fixture(scope="module")
def results():
    """Results under which the claims come out."""
    return dtable_results.as_claimed()


@pytest.fixture(scope="module")
def claimed(results):
    return dtable.evaluate(results, fidelity="quick")


def check(reproduction, name):
    return next(each for each in reproduction.checks.checks if each.id == name)


def changed(results, change, only=""):
    """Return the reproduction of results changed where the plan begins with ``only``."""
    made = {}
    for plan, result in results.items():
        made[plan] = result
        if plan.name.startswith(only):
            document = json.loads(result.text)
            change(document)
            made[plan] = FabricResult(json.dumps(document))
    return dtable.evaluate(made, fidelity="quick")


# What is published.


def test_all_is_there(claimed):
    kinds = [each.kind for each in claimed.checks.checks]
    assert kinds.count("table") == 7 * 8 + 7
    assert kinds.count("figure") == 2 * 3 * 4
    assert kinds.count("claim") == len(published.claims()) == 34
    assert kinds.count("variant") == 3 * (7 + 2)
    assert kinds.count("prototype") == len(published.prototype()) == 42


def test_claims_are_numbered_and_all_but_the_hardware_are_decided():
    numbers = [f"C{number:02}" for number in range(1, 35)]
    assert [claim.id for claim in published.claims()] == numbers
    assert sorted([*CLAIMS, "C32"]) == numbers


def test_table_1_follows_from_its_shape(claimed):
    assert {each.status for each in claimed.checks.of_kind("table")} == {Status.MET}
    assert (TABLE_1.pool, TABLE_1.largest) == (4096, 128)


def test_a_plan_of_another_shape_is_not_table_1(monkeypatch):
    text = (published.folder() / "table01.toml").read_text().replace("k = 2", "k = 4")
    other = json.loads(_weir.plan(text, "table01.toml"))
    monkeypatch.setattr(planned, "plan", lambda: other)
    missed = [each.id for each in dtable.cells.table_cells() if each.status == Status.NOT_MET]
    assert "table/1/D2/entry_weight" in missed
    assert "table/1/D2/entries" not in missed


def test_places_are_a_distance_apart():
    places = TABLE_1.places([2, 4, 8, 16, 32, 64, 64])
    assert places[::2] == [0] * 32
    assert places[1::4] == [1] * 16
    assert (places[31], places[63]) == (5, 6)
    assert Shape(entries=8, mtu=1, k=1, w=1).places([4]) == [0, None, None, None, 0, None, None, None]


def test_shares_of_a_saturated_link():
    assert saturated_shares("basic", 34, [64, 192]) == [0.25, 0.75]
    assert saturated_shares("weighted", 34, [2048, 2176]) == pytest.approx([4096 / 6272, 2176 / 6272])
    assert saturated_shares("dtable", 34, [64, 256, 2048]) == pytest.approx([1 / 3] * 3)


def test_the_wiring_is_a_perfect_shuffle():
    wiring = Wiring()
    assert wiring.switches == 48
    assert wiring.degrees() == {8}
    assert all(wiring.crossed(host) == {1: 4, 3: 12, 5: 48} for host in range(64))
    assert wiring.mean_links() == pytest.approx(342 / 63)
    assert Wiring(2, 2).crossed(0) == {1: 2, 3: 2}


# What comes of results.


def test_json_has_the_shape_of_every_reproduction(claimed):
    document = json.loads(claimed.to_json())
    validate(document, SCHEMA)
    counted = ("met", "not_met", "artefact", "not_checkable")
    assert sum(document[name] for name in counted) == len(document["checks"])


def test_results_as_claimed_meet_the_claims(claimed):
    missed = {
        each.id: each.measured for each in claimed.checks.of_kind("claim") if each.status == Status.NOT_MET
    }
    assert missed == {}
    undecided = [each.id for each in claimed.checks.of_kind("claim") if each.status == Status.NOT_CHECKABLE]
    assert undecided == ["claim/C32"]


def test_what_is_not_met_is_named_with_its_choice(claimed):
    missed = {each.id: each.note for each in claimed.missed()}
    assert all("no cause is known" not in note for note in missed.values())
    assert {each for each in missed if each.endswith("D16")} == {
        "variant/P, proportional shares/D16",
        "variant/S, proportional shares/D16",
    }


def worse(document):
    """Turn every improvement around."""
    for row in document["differences"]:
        if row["kind"] == "improvement":
            row |= {"value": -row["value"], "low": -row["high"], "high": -row["low"]}
            row |= {"low_90": -row["high_90"], "high_90": -row["low_90"]}


def test_a_table_that_is_worse_is_found_out(results):
    made = changed(results, worse, "P, equal shares")
    for claim in ("C24", "C25", "C26"):
        assert check(made, f"claim/{claim}").status == Status.NOT_MET
    assert made.checks.count(Status.NOT_MET, "prototype") == 42
    assert check(made, "sensitivity/the choices made/D2").status == Status.NOT_MET
    assert check(made, "variant/S, equal shares/D2").status == Status.MET


def vague(document):
    """Let every interval of an improvement hold zero."""
    for row in document["differences"]:
        if row["kind"] == "improvement":
            row |= {"low": -80.0, "high": 80.0, "low_90": -70.0, "high_90": 70.0}


def test_b10_an_interval_that_holds_zero_tells_no_sign(results):
    """Finding B10: such checks were met, whatever the sign."""
    made = changed(results, vague)
    for kind in ("prototype", "variant", "sensitivity"):
        signs = [each for each in made.checks.of_kind(kind) if isinstance(each.measured, float)]
        assert signs
        assert {each.status for each in signs} == {Status.NOT_CHECKABLE}, kind
    assert "contains 0" in check(made, "sensitivity/the choices made/D2").note
    for claim in ("C25", "C26"):
        assert check(made, f"claim/{claim}").status == Status.NOT_MET


def test_b10_throughputs_are_compared_packet_by_packet(results):
    """Finding B10: unpaired intervals of C18 let differences pass that paired ones resolve."""

    def drifted(document):
        for row in document["differences"]:
            if row["metric"] == "throughput" and row["channel"] == "D32":
                row |= {"value": -0.004, "low_90": -0.0045, "high_90": -0.0035, "low": -0.005, "high": -0.003}

    made = changed(results, drifted, "P, equal")
    assert check(made, "claim/C18").status == Status.NOT_MET
    assert "D32" in check(made, "claim/C18").measured


def test_b10_longer_frames_are_told_under_both_shares(results):
    """Finding B10: C29 does not hang on open point O1; what holds is computed."""

    def turned(document):
        for row in document["differences"]:
            row |= {"value": -row["value"], "low": -row["high"], "high": -row["low"]}

    made = changed(results, turned, runs.FRAMES)
    found = check(made, "claim/C29")
    assert found.status == Status.NOT_MET
    assert "open point O1 is not the cause" in found.note
    assert "under shares in proportion to phi" in found.note


def test_b10_the_crossbar_of_o7_has_replications_enough():
    plans = {plan.name: plan for plan in runs.plans(Fidelity.QUICK)}
    slow = next(plan for name, plan in plans.items() if "crossbar at the speed of a link" in name)
    assert slow.document["stop"]["replications"] >= 8


def less(document):
    """Let the channel with the largest packets have a little less."""
    for row in document["estimates"]:
        if row["metric"] == "throughput" and row["channel"] == "2048 B":
            row |= {key: 0.99 * row[key] for key in ("value", "low", "high", "low_90", "high_90")}


def test_shares_off_by_half_a_per_cent_are_not_those_of_the_rules(results):
    made = changed(results, less, "figure 1a")
    assert check(made, "figure/1a/dtable/2048 B").status == Status.NOT_MET
    assert check(made, "figure/1b/dtable/2176 B").status == Status.MET
    assert [check(made, f"claim/C0{number}").status for number in (1, 2, 3)] == [Status.NOT_MET] * 3


def slower(document):
    for row in document["estimates"]:
        if row["metric"] == "throughput":
            row |= {key: 0.9 * row[key] for key in ("value", "low", "high", "low_90", "high_90")}
        if row["metric"] == "accepted":
            row |= {key: 0.98 * row[key] for key in ("value", "low", "high", "low_90", "high_90")}


def test_throughput_that_does_not_follow_the_offer_is_found_out(results):
    made = changed(results, slower, "P, equal")
    assert check(made, "claim/C19").status == Status.NOT_MET
    assert check(made, "claim/C20").status == Status.NOT_MET


def test_a_broken_self_check_breaks_the_claim_of_no_loss(results):
    def broken(document):
        document["checks"][0]["ok"] = False

    made = changed(results, broken, "verified")
    assert check(made, "claim/C16").status == Status.NOT_MET
    assert "credits conserved in verified" in check(made, "claim/C16").measured


# How it is shown.


def test_text_says_the_verdict_first(claimed):
    lines = claimed.text().splitlines()
    assert lines[0].startswith("dtable, quick: 63 of 63 values of Table 1 follow")
    assert max(map(len, lines)) <= 100
    assert sum(line[4:5] == "C" and line[5:7].isdigit() for line in lines) == 34
    points = {f"O{number}" for number in range(1, 19)}
    assert points <= {line.split()[0] for line in lines if line.startswith("O")}


def test_page_needs_nothing_else(claimed, tmp_path):
    path = tmp_path / "dtable.html"
    claimed.write_html(path)
    page = path.read_text(encoding="utf-8")
    assert page.index("values of Table 1") < page.index("<table")
    assert "src=" not in page.partition("<script>")[0]
    charts = json.loads(page.partition('id="charts">')[2].partition("</script>")[0])
    assert len(charts) == 4 * 5 * 2 - 3 * 2  # quick variants have no load low enough for Figure 4


def test_every_open_point_is_a_row(claimed):
    points = [row.point for row in claimed.sensitivity]
    assert set(points) == {"", *(f"O{number}" for number in range(1, 19))}
    assert all(row.figures or row.remark for row in claimed.sensitivity)


# Scenarios and runs.


def test_plans_are_told_apart_and_quick_is_the_shortest():
    names = [plan.name for plan in runs.plans(Fidelity.QUICK)]
    assert len(set(names)) == len(names)
    work = [sum(plan.work for plan in runs.plans(fidelity)) for fidelity in Fidelity]
    assert work == sorted(work)


def test_a_switch_changes_one_choice():
    base = next(plan for plan in runs.plans(Fidelity.QUICK) if plan.name == runs.MAIN.name).document
    for switch in runs.SWITCHES:
        made = switch.change(base)
        different = [key for key in base if made[key] != base[key]]
        assert different in (
            ["fabric"],
            ["traffic"],
            ["stop"],
            ["disciplines"],
            ["disciplines", "reference"],
        ) or (switch.point == "O9"), switch.name


@pytest.mark.parametrize("plan", runs.plans(Fidelity.QUICK), ids=lambda plan: plan.name)
def test_every_scenario_is_taken(plan):
    from weir.scenario import Scenario

    text = runs.scenario(plan)
    assert tomllib.loads(text)["stop"]["replications"] == plan.document["stop"]["replications"]
    made = Scenario(text, str(published.folder() / plan.file)).normalised
    assert len(made["disciplines"]) == len(plan.roles)


def test_channels_have_the_shares_of_table_1():
    plan = next(plan for plan in runs.plans(Fidelity.QUICK) if plan.name == "P, proportional shares")
    shares = {each["name"]: each["share"] for each in tomllib.loads(runs.scenario(plan))["channel"]}
    with (published.folder() / "table01.csv").open() as file:
        printed = {row["channel"]: float(row["phi_pct"]) for row in csv.DictReader(file)}
    assert shares == {name: printed[name] for name in CHANNELS}


def test_runs_report_progress_over_all(results):
    progress_is_that_of_all_runs(dtable, results.values())


def test_an_unknown_fidelity_is_refused():
    an_unknown_fidelity_is_refused(dtable)


# Interruption.


@pytest.mark.parametrize("count", [0, 6])
def test_an_interrupted_reproduction_never_exits_with_0(results, count, monkeypatch, capsys, tmp_path):
    an_interruption_never_exits_with_0(dtable, results.values(), count, (monkeypatch, capsys), tmp_path)


def test_interrupted_only_what_was_run_is_counted(results):
    made = dtable.run(fidelity="quick", runner=stopped_after(results.values(), 2))
    assert made.interrupted
    assert made.not_met == 0
    assert check(made, "claim/C01").status == Status.MET
    assert check(made, "claim/C24").status == Status.NOT_CHECKABLE
    assert "interrupted" in made.text().lower()
    assert made.html()
