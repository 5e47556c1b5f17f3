"""Charts of the windows of a network over time.

Source: ``crates/weir-network/src/over_time.rs``. A line is a discipline; a panel is a link whose queue the
disciplines order, or a statistic. Means over the replications, with their 95 % intervals as bands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.results import windows
from weir.results.marks import by_spec
from weir.text import quantity

if TYPE_CHECKING:
    from weir.models.network.result import NetworkResult
    from weir.results.style import Figure

__all__ = ["figures"]

_MOST_LINKS = 8
"""Of more links than these the first are drawn."""


def figures(result: NetworkResult) -> list[Figure | None]:
    """Return charts of queues, lines, delays and loss, where there are windows."""
    if not result.windows:
        return []
    lines = by_spec(result.disciplines)
    links = [link.name for link in result.links if link.compared][:_MOST_LINKS]
    replications = "means over the replications, with their 95 % intervals"
    of = f"in each window of {quantity(result.windows[0].interval, 's')}; {replications}"
    delays = windows.times(result.windows, "delay")
    loss = windows.find(result.windows, None, "loss", "share")
    return [
        windows.figure(
            lines,
            "Queues over time",
            f"The mean number of packets in the queue of a link, {of}.",
            {link: windows.find(result.windows, link, "queue", "mean") for link in links},
        ),
        windows.figure(
            lines,
            "Use of links over time",
            f"The share of the time in which the line of a link is occupied, {of}.",
            {link: windows.find(result.windows, link, "utilisation", "mean") for link in links},
        ),
        windows.figure(
            lines,
            "Delays by window",
            f"The delay of the packets sent {of}. A window with too few has no quantile.",
            delays,
        ),
        windows.figure(
            lines,
            "Loss over time",
            f"The share of the packets sent that are dropped, {of}.",
            {"": loss if any(value for row in loss for value in row.values) else []},
        ),
    ]
