"""Tables of a port's result: disciplines beside each other, and the classes of messages under each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.models.port.verdict import tail_statistic
from weir.results.tables import MARKS, Column, cell, column, column_scale
from weir.text import number, percent

if TYPE_CHECKING:
    from weir.models.port.result import Estimate, PortResult
    from weir.text import Scale

__all__ = ["class_columns", "comparison_columns"]


def _estimates(result: PortResult, statistic: str, class_: str = "all") -> list[Estimate | None]:
    return [result.estimate(name, statistic=statistic, class_=class_) for name in result.disciplines]


def comparison_columns(result: PortResult) -> list[Column]:
    """Return disciplines x mean with interval, difference, tail, maximum, and theory with OK or !!."""
    means = _estimates(result, "mean")
    scale = column_scale(means)
    columns = [
        Column("discipline", result.disciplines, numeric=False),
        Column(f"mean {scale.header}".rstrip(), tuple(cell(row, scale, margin=True) for row in means)),
    ]
    if len(result.disciplines) > 1:
        columns.append(Column(f"vs {result.reference}", _differences(result), rank=2))
    for statistic, rank in ((tail_statistic(result), 1), ("max", 3)):
        if statistic not in {column.header.split()[0] for column in columns}:
            columns.append(column(statistic, _estimates(result, statistic), rank, text=cell))
    return columns + _theory_pair(result, scale)


def _differences(result: PortResult) -> tuple[str, ...]:
    cells = []
    for name in result.disciplines:
        row = result.difference(name)
        known = row is not None and row.relative is not None
        cells.append(percent(row.relative or 0.0, signed=True) if row is not None and known else "–")
    return tuple(cells)


def _theory_pair(result: PortResult, scale: Scale, class_: str = "all") -> list[Column]:
    """Return the closed forms with OK or !!, if any discipline has one."""
    rows = [result.closed_form(name, class_=class_) for name in result.disciplines]
    if all(row is None or row.value is None for row in rows):
        return []
    values = tuple(
        "–" if row is None or row.value is None else number(row.value / scale.factor) for row in rows
    )
    agree = tuple(MARKS[row.agrees] if row is not None else "" for row in rows)
    return [Column("theory", values, rank=4), Column("", agree, numeric=False)]


def class_columns(result: PortResult, discipline: str) -> list[Column]:
    """Return one discipline's classes x mean with interval, tail, maximum and theory."""
    names = tuple(each.name for each in result.classes)
    means = [result.estimate(discipline, class_=name) for name in names]
    scale = column_scale(means)
    columns = [
        Column("class", names, numeric=False),
        Column(f"mean {scale.header}".rstrip(), tuple(cell(row, scale, margin=True) for row in means)),
    ]
    for statistic, rank in (("p50", 4), ("p99", 1), ("max", 2)):
        rows = [result.estimate(discipline, statistic=statistic, class_=name) for name in names]
        if any(row is not None for row in rows):
            columns.append(column(statistic, rows, rank, text=cell))
    counts = tuple(f"{row.count:,}" if row is not None else "–" for row in means)
    return [*columns, Column("messages", counts, rank=5)]
