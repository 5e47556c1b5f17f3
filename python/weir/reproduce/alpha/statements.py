"""What single claims speak of, beyond means, ratios and periods: counts, gaps, orders over all loads."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from weir.reproduce.alpha import published
from weir.reproduce.alpha.claim import above, each, every, lead, mean, ratio, states
from weir.reproduce.alpha.evidence import Quantity
from weir.reproduce.alpha.published import LENGTHS, LOADS, STRATEGIES
from weir.reproduce.engine.evidence import NotMeasuredError
from weir.reproduce.engine.thresholds import student_quantile
from weir.text import plural

if TYPE_CHECKING:
    from weir.reproduce.alpha.claim import Parts, Term
    from weir.reproduce.alpha.evidence import Evidence

_SHORT = tuple(f"lat{length}" for length in LENGTHS if length < 20)
_NEAR_OPTIMAL = 1.011


def mean_length() -> Term:
    """Return the mean length of all messages served."""

    def term(evidence: Evidence) -> Quantity:
        counts = dict.fromkeys(LENGTHS, 0)
        for result in evidence.loads.values():
            for length in LENGTHS:
                counts[length] += result.mean("fifo", f"lat{length}").count
        total = sum(counts.values())
        if total == 0:
            raise NotMeasuredError("the run was interrupted before the first load was finished")
        average = sum(length * count for length, count in counts.items()) / total
        variance = sum(count * (length - average) ** 2 for length, count in counts.items()) / total
        noise = student_quantile(evidence.level, math.inf) * math.sqrt(variance / total)
        return Quantity(average, noise, noise)

    return term


def scaled_gap(load: str) -> Term:
    """Return the mean time between arrivals times the load."""

    def term(evidence: Evidence) -> Quantity:
        document = evidence.at(published.Load(load)).document
        messages = int(document["messages"])
        gap = float(document["duration"]) / messages * float(load) / 100
        noise = student_quantile(evidence.level, math.inf) * gap / math.sqrt(messages)
        return Quantity(gap, noise, noise)

    return term


def idle_packet_time() -> Term:
    """Return a packet's service as a message of 20 sees it on an idle server: it waits for 19 of its own."""
    return lambda evidence: mean("0.01", "fifo", "lat20")(evidence).times(1 / 19)


def runs(least: int) -> Parts:
    """Say that there were more than ``least`` runs: loads times strategies."""

    def decide(evidence: Evidence) -> tuple[bool, str]:
        runs = sum(len(evidence.at(load).document["disciplines"]) for load in LOADS)
        return runs > least, plural(runs, "run")

    return states(decide)


def loads(count: int) -> Parts:
    """Say at how many loads something was measured."""

    def decide(evidence: Evidence) -> tuple[bool, str]:
        measured = len([evidence.at(load) for load in LOADS])
        return measured == count, plural(measured, "load")

    return states(decide)


def published_packets(load: str) -> Parts:
    """Say that a published run has tens or hundreds of millions of packets."""

    def decide(evidence: Evidence) -> tuple[bool, str]:
        evidence.at(published.Load(load))
        packets = published.packets()[published.Load(load)] or 0
        return 10**7 <= packets < 10**9, f"{packets:,} packets at {load} %"

    return states(decide)


def no_slower(strategy: str, *others: str) -> Parts:
    """Say that a strategy's average latency is at no load above another's."""
    pairs = [(load, other) for load in LOADS for other in others]
    return every(
        *(
            above(
                lead(load, other, strategy), 0, strictly=False, about=f"{other} at {load} % is slower by (%) "
            )
            for load, other in pairs
        )
    )


def larger_alpha_for_heavier_traffic() -> Parts:
    """Say that the smallest alpha near the optimum grows with the load, from 20 % on."""

    def smallest(evidence: Evidence, load: published.Load) -> str:
        near = (
            name
            for name in STRATEGIES[3:]
            if evidence.ratio(load, name, "sf", "avlat").value <= _NEAR_OPTIMAL
        )
        return next(near)

    def decide(evidence: Evidence) -> tuple[bool, str]:
        found = {load: smallest(evidence, load) for load in LOADS[2:]}
        ranks = [STRATEGIES.index(name) for name in found.values()]
        shown = ", ".join(f"{load} %: {name.removeprefix('alpha:')}" for load, name in found.items())
        return ranks == sorted(ranks) and ranks[0] < ranks[
            -1
        ], f"smallest alpha within 1.1 % of optimal: {shown}"

    return states(decide)


def always_slower_than_shortest_first() -> Parts:
    """Say of each length and load that RR is slower than shortest first."""
    terms = (lead(load, "rr", "sf", f"lat{length}") for load in LOADS for length in LENGTHS)
    return each(*(above(term, 0) for term in terms))


def short_faster_long_slower() -> Parts:
    """Say of each load that both round robins are faster than FIFO for short messages only."""
    robins = ("rr_head", "rr")
    short = (lead(load, "fifo", name, each_) for load in LOADS for name in robins for each_ in _SHORT)
    long = (lead(load, name, "fifo", "lat20") for load in LOADS for name in robins)
    return each(*(above(term, 0) for term in (*short, *long)))


def worst_case(load: str) -> Parts:
    """Say that no load makes long messages wait longer under shortest first, alone or against FIFO."""

    def ahead(other: str, make: str) -> Term:
        def term(evidence: Evidence) -> Quantity:
            here, there = (_long_message(each_, make)(evidence) for each_ in (load, other))
            return here.minus(there)

        return term

    others = [other for other in LOADS if other != load]
    kinds = ("absolute", "ratio")
    return every(
        *(
            above(ahead(other, kind), 0, strictly=False, about=f"{load} % minus {other} %, {kind}: ")
            for other in others
            for kind in kinds
        )
    )


def _long_message(load: str, kind: str) -> Term:
    return ratio(load, "sf", "fifo", "lat20") if kind == "ratio" else mean(load, "sf", "lat20")


def beats(load: str, strategy: str, *others: str) -> Parts:
    """Say that a strategy's average latency is below that of others."""
    return every(*(above(lead(load, other, strategy), 0) for other in others))


def apart(load: str, strategy: str, one: str, other: str) -> Term:
    """Return how many points a reduction differs, against one strategy and against another.

    If these are more than the rounding of the reduction, it cannot be right against both.
    """

    def term(evidence: Evidence) -> Quantity:
        where = published.Load(load)
        nearer = evidence.ratio(where, other, one, "avlat").times(-1).plus(1.0)
        return evidence.ratio(where, strategy, other, "avlat").by(nearer).times(100)

    return term
