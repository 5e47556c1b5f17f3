"""What a reproduction found out: one check for every published number or claim.

The shape is the same for every reproduction, in Python and as JSON. A check says what was published, what was
measured, how far apart they may be, and what came of it; nothing in it is ever NaN or infinite.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Check", "Checks", "Counted", "Status"]


class Status(StrEnum):
    """What came of a check."""

    MET = "met"
    """The measured value agrees with the published one, or the claim came out as recorded."""
    NOT_MET = "not_met"
    """It does not."""
    ARTEFACT = "artefact"
    """The published value is known to be produced by a fault of the original, which is explained."""
    NOT_CHECKABLE = "not_checkable"
    """Nothing could be computed, or what was decides nothing; the note says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One published number or claim, and what was measured.

    Attributes
    ----------
    id : str
        Unique within the reproduction, such as ``table/95/rr/lat20``.
    kind : str
        What sort of check it is, such as ``table`` or ``claim``.
    published, measured : float, str or None
        A number where there is one, words where a claim is about several; None where there is nothing.
    ci95 : (float, float) or None
        The 95 % confidence interval of ``measured``.
    tolerance : float or None
        How far ``measured`` may be from ``published``.
    status : Status
        What came of it.
    note : str
        The reason, where the status needs one.

    Raises
    ------
    ValueError
        If a number is not finite, an interval is upside down, a tolerance is negative, or a check that is
        not met by number or not checkable gives no reason.
    """

    id: str
    kind: str
    published: float | str | None
    measured: float | str | None
    ci95: tuple[float, float] | None = None
    tolerance: float | None = None
    status: Status
    note: str = ""

    @classmethod
    def missing(cls, name: str, kind: str, published: float | str | None, why: object) -> Check:
        """Return a check that could not be made, and ``why``."""
        return cls(
            id=name, kind=kind, published=published, measured=None, status=Status.NOT_CHECKABLE, note=str(why)
        )

    def __post_init__(self) -> None:
        numbers = {"published": self.published, "measured": self.measured, "tolerance": self.tolerance}
        for name, value in numbers.items():
            self._require_finite(name, value)
        for value in self.ci95 or ():
            self._require_finite("ci95", value)
        if self.ci95 is not None and self.ci95[0] > self.ci95[1]:
            raise ValueError(f"check {self.id}: ci95 is {self.ci95}, must run from low to high")
        if self.tolerance is not None and self.tolerance < 0:
            raise ValueError(f"check {self.id}: tolerance is {self.tolerance}, must be at least 0")
        if self.status in {Status.ARTEFACT, Status.NOT_CHECKABLE} and not self.note:
            raise ValueError(f"check {self.id}: status is {self.status}, must give the reason in its note")

    def _require_finite(self, name: str, value: float | str | None) -> None:
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"check {self.id}: {name} is {value}, must be finite")

    def to_dict(self) -> dict[str, Any]:
        """Return the check as a JSON object."""
        return {**asdict(self), "ci95": list(self.ci95) if self.ci95 else None, "status": self.status.value}


class Counted:
    """What counts checks by their status."""

    def count(self, status: Status, kind: str | None = None) -> int:
        """Return how many checks, of one kind or of all, have a status."""
        raise NotImplementedError

    @property
    def met(self) -> int:
        """How many checks are met."""
        return self.count(Status.MET)

    @property
    def not_met(self) -> int:
        """How many are not."""
        return self.count(Status.NOT_MET)

    @property
    def artefact(self) -> int:
        """How many published values come from an explained fault of the original."""
        return self.count(Status.ARTEFACT)

    @property
    def not_checkable(self) -> int:
        """How many could not be computed."""
        return self.count(Status.NOT_CHECKABLE)


@dataclass(frozen=True)
class Checks(Counted):
    """All checks of a reproduction.

    Attributes
    ----------
    reproduction : str
        Its name, such as ``alpha``.
    fidelity : str
        ``quick``, ``default`` or ``full``.
    checks : tuple of Check
        In the order of the source.

    Raises
    ------
    ValueError
        If two checks have the same id.
    """

    reproduction: str
    fidelity: str
    checks: tuple[Check, ...]

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for check in self.checks:
            if check.id in seen:
                raise ValueError(f"check {check.id} is there twice, must be unique")
            seen.add(check.id)

    def count(self, status: Status, kind: str | None = None) -> int:
        """Return how many checks, of one kind or of all, have a status."""
        return sum(check.status == status for check in self.of_kind(kind))

    def of_kind(self, kind: str | None) -> Iterable[Check]:
        """Return the checks of one kind, or all."""
        return (check for check in self.checks if kind in {None, check.kind})

    def to_dict(self) -> dict[str, Any]:
        """Return the checks as a JSON object."""
        counts = {status.value: self.count(status) for status in Status}
        rows = [check.to_dict() for check in self.checks]
        return {"reproduction": self.reproduction, "fidelity": self.fidelity, "checks": rows, **counts}

    def to_json(self) -> str:
        """Return the checks as JSON text."""
        return json.dumps(self.to_dict(), indent=1, allow_nan=False, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Checks:
        """Read what `to_json` wrote."""
        document = json.loads(text)
        return cls(document["reproduction"], document["fidelity"], tuple(map(_check, document["checks"])))


def _check(row: dict[str, Any]) -> Check:
    interval = tuple(row["ci95"]) if row["ci95"] else None
    return Check(**{**row, "ci95": interval, "status": Status(row["status"])})
