"""Scenarios: workload, model, disciplines and stopping rule, in one TOML text.

A scenario is kept as the text that the user wrote, so that every error can name its line. It is read and
checked by the engine; `Scenario.normalised` is what the engine understood.
"""

from __future__ import annotations

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
    seed : int or None
        In place of the one in the text, if given.
    """

    text: str
    name: str = "scenario"
    seed: int | None = None

    def __post_init__(self) -> None:
        _ = self.read

    def __reduce__(self) -> tuple[type[Scenario], tuple[str, str, int | None]]:
        """Return what makes the same scenario elsewhere, where it is read again."""
        return Scenario, (self.text, self.name, self.seed)

    @cached_property
    def read(self) -> _weir.Scenario:
        """What the engine read, once, when this scenario was made."""
        read = _weir.Scenario(self.text, self.name)
        return read if self.seed is None else read.with_seed(self.seed)

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
        return tomllib.loads(self.read.normalised)

    @property
    def fingerprint(self) -> str:
        """16 hexadecimal digits that change with the normalised form, or with the bytes of a data file."""
        return self.read.fingerprint

    @property
    def model(self) -> str:
        """The simulated place: ``port``, ``network``, ``fabric``, ``node`` or ``server``."""
        return str(self.normalised["model"])

    @property
    def disciplines(self) -> tuple[str, ...]:
        """The spec strings of the disciplines, as they are written and in the order of the file."""
        return tuple(self.read.disciplines)

    def with_seed(self, seed: int) -> Scenario:
        """Return the same scenario with another seed.

        Raises
        ------
        ConfigError
            If ``seed`` is not from 0 to 2**63 - 1.
        """
        if not 0 <= seed < 2**63:
            raise ConfigError(f"seed is {seed}, must be from 0 to 2**63 - 1", "give a whole number such as 1")
        return self._read_as(self.read.with_seed(seed), seed)

    def settling(self) -> Scenario:
        """Return the same scenario, to be run for as long as it takes until every figure is settled.

        As ``stop.settle = true`` does; ``stop.settle_limit`` says how many times as long it may become.

        Raises
        ------
        ScenarioError
            If its runs cannot be longer, as where a trace ends by itself.
        """
        return self._read_as(self.read.settling(), self.seed)

    @property
    def replications(self) -> int:
        """How many independent replications make its result."""
        return self.read.replications

    def grown(self, times: int, replications: int) -> Scenario:
        """Return the same scenario with a run of ``times`` times its length, in ``replications``.

        Each replication is as long as one of that run, however many there are.

        Raises
        ------
        ScenarioError
            If its runs cannot be longer, as where a trace ends by itself, or are as long as it takes.
        """
        return self._read_as(self.read.grown(times, replications), self.seed)

    def _read_as(self, read: _weir.Scenario, seed: int | None) -> Scenario:
        """Return what the engine has read otherwise, of the same text."""
        other = object.__new__(Scenario)
        other.__dict__.update(text=self.text, name=self.name, seed=seed, read=read)
        return other
