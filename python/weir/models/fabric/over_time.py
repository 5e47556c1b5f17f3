"""Charts of the windows of a fabric over time.

Source: ``crates/weir-fabric/src/over_time.rs``. A line is a discipline; a panel is a channel, or all of them.
Means over the replications, with their 95 % intervals as bands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.results import windows
from weir.results.marks import by_spec
from weir.text import quantity

if TYPE_CHECKING:
    from weir.models.fabric.result import FabricResult
    from weir.results.rows import OverTime
    from weir.results.style import Figure

__all__ = ["figures"]

_MOST_CHANNELS = 8
"""Of more channels than these the first are drawn."""


def figures(result: FabricResult) -> list[Figure | None]:
    """Return charts of what waits, the throughput and the latency, where there are windows."""
    if not result.windows:
        return []
    lines = by_spec(result.disciplines)
    replications = "means over the replications, with their 95 % intervals"
    of = f"in each window of {quantity(result.windows[0].interval, 's')}; {replications}"
    latencies = windows.times(result.windows, "latency")
    return [
        windows.figure(
            lines,
            "Packets outside over time",
            f"The mean number of packets that wait for the buffers of their interfaces, {of}.",
            _by_channel(result, "outside", "mean"),
        ),
        windows.figure(
            lines,
            "Throughput by window",
            f"What is delivered, of what the links of all end-points carry, {of}.",
            _by_channel(result, "throughput", "share"),
        ),
        windows.figure(
            lines,
            "Latency by window",
            f"The latency from the interface of the packets delivered {of}. A window with too few has no "
            "quantile.",
            latencies,
        ),
    ]


def _by_channel(result: FabricResult, metric: str, statistic: str) -> dict[str, list[OverTime]]:
    """Return the rows of all packets and, where there are several channels, of each."""
    names = [channel.name for channel in result.channels][:_MOST_CHANNELS]
    each = names if len(names) > 1 else []
    found = {name: windows.find(result.windows, name, metric, statistic) for name in each}
    return {"all channels": windows.find(result.windows, None, metric, statistic), **found}
