"""The chart of delays over time, which the network and the server keep of their first replication.

Source: ``crates/weir-lab/src/stats/over_time.rs``. One sample path, which has no interval: it shows whether
a run is in its steady state, where a queue grows and when it is empty again. Times are in seconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weir.results import marks
from weir.text import quantity, scale_for

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from weir.results.marks import Lines, Point
    from weir.results.rows import DelayOverTime
    from weir.results.style import Figure
    from weir.text import Scale


def figure(
    rows: Sequence[DelayOverTime], lines: Lines, panels: Mapping[str, str], words: str, whose: str
) -> Figure | None:
    """Return the mean delay over time: a panel for each of ``panels``, titles by class, a line a discipline.

    ``words`` name the delay, ``whose`` what it is the delay of.
    """
    drawn = lines.drawn(row for row in rows if row.class_ in panels and any(map(_is_known, row.mean)))
    if not drawn:
        return None
    scale = scale_for((value for row in drawn for value in row.mean), drawn[0].unit)
    found = (
        (title, [point for row in drawn if row.class_ == class_ for point in _points(row, lines, scale)])
        for class_, title in panels.items()
    )
    caption = (
        f"The mean {words} of {whose} in each {quantity(drawn[0].step, 's')} of the first replication. It "
        f"is one course of events, and has no interval.{lines.missing}"
    )

    def draw(points: list[Point], every: list[Point]) -> dict[str, Any]:
        values = [float(point["value"]) for point in every]
        return marks.over_time(points, lines, f"mean {words} {scale.header}", values=values)

    return marks.panelled(f"{words.capitalize()} over time", caption, found, draw, lines.key)


def _is_known(value: float | None) -> bool:
    return value is not None


def _points(row: DelayOverTime, lines: Lines, scale: Scale) -> list[Point]:
    return [
        {
            "discipline": lines.labels[row.discipline],
            "time": marks.digits((place + 0.5) * row.step),
            "value": marks.digits(value / scale.factor),
        }
        for place, value in enumerate(row.mean)
        if value is not None
    ]
