"""Scenarios: workload, model, disciplines and stopping rule, in one TOML text.

A scenario is kept as the text that the user wrote, so that every error can name its line. It is read and
checked by the engine; `Scenario.normalised` is what the engine understood.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weir import _weir, toml
from weir.errors import ConfigError
from weir.files import read_text

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Scenario"]

_FIRST_TABLE = re.compile(r"^\s*\[", re.MULTILINE)
_SEED = re.compile(r"^(\s*seed\s*=\s*)[0-9_]+", re.MULTILINE)


@dataclass(frozen=True)
class Scenario:
    """A checked scenario.

    Build one by `from_file`, `from_toml` or `from_dict`; each raises `ScenarioError` with the place in
    the file, the key, the value and the remedy.

    Attributes
    ----------
    text : str
        The TOML text.
    name : str
        The file it came from; data files it names are relative to that file.
    """

    text: str
    name: str = "scenario"

    def __post_init__(self) -> None:
        _ = self.normalised

    @classmethod
    def from_file(cls, path: str | Path) -> Scenario:
        """Read and check a scenario file.

        Raises
        ------
        ScenarioError
            If something in it is refused.
        ConfigError
            If it cannot be read.
        """
        return cls(read_text(Path(path)), str(path))

    @classmethod
    def from_toml(cls, text: str, name: str = "scenario") -> Scenario:
        """Check a scenario given as TOML text."""
        return cls(text, name)

    @classmethod
    def from_dict(cls, document: Mapping[str, Any], name: str = "scenario") -> Scenario:
        """Check a scenario given as nested mappings, keyed as in the file."""
        return cls(toml.dumps(document), name)

    @cached_property
    def normalised(self) -> dict[str, Any]:
        """The scenario as the engine understood it."""
        return tomllib.loads(_weir.check(self.text, self.name))

    @property
    def model(self) -> str:
        """The simulated place: ``port``, ``network``, ``fabric``, ``node`` or ``server``."""
        return str(self.normalised["model"])

    @property
    def disciplines(self) -> tuple[str, ...]:
        """The spec strings of the disciplines, in the order of the file."""
        return tuple(self.normalised["disciplines"])

    def with_seed(self, seed: int) -> Scenario:
        """Return the same scenario with another seed.

        Raises
        ------
        ConfigError
            If ``seed`` is not from 0 to 2**63 - 1.
        """
        if not 0 <= seed < 2**63:
            raise ConfigError(f"seed is {seed}, must be from 0 to 2**63 - 1", "give a whole number such as 1")
        return Scenario(_with_seed(self.text, seed), self.name)


def _with_seed(text: str, seed: int) -> str:
    """Return the text with its seed replaced in place, so that lines keep their numbers where they can."""
    wanted = {**tomllib.loads(text), "seed": seed}
    table = _FIRST_TABLE.search(text)
    end = table.start() if table else len(text)
    head, replaced = _SEED.subn(rf"\g<1>{seed}", text[:end], count=1)
    edited = head + text[end:] if replaced else f"seed = {seed}\n{text}"
    try:
        same = tomllib.loads(edited) == wanted
    except tomllib.TOMLDecodeError:
        same = False
    return edited if same else toml.dumps(wanted)
