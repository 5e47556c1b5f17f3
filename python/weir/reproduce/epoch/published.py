"""What was published, as read from ``reproduce/epoch``: tables, numbers of the text, claims; and bars.

Source: R. D. Rettberg, *Development of a Voice Funnel System, Quarterly Technical Report No. 18*, BBN Report
5285, 1983, sections 2 to 5. ``experiments.csv`` is not published: it says what a node measures that has the
printed costs.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from weir.files import read_text
from weir.reproduce import common

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "Cost",
    "Expected",
    "PublishedClaim",
    "Rate",
    "Stated",
    "claims",
    "costs",
    "experiments",
    "folder",
    "rates",
    "stated",
]


@dataclass(frozen=True, slots=True)
class Cost:
    """A value of Table 1, in microseconds; ``adds_up`` says whether it agrees with the others."""

    id: str
    item: str
    component: str
    value: float
    adds_up: str
    note: str


@dataclass(frozen=True, slots=True)
class Rate:
    """A row of Table 2: messages a second, and milliseconds a message."""

    id: str
    modules: str
    rate: float
    time: float
    adds_up: str
    note: str


@dataclass(frozen=True, slots=True)
class Stated:
    """A number of the text."""

    id: str
    what: str
    value: float
    unit: str
    note: str


@dataclass(frozen=True, slots=True)
class Expected:
    """What an experiment is expected to measure on a node that has the printed costs, and the bar."""

    id: str
    setting: str
    quantity: str
    value: float
    tolerance: float
    unit: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedClaim:
    """A claim: in our words, how it is checked, and the bar."""

    id: str
    section: str
    text: str
    check: str
    expected: str


def folder() -> Path:
    """Return the folder of the reproduction."""
    return common.folder("epoch")


def _records(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(read_text(folder() / name).splitlines()))


@cache
def costs() -> tuple[Cost, ...]:
    """Return Table 1."""
    return tuple(
        Cost(row["id"], row["item"], row["component"], float(row["us"]), row["adds_up"], row["note"])
        for row in _records("table01.csv")
    )


@cache
def rates() -> tuple[Rate, ...]:
    """Return Table 2."""
    return tuple(
        Rate(
            row["id"],
            row["modules"],
            float(row["messages_per_s"]),
            float(row["ms_per_message"]),
            row["adds_up"],
            row["note"],
        )
        for row in _records("table02.csv")
    )


@cache
def stated() -> tuple[Stated, ...]:
    """Return the numbers of the text."""
    return tuple(
        Stated(row["id"], row["what"], float(row["value"]), row["unit"], row["note"])
        for row in _records("text.csv")
    )


@cache
def experiments() -> tuple[Expected, ...]:
    """Return what the experiments are expected to measure."""
    return tuple(
        Expected(
            row["id"],
            row["setting"],
            row["quantity"],
            float(row["expected"]),
            float(row["tolerance"]),
            row["unit"],
            row["why"],
        )
        for row in _records("experiments.csv")
    )


@cache
def claims() -> tuple[PublishedClaim, ...]:
    """Return the claims, in the order of the text."""
    return tuple(
        PublishedClaim(
            id=row["id"],
            section=row["section"],
            text=row["claim"],
            check=row["check"],
            expected=row["expected"],
        )
        for row in _records("claims.csv")
    )
