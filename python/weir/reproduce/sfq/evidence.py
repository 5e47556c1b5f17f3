"""What was measured: each stream in each run and interval, as the mean over the seeds with their spread.

A published value is one run of one network; the *spread*, the standard deviation of single seeds, says how
far one run lies from another. The interval of the mean is narrower and says how well the mean itself is
known.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from weir.reproduce.sfq import published, runs
from weir.reproduce.sfq.runs import EXPERIMENTS, RUNS, Measured, Reading

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from weir.models.network.result import NetworkResult
    from weir.reproduce.sfq.published import Row
    from weir.reproduce.sfq.runs import Plan

__all__ = ["Draws", "Evidence", "Mean", "NotMeasuredError"]

_UNITS = {
    "offer": 100 / published.CAPACITY,
    "throughput": 100 / published.CAPACITY,
    "delay": 1.0,
    "delay_variance": 1.0,
}
"""From the unit of the engine to that of the tables."""


class NotMeasuredError(LookupError):
    """Something that was not measured; the text says what and why."""


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over seeds in the unit of the tables: its 95 % interval, and the spread of single seeds."""

    value: float
    low: float
    high: float
    spread: float


@dataclass(frozen=True, slots=True)
class Draws:
    """What single draws of random maps gave, in ascending order."""

    values: tuple[float, ...]

    def quantile(self, level: float) -> float:
        """Return the value below which a share ``level`` of the draws lies."""
        place = min(len(self.values) - 1, max(0, math.ceil(level * len(self.values)) - 1))
        return self.values[place]

    @property
    def range(self) -> tuple[float, float]:
        """The smallest and the largest."""
        return self.values[0], self.values[-1]


class Evidence:
    """The results of all runs.

    Parameters
    ----------
    results : mapping
        A result for each plan that was run.
    """

    def __init__(self, results: Mapping[Plan, NetworkResult]) -> None:
        self.compared = {
            plan.experiment: each for plan, each in results.items() if plan.measured == Measured.COMPARED
        }
        self.frozen = next((each for plan, each in results.items() if plan.measured == Measured.FROZEN), None)
        self.draws = {
            name: [
                each
                for plan, each in results.items()
                if (plan.measured, plan.experiment) == (Measured.DRAW, name)
            ]
            for name in EXPERIMENTS
        }

    def result(self, reading: Reading) -> tuple[NetworkResult, str]:
        """Return the result and the discipline that a reading names.

        Raises
        ------
        NotMeasuredError
            If the run did not get there.
        """
        if reading.role == runs.FROZEN:
            if self.frozen is None:
                raise NotMeasuredError("the run was interrupted before the frozen maps of experiment 4.3")
            return self.frozen, self.frozen.disciplines[0]
        experiment = EXPERIMENTS[reading.experiment]
        if reading.experiment not in self.compared:
            raise NotMeasuredError(f"the run was interrupted before experiment {experiment.section}")
        result = self.compared[reading.experiment]
        return result, result.disciplines[experiment.roles.index(reading.role)]

    def of_row(self, row: Row, quantity: str) -> Mean:
        """Return what was measured for a cell of the tables."""
        return self.mean(row.run, row.stream, (row.start, row.end), quantity)

    def mean(self, run: str | Reading, stream: str, interval: tuple[float, float], quantity: str) -> Mean:
        """Return a mean over the seeds.

        Parameters
        ----------
        run : str or Reading
            A run by the report's label, or what it is read as.
        stream : str
            Such as ``LBL to Dart3``.
        interval : (float, float)
            In seconds of sending time.
        quantity : str
            ``offer``, ``throughput``, ``delay`` or ``delay_variance``.

        Raises
        ------
        NotMeasuredError
            If there is none.
        """
        reading = RUNS[run] if isinstance(run, str) else run
        result, discipline = self.result(reading)
        return _mean(result, discipline, stream, interval, quantity)

    def drawn(self, experiment: str, stream: str, interval: tuple[float, float], quantity: str) -> Draws:
        """Return what the draws of random maps gave.

        Raises
        ------
        NotMeasuredError
            If there was none.
        """
        found = [
            _mean(result, result.disciplines[0], stream, interval, quantity).value
            for result in self.draws[experiment]
        ]
        if not found:
            raise NotMeasuredError("the run was interrupted before the draws of random maps")
        return Draws(tuple(sorted(found)))

    def drops(self, run: str, link: str) -> float:
        """Return the packets dropped at a link, a seed."""
        result, discipline = self.result(RUNS[run])
        row = result.estimate(discipline, metric="drops", link=link)
        if row is None or row.value is None:
            raise NotMeasuredError(f"drops at {link} in {run} were not measured")
        return row.value

    def sending(self, experiment: str) -> tuple[float, float]:
        """Return how long the streams of an experiment sent, from the first begin to the last end.

        Returns
        -------
        (float, float)
            The time, and the step of time to which it is known, in seconds.

        Raises
        ------
        NotMeasuredError
            If the run did not get there, or nothing was sent.
        """
        result, discipline = self.result(Reading(experiment, EXPERIMENTS[experiment].roles[0]))
        begins, ends, steps = [], [], []
        for stream in EXPERIMENTS[experiment].starts:
            offer = result.over_time(discipline, stream, "offer")
            sent = [place for place, value in enumerate(offer.values) if value] if offer else []
            if offer is None or not sent:
                raise NotMeasuredError(f"what {stream} sends over time in experiment {experiment}")
            begins.append(sent[0] * offer.step)
            ends.append((sent[-1] + 1) * offer.step)
            steps.append(offer.step)
        return max(ends) - min(begins), max(steps)

    @cached_property
    def packets(self) -> int:
        """Packets sent in all runs together."""
        results: Iterable[NetworkResult] = (
            *self.compared.values(),
            *([self.frozen] if self.frozen else []),
            *(each for drawn in self.draws.values() for each in drawn),
        )
        return sum(row.offered for result in results for row in result.totals)


def _mean(
    result: NetworkResult, discipline: str, stream: str, interval: tuple[float, float], quantity: str
) -> Mean:
    name = next((each.name for each in result.intervals if (each.from_, each.to) == interval), None)
    if name is None:
        raise NotMeasuredError(f"{quantity} of {stream} from {interval[0]:g} s to {interval[1]:g} s")
    row = result.estimate(discipline, metric=quantity, flow=stream, interval=name)
    if row is None or row.value is None:
        reason = (row.reason if row else None) or "it was not measured"
        raise NotMeasuredError(f"{quantity} of {stream} in {name}: {reason}")
    unit = _UNITS[quantity]
    low, high = (row.value if end is None else end for end in (row.low, row.high))
    spread = (row.standard_error or 0.0) * math.sqrt(result.replications)
    return Mean(row.value * unit, low * unit, high * unit, spread * unit)
