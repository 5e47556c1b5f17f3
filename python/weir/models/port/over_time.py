"""Charts of the windows of a port over time.

Source: ``crates/weir-port/src/over_time.rs``. A line is a discipline; a panel is a class of messages, or
all of them. Means over the replications, with their 95 % intervals as bands; of one replication without them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.results import windows
from weir.results.marks import by_spec
from weir.text import quantity

if TYPE_CHECKING:
    from weir.models.port.result import PortResult
    from weir.results.style import Figure

__all__ = ["figures"]

_MOST_CLASSES = 12
"""Of more classes than these the first are drawn."""


def figures(result: PortResult) -> list[Figure | None]:
    """Return charts of what is inside, the throughput and the times, where there are windows."""
    if not result.windows:
        return []
    lines, unit, metric = by_spec(result.disciplines), result.time_unit, result.metric
    of = f"in each window of {quantity(result.windows[0].interval, unit)}"
    if result.windows[0].low:
        of += "; means over the replications, with their 95 % intervals"
    rows = result.windows
    classes = [each.name for each in result.classes if each.name != "all"][:_MOST_CLASSES]
    by_class = {name: windows.find(rows, name, metric, "mean") for name in classes}
    return [
        windows.figure(
            lines,
            "Messages inside over time",
            f"The mean number of messages from their arrival to the end of their service {of}.",
            {"": windows.find(rows, None, "inside", "mean")},
            unit,
        ),
        windows.figure(
            lines,
            "Throughput by window",
            f"What the messages that leave take of the server at the mean service {of}.",
            {"": windows.find(rows, None, "throughput", "share")},
            unit,
        ),
        windows.figure(
            lines,
            f"{metric.capitalize()} by window",
            f"The {metric} of the messages that leave {of}. A window with too few has no quantile.",
            windows.times(rows, metric),
            unit,
        ),
        windows.figure(
            lines,
            f"Mean {metric} by window and class",
            f"The mean {metric} of the messages of each class that leave {of}.",
            by_class,
            unit,
        ),
    ]
