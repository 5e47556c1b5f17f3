"""The lab of packet-to-CPU steering: report, two simulations and a measurement, side by side.

The six runs of the report, RR, RRCS and DCA on unimodal and on bimodal traffic, and the policy that its
conclusion proposes.

Means have 95 % intervals: of a simulation over seeds, of what was measured over repetitions, or over the
five periods of a rate where there is one repetition. All policies of a seed serve the same requests, and the
client sends the same in every run of a repetition.

Source: Ouyang, *CS477 Advanced Operating Systems Lab1 Report*, EPFL, 2024. Units: seconds, unless a name says
otherwise.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

from weir.live.figures import Value, around
from weir.live.steer import orderings, verdict
from weir.live.steer.plan import LEVELS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from weir.live.steer.costs import Costs
    from weir.live.steer.counts import Windows
    from weir.live.steer.measured import Run
    from weir.live.steer.model import Outcome
    from weir.live.steer.orderings import Row
    from weir.live.steer.plan import Case, Plan

__all__ = ["Cell", "Peak", "Published", "Study"]

_MICRO = 1e-6


@dataclass(frozen=True, slots=True)
class Published:
    """A value of the report in seconds; ``bound`` if it has no more than an upper bound."""

    value: float | None
    bound: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """The mean delay of a class at one rate."""

    policy: str
    traffic: str
    class_: str
    level: int
    rate: float
    """Requests a second, of all classes."""
    report_cores: Value
    """Simulated with the report's seven cores and costs."""
    simulated: Value
    """Simulated with this machine's processors and costs."""
    measured: Value
    round_trip: Value
    round_trip_p99: Value
    """What 99 of 100 round trips took at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Peak:
    """The largest windowed mean of a class: what the report says that a delay grows up to."""

    policy: str
    traffic: str
    class_: str
    report: Published
    report_cores: Value
    simulated: Value
    measured: Value
    report_round_trip: Published
    round_trip: Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """What was found out."""

    plan: Plan
    costs: Costs
    present: int
    """Processors of this machine."""
    repeat: int
    seed: int
    report_cores: Mapping[Case, Sequence[Outcome]]
    simulated: Mapping[Case, Sequence[Outcome]]
    runs: tuple[Run, ...]
    interrupted: bool = False

    @property
    def measured(self) -> dict[Case, list[Outcome]]:
        """What was measured, by case."""
        found: dict[Case, list[Outcome]] = {}
        for each in self.runs:
            found.setdefault(each.case, []).append(each.outcome)
        return found

    @property
    def sources(self) -> dict[str, Mapping[Case, Sequence[Outcome]]]:
        """The runs of both simulations, and those that were measured."""
        return {
            "report_cores": self.report_cores,
            "simulated": self.simulated,
            "measured": self.measured,
        }

    @property
    def subjects(self) -> tuple[tuple[Case, str], ...]:
        """Cases with each of their classes."""
        return tuple(
            (case, kind.name) for case in self.plan.cases() for kind in self.plan.kinds(case.traffic)
        )

    @property
    def orderings(self) -> tuple[Row, ...]:
        """The twelve orderings, the eighth in two halves."""
        return orderings.rows(self.report_cores, self.simulated, self.measured, len(self.plan.processors))

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The delay of each class at each rate."""
        return tuple(cell for case, name in self.subjects for cell in self.rates(case, name))

    @property
    def peaks(self) -> tuple[Peak, ...]:
        """The largest windowed mean of each class."""
        return tuple(self._peak(case, name) for case, name in self.subjects)

    @property
    def ok(self) -> bool:
        """Whether requests are accounted for, and no ordering that the simulation has is reversed."""
        accounted = all(not each.ledger.unaccounted for each in self.runs)
        return bool(self.runs) and accounted and not any(row.reversed for row in self.orderings)

    def rates(self, case: Case, name: str) -> list[Cell]:
        """Return the delay of a class at each rate."""
        return [self._cell(case, name, level) for level in range(LEVELS)]

    def _cell(self, case: Case, name: str, level: int) -> Cell:
        mine = [each for each in self.runs if each.case == case]
        trips = [each.trips[name] for each in mine if name in each.trips]
        return Cell(
            policy=case.policy,
            traffic=case.traffic,
            class_=name,
            level=level,
            rate=self.plan.rates()[level],
            report_cores=_level(self.report_cores.get(case, ()), name, level),
            simulated=_level(self.simulated.get(case, ()), name, level),
            measured=_level([each.outcome for each in mine], name, level),
            round_trip=_mean(_at([[mean.value for mean in each.levels] for each in trips], level)),
            round_trip_p99=_mean(_at([each.tails for each in trips], level)),
        )

    def _peak(self, case: Case, name: str) -> Peak:
        mine = [each for each in self.runs if each.case == case]
        trips = [each.trips[name].largest for each in mine if name in each.trips]
        return Peak(
            policy=case.policy,
            traffic=case.traffic,
            class_=name,
            report=_published(case, name, "delay"),
            report_cores=_largest(self.report_cores.get(case, ()), name),
            simulated=_largest(self.simulated.get(case, ()), name),
            measured=_largest([each.outcome for each in mine], name),
            report_round_trip=_published(case, name, "rtt"),
            round_trip=_mean([value for value in trips if value is not None]),
        )

    def cores(self, found: Mapping[Case, Sequence[Outcome]], case: Case) -> Value:
        """Return the processors in use, as a mean over time."""
        return _mean([each.cores for each in found.get(case, ())])

    def dropped(self, found: Mapping[Case, Sequence[Outcome]], case: Case) -> Value:
        """Return the part of the requests that found a queue full."""
        return _mean([each.dropped for each in found.get(case, ())])

    verdicts, departures = verdict.verdicts, verdict.departures

    def to_dict(self) -> dict[str, Any]:
        """Return the whole as a JSON object."""
        return {
            "study": "steer",
            "unit": "s",
            "ok": self.ok,
            "interrupted": self.interrupted,
            "verdicts": [*self.verdicts()],
            "processors_present": self.present,
            "repeat": self.repeat,
            "seed": self.seed,
            "plan": self.plan.to_dict(),
            "costs": self.costs.to_dict(),
            "peaks": [asdict(each) for each in self.peaks],
            "cells": [asdict(each) for each in self.cells],
            "cores": [self._use(case) for case in self.plan.cases()],
            "orderings": [row.to_dict() for row in self.orderings],
            "runs": [_run(each) for each in self.runs],
            "departures": [*self.departures()],
        }

    def _use(self, case: Case) -> dict[str, Any]:
        return {
            "policy": case.policy,
            "traffic": case.traffic,
            "in_use": {name: asdict(self.cores(each, case)) for name, each in self.sources.items()},
            "dropped": {name: asdict(self.dropped(each, case)) for name, each in self.sources.items()},
        }


