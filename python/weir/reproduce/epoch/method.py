"""The report's method of measurement, and a closed form for the rate of two processes in turn.

=============  ====================================================================================
Source         Rettberg, QTR 18, section 4; equations 1 to 3 are `weir.estimate_overhead`
Model          ``t = M B + n s``: run time is messages times their cost, and schedulings times theirs
Units          figures are in ms a message and in us a scheduling
Errors         messages and schedulings are counted whole: a window's ends cost up to one of each
Sensitive      ``ds/dB = -M/n``: ``s`` is read where there are many schedulings
=============  ====================================================================================
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weir.overhead import Counters, estimate_overhead
from weir.reproduce.engine.evidence import Measured

if TYPE_CHECKING:
    from weir.overhead import Duration

PER_ROUND = 0.219 + 0.119 + 0.016
"""Milliseconds that a round of generator and sink costs: the end of a slice, a wait, a post."""
_TURN = 0.219
"""Of a slice, what its end costs."""
_COUNT = 1 / math.sqrt(6)
"""Standard error of a count between two instants that fall anywhere between events."""


def _measured(found: Duration, unit: float) -> Measured:
    """Return a time in a unit, of which ``unit`` make a second."""
    low, high = (found.value if end is None else end for end in (found.low, found.high))
    return Measured(unit * found.value, unit * low, unit * high)


@dataclass(frozen=True, slots=True)
class Setting:
    """What was counted of a process: run time (ms/s), messages and schedulings (1/s), over some seconds."""

    run_time: float
    messages: float
    schedulings: float
    seconds: float

    @property
    def counters(self) -> Counters:
        """The same as the method takes it."""
        return Counters(
            run_time=1e-3 * self.run_time,
            messages=self.messages,
            schedulings=self.schedulings,
            messages_error=_COUNT / self.seconds,
            schedulings_error=_COUNT / self.seconds,
        )

    def overhead(self, per_message: float) -> Measured:
        """Return microseconds a scheduling, where a message takes ``per_message`` ms (equation 2)."""
        return _measured(estimate_overhead([self.counters], 1e-3 * per_message).overhead, 1e6)

    @property
    def sensitivity(self) -> float:
        """By how much `overhead` falls when a message takes one unit more."""
        return self.messages / self.schedulings


def message_time(few: Setting, many: Setting) -> Measured:
    """Return milliseconds a message, from settings with few schedulings and with many (equation 3)."""
    return _measured(estimate_overhead([few.counters, many.counters]).message_time, 1e3)


def in_turn(available: float, first: float, second: float, length: float) -> float:
    """Return messages a second of two processes that pass them on in turn.

    Parameters
    ----------
    available : float
        Milliseconds a second that they have.
    first, second : float
        What a message takes each of them, in ms.
    length : float
        The slice of the first, in ms; the second waits when it has taken all.
    """
    return available / (first + second + PER_ROUND * first / (length - _TURN))
