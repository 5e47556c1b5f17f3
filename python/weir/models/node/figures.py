"""Charts of a node's result: needs, responses and their distributions, samples over time, and timelines.

A panel is a process where disciplines are compared, and a discipline where processes are.
"""

from __future__ import annotations

from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from weir.models.node import over_time
from weir.models.node.tables import processes_of
from weir.models.node.timeline import timeline_figures
from weir.results import marks
from weir.results.reading import ALL
from weir.results.tables import PER_CENT, column_scale
from weir.text import quantity

if TYPE_CHECKING:
    from weir.models.node.result import NodeResult
    from weir.models.node.rows import Samples
    from weir.results.marks import Point
    from weir.results.style import Figure
    from weir.results.subjects import SubjectEstimate
    from weir.text import Scale

_MOST_BARS = 24
_MOST_LINES = 7
_MOST_TIMELINES = 4
"""Timelines that are not folded."""


def figures(result: NodeResult) -> list[Figure | None]:
    """Return the charts in the order of a report."""
    lines = [line for line in timeline_figures(result) if line is not None]
    return [
        *(replace(line, leads=True, folded=place >= _MOST_TIMELINES) for place, line in enumerate(lines)),
        _bars(result, "need_met", "mean", "Needs met", _NEED_CAPTION, PER_CENT),
        _bars(result, "epoch_run", "mean", "Run time in an epoch", _RUN_CAPTION),
        _bars(result, "response", "max", "Longest response", _RESPONSE_CAPTION),
        _distributions(result),
        _samples(result),
        *over_time.figures(result),
    ]


_NEED_CAPTION = (
    "In which part of the epochs in which it was ready throughout each process ran at least its need, with "
    "95 % intervals."
)
_RUN_CAPTION = "What each process ran in an epoch on average, its overheads included, with 95 % intervals."
_RESPONSE_CAPTION = (
    "The longest time from a wake-up to the next wait of all replications that ended in the measured time. "
    "It grows with the length of a run and the number of replications, and has no interval."
)


# Processes x disciplines.


def _drawn(result: NodeResult) -> tuple[list[str], str]:
    """Return the processes drawn, the first where there are many, and a sentence on the others."""
    names = [name for name in processes_of(result) if name != ALL]
    missing = len(names) - _MOST_BARS
    return names[:_MOST_BARS], f" Not drawn: {missing} more processes." if missing > 0 else ""


def _bars(
    result: NodeResult, metric: str, statistic: str, title: str, caption: str, scale: Scale | None = None
) -> Figure | None:
    """Return a statistic of the processes, a bar for each discipline."""
    lines = marks.by_discipline(result.labels)
    names, more = _drawn(result)
    rows = [
        row
        for discipline in result.disciplines
        for name in names
        if (row := result.estimate(discipline, name=name, metric=metric, statistic=statistic)) is not None
    ]
    drawn = lines.drawn(rows)
    if all(row.value is None for row in drawn):
        return None
    chosen = scale or column_scale(drawn)
    words = f"{title.lower()} {chosen.header}".rstrip()

    promised = {row.name for row in result.processes if row.need > 0} if metric == "need_met" else set()
    known = {row.name for row in drawn if row.value is not None} | promised

    def draw(points: list[Point], _: list[Point]) -> dict[str, Any]:
        return marks.bar_chart(names, points, lines, words, "process")

    points = [_point(result, row, chosen) for row in drawn if row.name in known]
    return marks.panelled(
        title, f"{caption}{more}{lines.missing}", [("", points)], draw, marks.bar_key(lines)
    )


def _point(result: NodeResult, row: SubjectEstimate, scale: Scale) -> Point:
    label = "n/a" if row.value is None else "" if row.value else f"0 {scale.unit}".rstrip()
    return {
        **({"label": label} if label else {}),
        "discipline": result.labels[row.discipline],
        "process": row.name,
        **marks.span(row, scale),
    }


# Distributions.


def _distributions(result: NodeResult) -> Figure | None:
    """Return the distributions of response: a panel a process, a line a discipline."""
    lines = marks.by_discipline(result.labels)
    rows = [row for row in result.distributions if row.metric == "response" and any(row.count)]
    titles = {ALL: "all processes", **{name: name for name in _drawn(result)[0]}}
    caption = (
        "The share of responses, from a wake-up to the next wait, that take longer than a given time; the "
        "lower the curve, the better. Both axes are logarithmic."
    )
    about = attrgetter("process")
    return marks.distribution("response", caption, lines.drawn(rows), titles, about, lines, noun="processes")


# Samples.


def _samples(result: NodeResult) -> Figure | None:
    """Return the run time of processes over time: a panel a discipline, a line a process."""
    found = [
        row for row in result.samples if (row.kind, row.metric) == ("process", "run_time") and row.values
    ]
    if not found:
        return None
    known = dict.fromkeys(row.name for row in found)
    most = {name: max(max(row.values) for row in found if row.name == name) for name in known}
    first = sorted(known, key=lambda name: -most[name])[:_MOST_LINES]
    names = [name for name in processes_of(result) if name in first]
    lines = marks.lines_of("process", marks.styles_of(names))
    panels = {
        label: [
            point
            for row in found
            if row.discipline == name and row.name in names
            for point in _sample_points(row)
        ]
        for name, label in result.labels.items()
    }
    some = len(known) - len(names)
    more = f" Drawn are those that run most; {some} are not." if some else ""
    caption = (
        f"What each process ran in each {quantity(found[0].interval, 's')} of the first replication, from "
        f"its beginning on, in ms per second.{more}"
    )

    def draw(points: list[Point], _: list[Point]) -> dict[str, Any]:
        return marks.over_time(points, lines, f"run time ({found[0].unit})")

    return marks.panelled("Run time over time", caption, panels.items(), draw, lines.key)


def _sample_points(row: Samples) -> list[Point]:
    return [
        {
            "process": row.name,
            "time": marks.digits((place + 0.5) * row.interval),
            "value": marks.digits(value),
        }
        for place, value in enumerate(row.values)
    ]
