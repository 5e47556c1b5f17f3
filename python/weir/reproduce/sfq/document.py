"""What the reproduction found: all checks, the measured values behind them, and the verdict in words."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weir.reproduce.checks import Status
from weir.reproduce.common import Reproduced
from weir.reproduce.finding import Finding
from weir.reproduce.sfq import published
from weir.text import be

if TYPE_CHECKING:
    from weir.reproduce.checks import Check, Checks
    from weir.reproduce.sfq.claims import Judgement
    from weir.reproduce.sfq.evidence import Evidence

__all__ = ["SfqReproduction"]

_IN_WORDS = {
    Finding.AGREES: "agree",
    Finding.BORDERLINE: "borderline",
    Finding.PARTLY: "partly",
    Finding.CONTRADICTED: "contradicted",
}


@dataclass(frozen=True, eq=False)
class SfqReproduction(Reproduced):
    """All checks of the reproduction, and the measured values behind them.

    Attributes
    ----------
    checks : Checks
        One check for each published throughput, delay and offer, each prediction and each claim.
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
        return self.interrupted and not self.evidence.compared

    def verdict(self) -> str:
        """Return what came of it, in a few sentences."""
        sentences = [
            *self.unchecked(),
            self._cells(),
            self._offers(),
            self._predictions(),
            self._claims(),
        ]
        return " ".join(f"{sentence}." for sentence in sentences)

    def _cells(self) -> str:
        words = self.met_of("table", "published throughputs and delays", "are met")
        artefacts = self.checks.count(Status.ARTEFACT, "table")
        if artefacts:
            words += f", {artefacts} are misprints or contaminated"
        missed = self.checks.count(Status.NOT_MET, "table")
        return f"{words}, {missed} {be(missed)} not met" if missed else words

    def _offers(self) -> str:
        words = self.met_of("offer", "offers", "are those of the generator's own random sequence")
        artefacts = self.checks.count(Status.ARTEFACT, "offer")
        return words + (f", {artefacts} windows begin or end elsewhere" if artefacts else "")

    def _predictions(self) -> str:
        words = self.met_of("prediction", "values of perturbed runs", "lie in the range of random maps")
        artefacts = self.checks.count(Status.ARTEFACT, "prediction")
        return words + (f", {artefacts} are misprints" if artefacts else "")

    def _claims(self) -> str:
        found = Counter(judgement.found for judgement in self.judgements if judgement.found)
        listed = ", ".join(f"{count} {_IN_WORDS[finding]}" for finding, count in found.most_common())
        words = self.met_of("claim", "claims of the text", "come out as recorded")
        return f"{words} ({listed})" if listed else words

    def of_table(self, table: int) -> list[Check]:
        """Return the checks of the throughputs and delays of one table."""
        return [check for check in self.checks.of_kind("table") if check.id.split("/")[1] == str(table)]

    def rows_of_tables(self) -> list[tuple[int, str, float | None]]:
        """Return for each table its cells met in words, and the largest deviation in tolerances."""
        made = []
        for table in published.TABLES:
            found = self.of_table(table)
            met = sum(check.status == Status.MET for check in found)
            artefacts = sum(check.status == Status.ARTEFACT for check in found)
            words = f"{met} of {len(found)}" + (f", {artefacts} artefact" if artefacts else "")
            shares = [share for check in found if (share := _share(check)) is not None]
            made.append((table, words, max(shares, default=None)))
        return made

    def text(self) -> str:
        """Return the reproduction as plain text, the verdict first."""
        from weir.reproduce.sfq.text import text

        return text(self)

    def html(self) -> str:
        """Return the reproduction as one HTML document that needs nothing else."""
        from weir.reproduce.sfq.page import html

        return html(self)


def _share(check: Check) -> float | None:
    """Return how much of its tolerance a deviation takes."""
    if check.status not in {Status.MET, Status.NOT_MET} or not check.tolerance:
        return None
    if not isinstance(check.published, float) or not isinstance(check.measured, float):
        return None
    return abs(check.measured - check.published) / check.tolerance
