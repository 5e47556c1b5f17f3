"""Results of the node: processes on processors, and a scheduler that a discipline of tasks is."""

from weir.node.result import NodeResult
from weir.node.rows import (
    NodeDifference,
    NodeDistribution,
    NodeEstimate,
    NodeTotals,
    NodeWarning,
    ProcessRow,
    ProcessTotals,
    Samples,
    Timeline,
)

__all__ = [
    "NodeDifference",
    "NodeDistribution",
    "NodeEstimate",
    "NodeResult",
    "NodeTotals",
    "NodeWarning",
    "ProcessRow",
    "ProcessTotals",
    "Samples",
    "Timeline",
]
