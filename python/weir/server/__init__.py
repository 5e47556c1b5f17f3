"""Results of the server: requests that are spread over cores."""

from weir.server.result import ServerResult
from weir.server.rows import (
    ClassRow,
    ClassTotals,
    CoreTotals,
    DisciplineTotals,
    InUse,
    ServerDifference,
    ServerDistribution,
    ServerEstimate,
    ServerWarning,
    Windows,
)

__all__ = [
    "ClassRow",
    "ClassTotals",
    "CoreTotals",
    "DisciplineTotals",
    "InUse",
    "ServerDifference",
    "ServerDistribution",
    "ServerEstimate",
    "ServerResult",
    "ServerWarning",
    "Windows",
]
