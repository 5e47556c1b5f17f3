"""Tables for the terminal: plain aligned text that fits its width, colour only where a terminal wants it.

Columns carry a rank. Where the terminal is too narrow, those of the highest rank are left out and named
below the table. No word is ever broken: what does not fit runs over the edge. Rich draws; it is
imported when the first table is.
"""

from __future__ import annotations

import os
import sys
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TextIO

from weir.text import absent, number, percent, scale_for, value_with_margin
from weir.verdict import tail_statistic

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rich.console import Console
    from rich.text import Text

    from weir.result import Check, Estimate, PortResult, Result
    from weir.rows import Measured
    from weir.text import Scale

__all__ = [
    "Column",
    "bench_columns",
    "cell",
    "checks_columns",
    "class_columns",
    "column_scale",
    "comparison_columns",
    "console",
    "listing_columns",
    "print_table",
    "print_tables",
    "say",
    "split",
    "theory_columns",
]

_LEAST_WIDTH = 40  # of a terminal that says it is narrower, or that does not know
_WIDTH_OF_A_FILE = 160  # where the output is no terminal and COLUMNS is not set
_GAP = 2


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its header (of some lines), one cell a row, and how readily it is left out (0: never)."""

    header: str
    cells: tuple[str, ...]
    rank: int = 0
    numeric: bool = True

    @property
    def width(self) -> int:
        """Characters of the widest cell."""
        return max(len(line) for text in (self.header, *self.cells) for line in text.split("\n"))

    @property
    def least(self) -> int:
        """Characters of the widest word, so that cells can be wrapped between words."""
        return max(len(word) for text in (self.header, *self.cells) for word in text.split() or [""])


def console(file: TextIO | None = None) -> Console:
    """Return a console on ``file``: no colour unless it is a terminal, nor under NO_COLOR."""
    from rich.console import Console

    out = file or sys.stdout
    width = None if out.isatty() or "COLUMNS" in os.environ else _WIDTH_OF_A_FILE
    made = Console(file=out, width=width, highlight=False, markup=False, emoji=False, soft_wrap=False)
    if made.width < _LEAST_WIDTH:
        made.width = _LEAST_WIDTH
    return made


def say(out: Console, text: str, style: str | None = None) -> None:
    """Print a text, wrapped between words; a word that is wider than the terminal runs over its edge."""
    for line in text.split("\n"):
        kept = line if len(line) <= out.width else _wrapped(line, out.width)
        out.print(kept, style=style, soft_wrap=True)


def _wrapped(line: str, width: int) -> str:
    return textwrap.fill(
        line, width, break_long_words=False, break_on_hyphens=False, replace_whitespace=False
    )


def print_table(out: Console, columns: Sequence[Column]) -> None:
    """Print as many of ``columns`` as fit, and name those left out."""
    from rich.table import Table

    kept, left_out = _fitting(columns, out.width)
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    for column in kept:
        justify: Literal["left", "right"] = "right" if column.numeric else "left"
        table.add_column(column.header, justify=justify, overflow="fold", min_width=column.least)
    for cells in zip(*(column.cells for column in kept), strict=True):
        table.add_row(*map(_styled, cells))
    needed = sum(column.least + _GAP for column in kept) - _GAP
    if needed > out.width:
        table.width = needed
    out.print(table, crop=False)
    if left_out:
        names = ", ".join(column.header for column in left_out)
        say(out, f"left out for want of width: {names}", style="dim")


def print_tables(out: Console, first: Column, groups: Sequence[Sequence[Column]]) -> None:
    """Print ``groups`` of columns, each whole where that fits, in as many tables as it takes.

    Every table begins with the column ``first``, so that nothing is left out on a narrow terminal.
    """
    tables = split(groups, out.width - first.width)
    for place, columns in enumerate(tables):
        if place:
            out.print()
        print_table(out, [first, *columns])


def split(groups: Sequence[Sequence[Column]], room: int, gap: int = _GAP) -> list[list[Column]]:
    """Return groups of columns as tables of at most ``room`` characters, ``gap`` before each column.

    A group is kept together where it fits; a column that is wider than the room has a table of its own.
    """
    tables: list[list[Column]] = []
    for part in (part for group in groups for part in _parts(group, room, gap)):
        if tables and _width([*tables[-1], *part], gap) <= room:
            tables[-1].extend(part)
        else:
            tables.append(list(part))
    return tables


def _parts(group: Sequence[Column], room: int, gap: int) -> list[list[Column]]:
    """Return a group as it is, or column by column where it is too wide for one table."""
    return [list(group)] if _width(group, gap) <= room else [[column] for column in group]


def _width(columns: Sequence[Column], gap: int) -> int:
    return sum(column.width + gap for column in columns)


def _styled(cell: str) -> Text:
    from rich.text import Text

    return Text(cell, style={"OK": "green", "!!": "bold red"}.get(cell, ""))


def _fitting(columns: Sequence[Column], width: int) -> tuple[list[Column], list[Column]]:
    kept = list(columns)
    while sum(column.width + _GAP for column in kept) - _GAP > width:
        worst = max(kept, key=lambda column: column.rank)
        if worst.rank == 0:
            break
        kept.remove(worst)
    return kept, [column for column in columns if column not in kept]


def column_scale(rows: Iterable[Measured | None]) -> Scale:
    """Return the scale in which a column of estimates reads best."""
    known = [row for row in rows if row is not None]
    unit = known[0].unit if known else "1"
    return scale_for((row.value for row in known), unit)


def cell(row: Measured | None, scale: Scale, *, margin: bool = False) -> str:
    """Return an estimate as text in ``scale``, with the half-width of its interval if asked for."""
    if row is None or row.value is None:
        return absent(row.reason if row else None)
    value = row.value / scale.factor
    if not margin or row.low is None or row.high is None:
        return number(value)
    return value_with_margin(value, row.low / scale.factor, row.high / scale.factor)


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
            columns.append(_statistic_column(result, statistic, rank))
    return columns + _theory_pair(result, scale)


def _statistic_column(result: PortResult, statistic: str, rank: int) -> Column:
    rows = _estimates(result, statistic)
    scale = column_scale(rows)
    return Column(f"{statistic} {scale.header}".rstrip(), tuple(cell(row, scale) for row in rows), rank)


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
    marks = {True: "OK", False: "!!", None: ""}
    agree = tuple(marks[row.agrees] if row is not None else "" for row in rows)
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
            scale_of_rows = column_scale(rows)
            header = f"{statistic} {scale_of_rows.header}".rstrip()
            columns.append(Column(header, tuple(cell(row, scale_of_rows) for row in rows), rank))
    counts = tuple(f"{row.count:,}" if row is not None else "–" for row in means)
    return [*columns, Column("messages", counts, rank=5)]


def checks_columns(rows: Sequence[Check], labels: Mapping[str, str] | None = None) -> list[Column]:
    """Return self-checks: expected, measured, verdict; disciplines by their ``labels``, if given."""
    names = [row.discipline or "all" for row in rows]
    return [
        Column("check", tuple(row.check for row in rows), numeric=False),
        Column("discipline", tuple((labels or {}).get(name, name) for name in names), numeric=False),
        Column("expected", tuple(number(row.expected, 6) for row in rows), rank=1),
        Column("measured", tuple(number(row.measured, 6) for row in rows), rank=1),
        Column("", tuple("OK" if row.ok else "!!" for row in rows), numeric=False),
        Column("note", tuple(row.note for row in rows), rank=2, numeric=False),
    ]


def theory_columns(result: Result, metric: str) -> list[Column]:
    """Return the closed forms of a metric: disciplines x classes; those without any are left out."""
    rows = [row for row in result.theory if row.metric == metric and row.value is not None]
    names = tuple(dict.fromkeys(row.discipline for row in rows))
    classes = tuple(dict.fromkeys(row.class_ for row in rows))
    values = {(row.discipline, row.class_): row.value for row in rows}
    scale = scale_for(values.values(), rows[0].unit if rows else "1")
    columns = [Column("discipline", tuple(name or "each" for name in names), numeric=False)]
    for class_ in classes:
        cells = (values.get((name, class_)) for name in names)
        columns.append(
            Column(class_, tuple("–" if cell is None else number(cell / scale.factor, 7) for cell in cells))
        )
    formulas = {row.discipline: row.formula for row in rows}
    return [*columns, Column("formula", tuple(formulas[name] for name in names), rank=1, numeric=False)]


def listing_columns(rows: Sequence[dict[str, object]]) -> list[Column]:
    """Return the disciplines: name, kind, title, work per item, parameters."""
    return [
        Column("name", tuple(str(row["name"]) for row in rows), numeric=False),
        Column("title", tuple(str(row["title"]) for row in rows), numeric=False),
        Column("kind", tuple(str(row["kind"]) for row in rows), rank=3, numeric=False),
        Column("work per item", tuple(str(row["work"]) for row in rows), rank=2, numeric=False),
        Column("parameters", tuple(_parameters(row) for row in rows), rank=1, numeric=False),
    ]


def _parameters(row: dict[str, object]) -> str:
    parameters = row["parameters"]
    names = [str(each["name"]) for each in parameters] if isinstance(parameters, list) else []
    return ", ".join(names) or "–"


def bench_columns(rows: Sequence[dict[str, object]]) -> list[Column]:
    """Return benchmarks: name, value with its range, unit."""
    figures = [[float(str(row[key])) for row in rows] for key in ("value", "low", "high")]
    value, low, high = (tuple(number(each) for each in column) for column in figures)
    return [
        Column("benchmark", tuple(str(row["bench"]) for row in rows), numeric=False),
        Column("value", value),
        Column("low", low, rank=1),
        Column("high", high, rank=1),
        Column("unit", tuple(str(row["unit"]) for row in rows), numeric=False),
    ]
