"""What a fabric's result must be beyond the types of its fields: about what is there, its ends in order."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from weir.reading import refuse

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["ALL", "check_figures", "check_subjects"]

ALL = "all"
"""The name of all channels together."""


def check_subjects(document: dict[str, Any], sections: Sequence[str]) -> None:
    """Refuse loads and channels that cannot be told apart, and rows about others than these.

    Raises
    ------
    ResultError
        With the place of what is wrong.
    """
    loads, names = document["loads"], [row["name"] for row in document["channels"]]
    if not loads or len(set(loads)) < len(loads) or min(loads) <= 0:
        refuse("loads", loads, "one or more above 0, each once")
    if not names or len(set(names)) < len(names) or ALL in names:
        refuse("channels", names, f"one or more by different names, none of them `{ALL}`")
    known = {"channel": {ALL, *names}, "load": {None, *loads}}
    for section in sections:
        for place, row in enumerate(document[section]):
            for key, those in known.items():
                if row.get(key, ALL if key == "channel" else None) not in those:
                    refuse(f"{section}[{place}].{key}", row[key], f"one of the {key}s of the result")


def check_figures(document: dict[str, Any]) -> None:
    """Refuse intervals that end before they begin, half intervals, bins out of order, and counts below zero.

    Raises
    ------
    ResultError
        With the place of what is wrong.
    """
    for section in ("estimates", "differences"):
        for place, row in enumerate(document[section]):
            _check_interval(f"{section}[{place}]", row, "low", "high")
            _check_interval(f"{section}[{place}]", row, "low_90", "high_90")
    for place, row in enumerate(document["distributions"]):
        _check_bins(f"distributions[{place}]", row)
    for place, row in enumerate(document["totals"]):
        for key, value in row.items():
            if key not in {"discipline", "load"} and value < 0:
                refuse(f"totals[{place}].{key}", value, "0 or more")


def _check_interval(place: str, row: dict[str, Any], low: str, high: str) -> None:
    begin, end = row.get(low), row.get(high)  # what is absent is null
    if begin is None or end is None:
        if begin is not end:
            refuse(f"{place}.{low}", begin, f"null like `{high}`, or neither")
    elif row.get("value") is None:
        refuse(f"{place}.{low}", begin, "null, as there is no value")
    elif begin > end:
        refuse(f"{place}.{low}", begin, f"at most `{high}`")


def _check_bins(place: str, row: dict[str, Any]) -> None:
    edges = [edge for ends in zip(row["low"], row["high"], strict=True) for edge in ends]
    if any(after < before for before, after in pairwise(edges)):
        refuse(f"{place}.low", row["low"], "in order, no bin over another")
    if any(count < 0 for count in row["count"]):
        refuse(f"{place}.count", row["count"], "0 or more")
