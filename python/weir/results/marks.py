"""The marks that charts of several models share: lines and bars of disciplines, and distributions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import altair as alt

from weir.results.style import DASHES, axis, colour, dash, left_out, log_scale, shown, specification
from weir.text import scale_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from weir.results.rows import Histogram, Measured
    from weir.results.style import Compared
    from weir.text import Scale

__all__ = [
    "Lines",
    "Named",
    "Point",
    "bar_chart",
    "bar_key",
    "by_discipline",
    "ccdf",
    "ccdf_chart",
    "curves",
    "digits",
    "early",
    "lines_of",
    "over_time",
    "span",
    "styles_of",
]

Point = dict[str, Any]
_COLOURS = ("#009e73", "#d55e00", "#56b4e9", "#cc79a7", "#7f7f7f", "#b8a800")
_OF_SUBJECTS = ("#0b6aa8", "#d55e00", "#009e73", "#9a5a96", "#b8a800", "#cc79a7", "#7f7f7f")
_MOST_POINTS = 160
# Where a curve begins: once one item in twenty is out or, far to the left, half of them; before, it is flat.
_FLAT = 0.95
_HALF = 0.5
_DECADES = 4.5
"""How far below the longest delay a curve may begin, in powers of ten."""


def digits(value: float) -> float:
    """Return a value with as many digits as a chart shows."""
    return float(f"{value:.5g}")


def span(row: Measured, scale: Scale, *, cut: bool = True) -> dict[str, float]:
    """Return value and interval of a row for a chart; ``cut``: below zero there is nothing."""
    value = row.value or 0.0
    low, high = (value if end is None else end for end in (row.low, row.high))
    ends = {"value": value, "low": max(0.0, low) if cut else low, "high": high}
    return {name: digits(end / scale.factor) for name, end in ends.items()}


# Lines and bars.


def styles_of(names: Iterable[str]) -> dict[str, tuple[str, list[int]]]:
    """Return colour and dash of what is compared beside the disciplines: flows, channels, processes."""
    count = len(_OF_SUBJECTS)
    return {
        name: (_OF_SUBJECTS[i % count], DASHES[(i // count) % len(DASHES)]) for i, name in enumerate(names)
    }


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


def bar_key(lines: Lines) -> tuple[tuple[str, str, str], ...]:
    """Return the key of bars, which have no dash; of one discipline none."""
    return tuple((name, shade, "") for name, shade, _ in lines.key) if len(lines.names) > 1 else ()


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


def over_time(
    points: list[Point], lines: Lines, title: str, *, scale: alt.Scale | None = None, step: bool = False
) -> dict[str, Any]:
    """Return lines over time, from zero unless a scale is given; ``step``: a value holds until the next."""
    field = str(lines.colour.shorthand)
    mark: dict[str, Any] = {"strokeWidth": 1.8, **({"interpolate": "step-after"} if step else {})}
    chart = (
        alt.Chart()
        .mark_line(**mark)
        .encode(
            x=alt.X("time:Q", axis=alt.Axis(title="time (s)", tickCount=6, format="~g")),
            y=alt.Y(
                "value:Q",
                scale=scale or alt.Scale(domainMin=0),
                axis=alt.Axis(title=title, tickCount=6),
            ),
            color=lines.colour,
            strokeDash=lines.dash,
            tooltip=[field, "time:Q", alt.Tooltip("value:Q", format=".4~g")],
        )
    )
    return specification(chart, 220, points)


# Distributions.


ARow = TypeVar("ARow", bound="Histogram")


def curves(
    labels: Mapping[str, str],
    rows: Sequence[ARow],
    about: Callable[[ARow], str],
    panels: Mapping[str, str],
    metric: str,
    scale: Scale | None = None,
) -> tuple[tuple[str, dict[str, Any]], ...]:
    """Return a panel for each of ``panels`` (titles by what rows are about), a line a discipline."""
    lines, _ = by_discipline(labels)
    chosen = scale or scale_for((row.low[len(row.low) // 2] for row in rows), "s")
    flat = early(rows)
    found = {
        title: [
            {**point, "discipline": labels[row.discipline]}
            for row in rows
            if about(row) == name
            for point in ccdf(row, chosen, flat)
        ]
        for name, title in panels.items()
    }
    every = [point for points in found.values() for point in points]
    if not every:
        return ()
    chart = ccdf_chart(Named(tuple(labels.values())), metric, every, list(lines.names), chosen)
    chart["encoding"] |= {"color": lines.colour.to_dict(), "strokeDash": lines.dash.to_dict()}
    return tuple((title, {**chart, "data": {"values": points}}) for title, points in found.items() if points)


def early(rows: Iterable[Histogram]) -> float:
    """Return what is early in distributions: far below the longest of all."""
    return max(row.high[-1] for row in rows) / 10**_DECADES


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
        {"discipline": row.discipline, "delay": digits(delay), "above": digits(share)}
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
