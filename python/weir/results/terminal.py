"""Results on the terminal: plain aligned text that fits its width, colour only where a terminal wants it.

Columns carry a rank. Where the terminal is too narrow, those of the highest rank are left out and named
below the table. No word is ever broken: what does not fit runs over the edge. Marks of figures that are
not settled are explained once, below the last table. Rich draws; it is imported when the first table is.
"""

from __future__ import annotations

import os
import sys
import textwrap
from typing import TYPE_CHECKING, Any, Literal, TextIO
from weakref import WeakSet

from weir.results.tables import (
    GAP,
    LEGEND,
    MARKS_OF_CHECKS,
    NOT_JUDGED,
    checks_columns,
    has_marks,
    specs,
    split,
    worst,
)
from weir.results.verdict import verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.text import Text

    from weir.results.result import Result
    from weir.results.rows import Check
    from weir.results.tables import Column
    from weir.results.view import View

_LEAST_WIDTH = 40  # of a terminal that says it is narrower, or that does not know
_WIDTH_OF_A_FILE = 100  # where the output is no terminal and COLUMNS is not set
_marked: WeakSet[Console] = WeakSet()  # those on which a figure is marked as not settled


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
    if has_marks(kept):
        _marked.add(out)
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    for column in kept:
        justify: Literal["left", "right"] = "right" if column.numeric else "left"
        table.add_column(column.header, justify=justify, overflow="fold", min_width=column.least)
    for cells in zip(*(column.cells for column in kept), strict=True):
        table.add_row(*map(_styled, cells))
    needed = sum(column.least + GAP for column in kept) - GAP
    if needed > out.width:
        table.width = needed
    out.print(table, crop=False)
    if left_out:
        names = ", ".join(column.header.replace("\n", " ") for column in left_out)
        say(out, f"not shown at this width: {names}", style="dim")


def print_tables(out: Console, first: Column, groups: Sequence[Sequence[Column]]) -> None:
    """Print ``groups`` of columns, each whole where that fits, in as many tables as it takes.

    Every table begins with the column ``first``, so that nothing is left out on a narrow terminal.
    """
    tables = split(groups, out.width - first.width)
    for place, columns in enumerate(tables):
        if place:
            out.print()
        print_table(out, [first, *columns])


def _styled(cell: str) -> Text:
    from rich.text import Text

    return Text(cell, style={"OK": "green", "!!": "bold red"}.get(cell, ""))


def _fitting(columns: Sequence[Column], width: int) -> tuple[list[Column], list[Column]]:
    kept = list(columns)
    while sum(column.width + GAP for column in kept) - GAP > width:
        worst = max(kept, key=lambda column: column.rank)
        if worst.rank == 0:
            break
        kept.remove(worst)
    return kept, [column for column in columns if column not in kept]


def titled(out: Console, words: str, first: Column, groups: Sequence[Sequence[Column]]) -> None:
    """Print a title and `print_tables` below it; nothing where the groups hold nothing."""
    if any(groups):
        say(out, f"\n{words}", style="bold")
        print_tables(out, first, groups)


def print_titled(out: Console, words: str, columns: Sequence[Column]) -> None:
    """Print a title and one table below it, as many of its columns as fit."""
    say(out, f"\n{words}", style="bold")
    print_table(out, columns)


# Whole results.


def begin(out: Console, result: Result, view: View[Any]) -> None:
    """Show verdict, warnings, and the whole specs of disciplines with short names."""
    say(out, verdict(result))
    for words in view.warnings():
        say(out, f"warning: {words}", style="bold yellow")
    pairs = specs(result) if view.lists_specs else []
    if pairs:
        say(out, "\ndisciplines", style="bold")
    for label, spec in pairs:
        for line in view.spec_lines(f"{label} = {spec}", out.width):
            say(out, line)


def closed_forms(out: Console, columns: Sequence[Column]) -> None:
    """Show closed forms, if there are any."""
    if columns:
        print_titled(out, "closed forms", columns)


def show_run(out: Console, result: Result) -> None:
    """Show each discipline by class of message, flow and link, channel, or process; then the checks."""
    result.view().show_run(out)
    show_checks(out, result)


def show_comparison(out: Console, result: Result) -> None:
    """Show the disciplines side by side, then the checks."""
    result.view().show_comparison(out)
    show_checks(out, result)


def _held(rows: Sequence[Check]) -> str:
    """Return how the checks of a kind did, and how many are not judged, with the reason of the first."""
    told = MARKS_OF_CHECKS[worst(check.ok for check in rows)]
    unjudged = [check for check in rows if check.ok is None]
    if not unjudged:
        return told
    count = "" if len(unjudged) == len(rows) else f"{len(unjudged)} of {len(rows)} "
    told = f"{count}{NOT_JUDGED}" if told == NOT_JUDGED else f"{told}, {count}{NOT_JUDGED}"
    reason = unjudged[0].unjudged
    return f"{told} ({reason})" if reason else told


def explain_marks(out: Console) -> None:
    """Say what the mark of figures that are not settled means, where a table has one."""
    if out in _marked:
        say(out, f"\n{LEGEND}", style="dim")


def show_checks(out: Console, result: Result) -> None:
    """Show the self-checks: one line a kind where all hold, a table of those that do not."""
    if result.empty:
        return
    explain_marks(out)
    kinds: dict[str, list[Check]] = {}
    for check in result.checks:
        kinds.setdefault(check.check, []).append(check)
    words = ", ".join(f"{kind} {_held(rows)}" for kind, rows in kinds.items())
    if words:
        say(out, f"\nself-checks: {words}")
    failed = [check for check in result.checks if check.ok is False]
    if failed:
        print_table(out, checks_columns(failed, result.labels))
