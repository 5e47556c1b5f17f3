"""The published tables and claims, as read from ``reproduce/alpha``.

Source: Cherkasova and Rokicki, "Alpha Message Scheduling for Packet-Switched Interconnects", Hewlett-Packard
Laboratories, Section 15. Times are in mean packet services, loads in per cent of the server's capacity.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import NewType

from weir.reproduce.engine.published import Published

FILES = Published("alpha")
folder = FILES.folder

Load = NewType("Load", str)
"""The offered load in per cent, as the tables write it."""

LOADS = tuple(map(Load, ("0.01", "1", "20", "50", "70", "80", "90", "95", "97", "98")))
ALPHAS = ("1", "2", "3", "6", "10", "20", "30", "60", "100")
STRATEGIES = ("rr_head", "rr", "fifo", *(f"alpha:{alpha}" for alpha in ALPHAS), "sf")
"""Spec strings, in the order of the tables."""
LENGTHS = {1: 0.18, 2: 0.18, 3: 0.18, 4: 0.18, 5: 0.18, 20: 0.1}
"""Lengths of messages in packets, with their probabilities."""
MEAN_LENGTH = sum(length * share for length, share in LENGTHS.items())
QUANTITIES = ("qlen", *(f"lat{length}" for length in LENGTHS), "avlat")
PRINT_ROUNDING = 0.005
"""The listing prints floor(100 * mean + 0.5) / 100."""
ASSUMED_MESSAGES = 5000
"""Messages behind the 0.01 % table, whose caption is lost; the README of the reproduction says why."""
ASSUMED_PACKETS = round(ASSUMED_MESSAGES * MEAN_LENGTH)


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedClaim:
    """A numeric claim of the report's text, with what its own tables say of it."""

    section: str
    text: str
    claimed: str
    from_tables: str
    agrees: str
    note: str


def _spec(strategy: str, alpha: str) -> str:
    return f"alpha:{alpha}" if strategy == "alpha" else strategy


@cache
def table() -> dict[tuple[Load, str, str], float]:
    """Return the published value of every cell, by load, strategy and quantity."""
    return {
        (Load(row["traffic_percent"]), _spec(row["strategy"], row["alpha"]), quantity): float(row[quantity])
        for row in FILES.records("section15.csv")
        for quantity in QUANTITIES
    }


@cache
def packets() -> dict[Load, int | None]:
    """Return the packets of each published run; None where the caption is lost."""
    rows = FILES.records("section15.csv")
    return {Load(row["traffic_percent"]): int(row["packets"]) if row["packets"] else None for row in rows}


@cache
def exact() -> dict[tuple[Load, str, str], float]:
    """Return the exact mean of every cell that has a closed form."""
    rows = FILES.records("analytic.csv")
    return {
        (Load(row["traffic_percent"]), row["strategy"], row["quantity"]): float(row["exact"]) for row in rows
    }


claims = FILES.table(PublishedClaim, "claims.csv", {"text": "claim"})
"""The claims of the text, in its order."""
