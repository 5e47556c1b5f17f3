"""What was measured: the results of the runs by name, and their figures that are held against others."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import TYPE_CHECKING

from weir.reproduce.steer.runs import LAB, THRESHOLDS, WINDOWS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from weir.models.server.result import ServerResult
    from weir.reproduce.steer.runs import Plan

__all__ = ["MICRO", "Evidence", "Measured", "NotMeasuredError", "View"]

MICRO = 1e6
"""From seconds to microseconds."""
_ROUNDING = 1e-9


class NotMeasuredError(LookupError):
    """Something that was not measured; the text says what and why."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A value with its 95 % interval, where it has one."""

    value: float
    low: float | None = None
    high: float | None = None

    def scaled(self, factor: float) -> Measured:
        """Return the value in another unit."""
        low, high = (None if end is None else factor * end for end in (self.low, self.high))
        return Measured(factor * self.value, low, high)

    @property
    def interval(self) -> tuple[float, float] | None:
        """Both ends, if there are any."""
        return None if self.low is None or self.high is None else (self.low, self.high)


@dataclass(frozen=True, slots=True)
class View:
    """One discipline in one result."""

    result: ServerResult
    discipline: str

    def figure(
        self, metric: str, statistic: str = "mean", name: str = "all", kind: str = "class"
    ) -> Measured:
        """Return a figure, in seconds where it is a time.

        Raises
        ------
        NotMeasuredError
            If there is none; the error says why.
        """
        row = self.result.estimate(self.discipline, kind=kind, name=name, metric=metric, statistic=statistic)
        if row is None or row.value is None:
            reason = (row.reason if row else None) or "it was not measured"
            raise NotMeasuredError(f"{statistic} {metric} of {name} under {self.discipline}: {reason}")
        return Measured(row.value, row.low, row.high)

    def difference(self, metric: str, statistic: str, name: str = "all") -> Measured:
        """Return the paired difference to the reference.

        Raises
        ------
        NotMeasuredError
            If there is none; the error says why.
        """
        row = self.result.difference(
            self.discipline, kind="class", name=name, metric=metric, statistic=statistic
        )
        if row is None or row.value is None:
            reason = (row.reason if row else None) or "it was not measured"
            raise NotMeasuredError(f"difference in {statistic} {metric} under {self.discipline}: {reason}")
        return Measured(row.value, row.low, row.high)

    def windows(self, name: str = "all") -> list[float]:
        """Return the mean delay of each window in which something began, in microseconds."""
        for row in self.result.windows:
            if (row.discipline, row.class_, row.metric) == (self.discipline, name, "delay"):
                return [MICRO * value for value in row.values if value is not None]
        raise NotMeasuredError(f"windows of {name} under {self.discipline}: there are none")

    def counts(self) -> tuple[list[float], list[int]]:
        """Return when the number of cores in use changed, in seconds, and what it was from then on."""
        for row in self.result.in_use:
            if row.discipline == self.discipline:
                return list(row.at), list(row.count)
        raise NotMeasuredError(f"cores in use under {self.discipline}: they are not told")

    @property
    def period(self) -> float:
        """A window of the lab, which is also DCA's period, in seconds."""
        return self.result.measured / WINDOWS

    def steps(self) -> float:
        """Return the mean over the lab's windows of the count that the step at the end of each leaves."""
        at, count = self.counts()
        ends = (self.period * (window + 1 + _ROUNDING) for window in range(WINDOWS))
        return fmean(count[bisect_right(at, end) - 1] for end in ends)

    @property
    def cores(self) -> Measured:
        """The cores in use, as a mean over time."""
        return self.figure("in_use", kind="core")


class Evidence:
    """The results of all runs.

    Parameters
    ----------
    results : mapping
        A result for each plan that was run.
    """

    def __init__(self, results: Mapping[Plan, ServerResult]) -> None:
        self.results = {plan.name: each for plan, each in results.items()}

    def result(self, name: str) -> ServerResult:
        """Return the result of a run.

        Raises
        ------
        NotMeasuredError
            If it was interrupted before.
        """
        if name not in self.results:
            raise NotMeasuredError(f"the run was interrupted before `{name}`")
        return self.results[name]

    def view(self, name: str, place: int) -> View:
        """Return the discipline in that place of a run."""
        result = self.result(name)
        return View(result, result.disciplines[place])

    def lab(self, policy: str, traffic: str) -> View:
        """Return one of the lab's policies."""
        return self.view(f"lab/{traffic}", LAB.index(policy))

    def threshold(self, policy: str) -> View:
        """Return DCA with another threshold, on bimodal traffic."""
        return self.view("lab/thresholds", THRESHOLDS.index(policy))

    def delay(self, subject: str) -> float:
        """Return the largest windowed mean of the queueing delay, in microseconds.

        ``subject`` is policy, traffic and class, as in ``RR/bimodal/short``. Of all classes it is the larger
        one's: the report has no mean over both.
        """
        policy, traffic, name = subject.split("/")
        view = self.lab(policy, traffic)
        names = classes(traffic) if name in {"all", "both"} else (name,)
        return max(MICRO * view.figure("delay", "window_max", each).value for each in names)

    @cached_property
    def requests(self) -> int:
        """Simulated requests, of all runs."""
        return sum(row.offered for each in self.results.values() for row in each.discipline_totals)


def classes(traffic: str) -> tuple[str, ...]:
    """Return the classes that have requests."""
    return ("short",) if traffic == "unimodal" else ("short", "long")
