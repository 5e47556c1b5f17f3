"""A node's result as it is shown: processes under the disciplines, timelines, dual queues and nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.models.node import tables
from weir.models.node.result import NodeResult
from weir.models.node.verdict import deadlines, needs, price, responses, warnings
from weir.results.page import by_discipline, details, headed, in_full, note, noted, section, table
from weir.results.page import tables as on_page
from weir.results.tables import discipline_column, kept, others
from weir.results.terminal import print_tables, say
from weir.results.view import View
from weir.text import plural, quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from weir.results.tables import Column

_MOST_ROWS = 24
"""Processes, queues or nodes in a table of the terminal; files have all."""
_PATHS = (
    "The paths of the scheduler, a second: the same process goes on (restart), another is started (swap), "
    "nobody is (to idle), somebody after nobody, nobody still. High over low: a process of a normal queue "
    "took the processor from one of a low queue."
)


class NodeView(View[NodeResult]):
    """What a node shows."""

    charts = "weir.models.node.figures:figures"

    def declared(self) -> Sequence[str | None]:
        """Return under whom the deadlines and the needs of processes are met."""
        return deadlines(self.result), needs(self.result)

    def statements(self) -> Sequence[str | None]:
        """Return what others pay where deadlines are kept; without deadlines, whose responses are short."""
        bound = any(row.deadline is not None for row in self.result.processes)
        return ((price if bound else responses)(self.result),)

    def warnings(self) -> Sequence[str]:
        """Return what was warned of, one sentence a node."""
        return warnings(self.result)

    def show(self, out: Console, *, compared: bool) -> None:
        """Show the processes under each discipline, compared side by side, then queues and nodes."""
        result = self.result
        if compared:
            against = f", and minus {result.labels[result.reference]}'s" if others(result) else ""
            listed = {f"processes under each discipline{against}": tables.comparison_groups(result)}
        else:
            under = {name: tables.process_groups(result, name) for name in result.disciplines}
            listed = {f"{result.labels[name]}: processes": groups for name, groups in under.items()}
        for title, groups in listed.items():
            say(out, f"\n{title}", style="bold")
            _table(out, tables.process_column(result), groups, keep_last=True)
        _end(out, result)

    def size(self) -> Sequence[str]:
        """Return how many nodes and processes there were, the epoch, and for how long."""
        result = self.result
        return [
            plural(len(result.nodes), "node"),
            plural(len(result.processes), "process"),
            f"epoch {quantity(result.epoch, 's')}",
            f"{quantity(result.measured, 's')} measured",
        ]

    def sections(self, charts: Sequence[str]) -> Sequence[str]:
        """Return comparison, charts, processes, what is absent, queues and nodes."""
        result = self.result
        each = "Each discipline" if len(result.disciplines) > 1 else "Processes"
        queues = on_page(tables.subject_column(result, "queue"), tables.queue_groups(result))
        nodes = on_page(tables.subject_column(result, "node"), tables.node_groups(result))
        return [
            section("The comparison", _comparison(result)),
            *charts,
            section(each, _disciplines(result), folded=True),
            section("What is absent", "".join(map(note, tables.absent_rows(result))), folded=True),
            section("Dual queues", queues, folded=True),
            section("Nodes", noted(nodes, _PATHS), folded=True),
        ]

    def origin(self) -> dict[str, object]:
        """Return what was measured, and how much was counted."""
        result = self.result
        return {
            "epoch": quantity(result.epoch, "s"),
            "measured in a replication": quantity(result.measured, "s"),
            "schedulings counted": f"{sum(row.schedulings for row in result.process_totals):,}",
        }


# The terminal.


def _end(out: Console, result: NodeResult) -> None:
    for words in tables.absent_rows(result):
        say(out, f"\n{words}", style="dim")
    below = {"queue": ("dual queues", tables.queue_groups), "node": ("nodes", tables.node_groups)}
    for kind, (title, groups_of) in below.items():
        if groups := groups_of(result):
            say(out, f"\n{title}", style="bold")
            _table(out, tables.subject_column(result, kind), groups)
    cut = [result.labels[line.discipline] for line in result.timelines if line.truncated]
    if cut:
        words = f"the timeline is cut: more happened than is kept, under {', '.join(cut)}; shorten"
        say(out, f"\n{words} measure.timeline", style="dim")


def _table(
    out: Console, first: Column, groups: Sequence[Sequence[Column]], *, keep_last: bool = False
) -> None:
    """Print groups of columns, their first rows only where there are many, and say how many are left out."""
    if not groups:
        return
    count = len(first.cells)
    places = list(range(count))
    if count > _MOST_ROWS:
        places = places[: _MOST_ROWS - 1] + places[-1:] if keep_last else places[:_MOST_ROWS]
    print_tables(out, kept([first], places)[0], [kept(group, places) for group in groups])
    if count > _MOST_ROWS:
        say(out, f"{count - _MOST_ROWS:,} more rows are left out; --out FILE.html has all", style="dim")


# The page.


def _comparison(result: NodeResult) -> str:
    summary = table([discipline_column(result), *tables.summary_columns(result)])
    summary = headed("Needs, deadlines and responses of all processes", summary)
    if len(result.disciplines) == 1:
        return summary
    listed = on_page(tables.process_column(result), tables.comparison_groups(result))
    words = (
        "A need is missed in an epoch in which its process was ready throughout and ran "
        "less. A response is "
        "from a wake-up to the next wait. 95 % confidence intervals over the replications; differences to "
        f"{result.labels[result.reference]} are paired: the programs drew the same numbers."
    )
    return noted(summary, words, details("Process by process", listed) + in_full(result, shown=False))


def _disciplines(result: NodeResult) -> str:
    first = tables.process_column(result)

    def processes(name: str) -> str:
        return on_page(first, tables.process_groups(result, name))

    alone = len(result.disciplines) == 1
    return processes(result.disciplines[0]) if alone else by_discipline(result, processes)
