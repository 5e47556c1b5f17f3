"""The disciplines, as the registry of the engine describes them."""

from __future__ import annotations

import difflib
import json
from typing import Any

from weir import _weir
from weir.errors import ConfigError

__all__ = ["discipline", "disciplines", "found", "law", "laws", "textbook"]


def disciplines() -> list[dict[str, Any]]:
    """Return what the registry says of every discipline, in the order of the listings.

    Returns
    -------
    list of dict
        ``name``, ``kind``, ``models`` (that take it), ``title``, ``rule``, ``source``, ``work`` (per item),
        ``parameters`` (each with ``name``, ``values``, ``default``, ``meaning``), ``example`` and
        ``closed_forms``.
    """
    rows: list[dict[str, Any]] = json.loads(_weir.disciplines())
    return rows


def textbook(name: str) -> dict[str, Any] | None:
    """Return what textbooks call so, if it has another name here, or is not here at all.

    Returns
    -------
    dict or None
        ``name``, ``means``, ``here`` (names of disciplines, the nearest first), ``written`` (how each of
        them is written, if its name does not say it) and ``note``.
    """
    plain = name.lower().replace(" ", "_").replace("-", "_")
    names: list[dict[str, Any]] = json.loads(_weir.textbook())
    return next((each for each in names if each["name"] == plain), None)


def laws() -> list[dict[str, Any]]:
    """Return what the engine says of every law of a time, in the order of the listings.

    Returns
    -------
    list of dict
        ``name``, ``title``, ``what``, ``parameters`` (each with ``name``, ``bounds``, ``meaning``), ``mean``,
        ``scv`` and ``skewness`` as formulas, ``source``, and an ``example``: as it is ``written``, with its
        ``mean``, ``median`` and ``p99`` in milliseconds, ``cv`` and ``skewness``, ``None`` where infinite.
    """
    rows: list[dict[str, Any]] = json.loads(_weir.laws())
    return rows


def law(name: str) -> dict[str, Any]:
    """Return what the engine says of one law.

    Raises
    ------
    ConfigError
        If there is none of that name; the remedy suggests the nearest.
    """
    plain = name.strip().lower().replace(" ", "_").replace("-", "_")
    rows = laws()
    for row in rows:
        if row["name"] == plain:
            return row
    near = difflib.get_close_matches(plain, [row["name"] for row in rows], n=1)
    hint = f"did you mean `{near[0]}`? " if near else ""
    names = ", ".join(row["name"] for row in rows)
    raise ConfigError(f"no law is called `{name}`", f"{hint}laws are {names}")


def discipline(name: str) -> dict[str, Any]:
    """Return what the registry says of one discipline; of a spec string only the name is read.

    Where two have the name, it is the one that is listed first, and ``also`` lists the others: `rr` is a
    message discipline, and a dispatcher of pools of servers. Of a name that textbooks have for one that is
    called otherwise here it is that one, and ``textbook`` says so.

    Raises
    ------
    ConfigError
        If there is none of that name; the remedy suggests the nearest.
    """
    plain = name.split(":", 1)[0].split("(", 1)[0].strip()
    rows = disciplines()
    found = [row for row in rows if row["name"] == plain]
    if not found:
        known = textbook(plain)
        if known is not None and known["here"]:
            return discipline(known["here"][0]) | {"textbook": known}
        if known is not None:
            raise ConfigError(
                f"no discipline is called `{plain}`: {known['means']}",
                f"{known['note']}; `weir list` lists all",
            )
        near = difflib.get_close_matches(plain, [row["name"] for row in rows], n=1)
        hint = f"did you mean `{near[0]}`? " if near else ""
        raise ConfigError(f"no discipline is called `{plain}`", f"{hint}`weir list` lists them all")
    return found[0] | ({"also": found[1:]} if found[1:] else {})


def found(word: str) -> list[dict[str, Any]]:
    """Return the disciplines whose name or title has a word, or which a textbook calls so; the exact first.

    Raises
    ------
    ConfigError
        If there are none; the remedy suggests the nearest.
    """
    plain = word.strip().lower()
    rows = disciplines()
    known = textbook(plain)
    names = [plain, *(known["here"] if known else [])]
    exact = [row for name in names for row in rows if row["name"] == name]
    others = [row for row in rows if plain and plain in f"{row['name']} {row['title']}".lower()]
    return [*exact, *(row for row in others if row not in exact)] or [discipline(word)]
