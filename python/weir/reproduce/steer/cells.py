"""Checks of single values: the lab's model against another simulation of it, slowdowns, and properties.

==============  ===================================================================================
``model``       figures of the lab's model, against those of another simulation of it
``slowdown``    p99.9 slowdowns against those of another simulation, one run of a million requests
``property``    what must hold of the policies whatever the numbers are
==============  ===================================================================================
"""

from __future__ import annotations

import math
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from weir.reproduce.engine.evidence import NotMeasuredError
from weir.reproduce.engine.judgement import Found, checked
from weir.reproduce.engine.thresholds import student_quantile
from weir.reproduce.steer import published, runs
from weir.reproduce.steer.evidence import MICRO

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from weir.reproduce.engine.checks import Check
    from weir.reproduce.engine.evidence import Measured
    from weir.reproduce.steer.evidence import Evidence, View
    from weir.reproduce.steer.published import ModelValue, Slowdown

SLOWDOWN_BAR = 0.25
"""The part of the other simulation's slowdown by which ours may differ."""
_OUTSIDE = 0.01
"""Of a prediction interval, what lies outside."""
_BESIDE = 1e6
"""Requests of the other simulation's one run."""
_QUEUE, _UNIMODAL = 4096, 3.42


def model_cells(evidence: Evidence) -> Iterator[Check]:
    """Yield a check for each figure of the lab's model."""

    def found(row: ModelValue) -> Found:
        figure, what = _METRICS[row.metric]
        note = f"{row.unit}; {row.policy}, {row.traffic}, {row.class_}: {what}"
        return Found.near(figure(evidence, row), row.value, row.bar * row.value, note)

    for row in published.model():
        yield checked(f"model/{row.id}", "model", row.value, partial(found, row))


def _delay(evidence: Evidence, row: ModelValue) -> float:
    return evidence.delay(f"{row.policy}/{row.traffic}/{row.class_}")


def _dropped(evidence: Evidence, row: ModelValue) -> float:
    return 100 * evidence.lab(row.policy, row.traffic).figure("dropped", name=row.class_).value


def _cores(evidence: Evidence, row: ModelValue) -> float:
    return evidence.lab(row.policy, row.traffic).steps()


_METRICS: dict[str, tuple[Callable[[Evidence, ModelValue], float], str]] = {
    "delay": (_delay, "largest windowed mean delay"),
    "dropped": (_dropped, "requests dropped"),
    "cores": (_cores, "mean of the counts that steps leave"),
}


# Slowdowns.


def slowdown(evidence: Evidence, policy: str, workload: str, load: str) -> Measured:
    """Return the p99.9 slowdown over all requests."""
    view = evidence.view(f"slowdown/{workload}/{load}", runs.POLICIES.index(policy))
    return view.figure("slowdown", "p99.9")


def slowdown_cells(evidence: Evidence) -> Iterator[Check]:
    """Yield a check for each slowdown of the table."""
    note = "times the service; bar: 25 %, or where one more run of a million requests would lie"

    def found(row: Slowdown) -> Found:
        measured = slowdown(evidence, row.policy, row.workload, row.load)
        return Found.near(measured, row.value, _bar(evidence, row, measured), note)

    for row in published.slowdowns():
        name = f"slowdown/{row.workload}/{row.load}/{row.policy}"
        yield checked(name, "slowdown", row.value, partial(found, row))


def _bar(evidence: Evidence, row: Slowdown, found: Measured) -> float:
    """Return 25 %, or how far one run of a million requests may lie from ours if that is more.

    Our interval is from the spread over replications, so it says how much one run of a million spreads: the
    variance of a quantile goes down with the number of requests.
    """
    wide = SLOWDOWN_BAR * row.value
    if found.ci95 is None:
        return wide
    result = evidence.result(f"slowdown/{row.workload}/{row.load}")
    freedom = result.replications - 1
    error = found.half / student_quantile(0.05, freedom)
    counted = result.totals(result.disciplines[0])
    spread = error * math.sqrt((counted.offered if counted else 0) / _BESIDE + 1)
    return max(wide, student_quantile(_OUTSIDE, freedom) * spread)


# Properties.


def property_cells(evidence: Evidence) -> Iterator[Check]:
    """Yield a check for each property that results can show; the others are tests of the engine."""

    def found(decide: Callable[[Evidence], tuple[bool, str]]) -> Found:
        holds, shown = decide(evidence)
        return Found(shown, holds)

    for name, (text, decide) in _PROPERTIES.items():
        yield checked(f"property/{name}", "property", text, partial(found, decide))


def _conserved(evidence: Evidence) -> tuple[bool, str]:
    """S3: what is offered is done or dropped, and no self-check of any run fails."""
    offered = lost = failed = 0
    for result in evidence.results.values():
        for row in result.class_totals:
            offered, lost = offered + row.offered, lost + abs(row.offered - row.done - row.dropped)
        failed += sum(check.ok is False for check in result.checks)
    if not evidence.results:
        raise NotMeasuredError("no run was finished")
    return (
        lost == failed == 0,
        f"of {offered:,} counts of requests {lost:,} are lost; {failed} self-checks fail",
    )


