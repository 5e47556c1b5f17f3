"""What a reproduction gives back: its checks, what was measured, and how they are shown."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

from weir.extras import need
from weir.files import write_text
from weir.reproduce.engine.checks import Checks, Counted, Status
from weir.reproduce.engine.judgement import Finding
from weir.reproduce.engine.text import WIDTH
from weir.text import be, plural

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from types import ModuleType

    from weir.reproduce.engine.checks import Check

__all__ = ["Reproduction", "evaluator"]

_NAMED = 6
"""The most checks not met that are named."""
_IN_WORDS = {
    Finding.AGREES: "agree",
    Finding.BORDERLINE: "borderline",
    Finding.PARTLY: "partly",
    Finding.CONTRADICTED: "contradicted",
}


class Evidence(Protocol):
    """What was measured."""

    @property
    def empty(self) -> bool: ...


class Judged(Protocol):
    """A claim that was decided."""

    @property
    def found(self) -> Finding | None: ...


EvidenceT = TypeVar("EvidenceT", bound=Evidence)
JudgedT = TypeVar("JudgedT", bound=Judged)


@dataclass(frozen=True, eq=False)
class Reproduction(Counted, ABC, Generic[EvidenceT, JudgedT]):
    """All checks of a document, and the measured values behind them.

    The modules ``text`` and ``page`` of the document's package show it.

    Attributes
    ----------
    checks : Checks
        One check for each published value and claim.
    evidence : Evidence
        What was measured.
    judgements : tuple
        The claims, in the order of the text.
    interrupted : bool
        Whether it was stopped before its end; what is here was finished by then.
    """

    name: ClassVar[str]
    """The document, as the command line and its package have it."""
    title: ClassVar[str]
    artefacts: ClassVar[str] = "artefact"

    checks: Checks
    evidence: EvidenceT
    judgements: tuple[JudgedT, ...]
    interrupted: bool = False

    @property
    def empty(self) -> bool:
        """Whether it was stopped before the first of its runs was finished."""
        return self.interrupted and self.evidence.empty

    @abstractmethod
    def sentences(self) -> Iterable[str]:
        """Return what came of it, after what could not be checked."""

    @abstractmethod
    def simulated(self) -> Iterable[str]:
        """Return how much was simulated."""

    def verdict(self) -> str:
        """Return what came of it, in a few sentences."""
        return " ".join(f"{sentence}." for sentence in (*self.unchecked(), *self.sentences()))

    def text(self) -> str:
        """Return the reproduction as plain text, the verdict first."""
        head = fill(f"{self.name}, {self.checks.fidelity}: {self.verdict()}", WIDTH)
        blocks: Iterable[Iterable[str]] = self._part("text").blocks(self)
        return "\n\n".join([head, *("\n".join(block) for block in map(list, blocks) if block)]) + "\n"

    def line(self) -> str:
        """Return how many checks came out how, in one line."""
        state = "interrupted, " if self.interrupted else ""
        made = f"{self.met:,} of {plural(len(self.checks.checks), 'check')} met"
        rest = [f"{self.not_met:,} not met", f"{self.artefact:,} {self.artefacts}"]
        rest += [f"{self.not_checkable:,} not checkable"] if self.not_checkable else []
        return f"{self.name}, {self.checks.fidelity}: {state}{made}, {', '.join(rest)}"

    def html(self) -> str:
        """Return the reproduction as one HTML document that needs nothing else."""
        need("charts", "an HTML report")
        return str(self._part("page").html(self))

    def _part(self, name: str) -> ModuleType:
        """Return a module of the document's package, loaded only now: charts take long to load."""
        return import_module(f"weir.reproduce.{self.name}.{name}")

    def facts(self) -> tuple[str, ...]:
        """Return how many checks have which status, and how much was simulated."""
        return (
            f"{plural(self.met, 'check')} met",
            f"{self.not_met:,} not met",
            f"{self.artefact:,} {self.artefacts}",
            f"{self.not_checkable:,} not checkable",
            *self.simulated(),
        )

    def count(self, status: Status, kind: str | None = None) -> int:
        """Return how many checks, of one kind or of all, have a status."""
        return self.checks.count(status, kind)

    def never(self, check: Check) -> bool:  # noqa: ARG002 - a reproduction may know of some
        """Whether a check can never be made here, so that nothing is amiss where it is not."""
        return False

    def unchecked(self) -> list[str]:
        """Return, as sentences before all others, that it was interrupted and what could not be checked."""
        sentences = ["Interrupted: what follows was finished by then"] if self.interrupted else []
        found = [check for check in self.of_status(Status.NOT_CHECKABLE) if not self.never(check)]
        if found:
            sentences.append(f"{plural(len(found), 'check')} could not be made: {found[0].note}")
        return sentences

    def missed(self) -> list[Check]:
        """Return the checks that are not met."""
        return self.of_status(Status.NOT_MET)

    def missed_in_words(self) -> list[str]:
        """Return a sentence that names what is not met, if anything is not."""
        found = [check.id for check in self.missed()]
        if not found:
            return []
        listed = ", ".join(f"`{name}`" for name in found[:_NAMED])
        more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
        return [f"{plural(len(found), 'check')} {be(len(found))} not met: {listed}{more}"]

    def of_status(self, *statuses: Status) -> list[Check]:
        """Return the checks with one of these statuses."""
        return [check for check in self.checks.checks if check.status in statuses]

    def met_of(self, kind: str, noun: str, end: str) -> str:
        """Return how many checks of a kind are met, of those that could be made.

        Such as ``3 of 4 published means are met``, with ``noun`` and ``end`` around the count.
        """
        total, met = len(list(self.checks.of_kind(kind))), self.count(Status.MET, kind)
        made = total - self.count(Status.NOT_CHECKABLE, kind)
        if made == 0:
            return f"None of the {total:,} {noun} could be checked"
        if made == total:
            return f"{met:,} of {total:,} {noun} {end}"
        return f"{met:,} of the {made:,} {noun} that could be checked, of {total:,}, {end}"

    def claims_met(self) -> str:
        """Return how many claims come out as recorded, and what was found of them."""
        found = Counter(judgement.found for judgement in self.judgements if judgement.found)
        listed = ", ".join(f"{count} {_IN_WORDS[finding]}" for finding, count in found.most_common())
        words = self.met_of("claim", "claims of the text", "come out as recorded")
        return f"{words} ({listed})" if listed else words

    def counted(self, status: Status, kind: str, words: str) -> str:
        """Return how many checks of a kind have a status, in words to go on with, if any has."""
        count = self.count(status, kind)
        return f", {count:,} {words}" if count else ""

    def not_met_of(self, kind: str) -> str:
        """Return how many checks of a kind are not met, in words to go on with, if any is not."""
        return self.counted(Status.NOT_MET, kind, f"{be(self.count(Status.NOT_MET, kind))} not met")

    def by_id(self, kind: str | None = None) -> dict[str, Check]:
        """Return the checks of a kind, or all, by what names them."""
        return {check.id: check for check in self.checks.of_kind(kind)}

    def tallied(self, key: str) -> tuple[str, str]:
        """Return in words how many checks of a table are met, and the largest deviation in tolerances."""
        found = [check for check in self.checks.of_kind("table") if check.id.split("/")[1] == key]
        met, artefacts = (
            sum(check.status == status for check in found) for status in (Status.MET, Status.ARTEFACT)
        )
        words = f"{met} of {len(found)}" + (f", {artefacts} artefact" if artefacts else "")
        shares = [share for check in found if (share := _share(check)) is not None]
        return words, f"{max(shares):.2f}" if shares else "n/a"

    def to_dict(self) -> dict[str, Any]:
        """Return the checks as a JSON object, in the shape of every reproduction."""
        return {**self.checks.to_dict(), "interrupted": self.interrupted}

    def to_json(self) -> str:
        """Return the checks as JSON text."""
        return json.dumps(self.to_dict(), indent=1, allow_nan=False, ensure_ascii=False) + "\n"

    def write_html(self, path: str | Path) -> None:
        """Write the HTML document; the file is never half-written."""
        write_text(Path(path), self.html())


