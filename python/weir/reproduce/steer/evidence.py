"""What was measured: the results of the runs by name, and their figures that are held against others.

What is not there raises `NotMeasuredError`.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import TYPE_CHECKING

from weir.models.server.result import ServerResult
from weir.reproduce.engine import evidence
from weir.reproduce.engine.evidence import NotMeasuredError, measured
from weir.reproduce.steer.runs import LAB, THRESHOLDS, WINDOWS

if TYPE_CHECKING:
    from weir.reproduce.engine.evidence import Measured

MICRO = 1e6
"""From seconds to microseconds."""
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class View:
    """One discipline in one result."""

    result: ServerResult
    discipline: str

    def figure(
        self, metric: str, statistic: str = "mean", name: str = "all", kind: str = "class"
    ) -> Measured:
        """Return a figure, in seconds where it is a time."""
        row = self.result.estimate(self.discipline, kind=kind, name=name, metric=metric, statistic=statistic)
        return measured(row, f"{statistic} {metric} of {name} under {self.discipline}")

    def difference(self, metric: str, statistic: str, name: str = "all") -> Measured:
        """Return the paired difference to the reference."""
        row = self.result.difference(
            self.discipline, kind="class", name=name, metric=metric, statistic=statistic
        )
        return measured(row, f"difference in {statistic} {metric} under {self.discipline}")

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
        raise NotMeasuredError(f"cores in use under {self.discipline}: they are not reported")

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


class Evidence(evidence.Evidence[ServerResult]):
    """The results of all runs, by name."""

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
