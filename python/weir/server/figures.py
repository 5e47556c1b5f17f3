"""Charts of a server's result: distributions class by class, means over time, cores in use over time.

A panel is a class, a line a discipline.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from weir.charts.delays import DECADES, ccdf, ccdf_chart
from weir.charts.style import Figure, is_wide, log_scale, specification
from weir.fabric.marks import Named, bar_chart, by_discipline
from weir.server.tables import METRICS, classes_of
from weir.subjects import ALL
from weir.tables import column_scale
from weir.text import Scale, number, quantity, scale_for

if TYPE_CHECKING:
    from weir.fabric.marks import Lines, Point
    from weir.server.result import ServerResult
    from weir.server.rows import Windows

__all__ = ["server_figures"]

_MOST_PANELS = 12
_MOST_POINTS = 600
_HEIGHT = 220
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


def _digits(value: float) -> float:
    return float(f"{value:.5g}")


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
    points: list[Point] = []
    for row in rows:
        value = row.value or 0.0
        low, high = (value if end is None else end for end in (row.low, row.high))
        points.append(
            {
                "discipline": result.labels[row.discipline],
                "class": _panel(row.name),
                "value": _digits(value / scale.factor),
                "low": _digits(max(0.0, low) / scale.factor),
                "high": _digits(high / scale.factor),
                **({"label": number(value / scale.factor, 3)} if max(value, high) < short else {}),
            }
        )
    names = [_panel(class_) for class_ in classes_of(result)]
    without = [name for name in names if all(point["class"] != name for point in points)]
    few = f" Of {', '.join(without)} there are too few requests for it." if without else ""
    chart = bar_chart(names, points, lines, "p99.9 slowdown", "class")
    caption = (
        "The slowdown, response over service, that one request in a thousand exceeds, with 95 % intervals; "
        f"the shorter the bar, the better.{few}{missing}"
    )
    return Figure("p99.9 slowdown", caption, (("", chart),), _bar_key(result, lines))


def _bar_key(result: ServerResult, lines: Lines) -> tuple[tuple[str, str, str], ...]:
    """Return the key; bars have no dash."""
    return tuple((name, shade, "") for name, shade, _ in lines.key) if len(result.disciplines) > 1 else ()


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
    unit = rows[0].unit
    scale = scale_for((row.low[len(row.low) // 2] for row in rows), unit) if unit == "s" else Scale(1.0, "")
    early = max(row.high[-1] for row in rows) / 10**DECADES
    panels = []
    names = [class_ for class_ in classes_of(result) if any(row.class_ == class_ for row in rows)]
    found = {
        class_: [
            {**point, "discipline": result.labels[row.discipline]}
            for row in rows
            if row.class_ == class_
            for point in ccdf(row, scale, early)
        ]
        for class_ in names[:_MOST_PANELS]
    }
    every = [point for points in found.values() for point in points]
    if not every:
        return None
    chart = ccdf_chart(Named(tuple(result.labels.values())), METRICS[metric], every, list(lines.names), scale)
    chart["encoding"] |= {"color": lines.colour.to_dict(), "strokeDash": lines.dash.to_dict()}
    panels = [
        (_panel(class_), {**chart, "data": {"values": points}}) for class_, points in found.items() if points
    ]
    some = f" Drawn are {len(panels)} of {len(names)} classes." if len(names) > _MOST_PANELS else ""
    caption = (
        f"The share of requests whose {METRICS[metric]} is above a given value; the lower the curve, the "
        f"better. Both axes are logarithmic.{some}{missing}"
    )
    return Figure(f"Distribution of {METRICS[metric]}", caption, tuple(panels), lines.key)


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
                    "time": _digits(middle),
                    "value": _digits(mean / scale.factor),
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
                "time": _digits(row.at[place]),
                "value": row.count[place],
            }
            for place in range(0, len(row.at), step)
            if result.labels[row.discipline] in lines.names
        ]
    if not points:
        return None
    chart = _over_time(points, lines, "cores in use", step=True)
    cut = " There were more changes than are kept." if any(row.truncated for row in rows) else ""
    caption = f"How many cores new requests may be sent to, in the first replication.{cut}{missing}"
    return Figure("Cores in use over time", caption, (("", chart),), lines.key)


def _over_time(points: list[Point], lines: Lines, title: str, *, step: bool = False) -> dict[str, Any]:
    values = [float(point["value"]) for point in points]
    wide = not step and is_wide(values)
    scale = log_scale(values) if wide else alt.Scale(domainMin=0)
    mark: dict[str, Any] = {"strokeWidth": 1.8, **({"interpolate": "step-after"} if step else {})}
    chart = (
        alt.Chart()
        .mark_line(**mark)
        .encode(
            x=alt.X("time:Q", axis=alt.Axis(title="time (s)", tickCount=6, format="~g")),
            y=alt.Y("value:Q", scale=scale, axis=alt.Axis(title=title, tickCount=6)),
            color=lines.colour,
            strokeDash=lines.dash,
            tooltip=["discipline:N", "time:Q", alt.Tooltip("value:Q", format=".4~g")],
        )
    )
    return specification(chart, _HEIGHT, points)
