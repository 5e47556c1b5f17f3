"""The picture of a fit: the share of values above each, of the sample and of the laws, both axes logarithmic.

A drawing of its own, in SVG, that needs no package; colours and dashes are those of the reports' charts.
"""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weir.fitting import Fits

__all__ = ["page", "svg"]

_WIDTH, _HEIGHT, _LEFT, _TOP, _RIGHT, _BOTTOM = 720, 440, 70, 20, 20, 60
_COLOURS = (("#0072b2", "none"), ("#d55e00", "6 3"), ("#009e73", "2 2"))
_INK, _MUTED = "#000000", "#dddddd"
_LEAST = 1e-12
"""Of a share: what is below lies beyond every axis."""
_BEGIN = 0.999
"""The share of values above where the drawing begins."""
_FEW = 2
_FONT = 'font-family="sans-serif" font-size="12"'


class _Axis:
    """A logarithmic axis from one pixel to another."""

    def __init__(self, low: float, high: float, begin: float, end: float) -> None:
        self.low, self.high = low, max(high, low * 1.001)
        self.begin, self.end = begin, end

    def at(self, value: float) -> float:
        part = math.log(value / self.low) / math.log(self.high / self.low)
        return self.begin + part * (self.end - self.begin)

    def ticks(self) -> list[float]:
        """Powers of ten; with 2 and 5 between them where there are few."""
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))

        def of(steps: Sequence[int]) -> list[float]:
            all_of_them = (step * 10.0**power for power in range(first, last + 1) for step in steps)
            return [tick for tick in all_of_them if self.low <= tick <= self.high]

        powers = of((1,))
        return powers if len(powers) > _FEW else of((1, 2, 5))


def svg(fits: Fits, shown: int = 3) -> str:
    """Return the picture of the sample and the first laws."""
    values = [value for value, _ in fits.survival]
    # The very least values would take most of the axis.
    least = next((value for value, share in fits.survival if share <= _BEGIN), values[0])
    across = _Axis(least, values[-1], _LEFT, _WIDTH - _RIGHT)
    down = _Axis(0.5 / fits.count, 1.0, _HEIGHT - _BOTTOM, _TOP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" {_FONT}>',
        f"<title>{escape(_title(fits))}</title>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>',
        *_grid(across, down, fits),
        _path(_steps(fits, across, down), _INK, "none", 1.5),
    ]
    for place, (law, (colour, dash)) in enumerate(zip(fits.fits[:shown], _COLOURS, strict=False)):
        pairs = zip(values, law.survival, strict=True)
        inside = [
            (across.at(value), down.at(share))
            for value, share in pairs
            if share > max(_LEAST, down.low) and value >= least
        ]
        parts.append(_path(inside, colour, dash, 2))
        parts.extend(_key(place + 1, law.name, colour, dash))
    parts.extend(_key(0, "sample", _INK, "none"))
    return "\n".join([*parts, "</svg>", ""])


def page(fits: Fits, shown: int = 3) -> str:
    """Return the picture as an HTML page of its own."""
    title = escape(_title(fits))
    style = "<style>body {font-family: sans-serif} svg {max-width: 720px}</style></head>"
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>\n'
        f"{style}<body><h1>{title}</h1>\n{svg(fits, shown)}</body></html>\n"
    )


def _title(fits: Fits) -> str:
    return f"Share of values above each: {fits.column}"


def _steps(fits: Fits, across: _Axis, down: _Axis) -> list[tuple[float, float]]:
    return [(across.at(value), down.at(share)) for value, share in fits.survival if value >= across.low]


def _path(points: Sequence[tuple[float, float]], colour: str, dash: str, width: float) -> str:
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return (
        f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="{width}" '
        f'stroke-dasharray="{dash}"/>'
    )


def _grid(across: _Axis, down: _Axis, fits: Fits) -> Iterator[str]:
    bottom, right = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
    for tick in across.ticks():
        x = across.at(tick)
        yield f'<line x1="{x:.1f}" y1="{_TOP}" x2="{x:.1f}" y2="{bottom}" stroke="{_MUTED}"/>'
        yield f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{tick:g}</text>'
    for tick in down.ticks():
        y = down.at(tick)
        yield f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" stroke="{_MUTED}"/>'
        yield f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>'
    middle = (_LEFT + right) / 2
    name = escape(f"{fits.column} ({fits.unit})")
    yield f'<text x="{middle:.1f}" y="{_HEIGHT - 18}" text-anchor="middle">{name}</text>'
    upright = (_TOP + bottom) / 2
    yield (
        f'<text x="16" y="{upright:.1f}" text-anchor="middle" '
        f'transform="rotate(-90 16 {upright:.1f})">share of values above</text>'
    )


def _key(row: int, name: str, colour: str, dash: str) -> list[str]:
    x, y = _LEFT + 14, _HEIGHT - _BOTTOM - 14 - 18 * (3 - row)
    return [
        _path(((x, y), (x + 28, y)), colour, dash, 2),
        f'<text x="{x + 36}" y="{y + 4}">{escape(name)}</text>',
    ]
