"""The 34 claims, each as statements about what was computed or measured, and what became of it.

Wording and bars are in ``reproduce/dtable/claims.csv``. A claim is met if all of its parts hold; a claim of
which no part could be decided is not checkable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.reproduce.dtable import published
from weir.reproduce.dtable.exact import EXACT
from weir.reproduce.dtable.network import NETWORK_CLAIMS, frames_in_words
from weir.reproduce.engine.evidence import NotMeasuredError, if_measured
from weir.reproduce.engine.judgement import all_hold, judged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from weir.reproduce.dtable.evidence import Evidence
    from weir.reproduce.dtable.published import PublishedClaim
    from weir.reproduce.engine.judgement import Judgement, Part

    Parts = Callable[[Evidence], Iterator[Part]]

HARDWARE = (
    "needs synthesis of both, which is not made here; a synthesis for an iCE40 at 64 entries and 8 flows, "
    "table in "
    "flip-flops, gave DRR 616 LUTs, DTable 1095 with one entry a cycle (1.8 times), 2510 with the whole "
    "table a cycle "
    "(4 times), so `slightly` is kept by the serial form only"
)

CAUSES: dict[str, Callable[[Evidence], str]] = {"C29": frames_in_words}
"""What holds instead where a claim is not met, as far as that is known."""

CLAIMS: dict[str, Parts] = {**EXACT, **NETWORK_CLAIMS}
"""By the number of the claim; C32 is missing, as nothing here can decide it."""


def judge(evidence: Evidence) -> tuple[Judgement[PublishedClaim], ...]:
    """Decide every claim, in the order of the text."""
    return tuple(_judge(evidence, claim) for claim in published.claims())


def _judge(evidence: Evidence, claim: PublishedClaim) -> Judgement[PublishedClaim]:
    def conclude(parts: tuple[Part, ...]) -> tuple[bool, str]:
        if not parts:
            raise NotMeasuredError("nothing to decide it by was measured: no channel saturated")
        bar = f"bar: {' within '.join(filter(None, (claim.expected, claim.tolerance)))}"
        cause = CAUSES.get(claim.id)
        found = if_measured(cause, evidence) if cause else None
        return all_hold(parts, bar, found or "no cause is known")

    return judged(claim, lambda: CLAIMS.get(claim.id, _undecided)(evidence), conclude)


def _undecided(_: Evidence) -> Iterator[Part]:
    raise NotMeasuredError(HARDWARE)
