"""Reproductions: published numbers and measured ones, each with a tolerance that has a reason.

A reproduction is a package with a function ``run``; `DOCUMENTS` lists them, in the order in which all are
run. What they return holds the same checks whatever was published: see `weir.reproduce.engine`.
"""

from dataclasses import dataclass

from weir.reproduce.engine.checks import Check, Checks, Status

__all__ = ["DOCUMENTS", "Check", "Checks", "Document", "Status"]


@dataclass(frozen=True, slots=True)
class Document:
    """A document that can be reproduced, in the words of the command line."""

    about: str
    quick: str
    """What a quick run is, and what it takes of processor time."""
    full: str
    """What a long one is, and what it takes of processor time."""
    unit: str
    """What progress is counted in."""
    artefacts: bool = False
    """Whether artefacts of the original are shown only where that is asked for."""


DOCUMENTS = {
    "alpha": Document(
        "the alpha report, sections 8 to 15",
        "3e8 packets a strategy, some 35 s",
        "the published number of packets, 4.1e9 a strategy, some 7 minutes",
        "packets",
        artefacts=True,
    ),
    "sfq": Document(
        "the SFQ report, Tables 1 to 11",
        "8 seeds, some 8 s",
        "64 seeds and 256 draws of random maps, about a minute",
        "streams",
    ),
    "dtable": Document(
        "DTable and DRR in a fabric, Table 1 and Figures 1 to 5",
        "fewer loads and 3 replications, some 100 s",
        "30 replications, some 30 minutes",
        "link traversals",
    ),
    "epoch": Document(
        "epoch scheduling of processes, Tables 1 and 2",
        "30 random task sets, some 4 s",
        "1,000 random task sets, some 2 minutes",
        "simulated seconds",
    ),
    "steer": Document(
        "steering of packets to CPUs, and later policies",
        "shorter tails and 16 workloads, some 20 s",
        "32 million requests for each slowdown and 240 workloads, some 17 minutes",
        "requests",
    ),
}
"""By the name of the package."""
