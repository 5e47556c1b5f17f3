"""Checks of arguments that the compiled module takes as plain numbers."""

from __future__ import annotations

import math
import time

from weir.errors import ConfigError

__all__ = ["check_confidence", "nanoseconds", "whole"]


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


def whole(name: str, value: int, low: int, high: int) -> int:
    """Return ``value`` if it is a whole number within the bounds."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise ConfigError(
            f"{name} is {value!r}, must be a whole number", "round it, or count in a smaller unit"
        )
    if not low <= value <= high:
        raise ConfigError(f"{name} is {value}, must be from {low} to {high}", "count in another unit")
    return value
