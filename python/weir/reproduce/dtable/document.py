"""What the reproduction found: all checks, the measured values behind them, and the verdict in words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from weir.reproduce.checks import Status
from weir.reproduce.common import Reproduced
from weir.reproduce.dtable.claims import HARDWARE
from weir.reproduce.dtable.sensitivity import table
from weir.text import be

if TYPE_CHECKING:
    from weir.reproduce.checks import Check, Checks
    from weir.reproduce.dtable.claims import Judgement
    from weir.reproduce.dtable.evidence import Evidence
    from weir.reproduce.dtable.sensitivity import Row

__all__ = ["DtableReproduction"]


@dataclass(frozen=True, eq=False)
class DtableReproduction(Reproduced):
    """All checks of the reproduction, and the measured values behind them.

    Attributes
    ----------
    checks : Checks
        One check for each value of Table 1 and of Figure 1, each claim, each sign under other traffic and
        shares, each figure of the sensitivity table, and each figure of the prototype.
    evidence : Evidence
        What was measured.
    judgements : tuple of Judgement
        The claims, in the order of the text.
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
        return self.interrupted and not self.evidence.views

    @cached_property
    def sensitivity(self) -> list[Row]:
        """The sensitivity table."""
        return table(self.evidence)

    def never(self, check: Check) -> bool:
        """Whether it is a claim on hardware, which is not for a simulation to decide."""
        return check.note == HARDWARE

    def verdict(self) -> str:
        """Return what came of it, in a few sentences."""
        sentences = [
            *self.unchecked(),
            self.met_of(
                "table", "values of Table 1", "follow from k = 2, w = 4, N = 64 and an MTU of 32 credits"
            ),
            self.met_of("figure", "saturated shares of Figure 1", "are those of the rules"),
            self._claims(),
            self.met_of("variant", "checks under other traffic and shares", "are met"),
            self.met_of("sensitivity", "signs of the sensitivity table", "are as with the choices made"),
            self.met_of("prototype", "mean improvements of a prototype", "have its sign here"),
            *self.missed_in_words(),
        ]
        return " ".join(f"{sentence}." for sentence in sentences)

    def _claims(self) -> str:
        words = self.met_of("claim", "claims", "are met")
        missed = self.checks.count(Status.NOT_MET, "claim")
        more = f", {missed} {be(missed)} not met" if missed else ""
        return f"{words}{more}; C32, on hardware, is not for a simulation to decide"

    def text(self) -> str:
        """Return the reproduction as plain text, the verdict first."""
        from weir.reproduce.dtable.text import text

        return text(self)

    def html(self) -> str:
        """Return the reproduction as one HTML document that needs nothing else."""
        from weir.reproduce.dtable.page import html

        return html(self)
