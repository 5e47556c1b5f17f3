"""The reproduction of packet-to-CPU steering: claims, orderings, tables, sweep, and its scenarios."""

import json
import tomllib
from dataclasses import replace
from types import SimpleNamespace

import pytest
from jsonschema import validate

from reproduction import (
    an_interruption_never_exits_with_0,
    an_unknown_fidelity_is_refused,
    stopped_after,
)
from test_reproduce_checks import SCHEMA
from weir.reproduce import Status, steer
from weir.reproduce.engine.evidence import Measured, NotMeasuredError
from weir.reproduce.engine.series import Fidelity
from weir.reproduce.steer import claims, published, runs, sweep
from weir.reproduce.steer.cells import slowdown
from weir.reproduce.steer.evidence import Evidence
from weir.reproduce.steer.published import CLAIMS
from weir.scenario import Scenario

# Results as they would be if everything came out as recorded.

DELAYS = {
    ("unimodal", "short"): (926, 13013, 926, 926, 926),
    ("bimodal", "short"): (527, 6948, 1002, 900, 556),
    ("bimodal", "long"): (528, 75, 1003, 619, 619),
}
"""Microseconds, by the places of the lab's policies."""
CORES = {"unimodal": (7, 7, 3.9, 3.5, 3.5), "bimodal": (7, 7, 3.2, 3.4, 3.4)}
RISES = {("unimodal", 2): (16, 17, 21, 22, 23), ("bimodal", 2): (21, 22, 23, 24, 25)}
"""Seconds at which the dynamic policies take a core more; those of the combined one are below."""
DROPPED = {("unimodal", "short"): 0.277, ("bimodal", "short"): 0.036}


