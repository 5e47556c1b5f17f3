"""Charts of a result, as Vega-Lite specifications that a report embeds.

A discipline has the same colour in every chart, and a shape or dash of its own, so that no reader depends
on hue. A chart with more curves than can be distinguished draws a spread of them and says which are left out.
Widths follow the page; the page sets light or dark.
"""

from __future__ import annotations

from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import altair as alt

from weir.models.port import over_time
from weir.models.port.frontier import frontier
from weir.results.marks import by_spec, distribution, ends_of, middle_scale, panelled, values_told
from weir.results.style import DASHES, MUTED, PALETTE, Figure, axis, scale_of, shown, specification, styles
from weir.text import scale_for

if TYPE_CHECKING:
    from weir.models.port.result import Estimate, LengthClass, PortResult
    from weir.results.marks import Lines, Point
    from weir.results.rows import TheoryValue
    from weir.text import Scale

_CLASSES_SHOWN = 12


def figures(result: PortResult) -> list[Figure | None]:
    """Return the charts in the order of a report."""
    return [
        frontier(result),
        _by_length(result),
        _delays(result),
        _beside_theory(result),
        *over_time.figures(result),
    ]


# The distribution of delay: the share of messages above a time, class by class.


def _delays(result: PortResult) -> Figure | None:
    """Return the distributions, one panel a class."""
    rows = [row for row in result.distributions if row.metric == result.metric and any(row.count)]
    if not rows:
        return None
    classes = [each.name for each in result.classes if any(row.class_ == each.name for row in rows)]
    titles = {name: "all messages" if name == "all" else name for name in classes[:_CLASSES_SHOWN]}
    names = [name for name in shown(result.disciplines) if any(row.discipline == name for row in rows)]
    lines = by_spec(result.disciplines, names)
    if len(classes) > _CLASSES_SHOWN:
        more = f" Classes not drawn: {', '.join(classes[_CLASSES_SHOWN:])}."
        lines = replace(lines, missing=lines.missing + more)
    caption = (
        "The share of messages that wait longer than a given time, class by class; the lower the curve, the "
        "better. Both axes are logarithmic: a straight fall is a heavy tail."
    )
    drawn, scale, about = lines.drawn(rows), middle_scale(rows), attrgetter("class_")
    return distribution(result.metric, caption, drawn, titles, about, lines, scale=scale)


# The mean by length of message.


def _by_length(result: PortResult) -> Figure | None:
    """Return the means by length, or None where there are fewer than two lengths."""
    lengths = {each.name: length for each in result.classes[1:] if (length := _length(each))}
    lines = by_spec(result.disciplines)
    found = [(class_, result.estimate(name, class_=class_)) for name in lines.names for class_ in lengths]
    known = [(class_, row) for class_, row in found if row is not None and row.value is not None]
    if len({class_ for class_, _ in known}) < 2:
        return None
    scale = scale_for((row.value for _, row in known), result.time_unit)
    points = [_length_point(lengths[class_], row, scale) for class_, row in known]
    caption = (
        "Mean by length of message, with 95 % intervals (often narrower than the dot). FIFO makes all "
        f"wait equally long; what favours short messages delays long ones.{lines.missing}"
    )
    spec = _by_length_spec(result, points, lines, scale)
    return Figure(f"Mean {result.metric} by length of message", caption, (("", spec),), lines.key)


def _length(class_: LengthClass) -> float | None:
    """Return the mean length of a class; that of a class of one length is known without counting."""
    return class_.low if class_.low == class_.high else class_.mean_length


def _length_point(length: float, row: Estimate, scale: Scale) -> Point:
    low, high = (row.value if end is None else end for end in (row.low, row.high))
    ends = {"mean": row.value, "low": low, "high": high}
    return {
        "discipline": row.discipline,
        "length": length,
        **{name: (end or 0.0) / scale.factor for name, end in ends.items()},
    }


def _by_length_spec(result: PortResult, points: list[Point], lines: Lines, scale: Scale) -> dict[str, Any]:
    unit = result.document.get("length_unit", "")
    lengths, means = (
        [point["length"] for point in points],
        [*(point["mean"] for point in points), *ends_of(points)],
    )
    base = alt.Chart().encode(
        x=alt.X("length:Q", scale=scale_of(lengths), axis=axis(f"length ({unit})", lengths)),
        color=lines.colour,
    )
    y_scale = scale_of(means)
    y = alt.Y("mean:Q", scale=y_scale, axis=axis(f"mean {result.metric} {scale.header}", means))
    tooltip = ["discipline:N", "length:Q", *values_told("mean", "low", "high")]
    means_drawn = base.mark_line(strokeWidth=2).encode(y=y, strokeDash=lines.dash)
    bars = base.mark_rule(strokeWidth=1.5, opacity=0.6).encode(y=alt.Y("low:Q", scale=y_scale), y2="high:Q")
    dots = base.mark_point(filled=True, size=45, opacity=1).encode(y=y, shape=lines.shape, tooltip=tooltip)
    return specification(alt.layer(means_drawn, bars, dots), 340, points)


# The simulation and its closed forms.


def _beside_theory(result: PortResult) -> Figure | None:
    """Return the ratios to the closed forms, one panel a discipline, or None where there are none."""
    points = [
        _ratio_point(row, row.value, found)
        for row in result.theory
        if row.metric == result.metric
        and row.value
        and (found := result.estimate(row.discipline, class_=row.class_, metric=row.metric)) is not None
        and found.value is not None
    ]
    caption = (
        "The simulated mean over its closed form, minus one, with the 95 % interval of the simulation. Where "
        "the interval crosses zero the two agree; of many intervals one in twenty may miss it."
    )
    panels = (
        (name, [point for point in points if point["discipline"] == name]) for name in result.disciplines
    )
    return panelled("Simulation next to theory", caption, panels, lambda own, _: _ratio_spec(result, own))


def _ratio_point(row: TheoryValue, exact: float, found: Estimate) -> Point:
    known = found.low is not None and found.high is not None
    ends = (found.value, found.low, found.high) if known else (found.value,) * 3
    ratios = (float(f"{(end or 0.0) / exact - 1:.4g}") for end in ends)
    about = {"discipline": row.discipline or "all", "class": row.class_}
    return {**about, **dict(zip(("ratio", "low", "high"), ratios, strict=True))}


def _ratio_spec(result: PortResult, points: list[Point]) -> dict[str, Any]:
    order = [each.name for each in result.classes]
    reach = max(max(abs(point["low"]), abs(point["high"])) for point in points) * 1.15 or 0.01
    x = alt.X(
        "low:Q",
        scale=alt.Scale(domain=[-reach, reach], nice=True),
        axis=alt.Axis(title=None, format="+.2~%", tickCount=5),
    )
    base = alt.Chart().encode(y=alt.Y("class:N", sort=order, axis=alt.Axis(title=None)))
    name = points[0]["discipline"]
    colour = styles(result.disciplines).get(name, (PALETTE[0], DASHES[0]))[0]
    zero = alt.Chart().mark_rule(strokeDash=[3, 3], color=MUTED).encode(x=alt.datum(0))
    bars = base.mark_rule(strokeWidth=2.5, color=colour).encode(x=x, x2="high:Q")
    tooltip = ["class:N", *(alt.Tooltip(f"{key}:Q", format="+.3~%") for key in ("ratio", "low", "high"))]
    dots = base.mark_point(filled=True, size=60, opacity=1, color=colour).encode(x="ratio:Q", tooltip=tooltip)
    return specification(alt.layer(zero, bars, dots), max(60, 24 * len(points)), points)
