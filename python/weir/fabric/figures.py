"""Charts of a fabric's result: latency, improvement and throughput against load, and distributions.

A panel is a channel where disciplines are compared, and a discipline where channels are; the panels of a
figure share their axes. With one load there is nothing to draw a line along: bars of the channels stand in
the place of lines.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import altair as alt

from weir.charts.delays import DECADES, ccdf, ccdf_chart
from weir.charts.style import DASHES, Figure, axis, is_wide, left_out, log_scale, shown, specification
from weir.fabric.tables import PER_CENT, channels_of, others
from weir.fabric.verdict import telling_load
from weir.network.figures import flow_styles
from weir.text import Scale, scale_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from weir.fabric.result import FabricResult
    from weir.fabric.rows import FabricDifference, FabricDistribution, FabricEstimate

__all__ = ["fabric_figures"]

_MOST_PANELS = 16
_COLOURS = ("#009e73", "#d55e00", "#56b4e9", "#cc79a7", "#7f7f7f", "#b8a800")
_AS_IT_IS = Scale(1.0, "%")
_INTERVALS = "bars at the points are 95 % intervals"


@dataclass(frozen=True, slots=True)
class _Named:
    """Disciplines by their labels, as charts name them."""

    disciplines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Lines:
    """How the lines of a chart look: the encodings by name, and the key of the figure."""

    names: tuple[str, ...]
    colour: alt.Color
    dash: alt.StrokeDash
    key: tuple[tuple[str, str, str], ...]


Point = dict[str, Any]


def fabric_figures(result: FabricResult) -> list[Figure]:
    """Return the charts that the result has the rows for, in the order of a report."""
    made = (
        _improvement(result),
        _latency(result, "mean", "Mean latency"),
        _latency(result, "max", "Maximum latency"),
        _throughput(result),
        _accepted(result),
        _distributions(result),
    )
    return [figure for figure in made if figure is not None]


def _by_discipline(result: FabricResult) -> tuple[_Lines, str]:
    """Return the lines of disciplines, and a sentence on those not drawn."""
    named = _Named(tuple(result.labels.values()))
    every = {
        name: (_COLOURS[place % len(_COLOURS)], DASHES[place % len(DASHES)])
        for place, name in enumerate(named.disciplines)
    }
    return _lines("discipline", {name: every[name] for name in shown(named)}), left_out(named)


def _by_channel(result: FabricResult) -> _Lines:
    return _lines("channel", flow_styles([row.name for row in result.channels]))


def _lines(field: str, styles: dict[str, tuple[str, list[int]]]) -> _Lines:
    names = list(styles)
    colours = alt.Scale(domain=names, range=[shade for shade, _ in styles.values()])
    dashes = alt.Scale(domain=names, range=[marks for _, marks in styles.values()])
    return _Lines(
        tuple(names),
        alt.Color(f"{field}:N", scale=colours, sort=names, legend=None),
        alt.StrokeDash(f"{field}:N", scale=dashes, sort=names, legend=None),
        tuple((name, shade, " ".join(map(str, marks))) for name, (shade, marks) in styles.items()),
    )


# Points.


def _point(result: FabricResult, row: FabricEstimate | FabricDifference | None, scale: Scale) -> list[Point]:
    """Return a row as a point of a chart; none where there is no value."""
    if row is None or row.value is None:
        return []
    low, high = (row.value if end is None else end for end in (row.low, row.high))
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


# Latency.


def _latency(result: FabricResult, statistic: str, title: str) -> Figure | None:
    """Return a statistic of latency: a panel a channel, a line a discipline."""
    lines, missing = _by_discipline(result)
    rows = [row for row in result.estimates if (row.metric, row.statistic) == ("latency", statistic)]
    scale = scale_for((row.value for row in rows), "s")
    every = [
        point
        for row in rows
        if result.labels[row.discipline] in lines.names
        for point in _point(result, row, scale)
    ]
    if not every:
        return None
    words = f"{title.lower()} {scale.header}"
    if len(result.loads) == 1:
        kept = [point for point in every if point["channel"] in channels_of(result)]
        chart = _bars(result, kept, lines, words)
        caption = f"{title} of each channel at load {result.loads[0]:g}, with 95 % intervals.{missing}"
        return Figure(title, caption, (("", chart),), lines.key)
    chosen = channels_of(result)[:_MOST_PANELS]
    axes = _axes(every, words)
    panels = [
        (
            _channel_title(name),
            _line_chart([point for point in every if point["channel"] == name], lines, axes),
        )
        for name in chosen
    ]
    caption = (
        f"{title} of the packets of each channel, from the entry into the buffer of the interface to the "
        f"last byte at the other end; {_INTERVALS}.{missing}"
    )
    return Figure(f"{title} against load", caption, tuple(panels), lines.key)


def _channel_title(name: str) -> str:
    return "all channels" if name == "all" else name


# Improvement.


def _improvement(result: FabricResult) -> Figure | None:
    """Return by how much the mean latency is below the reference's: a line a channel."""
    reference = result.labels[result.reference]
    found = {
        name: [
            point
            for load in result.loads
            for row in result.channels
            for point in _point(result, result.difference(name, load=load, channel=row.name), _AS_IT_IS)
        ]
        for name in others(result)
    }
    every = [point for points in found.values() for point in points]
    if not every:
        return None
    caption = (
        f"By how much the mean latency of each channel is below that under {reference}, in per cent of it, "
        f"{_when(result)}. Differences are paired: both saw the same traffic. Below zero, packets wait "
        f"longer than under {reference}."
    )
    title, words = f"Improvement over {reference}", f"below {reference} (%)"
    if len(result.loads) == 1:
        lines, _ = _by_discipline(result)
        bars = _bars(result, every, lines, words)
        return Figure(
            title, caption, (("", bars),), tuple(each for each in lines.key if each[0] != reference)
        )
    lines, axes = _by_channel(result), _axes(every, words, zero=True)
    panels = tuple(
        (result.labels[name], _line_chart(points, lines, axes, rule=True))
        for name, points in found.items()
        if points
    )
    return Figure(title, caption, panels, lines.key)


