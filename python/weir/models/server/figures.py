"""Charts of a server's result: distributions class by class, means over time, cores in use over time.

A panel is a class, a line a discipline.
"""

from __future__ import annotations

from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from weir.models.server.over_time import figures as windows_over_time
from weir.models.server.tables import METRICS, classes_of
from weir.results import marks, over_time
from weir.results.reading import ALL
from weir.results.tables import column_scale
from weir.results.verdict import capital
from weir.text import number, quantity, scale_for

if TYPE_CHECKING:
    from weir.models.server.result import ServerResult
    from weir.models.server.rows import Windows
    from weir.results.marks import Point
    from weir.results.style import Figure
    from weir.results.subjects import SubjectEstimate
    from weir.text import Scale

_MOST_PANELS = 12
_MOST_POINTS = 600
_PARTS = {"p99.9": "a thousand", "p99": "a hundred", "p50": "two"}
"""Which part of the requests exceeds a quantile, the farthest first."""
_SHORT = 0.01
"""A bar of less than this part of the longest is not seen: its value is written."""


def figures(result: ServerResult) -> list[Figure | None]:
    """Return the charts in the order of a report."""
    first, *others = (_distributions(result, metric) for metric in ("response", "slowdown", "delay"))
    bars = _bars(result)
    return [
        bars and replace(bars, leads=not result.needs),
        first,
        _windows(result) or _delays(result),
        *windows_over_time(result),
        *(each and replace(each, folded=True) for each in (*others, _in_use(result))),
    ]


def _panel(class_: str) -> str:
    return "all requests" if class_ == ALL else class_


# Tails by class.


def _bars(result: ServerResult) -> Figure | None:
    """Return the mean response, or the slowdown where one is asked for: a bar a discipline for each class."""
    metric, statistic, words = _led_by(result)
    rows = _found(result, metric, statistic)
    if not rows:
        return None
    lines, classes = marks.by_discipline(result.labels), classes_of(result)
    drawn = lines.drawn(rows)
    scale, short = column_scale(drawn), _SHORT * max(map(_reach, drawn), default=0.0)
    points = [_bar(result, row, scale, short) for row in drawn]
    names = [_panel(class_) for class_ in classes]
    without = [name for name in names if all(point["class"] != name for point in points)]
    few = f" Of {', '.join(without)} there are too few requests for it." if without else ""
    caption = f"{words}, with 95 % intervals; the shorter the bar, the better.{few}{lines.missing}"
    title = f"{statistic} {metric}"

    def draw(points: list[Point], _: list[Point]) -> dict[str, Any]:
        return marks.bar_chart(names, points, lines, f"{title} {scale.header}".rstrip(), "class")

    heading = capital(title) if statistic == "mean" else title
    return marks.panelled(heading, caption, [("", points)], draw, marks.bar_key(lines))


def _led_by(result: ServerResult) -> tuple[str, str, str]:
    """Return the metric and the statistic that are drawn first, and what they are."""
    if any(row.slo is not None for row in result.classes):
        for statistic, part in _PARTS.items():
            if _found(result, "slowdown", statistic):
                words = f"The slowdown, response over service, that one request in {part} exceeds"
                return "slowdown", statistic, words
    return "response", "mean", "The mean response, from arrival to the end of service"


def _found(result: ServerResult, metric: str, statistic: str) -> list[SubjectEstimate]:
    """Return a figure of each class under each discipline, where there is one."""
    return [
        row
        for name in result.disciplines
        for class_ in classes_of(result)
        if (row := result.estimate(name, name=class_, metric=metric, statistic=statistic)) is not None
        and row.value is not None
    ]


def _bar(result: ServerResult, row: SubjectEstimate, scale: Scale, short: float) -> Point:
    """Return a bar, with its value in words where it is shorter than can be seen."""
    label = {"label": number((row.value or 0.0) / scale.factor, 3)} if _reach(row) < short else {}
    about = {"discipline": result.labels[row.discipline], "class": _panel(row.name)}
    return {**about, **marks.span(row, scale), **label}


def _reach(row: SubjectEstimate) -> float:
    return max(row.value or 0.0, row.high or 0.0)


# Distributions.


def _distributions(result: ServerResult, metric: str) -> Figure | None:
    """Return the distributions of a metric: a panel a class, a line a discipline."""
    lines, words = marks.by_discipline(result.labels), METRICS[metric]
    rows = [row for row in result.distributions if row.metric == metric and any(row.count)]
    titles = {class_: _panel(class_) for class_ in classes_of(result)}
    caption = (
        f"The share of requests whose {words} is above a given value; the lower the curve, the better. Both "
        "axes are logarithmic."
    )
    about = attrgetter("class_")
    return marks.distribution(words, caption, lines.drawn(rows), titles, about, lines, noun="classes")


# Over time.


def _delays(result: ServerResult) -> Figure | None:
    """Return the queueing delay over time as every result has it: a panel a class, a line a discipline."""
    panels = {class_: _panel(class_) for class_ in classes_of(result)[:_MOST_PANELS]}
    lines, whose = marks.by_discipline(result.labels), "the requests that arrive"
    return over_time.figure(result.delay_over_time, lines, panels, "queueing delay", whose)


def _windows(result: ServerResult) -> Figure | None:
    """Return the mean queueing delay of windows over time: a panel a class, a line a discipline."""
    lines = marks.by_discipline(result.labels)
    drawn = lines.drawn(row for row in result.windows if any(value is not None for value in row.values))
    if not drawn:
        return None
    scale = scale_for((value for row in drawn for value in row.values), drawn[0].unit)
    panels = (
        (
            _panel(class_),
            [point for row in drawn if row.class_ == class_ for point in _window_points(result, row, scale)],
        )
        for class_ in classes_of(result)[:_MOST_PANELS]
    )
    caption = (
        f"The mean queueing delay of the requests whose service begins in each window of "
        f"{quantity(drawn[0].interval, 's')} of the first replication.{lines.missing}"
    )

    def draw(points: list[Point], _: list[Point]) -> dict[str, Any]:
        return marks.over_time(points, lines, f"mean delay {scale.header}")

    return marks.panelled("Queueing delay over time", caption, panels, draw, lines.key)


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
            points.append(_point(result, row.discipline, middle, marks.digits(mean / scale.factor)))
    return points


def _point(result: ServerResult, discipline: str, time: float, value: float) -> Point:
    return {"discipline": result.labels[discipline], "time": marks.digits(time), "value": value}


def _in_use(result: ServerResult) -> Figure | None:
    """Return the cores in use over time, where a discipline changes them."""
    rows = [row for row in result.in_use if len(set(row.count)) > 1]
    lines = marks.by_discipline({row.discipline: result.labels[row.discipline] for row in rows})
    points = [
        _point(result, row.discipline, row.at[place], row.count[place])
        for row in lines.drawn(rows)
        for place in range(0, len(row.at), -(-len(row.at) // _MOST_POINTS))
    ]
    cut = " There were more changes than are kept." if any(row.truncated for row in rows) else ""
    caption = f"How many cores new requests may be sent to, in the first replication.{cut}{lines.missing}"

    def draw(points: list[Point], _: list[Point]) -> dict[str, Any]:
        return marks.over_time(points, lines, "cores in use", step=True)

    return marks.panelled("Cores in use over time", caption, [("", points)], draw, lines.key)
