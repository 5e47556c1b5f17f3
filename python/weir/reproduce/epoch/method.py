"""The report's method of measurement, and a closed form for the rate of two processes in turn.

=============  ====================================================================================
Source         Rettberg, QTR 18, section 4; equations 1 to 3 are `weir.estimate_overhead`
Model          ``t = M * B + n * s``: run time is messages times their cost, and schedulings times theirs
Units          ``t`` ms/s, ``M`` 1/s, ``B`` ms, ``n`` 1/s, ``s`` ms; microseconds where it says so
Sensitive      ``ds/dB = -M/n``: ``s`` is read where there are many schedulings
=============  ====================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["PER_ROUND", "Setting", "in_turn", "message_time"]

PER_ROUND = 0.219 + 0.119 + 0.016
"""Milliseconds that a round of generator and sink costs: the end of a slice, a wait, a post."""
_TURN = 0.219
"""Of a slice, what its end costs."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What was counted of a process: run time (ms/s), messages and schedulings (1/s), over some seconds."""

    run_time: float
    messages: float
    schedulings: float
    seconds: float

    def overhead(self, per_message: float) -> float:
        """Return microseconds a scheduling, where a message takes ``per_message`` ms (equation 2)."""
        return 1e3 * (self.run_time - self.messages * per_message) / self.schedulings

    @property
    def sensitivity(self) -> float:
        """By how much `overhead` falls when a message takes one unit more."""
        return self.messages / self.schedulings


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


def message_time(few: Setting, many: Setting) -> float:
    """Return milliseconds a message, from settings with few schedulings and with many (equation 3)."""
    crossed = many.schedulings * few.messages - few.schedulings * many.messages
    return (many.schedulings * few.run_time - few.schedulings * many.run_time) / crossed
