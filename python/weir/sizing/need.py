"""Needs as texts, such as ``p99 response < 200ms`` or ``throughput of call > 5Mbit under sfq``.

A statistic, a metric, of whom, at most or at least how much, and under which discipline where that is not
every one. They become the tables ``[[need]]`` of a scenario, and are checked as those are: metrics,
statistics, names and units are those that the results of the model have. A bound is part of what is allowed,
so that ``<`` and ``<=`` mean the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weir.errors import ConfigError, ScenarioError
from weir.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["OPTION", "Asked", "asked_of", "read_need"]

OPTION = "--need"
_KINDS = ("class", "flow", "process", "queue", "link", "channel")
_STATISTIC = re.compile(r"mean|min|max|p\d+(?:\.\d+)?")
_FORM = re.compile(
    r"(?:(?P<first>\S+)\s+)?(?P<second>[A-Za-z_][\w.]*)"
    rf"(?:\s+of\s+(?:(?P<kind>{'|'.join(_KINDS)})\s+)?(?P<name>\S+))?"
    r"\s*(?P<side><=|>=|<|>|≤|≥)\s*(?P<bound>\S+(?:\s+(?!under\s)\S+)?)"
    r"(?:\s+under\s+(?P<discipline>\S.*))?"
)
_EXAMPLE = f"write `{OPTION} 'p99 response < 200ms'`, or `{OPTION} 'loss of call < 0.1%'`"


@dataclass(frozen=True, slots=True)
class Asked:
    """A need: its table in the scenario, its text, and the discipline that it is about, if not all."""

    table: Mapping[str, Any]
    text: str = ""
    discipline: str | None = None


def read_need(text: str, document: Mapping[str, Any]) -> Asked:
    """Read a need of a scenario.

    Raises
    ------
    ConfigError
        If it is not of that form.
    """
    found = _FORM.fullmatch(text.strip())
    if not found:
        raise ConfigError(f"{OPTION} is {text!r}, must be a figure and its bound", _EXAMPLE)
    first, second = found["first"], found["second"]
    if first and _STATISTIC.fullmatch(second):  # as a table has it, `response p99`
        first, second = second, first
    table: dict[str, Any] = {"metric": f"{second} {first}" if first else second}
    if found["name"]:
        table[found["kind"] or _kind(found["name"], document)] = found["name"]
    side = "bound" if found["side"] in {"<", "<=", "≤"} else "at_least"
    table[side] = _bound("".join(found["bound"].split()))
    return Asked(table, text.strip(), found["discipline"])


def _kind(name: str, document: Mapping[str, Any]) -> str:
    """Return what has this name in a scenario; what its model names most where nothing has."""
    for kind in _KINDS:
        tables = document.get(kind)
        if isinstance(tables, list) and any(
            isinstance(each, dict) and each.get("name") == name for each in tables
        ):
            return kind
    return {"network": "flow", "fabric": "channel", "node": "process"}.get(
        str(document.get("model")), "class"
    )


def _bound(written: str) -> float | int | str:
    try:
        return int(written)
    except ValueError:
        pass
    try:
        return float(written)
    except ValueError:
        return written


def asked_of(texts: Sequence[str], document: Mapping[str, Any], name: str) -> list[Asked]:
    """Return the needs of a scenario, those of its own first, each checked.

    Raises
    ------
    ConfigError
        If one of the texts is refused, or there is no need at all.
    ScenarioError
        If the scenario is.
    """
    own = [Asked(table) for table in document.get("need", [])]
    checked = Scenario.from_dict(document, name)
    given = [read_need(text, document) for text in texts]
    for each in given:
        _check(each, document, checked)
    if not own + given:
        raise ConfigError("nothing is needed", f"{_EXAMPLE}; or declare `[[need]]` in the file", name)
    return own + given


def _check(need: Asked, document: Mapping[str, Any], scenario: Scenario) -> None:
    if need.discipline is not None and need.discipline not in scenario.disciplines:
        raise ConfigError(
            f"{OPTION} {need.text!r}: `{need.discipline}` is no discipline of the scenario",
            f"name one of: {', '.join(scenario.disciplines)}",
        )
    try:
        Scenario.from_dict({**document, "need": [need.table]}, scenario.name)
    except ScenarioError as error:
        raise ConfigError(f"{OPTION} {need.text!r}: {error.message}", error.remedy, key=error.key) from None


def under(needs: Sequence[Asked], discipline: str | None) -> Iterator[Asked]:
    """Yield the needs that a discipline must meet."""
    return (each for each in needs if each.discipline in {None, discipline})
