"""Results of the network: packets through routers with finite queues, under several disciplines."""

from weir.network.result import NetworkResult
from weir.network.rows import (
    FlowRow,
    IntervalRow,
    LinkRow,
    NetworkDifference,
    NetworkDistribution,
    NetworkEstimate,
    Series,
    Totals,
)

__all__ = [
    "FlowRow",
    "IntervalRow",
    "LinkRow",
    "NetworkDifference",
    "NetworkDistribution",
    "NetworkEstimate",
    "NetworkResult",
    "Series",
    "Totals",
]
