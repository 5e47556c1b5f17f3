"""Progress of a run on the error output: how much is done, at which rate, and how long it still takes.

On a terminal it is one line that is rewritten; nothing is shown in the first second. Elsewhere, as in a log,
it is a line of its own from time to time, and nothing in the first seconds.
"""

from __future__ import annotations

import math
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Progress", "line", "span"]

_QUIET = 1.0  # seconds before the first line
_PERIOD = 0.2  # seconds between two
_QUIET_LOG = 30.0  # seconds before the first line of a log
_PERIOD_LOG = 30.0  # seconds between two
_PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


class Progress:
    """Call it with what is done so far, in ``unit`` times ``scale``; ``name`` says in a log what it is of."""

    def __init__(self, unit: str = "packets", scale: float = 1.0, name: str = "weir") -> None:
        self.unit = unit
        self.scale = scale
        self.name = name
        self._began = time.monotonic()
        self._shown = -math.inf
        self._width = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._width:
            sys.stderr.write(f"\r{' ' * self._width}\r")
            sys.stderr.flush()

    def __call__(self, state: Mapping[str, Any]) -> None:
        """Show ``done`` of ``total`` and a ``note``; without a total, share and rest are unknown."""
        now, rewrites = time.monotonic(), sys.stderr.isatty()
        quiet, period = (_QUIET, _PERIOD) if rewrites else (_QUIET_LOG, _PERIOD_LOG)
        if now - self._began < quiet or now - self._shown < period:
            return
        self._shown = now
        done, total = (value / self.scale for value in (state["done"], state.get("total") or 0))
        text = line(done, total, now - self._began, self.unit)
        text = "  ".join(filter(None, (text, state.get("note"))))
        if not rewrites:
            with suppress(OSError):  # a log that cannot be written stops no run
                sys.stderr.write(f"{self.name}: {text.strip()}\n")
                sys.stderr.flush()
            return
        sys.stderr.write(f"\r{text.ljust(self._width)}")
        sys.stderr.flush()
        self._width = max(self._width, len(text))


def line(done: float, total: float, seconds: float, unit: str) -> str:
    """Return one line of progress, such as ``42 %  84 M packets  120 M/s  1 s left``."""
    rate = done / seconds if seconds > 0 else 0.0
    parts = [f"{_short(done)} {unit}", _a_second(rate)]
    if total > 0:
        parts.insert(0, f"{min(1.0, done / total):4.0%}")
    if total > 0 and rate > 0:
        parts.append(f"{span(max(0.0, total - done) / rate)} left")
    return "  ".join(parts)


def _a_second(rate: float) -> str:
    text = _short(rate)
    return f"{text}/s" if text[-1].isalpha() else f"{text} /s"


def _short(value: float) -> str:
    for factor, prefix in _PREFIXES:
        if value >= factor:
            return f"{value / factor:.3g} {prefix}"
    return f"{value:.3g}"


def span(seconds: float) -> str:
    """Return a time to wait, such as ``2 min 5 s``."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
