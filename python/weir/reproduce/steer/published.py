"""What was published, and what others computed, as read from ``reproduce/steer``.

Source: Y. Ouyang, *CS477 Advanced Operating Systems Lab1 Report*, EPFL, 2024. ``model.csv`` and
``slowdown.csv`` are not published: they are what independent simulations of the same models found.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from weir.reproduce.engine.published import Published

FILES = Published("steer")
folder = FILES.folder
CLAIMS = ("value", "bound", "ordering", "trend")
"""The kinds of the claims' checks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedClaim:
    """A claim of the report, in our words; ``expected`` says whether it can be reproduced."""

    id: str
    policy: str
    traffic: str
    class_: str
    metric: str
    value: float | None
    text: str
    kind: str
    expected: str
    why: str

    @property
    def subject(self) -> str:
        """Whose delay it is about, as `weir.reproduce.steer.evidence.Evidence.delay` takes it."""
        return f"{self.policy}/{self.traffic}/{self.class_}"


@dataclass(frozen=True, slots=True)
class Ordering:
    """Which of two delays is larger; ``factor`` is that of the right side."""

    id: str
    left: str
    relation: str
    right: str
    factor: float
    meaning: str

    def holds(self, left: float, right: float) -> bool:
        """Say whether it holds of two values."""
        bar = self.factor * right
        match self.relation:
            case "above":
                return left > bar
            case "below":
                return left < bar
            case "at most":
                return left <= bar
        return right / self.factor <= left <= bar

    def __str__(self) -> str:
        factor = "" if self.factor == 1 or self.relation == "about" else f"{self.factor:g} x "
        within = f" (within a factor of {self.factor:g})" if self.relation == "about" else ""
        return f"{self.left} {self.relation} {factor}{self.right}{within}"


@dataclass(frozen=True, slots=True)
class ModelValue:
    """What another simulation of the lab's model found; ``bar`` is the part by which ours may differ."""

    id: str
    policy: str
    traffic: str
    class_: str
    metric: str
    value: float
    unit: str
    bar: float


@dataclass(frozen=True, slots=True)
class Slowdown:
    """A p99.9 slowdown that another simulation found, in one run of a million requests."""

    policy: str
    workload: str
    load: str
    value: float


@cache
def claims() -> tuple[PublishedClaim, ...]:
    """Return the claims, in the order of the report."""
    columns = {"class_": "class", "value": "value_us", "text": "claim"}
    return FILES.rows(PublishedClaim, "claims.csv", columns)


@cache
def orderings() -> tuple[Ordering, ...]:
    """Return the twelve orderings; the eighth has two halves."""
    return FILES.rows(Ordering, "orderings.csv")


@cache
def model() -> tuple[ModelValue, ...]:
    """Return what another simulation of the lab's model found."""
    return FILES.rows(ModelValue, "model.csv", {"class_": "class"})


@cache
def slowdowns() -> tuple[Slowdown, ...]:
    """Return the slowdowns by policy, workload and load."""
    return FILES.rows(Slowdown, "slowdown.csv", {"value": "p99.9"})
