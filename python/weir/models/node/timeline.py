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
from weir.results.style import PALETTE, Figure, specification
from weir.results.verdict import under
from weir.text import quantity, scale_for

if TYPE_CHECKING:
    from weir.models.node.periods import Run
    from weir.models.node.result import NodeResult
    from weir.models.node.rows import Timeline
    from weir.results.marks import Point

MOST_RUNS = 3000
"""Runs in a chart; what is later is left out, and the caption says so. A trace has them all."""
_MOST_ROWS = 30
_MOST_TICKS = 1500
_MOST_QUEUES = 7
_COLOURS = {NORMAL: PALETTE[0], WINDFALL: PALETTE[3], OVERHEAD: "#8a8f96"}
_BANDS = {NORMAL: 0.74, WINDFALL: 0.42, OVERHEAD: 0.42}
_NAMES = {NORMAL: "runs", WINDFALL: "runs on a low queue (windfall)", OVERHEAD: "busy for nobody"}
_NORMAL_QUEUE = "runs on a normal queue"
_CRITICAL = "critical scheduling period"
_SHADE = "#8a8f96"
_EPOCH = PALETTE[1]
_NARROW, _ROW = 96, 22
"""Pixels of the names next to the rows, and of a row."""
_BESIDE: dict[str, Any] = {"minExtent": _NARROW, "maxExtent": _NARROW}


def timeline_figures(result: NodeResult) -> list[Figure | None]:
    """Return a figure for each discipline of which a timeline was kept."""
    return [_Chart(result, line).figure() if line.runs.node else None for line in result.timelines]