def _when(result: FabricResult) -> str:
    if len(result.loads) == 1:
        return f"at load {result.loads[0]:g}, with 95 % intervals"
    return f"at each load; {_INTERVALS}"


# Throughput.


def _throughput(result: FabricResult) -> Figure | None:
    """Return what arrives, and thinly what is offered: a panel a discipline, a line a channel."""
    if len(result.loads) == 1:
        return _throughput_bars(result)
    lines = _by_channel(result)
    found = {
        name: {metric: _rates(result, name, metric, lines.names) for metric in ("throughput", "offered")}
        for name in result.disciplines
    }
    every = [point for each in found.values() for points in each.values() for point in points]
    if not every:
        return None
    axes = _axes(every, "throughput (% of a link)", zero=True)
    panels = [
        (result.labels[name], _line_chart(each["throughput"], lines, axes, offered=each["offered"]))
        for name, each in found.items()
        if each["throughput"]
    ]
    caption = (
        "What arrives of each channel, in per cent of what a link carries, against the load of all channels "
        "together; the thin line is what the channel offers. A channel saturates where the two part."
    )
    return Figure("Throughput against load", caption, tuple(panels), lines.key)


def _accepted(result: FabricResult) -> Figure | None:
    """Return the part of the offer that arrives, where any channel saturates: a line a channel."""
    if len(result.loads) == 1 or all(row.load is None for row in result.saturation):
        return None
    lines = _by_channel(result)
    found = {name: _rates(result, name, "accepted", lines.names) for name in result.disciplines}
    every = [point for points in found.values() for point in points]
    if not every:
        return None
    axes = _axes(every, "accepted (% of offered)", near=True)
    panels = tuple(
        (result.labels[name], _line_chart(points, lines, axes)) for name, points in found.items() if points
    )
    caption = (
        "What arrives in per cent of what is offered; below 99 % a channel counts as saturated. The axis "
        f"does not begin at zero; {_INTERVALS}."
    )
    return Figure("Accepted share against load", caption, panels, lines.key)


def _rates(result: FabricResult, name: str, metric: str, channels: Iterable[str]) -> list[Point]:
    return [
        point
        for load in result.loads
        for channel in channels
        for point in _point(
            result, result.estimate(name, load=load, channel=channel, metric=metric), PER_CENT
        )
    ]


