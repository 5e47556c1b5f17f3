"""The marks of a fabric's charts: lines against load with intervals, and bars of channels at one load."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import altair as alt

from weir.charts.style import DASHES, axis, is_wide, left_out, log_scale, shown, specification
from weir.fabric.rows import FabricEstimate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from weir.fabric.result import FabricResult
    from weir.fabric.rows import FabricDifference
    from weir.text import Scale

__all__ = [
    "Axes",
    "Lines",
    "Named",
    "Point",
    "axes_of",
    "bar_chart",
    "by_discipline",
    "line_chart",
    "lines_of",
    "point_of",
]

Point = dict[str, Any]
_COLOURS = ("#009e73", "#d55e00", "#56b4e9", "#cc79a7", "#7f7f7f", "#b8a800")


@dataclass(frozen=True, slots=True)
class Lines:
    """How the lines of a chart look: the encodings by name, and the key of the figure."""

    names: tuple[str, ...]
    colour: alt.Color
    dash: alt.StrokeDash
    key: tuple[tuple[str, str, str], ...]


def lines_of(field: str, styles: Mapping[str, tuple[str, list[int]]]) -> Lines:
    """Return the lines of a chart from colour and dash by name; ``field`` says whose names they are."""
    names = list(styles)
    colours = alt.Scale(domain=names, range=[shade for shade, _ in styles.values()])
    dashes = alt.Scale(domain=names, range=[marks for _, marks in styles.values()])
    return Lines(
        tuple(names),
        alt.Color(f"{field}:N", scale=colours, sort=names, legend=None),
        alt.StrokeDash(f"{field}:N", scale=dashes, sort=names, legend=None),
        tuple((name, shade, " ".join(map(str, marks))) for name, (shade, marks) in styles.items()),
    )


@dataclass(frozen=True, slots=True)
class Named:
    """Disciplines by their labels, as charts name them."""

    disciplines: tuple[str, ...]


def by_discipline(labels: Mapping[str, str]) -> tuple[Lines, str]:
    """Return the lines of disciplines, given their labels, and a sentence on those not drawn."""
    named = Named(tuple(labels.values()))
    every = {
        name: (_COLOURS[place % len(_COLOURS)], DASHES[place % len(DASHES)])
        for place, name in enumerate(named.disciplines)
    }
    return lines_of("discipline", {name: every[name] for name in shown(named)}), left_out(named)


def point_of(
    result: FabricResult, row: FabricEstimate | FabricDifference | None, scale: Scale
) -> list[Point]:
    """Return a row as a point of a chart; none where there is no value.

    No latency or share is below zero, and there its interval ends too. Differences have both signs.
    """
    if row is None or row.value is None:
        return []
    low, high = (row.value if end is None else end for end in (row.low, row.high))
    if isinstance(row, FabricEstimate):
        low = max(low, 0.0)
    return [
        {
            "discipline": result.labels[row.discipline],
            "channel": row.channel,
            "load": row.load,
            "value": _digits(row.value / scale.factor),
            "low": _digits(low / scale.factor),
            "high": _digits(high / scale.factor),
        }
    ]


def _digits(value: float) -> float:
    return float(f"{value:.5g}")


@dataclass(frozen=True, slots=True)
class Axes:
    """The axes that the panels of a figure share."""

    x: alt.X
    scale: alt.Scale
    axis: alt.Axis


def axes_of(every: Sequence[Point], title: str, *, zero: bool = False, near: bool = False) -> Axes:
    """Return axes for all points: with zero, near the values, or logarithmic where these span much."""
    loads = sorted({point["load"] for point in every})
    ends = [point[end] for point in every for end in ("low", "high")]
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
    tooltip = [
        "discipline:N",
        "channel:N",
        "load:Q",
        *(alt.Tooltip(f"{name}:Q", format=".4~g") for name in ("value", "low", "high")),
    ]
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
        layers.insert(0, base.mark_line(strokeWidth=1, color="#888888").encode(y=zero, color=alt.Undefined))
    values = [{**point, "thin": True} for point in offered or ()] + (
        [{**point, "zero": 0} for point in points] if rule else points
    )
    return specification(alt.layer(*layers), 220, values)


def bar_chart(
    names: Sequence[str], points: list[Point], lines: Lines, title: str, field: str = "channel"
) -> dict[str, Any]:
    """Return bars of the disciplines for each of ``names``, with intervals; ``field`` says whose.

    What has no bar to be seen is written where it would begin: the ``label`` of a point, if it has one.
    """
    kept = [name for name in names if any(point[field] == name for point in points)]
    drawn = [name for name in lines.names if any(point["discipline"] == name for point in points)]
    base = alt.Chart().encode(
        y=alt.Y(f"{field}:N", sort=kept, axis=alt.Axis(title=None, labelLimit=190)),
        yOffset=alt.YOffset("discipline:N", sort=drawn),
    )
    ends = [point[end] for point in points for end in ("low", "high")]
    low, high = min([0.0, *ends]), max([0.0, *ends])
    pad = 0.02 * ((high - low) or 1.0)
    scale = alt.Scale(domain=[low - pad if low < 0 else 0.0, high + pad], nice=False)
    x = alt.X("value:Q", scale=scale, axis=alt.Axis(title=title, tickCount=6))
    bars = base.mark_bar(opacity=0.85, height={"band": 0.8}).encode(
        x=x,
        color=lines.colour,
        tooltip=[
            f"{field}:N",
            "discipline:N",
            *(alt.Tooltip(f"{name}:Q", format=".4~g") for name in ("value", "low", "high")),
        ],
    )
    spans = base.mark_rule(strokeWidth=1.5, color="#888888").encode(
        x=alt.X("low:Q", scale=scale), x2="high:Q"
    )
    layers = [bars, spans]
    if any("label" in point for point in points):
        told = base.transform_filter("isValid(datum.label)")
        words = told.mark_text(align="left", dx=4, dy=5, fontSize=10, color="#888888")
        layers.append(words.encode(x=alt.X("value:Q", scale=scale), text="label:N"))
    height = max(80, (13 * len(drawn) + 8) * len(kept))
    return specification(alt.layer(*layers), height, points)
