"""A network's result on the terminal: verdict, disciplines beside each other, flows, classes, links."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.network.tables import (
    MOST_ROWS,
    comparison_columns,
    link_columns,
    subject_columns,
    subjects,
)
from weir.network.verdict import verdict
from weir.tables import print_table, say
from weir.text import plural

if TYPE_CHECKING:
    from rich.console import Console

    from weir.network.result import NetworkResult

__all__ = ["show_comparison", "show_run"]


def show_run(out: Console, result: NetworkResult) -> None:
    """Show each discipline: its flows, its classes where there are several, its links."""
    say(out, verdict(result))
    for name in result.disciplines:
        for kind in _kinds(result):
            chosen = subjects(result, kind)
            say(out, f"\n{name}: by {kind}", style="bold")
            print_table(out, subject_columns(result, chosen[:MOST_ROWS], [name]))
            _more(out, len(chosen), kind)
        _links(out, result, name)


def show_comparison(out: Console, result: NetworkResult) -> None:
    """Show the disciplines beside each other: over all flows, then flow by flow or class by class."""
    say(out, verdict(result))
    say(out, f"\n{result.title}: all flows", style="bold")
    print_table(out, comparison_columns(result))
    for kind in _kinds(result):
        chosen = subjects(result, kind)
        most = max(1, MOST_ROWS // len(result.disciplines))
        say(out, f"\nby {kind}", style="bold")
        print_table(out, subject_columns(result, chosen[:most]))
        _more(out, len(chosen), kind, most)


def _kinds(result: NetworkResult) -> list[str]:
    """Return what is shown one by one: flows, and classes where there are several."""
    kinds = [("class", 2 if subjects(result, "flow") else 1), ("flow", 1)]
    return [kind for kind, least in kinds if len(subjects(result, kind)) >= least]


def _links(out: Console, result: NetworkResult, name: str) -> None:
    known = {row.name for row in result.estimates if row.scope == "link"}
    names = [link.name for link in result.links if link.name in known]
    if names:
        say(out, f"\n{name}: links", style="bold")
        print_table(out, link_columns(result, [name], names[:MOST_ROWS]))
        _more(out, len(names), "link")


def _more(out: Console, count: int, noun: str, shown: int = MOST_ROWS) -> None:
    """Say how many were not shown, and where they are."""
    if count > shown:
        say(out, f"{plural(count - shown, f'more {noun}')}: --out FILE.csv has all", style="dim")
