"""Numbers as text: one scale a column, digits as the interval supports, reasons for what is absent."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "Scale",
    "absent",
    "be",
    "number",
    "percent",
    "plural",
    "quantity",
    "reduction",
    "scale_for",
    "share",
    "value_with_margin",
]

_SECONDS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_BYTES = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B"))
_BITS = ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s"))
_NOISE = 1e-12  # of a value: an interval that is narrower is rounding
_LONGEST_INTEGER = 15  # digits that a float holds exactly


@dataclass(frozen=True, slots=True)
class Scale:
    """A unit for a column: values are divided by ``factor`` and carry ``unit``."""

    factor: float
    unit: str

    @property
    def header(self) -> str:
        """The unit as a column's header shows it."""
        return f"({self.unit})" if self.unit else ""


def scale_for(values: Iterable[float | None], unit: str) -> Scale:
    """Return the scale in which the median of ``values`` reads best; ``unit`` is that of the values."""
    known = sorted(abs(value) for value in values if value)
    middle = known[len(known) // 2] if known else 1.0
    steps = {"s": _SECONDS, "B": _BYTES, "bit/s": _BITS}.get(unit)
    if steps is None:
        return Scale(1.0, "" if unit == "1" else unit)
    factor, name = next((step for step in steps if middle >= step[0]), steps[-1])
    return Scale(factor, name)


def number(value: float, digits: int = 4) -> str:
    """Return ``value`` with ``digits`` significant digits, never in scientific notation below 1e15."""
    if value == 0:
        return "0"
    magnitude = math.floor(math.log10(abs(value))) + 1
    if not -_LONGEST_INTEGER // 2 < magnitude <= _LONGEST_INTEGER:
        return f"{value:.{digits - 1}e}"
    decimals = max(0, digits - magnitude)
    return f"{value:,.{decimals}f}" if magnitude > digits else f"{value:.{decimals}f}"


def value_with_margin(value: float, low: float | None, high: float | None) -> str:
    """Return ``value ± margin``, the margin with two digits and the value to the same place.

    The margin is half the interval; of one that is cut off at what is possible, the longer side. Where
    nothing varies there is none.
    """
    if low is None or high is None:
        return number(value)
    half = max((high - low) / 2, high - value, value - low)
    if half <= _NOISE * abs(value):
        return number(value)
    decimals = max(0, 1 - math.floor(math.log10(half)))
    return f"{value:,.{decimals}f} ±{half:,.{decimals}f}"


def percent(share: float, *, signed: bool = False) -> str:
    """Return a share as per cent, with one decimal below ten."""
    size = abs(share) * 100
    decimals = 0 if size >= 10 else 1
    text = f"{share * 100:+.{decimals}f}" if signed else f"{share * 100:.{decimals}f}"
    return f"{text.replace('-', '−')} %"


def reduction(less: float, low: float | None, high: float | None) -> str:
    """Return by which share a value is below another, with its interval where that says more.

    A share that is near all of it has as many digits as tell it from that.

    Examples
    --------
    >>> reduction(0.42, 0.40, 0.44), reduction(0.9996, 0.99951, 0.99969)
    ('42 % (95 % interval 40 to 44 %)', '99.96 % (95 % interval 99.95 to 99.97 %)')
    >>> reduction(0.9999996, 0.9999995, 0.9999997)
    'more than 99.99 %'
    """
    decimals = _decimals(less)
    if less < 1 and round(less, 2 + decimals) == 1:
        return f"more than {(1 - 10.0 ** -(decimals + 2)) * 100:.{decimals}f} %"
    told = _percent(less, decimals)
    if low is None or high is None:
        return told
    ends = [_percent(end, decimals) for end in (low, high)]
    if ends[0] == ends[1]:
        return told
    return f"{told} (95 % interval {ends[0].removesuffix(' %')} to {ends[1]})"


_MOST_DECIMALS = 2


def _decimals(share: float) -> int:
    """Return how many decimals tell a share, in per cent, from none and from all of it."""
    if not 0 < share < 1:
        return 0
    if share < 0.1:
        return 1
    return min(_MOST_DECIMALS, max(0, -math.floor(math.log10(1 - share)) - 2 + (share > 0.995)))


def _percent(share: float, decimals: int) -> str:
    return f"{share * 100:.{decimals}f} %".replace("-", "−")


def share(value: float) -> str:
    """Return a share as per cent with three digits, so that rare losses do not read as none."""
    return f"{number(value * 100, 3)} %"


def quantity(value: float, unit: str) -> str:
    """Return one value with the unit that suits it."""
    scale = scale_for([value], unit)
    return f"{number(value / scale.factor)} {scale.unit}".rstrip()


def absent(reason: str | None) -> str:
    """Return what stands for an absent value."""
    return f"n/a ({reason or 'not measured'})"


def be(count: int) -> str:
    """Return the verb that goes with a count."""
    return "is" if count == 1 else "are"


def plural(count: int, noun: str) -> str:
    """Return a count with its noun."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}{'es' if noun.endswith('s') else 's'}"
