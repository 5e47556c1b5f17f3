"""What a server's result must be beyond the types of its fields: about what it lists, its times in order."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from weir import subjects
from weir.reading import refuse
from weir.subjects import ALL, check_counts, check_listed, check_names

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["check_columns", "check_figures", "check_subjects"]


def check_subjects(document: Mapping[str, Any]) -> None:
    """Refuse classes that cannot be told apart, rows about others than these, and notes that are no text.

    Raises
    ------
    ResultError
        With the place of what is wrong.
    """
    names = [row["name"] for row in document["classes"]]
    check_names("classes", names)
    cores = document["cores"]
    if cores < 1:
        refuse("cores", cores, "1 or more")
    notes = document.get("notes", [])
    if not (isinstance(notes, list) and all(isinstance(note, str) for note in notes)):
        refuse("notes", notes, "a list of texts")
    known = {"class": names, "core": [str(core) for core in range(cores)]}
    subjects.check_subjects(document, ("estimates", "differences"), known)
    for section in ("class_totals", "distributions", "windows"):
        for place, row in enumerate(document[section]):
            check_listed(f"{section}[{place}].class", row["class"], [ALL, *names])
    for place, row in enumerate(document["core_totals"]):
        check_listed(f"core_totals[{place}].core", str(row["core"]), known["core"])


def check_figures(document: Mapping[str, Any]) -> None:
    """Refuse intervals that end before they begin, half intervals, bins out of order, and counts below zero.

    Raises
    ------
    ResultError
        With the place of what is wrong.
    """
    subjects.check_figures(document)
    check_counts(document, ("class_totals", "discipline_totals", "core_totals"))


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
