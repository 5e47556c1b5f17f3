"""Charts of a fabric's result: latency, improvement and throughput against load, and distributions.

A panel is a channel where disciplines are compared, and a discipline where channels are; the panels of a
figure share their axes. With one load there is nothing to draw a line along: bars of the channels stand in
the place of lines.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from weir.models.fabric.marks import axes_of, line_chart, point_of
from weir.models.fabric.over_time import figures as windows_over_time
from weir.models.fabric.tables import channels_of
from weir.models.fabric.verdict import telling_load
from weir.results.marks import bar_chart, bar_key, by_discipline, distribution, lines_of, panelled, styles_of
from weir.results.style import Figure
from weir.results.tables import PER_CENT, others
from weir.text import Scale, scale_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from weir.models.fabric.result import FabricResult
    from weir.results.marks import Lines, Point

    Draw = Callable[[list[Point], list[Point]], dict[str, Any]]

_MOST_PANELS = 16
_AS_IT_IS = Scale(1.0, "%")
_INTERVALS = "bars at the points are 95 % intervals"


def figures(result: FabricResult) -> list[Figure | None]:
    """Return the charts in the order of a report."""
    lead, mean = _improvement(result), _latency(result, "mean", "Mean latency")
    if lead is None:
        lead, mean = mean, None
    return [
        lead and replace(lead, leads=True),
        mean,
        _latency(result, "max", "Maximum latency", folded=True),
        _throughput(result),
        _accepted(result),
        _distributions(result),
        *windows_over_time(result),
    ]


def _by_channel(result: FabricResult) -> Lines:
    return lines_of("channel", styles_of([row.name for row in result.channels]))


def _titles(result: FabricResult) -> dict[str, str]:
    """Return the titles of the panels, by channel."""
    return {name: "all channels" if name == "all" else name for name in channels_of(result)[:_MOST_PANELS]}


def _bars(result: FabricResult, lines: Lines, words: str) -> Draw:
    """Return what draws bars of the channels, where there is one load."""
    return lambda points, _: bar_chart(channels_of(result), points, lines, words, "channel")


# Latency.


def _latency(result: FabricResult, statistic: str, title: str, *, folded: bool = False) -> Figure | None:
    """Return a statistic of latency: a panel a channel, a line a discipline."""
    lines = by_discipline(result.labels)
    rows = [row for row in result.estimates if (row.metric, row.statistic) == ("latency", statistic)]
    scale = scale_for((row.value for row in rows), "s")
    every = [point for row in lines.drawn(rows) for point in point_of(result, row, scale)]
    if not every:
        return None
    words = f"{title.lower()} {scale.header}"
    if len(result.loads) == 1:
        kept = [point for point in every if point["channel"] in channels_of(result)]
        chart = _bars(result, lines, words)(kept, every)
        caption = f"{title} of each channel at load {result.loads[0]:g}, with 95 % intervals.{lines.missing}"
        return Figure(title, caption, (("", chart),), bar_key(lines), folded=folded)
    axes = axes_of(every, words)
    panels = tuple(
        (panel, line_chart([point for point in every if point["channel"] == name], lines, axes))
        for name, panel in _titles(result).items()
    )
    caption = (
        f"{title} of the packets of each channel, from the entry into the buffer of the interface to the "
        f"last byte at the other end; {_INTERVALS}.{lines.missing}"
    )
    return Figure(f"{title} against load", caption, panels, lines.key, folded=folded)


# Improvement.


def _improvement(result: FabricResult) -> Figure | None:
    """Return by how much the mean latency is below the reference's: a line a channel."""
    reference = result.labels[result.reference]
    found = {
        result.labels[name]: [
            point
            for load in result.loads
            for row in result.channels
            for point in point_of(result, result.difference(name, load=load, channel=row.name), _AS_IT_IS)
        ]
        for name in others(result)
    }
    one = len(result.loads) == 1
    when = f"at load {result.loads[0]:g}, with 95 % intervals" if one else f"at each load; {_INTERVALS}"
    caption = (
        f"By how much the mean latency of each channel is below that under {reference}, in per cent of it, "
        f"{when}. Differences are paired: both saw the same traffic. Below zero, packets wait "
        f"longer than under {reference}."
    )
    title, words = f"Improvement over {reference}", f"below {reference} (%)"
    if one:
        lines = by_discipline(result.labels)
        key = tuple(each for each in bar_key(lines) if each[0] != reference)
        every = [point for points in found.values() for point in points]
        return panelled(title, caption, [("", every)], _bars(result, lines, words), key)
    lines = _by_channel(result)

    def draw(points: list[Point], every: list[Point]) -> dict[str, Any]:
        return line_chart(points, lines, axes_of(every, words, zero=True), rule=True)

    return panelled(title, caption, found.items(), draw, lines.key)


