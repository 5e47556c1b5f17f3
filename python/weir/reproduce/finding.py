"""What becomes of a claim, from what becomes of its parts."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Finding", "Outcome", "finding_of"]


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


def finding_of(outcomes: Iterable[Outcome]) -> Finding:
    """Return what becomes of a claim with these parts."""
    found = list(outcomes)
    if all(outcome == Outcome.HOLDS for outcome in found):
        return Finding.AGREES
    if Outcome.FAILS not in found:
        return Finding.BORDERLINE
    return Finding.CONTRADICTED if Outcome.HOLDS not in found else Finding.PARTLY
