"""What was measured: the results of the runs by name, and their figures by what a discipline stands for.

What is not there raises `NotMeasuredError`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from weir.models.fabric.result import FabricResult
from weir.reproduce.dtable import runs
from weir.reproduce.dtable.published import CHANNELS
from weir.reproduce.engine import evidence
from weir.reproduce.engine.evidence import Measured, NotMeasuredError, measured

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from weir.models.fabric.rows import FabricDifference, FabricEstimate, Totals
    from weir.reproduce.dtable.runs import Plan, Variant


@dataclass(frozen=True, slots=True)
class Figure(Measured):
    """A value with its intervals of 95 % and of 90 %; of a value without spread they are the value."""

    low_90: float = 0.0
    high_90: float = 0.0

    @property
    def ci95(self) -> tuple[float, float]:
        """The 95 % interval, which the value is never outside of."""
        return min(self.low, self.value), max(self.high, self.value)

    @property
    def half_90(self) -> float:
        """Half the width of the 90 % interval, the one of the document."""
        return (self.high_90 - self.low_90) / 2

    def signed(self, between: str = " ±") -> str:
        """Return the value with half of its 95 % interval, as improvements are shown."""
        return f"{self.value:+.1f}{between}{(self.ci95[1] - self.ci95[0]) / 2:.1f}"

    def each(self, change: Callable[[float], float]) -> Figure:
        """Return the figure with its value and all ends changed."""
        return Figure(*map(change, (self.value, self.low, self.high, self.low_90, self.high_90)))


def _figure(row: FabricEstimate | FabricDifference | None, what: str) -> Figure:
    found = measured(row, what)
    ends = (row.low_90, row.high_90) if row else (None, None)
    return Figure(found.value, found.low, found.high, *(found.value if end is None else end for end in ends))


class View:
    """The figures of one run."""

    def __init__(self, result: FabricResult, roles: tuple[str, ...]) -> None:
        self.result = result
        self._specs = dict(zip(roles, result.disciplines, strict=True))

    @property
    def loads(self) -> tuple[float, ...]:
        """The loads that were run."""
        return self.result.loads

    @property
    def channels(self) -> tuple[str, ...]:
        """The channels of the run, by name."""
        return tuple(row.name for row in self.result.channels)

    def within(self, low: float, high: float) -> tuple[float, ...]:
        """Return the loads from ``low`` to ``high``."""
        found = tuple(load for load in self.loads if low - 1e-9 <= load <= high + 1e-9)
        if not found:
            raise NotMeasuredError(f"no load from {low:g} to {high:g} was run")
        return found

    def spec(self, role: str) -> str:
        """Return the spec string of what a role is."""
        return self._specs[role]

    def estimate(
        self, role: str, load: float, channel: str, metric: str = "latency", statistic: str = "mean"
    ) -> Figure:
        """Return a figure: a time in s, or a share."""
        row = self.result.estimate(
            self._specs[role], load=load, channel=channel, metric=metric, statistic=statistic
        )
        return _figure(row, f"{metric} ({statistic}) of {channel} under {role} at load {load:g}")

    def latency(self, role: str, load: float, channel: str) -> float:
        """Return a mean latency from the interface, in s."""
        return self.estimate(role, load, channel).value

    def improvement(
        self, load: float, channel: str, *, statistic: str = "mean", metric: str = "latency"
    ) -> Figure:
        """Return by how much DTable's latency is below DRR's, in per cent of that, paired."""
        row = self.result.difference(
            self._specs[runs.DTABLE], load=load, channel=channel, metric=metric, statistic=statistic
        )
        return _figure(row, f"improvement of {metric} ({statistic}) of {channel} at load {load:g}")

    def apart(self, role: str, load: float, channel: str, *, kind: str, metric: str = "latency") -> Figure:
        """Return the paired ``difference`` of a role from its run's reference, or ``improvement``."""
        row = self.result.difference(self._specs[role], kind=kind, load=load, channel=channel, metric=metric)
        return _figure(row, f"{kind} of {metric} of {channel} under {role} at load {load:g}")

    def shares(self, role: str, load: float) -> dict[str, Figure]:
        """Return what part of what is carried each channel has."""
        rates = {name: self.estimate(role, load, name, "throughput") for name in self.channels}
        total = sum(rate.value for rate in rates.values())
        if total == 0:
            raise NotMeasuredError(f"nothing was carried under {role} at load {load:g}")
        return {name: rate.each(lambda end: end / total) for name, rate in rates.items()}

    def accepted(self, role: str) -> tuple[float, float, str]:
        """Return the least part of an offer that arrives up to load 0.8, with its load and channel."""
        return min(
            (self.estimate(role, load, name, "accepted").value, load, name)
            for load in self.within(0, 0.8)
            for name in CHANNELS
        )

    def saturates(self, role: str, part: float = 0.99) -> tuple[float, str] | None:
        """Return the least load at which less than a part of a channel's offer arrives, and the channel.

        As in results of the fabric, less is what is less with its 90 % interval.
        """
        for load in sorted(self.loads):
            found = {name: self.estimate(role, load, name, "accepted") for name in self.channels}
            under = [name for name, row in found.items() if row.high_90 < part]
            if under:
                return load, min(under, key=lambda name: found[name].value)
        return None

    def totals(self, role: str) -> list[Totals]:
        """Return what was counted under a discipline, load by load."""
        return [row for row in self.result.totals if row.discipline == self._specs[role]]


class Evidence(evidence.Evidence[FabricResult]):
    """The results of all runs, by name."""

    def __init__(self, results: Mapping[Plan, FabricResult]) -> None:
        super().__init__(results)
        self._roles = {plan.name: plan.roles for plan in results}

    def view(self, name: str) -> View:
        """Return the run of that name; see `weir.reproduce.engine.evidence.Evidence.result`."""
        return View(self.result(name), self._roles[name])

    def network(self, variant: Variant) -> View:
        """Return the network under one kind of traffic and shares."""
        return self.view(variant.name)

    @property
    def main(self) -> View:
        """The network with Poisson gaps and equal shares, which the claims are about."""
        return self.network(runs.MAIN)

    @property
    def traversals(self) -> int:
        """Packets over links in all runs, each counted."""
        return sum(row.traversals for each in self.results.values() for row in each.totals)


def spread(values: list[float]) -> float:
    """Return the largest less the smallest."""
    return max(values) - min(values)


EQUAL_PHI = CHANNELS[:3]
"""Channels of one reservation at three distances."""
