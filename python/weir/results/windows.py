"""Windows over time, which a run keeps where ``measure.over_time`` asks for them: charts, and a table.

Source: ``crates/weir-lab/src/stats/windows.rs``. A line is a discipline; around the means over several
replications lies a band of their 95 % intervals. One replication is one course of events, which has none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weir.extras import need
from weir.results import marks
from weir.text import scale_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pyarrow as pa

    from weir.results.marks import Lines, Point
    from weir.results.rows import OverTime
    from weir.results.style import Figure
    from weir.text import Scale

__all__ = ["COLUMNS", "figure", "find", "times", "to_arrow"]

COLUMNS = ("discipline", "name", "metric", "statistic", "unit", "from", "until", "value", "low", "high")
"""Of the table: text, times from the beginning of the replication, the value, the ends of its interval."""
_MOST_POINTS = 600


def find(rows: Iterable[OverTime], name: str | None, metric: str, statistic: str) -> list[OverTime]:
    """Return the rows of a figure, one a discipline; ``name`` is None where it is of all."""
    wanted = (name, metric, statistic)
    return [row for row in rows if (row.name, row.metric, row.statistic) == wanted]


def times(rows: Sequence[OverTime], metric: str) -> dict[str, list[OverTime]]:
    """Return the mean and the quantiles of a time, of all, by what they are called in a chart."""
    words = {"mean": "mean", "p50": "half exceed", "p99": "one in a hundred exceeds"}
    return {word: find(rows, None, metric, statistic) for statistic, word in words.items()}


def figure(
    lines: Lines, title: str, caption: str, panels: Mapping[str, Sequence[OverTime]], unit: str = "s"
) -> Figure | None:
    """Return a chart with a panel for each list of rows, by its title; None where there is no row.

    ``unit`` is that of the length of a window.
    """
    drawn = {name: lines.drawn(rows) for name, rows in panels.items()}
    every = [row for rows in drawn.values() for row in rows]
    if not every:
        return None
    scale = scale_for(_known(every), every[0].unit)
    clock = scale_for((row.interval * len(row.values) for row in every), unit)
    found = (
        (name, [point for row in rows for point in _points(row, lines, scale, clock)])
        for name, rows in drawn.items()
    )

    def draw(points: list[Point], all_points: list[Point]) -> dict[str, Any]:
        ends = [float(point[end]) for point in all_points for end in ("value", "low", "high") if end in point]
        metrics = {row.metric for row in every}
        words = every[0].metric if len(metrics) == 1 else "share"
        has_band = any("low" in point for point in points)
        title = f"{words} {scale.header}".rstrip()
        time = f"time {clock.header}"
        return marks.over_time(points, lines, title, time=time, values=ends, band=has_band)

    return marks.panelled(title, f"{caption}{lines.missing}", found, draw, lines.key)


def _known(rows: Iterable[OverTime]) -> list[float]:
    return [value for row in rows for value in row.values if value is not None]


def _points(row: OverTime, lines: Lines, scale: Scale, clock: Scale) -> list[Point]:
    """Return the windows of a row, each in its middle; of many, the mean of neighbours, and no interval."""
    step = -(-len(row.values) // _MOST_POINTS)
    points: list[Point] = []
    for first in range(0, len(row.values), step):
        values = [value for value in row.values[first : first + step] if value is not None]
        if values:
            middle = (first + min(step, len(row.values) - first) / 2) * row.interval
            point: Point = {
                "discipline": lines.labels[row.discipline],
                "time": marks.digits(middle / clock.factor),
                "value": marks.digits(sum(values) / len(values) / scale.factor),
            }
            low, high = _ends(row, first)
            if step == 1 and low is not None and high is not None:
                # No metric is below zero, and an axis begins there.
                point["low"] = marks.digits(max(low, 0.0) / scale.factor)
                point["high"] = marks.digits(high / scale.factor)
            points.append(point)
    return points


def _ends(row: OverTime, place: int) -> tuple[float | None, float | None]:
    """Return the interval of a window; of one replication there is none."""
    return (row.low[place], row.high[place]) if row.low and row.high else (None, None)


def to_arrow(rows: Iterable[OverTime]) -> pa.Table:
    """Return windows as an Arrow table, one row a value; a window without one is left out."""
    need("parquet", "a table of windows")
    import pyarrow as pa

    columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    for row in rows:
        for place, value in enumerate(row.values):
            if value is None:
                continue
            low, high = _ends(row, place)
            found = {
                "from": place * row.interval,
                "until": (place + 1) * row.interval,
                "value": value,
                "low": low,
                "high": high,
            }
            for name in COLUMNS:
                columns[name].append(found[name] if name in found else getattr(row, name))
    numbers = {"from", "until", "value", "low", "high"}
    arrays = [pa.array(columns[name], pa.float64() if name in numbers else pa.string()) for name in COLUMNS]
    return pa.Table.from_arrays(arrays, names=list(COLUMNS))
