"""Checks of arguments that the compiled module takes as plain numbers."""

from __future__ import annotations

import math
import operator
import time
from typing import SupportsIndex

from weir.errors import ConfigError

__all__ = ["check_confidence", "nanoseconds", "waiting_time", "whole"]


def check_confidence(confidence: float) -> None:
    """Refuse a confidence that is none."""
    if not 0.5 <= confidence < 1:
        raise ConfigError(
            f"the confidence is {confidence}, must be from 0.5 to below 1", "write one such as 0.95"
        )


def nanoseconds(now: float | None) -> int:
    """Return ``now`` in nanoseconds; the monotonic clock where it is not given."""
    if now is None:
        return time.monotonic_ns()
    if not (math.isfinite(now) and 0 <= now < 1e10):
        raise ConfigError(
            f"now is {now}, must be from 0 to 1e10 seconds", "give seconds of one monotonic clock"
        )
    return round(now * 1e9)


def whole(name: str, value: SupportsIndex, low: int, high: int) -> int:
    """Return ``value``, a whole number of Python or NumPy, as an int if it is within the bounds."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise ConfigError(
            f"{name} is {value!r}, must be a whole number", "round it, or count in a smaller unit"
        )
    number = operator.index(value)
    if not low <= number <= high:
        raise ConfigError(f"{name} is {number}, must be from {low} to {high}", "count in another unit")
    return number


def waiting_time(timeout: float | None) -> float | None:
    """Return ``timeout`` in seconds, if it is a time to wait; None is without end."""
    if timeout is not None and not timeout >= 0:
        raise ConfigError(
            f"timeout is {timeout}, must be at least 0 seconds", "leave it out to wait for ever"
        )
    return timeout
