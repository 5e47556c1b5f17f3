"""Settings: keys of a scenario that are given from outside, ``workload.load=0.9``, in place of the file's.

A key is written as in an error: names joined by dots, and the place of a table in a list as a number from 0,
``link.0.rate``. A value is TOML where it reads as TOML (``0.9``, ``true``, ``["fifo", "sf"]``) and text where
it does not (``20Mbit``), so that what has a unit needs no quotes.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weir import toml
from weir.errors import ConfigError, ScenarioError
from weir.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["OPTION", "Setting", "scenario_with"]

OPTION = "--set"
_EXAMPLE = f"write `{OPTION} workload.load=0.9`"
_PART = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Setting:
    """One key with its value; ``written`` is both, as they were given."""

    written: str
    path: tuple[str, ...]
    value: Any

    @classmethod
    def read(cls, written: str) -> Setting:
        """Read ``key=value``.

        Raises
        ------
        ConfigError
            If it is not of that form.
        """
        key, equals, value = written.partition("=")
        path = tuple(part.strip() for part in re.sub(r"\[(\d+)\]", r".\1", key).split("."))
        if not equals or not all(map(_PART.fullmatch, path)):
            raise ConfigError(f"{OPTION} is {written!r}, must be a key and its value", _EXAMPLE)
        return cls(written, path, _value(value.strip()))

    @property
    def keys(self) -> str:
        """The key as an error names it: without the places in lists."""
        return ".".join(part for part in self.path if not part.isdigit())

    def put(self, document: dict[str, Any]) -> None:
        """Write it into a document.

        Raises
        ------
        ConfigError
            If there is no such place in it.
        """
        inside: Any = document
        for depth, part in enumerate(self.path[:-1]):
            if isinstance(inside, dict):
                inside = inside.setdefault(part, {})
            else:
                inside = inside[self._place(inside, depth)]
        if isinstance(inside, dict):
            inside[self.path[-1]] = self.value
        else:
            inside[self._place(inside, len(self.path) - 1)] = self.value

    def _place(self, inside: object, depth: int) -> int:
        """Return the place in a list that the part of the key at this depth names."""
        whole, part = ".".join(self.path[:depth]), self.path[depth]
        if not isinstance(inside, list):
            raise ConfigError(
                f"{OPTION} {self.written}: `{whole}` is {inside!r} in the file, and has no key `{part}`",
                f"give `{whole}` a value, or name another key",
            )
        if not part.isdigit() or int(part) >= len(inside):
            last = f"{whole}.0 to {whole}.{len(inside) - 1}" if inside else "none"
            raise ConfigError(
                f"{OPTION} {self.written}: `{whole}` is a list, which has no place `{part}`",
                f"name one of its places by number: {last}",
            )
        return int(part)


def _value(written: str) -> Any:  # noqa: ANN401 - whatever TOML can hold
    """Return the TOML value that is written, or else the text itself."""
    try:
        found = tomllib.loads(f"value = {written}")
    except tomllib.TOMLDecodeError:
        return written
    return found["value"] if set(found) == {"value"} else written


def scenario_with(text: str, name: str, settings: Iterable[Setting]) -> Scenario:
    """Return the scenario of a text with some of its keys set.

    Raises
    ------
    ScenarioError
        If it is refused. An error of a key that was set names the setting; others have no line, as the text
        that was read is not that of the file.
    ConfigError
        If a setting names a place that the text does not have.
    """
    given = list(settings)
    if not given:
        return Scenario.from_toml(text, name)
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return Scenario.from_toml(text, name)  # which says where
    for each in given:
        each.put(document)
    try:
        return Scenario.from_toml(toml.dumps(document), name)
    except ScenarioError as error:
        raise _placed(error, text, given) from None


def _placed(error: ScenarioError, text: str, given: list[Setting]) -> ScenarioError:
    """Return an error at the setting that caused it, or at its place in the file as it is written."""
    for each in given:
        if error.key is not None and (error.key == each.keys or error.key.startswith(f"{each.keys}.")):
            place = f"{OPTION} {each.written}"
            return ScenarioError(error.message, error.remedy, place, key=error.key, value=error.value)
    try:
        Scenario.from_toml(text, error.file or "scenario")
    except ScenarioError as own:
        if (own.key, own.message) == (error.key, error.message):
            return own
    return ScenarioError(error.message, error.remedy, error.file, key=error.key, value=error.value)
