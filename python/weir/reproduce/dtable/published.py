"""What was published, as read from ``reproduce/dtable``: Table 1, the claims, and a prototype's figures.

Source: Martínez, Alfaro and Sánchez, *Comparing the latency performance of the DTable and DRR schedulers*,
2007. Its figures are lost, so there is no measured number of the document to hold a latency against: the
claims of its text are what is checked. The prototype is another program, whose standard errors are not known.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from weir.reproduce.engine.published import Published

FILES = Published("dtable")
folder = FILES.folder

CHANNELS = ("D2", "D4", "D8", "D16", "D32", "D64", "D64'")
"""The virtual channels of Table 1; the number is the distance of their entries."""
TOTAL = "total"
COLUMNS = (
    "phi_pct",
    "entries",
    "entries_pct",
    "min_phi_pct",
    "max_phi_pct",
    "entry_weight",
    "total_weight",
    "drr_quantum",
)
"""The columns of Table 1: shares in per cent, weights and quanta in credits of 64 bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedClaim:
    """A claim: in our words, how it is checked, and the bar."""

    id: str
    section: str
    text: str
    check: str
    expected: str
    tolerance: str


@dataclass(frozen=True, slots=True)
class Prototype:
    """By how much DTable was below DRR in a prototype network, in per cent: mean and maximum latency."""

    load: float
    channel: str
    mean: float
    max: float


@cache
def table() -> dict[tuple[str, str], float]:
    """Return the printed values of Table 1 by channel (or `TOTAL`) and column."""
    return {
        (row["channel"], column): float(row[column])
        for row in FILES.records("table01.csv")
        for column in COLUMNS
        if row[column]
    }


@cache
def phi(channel: str) -> float:
    """Return the reserved share of a channel, from 0 to 1."""
    return table()[channel, "phi_pct"] / 100


claims = FILES.table(PublishedClaim, "claims.csv", {"text": "claim"})
"""The claims, in the order of the text."""
prototype = FILES.table(Prototype, "prototype.csv", {"mean": "mean_pct", "max": "max_pct"})
"""The improvements of the prototype: Poisson gaps, equal shares, 5 ms."""
