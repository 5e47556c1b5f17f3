"""Figures 2 to 5 of the document, drawn anew for each traffic and each choice of shares.

Its own are lost. Figure 2 is throughput against load, Figure 3 latency, Figure 4 latency at low and middle
loads, and Figure 5 by how much DTable is below DRR; a line is a channel, a panel a discipline or a statistic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.models.fabric.marks import axes_of, line_chart, point_of
from weir.reproduce.dtable import runs
from weir.reproduce.dtable.published import CHANNELS
from weir.reproduce.dtable.runs import DRR, DTABLE, VARIANTS
from weir.reproduce.engine.evidence import if_measured
from weir.results.marks import lines_of, styles_of
from weir.results.style import Figure
from weir.text import Scale

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weir.reproduce.dtable.evidence import Evidence, View
    from weir.reproduce.dtable.runs import Variant
    from weir.results.marks import Lines, Point

_NAMES = {DTABLE: "DTable", DRR: "DRR"}
_PER_CENT, _MICROS, _AS_IT_IS = Scale(0.01, "%"), Scale(1e-6, "us"), Scale(1.0, "%")
_ZOOM = 0.75
"""The highest load of Figure 4."""
_INTERVALS = "Bars at the points are 95 % intervals."


def drawings(evidence: Evidence) -> list[Figure]:
    """Return the figures of all networks that were run, the main one first."""
    return [figure for variant in VARIANTS for figure in _of_variant(evidence, variant)]


def _of_variant(evidence: Evidence, variant: Variant) -> Iterator[Figure]:
    view = if_measured(evidence.network, variant)
    if view is None:
        return
    lines = lines_of("channel", styles_of(list(CHANNELS)))
    made = (
        _throughput(view, variant, lines),
        _latency(view, variant, lines, "mean", "Figure 3", "Mean latency"),
        _latency(view, variant, lines, "max", "Figure 3", "Maximum latency"),
        _latency(view, variant, lines, "mean", "Figure 4", "Mean latency at low and middle loads", _ZOOM),
        _improvement(view, variant, lines),
    )
    yield from (figure for figure in made if figure is not None)


def _rows(view: View, role: str, metric: str, statistic: str, scale: Scale, most: float = 9.0) -> list[Point]:
    result = view.result
    return [
        point
        for load in view.loads
        if load <= most
        for channel in CHANNELS
        for point in point_of(
            result,
            result.estimate(view.spec(role), load=load, channel=channel, metric=metric, statistic=statistic),
            scale,
        )
    ]


def _figure(
    title: str, variant: Variant, caption: str, panels: list[tuple[str, dict[str, object]]], lines: Lines
) -> Figure | None:
    return Figure(f"{title} ({variant.name})", caption, tuple(panels), lines.key) if panels else None


def _throughput(view: View, variant: Variant, lines: Lines) -> Figure | None:
    rows = {role: _rows(view, role, "throughput", "mean", _PER_CENT) for role in runs.NETWORK}
    offered = {role: _rows(view, role, "offered", "mean", _PER_CENT) for role in runs.NETWORK}
    every = [point for part in (rows, offered) for points in part.values() for point in points]
    if not every:
        return None
    axes = axes_of(every, "throughput (% of a link)", zero=True)
    panels = [
        (_NAMES[role], line_chart(points, lines, axes, offered=offered[role]))
        for role, points in rows.items()
        if points
    ]
    caption = f"What arrives of each channel; the thin line is its offer. {_INTERVALS}"
    return _figure("Figure 2: throughput against load", variant, caption, panels, lines)


def _latency(
    view: View, variant: Variant, lines: Lines, statistic: str, figure: str, title: str, most: float = 9.0
) -> Figure | None:
    rows = {role: _rows(view, role, "latency", statistic, _MICROS, most) for role in runs.NETWORK}
    every = [point for points in rows.values() for point in points]
    if not every:
        return None
    axes = axes_of(every, f"{title.split(' at ')[0].lower()} (us)")
    panels = [(_NAMES[role], line_chart(points, lines, axes)) for role, points in rows.items() if points]
    caption = f"From the entry into the interface's buffer to the last byte at the other end. {_INTERVALS}"
    return _figure(f"{figure}: {title[0].lower()}{title[1:]}", variant, caption, panels, lines)


def _improvement(view: View, variant: Variant, lines: Lines) -> Figure | None:
    result, table = view.result, view.spec(DTABLE)
    rows = {
        word: [
            point
            for load in view.loads
            for channel in CHANNELS
            for point in point_of(
                result, result.difference(table, load=load, channel=channel, statistic=statistic), _AS_IT_IS
            )
        ]
        for statistic, word in (("mean", "mean latency"), ("max", "maximum latency"))
    }
    every = [point for points in rows.values() for point in points]
    if not every:
        return None
    axes = axes_of(every, "below DRR (%)", zero=True)
    panels = [(word, line_chart(points, lines, axes, rule=True)) for word, points in rows.items() if points]
    caption = (
        "By how much the latency under DTable is below that under DRR, in per cent of it; below zero DTable "
        "is worse. "
        f"Paired: both saw the same traffic. {_INTERVALS}"
    )
    return _figure("Figure 5: improvement of DTable over DRR", variant, caption, panels, lines)
