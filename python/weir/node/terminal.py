"""A node's result on the terminal: verdict and warnings, then processes, queues and nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.node import tables
from weir.node.verdict import verdict, warnings
from weir.tables import print_table, print_tables, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from weir.node.result import NodeResult
    from weir.tables import Column

__all__ = ["MOST_ROWS", "show_comparison", "show_run"]

MOST_ROWS = 24
"""Processes, queues or nodes in a table; files have all."""


def show_run(out: Console, result: NodeResult) -> None:
    """Show the processes under each discipline, then queues and nodes."""
    _begin(out, result)
    for name in result.disciplines:
        say(out, f"\n{result.labels[name]}: processes", style="bold")
        _table(out, tables.process_column(result), tables.process_groups(result, name), keep_last=True)
    _end(out, result)


def show_comparison(out: Console, result: NodeResult) -> None:
    """Show the processes under the disciplines beside each other, then queues and nodes."""
    _begin(out, result)
    against = f", and minus {result.labels[result.reference]}'s" if tables.others(result) else ""
    say(out, f"\nprocesses under each discipline{against}", style="bold")
    _table(out, tables.process_column(result), tables.comparison_groups(result), keep_last=True)
    _end(out, result)


def _begin(out: Console, result: NodeResult) -> None:
    say(out, verdict(result))
    for words in warnings(result):
        say(out, f"warning: {words}", style="bold yellow")
    specs = [(label, spec) for spec, label in result.labels.items()]
    if any(label != spec for label, spec in specs):
        say(out, "\ndisciplines", style="bold")
        for label, spec in specs:
            say(out, f"{label} = {spec}")


def _end(out: Console, result: NodeResult) -> None:
    for words in tables.absent_rows(result):
        say(out, f"\n{words}", style="dim")
    for kind, title, groups in (
        ("queue", "dual queues", tables.queue_groups(result)),
        ("node", "nodes", tables.node_groups(result)),
    ):
        if groups:
            say(out, f"\n{title}", style="bold")
            _table(out, tables.subject_column(result, kind), groups)
    _cut_lines(out, result)


def _cut_lines(out: Console, result: NodeResult) -> None:
    cut = [result.labels[line.discipline] for line in result.timelines if line.truncated]
    if cut:
        say(
            out,
            f"\nthe timeline is cut: more happened than is kept, under {', '.join(cut)}; shorten "
            "measure.timeline",
            style="dim",
        )


def _table(
    out: Console, first: Column, groups: Sequence[Sequence[Column]], *, keep_last: bool = False
) -> None:
    """Print groups of columns, their first rows only where there are many, and say how many are left out."""
    if not groups:
        return
    count = len(first.cells)
    places = list(range(count))
    if count > MOST_ROWS:
        places = places[: MOST_ROWS - 1] + places[-1:] if keep_last else places[:MOST_ROWS]
    shown = [tables.kept(group, places) for group in groups]
    head = tables.kept([first], places)[0]
    if any(shown):
        print_tables(out, head, shown)
    else:
        print_table(out, [head])
    if count > MOST_ROWS:
        say(out, f"{count - MOST_ROWS:,} more rows are left out; --out FILE.html has all", style="dim")