class Made:
    """A result whose figures are given by a function."""

    interrupted = False
    replications = 4
    measured = 30.0
    checks = (SimpleNamespace(ok=True),)

    def __init__(self, plan, figures):
        self.disciplines = tuple(plan.document["disciplines"])
        self.reference = self.disciplines[-1]
        self.figures = figures
        names = [row["name"] for row in plan.document["class"]]
        pairs = [(spec, name) for spec in self.disciplines for name in (*names, "all")]
        self.class_totals = [
            SimpleNamespace(discipline=spec, class_=name, offered=9, done=8, dropped=1)
            for spec, name in pairs
        ]
        self.discipline_totals = [SimpleNamespace(discipline=spec, offered=9) for spec in self.disciplines]
        self.windows = [
            SimpleNamespace(discipline=spec, class_=name, metric="delay", values=self._windows(place, name))
            for place, spec in enumerate(self.disciplines)
            for name in (*names, "all")
        ]
        traffic = plan.name.split("/")[1]
        self.in_use = [
            SimpleNamespace(
                discipline=spec,
                at=[0.0, *map(float, RISES.get((traffic, place), (18, 20, 22, 23, 25)))],
                count=[2, 3, 4, 5, 6, 7],
            )
            for place, spec in enumerate(self.disciplines)
        ]

    def _windows(self, place, name):
        found = self.figures(place, "delay", "window_max", name)
        top = 0.0 if found is None else found
        return [top * 2.0 ** (second // 5 - 5) * (1 + 0.01 * place) for second in range(30)]

    def totals(self, _discipline):
        return SimpleNamespace(offered=1_000_000)

    def estimate(self, discipline, *, name, metric, statistic, **_):
        value = self.figures(self.disciplines.index(discipline), metric, statistic, name)
        if value is None:
            return SimpleNamespace(value=None, reason="nothing arrived", low=None, high=None)
        return SimpleNamespace(value=value, reason=None, low=0.99 * value, high=1.01 * value)

    def difference(self, discipline, *, name, metric, statistic, **_):
        own, other = (
            self.figures(self.disciplines.index(each), metric, statistic, name)
            for each in (discipline, self.reference)
        )
        return SimpleNamespace(value=own - other, low=own - other - 0.1, high=own - other + 0.1)


def lab(traffic):
    def figures(place, metric, _statistic, name):
        name = "short" if name == "all" else name
        if metric == "in_use":
            return CORES[traffic][place]
        if metric == "dropped":
            return DROPPED.get((traffic, name), 0.0) if place == 1 else 0.0
        found = DELAYS.get((traffic, name))
        return None if found is None else 1e-6 * found[place]

    return figures


def thresholds(place, *_):
    return (527e-6, 527e-6, 690e-6, 7150e-6)[place]


def recorded(plan):
    """Return a result that is as recorded."""
    kind, name, *rest = plan.name.split("/")
    if kind == "lab":
        return Made(plan, lab(name) if name in runs.TRAFFICS else thresholds)
    if kind == "slowdown":
        table = {(row.policy, row.workload, row.load): row.value for row in published.slowdowns()}
        return Made(plan, lambda place, *_: table.get((runs.POLICIES[place], name, rest[0]), 5.0))
    if kind == "one":
        load = float(rest[0])
        exact = 1e-6 * load / (2 * (1 - load))
        order = (0.5, 0.6, 0.5, 1.0) if name == "equal" else (0.5, 0.6, 0.7, 0.8)
        return Made(plan, lambda place, *_: exact * order[place])
    return Made(plan, lambda place, metric, *_: 3.5 if metric == "in_use" else (20.0, 9.0, 4.0, 4.0)[place])


@pytest.fixture(scope="module")
def results():
    return {plan: recorded(plan) for plan in runs.plans(Fidelity.QUICK)}


@pytest.fixture(scope="module")
def made(results):
    return steer.evaluate(results, fidelity="quick")


def check(reproduction, name):
    return next(each for each in reproduction.checks.checks if each.id == name)


# What is published.


def test_all_is_there(made):
    kinds = [each.kind for each in made.checks.checks]
    assert sum(kinds.count(kind) for kind in CLAIMS) == len(published.claims()) == 36
    assert kinds.count("order") == len(published.orderings()) + 3 == 16
    assert kinds.count("model") == len(published.model()) == 20
    assert kinds.count("slowdown") == len(published.slowdowns()) == 54
    assert kinds.count("property") == 8


def test_every_claim_is_decided_by_a_value_or_a_statement():
    for claim in published.claims():
        stated = claim.id in claims._STATEMENTS
        assert stated or claim.value is not None
        assert claim.kind in CLAIMS
        assert claim.expected in {"yes", "partly", "no"}
    assert set(claims._STATEMENTS) <= {claim.id for claim in published.claims()}


# What comes of it.


def test_what_is_as_recorded_is_met(made):
    assert {each.id for each in made.missed()} == {"order/R03"}
    unknown = {each.id for each in made.checks.checks if each.status == Status.NOT_CHECKABLE}
    assert unknown == {f"claim/{claim.id}" for claim in published.claims() if claim.metric == "rtt"}
    wrong = {each.id for each in made.checks.checks if each.status == Status.ARTEFACT}
    assert wrong == {"claim/C08", "claim/C20", "claim/C29"}


def test_b11_a_stage_that_all_share_explains_three_round_trips_and_no_order_of_long_ones(made):
    """Finding B11: the third triple of round trips is claimed; W is computed, and so is what it misses."""
    assert claims.shared_stage(made.evidence) == pytest.approx(11_000 - 926 - 3.42)
    missed = claims.trips(made.evidence)
    assert {name for name, off in missed.items() if abs(off) < 0.061} == {"C05", "C06", "C23"}
    assert missed["C15"] == pytest.approx((10_070.58 + 75 + 3.42) / 22_000 - 1)
    trip = check(made, "order/R03")
    assert trip.status == Status.NOT_MET
    assert trip.measured == "RRCS W + 78 us, DCA W + 1006 us, RR W + 531 us"
    assert "no stage that all policies share gives this order" in trip.note
    assert "W = 10.07 ms" in check(made, "claim/C15").note
    assert "off by -54%" in check(made, "claim/C15").note
    assert "C05 (+6%), C06 (+6%), C23 (+0%), and not C11 (-23%)" in made.verdict()


def test_b11_another_delay_under_rr_is_another_stage(results):
    def slower(place, metric, statistic, name):
        found = lab("unimodal")(place, metric, statistic, name)
        return found + 1e-3 if metric == "delay" and found is not None else found

    other = changed(results, "lab/unimodal", slower)
    assert claims.shared_stage(other.evidence) == pytest.approx(11_000 - 1926 - 3.42)


def test_all_that_can_be_reproduced_is_met(made):
    for judgement in made.judgements:
        if judgement.published.expected in {"yes", "partly"}:
            assert judgement.check.status == Status.MET, judgement.published.id


def test_json_has_the_shape_of_every_reproduction(made):
    document = json.loads(made.to_json())
    validate(document, SCHEMA)
    counted = ("met", "not_met", "artefact", "not_checkable")
    assert sum(document[name] for name in counted) == len(document["checks"])


def changed(results, name, figures):
    """Return the reproduction of results of which one has other figures."""
    found = {plan: Made(plan, figures) if plan.name == name else each for plan, each in results.items()}
    return steer.evaluate(found, fidelity="quick")


def test_a_lab_without_separation_is_found_out(results):
    other = changed(results, "lab/bimodal", lambda place, *_: 527e-6 if place else 528e-6)
    missed = {each.id for each in other.missed()}
    assert {"claim/C12", "claim/C16", "claim/C28", "order/O04", "order/O08a", "model/M06"} <= missed
    assert check(other, "claim/C10").status == Status.MET


def test_a_slowdown_that_is_far_off_is_found_out(results):
    other = changed(results, "slowdown/high/0.70", lambda *_: 53.0)
    missed = {each.id for each in other.missed()}
    assert "slowdown/high/0.70/jsq" in missed
    assert "slowdown/high/0.70/cfcfs" not in missed


def test_orderings_say_what_they_mean():
    holds = published.Ordering("x", "a", "about", "b", 2.0, "").holds
    assert [holds(value, 10.0) for value in (4.9, 5.0, 20.0, 20.1)] == [False, True, True, False]
    above = published.Ordering("x", "a", "above", "b", 5.0, "")
    assert (above.holds(51, 10), above.holds(50, 10), str(above)) == (True, False, "a above 5 x b")


# When does it pay?


def test_every_workload_of_the_sweep_is_there(made):
    assert len(made.sweep) == len(sweep.cells(Fidelity.QUICK)) == 16
    row = made.sweep[0]
    assert (row.gain("rr"), row.saved) == (5.0, 4.5)
    assert [row.verdict(name) for name in sweep.OTHERS] == [1, 1, 0]
    told = sweep.words(made.sweep)
    assert told.startswith("Of 16 workloads separation with dynamic allocation has a clearly lower p99.9")
    assert "rr in 16 (clearly worse in 0)" in told
    assert "dynamic in 0 (clearly worse in 0)" in told


def test_without_an_interval_nobody_is_clearly_better(made):
    row = made.sweep[0]
    other = sweep.Row(row.cell, row.slowdown, {"rr": Measured(16.0)}, row.cores)
    assert other.verdict("rr") == 0


# How it is shown.


def test_text_says_the_verdict_first(made):
    lines = made.text().splitlines()
    assert lines[0].startswith("steer, quick: Of 36 claims of the report 24 are met; 3 are contradicted by")
    assert max(map(len, lines)) <= 100


def test_page_needs_nothing_else(made, tmp_path):
    path = tmp_path / "steer.html"
    made.write_html(path)
    page = path.read_text(encoding="utf-8")
    assert page.index("claims of the report") < page.index("<table")
    assert "src=" not in page.partition("<script>")[0]
    assert "separation with dynamic allocation gains" in page


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
        assert Scenario.from_file(published.folder() / name).model == "server"


@pytest.mark.parametrize("fidelity", list(Fidelity))
def test_every_plan_is_a_scenario(fidelity):
    for plan in runs.plans(fidelity):
        found = Scenario(runs.scenario(plan), plan.name)
        assert len(found.disciplines) == len(plan.document["disciplines"])


def test_places_are_those_of_the_files():
    def names(file):
        document = tomllib.loads((published.folder() / file).read_text(encoding="utf-8"))
        return [spec.partition(":")[0] for spec in document["disciplines"]]

    lab_names = ["rr", "rr_separated", "dynamic", "dynamic_separated", "dynamic_separated"]
    assert names("unimodal.toml") == names("bimodal.toml") == lab_names
    for file in runs.WORKLOADS:
        assert names(f"{file}.toml") == [{"separated": "darc"}.get(name, name) for name in runs.POLICIES]
    for file in runs.ONE:
        assert names(f"{file}.toml") == list(runs.EQUAL)
    assert names("pays.toml") == list(runs.PAYS)


def test_an_unknown_fidelity_is_refused():
    an_unknown_fidelity_is_refused(steer)


# With the engine.


@pytest.fixture(scope="module")
def simulated():
    """What the engine finds of everything, with much shorter runs."""
    small = replace(
        runs.SIZES[Fidelity.QUICK],
        window=23,
        thresholds=46,
        requests=6_500,
        replications=2,
        sweep_requests=80_000,
        sweep_replications=2,
        shares=(0.1,),
        ratios=(2, 100),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "SIZES", dict.fromkeys(Fidelity, small))
        yield steer.run(fidelity="quick")


def test_the_engine_tells_all_that_is_asked(simulated):
    unknown = {each.id for each in simulated.checks.checks if each.status == Status.NOT_CHECKABLE}
    assert unknown == {f"claim/{claim.id}" for claim in published.claims() if claim.metric == "rtt"}
    assert len(simulated.sweep) == 8
    assert all(row.less["rr"].ci95 for row in simulated.sweep)
    assert simulated.html()
    assert max(map(len, simulated.text().splitlines())) <= 100


def test_claims_and_orderings_hold_of_short_runs_too(simulated):
    missed = {each.id for each in simulated.missed()}
    found = {name for name in missed if name.startswith(("claim/", "order/", "property/"))}
    assert found == {"order/R03"}


# Interruption.


@pytest.mark.parametrize("count", [0, 3])
def test_an_interrupted_reproduction_never_exits_with_0(results, count, monkeypatch, capsys, tmp_path):
    an_interruption_never_exits_with_0(steer, results.values(), count, (monkeypatch, capsys), tmp_path)


def test_interrupted_only_what_was_run_is_counted(results):
    found = steer.run(fidelity="quick", runner=stopped_after(results.values(), 2))
    assert found.interrupted
    assert {each.id for each in found.missed()} == {"order/R03"}
    assert check(found, "order/O01").status == Status.MET
    assert check(found, "claim/C29").status == Status.NOT_CHECKABLE
    assert "interrupted" in found.text().lower()
    assert found.html()


def test_a_figure_that_is_not_there_says_why():
    with pytest.raises(NotMeasuredError, match=r"interrupted before `slowdown/high/0\.50`"):
        slowdown(Evidence({}), "rr", "high", "0.50")
