"""What was measured: the results of the runs by name, and their figures by what a discipline stands for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from weir.reproduce.dtable import runs
from weir.reproduce.dtable.published import CHANNELS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from weir.models.fabric.result import FabricResult
    from weir.models.fabric.rows import FabricDifference, FabricEstimate, Totals
    from weir.reproduce.dtable.runs import Plan, Variant

__all__ = ["Evidence", "Figure", "NotMeasuredError", "View"]


class NotMeasuredError(LookupError):
    """Something that was not measured; the text says what and why."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A value with its intervals of 95 % and of 90 %; of a value without spread they are the value."""

    value: float
    low: float
    high: float
    low_90: float
    high_90: float

    @property
    def ci95(self) -> tuple[float, float]:
        """The 95 % interval, which the value is never outside of."""
        return min(self.low, self.value), max(self.high, self.value)

    @property
    def half_90(self) -> float:
        """Half the width of the 90 % interval, the one of the document."""
        return (self.high_90 - self.low_90) / 2


def _figure(row: FabricEstimate | FabricDifference | None, what: str) -> Figure:
    if row is None or row.value is None:
        raise NotMeasuredError(f"{what}: {(row.reason if row else None) or 'it was not measured'}")
    ends = (row.low, row.high, row.low_90, row.high_90)
    return Figure(row.value, *(row.value if end is None else end for end in ends))


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
        """Return the loads from ``low`` to ``high``.

        Raises
        ------
        NotMeasuredError
            If there is none.
        """
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
        """Return a figure: a time in s, or a share.

        Raises
        ------
        NotMeasuredError
            If there is none.
        """
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
        """Return by how much DTable's latency is below DRR's, in per cent of that, paired.

        Raises
        ------
        NotMeasuredError
            If there is none.
        """
        row = self.result.difference(
            self._specs[runs.DTABLE], load=load, channel=channel, metric=metric, statistic=statistic
        )
        return _figure(row, f"improvement of {metric} ({statistic}) of {channel} at load {load:g}")

    def shares(self, role: str, load: float) -> dict[str, Figure]:
        """Return what part of what is carried each channel has."""
        rates = {name: self.estimate(role, load, name, "throughput") for name in self.channels}
        total = sum(rate.value for rate in rates.values())
        if total == 0:
            raise NotMeasuredError(f"nothing was carried under {role} at load {load:g}")
        return {
            name: Figure(
                *(end / total for end in (rate.value, rate.low, rate.high, rate.low_90, rate.high_90))
            )
            for name, rate in rates.items()
        }

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


class Evidence:
    """The results of all runs that were made.

    Parameters
    ----------
    results : mapping
        A result for each plan that was run.
    """

    def __init__(self, results: Mapping[Plan, FabricResult]) -> None:
        self.views = {plan.name: View(result, plan.roles) for plan, result in results.items()}

    def view(self, name: str) -> View:
        """Return the run of that name.

        Raises
        ------
        NotMeasuredError
            If it was not made.
        """
        if name not in self.views:
            raise NotMeasuredError(f"the run was interrupted before `{name}`")
        return self.views[name]

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
        return sum(row.traversals for view in self.views.values() for row in view.result.totals)


def spread(values: dict[str, float] | list[float]) -> float:
    """Return the largest less the smallest."""
    found = list(values.values()) if isinstance(values, dict) else values
    return max(found) - min(found)


EQUAL_PHI = CHANNELS[:3]
"""Channels of one reservation at three distances."""
