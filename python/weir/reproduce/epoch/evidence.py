"""What was measured: the results of the runs by name, and what was counted of processes and nodes in them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from weir.reproduce.epoch.method import Setting
from weir.reproduce.thresholds import student_quantile

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from weir.models.node.result import NodeResult
    from weir.models.node.rows import NodeTotals, ProcessTotals
    from weir.reproduce.epoch.runs import Plan

__all__ = ["Evidence", "Mean", "NotMeasuredError", "View", "mean_of"]

_MS = 1e3
"""From seconds a second to milliseconds a second."""
_OUTSIDE = 0.05


class NotMeasuredError(LookupError):
    """Something that was not measured; the text says what and why."""


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over task sets, with its 95 % interval."""

    value: float
    low: float
    high: float
    count: int

    @property
    def half(self) -> float:
        """Half of the interval."""
        return (self.high - self.low) / 2


def mean_of(values: Iterable[float]) -> Mean:
    """Return the mean of independent values, with Student's interval.

    Raises
    ------
    NotMeasuredError
        If there are fewer than two.
    """
    found = list(values)
    if len(found) < 2:
        raise NotMeasuredError("fewer than two task sets were run")
    middle = fmean(found)
    half = student_quantile(_OUTSIDE, len(found) - 1) * stdev(found) / math.sqrt(len(found))
    return Mean(middle, middle - half, middle + half, len(found))


@dataclass(frozen=True, slots=True)
class View:
    """One discipline in one result: what was counted of its processes, per second and replication."""

    result: NodeResult
    discipline: str

    @property
    def elapsed(self) -> float:
        """The measured time of all replications, in seconds."""
        return self.result.measured * self.result.replications

    @property
    def epochs(self) -> float:
        """The epochs in it."""
        return self.elapsed / self.result.epoch

    def totals(self, process: str) -> ProcessTotals:
        """Return what was counted of a process."""
        found = self.result.totals(self.discipline, process)
        if found is None:
            raise NotMeasuredError(f"no process {process} under {self.discipline}")
        return found

    def processes(self, *, system: bool = False) -> list[ProcessTotals]:
        """Return what was counted of the scenario's own processes, or of the system's."""
        return [self.totals(row.name) for row in self.result.processes if row.system == system]

    def node(self, place: int = 0) -> NodeTotals:
        """Return what was counted of a node."""
        name = self.result.nodes[place]
        for row in self.result.node_totals:
            if (row.discipline, row.node) == (self.discipline, name):
                return row
        raise NotMeasuredError(f"no node {name} under {self.discipline}")

    def system_wakeups(self, place: int) -> float:
        """Return how often a second a process of the system's wakes."""
        return self.processes(system=True)[place].wakeups / self.elapsed

    def setting(self, process: str) -> Setting:
        """Return run time, messages and schedulings of a process, as the method takes them."""
        found = self.totals(process)
        return Setting(
            run_time=_MS * found.run_time / self.elapsed,
            messages=max(found.enqueued, found.dequeued) / self.elapsed,
            schedulings=found.schedulings / self.elapsed,
            seconds=self.elapsed,
        )

    def per_epoch(self, seconds: float | None) -> float:
        """Return a total in seconds as milliseconds an epoch."""
        if seconds is None:
            raise NotMeasuredError(f"{self.discipline} does not tell kinds of time apart")
        return _MS * seconds / self.epochs

    def figure(self, process: str, metric: str, statistic: str) -> float:
        """Return a figure of a process, in seconds."""
        row = self.result.estimate(self.discipline, name=process, metric=metric, statistic=statistic)
        if row is None or row.value is None:
            reason = (row.reason if row else None) or "it was not measured"
            raise NotMeasuredError(f"{statistic} of the {metric} of {process}: {reason}")
        return row.value


class Evidence:
    """The results of all runs.

    Parameters
    ----------
    results : mapping
        A result for each plan that was run.
    """

    def __init__(self, results: Mapping[Plan, NodeResult]) -> None:
        self.results = {plan.name: each for plan, each in results.items()}

    def result(self, name: str) -> NodeResult:
        """Return the result of a run.

        Raises
        ------
        NotMeasuredError
            If it was interrupted before.
        """
        if name not in self.results:
            raise NotMeasuredError(f"the run was interrupted before `{name}`")
        return self.results[name]

    def view(self, name: str, place: int = 0) -> View:
        """Return the discipline in that place of a run."""
        result = self.result(name)
        return View(result, result.disciplines[place])

    def setting(self, name: str, process: str) -> Setting:
        """Return what the method takes of a process in a run."""
        return self.view(name).setting(process)

    def numbered(self, kind: str) -> list[int]:
        """Return the numbers of the random task sets of a kind that were run.

        Raises
        ------
        NotMeasuredError
            If there is none.
        """
        found = sorted({int(name.split("/")[1]) for name in self.results if name.startswith(f"{kind}/")})
        if not found:
            raise NotMeasuredError(f"the run was interrupted before the task sets `{kind}`")
        return found

    @cached_property
    def seconds(self) -> float:
        """Simulated seconds, of all runs."""
        return sum(
            each.measured * each.replications * len(each.disciplines) for each in self.results.values()
        )

    @cached_property
    def schedulings(self) -> int:
        """Schedulings of processes, in all runs."""
        return sum(row.schedulings for each in self.results.values() for row in each.process_totals)
