"""What the reproduction found: all checks, the measured values behind them, and the verdict in words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from weir.reproduce.checks import Status
from weir.reproduce.common import Reproduced
from weir.reproduce.epoch import comparison
from weir.reproduce.epoch.open_points import open_points
from weir.text import be, plural

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

    def unchecked(self) -> list[str]:
        """Return that it was interrupted, and what could not be checked but for what never can be."""
        sentences = ["Interrupted: what follows was finished by then"] if self.interrupted else []
        found = [
            check
            for check in self.checks.checks
            if check.status == Status.NOT_CHECKABLE and not check.id.startswith(_CHAIN)
        ]
        if found:
            sentences.append(f"{plural(len(found), 'check')} could not be made: {found[0].note}")
        return sentences

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
            *self._missed(),
        ]
        return " ".join(f"{sentence}." for sentence in sentences)

    def _artefacts(self) -> str:
        return f"; {self.artefact} is a last digit, rounded up" if self.artefact else ""

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
        from weir.reproduce.epoch.text import text

        return text(self)

    def html(self) -> str:
        """Return the reproduction as one HTML document that needs nothing else."""
        from weir.reproduce.epoch.page import html

        return html(self)
