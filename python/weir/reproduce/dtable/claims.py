"""The 34 claims, each as statements about what was computed or measured, and what became of it.

Wording and bars are in ``reproduce/dtable/claims.csv``. A claim is met if all of its parts hold; a claim of
which no part could be decided is not checkable.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from weir.reproduce.checks import Check, Status
from weir.reproduce.dtable import published
from weir.reproduce.dtable.evidence import NotMeasuredError
from weir.reproduce.dtable.exact import EXACT
from weir.reproduce.dtable.network import NETWORK_CLAIMS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from weir.reproduce.dtable.evidence import Evidence
    from weir.reproduce.dtable.exact import Part
    from weir.reproduce.dtable.published import PublishedClaim

    Parts = Callable[[Evidence], Iterator[Part]]

__all__ = ["CLAIMS", "HARDWARE", "Judgement", "judge"]

HARDWARE = (
    "needs synthesis of both, which is not made here; a synthesis for an iCE40 at 64 entries and 8 flows, "
    "table in "
    "flip-flops, gave DRR 616 LUTs, DTable 1095 with one entry a cycle (1.8 times), 2510 with the whole "
    "table a cycle "
    "(4 times), so `slightly` is kept by the serial form only"
)

CAUSES = {
    "C29": (
        "depends on open point O1: under equal shares D64 and D64' offer four times their reservation, and a "
        "longer frame lets them send more at a time; the five other channels all wait longer"
    ),
}
"""Why a claim is not met, where that is known."""

CLAIMS: dict[str, Parts] = {**EXACT, **NETWORK_CLAIMS}
"""By the number of the claim; C32 is missing, as nothing here can decide it."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """One claim, its parts, and the check that came of it."""

    published: PublishedClaim
    parts: tuple[Part, ...]
    check: Check


def judge(evidence: Evidence) -> tuple[Judgement, ...]:
    """Decide every claim, in the order of the text."""
    return tuple(_judge(evidence, claim) for claim in published.claims())


def _judge(evidence: Evidence, claim: PublishedClaim) -> Judgement:
    decide = CLAIMS.get(claim.id)
    if decide is None:
        return _undecided(claim, HARDWARE)
    try:
        parts = tuple(decide(evidence))
    except NotMeasuredError as missing:
        return _undecided(claim, str(missing))
    if not parts:
        return _undecided(claim, "nothing to decide it by was measured: no channel saturated")
    failed = [part for part in parts if not part.holds]
    check = Check(
        id=f"claim/{claim.id}",
        kind="claim",
        published=claim.text,
        measured="; ".join(f"{'' if part.holds else 'not: '}{part.shown}" for part in parts),
        status=Status.NOT_MET if failed else Status.MET,
        note=_note(claim, len(failed), len(parts)),
    )
    return Judgement(claim, parts, check)


def _note(claim: PublishedClaim, failed: int, parts: int) -> str:
    bar = " within ".join(filter(None, (claim.expected, claim.tolerance)))
    if not failed:
        return f"bar: {bar}"
    cause = CAUSES.get(claim.id, "no cause is known")
    return f"{failed} of {parts} parts do not hold; {cause}; bar: {bar}"


def _undecided(claim: PublishedClaim, why: str) -> Judgement:
    return Judgement(claim, (), Check.missing(f"claim/{claim.id}", "claim", claim.text, why))
