"""Claims decided: what was found of each, beside what the published tables say of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weir.reproduce.alpha import published
from weir.reproduce.alpha.claims import CLAIMS
from weir.reproduce.engine.judgement import Finding, Found, checked, finding_of
from weir.reproduce.engine.thresholds import student_quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weir.reproduce.alpha.claim import Claim, Part
    from weir.reproduce.alpha.evidence import Evidence, Quantity
    from weir.reproduce.alpha.published import PublishedClaim
    from weir.reproduce.engine.checks import Check

_PRINTED = {
    "yes": Finding.AGREES,
    "no": Finding.CONTRADICTED,
    "partly": Finding.PARTLY,
    "value yes, length no": Finding.PARTLY,
    "borderline": Finding.BORDERLINE,
}
_MOST_SHOWN = 4


@dataclass(frozen=True, slots=True)
class Judgement:
    """One claim, the row of ``claims.csv`` it is about, what was found, and the check that came of it."""

    claim: Claim
    published: PublishedClaim
    found: Finding | None
    check: Check


def printed_finding(row: PublishedClaim) -> Finding:
    """Return what the published tables say of a claim."""
    return _PRINTED[row.agrees]


def judge(evidence: Evidence) -> tuple[Judgement, ...]:
    """Decide every claim, in the order of the text."""
    by_text = {claim.text: claim for claim in CLAIMS}
    return tuple(_judge(evidence, by_text[row.text], row) for row in published.claims())


def _judge(evidence: Evidence, claim: Claim, row: PublishedClaim) -> Judgement:
    finding: Finding | None = None

    def found() -> Found:
        nonlocal finding
        parts = claim.parts(evidence)
        finding, expected = finding_of(parts), claim.expected or printed_finding(row)
        met, note = finding == expected, _note(claim, row, finding, expected)
        only = parts[0] if len(parts) == 1 else None
        if only is None or only.quantity is None:
            return Found(_shown(parts), met, note)
        return Found(only.quantity.value, met, note, only.tolerance, _interval(evidence, only.quantity))

    check = checked(f"claim/{claim.id}", "claim", row.claimed, found)
    return Judgement(claim, row, finding, check)


def _interval(evidence: Evidence, quantity: Quantity) -> tuple[float, float]:
    """Return the 95 % interval that belongs to a quantity's noise."""
    normal = math.inf
    half = quantity.noise * student_quantile(0.05, normal) / student_quantile(evidence.level, normal)
    return quantity.value - half, quantity.value + half


def _shown(parts: Sequence[Part]) -> str:
    """Return the parts in words: those that matter where there are many."""
    if len(parts) <= _MOST_SHOWN:
        return "; ".join(part.shown for part in parts)
    failed = [part for part in parts if part.outcome != "holds"]
    words = f"{len(parts) - len(failed)} of {len(parts)} hold"
    return f"{words}; not {failed[0].shown}" if failed else words


def _note(claim: Claim, row: PublishedClaim, found: Finding, expected: Finding) -> str:
    words = [f"{found}"]
    if found != expected:
        words.append(f"expected: {expected}")
    printed = printed_finding(row)
    if printed != found:
        words.append(f"the printed tables: {printed}" + (f" ({claim.why})" if claim.why else ""))
    if row.note:
        words.append(row.note)
    return "; ".join(words)
