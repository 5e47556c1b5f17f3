"""Charts of a server's result: distributions class by class, means over time, cores in use over time.

A panel is a class, a line a discipline.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weir.models.server.tables import METRICS, classes_of
from weir.results.marks import bar_chart, bar_key, by_discipline, curves, digits, over_time, span
from weir.results.reading import ALL
from weir.results.style import Figure, is_wide, log_scale
from weir.results.tables import column_scale
from weir.text import Scale, number, quantity, scale_for

if TYPE_CHECKING:
    from weir.models.server.result import ServerResult
    from weir.models.server.rows import Windows
    from weir.results.marks import Lines, Point

__all__ = ["server_figures"]

_MOST_PANELS = 12
_MOST_POINTS = 600
_SHORT = 0.01
"""A bar of less than this part of the longest is not seen: its value is written."""


def server_figures(result: ServerResult) -> list[Figure]:
    """Return the charts that the result has the rows for, in the order of a report."""
    made = [
        _bars(result),
        *(_distributions(result, metric) for metric in ("slowdown", "response", "delay")),
        _windows(result),
        _in_use(result),
    ]
    return [figure for figure in made if figure is not None]


def _panel(class_: str) -> str:
    return "all requests" if class_ == ALL else class_


# Tails by class.


def _bars(result: ServerResult) -> Figure | None:
    """Return p99.9 of the slowdown, a bar a discipline for each class."""
    lines, missing = by_discipline(result.labels)
    rows = [
        row
        for name in result.disciplines
        if result.labels[name] in lines.names
        for class_ in classes_of(result)
        if (row := result.estimate(name, name=class_, metric="slowdown", statistic="p99.9")) is not None
        and row.value is not None
    ]
    if not rows:
        return None
    scale = column_scale(rows)
    short = _SHORT * max(max(row.value or 0.0, row.high or 0.0) for row in rows)
    points: list[Point] = [
        {
            "discipline": result.labels[row.discipline],
            "class": _panel(row.name),
            **span(row, scale),
            **(
                {"label": number((row.value or 0.0) / scale.factor, 3)}
                if max(row.value or 0.0, row.high or 0.0) < short
                else {}
            ),
        }
        for row in rows
    ]
    names = [_panel(class_) for class_ in classes_of(result)]
    without = [name for name in names if all(point["class"] != name for point in points)]
    few = f" Of {', '.join(without)} there are too few requests for it." if without else ""
    chart = bar_chart(names, points, lines, "p99.9 slowdown", "class")
    caption = (
        "The slowdown, response over service, that one request in a thousand exceeds, with 95 % intervals; "
        f"the shorter the bar, the better.{few}{missing}"
    )
    return Figure("p99.9 slowdown", caption, (("", chart),), bar_key(lines))


# Distributions.


def _distributions(result: ServerResult, metric: str) -> Figure | None:
    """Return the distributions of a metric: a panel a class, a line a discipline."""
    lines, missing = by_discipline(result.labels)
    rows = [
        row
        for row in result.distributions
        if row.metric == metric and result.labels[row.discipline] in lines.names and any(row.count)
    ]
    if not rows:
        return None
    names = [class_ for class_ in classes_of(result) if any(row.class_ == class_ for row in rows)]
    titles = {class_: _panel(class_) for class_ in names[:_MOST_PANELS]}
    scale = None if rows[0].unit == "s" else Scale(1.0, "")
    panels = curves(result.labels, rows, lambda row: row.class_, titles, METRICS[metric], scale)
    if not panels:
        return None
    some = f" Drawn are {len(panels)} of {len(names)} classes." if len(names) > _MOST_PANELS else ""
    caption = (
        f"The share of requests whose {METRICS[metric]} is above a given value; the lower the curve, the "
        f"better. Both axes are logarithmic.{some}{missing}"
    )
    return Figure(f"Distribution of {METRICS[metric]}", caption, panels, lines.key)


# Over time.


def _windows(result: ServerResult) -> Figure | None:
    """Return the mean queueing delay of windows over time: a panel a class, a line a discipline."""
    lines, missing = by_discipline(result.labels)
    rows = [
        row
        for row in result.windows
        if result.labels[row.discipline] in lines.names and any(value is not None for value in row.values)
    ]
    if not rows:
        return None
    scale = scale_for((value for row in rows for value in row.values), rows[0].unit)
    panels = []
    for class_ in classes_of(result)[:_MOST_PANELS]:
        points = [
            point for row in rows if row.class_ == class_ for point in _window_points(result, row, scale)
        ]
        if points:
            panels.append((_panel(class_), _over_time(points, lines, f"mean delay {scale.header}")))
    if not panels:
        return None
    caption = (
        f"The mean queueing delay of the requests whose service begins in each window of "
        f"{quantity(rows[0].interval, 's')} of the first replication.{missing}"
    )
    return Figure("Queueing delay over time", caption, tuple(panels), lines.key)


def _window_points(result: ServerResult, row: Windows, scale: Scale) -> list[Point]:
    """Return the windows of a row, some of them put together where they are many."""
    step = -(-len(row.values) // _MOST_POINTS)
    points: list[Point] = []
    for first in range(0, len(row.values), step):
        part = slice(first, first + step)
        pairs = [
            (value, count)
            for value, count in zip(row.values[part], row.counts[part], strict=True)
            if value is not None and count
        ]
        if pairs:
            mean = sum(value * count for value, count in pairs) / sum(count for _, count in pairs)
            middle = (first + min(step, len(row.values) - first) / 2) * row.interval
            points.append(
                {
                    "discipline": result.labels[row.discipline],
                    "time": digits(middle),
                    "value": digits(mean / scale.factor),
                }
            )
    return points


def _in_use(result: ServerResult) -> Figure | None:
    """Return the cores in use over time, where a discipline changes them."""
    rows = [row for row in result.in_use if len(set(row.count)) > 1]
    lines, missing = by_discipline({row.discipline: result.labels[row.discipline] for row in rows})
    points: list[Point] = []
    for row in rows:
        step = -(-len(row.at) // _MOST_POINTS)
        points += [
            {
                "discipline": result.labels[row.discipline],
                "time": digits(row.at[place]),
                "value": row.count[place],
            }
            for place in range(0, len(row.at), step)
            if result.labels[row.discipline] in lines.names
        ]
    if not points:
        return None
    chart = over_time(points, lines, "cores in use", step=True)
    cut = " There were more changes than are kept." if any(row.truncated for row in rows) else ""
    caption = f"How many cores new requests may be sent to, in the first replication.{cut}{missing}"
    return Figure("Cores in use over time", caption, (("", chart),), lines.key)


def _over_time(points: list[Point], lines: Lines, title: str) -> dict[str, Any]:
    values = [float(point["value"]) for point in points]
    return over_time(points, lines, title, scale=log_scale(values) if is_wide(values) else None)
