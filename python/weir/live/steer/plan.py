"""What `weir live steer` runs: policies and traffic of the lab, scaled to the processors of a machine.

=============  ====================================================================================
Source         Ouyang, *CS477 Advanced Operating Systems Lab1 Report*, EPFL, 2024; the readings of
               its traffic in ``reproduce/steer/README.md``: bursts, a load of 85 %, services
Scaled         all times go with the service of a request: bursts come every 673 services, so that
               a burst brings each processor as many requests as in the lab
Departures     a window of the report is a period here, five of them to a rate as in the lab; its
               three of seven processors for short requests are the same share, at least one;
               DCA begins with one processor, for with two there would be nothing to add
Units          nanoseconds, requests a second; sizes of requests in units of service
=============  ====================================================================================
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weir.live.quantities import time
from weir.reproduce.steer.runs import TRAFFICS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weir.live.steer.costs import Costs

__all__ = [
    "AT_LEAST",
    "LEVELS",
    "LONG",
    "MOST_PROCESSORS",
    "PERIODS",
    "POLICIES",
    "QUEUE",
    "TRAFFICS",
    "UNIMODAL",
    "Case",
    "Kind",
    "Plan",
    "plan",
    "spare",
    "workers",
]

POLICIES = ("RR", "RRCS", "DCA", "COMBINED")
"""As the report names them; the last one is its conclusion's."""
MOST_PROCESSORS = 7
"""As many as the lab had; the client does not keep up with many more."""
LEVELS = 6
"""Rates, each twice the one before."""
PERIODS = 5
"""Means of the delay, and decisions of DCA, at each rate: the lab's windows of a second in levels of five."""
QUEUE = 4096
"""Frames a processor."""
AT_LEAST = 100
"""The size from which on a request is long."""
LONG, UNIMODAL = 100, 99
"""Sizes in units of service; requests of unimodal traffic count as short, as in the report."""
_RATIO = 3.42 / 1.95
"""Service of a long request over that of a short one, as the lab's full queues tell it."""
_LONG_SHARE = 0.1
_LOAD = 0.85
"""Of what saturated processors serve, by unimodal traffic at the highest rate."""
_BURST = 2300 / 3.42
"""Time between bursts, in services of a unimodal request."""
_REMOVE = 0.4
"""REMOVE over ADD."""
_SHORT_PROCESSORS = 3 / 7
_MICRO = 1000
"""Nanoseconds in a microsecond."""


@dataclass(frozen=True, slots=True)
class Case:
    """A policy on a traffic."""

    policy: str
    traffic: str

    @property
    def name(self) -> str:
        """Names it in files and tables."""
        return f"{self.policy}/{self.traffic}"


