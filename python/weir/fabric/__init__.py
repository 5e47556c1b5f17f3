"""Results of the fabric: virtual channels over links with credits, where nothing is ever dropped."""

from weir.fabric.result import FabricResult
from weir.fabric.rows import (
    ChannelRow,
    FabricDifference,
    FabricDistribution,
    FabricEstimate,
    FabricSize,
    Saturation,
    Totals,
)

__all__ = [
    "ChannelRow",
    "FabricDifference",
    "FabricDistribution",
    "FabricEstimate",
    "FabricResult",
    "FabricSize",
    "Saturation",
    "Totals",
]
