"""What the reproduction found: all checks, the measured values behind them, and the verdict in words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from weir.reproduce.checks import Status
from weir.reproduce.common import Reproduced
from weir.reproduce.steer import sweep
from weir.text import be

if TYPE_CHECKING:
    from weir.reproduce.checks import Check, Checks
    from weir.reproduce.steer.claims import Judgement
    from weir.reproduce.steer.evidence import Evidence
    from weir.reproduce.steer.sweep import Row

__all__ = ["CLAIMS", "SteerReproduction"]

CLAIMS = ("value", "bound", "ordering", "trend")
"""The kinds of the claims' checks."""


@dataclass(frozen=True, eq=False)
class SteerReproduction(Reproduced):
    """All checks of the reproduction, and the measured values behind them.

    Attributes
    ----------
    checks : Checks
        One check for each claim, ordering, figure of the model, slowdown and property.
    evidence : Evidence
        What was measured.
    judgements : tuple of Judgement
        The claims, in the order of the list.
    interrupted : bool
        Whether it was stopped before its end.
    """

    checks: Checks
    evidence: Evidence
    judgements: tuple[Judgement, ...]
    interrupted: bool = False

    @property
    def empty(self) -> bool:
        """Whether it was stopped before the first run was finished."""
        return self.interrupted and not self.evidence.results

    @cached_property
    def sweep(self) -> tuple[Row, ...]:
        """When separation with dynamic allocation pays."""
        return sweep.rows(self.evidence, self.checks.fidelity)

    @cached_property
    def _trips(self) -> set[str]:
        return {each.check.id for each in self.judgements if each.published.metric == "rtt"}

    def never(self, check: Check) -> bool:
        """Whether it is of a round trip, which is not simulated."""
        return check.id in self._trips

    def verdict(self) -> str:
        """Return what came of it, in a few sentences."""
        sentences = [
            *self.unchecked(),
            self._claims(),
            self.met_of("order", "orderings", "hold"),
            self.met_of("model", "figures of the lab's model", "are those of another simulation of it"),
            self.met_of("slowdown", "slowdowns", "are those of another simulation"),
            self.met_of("property", "properties", "hold"),
            *self.missed_in_words(),
        ]
        return " ".join(f"{sentence}." for sentence in sentences)

    def _claims(self) -> str:
        statuses = [each.check.status for each in self.judgements]
        met, wrong, unknown = (
            statuses.count(status) for status in (Status.MET, Status.ARTEFACT, Status.NOT_CHECKABLE)
        )
        return (
            f"Of {len(statuses)} claims of the report {met} are met; {wrong} {be(wrong)} contradicted by the "
            f"report's own numbers; {unknown} cannot be checked, which are round trips"
        )

    def text(self) -> str:
        """Return the reproduction as plain text, the verdict first."""
        from weir.reproduce.steer.text import text

        return text(self)

    def html(self) -> str:
        """Return the reproduction as one HTML document that needs nothing else."""
        from weir.reproduce.steer.page import html

        return html(self)
