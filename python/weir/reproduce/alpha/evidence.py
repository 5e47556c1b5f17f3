"""What was measured: means with their noise, and paired comparisons of two strategies.

*Noise* is a standard error times the threshold of `weir.reproduce.engine.thresholds`: a deviation above it
is not chance. A quantity computed from several means takes the sum of their noises, which bounds the noise
of the quantity whatever their correlation. Two strategies are compared through the paired differences from
shortest first: all strategies of a run saw the same arrivals and services. What is not there raises
`NotMeasuredError`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from weir.reproduce.alpha import published
from weir.reproduce.alpha.published import MEAN_LENGTH, PRINT_ROUNDING
from weir.reproduce.engine.evidence import Measured, NotMeasuredError
from weir.reproduce.engine.thresholds import degrees_of_freedom, student_quantile

if TYPE_CHECKING:
    from weir.reproduce.alpha.published import Load

REFERENCE = "sf"
_NORMAL_MARGIN = 1.96
Result = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Mean(Measured):
    """An estimated mean, with its 95 % interval and what a threshold needs to know of it."""

    standard_error: float = 0.0
    count: int = 0

    @property
    def margin(self) -> float:
        """How many standard errors the interval has to each side."""
        return self.half / self.standard_error if self.standard_error > 0 else _NORMAL_MARGIN

    @property
    def freedom(self) -> float:
        """Degrees of freedom of the interval."""
        return degrees_of_freedom(round(self.margin, 9))

    def noise(self, level: float, published_ratio: float = 0.0) -> float:
        """Return how far the mean may be from the truth, at a level of false alarm.

        With ``published_ratio``, the packets measured over those of the published run, it is how far it
        may be from what that run measured: a standard error goes as one over the root of the packets.
        """
        return student_quantile(level, self.freedom) * self.standard_error * math.sqrt(1 + published_ratio)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number computed from means: its noise, that of its difference from print, what print rounds off."""

    value: float
    noise: float
    noise_of_print: float = 0.0
    rounding: float = 0.0

    def times(self, factor: float) -> Quantity:
        """Return the quantity in another unit."""
        size = abs(factor)
        return Quantity(
            self.value * factor, self.noise * size, self.noise_of_print * size, self.rounding * size
        )

    def plus(self, other: Quantity | float) -> Quantity:
        """Return the sum."""
        more = other if isinstance(other, Quantity) else Quantity(other, 0.0)
        return Quantity(
            self.value + more.value,
            self.noise + more.noise,
            self.noise_of_print + more.noise_of_print,
            self.rounding + more.rounding,
        )

    def minus(self, other: Quantity) -> Quantity:
        """Return the difference."""
        return self.plus(other.times(-1))

    def by(self, other: Quantity) -> Quantity:
        """Return the product, its noise to first order."""
        mine, theirs = self.times(other.value), other.times(self.value)
        return mine.plus(theirs).plus(-self.value * other.value)

    def over(self, other: Quantity) -> Quantity:
        """Return the ratio, its noise to first order."""
        if other.value == 0:
            raise NotMeasuredError("a mean is 0, and no ratio to it exists")
        ratio = self.value / other.value
        theirs = other.times(abs(ratio / other.value))
        mine = self.times(1 / abs(other.value))
        noises = (mine.noise + theirs.noise, mine.noise_of_print + theirs.noise_of_print)
        return Quantity(ratio, *noises, mine.rounding + theirs.rounding)


