"""Whether the wall clock was set while packets were measured.

Logs are written in ``CLOCK_REALTIME``: a packet's delay is the difference of two of its readings, and false
by as much as somebody has set it in between. ``CLOCK_MONOTONIC`` is never set, so that a change of the
distance between the two tells. A clock that is only slewed, as by NTP, changes it slowly and harms nothing:
a step is a change between two looks that is faster than that.

Source: Linux, clock_gettime(2), adjtimex(2). Work: some readings a look. Units: nanoseconds.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Reading", "Watch", "read"]

_TRIES = 5
_LEAST = 100_000
"""A smaller step is lost in the uncertainty of readings, and is below what a report shows."""
_SLEWED = 1000
"""Nobody slews by more than one part in this many: the kernel by half of that."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How far the wall clock was ahead, and when."""

    at: int
    ahead: int
    doubt: int
    """The reading is that much off at most."""


def read() -> Reading:
    """Read both clocks, as close together as some tries bring them."""
    return min((_read() for _ in range(_TRIES)), key=lambda reading: reading.doubt)


def _read() -> Reading:
    before = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    wall = time.clock_gettime_ns(time.CLOCK_REALTIME)
    after = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    middle = (before + after) // 2
    return Reading(middle, wall - middle, (after - before + 1) // 2)


@dataclass(slots=True)
class Watch:
    """Looks at the clocks now and then, and remembers the largest step."""

    read: Callable[[], Reading] = read
    step: int = 0
    """By how much the wall clock was set at most between two looks; 0 if it was not."""
    _last: Reading = field(init=False)

    def __post_init__(self) -> None:
        self._last = self.read()

    def look(self) -> None:
        """Compare with the look before."""
        now, last = self.read(), self._last
        self._last = now
        change = now.ahead - last.ahead
        allowed = _LEAST + (now.at - last.at) // _SLEWED + now.doubt + last.doubt
        if abs(change) > max(allowed, abs(self.step)):
            self.step = change