def _throughput_bars(result: FabricResult) -> Figure | None:
    lines, missing = _by_discipline(result)
    channels = [row.name for row in result.channels]
    every = [
        point
        for name in result.disciplines
        if result.labels[name] in lines.names
        for point in _rates(result, name, "throughput", channels)
    ]
    if not every:
        return None
    chart = _bars(result, every, lines, "throughput (% of a link)")
    caption = (
        f"What arrives of each channel at load {result.loads[0]:g}, in per cent of what a link carries, with "
        f"95 % intervals.{missing}"
    )
    return Figure("Throughput", caption, (("", chart),), lines.key)


# Lines against load, and bars at one load.


@dataclass(frozen=True, slots=True)
class _Axes:
    """The axes that the panels of a figure share."""

    x: alt.X
    scale: alt.Scale
    axis: alt.Axis


def _axes(every: Sequence[Point], title: str, *, zero: bool = False, near: bool = False) -> _Axes:
    """Return axes for all points: with zero, near the values, or logarithmic where these span much."""
    loads = sorted({point["load"] for point in every})
    ends = [point[end] for point in every for end in ("low", "high")]
    margin = 0.04 * (loads[-1] - loads[0])
    x = alt.X(
        "load:Q",
        scale=alt.Scale(domain=[loads[0] - margin, loads[-1] + margin], nice=False),
        axis=alt.Axis(title="load", tickCount=6, format="~g"),
    )
    if not (zero or near) and is_wide(ends):
        return _Axes(x, log_scale(ends), axis(title, ends))
    floor = [] if near else [0.0]
    low, high = min([*floor, *ends]), max([*floor, *ends])
    pad = 0.04 * ((high - low) or 1.0)
    domain = [low - pad if near or low < 0 else 0.0, high + pad]
    return _Axes(x, alt.Scale(domain=domain, nice=False), alt.Axis(title=title, tickCount=6))


def _line_chart(
    points: list[Point], lines: _Lines, axes: _Axes, *, offered: list[Point] | None = None, rule: bool = False
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


def _bars(result: FabricResult, points: list[Point], lines: _Lines, title: str) -> dict[str, Any]:
    """Return channels x bars of the disciplines, with intervals."""
    channels = [name for name in channels_of(result) if any(point["channel"] == name for point in points)]
    drawn = [name for name in lines.names if any(point["discipline"] == name for point in points)]
    base = alt.Chart().encode(
        y=alt.Y("channel:N", sort=channels, axis=alt.Axis(title=None, labelLimit=190)),
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
            "channel:N",
            "discipline:N",
            *(alt.Tooltip(f"{name}:Q", format=".4~g") for name in ("value", "low", "high")),
        ],
    )
    spans = base.mark_rule(strokeWidth=1.5, color="#888888").encode(
        x=alt.X("low:Q", scale=scale), x2="high:Q"
    )
    height = max(80, (13 * len(drawn) + 8) * len(channels))
    return specification(alt.layer(bars, spans), height, points)


# Distributions.


def _distributions(result: FabricResult) -> Figure | None:
    """Return the distributions of latency at one load: a panel a channel, a line a discipline."""
    lines, missing = _by_discipline(result)
    load = telling_load(result)
    rows = [
        row
        for row in result.distributions
        if (row.load, row.metric) == (load, "latency")
        and result.labels[row.discipline] in lines.names
        and any(row.count)
    ]
    if not rows:
        return None
    scale = scale_for((row.low[len(row.low) // 2] for row in rows), "s")
    early = max(row.high[-1] for row in rows) / 10**DECADES
    found = {name: _curves(result, rows, name, scale, early) for name in channels_of(result)[:_MOST_PANELS]}
    every = [point for points in found.values() for point in points]
    if not every:
        return None
    names = _Named(tuple(result.labels.values()))
    chart = ccdf_chart(names, "latency", every, list(lines.names), scale)
    chart["encoding"] |= {"color": lines.colour.to_dict(), "strokeDash": lines.dash.to_dict()}
    panels = tuple(
        (_channel_title(name), {**chart, "data": {"values": points}})
        for name, points in found.items()
        if points
    )
    caption = (
        f"The share of packets that take longer than a given time at load {load:g}; the lower the curve, the "
        f"better. Both axes are logarithmic.{missing}"
    )
    return Figure("Distribution of latency", caption, panels, lines.key)


def _curves(
    result: FabricResult, rows: Sequence[FabricDistribution], channel: str, scale: Scale, early: float
) -> list[Point]:
    return [
        {**point, "discipline": result.labels[row.discipline]}
        for row in rows
        if row.channel == channel
        for point in ccdf(row, scale, early)
    ]
