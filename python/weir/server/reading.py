"""What a server's result must be beyond the types of its fields: about what it lists, its times in order."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from weir.reading import check_bins, check_interval, refuse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["ALL", "check_columns", "check_figures", "check_subjects"]

ALL = "all"
"""The name of all classes, and of all cores, together."""
_KINDS = ("class", "core")


def check_subjects(document: Mapping[str, Any]) -> None:
    """Refuse classes that cannot be told apart, rows about others than these, and notes that are no text.

    Raises
    ------
    ResultError
        With the place of what is wrong.
    """
    names = [row["name"] for row in document["classes"]]
    if len(set(names)) < len(names) or ALL in names or not names:
        refuse("classes", names, f"by different names, none of them `{ALL}`")
    cores = document["cores"]
    if cores < 1:
        refuse("cores", cores, "1 or more")
    notes = document.get("notes", [])
    if not (isinstance(notes, list) and all(isinstance(note, str) for note in notes)):
        refuse("notes", notes, "a list of texts")
    known = {"class": [ALL, *names], "core": [ALL, *map(str, range(cores))]}
    for section in ("estimates", "differences"):
        for place, row in enumerate(document[section]):
            if row["kind"] not in _KINDS:
                refuse(f"{section}[{place}].kind", row["kind"], f"one of {', '.join(_KINDS)}")
            _check_name(f"{section}[{place}].name", row["name"], known[row["kind"]])
    for section in ("class_totals", "distributions", "windows"):
        for place, row in enumerate(document[section]):
            _check_name(f"{section}[{place}].class", row["class"], known["class"])
    for place, row in enumerate(document["core_totals"]):
        _check_name(f"core_totals[{place}].core", str(row["core"]), known["core"])


def _check_name(where: str, name: str, known: Sequence[str]) -> None:
    if name not in known:
        refuse(where, name, "one that the result lists")


def check_figures(document: Mapping[str, Any]) -> None:
    """Refuse intervals that end before they begin, half intervals, bins out of order, and counts below zero.

    Raises
    ------
    ResultError
        With the place of what is wrong.
    """
    if document["measured"] <= 0:
        refuse("measured", document["measured"], "above 0")
    for section in ("estimates", "differences"):
        for place, row in enumerate(document[section]):
            check_interval(f"{section}[{place}]", row, "low", "high")
    for place, row in enumerate(document["distributions"]):
        check_bins(f"distributions[{place}]", row)
    for section in ("class_totals", "discipline_totals", "core_totals"):
        for place, row in enumerate(document[section]):
            for key, value in row.items():
                if isinstance(value, int | float) and value < 0:
                    refuse(f"{section}[{place}].{key}", value, "0 or more")


def check_columns(document: Mapping[str, Any]) -> None:
    """Refuse windows and changes of the cores in use whose columns do not go together.

    Raises
    ------
    ResultError
        With the place of what is wrong.
    """
    for place, row in enumerate(document["windows"]):
        if row["interval"] <= 0:
            refuse(f"windows[{place}].interval", row["interval"], "above 0")
        if len(row["counts"]) != len(row["values"]):
            refuse(f"windows[{place}].counts", row["counts"], "as many as `values`")
    for place, row in enumerate(document["in_use"]):
        if len(row["count"]) != len(row["at"]):
            refuse(f"in_use[{place}].count", row["count"], "as many as `at`")
        if any(after < before for before, after in pairwise(row["at"])):
            refuse(f"in_use[{place}].at", row["at"], "in order")
