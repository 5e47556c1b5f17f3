"""A server's result on the terminal: verdict and warnings, a table for each metric and class, the cores.

Closed forms are shown where the simulation does not agree with all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.server import tables
from weir.server.verdict import verdict, warnings
from weir.subjects import ALL
from weir.tables import print_table, print_tables, say

if TYPE_CHECKING:
    from rich.console import Console

    from weir.server.result import ServerResult
    from weir.tables import Column

__all__ = ["show_comparison", "show_run"]


def show_run(out: Console, result: ServerResult) -> None:
    """Show delay, response and slowdown of all requests and of each class, then losses and cores."""
    _begin(out, result)
    for metric, title in tables.METRICS.items():
        for class_ in tables.classes_of(result):
            _table(out, result, _title(title, class_), tables.metric_columns(result, metric, class_))
    _end(out, result)


def show_comparison(out: Console, result: ServerResult) -> None:
    """Show the disciplines beside each other, and their paired differences to the reference."""
    _begin(out, result)
    names = tables.others(result)
    for metric, title in tables.METRICS.items():
        for class_ in tables.classes_of(result):
            _table(out, result, _title(title, class_), tables.metric_columns(result, metric, class_))
        columns = tables.difference_columns(result, metric) if names else []
        if columns:
            say(out, f"\n{title}, minus {result.labels[result.reference]}'s", style="bold")
            print_tables(out, tables.discipline_column(result, names), [columns])
    _end(out, result)


def _title(metric: str, class_: str) -> str:
    return metric if class_ == ALL else f"{metric} of {class_}"


def _begin(out: Console, result: ServerResult) -> None:
    say(out, verdict(result))
    for words in warnings(result):
        say(out, f"warning: {words}", style="bold yellow")
    specs = [(label, spec) for spec, label in result.labels.items()]
    if any(label != spec for label, spec in specs):
        say(out, "\ndisciplines", style="bold")
        for label, spec in specs:
            say(out, f"{label} = {spec}")


def _end(out: Console, result: ServerResult) -> None:
    _table(out, result, "requests", tables.loss_columns(result))
    _table(out, result, "cores", tables.core_columns(result))
    if any(row.agrees is False for row in result.theory):
        say(out, "\nclosed forms", style="bold")
        print_table(out, tables.theory_columns(result))
    for words in (*tables.absent_rows(result), *result.notes):
        say(out, f"\n{words}", style="dim")


def _table(out: Console, result: ServerResult, title: str, columns: list[Column]) -> None:
    if columns:
        say(out, f"\n{title}", style="bold")
        print_tables(out, tables.discipline_column(result), [columns])
