"""What the reproduction found: all checks, the measured values behind them, and the verdict in words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from weir.reproduce.checks import Status
from weir.reproduce.common import Reproduced
from weir.reproduce.steer import sweep
from weir.text import be, plural

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

    def unchecked(self) -> list[str]:
        """Return that it was interrupted, and what could not be checked but for what never can be."""
        sentences = ["Interrupted: what follows was finished by then"] if self.interrupted else []
        trips = {each.check.id for each in self.judgements if each.published.metric == "rtt"}
        found = [
            check
            for check in self.checks.checks
            if check.status == Status.NOT_CHECKABLE and check.id not in trips
        ]
        if found:
            sentences.append(f"{plural(len(found), 'check')} could not be made: {found[0].note}")
        return sentences

    def verdict(self) -> str:
        """Return what came of it, in a few sentences."""
        sentences = [
            *self.unchecked(),
            self._claims(),
            self.met_of("order", "orderings", "hold"),
            self.met_of("model", "figures of the lab's model", "are those of another simulation of it"),
            self.met_of("slowdown", "slowdowns", "are those of another simulation"),
            self.met_of("property", "properties", "hold"),
            *self._missed(),
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

    def _missed(self) -> list[str]:
        found = [check.id for check in self.missed()]
        if not found:
            return []
        listed = ", ".join(f"`{name}`" for name in found[:6])
        more = f" and {len(found) - 6} more" if len(found) > 6 else ""
        return [f"{plural(len(found), 'check')} {be(len(found))} not met: {listed}{more}"]

    def missed(self) -> list[Check]:
        """Return the checks that are not met."""
        return [check for check in self.checks.checks if check.status == Status.NOT_MET]

    def text(self) -> str:
        """Return the reproduction as plain text, the verdict first."""
        from weir.reproduce.steer.text import text

        return text(self)

    def html(self) -> str:
        """Return the reproduction as one HTML document that needs nothing else."""
        from weir.reproduce.steer.page import html

        return html(self)
