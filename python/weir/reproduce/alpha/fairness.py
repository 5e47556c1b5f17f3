"""Section 12: how evenly the server's bandwidth is shared between short and long messages.

The effective packet period of messages of length k is ``(lat_k + 1) / k``: the time per packet that such a
message sees, its last transmission included. A discipline is the fairer, the closer together the smallest and
the largest period over all lengths are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from weir.reproduce.alpha.claim import above, difference_of, every, period
from weir.reproduce.alpha.published import LENGTHS, LOADS, STRATEGIES

if TYPE_CHECKING:
    from weir.reproduce.alpha.claim import Parts, Term
    from weir.reproduce.alpha.evidence import Evidence, Quantity
    from weir.reproduce.alpha.published import Load

FAIRNESS_LOADS = tuple(load for load in LOADS if load in {"50", "95"})
FAMILY = STRATEGIES[2:]
"""From FIFO over the alphas to shortest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fairness:
    """Extremes of the effective packet period of one strategy, with the lengths that have them."""

    load: Load
    strategy: str
    smallest: float
    smallest_length: int
    largest: float
    largest_length: int
    average: float

    @property
    def range(self) -> float:
        """How far apart they are."""
        return self.largest - self.smallest


def fairness(evidence: Evidence, load: Load, strategy: str) -> Fairness:
    """Return the extremes of one strategy at one load.

    Raises
    ------
    NotMeasuredError
        If a mean was not measured.
    """
    periods = {length: period(load, strategy, length)(evidence).value for length in LENGTHS}
    low, high = min(periods, key=periods.__getitem__), max(periods, key=periods.__getitem__)
    return Fairness(
        load=load,
        strategy=strategy,
        smallest=periods[low],
        smallest_length=low,
        largest=periods[high],
        largest_length=high,
        average=evidence.mean(load, strategy, "avlat").value,
    )


def period_range(load: str, strategy: str) -> Term:
    """Return the largest period minus the smallest."""

    def term(evidence: Evidence) -> Quantity:
        periods = [period(load, strategy, length)(evidence) for length in LENGTHS]
        by_value = sorted(periods, key=lambda quantity: quantity.value)
        return by_value[-1].minus(by_value[0])

    return term


def fairest(load: str, strategy: str, *others: str) -> Parts:
    """Say that a strategy has the smallest range of periods among others, by default the alpha family."""
    rivals = [name for name in others or FAMILY if name != strategy]
    mine = period_range(load, strategy)
    return every(*(above(difference_of(period_range(load, rival), mine), 0) for rival in rivals))


def shortest(load: str, strategy: str, length: int) -> Parts:
    """Say that messages of this length have the smallest period."""
    mine = period(load, strategy, length)
    others = [period(load, strategy, other) for other in LENGTHS if other != length]
    return every(*(above(difference_of(other, mine), 0) for other in others))


def longest(load: str, strategy: str, length: int) -> Parts:
    """Say that messages of this length have the largest period; false of a length that no message has."""
    mine = period(load, strategy, length)
    others = [period(load, strategy, other) for other in LENGTHS if other != length]
    return every(*(above(difference_of(mine, other), 0) for other in others))