def _saturated(evidence: Evidence) -> tuple[bool, str]:
    """S4: under RRCS unimodal traffic fills the queues of its three cores."""
    found, bound = evidence.delay("RRCS/unimodal/short"), _QUEUE * _UNIMODAL
    return 0.9 * bound <= found <= bound, f"{found:.0f} us, {found / bound:.0%} of {bound:.0f} us"


def _counts(evidence: Evidence) -> tuple[bool, str]:
    """S5: DCA stays between MIN and the length of the list, one step a period at most."""
    views = [evidence.lab("DCA", traffic) for traffic in runs.TRAFFICS]
    views += [evidence.threshold(policy) for policy in runs.THRESHOLDS[1:]]
    holds, shown = True, []
    for view in views:
        at, count = view.counts()
        steps = [abs(after - before) for before, after in pairwise(count)]
        gaps = [after - before for before, after in pairwise(at)]
        holds &= 2 <= min(count) <= max(count) <= runs.CORES
        holds &= max(steps, default=0) <= 1 and min(gaps[1:], default=1.0) > (1 - 1e-6) * view.period
        shown.append("/".join(map(str, count)))
    return holds, f"counts over time: {'; '.join(shown)}"


def _narrow(evidence: Evidence) -> tuple[bool, str]:
    """Say that the orderings of DCA need a threshold between 0.15 and 0.30 of the time between bursts."""
    low, middle, high = (
        MICRO * evidence.threshold(policy).figure("delay", "window_max").value
        for policy in runs.THRESHOLDS[1:]
    )
    beside = evidence.delay("RR/bimodal/all"), evidence.delay("DCA/unimodal/all")
    own = evidence.delay("DCA/bimodal/all")
    holds = low <= 1.05 * beside[0] and middle < beside[1] and high > 3 * own
    return holds, (
        f"ADD of 50, 345, 690 us: {low:.0f}, {middle:.0f}, {high:.0f} us; RR {beside[0]:.0f}, DCA unimodal "
        f"{beside[1]:.0f}, and with 506 us {own:.0f} us"
    )


def _in_order(evidence: Evidence) -> tuple[bool, str]:
    """S6: with exponential services the central queue is best, then JSQ, RR and random."""
    holds, shown = True, []
    for load in runs.EQUAL_LOADS[1:]:
        found = [
            _one(evidence, "exponential", load, policy).figure("delay", "p99.9").value
            for policy in runs.EQUAL
        ]
        holds &= all(first <= 1.02 * second for first, second in pairwise(found))
        shown.append(f"load {load}: {', '.join(f'{MICRO * value:.2f}' for value in found)} us")
    return holds, "; ".join(shown)


def _meet(evidence: Evidence) -> tuple[bool, str]:
    """S6: without load nobody waits under any policy."""
    load = runs.EQUAL_LOADS[0]
    found = [
        MICRO * _one(evidence, "exponential", load, policy).figure("delay").value for policy in runs.EQUAL
    ]
    return max(found) < 0.02, f"mean delays at load {load}: {', '.join(f'{value:.4f}' for value in found)} us"


def _random(evidence: Evidence) -> tuple[bool, str]:
    """S8: under random each core is M/D/1."""
    holds, shown = True, []
    for load in runs.EQUAL_LOADS[1:]:
        found = _one(evidence, "equal", load, "random").figure("delay").scaled(MICRO)
        exact = float(load) / (2 * (1 - float(load)))
        slack = max(0.02 * exact, found.high - found.low)
        holds &= abs(found.value - exact) <= slack
        shown.append(f"load {load}: {found.value:.4f} us, M/D/1 {exact:.4f} us")
    return holds, "; ".join(shown)


def _cyclic(evidence: Evidence) -> tuple[bool, str]:
    """S8: with equal services round robin is the central queue."""
    holds, shown = True, []
    for load in runs.EQUAL_LOADS[1:]:
        found = [_one(evidence, "equal", load, policy).figure("delay").value for policy in ("rr", "cfcfs")]
        holds &= abs(found[0] - found[1]) <= 1e-9 * max(found)
        shown.append(f"load {load}: {MICRO * found[0]:.6f} and {MICRO * found[1]:.6f} us")
    return holds, "; ".join(shown)


def _one(evidence: Evidence, file: str, load: str, policy: str) -> View:
    return evidence.view(f"one/{file}/{load}", runs.EQUAL.index(policy))


_PROPERTIES: dict[str, tuple[str, Callable[[Evidence], tuple[bool, str]]]] = {
    "S3": ("What is offered is done or dropped, and self-checks hold", _conserved),
    "S4": ("The delay at a saturated core tends to the queue times the service", _saturated),
    "S5": ("DCA: from MIN to the length of the list, one step a period at most", _counts),
    "ADD": (
        "With ADD at 50 us DCA is RR; orderings hold neither at 0.15 nor at 0.30 of a burst's time",
        _narrow,
    ),
    "S6 order": ("p99.9 delay: central queue, JSQ, RR, random, of exponential services", _in_order),
    "S6 limit": ("They meet where there is no load", _meet),
    "S8 random": ("Equal services under random: each core is M/D/1", _random),
    "S8 rr": (
        "Equal services under RR: the same delays as a central queue, which is E_k/D/1 at a core",
        _cyclic,
    ),
}
