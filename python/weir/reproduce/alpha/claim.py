"""Claims of the text as statements about measured quantities, and what becomes of them.

A claim has one or more parts. A part *fails* only if its whole interval lies beyond what is claimed: what
noise could explain is no contradiction. A bound that is missed, but holds at the digits in which it is
stated, is *near*: 2.4 % is near "within 2 %". A stated number holds if it lies within the noise of both
runs, the rounding of the tables it was read from, and the rounding of the number itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weir.reproduce.alpha.evidence import Evidence, Quantity
from weir.reproduce.alpha.published import Load
from weir.reproduce.engine.evidence import NotMeasuredError
from weir.reproduce.engine.judgement import Outcome

if TYPE_CHECKING:
    from weir.reproduce.engine.judgement import Finding


@dataclass(frozen=True, slots=True)
class Part:
    """One statement that was decided, with the quantity it is about, if it is about one."""

    outcome: Outcome
    shown: str
    quantity: Quantity | None = None
    tolerance: float | None = None


Term = Callable[[Evidence], Quantity]
Parts = Callable[[Evidence], Sequence[Part]]


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim of the text.

    Attributes
    ----------
    id : str
        Section and a few words.
    text : str
        The claim as ``claims.csv`` words it, which is the key to its row there.
    parts : callable
        Decides its parts from the evidence.
    expected : Finding or None
        What is to be found from unrounded means; as the published tables have it, if None.
    why : str
        The reason, where that differs from the published tables.
    """

    id: str
    text: str
    parts: Parts
    expected: Finding | None = None
    why: str = ""


# Terms: what is compared.


def mean(load: str, strategy: str, quantity: str = "avlat") -> Term:
    """Return a mean of the tables."""
    return lambda evidence: evidence.mean(Load(load), strategy, quantity)


def ratio(load: str, strategy: str, other: str, quantity: str = "avlat") -> Term:
    """Return one strategy's mean over another's."""
    return lambda evidence: evidence.ratio(Load(load), strategy, other, quantity)


def lead(load: str, strategy: str, other: str, quantity: str = "avlat") -> Term:
    """Return by how many per cent one strategy's mean is above another's; in services where a mean is 0.

    The relative difference is the better known one: long and short busy periods weigh the same in it.
    """

    def term(evidence: Evidence) -> Quantity:
        try:
            return evidence.ratio(Load(load), strategy, other, quantity).plus(-1.0).times(100)
        except NotMeasuredError:
            return evidence.difference(Load(load), strategy, other, quantity)

    return term


def excess(load: str, strategy: str, other: str = "sf", factor: float = 100) -> Term:
    """Return by how many per cent one strategy's average latency is above another's."""
    return lambda evidence: evidence.ratio(Load(load), strategy, other, "avlat").plus(-1.0).times(factor)


def reduction(load: str, strategy: str, other: str) -> Term:
    """Return by how many per cent one strategy's average latency is below another's."""
    return excess(load, strategy, other, -100)


def period(load: str, strategy: str, length: int) -> Term:
    """Return the effective packet period of messages of one length: (latency + 1) / length."""
    return lambda evidence: evidence.mean(Load(load), strategy, f"lat{length}").plus(1.0).times(1 / length)


def difference_of(term: Term, other: Term) -> Term:
    """Return how far one term is above another."""
    return lambda evidence: term(evidence).minus(other(evidence))


# Statements: what is said of them.


def equals(term: Term, claimed: float, step: float = 0.01, *, about: str = "") -> Parts:
    """Say that a term is ``claimed``, a number printed in steps of ``step``; ``about`` names it in words."""

    def decide(evidence: Evidence) -> list[Part]:
        quantity = term(evidence)
        tolerance = quantity.noise_of_print + quantity.rounding + step / 2
        near = abs(quantity.value - claimed) <= tolerance * (1 + 1e-12)
        shown = f"{about}{quantity.value:.4g} for {claimed:.4g}"
        outcome = Outcome.HOLDS if near else Outcome.FAILS
        return [Part(outcome, shown, None if about else quantity, tolerance)]

    return decide


def above(term: Term, bound: float, *, strictly: bool = True, about: str = "") -> Parts:
    """Say that a term is above ``bound``; ``about`` names it in words."""

    def decide(evidence: Evidence) -> list[Part]:
        quantity = term(evidence)
        high = quantity.value + quantity.noise
        holds = high > bound if strictly else high >= bound
        outcome = Outcome.HOLDS if holds else Outcome.FAILS
        return [Part(outcome, f"{about}{quantity.value:.4g}, claimed above {bound:.4g}", quantity)]

    return decide


def at_most(term: Term, bound: float, step: float) -> Parts:
    """Say that a term is at most ``bound``; near if it is ``bound`` at the nearest ``step``."""

    def decide(evidence: Evidence) -> list[Part]:
        quantity = term(evidence)
        low = quantity.value - quantity.noise
        outcome = Outcome.HOLDS if low <= bound else Outcome.NEAR if low < bound + step / 2 else Outcome.FAILS
        return [Part(outcome, f"{quantity.value:.4g}, claimed at most {bound:.4g}", quantity)]

    return decide


def states(decide: Callable[[Evidence], tuple[bool, str]]) -> Parts:
    """Say something that a function decides and words."""

    def parts(evidence: Evidence) -> list[Part]:
        holds, shown = decide(evidence)
        return [Part(Outcome.HOLDS if holds else Outcome.FAILS, shown)]

    return parts


def each(*statements: Parts) -> Parts:
    """Say several things, of which some may fail."""
    return lambda evidence: [part for statement in statements for part in statement(evidence)]


def every(*statements: Parts) -> Parts:
    """Say several things as one: it fails if any of them does."""

    def decide(evidence: Evidence) -> list[Part]:
        parts = each(*statements)(evidence)
        failed = [part for part in parts if part.outcome != Outcome.HOLDS]
        if not failed:
            return [Part(Outcome.HOLDS, f"all {len(parts)} comparisons hold")]
        return [Part(Outcome.FAILS, f"{len(failed)} of {len(parts)} comparisons fail: {failed[0].shown}")]

    return decide
