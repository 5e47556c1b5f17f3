"""What becomes of a published number or claim, from what was found of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from weir.reproduce.engine.checks import Check, Status
from weir.reproduce.engine.evidence import Measured, NotMeasuredError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

__all__ = [
    "Finding",
    "Found",
    "Judgement",
    "Outcome",
    "Part",
    "all_hold",
    "checked",
    "finding_of",
    "judged",
    "signed",
    "told",
]


class Finding(StrEnum):
    """What becomes of a claim."""

    AGREES = "agrees"
    BORDERLINE = "borderline"
    PARTLY = "partly"
    CONTRADICTED = "contradicted"


class Outcome(StrEnum):
    """What becomes of one part of a claim."""

    HOLDS = "holds"
    NEAR = "near"
    FAILS = "fails"


class Decided(Protocol):
    """A part of a claim that was decided."""

    @property
    def outcome(self) -> Outcome: ...


def finding_of(parts: Iterable[Decided]) -> Finding:
    """Return what becomes of a claim with these parts."""
    found = [part.outcome for part in parts]
    if all(outcome == Outcome.HOLDS for outcome in found):
        return Finding.AGREES
    if Outcome.FAILS not in found:
        return Finding.BORDERLINE
    return Finding.CONTRADICTED if Outcome.HOLDS not in found else Finding.PARTLY


@dataclass(frozen=True, slots=True)
class Found:
    """What was found of a published value: whether it is met, or another status, and by which bar."""

    measured: float | str | None
    met: bool | Status
    note: str = ""
    tolerance: float | None = None
    ci95: tuple[float, float] | None = None
    published: float | None = None
    """In place of what was asked for."""

    @classmethod
    def near(cls, found: Measured | float, wanted: float, bar: float, note: str = "") -> Found:
        """Return what was found where a value is to lie within ``bar`` of what is wanted."""
        value, ci95 = (found.value, found.ci95) if isinstance(found, Measured) else (found, None)
        return cls(value, abs(value - wanted) <= bar, note, bar, ci95)


def signed(found: Measured, sign: int, note: str, unless: str = "") -> Found:
    """Return what was found where a value is to be above zero (``sign`` 1) or below it (-1).

    It is met if the whole of its 95 % interval lies there, and not met if the whole of it lies on the other
    side; then ``unless`` is added to the note. An interval that contains zero decides nothing.
    """
    low, high = found.ci95 or (found.value, found.value)
    if low <= 0 <= high:
        undecided = f"its 95 % interval, {low:+.3g} to {high:+.3g}, contains 0: the sign is undecided"
        return Found(found.value, Status.NOT_CHECKABLE, f"{undecided}; {note}", ci95=found.ci95)
    met = (low > 0) == (sign > 0)
    return Found(found.value, met, note if met else note + unless, ci95=found.ci95)


def checked(name: str, kind: str, published: float | str | None, decide: Callable[[], Found]) -> Check:
    """Return the check of what is decided, or one that says what was not measured for it."""
    try:
        found = decide()
    except NotMeasuredError as missing:
        return Check.missing(name, kind, published, missing)
    met = found.met
    return Check(
        id=name,
        kind=kind,
        published=published if found.published is None else found.published,
        measured=found.measured,
        ci95=found.ci95,
        tolerance=found.tolerance,
        status=met if isinstance(met, Status) else Status.MET if met else Status.NOT_MET,
        note=found.note,
    )


class Claim(Protocol):
    """A claim as it was published."""

    @property
    def id(self) -> str: ...
    @property
    def text(self) -> str: ...


ClaimT = TypeVar("ClaimT", bound=Claim)


@dataclass(frozen=True, slots=True)
class Part:
    """One statement that was decided, in words."""

    holds: bool
    shown: str

    @property
    def outcome(self) -> Outcome:
        """What becomes of it."""
        return Outcome.HOLDS if self.holds else Outcome.FAILS


@dataclass(frozen=True, slots=True)
class Judgement(Generic[ClaimT]):
    """One claim, its parts, and the check that came of it."""

    published: ClaimT
    parts: tuple[Part, ...]
    check: Check

    @property
    def found(self) -> Finding | None:
        """What was found of it; None if nothing was."""
        return finding_of(self.parts) if self.parts else None


def judged(
    claim: ClaimT,
    decide: Callable[[], Iterable[Part]],
    conclude: Callable[[tuple[Part, ...]], tuple[bool, str]],
    published: str | None = None,
) -> Judgement[ClaimT]:
    """Decide a claim by its parts; ``conclude`` says whether they meet it, with a note."""
    parts: tuple[Part, ...] = ()

    def found() -> Found:
        nonlocal parts
        decided = tuple(decide())
        met, note = conclude(decided)
        parts = decided
        return Found(told(parts), met, note)

    check = checked(f"claim/{claim.id}", "claim", published or claim.text, found)
    return Judgement(claim, parts, check)


def all_hold(parts: Sequence[Part], bar: str, cause: str = "") -> tuple[bool, str]:
    """Say whether a claim is met, all of whose parts must hold, with its bar."""
    failed = sum(not part.holds for part in parts)
    words = filter(None, (f"{failed} of {len(parts)} parts do not hold", cause, bar))
    return not failed, "; ".join(words) if failed else bar


def told(parts: Iterable[Part], unless: str = "not: ") -> str:
    """Return parts in words, those that do not hold with ``unless`` before them."""
    return "; ".join(f"{'' if part.holds else unless}{part.shown}" for part in parts)
