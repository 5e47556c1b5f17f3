"""The marks of a fabric's charts: lines against load with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import altair as alt

from weir.models.fabric.rows import FabricEstimate
from weir.results.marks import ends_of, span, values_told
from weir.results.style import MUTED, axis, is_wide, log_scale, specification

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weir.models.fabric.result import FabricResult
    from weir.models.fabric.rows import FabricDifference
    from weir.results.marks import Lines, Point
    from weir.text import Scale


def point_of(
    result: FabricResult, row: FabricEstimate | FabricDifference | None, scale: Scale
) -> list[Point]:
    """Return a row as a point of a chart; none where there is no value.

    No latency or share is below zero, and there its interval ends too. Differences have both signs.
    """
    if row is None or row.value is None:
        return []
    return [
        {
            "discipline": result.labels[row.discipline],
            "channel": row.channel,
            "load": row.load,
            **span(row, scale, cut=isinstance(row, FabricEstimate)),
        }
    ]


@dataclass(frozen=True, slots=True)
class Axes:
    """The axes that the panels of a figure share."""

    x: alt.X
    scale: alt.Scale
    axis: alt.Axis


def axes_of(every: Sequence[Point], title: str, *, zero: bool = False, near: bool = False) -> Axes:
    """Return axes for all points: with zero, near the values, or logarithmic where these span much."""
    loads = sorted({point["load"] for point in every})
    ends = ends_of(every)
    margin = 0.04 * ((loads[-1] - loads[0]) or 1.0)
    x = alt.X(
        "load:Q",
        scale=alt.Scale(domain=[loads[0] - margin, loads[-1] + margin], nice=False),
        axis=alt.Axis(title="load", tickCount=6, format="~g"),
    )
    if not (zero or near) and is_wide(ends):
        return Axes(x, log_scale(ends), axis(title, ends))
    floor = [] if near else [0.0]
    low, high = min([*floor, *ends]), max([*floor, *ends])
    pad = 0.04 * ((high - low) or 1.0)
    domain = [low - pad if near or low < 0 else 0.0, high + pad]
    return Axes(x, alt.Scale(domain=domain, nice=False), alt.Axis(title=title, tickCount=6))


def line_chart(
    points: list[Point], lines: Lines, axes: Axes, *, offered: list[Point] | None = None, rule: bool = False
) -> dict[str, Any]:
    """Return lines with intervals at the points, thin lines of what is offered, and a rule at zero."""
    base = alt.Chart().encode(x=axes.x, color=lines.colour)
    known = base.transform_filter("datum.thin != true")
    y = alt.Y("value:Q", scale=axes.scale, axis=axes.axis)
    tooltip = ["discipline:N", "channel:N", "load:Q", *values_told()]
    layers = [
        known.mark_rule(strokeWidth=2.5, opacity=0.8).encode(
            y=alt.Y("low:Q", scale=axes.scale, axis=axes.axis), y2="high:Q"
        ),
        known.mark_line(strokeWidth=2).encode(y=y, strokeDash=lines.dash),
        known.mark_point(filled=True, size=28, opacity=1).encode(y=y, tooltip=tooltip),
    ]
    if offered:
        thin = base.transform_filter("datum.thin == true")
        layers.insert(0, thin.mark_line(strokeWidth=0.9, strokeDash=[2, 2], opacity=0.75).encode(y=y))
    if rule:
        zero = alt.Y("zero:Q", scale=axes.scale, axis=axes.axis)
        layers.insert(0, base.mark_line(strokeWidth=1, color=MUTED).encode(y=zero, color=alt.Undefined))
    values = [{**point, "thin": True} for point in offered or ()] + (
        [{**point, "zero": 0} for point in points] if rule else points
    )
    return specification(alt.layer(*layers), 220, values)
