"""The report of a node's result: verdict, comparison, timelines, charts, processes, queues, nodes."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from weir.node import tables
from weir.node.figures import node_figures
from weir.node.verdict import state, verdict, warnings
from weir.report import charts_of, checks, drawn, headline, page, provenance, section, table
from weir.tables import split
from weir.text import plural, quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weir.node.result import NodeResult
    from weir.tables import Column

__all__ = ["html"]


def html(result: NodeResult) -> str:
    """Return the report as one HTML document."""
    figures = node_figures(result)
    sections = [
        headline(result, verdict(result), state(result), _facts(result)),
        *(f'<p class="warning">{escape(words)}</p>\n' for words in warnings(result)),
        section("The comparison", _comparison(result)),
        *(section(figure.title, drawn(figure, index)) for index, figure in enumerate(figures)),
        section("Each discipline" if len(result.disciplines) > 1 else "Processes", _disciplines(result)),
        section("What is absent", "".join(map(_note, tables.absent_rows(result)))),
        section("Dual queues", _subjects(result, "queue", tables.queue_groups(result))),
        section("Nodes", _subjects(result, "node", tables.node_groups(result), _PATHS)),
        section("Self-checks", checks(result)),
        section("Where it comes from", provenance(result, _origin(result))),
    ]
    return page(result.title, "".join(sections), charts_of(figures))


_PATHS = (
    "The paths of the scheduler, a second: the same process goes on (restart), another is started "
    "(swap), nobody is "
    "(to idle), somebody after nobody, nobody still. High over low: a process of a normal queue took "
    "the processor "
    "from one of a low queue."
)


_WIDTH, _GAP = 104, 3
"""Characters of a table at the full width of the page, and those that the space beside a column takes."""


def _facts(result: NodeResult) -> list[str]:
    return [
        plural(len(result.disciplines), "discipline"),
        plural(len(result.nodes), "node"),
        f"{len(result.processes):,} {'process' if len(result.processes) == 1 else 'processes'}",
        f"epoch {quantity(result.epoch, 's')}",
        f"{quantity(result.measured, 's')} measured",
        plural(result.replications, "replication"),
    ]


def _note(words: str) -> str:
    return f'<p class="note">{escape(words)}</p>\n'


def _tables(first: Column, groups: Sequence[Sequence[Column]]) -> str:
    """Return a table for each group of columns, or several where it is wider than the page."""
    room = _WIDTH - first.width - _GAP
    return "".join(
        table([first, *columns]) for group in groups for columns in split([group], room, _GAP) if columns
    )


def _comparison(result: NodeResult) -> str:
    if len(result.disciplines) == 1:
        return ""
    listed = _tables(tables.process_column(result), tables.comparison_groups(result))
    words = (
        "A need is missed in an epoch in which its process was ready throughout and ran less. A "
        "response is from "
        "a wake-up to the next wait. 95 % confidence intervals over the replications; differences to "
        f"{result.labels[result.reference]} are paired: the programs drew the same numbers."
    )
    return listed + _note(words) + _specs(result) if listed else ""


def _specs(result: NodeResult) -> str:
    """Return the whole spec strings, where labels are shorter."""
    if all(label == spec for spec, label in result.labels.items()):
        return ""
    rows = "".join(
        f"<div><dt>{escape(label)}</dt><dd><code>{escape(spec)}</code></dd></div>\n"
        for spec, label in result.labels.items()
    )
    return f"<details open><summary>The disciplines in full</summary>\n<dl>{rows}</dl></details>\n"


def _disciplines(result: NodeResult) -> str:
    parts = []
    for name in result.disciplines:
        listed = _tables(tables.process_column(result), tables.process_groups(result, name))
        if not listed:
            continue
        label = escape(result.labels[name])
        one = len(result.disciplines) == 1
        parts.append(listed if one else f"<details><summary>{label}</summary>\n{listed}</details>\n")
    return "".join(parts)


def _subjects(result: NodeResult, kind: str, groups: Sequence[Sequence[Column]], note: str = "") -> str:
    listed = _tables(tables.subject_column(result, kind), groups)
    return listed + (_note(note) if note else "") if listed else ""


def _origin(result: NodeResult) -> dict[str, object]:
    return {
        "epoch": quantity(result.epoch, "s"),
        "measured in a replication": quantity(result.measured, "s"),
        "schedulings counted": f"{sum(row.schedulings for row in result.process_totals):,}",
    }