def _share(check: Check) -> float | None:
    """Return how much of its tolerance a deviation takes."""
    if check.status not in {Status.MET, Status.NOT_MET} or not check.tolerance:
        return None
    if not isinstance(check.published, float) or not isinstance(check.measured, float):
        return None
    return abs(check.measured - check.published) / check.tolerance


ReproductionT = TypeVar("ReproductionT", bound=Reproduction[Any, Any])


def evaluator(
    kind: type[ReproductionT],
    evidence_of: Callable[[Mapping[Any, Any]], EvidenceT],
    judge: Callable[[EvidenceT], tuple[Any, ...]],
    checks: Sequence[Callable[[EvidenceT], Iterable[Check]] | None],
    **asked: Callable[[EvidenceT], Iterable[Check]],
) -> Callable[..., ReproductionT]:
    """Return what holds results against what was published, of those runs that were made.

    It takes a result for each plan; ``fidelity``, with which they are labelled, and ``interrupted``, whether
    the runs were stopped before their end.

    Parameters
    ----------
    kind : type
        The document.
    evidence_of : callable
        Returns what was measured, from the results.
    judge : callable
        Decides the claims.
    checks : sequence
        What returns checks, in the order of the source; `None` stands for those of the claims.
    asked : callable
        Checks that are made only where they are asked for, by name.
    """

    def evaluate(
        results: Mapping[Any, Any], *, fidelity: str = "default", interrupted: bool = False, **more: bool
    ) -> ReproductionT:
        evidence = evidence_of(results)
        judgements = judge(evidence)
        made: list[Check] = []
        for find in (*checks, *(asked[name] for name, wanted in more.items() if wanted)):
            made += find(evidence) if find else (each.check for each in judgements)
        return kind(Checks(kind.name, fidelity, tuple(made)), evidence, judgements, interrupted)

    return evaluate
