"""The marks that charts of several models share: lines and bars of disciplines, and distributions."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

import altair as alt

from weir.results.style import (
    MUTED,
    SHAPES,
    Figure,
    axis,
    is_wide,
    left_out,
    log_scale,
    share_axis,
    shown,
    specification,
    styles,
)
from weir.text import scale_for

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

    from weir.results.rows import Histogram, Measured, Of
    from weir.results.style import Style
    from weir.text import Scale

Point = dict[str, Any]
_MOST_POINTS = 160
_MOST_PANELS = 12
# Where a curve begins: once one item in twenty is out or, far to the left, half of them; before, it is flat.
_FLAT = 0.95
_HALF = 0.5
_DECADES = 4.5
"""How far below the longest delay a curve may begin, in powers of ten."""

ARow = TypeVar("ARow", bound="Of")
AHistogram = TypeVar("AHistogram", bound="Histogram")


def digits(value: float) -> float:
    """Return a value with as many digits as a chart shows."""
    return float(f"{value:.5g}")


def span(row: Measured, scale: Scale, *, cut: bool = True) -> dict[str, float]:
    """Return value and interval of a row for a chart; ``cut``: below zero there is nothing."""
    value = row.value or 0.0
    low, high = (value if end is None else end for end in (row.low, row.high))
    ends = {"value": value, "low": max(0.0, low) if cut else low, "high": high}
    return {name: digits(end / scale.factor) for name, end in ends.items()}


def ends_of(points: Iterable[Point]) -> list[float]:
    """Return the ends of all intervals."""
    return [point[end] for point in points for end in ("low", "high")]


def values_told(*names: str) -> list[alt.Tooltip]:
    """Return what a tooltip says of figures: the value and its interval if no others are named."""
    return [alt.Tooltip(f"{name}:Q", format=".4~g") for name in names or ("value", "low", "high")]


def panelled(
    title: str,
    caption: str,
    panels: Iterable[tuple[str, list[Point]]],
    draw: Callable[[list[Point], list[Point]], dict[str, Any]],
    key: tuple[tuple[str, str, str], ...] = (),
) -> Figure | None:
    """Return a figure of those panels, by title, that have points; None where none has.

    ``draw`` makes the chart of a panel from its points and those of all, whose axes it may share.
    """
    held = [(name, points) for name, points in panels if points]
    every = [point for _, points in held for point in points]
    drawn = tuple((name, draw(points, every)) for name, points in held)
    return Figure(title, caption, drawn, key) if drawn else None


# Lines and bars.


def styles_of(names: Iterable[str]) -> dict[str, Style]:
    """Return colour and dash of what is compared besides the disciplines: flows, channels, processes."""
    return styles(list(names))


@dataclass(frozen=True, slots=True)
class Lines:
    """How the lines of a chart look: the encodings by name, and the key of the figure."""

    names: tuple[str, ...]
    colour: alt.Color
    dash: alt.StrokeDash
    shape: alt.Shape
    key: tuple[tuple[str, str, str], ...]
    labels: Mapping[str, str] = field(default_factory=dict)
    """Of disciplines: their names in the chart, by spec."""
    missing: str = ""
    """Of disciplines: a sentence on those that are not drawn."""

    def drawn(self, rows: Iterable[ARow]) -> list[ARow]:
        """Return the rows of the disciplines that are drawn."""
        return [row for row in rows if self.labels[row.discipline] in self.names]


def lines_of(subject: str, found: Mapping[str, Style]) -> Lines:
    """Return the lines of a chart from colour and dash by name; ``subject`` says whose names they are."""
    names = list(found)
    colours = alt.Scale(domain=names, range=[shade for shade, _ in found.values()])
    dashes = alt.Scale(domain=names, range=[marks for _, marks in found.values()])
    shapes = alt.Scale(domain=names, range=[SHAPES[i % len(SHAPES)] for i in range(len(names))])
    return Lines(
        tuple(names),
        alt.Color(f"{subject}:N", scale=colours, sort=names, legend=None),
        alt.StrokeDash(f"{subject}:N", scale=dashes, sort=names, legend=None),
        alt.Shape(f"{subject}:N", scale=shapes, sort=names, legend=None),
        tuple((name, shade, " ".join(map(str, marks))) for name, (shade, marks) in found.items()),
    )


def by_discipline(labels: Mapping[str, str]) -> Lines:
    """Return the lines of disciplines, given their labels."""
    names = tuple(labels.values())
    lines = lines_of("discipline", styles(shown(names)))
    return replace(lines, labels=labels, missing=left_out(names))


def by_spec(disciplines: Sequence[str], drawn: Sequence[str] | None = None) -> Lines:
    """Return the lines of disciplines by their specs, the alpha family along its ramp; ``drawn`` of them."""
    found = styles(shown(disciplines))
    found |= {name: style for name, style in styles(disciplines).items() if name not in found}
    lines = lines_of("discipline", {name: found[name] for name in drawn or shown(disciplines)})
    return replace(lines, labels={name: name for name in disciplines}, missing=left_out(disciplines))


def bar_key(lines: Lines) -> tuple[tuple[str, str, str], ...]:
    """Return the key of bars, which have no dash; of one discipline none."""
    return tuple((name, shade, "") for name, shade, _ in lines.key) if len(lines.names) > 1 else ()


def bar_chart(
    names: Sequence[str], points: list[Point], lines: Lines, title: str, subject: str
) -> dict[str, Any]:
    """Return bars of the disciplines for each of ``names``, with intervals; ``subject`` says whose.

    What has no bar to be seen is written where it would begin: the ``label`` of a point, if it has one.
    """
    kept = [name for name in names if any(point[subject] == name for point in points)]
    drawn = [name for name in lines.names if any(point["discipline"] == name for point in points)]
    base = alt.Chart().encode(
        y=alt.Y(f"{subject}:N", sort=kept, axis=alt.Axis(title=None, labelLimit=190)),
        yOffset=bar_offset(drawn),
    )
    ends = ends_of(points)
    low, high = min([0.0, *ends]), max([0.0, *ends])
    pad = 0.02 * ((high - low) or 1.0)
    scale = alt.Scale(domain=[low - pad if low < 0 else 0.0, high + pad], nice=False)
    x = alt.X("value:Q", scale=scale, axis=alt.Axis(title=title, tickCount=6))
    bars = base.mark_bar(opacity=0.85).encode(
        x=x, color=lines.colour, tooltip=[f"{subject}:N", "discipline:N", *values_told()]
    )
    layers = [bars, intervals(base, alt.X("low:Q", scale=scale))]
    if any("label" in point for point in points):
        told = base.transform_filter("isValid(datum.label)")
        words = told.mark_text(align="left", dx=4, dy=5, fontSize=10, color=MUTED)
        layers.append(words.encode(x=alt.X("value:Q", scale=scale), text="label:N"))
    height = max(80, (13 * len(drawn) + 8) * len(kept))
    return specification(alt.layer(*layers), height, points)


def intervals(base: alt.Chart, low: alt.X) -> alt.Chart:
    """Return the intervals of horizontal bars, along their middles."""
    made: alt.Chart = base.mark_rule(strokeWidth=1.5, color=MUTED).encode(
        x=low, x2="high:Q", color=alt.Undefined
    )
    return made


def bar_offset(names: Sequence[str]) -> alt.YOffset:
    """Return the offsets of the bars of a group.

    The gaps between them are of this scale. Bars with a height of their own would be shifted by a share of
    the whole group, away from their intervals (Vega-Lite 6).
    """
    return alt.YOffset("discipline:N", sort=list(names), scale=alt.Scale(paddingInner=0.2))


def over_time(
    points: list[Point],
    lines: Lines,
    title: str,
    *,
    time: str = "time (s)",
    values: list[float] | None = None,
    step: bool = False,
    band: bool = False,
) -> dict[str, Any]:
    """Return lines over time; ``step``: a value holds until the next; ``band``: from ``low`` to ``high``.

    The scale holds ``values``, those of ``points`` if none are given: from zero, or logarithmic where they
    span much above it.
    """
    every = values or [float(point["value"]) for point in points]
    if is_wide(every):
        scale = log_scale(every)
        y = alt.Y("value:Q", scale=scale, axis=axis(title, every))
    else:
        scale = alt.Scale(domain=[0, 1.03 * max(every) or 1.0], nice=False)
        y = alt.Y("value:Q", scale=scale, axis=alt.Axis(title=title, tickCount=6))
    mark: dict[str, Any] = {"strokeWidth": 1.8, **({"interpolate": "step-after"} if step else {})}
    chart = (
        alt.Chart()
        .mark_line(**mark)
        .encode(
            x=alt.X("time:Q", scale=alt.Scale(nice=False), axis=axis(time, [0.0])),
            y=y,
            color=lines.colour,
            strokeDash=lines.dash,
            tooltip=[str(lines.colour.shorthand), "time:Q", *values_told("value")],
        )
    )
    if not band:
        return specification(chart, 220, points)
    x = alt.X("time:Q", scale=alt.Scale(nice=False))
    area = alt.Chart().mark_area(opacity=0.18)
    ends = alt.Y("low:Q", scale=scale)
    return specification(
        alt.layer(area.encode(x=x, y=ends, y2="high:Q", color=lines.colour), chart), 220, points
    )


# Distributions.


def distribution(
    words: str,
    caption: str,
    rows: Sequence[AHistogram],
    panels: Mapping[Any, str],
    about: Callable[[AHistogram], Hashable],
    lines: Lines,
    *,
    noun: str = "",
    scale: Scale | None = None,
) -> Figure | None:
    """Return the distributions of ``words``, a line a discipline; None where there are none.

    There is a panel for each of ``panels``, titles by what ``rows`` are about. They share axes, so that they
    can be compared. With a ``noun`` no more than some are drawn, and the caption tells how many.
    """
    if not rows:
        return None
    chosen = scale or middle_scale(rows)
    early = max(row.high[-1] for row in rows) / 10**_DECADES
    present = {about(row) for row in rows}
    names = [name for name in panels if name in present]
    found = [
        (
            panels[name],
            [point for row in rows if about(row) == name for point in _ccdf(row, lines, chosen, early)],
        )
        for name in (names[:_MOST_PANELS] if noun else names)
    ]
    count = sum(bool(points) for _, points in found)
    some = f" Drawn are {count} of {len(names)} {noun}." if noun and len(names) > _MOST_PANELS else ""

    def draw(points: list[Point], every: list[Point]) -> dict[str, Any]:
        return _ccdf_chart(f"{words} {chosen.header}", points, every, lines)

    told = f"{caption}{some}{lines.missing}"
    return panelled(f"Distribution of {words}", told, found, draw, lines.key)


def middle_scale(rows: Iterable[Histogram]) -> Scale:
    """Return the scale in which the middles of distributions read best."""
    found = list(rows)
    return scale_for((row.low[len(row.low) // 2] for row in found), found[0].unit)


def _ccdf(row: Histogram, lines: Lines, scale: Scale, early: float) -> list[Point]:
    """Return the share of items above the upper edge of each bin, thinned to what a line needs."""
    total = sum(row.count)
    above = total
    points = []
    for high, count in zip(row.high, row.count, strict=True):
        above -= count
        if 0 < above < total * (_HALF if high < early else _FLAT) and high > 0:
            points.append((high / scale.factor, above / total))
    return [
        {"discipline": lines.labels[row.discipline], "delay": digits(delay), "above": digits(share)}
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


def _ccdf_chart(title: str, points: list[Point], every: list[Point], lines: Lines) -> dict[str, Any]:
    delays, shares = ([point[key] for point in every] for key in ("delay", "above"))
    chart = (
        alt.Chart()
        .mark_line(strokeWidth=2)
        .encode(
            x=alt.X("delay:Q", scale=log_scale(delays), axis=axis(title, delays)),
            y=alt.Y(
                "above:Q",
                scale=log_scale([*shares, 1.0]),
                axis=share_axis("share above", [*shares, 1.0]),
            ),
            color=lines.colour,
            strokeDash=lines.dash,
            tooltip=["discipline:N", *values_told("delay"), alt.Tooltip("above:Q", format=".3~%")],
        )
    )
    return specification(chart, 240, points)
