"""Charts of a fabric's result: latency, improvement and throughput against load, and distributions.

A panel is a channel where disciplines are compared, and a discipline where channels are; the panels of a
figure share their axes. With one load there is nothing to draw a line along: bars of the channels stand in
the place of lines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.models.fabric.marks import axes_of, line_chart, point_of
from weir.models.fabric.tables import channels_of
from weir.models.fabric.verdict import telling_load
from weir.results.marks import bar_chart, by_discipline, curves, lines_of, styles_of
from weir.results.style import Figure
from weir.results.tables import PER_CENT, others
from weir.text import Scale, scale_for

if TYPE_CHECKING:
    from collections.abc import Iterable

    from weir.models.fabric.result import FabricResult
    from weir.results.marks import Lines, Point

__all__ = ["fabric_figures"]

_MOST_PANELS = 16
_AS_IT_IS = Scale(1.0, "%")
_INTERVALS = "bars at the points are 95 % intervals"


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


def _by_channel(result: FabricResult) -> Lines:
    return lines_of("channel", styles_of([row.name for row in result.channels]))


# Latency.


def _latency(result: FabricResult, statistic: str, title: str) -> Figure | None:
    """Return a statistic of latency: a panel a channel, a line a discipline."""
    lines, missing = by_discipline(result.labels)
    rows = [row for row in result.estimates if (row.metric, row.statistic) == ("latency", statistic)]
    scale = scale_for((row.value for row in rows), "s")
    every = [
        point
        for row in rows
        if result.labels[row.discipline] in lines.names
        for point in point_of(result, row, scale)
    ]
    if not every:
        return None
    words = f"{title.lower()} {scale.header}"
    if len(result.loads) == 1:
        kept = [point for point in every if point["channel"] in channels_of(result)]
        chart = bar_chart(channels_of(result), kept, lines, words)
        caption = f"{title} of each channel at load {result.loads[0]:g}, with 95 % intervals.{missing}"
        return Figure(title, caption, (("", chart),), lines.key)
    chosen = channels_of(result)[:_MOST_PANELS]
    axes = axes_of(every, words)
    panels = [
        (
            _channel_title(name),
            line_chart([point for point in every if point["channel"] == name], lines, axes),
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
            for point in point_of(result, result.difference(name, load=load, channel=row.name), _AS_IT_IS)
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
        lines, _ = by_discipline(result.labels)
        bars = bar_chart(channels_of(result), every, lines, words)
        return Figure(
            title, caption, (("", bars),), tuple(each for each in lines.key if each[0] != reference)
        )
    lines, axes = _by_channel(result), axes_of(every, words, zero=True)
    panels = tuple(
        (result.labels[name], line_chart(points, lines, axes, rule=True))
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
    axes = axes_of(every, "throughput (% of a link)", zero=True)
    panels = [
        (result.labels[name], line_chart(each["throughput"], lines, axes, offered=each["offered"]))
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
    axes = axes_of(every, "accepted (% of offered)", near=True)
    panels = tuple(
        (result.labels[name], line_chart(points, lines, axes)) for name, points in found.items() if points
    )
    caption = (
        "What arrives in per cent of what is offered; a channel saturates where the 90 % interval is below "
        f"99 %. The axis does not begin at zero; {_INTERVALS}."
    )
    return Figure("Accepted share against load", caption, panels, lines.key)


def _rates(result: FabricResult, name: str, metric: str, channels: Iterable[str]) -> list[Point]:
    return [
        point
        for load in result.loads
        for channel in channels
        for point in point_of(
            result, result.estimate(name, load=load, channel=channel, metric=metric), PER_CENT
        )
    ]


def _throughput_bars(result: FabricResult) -> Figure | None:
    lines, missing = by_discipline(result.labels)
    channels = [row.name for row in result.channels]
    every = [
        point
        for name in result.disciplines
        if result.labels[name] in lines.names
        for point in _rates(result, name, "throughput", channels)
    ]
    if not every:
        return None
    chart = bar_chart(channels_of(result), every, lines, "throughput (% of a link)")
    caption = (
        f"What arrives of each channel at load {result.loads[0]:g}, in per cent of what a link carries, with "
        f"95 % intervals.{missing}"
    )
    return Figure("Throughput", caption, (("", chart),), lines.key)


# Distributions.


def _distributions(result: FabricResult) -> Figure | None:
    """Return the distributions of latency at one load: a panel a channel, a line a discipline."""
    lines, missing = by_discipline(result.labels)
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
    names = {name: _channel_title(name) for name in channels_of(result)[:_MOST_PANELS]}
    panels = curves(result.labels, rows, lambda row: row.channel, names, "latency")
    if not panels:
        return None
    caption = (
        f"The share of packets that take longer than a given time at load {load:g}; the lower the curve, the "
        f"better. Both axes are logarithmic.{missing}"
    )
    return Figure("Distribution of latency", caption, panels, lines.key)
