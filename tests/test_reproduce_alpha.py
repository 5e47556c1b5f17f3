"""The reproduction of the alpha report: tables, tolerances, claims, artefacts, text and page."""

import dataclasses
import hashlib
import itertools
import json
import tomllib

import pytest
from jsonschema import validate

from alpha_results import document, drawn, packets_of, printed
from reference_port import result
from reproduction import (
    an_interruption_never_exits_with_0,
    an_unknown_fidelity_is_refused,
    progress_is_that_of_all_runs,
    stopped_after,
)
from test_reproduce_checks import SCHEMA
from weir import PortResult
from weir.reproduce import Status, alpha
from weir.reproduce.alpha import published, runs
from weir.reproduce.alpha.claims import CLAIMS, judge, printed_finding
from weir.reproduce.alpha.evidence import Evidence
from weir.reproduce.alpha.fairness import fairness
from weir.reproduce.alpha.published import LOADS, QUANTITIES, STRATEGIES
from weir.reproduce.alpha.table import COMPARISONS, LEVEL

CELLS = list(itertools.product(STRATEGIES, QUANTITIES))


@pytest.fixture(scope="module")
def of_print():
    """The printed tables, taken for what was measured."""
    return alpha.evaluate(printed(), with_artefacts=True)


def test_all_cells_and_claims_are_there(of_print):
    kinds = [check.kind for check in of_print.checks.checks]
    assert len(published.table()) == kinds.count("table") == 1040
    assert len(published.claims()) == kinds.count("claim") == 55
    assert kinds.count("closed form") == kinds.count("published to closed form") == 290
    assert kinds.count("artefact") == 7


def test_the_published_files_are_the_published_ones():
    digests = {
        "section15.csv": "02789b014be1f9ec6cce59b01f2d8fc5462888a7fee73eb2e3ef87327453d2fd",
        "claims.csv": "11b8af9ea45cecb8c8f5ba3958eaa316a191a771c1dc058628416bedaf4f690c",
        "analytic.csv": "17ffa9c504a223e31bc62117aa8847c10c5999eec846438969a25a8b4a9aed95",
    }
    for name, digest in digests.items():
        assert hashlib.sha256((published.folder() / name).read_bytes()).hexdigest() == digest


def test_comparisons_are_counted_high_enough(of_print):
    parts = sum(len(claim.parts(of_print.evidence)) for claim in CLAIMS)
    inside = 30 + 18 + 12 * 5 + 10 + 3 * 3  # comparisons within parts that are one conjunction
    others = sum(check.kind != "claim" for check in of_print.checks.checks)
    assert parts + inside + others <= COMPARISONS


def test_every_claim_is_decided_once():
    assert sorted(claim.text for claim in CLAIMS) == sorted(row.text for row in published.claims())
    assert len({claim.id for claim in CLAIMS}) == 55


def test_printed_tables_give_the_recorded_findings(of_print):
    """Fed with the published tables, every claim comes out as claims.csv has it."""
    for judgement in of_print.judgements:
        assert judgement.found == printed_finding(judgement.published), judgement.claim.id


def test_printed_tables_equal_themselves(of_print):
    assert of_print.checks.count(Status.MET, "table") == 1040


def test_json_has_the_shape_of_every_reproduction(of_print):
    document = json.loads(of_print.to_json())
    validate(document, SCHEMA)
    assert document["met"] + document["not_met"] + document["artefact"] + document["not_checkable"] == len(
        document["checks"]
    )


def exact_means():
    """Return the exact means where there are, else the published ones; so the overflow is undone."""
    return {**published.table(), **published.exact()}


def errors_of(load):
    """Return standard errors as large as the deviations of the published tables from the closed forms."""
    table, exact = published.table(), published.exact()
    relative = {
        "0.01": 0.004,
        "1": 0.004,
        "20": 0.002,
        "50": 0.002,
        "70": 0.003,
        "80": 0.002,
        "90": 0.003,
        "95": 0.004,
        "97": 0.002,
        "98": 0.006,
    }[load]
    return {(load, *cell): relative * exact.get((load, *cell), table[load, *cell]) + 0.002 for cell in CELLS}


def errors():
    return {key: value for load in LOADS for key, value in errors_of(load).items()}


def test_a_run_of_the_same_process_is_met():
    made = alpha.evaluate(drawn(1, exact_means(), errors()), with_artefacts=True)
    assert made.checks.count(Status.NOT_MET, "table") == 0
    assert made.checks.count(Status.NOT_MET, "closed form") == 0
    assert made.checks.count(Status.ARTEFACT, "table") == 7


