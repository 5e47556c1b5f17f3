"""What was published, and what others computed, as read from ``reproduce/steer``.

Source: Y. Ouyang, *CS477 Advanced Operating Systems Lab1 Report*, EPFL, 2024. ``model.csv`` and
``slowdown.csv`` are not published: they are what independent simulations of the same models found.
"""

from __future__ import annotations

from dataclasses import dataclass

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


claims = FILES.table(PublishedClaim, "claims.csv", {"class_": "class", "value": "value_us", "text": "claim"})
"""The claims, in the order of the report."""
orderings = FILES.table(Ordering, "orderings.csv")
"""The twelve orderings; the eighth has two halves."""
model = FILES.table(ModelValue, "model.csv", {"class_": "class"})
"""What another simulation of the lab's model found."""
slowdowns = FILES.table(Slowdown, "slowdown.csv", {"value": "p99.9"})
"""The slowdowns by policy, workload and load."""
