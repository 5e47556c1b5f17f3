"""Tables of a port's result: disciplines side by side, and the classes of messages under each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.models.port.verdict import tail_statistic
from weir.results.tables import (
    AT_LEVEL,
    NONE,
    Column,
    cell,
    column,
    column_scale,
    margin,
    mark,
    marked,
    words,
)
from weir.text import number, percent

if TYPE_CHECKING:
    from weir.models.port.result import Difference, Estimate, PortResult
    from weir.text import Scale


def comparison_columns(result: PortResult) -> list[Column]:
    """Return disciplines x mean with interval, difference, tail, maximum, and theory with OK or !!."""

    def rows(statistic: str) -> list[Estimate | None]:
        return [result.estimate(name, statistic=statistic) for name in result.disciplines]

    means = rows("mean")
    columns = [words("discipline", result.disciplines), column("mean", means, text=margin)]
    if len(result.disciplines) > 1:
        columns.append(Column(f"vs {result.reference}", _differences(result), rank=2))
    tails = {"p99": 1, "max": 3} if tail_statistic(result) == "p99" else {"max": 1}
    for statistic, rank in tails.items():
        columns.append(column(statistic, rows(statistic), rank, text=cell))
    return columns + _theory_pair(result, column_scale(means))


def _differences(result: PortResult) -> tuple[str, ...]:
    return tuple(_relative(result.difference(name)) for name in result.disciplines)


def _relative(row: Difference | None) -> str:
    """Return by how much a mean is above the reference's, or a dash."""
    if row is None or row.relative is None:
        return NONE
    return marked(percent(row.relative, signed=True), row)


def _theory_pair(result: PortResult, scale: Scale) -> list[Column]:
    """Return the closed forms with OK or !!, if any discipline has one."""
    rows = [result.closed_form(name) for name in result.disciplines]
    values = [None if row is None or row.value is None else row.value / scale.factor for row in rows]
    if all(value is None for value in values):
        return []
    return [
        Column("theory", tuple(NONE if value is None else number(value) for value in values), rank=4),
        words(AT_LEVEL, map(mark, rows)),
    ]


def class_columns(result: PortResult, discipline: str) -> list[Column]:
    """Return one discipline's classes x mean with interval, tail, maximum and theory."""
    names = tuple(each.name for each in result.classes)

    def rows(statistic: str) -> list[Estimate | None]:
        return [result.estimate(discipline, statistic=statistic, class_=name) for name in names]

    means = rows("mean")
    tails = ((statistic, rows(statistic), rank) for statistic, rank in (("p50", 4), ("p99", 1), ("max", 2)))
    return [
        words("class", names),
        column("mean", means, text=margin),
        *(column(statistic, found, rank, text=cell) for statistic, found, rank in tails if any(found)),
        Column("messages", tuple(NONE if row is None else f"{row.count:,}" for row in means), rank=5),
    ]
