"""What was published, as read from ``reproduce/epoch``: tables, numbers of the text, claims; and bars.

Source: R. D. Rettberg, *Development of a Voice Funnel System, Quarterly Technical Report No. 18*, BBN Report
5285, 1983, sections 2 to 5. ``experiments.csv`` is not published: it says what a node measures that has the
printed costs.
"""

from __future__ import annotations

from dataclasses import dataclass

from weir.reproduce.engine.published import Published

FILES = Published("epoch")
folder = FILES.folder


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
    """A number of the text; one that is given to the scenarios shows what the node counts, not the report."""

    id: str
    what: str
    value: float
    unit: str
    given: str
    """What puts it into the scenarios; empty where nothing does."""
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


costs = FILES.table(Cost, "table01.csv", {"value": "us"})
"""Table 1."""
rates = FILES.table(Rate, "table02.csv", {"rate": "messages_per_s", "time": "ms_per_message"})
"""Table 2."""
stated = FILES.table(Stated, "text.csv")
"""The numbers of the text."""
experiments = FILES.table(Expected, "experiments.csv", {"value": "expected"})
"""What the experiments are expected to measure."""
claims = FILES.table(PublishedClaim, "claims.csv", {"text": "claim"})
"""The claims, in the order of the text."""