@dataclass(frozen=True, slots=True)
class Kind:
    """Requests of one class: their name, their size in units of service, their share."""

    name: str
    units: int
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All that runs share; times are in nanoseconds."""

    processors: tuple[int, ...]
    """Those that serve."""
    iterations: int
    """Of the loop, for each unit of service."""
    short: int
    """Units of service of a short request."""
    burst: int
    """Time between bursts."""
    period: int
    """A mean of the delay is taken, and DCA decides, once in so long."""
    rate: float
    """The lowest one, in requests a second."""
    load: float
    """Of the threads that serve, by unimodal traffic at the highest rate."""
    add: int
    """Mean delay above which DCA takes one processor more."""

    @property
    def remove(self) -> int:
        """Mean delay below which DCA gives one processor back."""
        return round(_REMOVE * self.add)

    @property
    def window(self) -> int:
        """How long each rate lasts."""
        return PERIODS * self.period

    @property
    def seconds(self) -> float:
        """How long a run sends requests."""
        return LEVELS * self.window / 1e9

    def policies(self) -> tuple[str, ...]:
        """Return the policies that can be distinguished on these processors."""
        return POLICIES if len(self.processors) > 1 else POLICIES[:1]

    def cases(self) -> tuple[Case, ...]:
        """Return what is run, in the order of the report."""
        return tuple(Case(policy, traffic) for policy in self.policies() for traffic in TRAFFICS)

    def kinds(self, traffic: str) -> tuple[Kind, ...]:
        """Return the requests of a traffic, by class."""
        if traffic == "unimodal":
            return (Kind("short", UNIMODAL, 1.0),)
        return Kind("short", self.short, 1 - _LONG_SHARE), Kind("long", LONG, _LONG_SHARE)

    def spec(self, policy: str) -> str:
        """Return a policy as its spec string."""
        loop = f"add={time(self.add)},remove={time(self.remove)}"
        period = f"period={time(self.period)}"
        return {
            "RR": "rr",
            "RRCS": f"rr_separated:short={max(1, round(_SHORT_PROCESSORS * len(self.processors)))}",
            "DCA": f"dynamic:{loop},min=1,{period}",
            "COMBINED": f"dynamic_separated:{loop},{period}",
        }[policy]

    def rates(self) -> tuple[float, ...]:
        """Return the rate of each window, in requests a second."""
        return tuple(self.rate * 2**level for level in range(LEVELS))

    def to_dict(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {
            "processors": [*self.processors],
            "queue": QUEUE,
            "window_ns": self.window,
            "period_ns": self.period,
            "burst_ns": self.burst,
            "add_ns": self.add,
            "remove_ns": self.remove,
            "rates_per_s": [*self.rates()],
            "load": self.load,
            "iterations_per_unit": self.iterations,
            "units": {"short": self.short, "long": LONG, "unimodal": UNIMODAL},
            "policies": {policy: self.spec(policy) for policy in self.policies()},
        }


def plan(processors: Sequence[int], costs: Costs, window: int) -> Plan:
    """Return the runs for a machine.

    Parameters
    ----------
    processors : sequence of int
        Those that serve.
    costs : Costs
        What a request takes of one of them.
    window : int
        How long each rate is to last, in nanoseconds; it is rounded so that bursts fit.
    """
    many = len(processors)
    unimodal, passed = costs.service(UNIMODAL), costs.passed.of(UNIMODAL)
    load = _LOAD * unimodal / passed
    wanted = _BURST * unimodal * 1e9
    bursts = max(1, round(window / PERIODS / wanted))
    burst = max(_MICRO, round(window / PERIODS / bursts / _MICRO) * _MICRO)
    return Plan(
        processors=tuple(processors),
        iterations=costs.iterations,
        short=costs.units_of(unimodal / _RATIO),
        burst=burst,
        period=bursts * burst,
        rate=_LOAD * many / passed / 2 ** (LEVELS - 1),
        load=load,
        add=round(_threshold(many, load) * burst / _MICRO) * _MICRO,
    )


def workers(present: Sequence[int]) -> tuple[int, ...]:
    """Return the processors that serve, of those present.

    Up to two all of them do; of more the first is left to what receives and to the client, as in the lab.
    """
    there = sorted(present)
    return tuple(there if len(there) <= 2 else there[1 : MOST_PROCESSORS + 1])


def spare(present: Sequence[int]) -> int | None:
    """Return the processor that is left to the client, where there is one."""
    return min(present) if len(present) > 2 else None


def _threshold(processors: int, load: float) -> float:
    """Return ADD over the time between bursts.

    What DCA shows is the number of processors that it held just before the rate doubled for the last time.
    At half of the highest rate a burst that ``k`` of ``n`` processors share waits ``load n / 4k`` of the time
    between bursts, and bimodal traffic is lighter by its mean service. ADD lies between what makes unimodal
    traffic take all processors by then, and what leaves bimodal traffic with as few as it needs to be late;
    nearer to the former, since whatever else takes a processor's time adds to what is measured. At the lab's
    load that is 0.24 for seven, and the report's orderings hold from 0.20 to 0.26.
    """
    if processors == 1:
        return load / 2
    mean = (1 - _LONG_SHARE) / _RATIO + _LONG_SHARE
    late = max(1, math.floor(mean * processors))
    upper = load * processors / (4 * (processors - 1))
    lower = mean * load * processors / (4 * late)
    return math.cbrt(lower * upper * upper)
