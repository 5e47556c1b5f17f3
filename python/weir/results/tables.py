"""Tables of results: columns of text, which the terminal and a page lay out, and those that models share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from weir.results.checks import LEVEL
from weir.text import Scale, absent, number, scale_for, value_with_margin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from weir.results.result import Result
    from weir.results.rows import Check, Measured, TheoryValue

GAP = 2
"""Characters between two columns on a terminal."""
PER_CENT = Scale(0.01, "%")
_AS_IT_IS = Scale(1.0, "")
NONE, ABSENT = "–", "n/a"
UNSETTLED, NOT_JUDGED = "?", "not judged"
"""What stands in place of a margin that cannot be relied on, and of OK or !! where that rests on one."""
LEGEND = f"{UNSETTLED} not settled: the run is too short, and the interval cannot be trusted yet"
"""What stands below tables in which a figure is marked."""
AT_LEVEL = f"at {LEVEL}"
"""What heads the column of OK and !!: the level that closed forms are held against, not that of the table."""
MARKS = {True: "OK", False: "!!", None: ""}
"""What cannot be combined with a closed form: whether the simulation agrees."""
MARKS_OF_CHECKS = {**MARKS, None: NOT_JUDGED}
"""What cannot be combined with a self-check."""
_FEW = 4

ARow = TypeVar("ARow", bound="Measured")


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


def split(groups: Sequence[Sequence[Column]], room: int, gap: int = GAP) -> list[list[Column]]:
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


def words(header: str, cells: Iterable[str], rank: int = 0) -> Column:
    """Return a column of words, which stand to the left."""
    return Column(header, tuple(cells), rank, numeric=False)


def column_scale(rows: Iterable[Measured | None]) -> Scale:
    """Return the scale in which a column of estimates reads best."""
    known = [row for row in rows if row is not None]
    unit = known[0].unit if known else "1"
    return scale_for((row.value for row in known), unit)


def cell(row: Measured | None, scale: Scale, *, margin: bool = False) -> str:
    """Return an estimate as text in ``scale``, with the half-width of its interval if asked for."""
    if row is None or row.value is None:
        return absent(row.reason if row else None)
    if not row.settled:
        return marked(number(row.value / scale.factor), row)
    low, high = (row.low, row.high) if margin else (None, None)
    return scaled(row.value, low, high, scale)


def scaled(value: float, low: float | None, high: float | None, scale: Scale) -> str:
    """Return a value of a column in its ``scale``, with the half-width of its interval where it has one."""
    first, last = (None if end is None else end / scale.factor for end in (low, high))
    return value_with_margin(value / scale.factor, first, last, unit=scale.unit)


def margin(row: Measured | None, scale: Scale) -> str:
    """Return an estimate with its interval, or that it was not measured."""
    return cell(row, scale, margin=True)


def plain(row: Measured | None, scale: Scale) -> str:
    """Return an estimate, or a dash where there is no such row."""
    return NONE if row is None else cell(row, scale)


def spread(row: Measured | None, scale: Scale) -> str:
    """Return an estimate with its interval, or a dash where there is no such row."""
    return NONE if row is None else margin(row, scale)


def brief(row: Measured | None, scale: Scale) -> str:
    """Return an estimate with its interval; where it is absent, another place says why."""
    return ABSENT if row is not None and row.value is None else spread(row, scale)


def bare(row: Measured | None, scale: Scale) -> str:
    """Return an estimate of a run in which nothing is random: without an interval."""
    return ABSENT if row is not None and row.value is None else plain(row, scale)


def column(
    title: str,
    rows: Sequence[ARow | None],
    rank: int = 0,
    *,
    scale: Scale | None = None,
    text: Callable[[ARow | None, Scale], str] = plain,
) -> Column:
    """Return rows as a column, in the scale that suits them if not given; its unit ends the header."""
    chosen = scale or column_scale(rows)
    head = title if title.endswith(")") else f"{title} {chosen.header}".rstrip()
    return Column(head, tuple(text(row, chosen) for row in rows), rank)


@dataclass(frozen=True, slots=True)
class Heading:
    """A column to be: its title, the figure that it shows, and how; its unit if that is not as suits best."""

    title: str
    metric: str
    statistic: str = "mean"
    rank: int = 0
    scale: Scale | None = None
    text: Callable[[Any, Scale], str] = plain


def columns_of(
    headings: Iterable[Heading], take: Callable[[str, str], Sequence[Measured | None]]
) -> list[Column]:
    """Return a column for each heading; ``take`` finds the rows of a metric and a statistic."""
    return [
        column(each.title, take(each.metric, each.statistic), each.rank, scale=each.scale, text=each.text)
        for each in headings
    ]


def beside(
    result: Result,
    title: str,
    rows: Mapping[str, Sequence[ARow | None]],
    scale: Scale | None = None,
    text: Callable[[ARow | None, Scale], str] = spread,
) -> tuple[list[Column], str, Scale]:
    """Return a column a discipline, with the first line of their headers and the scale of all."""
    chosen = scale or column_scale([row for found in rows.values() for row in found])
    head = title if scale else f"{title} {chosen.header}".rstrip()
    made = [
        Column(f"{head}\n{result.labels[name]}", tuple(text(row, chosen) for row in found))
        for name, found in rows.items()
    ]
    return made, head, chosen


def signed(value: float, low: float | None, high: float | None, scale: Scale = _AS_IT_IS) -> str:
    """Return a difference with its sign and the half-width of its interval."""
    text = scaled(value, low, high, scale)
    return text.replace("-", "−") if text.startswith("-") else f"+{text}" if value > 0 else text


def difference(row: Measured | None, scale: Scale) -> str:
    """Return a difference with its interval; where it is absent, another place says why."""
    if row is None:
        return NONE
    if row.value is None:
        return ABSENT
    if not row.settled:
        return marked(signed(row.value, None, None, scale), row)
    return signed(row.value, row.low, row.high, scale)


def bare_difference(row: Measured | None, scale: Scale) -> str:
    """Return a difference in a run in which nothing is random: without an interval."""
    if row is None or row.value is None:
        return difference(row, scale)
    return marked(signed(row.value, None, None, scale), row)


def marked(text: str, row: Measured | None) -> str:
    """Return a value as text, marked where the run is too short for it."""
    return text if row is None or row.settled else f"{text} {UNSETTLED}"


def has_marks(columns: Iterable[Column]) -> bool:
    """Return whether a figure is marked in any of the columns."""
    return any(cell.endswith(f" {UNSETTLED}") for column in columns for cell in column.cells)


def mark(row: TheoryValue | None) -> str:
    """Return whether the simulation agrees with a closed form: OK, !!, or that it is too short to tell."""
    if row is None or row.value is None:
        return ""
    if row.agrees is None and row.unjudged:
        return f"{NOT_JUDGED}: {row.unjudged}"
    return MARKS[row.agrees] if row.settled else NOT_JUDGED


def worst(held: Iterable[bool | None]) -> bool | None:
    """Return how checks of a kind did: False where one failed, else None where one is not judged."""
    found = list(held)
    return None if None in found and False not in found else all(found)


def known(columns: Iterable[Column]) -> list[Column]:
    """Return the columns that hold something."""
    return [column for column in columns if any(text != NONE for text in column.cells)]


def kept(columns: Iterable[Column], places: Sequence[int]) -> list[Column]:
    """Return the columns with these of their rows."""
    return [replace(column, cells=tuple(column.cells[place] for place in places)) for column in columns]


def groups_of(made: Iterable[Iterable[Column]]) -> list[list[Column]]:
    """Return the groups of columns that hold something, without their columns that do not."""
    return [group for group in map(known, made) if group]


def some(names: Sequence[str]) -> str:
    """Return the first names of a list, and how many more there are."""
    more = f" and {len(names) - _FEW} more" if len(names) > _FEW else ""
    return f"{', '.join(names[:_FEW])}{more}"


def others(result: Result) -> tuple[str, ...]:
    """Return the disciplines that are held against the reference."""
    return tuple(name for name in result.disciplines if name != result.reference)


def specs(result: Result) -> list[tuple[str, str]]:
    """Return labels with the whole spec strings, where any label is shorter."""
    pairs = [(label, spec) for spec, label in result.labels.items()]
    return pairs if any(label != spec for label, spec in pairs) else []


def discipline_column(result: Result, names: Iterable[str] | None = None) -> Column:
    """Return disciplines by their labels, all of them if none are given."""
    chosen = result.disciplines if names is None else names
    return words("discipline", (result.labels[name] for name in chosen))


def checks_columns(rows: Sequence[Check], labels: Mapping[str, str] | None = None) -> list[Column]:
    """Return self-checks: expected, measured, verdict; disciplines by their ``labels``, if given."""
    names = [row.discipline or "all" for row in rows]
    return [
        words("check", (row.check for row in rows)),
        words("discipline", ((labels or {}).get(name, name) for name in names)),
        Column("expected", tuple(number(row.expected, 6) for row in rows), rank=1),
        Column("measured", tuple(number(row.measured, 6) for row in rows), rank=1),
        words(
            "", (f"{NOT_JUDGED}: {row.unjudged}" if row.unjudged else MARKS_OF_CHECKS[row.ok] for row in rows)
        ),
        words("note", (row.note for row in rows), rank=2),
    ]


def theory_columns(result: Result, metric: str) -> list[Column]:
    """Return the closed forms of a metric: disciplines x classes; those without any are left out."""
    rows = [row for row in result.theory if row.metric == metric and row.value is not None]
    names = tuple(dict.fromkeys(row.discipline for row in rows))
    classes = tuple(dict.fromkeys(row.class_ for row in rows))
    values = {(row.discipline, row.class_): row.value for row in rows}
    scale = scale_for(values.values(), rows[0].unit if rows else "1")
    formulas = {row.discipline: row.formula for row in rows}

    def cells(class_: str) -> Iterator[str]:
        found = (values.get((name, class_)) for name in names)
        return (NONE if value is None else number(value / scale.factor, 7) for value in found)

    return [
        words("discipline", (name or "each" for name in names)),
        *(Column(class_, tuple(cells(class_))) for class_ in classes),
        words("formula", (formulas[name] for name in names), rank=1),
    ]


def forms_columns(
    result: Result, rows: Sequence[TheoryValue], headers: Sequence[str], values: Mapping[str, Sequence[str]]
) -> list[Column]:
    """Return closed forms, one a row: whom they are about under two ``headers``, then columns of values.

    OK stands where the simulation agrees, !! where it does not, and that it is not judged where the run is
    too short. Nothing where there are none.
    """
    if not rows:
        return []
    names = [row.discipline or "each" for row in rows]
    return [
        words("discipline", (result.labels.get(name, name) for name in names)),
        words(headers[0], (row.class_ for row in rows)),
        words(headers[1], (row.metric for row in rows)),
        *(Column(title, tuple(cells)) for title, cells in values.items()),
        words(AT_LEVEL, map(mark, rows)),
        words("formula", (row.formula for row in rows), rank=1),
    ]
