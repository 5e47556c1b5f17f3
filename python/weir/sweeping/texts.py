"""The texts of the cells: the scenario once, with holes, and what the axes write into them.

The engine makes the text of a cell from its place, when it needs it, and forgets it again; Python makes the
few texts with holes. Which there are depends on which keys a row of each group sets. Where a value is no
value in a text but a table, or two axes write into the same place, there are no holes: the texts of all
cells are made here, one by one, which takes some hundred times as long.

Work: O(shapes x length of the scenario + values of all axes).
"""

from __future__ import annotations

import re
from itertools import product
from typing import TYPE_CHECKING, Any

from weir import _weir, toml
from weir.errors import ConfigError

if TYPE_CHECKING:
    from weir.sweeping.plan import Plan

__all__ = ["engine_cells"]

_MOST_SHAPES = 1_000
_HOLE = re.compile('"\ue000(\\d+)\ue001(\\d+)\ue002"')


def engine_cells(plan: Plan) -> _weir.Cells:
    """Return the cells of a plan as the engine takes them."""
    made = _with_holes(plan)
    if made is None:
        texts = [toml.dumps(plan.document(cell)) for cell in plan.cells]
        groups: Any = [([0] * len(texts), [texts])]
        return _weir.Cells(plan.name, groups, [([0], [("", 0, 0)], "")], None, plan.replications)
    groups, shapes = made
    kept = plan.cells.kept
    return _weir.Cells(plan.name, groups, shapes, None if kept is None else list(kept), plan.replications)


def _with_holes(plan: Plan) -> tuple[list[Any], list[Any]] | None:
    """Return the groups with what they write, and the texts between; nothing where there are no holes."""
    groups, forms = [], []
    for group in plan.cells.groups:
        if any(_is_table(value) for row in group.rows for value in row):
            return None
        numbers: dict[tuple[bool, ...], int] = {}
        of_rows = [
            numbers.setdefault(tuple(value is not None for value in row), len(numbers)) for row in group.rows
        ]
        columns = list(zip(*group.rows, strict=True))
        groups.append((of_rows, [[_written(value) for value in column] for column in columns]))
        forms.append(list(numbers))
    count = 1
    for each in forms:
        count *= len(each)
    if count > _MOST_SHAPES:
        return None
    shapes = []
    for numbers_of in product(*(range(len(each)) for each in forms)):
        shape = _shape(plan, [each[number] for each, number in zip(forms, numbers_of, strict=True)])
        if shape is None:
            return None
        shapes.append((list(numbers_of), *shape))
    return groups, shapes


def _is_table(value: object) -> bool:
    """Return whether a value makes sections of a text, or may."""
    return isinstance(value, dict) or (isinstance(value, list) and any(map(_is_table, value)))


def _written(value: object) -> str:
    return "" if value is None else toml.value(value)


def _shape(plan: Plan, forms: list[tuple[bool, ...]]) -> tuple[list[tuple[str, int, int]], str] | None:
    """Return the text of cells that set these keys, as pieces with the hole behind each, and the end."""
    cell = {
        key: f"\ue000{place}\ue001{within}\ue002"
        for place, (group, form) in enumerate(zip(plan.cells.groups, forms, strict=True))
        for within, key in enumerate(group.keys)
        if form[within]
    }
    try:
        text = toml.dumps(plan.document(cell))
    except ConfigError:
        return None  # an axis writes into what another one has put there
    pieces, at = [], 0
    for hole in _HOLE.finditer(text):
        pieces.append((text[at : hole.start()], int(hole[1]), int(hole[2])))
        at = hole.end()
    # A hole is missing, or there twice, where two axes write into one place.
    return (pieces, text[at:]) if len(pieces) == len({each[1:] for each in pieces}) == len(cell) else None
