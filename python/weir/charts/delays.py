"""The distribution of delay: the share of messages above a time, class by class."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Protocol

import altair as alt

from weir.charts.style import (
    Figure,
    axis,
    colour,
    dash,
    key,
    left_out,
    log_scale,
    shown,
    specification,
)
from weir.text import scale_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weir.charts.style import Compared
    from weir.result import Distribution, PortResult
    from weir.text import Scale

__all__ = ["DECADES", "Histogram", "ccdf", "ccdf_chart", "delays"]

_MOST_POINTS = 160
_CLASSES_SHOWN = 12
# Where a curve begins: once one item in twenty is out or, far to the left, half of them; before, it is flat.
_FLAT = 0.95
_HALF = 0.5
DECADES = 4.5
"""How far below the longest delay a curve may begin, in powers of ten."""


class Histogram(Protocol):
    """What the distributions of all models share."""

    @property
    def discipline(self) -> str: ...  # noqa: D102 - the fields of a distribution
    @property
    def low(self) -> tuple[float, ...]: ...  # noqa: D102
    @property
    def high(self) -> tuple[float, ...]: ...  # noqa: D102
    @property
    def count(self) -> tuple[int, ...]: ...  # noqa: D102


def delays(result: PortResult) -> Figure | None:
    """Return the distributions, one panel a class, or None where none was measured."""
    rows = [row for row in result.distributions if row.metric == result.metric and any(row.count)]
    classes = [each.name for each in result.classes if any(row.class_ == each.name for row in rows)]
    if not rows:
        return None
    scale = scale_for((row.low[len(row.low) // 2] for row in rows), result.time_unit)
    names = [name for name in shown(result) if any(row.discipline == name for row in rows)]
    drawn = [row for row in rows if row.discipline in names]
    points = {class_: _points(drawn, class_, scale) for class_ in classes[:_CLASSES_SHOWN]}
    if not any(points.values()):
        return None
    every = [point for each in points.values() for point in each]
    chart = ccdf_chart(result, result.metric, every, names, scale)
    panels = [
        (_class_title(class_), {**chart, "data": {"values": each}}) for class_, each in points.items() if each
    ]
    caption = (
        "The share of messages that wait longer than a given time, class by class; the lower the curve, the "
        "better. Both axes are logarithmic: a straight fall is a heavy tail."
        f"{left_out(result)}{_others(classes)}"
    )
    return Figure(f"Distribution of {result.metric}", caption, tuple(panels), key(result, names))


def _others(classes: list[str]) -> str:
    """Return a sentence that names the classes not drawn."""
    missing = classes[_CLASSES_SHOWN:]
    return f" Classes not drawn: {', '.join(missing)}." if missing else ""


def _class_title(name: str) -> str:
    return "all messages" if name == "all" else name


def _points(rows: list[Distribution], class_: str, scale: Scale) -> list[dict[str, Any]]:
    longest = max(row.high[-1] for row in rows)
    wanted = [row for row in rows if row.class_ == class_]
    return [point for row in wanted for point in ccdf(row, scale, longest / 10**DECADES)]


def ccdf(row: Histogram, scale: Scale, early: float) -> list[dict[str, Any]]:
    """Return the share of items above the upper edge of each bin, thinned to what a line needs."""
    total = sum(row.count)
    above = total
    points = []
    for high, count in zip(row.high, row.count, strict=True):
        above -= count
        if 0 < above < total * (_HALF if high < early else _FLAT) and high > 0:
            points.append((high / scale.factor, above / total))
    return [
        {"discipline": row.discipline, "delay": _digits(delay), "above": _digits(share)}
        for delay, share in _thinned(points)
    ]


def _thinned(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return at most some points, spread evenly over the logarithms of both axes."""
    if len(points) <= _MOST_POINTS:
        return points
    span_x = math.log(points[-1][0] / points[0][0]) or 1.0
    span_y = math.log(points[0][1] / points[-1][1]) or 1.0
    kept, x, y = [points[0]], *points[0]
    for delay, share in points[1:-1]:
        if math.log(delay / x) / span_x + math.log(y / share) / span_y >= 2 / _MOST_POINTS:
            kept.append((delay, share))
            x, y = delay, share
    return [*kept, points[-1]]


def ccdf_chart(
    result: Compared, metric: str, every: Sequence[dict[str, Any]], names: list[str], scale: Scale
) -> dict[str, Any]:
    """Return the chart for all panels: they share axes, so that they can be compared."""
    delays, shares = ([point[key] for point in every] for key in ("delay", "above"))
    chart = (
        alt.Chart()
        .mark_line(strokeWidth=2)
        .encode(
            x=alt.X("delay:Q", scale=log_scale(delays), axis=axis(f"{metric} {scale.header}", delays)),
            y=alt.Y(
                "above:Q",
                scale=log_scale([*shares, 1.0]),
                axis=alt.Axis(title="share above", format="~e", tickCount=5),
            ),
            color=colour(result, names),
            strokeDash=dash(result, names),
            tooltip=[
                "discipline:N",
                alt.Tooltip("delay:Q", format=".4~g"),
                alt.Tooltip("above:Q", format=".3~g"),
            ],
        )
    )
    return specification(chart, 240, [])


def _digits(value: float) -> float:
    return float(f"{value:.5g}")
