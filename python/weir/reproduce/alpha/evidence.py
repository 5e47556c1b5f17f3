"""What was measured: means with their noise, and paired comparisons of two strategies.

*Noise* is a standard error times the threshold of `weir.reproduce.thresholds`: a deviation above it is not
chance. A quantity computed from several means takes the sum of their noises, which bounds the noise of the
quantity whatever their correlation. Two strategies are compared through the paired differences from
shortest first: all strategies of a run saw the same arrivals and services.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from weir.reproduce.alpha import published
from weir.reproduce.alpha.published import MEAN_LENGTH, PRINT_ROUNDING
from weir.reproduce.thresholds import degrees_of_freedom, student_quantile

if TYPE_CHECKING:
    from weir.reproduce.alpha.published import Load

__all__ = ["Evidence", "LoadResult", "Mean", "NotMeasuredError", "Quantity"]

REFERENCE = "sf"
Result = Mapping[str, Any]


class NotMeasuredError(LookupError):
    """Something that was not measured; the text says what and why."""


@dataclass(frozen=True, slots=True)
class Mean:
    """An estimated mean, with its 95 % interval and what a threshold needs to know of it."""

    value: float
    standard_error: float
    low: float
    high: float
    count: int

    @property
    def freedom(self) -> float:
        """Degrees of freedom of the interval."""
        if self.standard_error <= 0:
            return math.inf
        return degrees_of_freedom(round((self.high - self.low) / 2 / self.standard_error, 9))

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

    def over(self, other: Quantity) -> Quantity:
        """Return the ratio, its noise to first order.

        Raises
        ------
        NotMeasuredError
            If the other is zero.
        """
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
        """Return the mean of one cell.

        Raises
        ------
        NotMeasuredError
            If the run has none.
        """
        key = (None, "all", "queue") if quantity == "qlen" else (strategy, _class_of(quantity), "latency")
        row = self._means.get(key)
        if row is None or row["value"] is None:
            reason = (row or {}).get("reason") or "it was not measured"
            raise NotMeasuredError(f"{quantity} of {strategy} at {self.load} %: {reason}")
        return _mean(row, row["standard_error"])

    def above_shortest_first(self, strategy: str, quantity: str, *, relative: bool) -> Mean:
        """Return a mean minus that of shortest first, paired; relative to the latter if asked for."""
        if strategy == REFERENCE:
            return Mean(0.0, 0.0, 0.0, 0.0, 0)
        row = self._differences.get((strategy, _class_of(quantity), "latency"))
        names = ("relative", "relative_low", "relative_high") if relative else ("value", "low", "high")
        if row is None or any(row[name] is None for name in names):
            raise NotMeasuredError(f"{quantity} of {strategy} at {self.load} % has no paired difference")
        value, low, high = (row[name] for name in names)
        whole = self.mean(strategy, quantity)
        margin = (whole.high - whole.low) / 2 / whole.standard_error if whole.standard_error > 0 else 1.96
        return Mean(value, (high - low) / 2 / margin, low, high, whole.count)

    @cached_property
    def published_ratio(self) -> float:
        """Packets counted here over packets of the published run."""
        counted = self.mean(REFERENCE, "avlat").count * MEAN_LENGTH
        return counted / (published.packets()[self.load] or published.ASSUMED_PACKETS)


def _class_of(quantity: str) -> str:
    return "all" if quantity == "avlat" else f"{quantity.removeprefix('lat')}pkt"


def _mean(row: Mapping[str, Any], standard_error: float | None) -> Mean:
    value = float(row["value"])
    low, high = (value if row[name] is None else float(row[name]) for name in ("low", "high"))
    return Mean(value, float(standard_error or 0.0), low, high, int(row["count"]))


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

    def at(self, load: Load) -> LoadResult:
        """Return the result of one load.

        Raises
        ------
        NotMeasuredError
            If the run did not get there.
        """
        if load not in self.loads:
            raise NotMeasuredError(f"the run was interrupted before {load} %")
        return self.loads[load]

    def mean(self, load: Load, strategy: str, quantity: str) -> Quantity:
        """Return a mean as printed in the tables, with its noise."""
        mean = self.at(load).mean(strategy, quantity)
        return self._quantity(load, mean, PRINT_ROUNDING)

    def difference(self, load: Load, strategy: str, other: str, quantity: str) -> Quantity:
        """Return how far one strategy's mean is above another's."""
        mine, theirs = (self._above(load, name, quantity, relative=False) for name in (strategy, other))
        return mine.minus(theirs)

    def ratio(self, load: Load, strategy: str, other: str, quantity: str) -> Quantity:
        """Return one strategy's mean over another's."""
        mine, theirs = (
            self._above(load, name, quantity, relative=True).plus(1.0) for name in (strategy, other)
        )
        return mine.over(theirs)

    def _above(self, load: Load, strategy: str, quantity: str, *, relative: bool) -> Quantity:
        result = self.at(load)
        base = result.mean(REFERENCE, quantity).value if relative else 1.0
        above = result.above_shortest_first(strategy, quantity, relative=relative)
        rounding = (
            0.0
            if relative and strategy == REFERENCE
            else PRINT_ROUNDING * (2 + above.value if relative else 1)
        )
        return self._quantity(load, above, rounding / base if base else 0.0)

    def _quantity(self, load: Load, mean: Mean, rounding: float) -> Quantity:
        ratio = self.at(load).published_ratio
        return Quantity(mean.value, mean.noise(self.level), mean.noise(self.level, ratio), rounding)
