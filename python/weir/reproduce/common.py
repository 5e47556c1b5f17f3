"""What all reproductions share: where their files are, how long they run, what they give back."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weir.errors import ConfigError
from weir.files import write_text
from weir.reproduce.checks import Status
from weir.text import be, plural

if TYPE_CHECKING:
    from weir.reproduce.checks import Check, Checks

__all__ = ["Fidelity", "Reproduced", "fidelity", "folder"]

_NAMED = 6
"""So many checks are named that are not met."""


class Fidelity(StrEnum):
    """How much is simulated."""

    QUICK = "quick"
    DEFAULT = "default"
    FULL = "full"


def fidelity(name: str) -> Fidelity:
    """Return the fidelity of that name.

    Raises
    ------
    ConfigError
        If there is none.
    """
    try:
        return Fidelity(name)
    except ValueError as error:
        names = ", ".join(Fidelity)
        raise ConfigError(
            f"fidelity is {name!r}, must be one of {names}", "leave it out for the default"
        ) from error


def folder(name: str) -> Path:
    """Return the folder of a reproduction's published tables.

    Raises
    ------
    ConfigError
        If the package was installed without its repository.
    """
    path = Path(__file__).resolve().parents[3] / "reproduce" / name
    if not path.is_dir():
        remedy = "install weir from a clone of its repository, by `make build`"
        raise ConfigError("the published tables are not there", remedy, str(path))
    return path


class Reproduced(ABC):
    """What a reproduction gives back: its checks, and how they are shown."""

    checks: Checks
    """One check for each published value and claim."""
    interrupted: bool
    """Whether it was stopped before its end; what is here was finished by then."""

    @property
    @abstractmethod
    def empty(self) -> bool:
        """Whether it was stopped before the first of its runs was finished."""

    @abstractmethod
    def verdict(self) -> str:
        """Return what came of it, in a few sentences."""

    @abstractmethod
    def text(self) -> str:
        """Return the reproduction as plain text, the verdict first."""

    @abstractmethod
    def html(self) -> str:
        """Return the reproduction as one HTML document that needs nothing else."""

    @property
    def met(self) -> int:
        """How many checks are met."""
        return self.checks.met

    @property
    def not_met(self) -> int:
        """How many are not."""
        return self.checks.not_met

    @property
    def artefact(self) -> int:
        """How many published values come from an explained fault of the original."""
        return self.checks.artefact

    @property
    def not_checkable(self) -> int:
        """How many could not be computed."""
        return self.checks.not_checkable

    def never(self, check: Check) -> bool:  # noqa: ARG002 - a reproduction may know of some
        """Whether a check can never be made here, so that nothing is amiss where it is not."""
        return False

    def unchecked(self) -> list[str]:
        """Return, as sentences before all others, that it was interrupted and what could not be checked."""
        sentences = ["Interrupted: what follows was finished by then"] if self.interrupted else []
        found = [check for check in self._with(Status.NOT_CHECKABLE) if not self.never(check)]
        if found:
            sentences.append(f"{plural(len(found), 'check')} could not be made: {found[0].note}")
        return sentences

    def missed(self) -> list[Check]:
        """Return the checks that are not met."""
        return self._with(Status.NOT_MET)

    def missed_in_words(self) -> list[str]:
        """Return a sentence that names what is not met, if anything is not."""
        found = [check.id for check in self.missed()]
        if not found:
            return []
        listed = ", ".join(f"`{name}`" for name in found[:_NAMED])
        more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
        return [f"{plural(len(found), 'check')} {be(len(found))} not met: {listed}{more}"]

    def _with(self, status: Status) -> list[Check]:
        return [check for check in self.checks.checks if check.status == status]

    def met_of(self, kind: str, noun: str, end: str) -> str:
        """Return how many checks of a kind are met, of those that could be made.

        Such as ``3 of 4 published means are met``, with ``noun`` and ``end`` around the count.
        """
        total, met = len(list(self.checks.of_kind(kind))), self.checks.count(Status.MET, kind)
        made = total - self.checks.count(Status.NOT_CHECKABLE, kind)
        if made == 0:
            return f"None of the {total:,} {noun} could be checked"
        if made == total:
            return f"{met:,} of {total:,} {noun} {end}"
        return f"{met:,} of the {made:,} {noun} that could be checked, of {total:,}, {end}"

    def to_dict(self) -> dict[str, Any]:
        """Return the checks as a JSON object, in the shape of every reproduction."""
        return {**self.checks.to_dict(), "interrupted": self.interrupted}

    def to_json(self) -> str:
        """Return the checks as JSON text."""
        return json.dumps(self.to_dict(), indent=1, allow_nan=False, ensure_ascii=False) + "\n"

    def write_html(self, path: str | Path) -> None:
        """Write the HTML document; the file is never half-written."""
        write_text(Path(path), self.html())
