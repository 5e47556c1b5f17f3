"""The timeline of a node's result as a chart: who ran when, one row a process, and queues below.

Bars of a normal queue are high, those of a low queue and overhead lower, so that no reader depends on hue. A
line stands at each turn of an epoch, a shade where a critical scheduling period is, and a tick at each
wake-up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from weir.models.node.periods import (
    KINDS,
    NORMAL,
    OVERHEAD,
    WINDFALL,
    critical_periods,
    epochs,
    lengths,
    runs,
)
from weir.results.marks import styles_of
from weir.results.style import Figure, specification
from weir.text import quantity, scale_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weir.models.node.periods import Run
    from weir.models.node.result import NodeResult
    from weir.models.node.rows import Timeline
    from weir.text import Scale

MOST_RUNS = 3000
"""Runs in a chart; what is later is left out, and the caption says so. A trace has them all."""
_MOST_ROWS = 30
_MOST_TICKS = 1500
_MOST_QUEUES = 7
_COLOURS = {NORMAL: "#3d7fd0", WINDFALL: "#d98c21", OVERHEAD: "#8a8f96"}
_BANDS = {NORMAL: 0.74, WINDFALL: 0.42, OVERHEAD: 0.42}
_NAMES = {NORMAL: "runs", WINDFALL: "runs on a low queue (windfall)", OVERHEAD: "busy for nobody"}
_NORMAL_QUEUE = "runs on a normal queue"
_CRITICAL = "critical scheduling period"
_SHADE = "#8a8f96"
_EPOCH = "#d9534f"
_NARROW, _ROW = 96, 22
"""Pixels of the names beside the rows, and of a row."""


def timeline_figures(result: NodeResult) -> list[Figure]:
    """Return a figure for each discipline of which a timeline was kept."""
    return [figure for line in result.timelines if (figure := _figure(result, line)) is not None]


def _figure(result: NodeResult, line: Timeline) -> Figure | None:
    every = list(runs(line))
    kept = every[:MOST_RUNS]
    if not kept:
        return None
    until = line.until if len(kept) == len(every) else max(run.end for run in kept)
    rows = _rows(result, kept)
    scale = scale_for([until - line.from_], "s")
    x = _time(line.from_, until, scale)
    levels = any(level is not None for level in line.runs.level)
    panels = [("", _gantt(result, line, kept, rows, until, scale, x))]
    below = _lengths(result, line, until, scale, x)
    panels += [("data in the dual queues", below)] if below else []
    label = result.labels[line.discipline]
    title = f"Timeline under {label}" if len(result.disciplines) > 1 else "Timeline"
    missing = len(_nodes(result, kept)) - len(rows)
    starving = len({_row(result, run) for run in kept} & set(rows)) < len(rows)
    caption = _caption(line, until, missing, starving=starving, cut=len(kept) < len(every))
    return Figure(title, caption, tuple(panels), _key(kept, levels, line), stacked=True)


def _rows(result: NodeResult, kept: Sequence[Run]) -> list[str]:
    """Return the names of the rows, node by node: of many those with a need, then those that run.

    Who never runs has an empty row, so that it is seen to starve; but for those of the system.
    """
    first = _nodes(result, kept)
    running = {_row(result, run) for run in kept}
    needs = {row.name for row in result.processes if row.need > 0}
    order = {row.name: place for place, row in enumerate(result.processes)}
    names = sorted(first, key=lambda name: (first[name], order.get(name, len(order))))
    drawn = sorted(names, key=lambda name: (name not in needs, name not in running))[:_MOST_ROWS]
    return [name for name in names if name in drawn]


def _nodes(result: NodeResult, kept: Sequence[Run]) -> dict[str, int]:
    """Return the node of each row that can be drawn: where it runs first, or else begins."""
    first: dict[str, int] = {}
    for run in kept:
        first.setdefault(_row(result, run), run.node)
    for row in result.processes:
        if not row.system:
            first.setdefault(row.name, result.nodes.index(row.node))
    return first


def _row(result: NodeResult, run: Run) -> str:
    return f"({result.nodes[run.node]})" if run.process is None else result.processes[run.process].name


def _time(begin: float, end: float, scale: Scale) -> alt.X:
    return alt.X(
        "from:Q",
        scale=alt.Scale(domain=[begin / scale.factor, end / scale.factor], nice=False),
        axis=alt.Axis(title=f"time {scale.header}", tickCount=6, format=",~r", grid=False),
    )


def _gantt(
    result: NodeResult,
    line: Timeline,
    kept: Sequence[Run],
    rows: list[str],
    until: float,
    scale: Scale,
    x: alt.X,
) -> dict[str, Any]:
    """Return the chart of the processors."""
    y = alt.Y(
        "row:N",
        sort=rows,
        scale=alt.Scale(domain=rows, paddingInner=0, paddingOuter=0.1),
        axis=alt.Axis(
            title=None,
            labelLimit=_NARROW - 6,
            minExtent=_NARROW,
            maxExtent=_NARROW,
            ticks=False,
            domain=False,
        ),
    )
    base = alt.Chart().encode(y=y)
    values = [
        *_shades(result, line, kept, rows, until, scale),
        *(_bar(result, run, scale) for run in kept if _row(result, run) in rows),
        *_ticks(result, line, rows, until, scale),
        *({"mark": "epoch", "from": _digits(at / scale.factor)} for at in epochs(line) if at <= until),
    ]
    layers = [
        base.transform_filter("datum.mark == 'critical'")
        .mark_bar(color=_SHADE, opacity=0.16, height={"band": 1}, minBandSize=1)
        .encode(x=x, x2="until:Q"),
        alt.Chart()
        .transform_filter("datum.mark == 'epoch'")
        .mark_rule(color=_EPOCH, strokeWidth=1, strokeDash=[4, 3], opacity=0.8)
        .encode(x=x),
        *(
            base.transform_filter(f"datum.kind == '{kind}'")
            .mark_bar(color=_COLOURS[kind], height={"band": _BANDS[kind]})
            .encode(x=x, x2="until:Q", tooltip=_tooltip(scale))
            for kind in KINDS
        ),
        base.transform_filter("datum.mark == 'woke'")
        .mark_point(shape="triangle-up", size=22, filled=True, color=_SHADE, opacity=0.9, yOffset=8)
        .encode(x=x),
    ]
    return specification(alt.layer(*layers), _ROW * len(rows) + 4, values)


def _tooltip(scale: Scale) -> list[alt.Tooltip]:
    unit = scale.header
    return [
        alt.Tooltip("row:N", title="process"),
        alt.Tooltip("node:N"),
        alt.Tooltip("kind:N"),
        alt.Tooltip("from:Q", title=f"from {unit}", format=".6~g"),
        alt.Tooltip("until:Q", title=f"until {unit}", format=".6~g"),
        alt.Tooltip("length:N", title="for"),
    ]


def _bar(result: NodeResult, run: Run, scale: Scale) -> dict[str, Any]:
    return {
        "row": _row(result, run),
        "kind": run.kind,
        "node": result.nodes[run.node],
        "from": _digits(run.begin / scale.factor),
        "until": _digits(run.end / scale.factor),
        "length": quantity(run.end - run.begin, "s"),
    }


def _shades(
    result: NodeResult, line: Timeline, kept: Sequence[Run], rows: list[str], until: float, scale: Scale
) -> list[dict[str, Any]]:
    """Return the critical periods behind the rows of their node."""
    at = _nodes(result, kept)
    return [
        {
            "mark": "critical",
            "row": name,
            "from": _digits(period.begin / scale.factor),
            "until": _digits(min(period.end, until) / scale.factor),
        }
        for period in critical_periods(line)
        if period.begin < until
        for name in rows
        if at[name] == period.node
    ]


def _ticks(
    result: NodeResult, line: Timeline, rows: list[str], until: float, scale: Scale
) -> list[dict[str, Any]]:
    """Return the wake-ups, unless there are more than can be told apart."""
    found = [
        {"mark": "woke", "row": result.processes[process].name, "from": _digits(at / scale.factor)}
        for what, process, at in zip(line.marks.what, line.marks.process, line.marks.at, strict=True)
        if what == "woke" and process is not None and at <= until
    ]
    found = [tick for tick in found if tick["row"] in rows]
    return found if len(found) <= _MOST_TICKS else []


def _lengths(
    result: NodeResult, line: Timeline, until: float, scale: Scale, x: alt.X
) -> dict[str, Any] | None:
    """Return how many data lie in the queues, in steps; of many queues the first."""
    if not line.lengths.queue:
        return None
    names = result.queues[:_MOST_QUEUES]
    points = [
        {"queue": result.queues[queue], "from": _digits(at / scale.factor), "length": length}
        for queue, at, length in lengths(line, len(names))
        if at <= until
    ]
    most = max(1, *line.lengths.length)
    last = {point["queue"]: point["length"] for point in points}
    points += [{"queue": name, "from": until / scale.factor, "length": value} for name, value in last.items()]
    styles = styles_of(names)
    shades = alt.Scale(domain=list(styles), range=[shade for shade, _ in styles.values()])
    chart = (
        alt.Chart()
        .mark_line(interpolate="step-after", strokeWidth=1.5)
        .encode(
            x=x,
            y=alt.Y(
                "length:Q",
                scale=alt.Scale(domain=[0, most]),
                axis=alt.Axis(
                    title=None, tickCount=min(3, most), format="~g", minExtent=_NARROW, maxExtent=_NARROW
                ),
            ),
            color=alt.Color(
                "queue:N", scale=shades, legend=alt.Legend(title=None, orient="top", symbolType="stroke")
            ),
            tooltip=["queue:N", "length:Q", alt.Tooltip("from:Q", format=".6~g")],
        )
    )
    return specification(chart, 90, points)


def _key(kept: Sequence[Run], levels: bool, line: Timeline) -> tuple[tuple[str, str, str], ...]:
    used = [kind for kind in KINDS if any(run.kind == kind for run in kept)]
    entries = [
        (_NORMAL_QUEUE if kind == NORMAL and levels else _NAMES[kind], _COLOURS[kind], "") for kind in used
    ]
    entries += [("turn of an epoch", _EPOCH, "4 3")] if epochs(line) else []
    return (*entries, *([(_CRITICAL, "#a9aeb5", "")] if line.critical.node else []))


def _caption(line: Timeline, until: float, missing: int, *, starving: bool, cut: bool) -> str:
    span = f"{quantity(line.from_, 's')} to {quantity(until, 's')} of the first replication"
    words = f"Who ran when, from {span}; the triangles are wake-ups."
    if starving:
        words += " Who has an empty row did not run."
    if line.critical.node:
        words += f" In a {_CRITICAL} all that is left of the epoch is owed, or given away already."
    if cut:
        most = f"those until {quantity(line.until, 's')}" if line.truncated else "all"
        words += f" The chart ends after {MOST_RUNS:,} runs; --trace FILE.pftrace has {most}."
    if line.truncated:
        words += " More happened than was kept: what is kept ends earlier than asked for."
    return words + (f" Not drawn: {missing} more processes." if missing > 0 else "")


def _digits(value: float) -> float:
    return float(f"{value:.7g}")