class _Chart:
    """The chart of one timeline: what of it is drawn, until when, and in which scale."""

    def __init__(self, result: NodeResult, line: Timeline) -> None:
        self.result, self.line = result, line
        every = list(runs(line))
        self.kept = every[:MOST_RUNS]
        self.cut = len(self.kept) < len(every)
        self.until = max(run.end for run in self.kept) if self.cut else line.until
        self.scale = scale_for([self.until - line.from_], "s")
        self.running = {self._row(run) for run in self.kept}
        self.nodes = self._nodes()
        self.rows = self._rows()
        self.x = alt.X(
            "from:Q",
            scale=alt.Scale(
                domain=[line.from_ / self.scale.factor, self.until / self.scale.factor], nice=False
            ),
            axis=alt.Axis(title=f"time {self.scale.header}", tickCount=6, format=",~r", grid=False),
        )

    def figure(self) -> Figure:
        """Return the processors and, where queues hold anything, these below."""
        panels = [("", self._gantt())]
        if any(self.line.lengths.length):
            panels.append(("data in the dual queues", self._lengths()))
        title = f"Timeline{under(self.result, [self.line.discipline])}"
        return Figure(title, self._caption(), tuple(panels), self._key(), stacked=True)

    def _row(self, run: Run) -> str:
        result = self.result
        return f"({result.nodes[run.node]})" if run.process is None else result.processes[run.process].name

    def _nodes(self) -> dict[str, int]:
        """Return the node of each row that can be drawn: where it runs first, or else begins."""
        first: dict[str, int] = {}
        for run in self.kept:
            first.setdefault(self._row(run), run.node)
        for row in self.result.processes:
            if not row.system:
                first.setdefault(row.name, self.result.nodes.index(row.node))
        return first

    def _rows(self) -> list[str]:
        """Return the names of the rows, node by node: of many those with a need, then those that run.

        Who never runs has an empty row, so that it is seen to starve; but for those of the system.
        """
        needs = {row.name for row in self.result.processes if row.need > 0}
        order = {row.name: place for place, row in enumerate(self.result.processes)}
        names = sorted(self.nodes, key=lambda name: (self.nodes[name], order.get(name, len(order))))
        drawn = sorted(names, key=lambda name: (name not in needs, name not in self.running))[:_MOST_ROWS]
        return [name for name in names if name in drawn]

    def _span(self, begin: float, end: float | None = None) -> Point:
        """Return a time, or a span of it, in the scale of the chart."""
        ends = {"from": begin} if end is None else {"from": begin, "until": end}
        return {name: float(f"{at / self.scale.factor:.7g}") for name, at in ends.items()}

    def _gantt(self) -> dict[str, Any]:
        """Return the chart of the processors."""
        y = alt.Y(
            "row:N",
            sort=self.rows,
            scale=alt.Scale(domain=self.rows, paddingInner=0, paddingOuter=0.1),
            axis=alt.Axis(title=None, labelLimit=_NARROW - 6, **_BESIDE, ticks=False, domain=False),
        )
        base, plain, x = alt.Chart().encode(y=y), alt.Chart(), self.x
        values = [
            *self._shades(),
            *(self._bar(run) for run in self.kept if self._row(run) in self.rows),
            *self._ticks(),
            *({"mark": "epoch", **self._span(at)} for at in epochs(self.line) if at <= self.until),
        ]
        layers = [
            base.transform_filter("datum.mark == 'critical'")
            .mark_bar(color=_SHADE, opacity=0.16, height={"band": 1}, minBandSize=1)
            .encode(x=x, x2="until:Q"),
            plain.transform_filter("datum.mark == 'epoch'")
            .mark_rule(color=_EPOCH, strokeWidth=1, strokeDash=[4, 3], opacity=0.8)
            .encode(x=x),
            *(
                base.transform_filter(f"datum.kind == '{kind}'")
                .mark_bar(color=_COLOURS[kind], height={"band": _BANDS[kind]})
                .encode(x=x, x2="until:Q", tooltip=self._tooltip())
                for kind in KINDS
            ),
            base.transform_filter("datum.mark == 'woke'")
            .mark_point(shape="triangle-up", size=22, filled=True, color=_SHADE, opacity=0.9, yOffset=8)
            .encode(x=x),
        ]
        return specification(alt.layer(*layers), _ROW * len(self.rows) + 4, values)

    def _tooltip(self) -> list[alt.Tooltip]:
        ends = ("from", "until")
        return [
            alt.Tooltip("row:N", title="process"),
            alt.Tooltip("node:N"),
            alt.Tooltip("kind:N"),
            *(alt.Tooltip(f"{end}:Q", title=f"{end} {self.scale.header}", format=".6~g") for end in ends),
            alt.Tooltip("length:N", title="for"),
        ]

    def _bar(self, run: Run) -> Point:
        return {
            "row": self._row(run),
            "kind": run.kind,
            "node": self.result.nodes[run.node],
            **self._span(run.begin, run.end),
            "length": quantity(run.end - run.begin, "s"),
        }

    def _shades(self) -> list[Point]:
        """Return the critical periods behind the rows of their node."""
        return [
            {"mark": "critical", "row": name, **self._span(period.begin, min(period.end, self.until))}
            for period in critical_periods(self.line)
            if period.begin < self.until
            for name in self.rows
            if self.nodes[name] == period.node
        ]

    def _ticks(self) -> list[Point]:
        """Return the wake-ups, unless there are more than can be distinguished."""
        marks = self.line.marks
        found = [
            {"mark": "woke", "row": name, **self._span(at)}
            for what, process, at in zip(marks.what, marks.process, marks.at, strict=True)
            if what == "woke" and process is not None and at <= self.until
            if (name := self.result.processes[process].name) in self.rows
        ]
        return found if len(found) <= _MOST_TICKS else []

    def _lengths(self) -> dict[str, Any]:
        """Return how many data lie in the queues, in steps; of many queues the first."""
        names = self.result.queues[:_MOST_QUEUES]
        points = [
            {"queue": names[queue], **self._span(at), "length": length}
            for queue, at, length in lengths(self.line, len(names))
            if at <= self.until
        ]
        most = max(1, *self.line.lengths.length)
        last = {point["queue"]: point["length"] for point in points}
        end = self.until / self.scale.factor
        points += [{"queue": name, "from": end, "length": value} for name, value in last.items()]
        styles = styles_of(names)
        shades = alt.Scale(domain=list(styles), range=[shade for shade, _ in styles.values()])
        legend = alt.Legend(title=None, orient="top", symbolType="stroke")
        y = alt.Y(
            "length:Q",
            scale=alt.Scale(domain=[0, most]),
            axis=alt.Axis(title=None, tickCount=min(3, most), format="~g", **_BESIDE),
        )
        chart = alt.Chart().mark_line(interpolate="step-after", strokeWidth=1.5)
        encoded = chart.encode(
            x=self.x,
            y=y,
            color=alt.Color("queue:N", scale=shades, legend=legend),
            tooltip=["queue:N", "length:Q", alt.Tooltip("from:Q", format=".6~g")],
        )
        return specification(encoded, 90, points)

    def _key(self) -> tuple[tuple[str, str, str], ...]:
        levels = any(level is not None for level in self.line.runs.level)
        names = _NAMES | ({NORMAL: _NORMAL_QUEUE} if levels else {})
        used = [kind for kind in KINDS if any(run.kind == kind for run in self.kept)]
        return (
            *((names[kind], _COLOURS[kind], "") for kind in used),
            *([("turn of an epoch", _EPOCH, "4 3")] if epochs(self.line) else []),
            *([(_CRITICAL, "#a9aeb5", "")] if self.line.critical.node else []),
        )

    def _caption(self) -> str:
        line = self.line
        span = f"from {quantity(line.from_, 's')} to {quantity(self.until, 's')}"
        words = f"Which process ran when, {span} of the first replication; the triangles are wake-ups."
        if not self.running.issuperset(self.rows):
            words += " A process with an empty row did not run."
        if line.critical.node:
            words += f" In a {_CRITICAL} all that is left of the epoch is owed, or given away already."
        if self.cut:
            most = f"those until {quantity(line.until, 's')}" if line.truncated else "all"
            words += f" The chart ends after {MOST_RUNS:,} runs; --trace FILE.pftrace has {most}."
        if line.truncated:
            words += " More happened than was kept: what is kept ends earlier than asked for."
        missing = len(self.nodes) - len(self.rows)
        return words + (f" Not drawn: {missing} more processes." if missing else "")
