"""Every row of ``claims.csv`` as a check, and the twelve orderings.

=============  ======================================================================================
``value``      within 15 % of the published value, which is read off a plot; within a factor of 2.5
               where the list expects no more than the order of magnitude
``bound``      below the published bound
``ordering``   statements about which delay is larger; all parts must hold
``trend``      statements about means of windows as the rate grows
=============  ======================================================================================

A claim that is not expected to hold, and does not, is an artefact: the report contradicts itself, or its
numbers come from outside of what it measures. Round trips are not checkable: what they have beyond delay and
service, `shared_stage`, is not simulated. It is fitted on one of them, and each of the others says what that
makes of it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import chain, pairwise
from statistics import fmean
from typing import TYPE_CHECKING

from weir.reproduce.engine.checks import Check, Status
from weir.reproduce.engine.evidence import NotMeasuredError
from weir.reproduce.engine.judgement import Found, Judgement, Part, checked, told
from weir.reproduce.steer import published
from weir.reproduce.steer.evidence import MICRO
from weir.reproduce.steer.runs import CORES, TRAFFICS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from weir.reproduce.steer.evidence import Evidence
    from weir.reproduce.steer.published import PublishedClaim

    Parts = Callable[[Evidence], Iterator[Part]]

VALUE_BAR = 0.15
"""The part by which a delay may be off a published one, which is read off a plot and rounded."""
VALUE_FACTOR = 2.5
"""The factor where only the order of magnitude is expected."""
_SAME = 0.99
"""From which part of another on a delay is at least as large."""
_UNIFORM = 0.02
"""Of the growth of short requests' delay, what long ones' may grow by and still be called uniform."""
_LEVEL = 5
"""Windows of one rate."""
_SERVICE = {"short": 1.95, "long": 3.42}
"""Microseconds, of bimodal traffic; a request of unimodal traffic takes what a long one does."""
FITTED = "C02"
"""The round trip on which the stage outside of the stamps is fitted."""
TRIP_BAR = 0.1
"""By how much of it a round trip may be off and count as explained by that stage."""


def judge(evidence: Evidence) -> tuple[Judgement[PublishedClaim], ...]:
    """Decide every claim, in the order of the list."""
    return tuple(Judgement(claim, (), _check(evidence, claim)) for claim in published.claims())


def _check(evidence: Evidence, claim: PublishedClaim) -> Check:
    name = f"claim/{claim.id}"
    if claim.metric == "rtt":
        return Check.missing(name, claim.kind, claim.value, f"us; {claim.why}; {_outside(evidence, claim)}")
    decide = _stated if claim.id in _STATEMENTS else _valued
    return checked(name, claim.kind, claim.text, partial(decide, evidence, claim))


def _inside(evidence: Evidence, subject: str) -> float:
    """Return what of a round trip lies within the stamps: the largest mean delay, and the service."""
    _, traffic, name = subject.split("/")
    return evidence.delay(subject) + _SERVICE["short" if (traffic, name) == ("bimodal", "short") else "long"]


def shared_stage(evidence: Evidence) -> float:
    """Return W in microseconds, a stage outside the stamps that all share, by one round trip."""
    fitted = _published_trip(FITTED)
    return (fitted.value or 0.0) - _inside(evidence, fitted.subject)


def _published_trip(name: str) -> PublishedClaim:
    return next(each for each in published.claims() if each.id == name)


def trips(evidence: Evidence) -> dict[str, float]:
    """Return by how much the shared stage misses each other published round trip, as a part of it."""
    stage = shared_stage(evidence)
    listed = (each for each in published.claims() if each.metric == "rtt" and each.id != FITTED)
    return {each.id: (stage + _inside(evidence, each.subject)) / (each.value or 1.0) - 1 for each in listed}


def _outside(evidence: Evidence, claim: PublishedClaim) -> str:
    """Say what of a published round trip lies outside, and what one shared stage makes of it."""
    try:
        inside, stage = _inside(evidence, claim.subject), shared_stage(evidence)
    except NotMeasuredError as missing:
        return str(missing)
    shown = f"delay and service are {inside:.0f} of {claim.value:.0f} us"
    if claim.id == FITTED:
        return f"{shown}; a stage that all policies share would be W = {stage / 1e3:.2f} ms, fitted here"
    made, missed = stage + inside, trips(evidence)[claim.id]
    return f"{shown}; with W = {stage / 1e3:.2f} ms of {FITTED} {made:.0f} us, off by {missed:+.0%}"


def _valued(evidence: Evidence, claim: PublishedClaim) -> Found:
    wanted, found = claim.value or 0.0, evidence.delay(claim.subject)
    tolerance: float | None = None
    if claim.kind == "bound":
        met, bar = found < wanted, f"below {wanted:.0f} us"
    elif claim.expected == "partly":
        met = wanted / VALUE_FACTOR <= found <= wanted * VALUE_FACTOR
        bar = f"within a factor of {VALUE_FACTOR:g}"
    else:
        tolerance = VALUE_BAR * wanted
        met, bar = abs(found - wanted) <= tolerance, f"within {VALUE_BAR:.0%}"
    made = _found(claim, round(found, 1), "us", bar, met=met)
    return replace(made, tolerance=tolerance, published=wanted)


def _stated(evidence: Evidence, claim: PublishedClaim) -> Found:
    parts = tuple(_STATEMENTS[claim.id](evidence))
    failed = sum(not part.holds for part in parts)
    note = f"{failed} of {len(parts)} parts do not hold" if failed else ""
    return _found(claim, told(parts, "does not hold: "), note, met=not failed)


def _found(claim: PublishedClaim, measured: float | str, *notes: str, met: bool) -> Found:
    status = met or (Status.ARTEFACT if claim.expected == "no" else Status.NOT_MET)
    return Found(measured, status, "; ".join(filter(None, (*notes, claim.why))))


# Statements.


def _larger(evidence: Evidence, left: str, right: str, least: float = 1.0) -> Part:
    """Say that one delay is above another, or nearly the same where ``least`` is below 1."""
    first, second = evidence.delay(left), evidence.delay(right)
    holds = first > second if least == 1 else first >= least * second
    return Part(
        holds, f"{left} {first:.0f} us {'above' if least == 1 else 'at least'} {right} {second:.0f} us"
    )


def _above(*pairs: tuple[str, str]) -> Parts:
    return lambda evidence: (_larger(evidence, left, right) for left, right in pairs)


def _levels(windows: list[float]) -> list[float]:
    """Return the mean of the windows of each rate."""
    return [fmean(windows[at : at + _LEVEL]) for at in range(0, 6 * _LEVEL, _LEVEL)]


def _grows(evidence: Evidence) -> Iterator[Part]:
    for traffic in TRAFFICS:
        found = _levels(evidence.lab("RR", traffic).windows())
        rising = all(before < after for before, after in pairwise(found))
        yield Part(rising, f"{traffic} by rate: {', '.join(f'{value:.3g}' for value in found)} us")


def _uniform(evidence: Evidence) -> Iterator[Part]:
    view = evidence.lab("RRCS", "bimodal")
    long, short = (_levels(view.windows(name)) for name in ("long", "short"))
    grown, beside = long[-1] - long[0], short[-1] - short[0]
    yield Part(
        grown < _UNIFORM * beside,
        f"from the first rate to the last long grows by {grown:.0f} us, short by {beside:.0f} us",
    )


def _done_sooner(evidence: Evidence) -> Iterator[Part]:
    long, short = (evidence.delay(f"RRCS/bimodal/{name}") + _SERVICE[name] for name in ("long", "short"))
    yield Part(long < short, f"delay and service of long {long:.0f} us, of short {short:.0f} us")


def _at_threshold(evidence: Evidence) -> Iterator[Part]:
    found = MICRO * evidence.threshold("DCA 50 us").figure("delay", "window_max").value
    yield Part(found < 2 * 50, f"with ADD at 50 us the delay goes up to {found:.0f} us")


def _late(evidence: Evidence) -> Iterator[Part]:
    yield _larger(evidence, "DCA/unimodal/all", "RR/unimodal/all", _SAME)
    own, other = (evidence.lab(policy, "unimodal").windows() for policy in ("DCA", "RR"))
    mean, beside = fmean(own), fmean(other)
    yield Part(mean > beside, f"mean of the windows {mean:.0f} us against {beside:.0f} us")


def _not_as_good(evidence: Evidence) -> Iterator[Part]:
    for name in ("short", "long"):
        yield _larger(evidence, f"DCA/bimodal/{name}", f"RR/bimodal/{name}")
    yield _larger(evidence, "DCA/unimodal/all", "RR/unimodal/all", _SAME)


def _fewer(policy: str, traffics: tuple[str, ...] = TRAFFICS) -> Parts:
    def parts(evidence: Evidence) -> Iterator[Part]:
        for traffic in traffics:
            cores = evidence.lab(policy, traffic).cores.value
            yield Part(cores < CORES, f"{policy} uses {cores:.1f} of {CORES} cores ({traffic})")

    return parts


def _both(*several: Parts) -> Parts:
    return lambda evidence: chain.from_iterable(each(evidence) for each in several)


_STATEMENTS: dict[str, Parts] = {
    "C07": _grows,
    "C08": _above(("RR/bimodal/all", "RR/unimodal/all")),
    "C09": _above(("RR/unimodal/all", "RR/bimodal/all")),
    "C16": _done_sooner,
    "C17": _above(("RRCS/unimodal/short", "RRCS/bimodal/short")),
    "C18": _uniform,
    "C19": _above(("RRCS/unimodal/all", "RR/unimodal/all")),
    "C20": _above(("RR/bimodal/short", "RRCS/bimodal/short")),
    "C21": _above(("RR/bimodal/long", "RRCS/bimodal/long")),
    "C28": _above(("DCA/bimodal/short", "DCA/unimodal/all"), ("DCA/bimodal/long", "DCA/unimodal/all")),
    "C29": _at_threshold,
    "C30": _above(("RRCS/unimodal/all", "RR/unimodal/all"), ("RRCS/unimodal/all", "DCA/unimodal/all")),
    "C31": _late,
    "C32": _above(("RRCS/bimodal/short", "DCA/bimodal/short")),
    "C33": _above(("DCA/bimodal/long", "RRCS/bimodal/long")),
    "C34": _not_as_good,
    "C35": _fewer("DCA"),
    "C36": _both(_above(("RRCS/bimodal/short", "COMBINED/bimodal/short")), _fewer("COMBINED", ("bimodal",))),
}


# The twelve orderings, and those of round trips.

_TRIPS = (("R01", "unimodal", "short"), ("R02", "bimodal", "short"), ("R03", "bimodal", "long"))
_NOT_SHARED = (
    "published 22000, 14000 and 10000 us: long requests wait least under RRCS, so no stage that all policies "
    "share gives this order, and what lies outside the stamps differs between policies"
)


def order_checks(evidence: Evidence) -> Iterator[Check]:
    """Yield a check for each of the twelve orderings, and for those of round trips between policies."""
    for ordering in published.orderings():
        found = partial(_ordered, evidence, ordering)
        yield checked(f"order/{ordering.id}", "order", str(ordering), found)
    for name, traffic, whose in _TRIPS:
        wanted = f"round trips of {whose} requests, {traffic}: RRCS above DCA, DCA at least RR"
        yield checked(f"order/{name}", "order", wanted, partial(_trips, evidence, f"{traffic}/{whose}"))


def _ordered(evidence: Evidence, ordering: published.Ordering) -> Found:
    left, right = (evidence.delay(subject) for subject in (ordering.left, ordering.right))
    return Found(f"{left:.0f} us and {right:.0f} us", ordering.holds(left, right), ordering.meaning)


def _trips(evidence: Evidence, whose: str) -> Found:
    found = {policy: _inside(evidence, f"{policy}/{whose}") for policy in ("RRCS", "DCA", "RR")}
    holds = found["RRCS"] > found["DCA"] >= _SAME * found["RR"]
    shared = f"W is a stage outside the stamps that all policies share; {FITTED} makes it "
    shared += f"{shared_stage(evidence) / 1e3:.2f} ms"
    return Found(
        ", ".join(f"{policy} W + {value:.0f} us" for policy, value in found.items()),
        holds,
        shared if holds else f"{shared}; {_NOT_SHARED}",
    )


def trips_in_words(evidence: Evidence) -> str:
    """Say which published round trips one shared stage explains, and which it misses by how much."""
    missed = trips(evidence)
    shown = {name: f"{name} ({off:+.0%})" for name, off in missed.items()}
    near, far = (
        ", ".join(shown[name] for name, off in missed.items() if (abs(off) <= TRIP_BAR) == explained)
        for explained in (True, False)
    )
    return (
        f"A stage of W = {shared_stage(evidence) / 1e3:.2f} ms that all policies share, fitted on {FITTED}, "
        f"explains of the other round trips {near or 'none'}, and not {far or 'any more'}"
    )
