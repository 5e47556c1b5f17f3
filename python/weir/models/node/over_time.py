"""Charts of the windows of a node over time.

Source: ``crates/weir-node/src/over_time.rs``. A line is a discipline; a panel is a process, a node, or all of
them. Means over the replications, with their 95 % intervals as bands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.results import windows
from weir.results.marks import by_spec
from weir.text import quantity

if TYPE_CHECKING:
    from weir.models.node.result import NodeResult
    from weir.results.rows import OverTime
    from weir.results.style import Figure

__all__ = ["figures"]

_MOST_PANELS = 8
"""Of more processes, queues or nodes than these the first are drawn."""


def figures(result: NodeResult) -> list[Figure | None]:
    """Return charts of run times, responses, queues and nodes, where there are windows."""
    if not result.windows:
        return []
    lines = by_spec(result.disciplines)
    replications = "means over the replications, with their 95 % intervals"
    of = f"in each window of {quantity(result.windows[0].interval, 's')}; {replications}"
    processes = [row.name for row in result.processes if not row.system]
    return [
        windows.figure(
            lines,
            "Run time by window",
            f"The share of a processor that each process has {of}.",
            _each(result, processes, "share"),
        ),
        windows.figure(
            lines,
            "Responses by window",
            f"The time from a wake-up to the next wait, of the responses that end {of}. A window with too "
            "few has no quantile.",
            windows.times(result.windows, "response"),
        ),
        windows.figure(
            lines,
            "Queues over time",
            f"The mean number of messages that lie in each queue {of}.",
            _each(result, result.queues, "length"),
        ),
        windows.figure(
            lines,
            "Use of the nodes by window",
            f"The share of the time in which a process runs on each node {of}.",
            _each(result, result.nodes, "busy"),
        ),
    ]


def _each(result: NodeResult, names: list[str] | tuple[str, ...], metric: str) -> dict[str, list[OverTime]]:
    """Return the rows of each that has some."""
    return {name: windows.find(result.windows, name, metric, "mean") for name in names[:_MOST_PANELS]}