# Throughput.


def _throughput(result: FabricResult) -> Figure | None:
    """Return what arrives, and thinly what is offered: a panel a discipline, a line a channel."""
    if len(result.loads) == 1:
        return _throughput_bars(result)
    lines = _by_channel(result)
    found = {name: _rates(result, name, "throughput", lines.names) for name in result.disciplines}
    offered = {name: _rates(result, name, "offered", lines.names) for name in result.disciplines}
    every = [point for part in (found, offered) for points in part.values() for point in points]
    if not every:
        return None
    axes = axes_of(every, "throughput (% of a link)", zero=True)
    panels = tuple(
        (result.labels[name], line_chart(points, lines, axes, offered=offered[name]))
        for name, points in found.items()
        if points
    )
    caption = (
        "What arrives of each channel, in per cent of what a link carries, against the load of all channels "
        "together; the thin line is what the channel offers. A channel saturates where the two part."
    )
    return Figure("Throughput against load", caption, panels, lines.key)


def _accepted(result: FabricResult) -> Figure | None:
    """Return the part of the offer that arrives, where any channel saturates: a line a channel."""
    if len(result.loads) == 1 or all(row.load is None for row in result.saturation):
        return None
    lines = _by_channel(result)
    found = {label: _rates(result, name, "accepted", lines.names) for name, label in result.labels.items()}
    caption = (
        "What arrives in per cent of what is offered; a channel saturates where the 90 % interval is below "
        f"99 %. The axis does not begin at zero; {_INTERVALS}."
    )

    def draw(points: list[Point], every: list[Point]) -> dict[str, Any]:
        return line_chart(points, lines, axes_of(every, "accepted (% of offered)", near=True))

    return panelled("Accepted share against load", caption, found.items(), draw, lines.key)


def _rates(result: FabricResult, name: str, metric: str, channels: Iterable[str]) -> list[Point]:
    rows = (
        result.estimate(name, load=load, channel=channel, metric=metric)
        for load in result.loads
        for channel in channels
    )
    return [point for row in rows for point in point_of(result, row, PER_CENT)]


def _throughput_bars(result: FabricResult) -> Figure | None:
    lines = by_discipline(result.labels)
    channels = [row.name for row in result.channels]
    drawn = [name for name, label in result.labels.items() if label in lines.names]
    every = [point for name in drawn for point in _rates(result, name, "throughput", channels)]
    caption = (
        f"What arrives of each channel at load {result.loads[0]:g}, in per cent of what a link carries, with "
        f"95 % intervals.{lines.missing}"
    )
    draw = _bars(result, lines, "throughput (% of a link)")
    return panelled("Throughput", caption, [("", every)], draw, bar_key(lines))


# Distributions.


def _distributions(result: FabricResult) -> Figure | None:
    """Return the distributions of latency at one load: a panel a channel, a line a discipline."""
    lines, load = by_discipline(result.labels), telling_load(result)
    rows = [row for row in result.distributions if (row.load, row.metric) == (load, "latency")]
    held = [row for row in lines.drawn(rows) if any(row.count)]
    caption = (
        f"The share of packets that take longer than a given time at load {load:g}; the lower the curve, the "
        "better. Both axes are logarithmic."
    )
    return distribution("latency", caption, held, _titles(result), lambda row: row.channel, lines)