def test_the_overflow_is_an_artefact_that_the_mixture_explains():
    made = alpha.evaluate(drawn(1, exact_means(), errors()), with_artefacts=True)
    row = [check for check in made.checks.checks if check.id.startswith("table/97/rr_head/")]
    assert [check.status for check in row] == [Status.MET] + [Status.ARTEFACT] * 7
    mixed = {check.id.split("/")[-1]: check for check in made.checks.of_kind("artefact")}
    assert all(check.status == Status.MET for check in mixed.values())
    assert mixed["lat1"].measured == pytest.approx(1.60, abs=0.05)


def test_without_the_explanation_the_row_is_not_met():
    means = exact_means() | {
        ("97", "rr", quantity): 3 * published.exact()["97", "rr", quantity] for quantity in QUANTITIES[1:]
    }
    made = alpha.evaluate(drawn(1, means, errors()))
    statuses = {check.id: check.status for check in made.checks.checks}
    assert statuses["table/97/rr_head/lat1"] == Status.NOT_MET


def test_a_wrong_strategy_is_found():
    """RR' measured where RR is meant: every cell of it is off, and is said to be, from 20 % on."""
    means = exact_means()
    wrong = means | {
        (load, "rr", each): means[load, "rr_head", each] for load in LOADS for each in QUANTITIES
    }
    made = alpha.evaluate(drawn(2, wrong, errors()))
    missed = {
        check.id.split("/")[1] for check in made.checks.of_kind("table") if check.status == Status.NOT_MET
    }
    assert missed >= set(LOADS[2:])


def test_a_longer_run_narrows_only_its_own_side():
    short, long = (alpha.evaluate(drawn(3, exact_means(), errors(), ratio)) for ratio in (1.0, 100.0))
    pick = "table/95/sf/avlat"
    narrow, wide = (
        next(c.tolerance for c in made.checks.checks if c.id == pick) - 0.005 for made in (long, short)
    )
    assert narrow == pytest.approx(wide * (1.01 / 2) ** 0.5, rel=0.01)


def test_interrupted_runs_keep_what_is_finished():
    results = {load: each for load, each in printed().items() if float(load) <= 50}
    made = alpha.evaluate(results)
    assert made.checks.count(Status.MET, "table") == 4 * 104
    assert made.checks.count(Status.NOT_CHECKABLE, "table") == 6 * 104
    assert made.verdict().startswith(
        f"{made.not_checkable:,} checks could not be made: the run was interrupted"
    )
    assert "n/a" in made.text()
    assert "interrupted before 70 %" in made.html()


def test_a_mean_without_value_is_not_checkable():
    results = printed()
    row = next(
        each for each in results["50"]["estimates"] if each["discipline"] == "rr" and each["class"] == "2pkt"
    )
    row.update(value=None, low=None, high=None, standard_error=None, reason="no message of this class")
    check = next(each for each in alpha.evaluate(results).checks.checks if each.id == "table/50/rr/lat2")
    assert (check.status, check.note) == (
        Status.NOT_CHECKABLE,
        "lat2 of rr at 50 %: no message of this class",
    )


def test_text_says_the_verdict_first(of_print):
    lines = of_print.text().splitlines()
    assert lines[0].startswith("alpha, default: 1,040 of 1,040 published means are met")
    assert sum(" 12       " in line for line in lines) == 14
    assert max(map(len, lines)) <= 100


def test_page_needs_nothing_else(of_print, tmp_path):
    path = tmp_path / "alpha.html"
    of_print.write_html(path)
    page = path.read_text(encoding="utf-8")
    assert page.index("published means are met") < page.index("<table")
    assert all(f'id="{name}"' in page for name in ("figure1", "figure2", "figure3", "figure4", "fairness"))
    assert "src=" not in page.partition("<script>")[0]
    assert page.count("<details") == 16  # 10 within sections, and 6 sections that are long


def test_fairness_is_that_of_section_12(of_print):
    found = fairness(of_print.evidence, LOADS[3], "alpha:6")
    assert (found.smallest_length, found.largest_length) == (3, 20)
    assert (found.smallest, found.largest) == (pytest.approx(1.387, abs=1e-3), pytest.approx(1.611, abs=1e-3))


def test_scenarios_are_the_template_at_ten_loads():
    for load in LOADS:
        plan = runs.plan(load, runs.Fidelity.FULL)
        scenario = tomllib.loads(runs.scenario(plan))
        assert scenario["workload"]["load"] == float(load) / 100
        assert tuple(scenario["disciplines"]) == STRATEGIES
        assert scenario["stop"]["packets"] >= (published.packets()[load] or 0)
        assert float(scenario["stop"]["warm_up"].removesuffix("u")) >= 5 * runs.relaxation_time(
            plan.utilisation
        )


