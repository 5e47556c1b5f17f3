"""What a fabric's result must be beyond the types of its fields: about what is there, its ends in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weir.reading import check_bins, check_interval, refuse

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
            check_interval(f"{section}[{place}]", row, "low", "high")
            check_interval(f"{section}[{place}]", row, "low_90", "high_90")
    for place, row in enumerate(document["distributions"]):
        check_bins(f"distributions[{place}]", row)
    for place, row in enumerate(document["totals"]):
        for key, value in row.items():
            if key not in {"discipline", "load"} and value < 0:
                refuse(f"totals[{place}].{key}", value, "0 or more")
