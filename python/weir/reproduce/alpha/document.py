"""What the reproduction found: all checks, the measured means behind them, and the verdict in words."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from weir.reproduce.alpha.claim import Finding
from weir.reproduce.alpha.evidence import NotMeasuredError
from weir.reproduce.alpha.fairness import FAIRNESS_LOADS, FAMILY, fairness
from weir.reproduce.alpha.published import LOADS
from weir.reproduce.checks import Status
from weir.reproduce.common import Reproduced
from weir.text import be

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weir.reproduce.alpha.evidence import Evidence
    from weir.reproduce.alpha.fairness import Fairness
    from weir.reproduce.alpha.judgement import Judgement
    from weir.reproduce.alpha.published import Load
    from weir.reproduce.checks import Check, Checks

__all__ = ["AlphaReproduction"]

_IN_WORDS = {
    Finding.AGREES: "agree",
    Finding.BORDERLINE: "borderline",
    Finding.PARTLY: "partly",
    Finding.CONTRADICTED: "contradicted",
}
_CLOSED_FORMS = ("closed form", "published to closed form")


@dataclass(frozen=True, eq=False)
class AlphaReproduction(Reproduced):
    """All checks of the reproduction, and the measured means behind them.

    Attributes
    ----------
    checks : Checks
        One check for each published mean, closed form and claim.
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
        """Whether it was stopped before the first load was finished."""
        return self.interrupted and not self.evidence.loads

    @property
    def packets(self) -> int:
        """Packets simulated for each strategy, at all loads together."""
        return sum(int(result.document["ticks"]) for result in self.evidence.loads.values())

    @cached_property
    def fairness(self) -> tuple[Fairness, ...]:
        """Section 12: the extremes of the effective packet period, of every alpha at 50 % and 95 %."""
        return tuple(self._fairness())

    def _fairness(self) -> Iterator[Fairness]:
        for load in FAIRNESS_LOADS:
            for strategy in FAMILY:
                try:
                    yield fairness(self.evidence, load, strategy)
                except NotMeasuredError:
                    continue

    def verdict(self) -> str:
        """Return what came of it, in a few sentences."""
        sentences = [*self.unchecked(), self._means(), self._exact(), self._claims()]
        return " ".join(f"{sentence}." for sentence in sentences)

    def _means(self) -> str:
        artefact = self.checks.count(Status.ARTEFACT, "table")
        words = self.met_of("table", "published means", "are met")
        if artefact:
            words += f", {artefact} are artefacts of the original's overflow"
        missed = self.checks.count(Status.NOT_MET, "table")
        return f"{words}, {missed:,} {be(missed)} not met" if missed else words

    def _exact(self) -> str:
        measured, printed = _CLOSED_FORMS
        made = sum(check.status != Status.NOT_CHECKABLE for check in self.checks.of_kind(measured))
        if not made:
            return "None of the closed forms could be checked"
        artefact = self.checks.count(Status.ARTEFACT, printed)
        shown = f"{self.checks.count(Status.MET, measured)} agree with what was measured"
        shown += f" and {self.checks.count(Status.MET, printed)} with what was published"
        shown += f" ({artefact} artefacts)" if artefact else ""
        return f"Of {made} closed forms, {shown}"

    def _claims(self) -> str:
        found = Counter(judgement.found for judgement in self.judgements if judgement.found)
        listed = ", ".join(f"{count} {_IN_WORDS[finding]}" for finding, count in found.most_common())
        words = self.met_of("claim", "claims of the text", "come out as recorded")
        return f"{words} ({listed})" if listed else words

    def of_load(self, load: Load) -> list[Check]:
        """Return the checks of the published means at one load."""
        return [check for check in self.checks.of_kind("table") if check.id.split("/")[1] == load]

    def rows_of_loads(self) -> Iterator[tuple[Load, int, str, float | None]]:
        """Yield load, packets simulated, cells met, and the largest deviation in tolerances."""
        for load in LOADS:
            cells = self.of_load(load)
            packets = self.evidence.loads[load].document["ticks"] if load in self.evidence.loads else 0
            met = sum(check.status == Status.MET for check in cells)
            shares = [
                share
                for check in cells
                if check.status != Status.ARTEFACT and (share := _share(check)) is not None
            ]
            artefact = sum(check.status == Status.ARTEFACT for check in cells)
            words = f"{met} of {len(cells)}" + (f", {artefact} artefact" if artefact else "")
            yield load, int(packets), words, max(shares, default=None)

    def text(self) -> str:
        """Return the reproduction as plain text, the verdict first."""
        from weir.reproduce.alpha.text import text

        return text(self)

    def html(self) -> str:
        """Return the reproduction as one HTML document that needs nothing else."""
        from weir.reproduce.alpha.page import html

        return html(self)


def _share(check: Check) -> float | None:
    """Return how much of its tolerance a deviation takes."""
    if not isinstance(check.published, float) or not isinstance(check.measured, float) or not check.tolerance:
        return None
    return abs(check.measured - check.published) / check.tolerance
