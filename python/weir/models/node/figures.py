"""Charts of a node's result: needs, responses and their distributions, samples over time, and timelines.

A panel is a process where disciplines are compared, and a discipline where processes are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weir.models.node.tables import processes_of
from weir.models.node.timeline import timeline_figures
from weir.results.marks import (
    bar_chart,
    bar_key,
    by_discipline,
    curves,
    digits,
    lines_of,
    over_time,
    span,
    styles_of,
)
from weir.results.reading import ALL
from weir.results.style import Figure
from weir.results.tables import PER_CENT, column_scale
from weir.text import quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weir.models.node.result import NodeResult
    from weir.models.node.rows import Samples
    from weir.results.marks import Lines, Point
    from weir.results.subjects import SubjectEstimate
    from weir.text import Scale

__all__ = ["node_figures"]

_MOST_BARS = 24
_MOST_PANELS = 12
_MOST_LINES = 7


def node_figures(result: NodeResult) -> list[Figure]:
    """Return the charts that the result has the rows for, in the order of a report."""
    made = [
        _bars(result, "need_met", "mean", "Needs met", _NEED_CAPTION, PER_CENT),
        _bars(result, "epoch_run", "mean", "Run time in an epoch", _RUN_CAPTION),
        _bars(result, "response", "max", "Longest response", _RESPONSE_CAPTION),
        _distributions(result),
        _samples(result),
    ]
    return [*timeline_figures(result), *(figure for figure in made if figure is not None)]


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
    lines, missing = by_discipline(result.labels)
    names, more = _drawn(result)
    rows = [
        row
        for discipline in result.disciplines
        if result.labels[discipline] in lines.names
        for name in names
        if (row := result.estimate(discipline, name=name, metric=metric, statistic=statistic)) is not None
    ]
    if all(row.value is None for row in rows):
        return None
    chosen = scale or column_scale(rows)
    points = [_point(result, row, chosen) for row in rows]
    words = f"{title.lower()} {chosen.header}".rstrip()
    chart = bar_chart(names, points, lines, words, "process")
    return Figure(title, f"{caption}{more}{missing}", (("", chart),), bar_key(lines))


def _point(result: NodeResult, row: SubjectEstimate, scale: Scale) -> Point:
    label = "n/a" if row.value is None else "" if row.value else f"0 {scale.unit}".rstrip()
    return {
        **({"label": label} if label else {}),
        "discipline": result.labels[row.discipline],
        "process": row.name,
        **span(row, scale),
    }


# Distributions.


def _distributions(result: NodeResult) -> Figure | None:
    """Return the distributions of response: a panel a process, a line a discipline."""
    lines, missing = by_discipline(result.labels)
    rows = [
        row
        for row in result.distributions
        if row.metric == "response" and result.labels[row.discipline] in lines.names and any(row.count)
    ]
    if not rows:
        return None
    names = [name for name in (ALL, *_drawn(result)[0]) if any(row.process == name for row in rows)]
    titles = {name: "all processes" if name == ALL else name for name in names[:_MOST_PANELS]}
    panels = curves(result.labels, rows, lambda row: row.process, titles, "response")
    if not panels:
        return None
    some = f" Drawn are {len(panels)} of {len(names)} processes." if len(names) > _MOST_PANELS else ""
    caption = (
        "The share of responses, from a wake-up to the next wait, that take longer than a given time; the "
        f"lower the curve, the better. Both axes are logarithmic.{some}{missing}"
    )
    return Figure("Distribution of response", caption, panels, lines.key)


# Samples.


def _samples(result: NodeResult) -> Figure | None:
    """Return the run time of processes over time: a panel a discipline, a line a process."""
    found = [
        row for row in result.samples if row.kind == "process" and row.metric == "run_time" and row.values
    ]
    names = sorted(
        {row.name for row in found},
        key=lambda name: -max(max(row.values) for row in found if row.name == name),
    )[:_MOST_LINES]
    names = [name for name in processes_of(result) if name in names]
    if not names:
        return None
    lines = lines_of("process", styles_of(names))
    panels = []
    for discipline in result.disciplines:
        rows = [row for row in found if row.discipline == discipline and row.name in names]
        if rows:
            panels.append((result.labels[discipline], _over_time(rows, lines)))
    some = len({row.name for row in found}) - len(names)
    more = f" Drawn are those that run most; {some} are not." if some else ""
    caption = (
        f"What each process ran in each {quantity(found[0].interval, 's')} of the first replication, from "
        f"its beginning on, in ms per second.{more}"
    )
    return Figure("Run time over time", caption, tuple(panels), lines.key)


def _over_time(rows: Sequence[Samples], lines: Lines) -> dict[str, Any]:
    points = [
        {"process": row.name, "time": digits((place + 0.5) * row.interval), "value": digits(value)}
        for row in rows
        for place, value in enumerate(row.values)
    ]
    return over_time(points, lines, f"run time ({rows[0].unit})")
