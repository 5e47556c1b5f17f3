"""A fabric's result on the terminal: verdict, then channels under the disciplines, load by load."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from weir.fabric import tables
from weir.fabric.verdict import verdict
from weir.tables import print_table, print_tables, say

if TYPE_CHECKING:
    from rich.console import Console

    from weir.fabric.result import FabricResult

__all__ = ["show_comparison", "show_run"]

MOST_LOADS = 6
"""Loads shown one by one; files have all."""
_INDENT = 4


def show_run(out: Console, result: FabricResult) -> None:
    """Show each discipline: its channels at each load, then where they saturate and what scheduling took."""
    _begin(out, result)
    for name in result.disciplines:
        for load in _shown(result):
            groups = tables.discipline_groups(result, name, load)
            if groups:
                say(out, f"\n{result.labels[name]} at load {load:g}", style="bold")
                print_tables(out, tables.channel_column(result), groups)
    _more_loads(out, result)
    _end(out, result)


def show_comparison(out: Console, result: FabricResult) -> None:
    """Show the disciplines beside each other: by how much latency is less, then channels at each load."""
    _begin(out, result)
    reference = result.labels[result.reference]
    if len(result.loads) > 1:
        for name in tables.others(result):
            columns = tables.improvement_columns(result, name)
            if columns:
                title = f"{result.labels[name]}: improvement of the mean latency over {reference} (%)"
                say(out, f"\n{title}", style="bold")
                print_tables(out, tables.channel_column(result), [[column] for column in columns])
    for load in _shown(result):
        groups = tables.load_groups(result, load)
        if groups:
            against = f"; improvement over {reference}" if tables.others(result) else ""
            say(
                out, f"\nload {load:g}: mean and max of the latency from the interface{against}", style="bold"
            )
            print_tables(out, tables.channel_column(result), groups)
    _more_loads(out, result)
    _end(out, result)


def _begin(out: Console, result: FabricResult) -> None:
    say(out, verdict(result))
    specs = tables.specs(result)
    if specs:
        say(out, "\ndisciplines", style="bold")
    for label, spec in specs:
        for line in _broken(f"{label} = {spec}", out.width):
            say(out, line)


def _broken(text: str, width: int) -> list[str]:
    """Return a spec string in lines that end behind a comma, a slash or a space, the later ones indented."""
    lines = [""]
    for part in re.findall(r"[^,/ ]*[,/ ]?", text):
        if len(lines[-1]) > _INDENT and len((lines[-1] + part).rstrip()) > width:
            lines.append(" " * _INDENT)
        lines[-1] += part
    return lines


def _shown(result: FabricResult) -> list[float]:
    """Return the loads shown: all, or some from the lowest to the highest."""
    loads = sorted(result.loads)
    if len(loads) <= MOST_LOADS:
        return loads
    return [loads[round(place * (len(loads) - 1) / (MOST_LOADS - 1))] for place in range(MOST_LOADS)]


def _more_loads(out: Console, result: FabricResult) -> None:
    missing = [f"{load:g}" for load in sorted(result.loads) if load not in _shown(result)]
    if missing:
        say(out, f"\nloads not shown: {', '.join(missing)}; --out FILE.html has all", style="dim")


def _end(out: Console, result: FabricResult) -> None:
    """Show saturation, the work of scheduling and closed forms that the simulation disagrees with."""
    columns = tables.saturation_columns(result)
    if any(row.load is not None for row in result.saturation):
        say(out, "\nleast load at which less than 99 % of what is offered arrives", style="bold")
        print_tables(out, columns[0], [[column] for column in columns[1:]])
    if result.totals:
        say(out, "\nentries or flows examined for a decision", style="bold")
        first, *columns = tables.work_columns(result)
        print_tables(out, first, [[column] for column in columns])
    columns = tables.theory_columns(result)
    if columns and any(row.agrees is False for row in result.theory):
        say(out, "\nclosed forms", style="bold")
        print_table(out, columns)
