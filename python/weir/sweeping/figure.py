"""Figures by their names: ``p99 response``, ``mean delay of call``, ``p99 latency of 50pkt under sf``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weir.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["NAMES", "WATCHED", "Figure", "chosen", "default_figure"]

ALL = "all"
WATCHED = (("statistic", "mean"), ("metric", "response|latency|delay"))
"""The figures whose intervals are watched where nothing else is said: the mean times of everything in a
cell."""
_SUBJECTS = ("class", "channel", "name", "kind", "scope", "interval", "flow")
NAMES = ("discipline", "reference", "statistic", "metric", "unit", *_SUBJECTS)
"""The columns that tell figures apart."""
_PREFERRED = ("response", "latency", "delay", "wait")
_FORM = re.compile(
    r"(?P<statistic>\S+)\s+(?P<metric>\S+)(?:\s+of\s+(?P<name>\S+))?(?:\s+under\s+(?P<discipline>.+))?"
)
_LISTED = 12


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of every cell: its title, the words by which it is found, its unit, its disciplines."""

    title: str
    words: tuple[tuple[str, str], ...]
    unit: str
    disciplines: tuple[str | None, ...]

    def under(self, discipline: str | None) -> list[tuple[str, str]]:
        """Return the words by which it is found under a discipline."""
        return [*self.words, ("discipline", discipline or "")]


def default_figure(rows: Sequence[dict[str, Any]]) -> str | None:
    """Return the mean time that a model is judged by first, if there is one."""
    metrics = {row["metric"] for row in rows if row.get("statistic") == "mean"}
    metric = next((each for each in _PREFERRED if each in metrics), None)
    return metric and f"mean {metric}"


def chosen(written: str, rows: Iterable[dict[str, Any]]) -> Figure:
    """Return the figure that is written, given the estimates of a cell or of several.

    Raises
    ------
    ConfigError
        If it is not of that form, there is none, or more than one.
    """
    found = _FORM.fullmatch(written.strip())
    if not found:
        raise ConfigError(
            f"figure {written!r} is no figure",
            "write one such as `mean response`, or `p99 delay of call under sfq`",
        )
    wanted = found.groupdict()
    every = [row for row in rows if row.get("metric") and not row.get("reference")]
    named = [
        row for row in every if (row["statistic"], row["metric"]) == (wanted["statistic"], wanted["metric"])
    ]
    if not named:
        known = list(dict.fromkeys(f"{row['statistic']} {row['metric']}" for row in every))
        raise ConfigError(f"figure {written!r} is not in the results", f"choose one of: {_some(known)}")
    matching = [row for row in named if _is_of(row, wanted["name"] or ALL)]
    if not matching:
        known = list(dict.fromkeys(_subject(row) for row in named))
        what = wanted["name"] or ALL
        raise ConfigError(f"figure {written!r}: there is no {what}", f"add `of` and one of: {_some(known)}")
    subjects = list(dict.fromkeys(tuple(row.get(key) for key in _SUBJECTS) for row in matching))
    words: list[tuple[str, str]] = [("statistic", wanted["statistic"]), ("metric", wanted["metric"])]
    # The first of several, as of the intervals of a network: the whole run comes first.
    words += [
        (key, value if isinstance(value, str) else "")
        for key, value in zip(_SUBJECTS, subjects[0], strict=True)
        if any(key in row for row in matching)
    ]
    disciplines = list(dict.fromkeys(row.get("discipline") for row in matching))
    if wanted["discipline"]:
        if wanted["discipline"] not in disciplines:
            names = _some([each or "none" for each in disciplines])
            raise ConfigError(f"figure {written!r}: no cell has that discipline", f"choose one of: {names}")
        disciplines = [wanted["discipline"]]
    return Figure(written.strip(), tuple(words), str(matching[0].get("unit") or ""), tuple(disciplines))


def _is_of(row: dict[str, Any], name: str) -> bool:
    """Return whether a row is of the subject with this name."""
    if row.get("flow") is not None:
        return name == f"flow{row['flow']:g}"
    return name in (row.get("class"), row.get("channel"), row.get("name"))


def _subject(row: dict[str, Any]) -> str:
    return str(row.get("class") or row.get("channel") or row.get("name"))


def _some(names: Sequence[str]) -> str:
    rest = len(names) - _LISTED
    return ", ".join(names[:_LISTED]) + (f", and {rest} more" if rest > 0 else "")
