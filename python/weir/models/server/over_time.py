"""Charts of the windows of a server over time.

Source: ``crates/weir-server/src/over_time.rs``. A line is a discipline; a panel is a statistic or a
share. Means over the replications, with their 95 % intervals as bands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.results import marks, windows
from weir.text import quantity

if TYPE_CHECKING:
    from weir.models.server.result import ServerResult
    from weir.results.rows import OverTime
    from weir.results.style import Figure

__all__ = ["figures"]

_SHARES = {
    "dropped": "left unserved",
    "abandoned": "left, since their service did not begin in time",
    "late": "answered too late",
}


def figures(result: ServerResult) -> list[Figure | None]:
    """Return charts of the queue, the cores, the delay and of what goes wrong, where there are windows."""
    queue = _rows(result, "queue", "mean")
    if not queue:
        return []
    lines = marks.by_discipline(result.labels)
    window = quantity(queue[0].interval, "s")
    items = queue[0].unit
    of = f"in each window of {window}; means over the replications, with their 95 % intervals"
    delays = {
        "half exceed": _rows(result, "delay", "p50"),
        "one in a hundred exceeds": _rows(result, "delay", "p99"),
    }
    shares = {words: _rows(result, metric, "share") for metric, words in _SHARES.items()}
    seen = {words: rows for words, rows in shares.items() if any(map(_is_above_zero, rows))}
    return [
        windows.figure(
            lines,
            f"{items.capitalize()} that wait over time",
            f"The number of {items} that wait {of}.",
            {"": queue},
        ),
        windows.figure(
            lines,
            "Use of the cores over time",
            f"The share of the time of all cores in which they are busy, {of}.",
            {"": _rows(result, "utilisation", "mean")},
        ),
        windows.figure(
            lines,
            "Quantiles of the queueing delay over time",
            "The queueing delay that half of the requests exceed, and one in a hundred, of those whose "
            f"service begins {of}. A window with too few has none.",
            delays,
        ),
        windows.figure(
            lines,
            "Requests without an answer in time",
            f"The share of the attempts that are lost, of those that arrive {of}.",
            seen,
        ),
    ]


def _rows(result: ServerResult, metric: str, statistic: str) -> list[OverTime]:
    return windows.find(result.over_time, None, metric, statistic)


def _is_above_zero(row: OverTime) -> bool:
    return any(value for value in row.values)
