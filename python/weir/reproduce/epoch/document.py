"""What the reproduction found: all checks, the measured values behind them, and the verdict in words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from weir.reproduce.common import Reproduced
from weir.reproduce.epoch import comparison
from weir.reproduce.epoch.open_points import open_points

if TYPE_CHECKING:
    from weir.reproduce.checks import Check, Checks
    from weir.reproduce.epoch.claims import Judgement
    from weir.reproduce.epoch.comparison import Rows
    from weir.reproduce.epoch.evidence import Evidence
    from weir.reproduce.epoch.open_points import OpenPoint

__all__ = ["EpochReproduction"]

_CHAIN = "table/2/chain/"


@dataclass(frozen=True, eq=False)
class EpochReproduction(Reproduced):
    """All checks of the reproduction, and the measured values behind them.

    Attributes
    ----------
    checks : Checks
        One check for each value of Tables 1 and 2, each number of the text, each figure of the experiments,
        each rate beside the closed form, and each claim.
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
    def compared(self) -> Rows:
        """``epoch`` beside other disciplines on the same task sets."""
        return comparison.rows(self.evidence)

    @cached_property
    def open_points(self) -> tuple[OpenPoint, ...]:
        """The open points, each with its choice and effect."""
        return open_points(self.evidence)

    def never(self, check: Check) -> bool:
        """Whether it is of the complex sink, whose cost the document does not give."""
        return check.id.startswith(_CHAIN)

    def verdict(self) -> str:
        """Return what came of it, in a few sentences."""
        sentences = [
            *self.unchecked(),
            self.met_of("table", "values of Tables 1 and 2", "are measured back by the experiments")
            + self._artefacts(),
            self.met_of("text", "numbers of the text", "are met"),
            self.met_of("experiment", "figures of the experiments", "are as the printed costs have them"),
            self.met_of("rate", "rates of generator and sink", "are those of the closed form"),
            self.met_of("claim", "claims", "are met"),
            *self.missed_in_words(),
        ]
        return " ".join(f"{sentence}." for sentence in sentences)

    def _artefacts(self) -> str:
        return f"; {self.artefact} is a last digit, rounded up" if self.artefact else ""

    def text(self) -> str:
        """Return the reproduction as plain text, the verdict first."""
        from weir.reproduce.epoch.text import text

        return text(self)

    def html(self) -> str:
        """Return the reproduction as one HTML document that needs nothing else."""
        from weir.reproduce.epoch.page import html

        return html(self)
