"""Table 1 as the planner has it, from the request ``reproduce/dtable/table01.toml``.

The planner is what is checked; `weir.reproduce.dtable.method` computes the same table on its own.
"""

from __future__ import annotations

import json
from fractions import Fraction
from functools import cache
from typing import Any

from weir import _weir
from weir.files import read_text
from weir.reproduce.dtable import published
from weir.reproduce.dtable.published import CHANNELS, COLUMNS, TOTAL


@cache
def plan() -> dict[str, Any]:
    """Return the plan of the request.

    Raises
    ------
    PlanError
        If the request is refused as a whole.
    """
    path = published.folder() / "table01.toml"
    document: dict[str, Any] = json.loads(_weir.plan(read_text(path), str(path)))
    return document


def table() -> dict[tuple[str, str], Fraction]:
    """Return the planned values by channel (or the total) and column of Table 1."""
    classes = {each["name"]: each for each in plan()["classes"]}
    made = {
        (name, column): value
        for name in CHANNELS
        if name in classes
        for column, value in zip(COLUMNS, _row(classes[name]), strict=True)
    }
    for column in COLUMNS:
        if column != "entry_weight":
            found = [value for key, value in made.items() if key[1] == column]
            made[TOTAL, column] = sum(found, Fraction(0))
    return made


def _row(planned: dict[str, Any]) -> tuple[Fraction, ...]:
    weights = planned["weights_credits"]
    return (
        100 * Fraction(planned["share"]),
        Fraction(planned["entries"]),
        100 * Fraction(planned["entry_share"]),
        100 * Fraction(planned["minimum_share"]),
        100 * Fraction(planned["maximum_share"]),
        Fraction(sum(weights), len(weights)),
        Fraction(planned["weight_credits"]),
        Fraction(planned["quantum_credits"]),
    )


def places() -> list[str | None]:
    """Return the channel of each entry of the planned table."""
    names = [each["name"] for each in plan()["classes"]]
    return [None if entry is None else names[entry["class"]] for entry in plan()["slots"]]
