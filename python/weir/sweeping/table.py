"""What a sweep returns: the figures of all cells as one table, and comparisons of the cells.

Columns: ``cell``, its place; a column for each axis; ``discipline``, ``reference`` (of a paired difference,
which other rows do not have), the subject as the model names it, ``metric``, ``statistic``, ``unit``,
``value``, ``low`` and ``high`` of the 95 % interval, ``count``, ``settled``, ``replications``; and
``reason``, why there is no value, or no cell.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weir.axes import ALONE, written
from weir.extras import has, need
from weir.results import frames
from weir.sweeping.figure import NAMES, WATCHED, chosen
from weir.sweeping.selection import best_of, frontier_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    import altair as alt
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from weir import _weir
    from weir.axes import Cells
    from weir.results.result import Result
    from weir.sweeping.figure import Figure
    from weir.sweeping.plan import Plan
    from weir.sweeping.selection import Best, Frontier

__all__ = ["FACTS", "SweepResult", "arrow", "counts_of", "widest_of"]

FACTS = "weir.sweep"
"""Where the facts of a set are, in its metadata."""
_WHOLE = ("cell", "replications", "count")


@dataclass(frozen=True)
class SweepResult:
    """The result of a sweep.

    Attributes
    ----------
    plan : Plan
        The cells, and what they were made of.
    folder : Path
        Where their replications are kept.
    state : dict
        How many replications were there before (``kept``), were played (``played``), cannot be played
        (``failed``).
    interrupted : bool
        It was broken off; the same call goes on where it stood.
    widest : float or None
        The widest interval of a mean time, as a share of it.
    """

    plan: Plan
    folder: Path
    state: dict[str, Any]
    interrupted: bool
    widest: float | None
    _kept: _weir.Sweep
    _cells: _weir.Cells
    _table: pa.Table | None

    def to_arrow(self) -> pa.Table:
        """Return the figures as an Arrow table."""
        if self._table is None:
            raise RuntimeError("a sweep that was broken off, or of a shard, has no table")
        return self._table

    def to_pandas(self) -> pd.DataFrame:
        """Return the figures as a pandas data frame."""
        need("pandas", "a pandas data frame")
        return frames.pandas(self.to_arrow())

    def to_polars(self) -> pl.DataFrame:
        """Return the figures as a Polars data frame."""
        need("polars", "a Polars data frame")
        return frames.polars(self.to_arrow())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the figures to whoever reads Arrow streams."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def _repr_html_(self) -> str | None:
        """Return the summary that a notebook shows; none without figures, or without the extra `charts`."""
        if self._table is None or not has("charts"):
            return None
        from weir.sweeping.page import summary

        return summary(self)

    def plot(self, title: str | None = None) -> alt.TopLevelMixin:
        """Return a chart of the sweep's report as an object of Altair.

        Parameters
        ----------
        title : str, optional
            Its title in the report, or how that begins, in any case. Default: the first.

        Raises
        ------
        ConfigError
            If there is no such chart; the error has the titles that there are.
        MissingExtraError
            Without the extra ``charts``.
        """
        need("charts", "a chart")
        from weir.results.notebook import chart
        from weir.sweeping.page import figures

        return chart(figures(self), title)

    @property
    def cells(self) -> Sequence[dict[str, Any]]:
        """The values of the axes in each cell."""
        return self.plan.cells

    def reasons(self) -> dict[int, str]:
        """Return why cells have no figures."""
        import pyarrow.compute as pc

        table = self.to_arrow()
        if "metric" in table.column_names:
            table = table.filter(pc.is_null(table["metric"]))
        return dict(zip(table["cell"].to_pylist(), table["reason"].to_pylist(), strict=True))

    def rows(self) -> list[dict[str, Any]]:
        """Return the figures as mappings, one a row."""
        return list(self.to_arrow().to_pylist())

    def result(self, cell: int) -> Result:
        """Return the whole result of a cell, as `weir.run` returns it of the same scenario."""
        from weir.results.engine import of_engine

        return of_engine(self._kept.result(self._cells, range(len(self._cells))[cell]))

    def figure(self, name: str) -> Figure:
        """Return the figure of this name, such as ``p99 response`` or ``mean delay of call``.

        Raises
        ------
        ConfigError
            If there is none, or more than one.
        """
        return chosen(name, self.kinds())

    def kinds(self) -> list[dict[str, Any]]:
        """Return what estimates there are: their names, each once."""
        table = self.to_arrow()
        if "metric" not in table.column_names:
            return []
        keys = [key for key in NAMES if key in table.column_names]
        # On one thread the groups come in the order of the rows.
        each = table.select(keys).group_by(keys, use_threads=False).aggregate([]).to_pylist()
        return [row for row in each if row.get("metric") and not row.get("reference")]

    def of(self, figure: Figure, **other: str) -> list[dict[str, Any]]:
        """Return the rows of a figure, one a cell and discipline; with other words where they are given."""
        import pyarrow.compute as pc

        table = self.to_arrow()
        for key, word in {**dict(figure.words), **other, "reference": ""}.items():
            if key in table.column_names:
                column = table[key]
                table = table.filter(pc.is_null(column) if not word else pc.equal(column, word))
        return list(table.to_pylist())

    def best(self, figure: str, *, most: bool = False, confidence: float = 0.95) -> Best:
        """Return the cell that is best in a figure, and those that cannot be distinguished from it.

        Parameters
        ----------
        figure : str
            The figure, of which less is better.
        most : bool
            More is better.
        confidence : float
            The probability with which the truly best is among those that are left.
        """
        return best_of(self, self.figure(figure), most=most, confidence=confidence)

    def frontier(
        self, one: str, other: str, *, most: tuple[bool, bool] = (False, False), confidence: float = 0.95
    ) -> Frontier:
        """Return where each cell stands to the frontier of two figures.

        Parameters
        ----------
        one, other : str
            The figures, of both of which less is better.
        most : tuple of bool
            Of which more is better.
        confidence : float
            The probability with which no cell of the frontier is ruled out.
        """
        figures = (self.figure(one), self.figure(other))
        return frontier_of(self, figures, most=most, confidence=confidence)

    def numbers(
        self, figure: Figure, discipline: str | None, cells: Sequence[int]
    ) -> list[list[float | None]]:
        """Return the number of each replication of some cells."""
        return self._kept.numbers(self._cells.some(list(cells)), figure.under(discipline), None)


def arrow(
    plan: Plan,
    columns: Sequence[tuple[str, str, bytes, bytes, list[str]]],
    rows: int,
    facts: Mapping[str, object],
) -> pa.Table:
    """Return the columns that the engine made, and those of the axes, as an Arrow table."""
    import pyarrow as pa

    made = {
        name: _column(pa, kind, rows, values, valid, words) for name, kind, values, valid, words in columns
    }
    for name in _WHOLE:
        if name in made:
            made[name] = made[name].cast(pa.int64())
    cells = made.pop("cell", pa.array([], pa.int64()))
    table = {"cell": cells}
    for key, own in _of_axes(pa, plan.cells, cells):
        if key == ALONE and ALONE in made:
            import pyarrow.compute as pc

            made[ALONE] = pc.coalesce(made[ALONE], own)
        else:
            table[f"axis.{key}" if key in made else key] = own
    # What a result says where it is not so is said of every row here.
    told = made.get("settled")
    if "value" in made:
        settled = pa.repeat(pa.scalar(True), rows) if told is None else told.fill_null(True)
        made["settled"] = settled
    made.setdefault("reason", pa.nulls(rows, pa.string()))
    reason = made.pop("reason")
    table |= made
    table["reason"] = reason
    told_of = {"name": plan.name, "axes": plan.keys, "cells": len(plan.cells), **facts}
    return pa.table(table).replace_schema_metadata({FACTS: json.dumps(told_of)})


def _of_axes(pa: Any, cells: Cells, places: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401
    """Yield the axes, each with its value at these places of cells."""
    import numpy as np

    left = places.to_numpy()
    if cells.kept is not None:
        left = np.asarray(cells.kept, dtype=np.int64)[left]
    found = []
    for group in reversed(cells.groups):
        left, row = np.divmod(left, len(group.rows))
        used = set(np.unique(row).tolist())
        values = [
            (key, [each[place] if at in used else None for at, each in enumerate(group.rows)])
            for place, key in enumerate(group.keys)
        ]
        found.append([(key, _of_rows(pa, of_rows).take(pa.array(row))) for key, of_rows in values])
    for each in reversed(found):
        yield from each


def _of_rows(pa: Any, values: list[Any]) -> Any:  # noqa: ANN401 - pyarrow ships no types
    """Return the values of an axis, as numbers if all are."""
    told = [value for value in values if value is not None]
    if any(isinstance(value, bool) or not isinstance(value, int | float) for value in told):
        return pa.array([None if value is None else written(value) for value in values], pa.string())
    return pa.array(values, pa.int64() if all(isinstance(value, int) for value in told) else pa.float64())


def widest_of(table: pa.Table) -> float | None:
    """Return the widest interval of the figures that are watched, as a share of its value."""
    import pyarrow.compute as pc

    if not {"metric", "statistic", "value", "low", "high"} <= set(table.column_names):
        return None
    for key, words in WATCHED:
        if key not in table.column_names:
            return None
        table = table.filter(pc.is_in(table[key], pc.pa.array(words.split("|"))))
    if "reference" in table.column_names:
        table = table.filter(pc.is_null(table["reference"]))
    low, high, value = table["low"], table["high"], table["value"]
    width = pc.divide(pc.divide(pc.subtract(high, low), 2.0), pc.abs(value))
    # An exact value has a width of 0, even where it is 0.
    width = pc.if_else(pc.greater(high, low), width, pc.if_else(pc.is_valid(value), 0.0, None))
    widest: float | None = pc.max(width).as_py()
    return widest


def counts_of(table: pa.Table, cells: int) -> list[int]:
    """Return how many replications the figures of each cell are of; 1 where it has none."""
    counts = [1] * cells
    if "replications" in table.column_names:
        grouped = table.select(["cell", "replications"]).group_by("cell").aggregate([("replications", "max")])
        for cell, count in zip(
            grouped["cell"].to_pylist(), grouped["replications_max"].to_pylist(), strict=True
        ):
            counts[cell] = count or 1
    return counts


def _column(pa: Any, kind: str, rows: int, values: bytes, valid: bytes, words: list[str]) -> Any:  # noqa: ANN401
    buffers = [pa.py_buffer(valid), pa.py_buffer(values)]
    if kind == "words":
        places = pa.Array.from_buffers(pa.int32(), rows, buffers)
        return pa.DictionaryArray.from_arrays(places, pa.array(words, pa.string())).cast(pa.string())
    return pa.Array.from_buffers(pa.float64() if kind == "numbers" else pa.bool_(), rows, buffers)
