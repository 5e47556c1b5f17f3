"""What a request takes of a processor: a fixed part and one for each unit of service, from saturated ones.

=============  ====================================================================================
Source         the method of Rettberg, BBN Report 5285, 1983, section 4.2: `weir.estimate_overhead`
Model          ``t = M B + n s``: the thread of a queue runs for ``t`` of each second and spends
               ``B`` of it on each of ``M`` units of service and ``s`` on each of ``n`` requests
Settings       several sizes of request, each sent faster than it can be served
Besides        the same fit with the time that passes, ``t = 1``: what client and kernel take away
               from saturated processors is in it, so that it says how much these can serve
Units          seconds; sizes of requests in units of service
=============  ====================================================================================
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from weir.errors import WeirError
from weir.overhead import Counters, estimate_overhead

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weir.overhead import Duration

__all__ = ["SIZES", "Costs", "Fit", "Guess", "Setting", "estimate", "guess"]

SIZES = (50, 75, 100, 150, 200, 250)
"""Units of service of the settings."""
_FEWEST = 3
"""Settings from which an estimate has an interval."""
_MOST_ITERATIONS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What was counted while requests of one size came faster than they could be served."""

    units: int
    served: int
    seconds: float
    processors: int
    saturated: bool
    """Whether requests waited at each processor at both ends."""
    ran: float
    """The part of the time that the threads of the queues ran, as a mean over processors."""

    def counters(self, run_time: float) -> Counters:
        """Return the same as the method takes it, for one processor."""
        requests = self.served / self.seconds / self.processors
        return Counters(run_time=min(1.0, run_time), messages=requests * self.units, schedulings=requests)

    @property
    def passed(self) -> float:
        """Seconds that pass at a processor for each request."""
        return self.seconds * self.processors / self.served

    @property
    def service(self) -> float:
        """Seconds that the thread of a queue runs for each request."""
        return self.ran * self.passed


@dataclass(frozen=True, slots=True)
class Fit:
    """Times of a request: a fixed part, and one for each unit of service."""

    fixed: Duration
    unit: Duration

    def of(self, units: int) -> float:
        """Return the time of a request of a size, in seconds."""
        return self.fixed.value + units * self.unit.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """What a request takes of a processor."""

    iterations: int
    """Of the loop, for each unit of service."""
    served: Fit
    """By the run time of the threads that serve."""
    passed: Fit
    """By the time that passes while processors are saturated."""
    settings: tuple[Setting, ...]

    def service(self, units: int) -> float:
        """Return what a request of a size takes of the thread that serves it, in seconds."""
        return self.served.of(units)

    def units_of(self, service: float) -> int:
        """Return the size of the request that takes the given seconds, as near as can be; at least 1."""
        return max(1, round((service - self.served.fixed.value) / self.served.unit.value))

    def to_dict(self) -> dict[str, Any]:
        """Return it as a JSON object; times are in seconds."""
        return {
            "unit": "s",
            "iterations_per_unit": self.iterations,
            "served": asdict(self.served),
            "passed": asdict(self.passed),
            "settings": [
                {**asdict(each), "service": each.service, "passed": each.passed} for each in self.settings
            ],
        }


def estimate(settings: Sequence[Setting], iterations: int) -> Costs:
    """Estimate costs from settings; those that were not saturated are left out.

    Raises
    ------
    WeirError
        If fewer than three were saturated, or a request costs less the larger it is.
    """
    kept = [each for each in settings if each.saturated and each.served]
    if len(kept) < _FEWEST:
        message = f"{len(kept)} of {len(settings)} settings saturated the processors, must be {_FEWEST}"
        raise WeirError(message, "give a longer --service, so that the client can send enough")
    served = _fit([each.counters(each.ran) for each in kept])
    passed = _fit([each.counters(1.0) for each in kept])
    return Costs(iterations=iterations, served=served, passed=passed, settings=tuple(settings))


def _fit(rows: Sequence[Counters]) -> Fit:
    found = estimate_overhead(rows)
    made = Fit(found.overhead, found.message_time)
    if made.unit.value <= 0 or made.of(min(SIZES)) <= 0:
        message = f"a unit of service takes {made.unit.value * 1e9:.3g} ns, must be more than 0"
        raise WeirError(message, "run it again with nothing else on the machine, or with a longer --service")
    return made


@dataclass(frozen=True, slots=True)
class Guess:
    """Costs before they are measured, by what the threads of the queues ran for: fixed, and an iteration."""

    fixed: float
    iteration: float

    def service(self, units: int, iterations: int) -> float:
        """Return what a request may take, in seconds."""
        return self.fixed + units * iterations * self.iteration

    def iterations(self, service: float, units: int) -> int:
        """Return how many iterations a unit needs for a request of given units to take given seconds."""
        wanted = (service - self.fixed) / (units * self.iteration)
        return min(max(1, round(wanted)), _MOST_ITERATIONS)


def guess(few: tuple[int, float], many: tuple[int, float]) -> Guess:
    """Return costs from two pairs of iterations and seconds a request.

    Raises
    ------
    WeirError
        If more iterations did not take longer.
    """
    slope = (many[1] - few[1]) / (many[0] - few[0])
    if slope <= 0:
        message = f"{many[0]:,} iterations took {many[1]:.3g} s, and {few[0]:,} took {few[1]:.3g} s"
        raise WeirError(message, "run it again with nothing else on the machine")
    return Guess(max(0.0, few[1] - few[0] * slope), slope)