def test_quick_is_the_shortest():
    totals = {
        fidelity: sum(runs.plan(load, fidelity).packets for load in LOADS) for fidelity in runs.Fidelity
    }
    assert totals["quick"] < totals["default"] < totals["full"]
    assert 4.1e9 < totals["full"] < 4.4e9


def test_loads_have_seeds_of_their_own():
    seeds = {runs.plan(load, runs.Fidelity.QUICK, 7).seed for load in LOADS}
    assert seeds == set(range(7, 17))


def results_of(documents):
    """Return the results one by one, as a runner gives them back."""
    return (PortResult(json.dumps(each)) for each in documents.values())


def test_runs_report_progress_over_all_loads():
    progress_is_that_of_all_runs(alpha, results_of(printed()))


def test_an_interrupted_run_is_the_last():
    documents = printed()
    documents["20"] |= {"interrupted": True}
    results = results_of(documents)
    made = alpha.run(fidelity="quick", runner=lambda *_, **__: next(results))
    assert made.interrupted
    assert list(made.evidence.loads) == ["0.01", "1"]


def test_an_unknown_fidelity_is_refused():
    an_unknown_fidelity_is_refused(alpha)


def test_the_reference_simulator_agrees_with_the_closed_forms():
    """The listing's own algorithm, on few packets, against what does not depend on it."""
    names = ("rr_head", "rr", "fifo", "alpha:6", "sf")
    evidence = Evidence({LOADS[3]: result(names, 0.5, 12_000, 1)}, LEVEL)
    for strategy, quantity in itertools.product(("rr_head", "rr", "fifo", "sf"), QUANTITIES):
        exact = published.exact()[LOADS[3], strategy, quantity]
        mean = evidence.at(LOADS[3]).mean(strategy, quantity)
        assert abs(mean.value - exact) <= mean.noise(LEVEL), (strategy, quantity)


def test_a_simulated_load_is_checked_as_a_whole():
    made = alpha.evaluate({LOADS[3]: result(STRATEGIES, 0.5, 4_000, 2)})
    assert made.checks.count(Status.MET, "table") == 104
    assert made.checks.count(Status.NOT_MET, "closed form") == 0


def test_the_engine_gives_what_the_reproduction_reads():
    """The engine and the listing's own algorithm, on arrivals of their own, agree within their noise."""
    load = LOADS[3]
    plan = dataclasses.replace(runs.plan(load, runs.Fidelity.QUICK), packets=1_000_000)
    measured = alpha.simulate(runs.scenario(plan), "section15", threads=1, progress=None)
    simulated = Evidence({load: measured.document}, LEVEL)
    listed = Evidence({load: result(STRATEGIES, 0.5, 6_000, 4)}, LEVEL)
    for strategy, quantity in CELLS:
        ours, theirs = (each.at(load).mean(strategy, quantity) for each in (simulated, listed))
        assert abs(ours.value - theirs.value) <= ours.noise(LEVEL) + theirs.noise(LEVEL), (strategy, quantity)


def test_documents_of_tests_are_what_the_tables_say():
    means = {cell: published.table()["95", *cell] for cell in CELLS}
    made = document("95", means, dict.fromkeys(CELLS, 0.1), packets_of("95"))
    evidence = Evidence({LOADS[7]: made}, LEVEL)
    assert evidence.ratio(LOADS[7], "rr", "sf", "avlat").value == pytest.approx(87.34 / 30.59)
    assert len(judge(evidence)) == 55


@pytest.mark.parametrize("count", [0, 2])
def test_interrupted_only_what_was_run_is_counted(count, monkeypatch, capsys, tmp_path):
    made = alpha.run(fidelity="quick", runner=stopped_after(results_of(printed()), count))
    assert made.interrupted
    assert made.empty == (count == 0)
    assert made.met + made.not_met + made.artefact + made.not_checkable == len(made.checks.checks)
    if count == 0:
        assert made.met == made.not_met == 0
        assert "None of the 1,040 published means could be checked." in made.verdict()
        assert "None of the closed forms could be checked." in made.verdict()
    else:
        assert "208 of the 208 published means that could be checked, of 1,040, are met" in made.verdict()
    made.text()
    made.html()
    an_interruption_never_exits_with_0(alpha, results_of(printed()), count, (monkeypatch, capsys), tmp_path)