def _run(each: Run) -> dict[str, Any]:
    ledger = each.ledger
    more = {name: getattr(ledger, name) for name in ("unaccounted", "unseen", "not_returned")}
    return {
        "policy": each.case.policy,
        "traffic": each.case.traffic,
        "repetition": each.repetition,
        "requests": {**asdict(ledger), **more},
        "late_p99": each.late,
        "warnings": [*each.warnings],
        "classes": [
            {
                "class": name,
                "periods": [asdict(mean) for mean in delays.periods],
                "round_trips": [asdict(mean) for mean in each.trips[name].levels]
                if name in each.trips
                else [],
            }
            for name, delays in each.outcome.delays.items()
        ],
    }


# Figures.


def _mean(samples: Sequence[float]) -> Value:
    return around(fmean(samples), samples) if samples else Value(None)


def _largest(outcomes: Sequence[Outcome], name: str) -> Value:
    found = [each.delays[name].largest for each in outcomes]
    return _mean([value for value in found if value is not None])


def _level(outcomes: Sequence[Outcome], name: str, level: int) -> Value:
    """Return the mean at a rate: over repetitions, or over the periods of the only one."""
    found = [each.delays[name] for each in outcomes]
    means = [value for each in found if (value := each.levels[level].value) is not None]
    if len(found) != 1 or not means:
        return _mean(means)
    return around(means[0], _periods(found[0], level))


def _periods(delays: Windows, level: int) -> list[float]:
    many = len(delays.periods) // LEVELS
    parts = delays.periods[many * level : many * (level + 1)]
    return [each.value for each in parts if each.value is not None]


def _at(runs: Sequence[Sequence[float | None]], level: int) -> list[float]:
    """Return what the runs that had this rate have there."""
    found = [levels[level] for levels in runs if level < len(levels)]
    return [value for value in found if value is not None]


def _published(case: Case, name: str, metric: str) -> Published:
    for claim in orderings.claimed(case.policy, case.traffic, name, metric):
        return Published(_MICRO * (claim.value or 0.0), claim.kind == "bound")
    return Published(None)