class LoadResult:
    """The result of one load's run, in the form that `weir.run` returns it.

    Parameters
    ----------
    load : Load
        In per cent.
    document : mapping
        The result as parsed JSON.
    """

    def __init__(self, load: Load, document: Result) -> None:
        self.load = load
        self.document = document

    @cached_property
    def _means(self) -> dict[tuple[str | None, str, str], Mapping[str, Any]]:
        rows = (
            row
            for row in self.document["estimates"]
            if row["statistic"] == "mean" and row.get("flow") is None
        )
        return {(row["discipline"], row["class"], row["metric"]): row for row in rows}

    @cached_property
    def _differences(self) -> dict[tuple[str, str, str], Mapping[str, Any]]:
        rows = (row for row in self.document["differences"] if row["reference"] == REFERENCE)
        return {(row["discipline"], row["class"], row["metric"]): row for row in rows}

    def mean(self, strategy: str, quantity: str) -> Mean:
        """Return the mean of one cell."""
        key = (None, "all", "queue") if quantity == "qlen" else (strategy, _class_of(quantity), "latency")
        row = _known(self._means.get(key), f"{quantity} of {strategy} at {self.load} %")
        return _mean(row, "value", "low", "high", row["standard_error"])

    def above_shortest_first(self, strategy: str, quantity: str) -> Mean:
        """Return a mean minus that of shortest first, paired."""
        if strategy == REFERENCE:
            return Mean(0.0, 0.0, 0.0)
        row = self._difference(strategy, quantity)
        margin = self.beside_shortest_first(strategy, quantity).margin if row["ratio"] else _NORMAL_MARGIN
        return _mean(row, "value", "low", "high", (row["high"] - row["low"]) / 2 / margin)

    def beside_shortest_first(self, strategy: str, quantity: str) -> Mean:
        """Return a mean over that of shortest first, paired."""
        if strategy == REFERENCE:
            return Mean(1.0, 1.0, 1.0)
        row = self._difference(strategy, quantity)
        if row["ratio"] is None:
            raise NotMeasuredError(f"{quantity} of {strategy} at {self.load} % has no ratio: a mean is 0")
        return _mean(row, "ratio", "ratio_low", "ratio_high", row["ratio_standard_error"])

    def _difference(self, strategy: str, quantity: str) -> Mapping[str, Any]:
        row = self._differences.get((strategy, _class_of(quantity), "latency"))
        return _known(row, f"{quantity} of {strategy} at {self.load} % compared with {REFERENCE}")

    @cached_property
    def published_ratio(self) -> float:
        """Packets counted here over packets of the published run."""
        counted = self.mean(REFERENCE, "avlat").count * MEAN_LENGTH
        return counted / (published.packets()[self.load] or published.ASSUMED_PACKETS)


def _known(row: Mapping[str, Any] | None, what: str) -> Mapping[str, Any]:
    """Return a row that has a value."""
    if row is None or row["value"] is None:
        raise NotMeasuredError(f"{what}: {(row or {}).get('reason') or 'it was not measured'}")
    return row


def _class_of(quantity: str) -> str:
    return "all" if quantity == "avlat" else f"{quantity.removeprefix('lat')}pkt"


def _mean(row: Mapping[str, Any], value: str, low: str, high: str, standard_error: float | None) -> Mean:
    """Return the columns of a row as a mean; one without spread is its own interval."""
    centre = float(row[value])
    lower, upper = (centre if row[name] is None else float(row[name]) for name in (low, high))
    return Mean(centre, lower, upper, float(standard_error or 0.0), int(row.get("count", 0)))


class Evidence:
    """The results of all loads, and how sure one is to be before calling a deviation real.

    Parameters
    ----------
    results : mapping
        A result for every load that was run.
    level : float
        The chance of a false alarm of one comparison.
    """

    def __init__(self, results: Mapping[Load, Result], level: float) -> None:
        self.loads = {load: LoadResult(load, document) for load, document in results.items()}
        self.level = level

    @property
    def empty(self) -> bool:
        """Whether no load was finished."""
        return not self.loads

    def at(self, load: Load) -> LoadResult:
        """Return the result of one load."""
        if load not in self.loads:
            raise NotMeasuredError(f"the run was interrupted before {load} %")
        return self.loads[load]

    def mean(self, load: Load, strategy: str, quantity: str) -> Quantity:
        """Return a mean as printed in the tables, with its noise."""
        mean = self.at(load).mean(strategy, quantity)
        return self._quantity(load, mean, PRINT_ROUNDING)

    def difference(self, load: Load, strategy: str, other: str, quantity: str) -> Quantity:
        """Return how far one strategy's mean is above another's."""
        mine, theirs = (self._above(load, name, quantity) for name in (strategy, other))
        return mine.minus(theirs)

    def ratio(self, load: Load, strategy: str, other: str, quantity: str) -> Quantity:
        """Return one strategy's mean over another's."""
        mine, theirs = (self._beside(load, name, quantity) for name in (strategy, other))
        return mine.over(theirs)

    def _above(self, load: Load, strategy: str, quantity: str) -> Quantity:
        above = self.at(load).above_shortest_first(strategy, quantity)
        return self._quantity(load, above, PRINT_ROUNDING)

    def _beside(self, load: Load, strategy: str, quantity: str) -> Quantity:
        result = self.at(load)
        ratio = result.beside_shortest_first(strategy, quantity)
        if strategy == REFERENCE:
            return self._quantity(load, ratio, 0.0)
        base = result.mean(REFERENCE, quantity).value
        return self._quantity(load, ratio, PRINT_ROUNDING * (1 + ratio.value) / base)

    def _quantity(self, load: Load, mean: Mean, rounding: float) -> Quantity:
        ratio = self.at(load).published_ratio
        return Quantity(mean.value, mean.noise(self.level), mean.noise(self.level, ratio), rounding)
