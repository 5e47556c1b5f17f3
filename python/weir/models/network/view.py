"""A network's result as it is shown: disciplines beside each other, flows, classes, intervals and links."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from weir.models.network.result import NetworkResult
from weir.models.network.tables import (
    MOST_ROWS,
    comparison_columns,
    link_columns,
    links_measured,
    subject_columns,
    subjects,
    throughput_columns,
)
from weir.models.network.verdict import delay, served
from weir.results.page import details, in_full, note, section, table
from weir.results.reading import ALL
from weir.results.tables import theory_columns
from weir.results.terminal import print_table, say
from weir.results.verdict import verdict
from weir.results.view import View
from weir.text import plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from weir.results.style import Figure

__all__ = ["NetworkView"]

_MOST_FLOWS = 200
"""Flows in the tables of a page."""


class NetworkView(View[NetworkResult]):
    """What a network shows."""

    def statements(self) -> Sequence[str | None]:
        """Return who is served worst, and how long packets take."""
        return served(self.result), delay(self.result)

    def show_run(self, out: Console) -> None:
        """Show each discipline: its flows, its classes where there are several, its links."""
        result = self.result
        say(out, verdict(result))
        links = links_measured(result)
        for name in result.disciplines:
            for kind in _kinds(result):
                chosen = subjects(result, kind)
                say(out, f"\n{name}: by {kind}", style="bold")
                print_table(out, subject_columns(result, chosen[:MOST_ROWS], [name]))
                _more(out, len(chosen), kind)
            if links:
                say(out, f"\n{name}: links", style="bold")
                print_table(out, link_columns(result, [name], links[:MOST_ROWS]))
                _more(out, len(links), "link")

    def show_comparison(self, out: Console) -> None:
        """Show the disciplines beside each other: over all flows, then flow by flow or class by class."""
        result = self.result
        say(out, verdict(result))
        say(out, f"\n{result.title}: all flows", style="bold")
        print_table(out, comparison_columns(result))
        most = max(1, MOST_ROWS // len(result.disciplines))
        for kind in _kinds(result):
            chosen = subjects(result, kind)
            say(out, f"\nby {kind}", style="bold")
            print_table(out, subject_columns(result, chosen[:most]))
            _more(out, len(chosen), kind, most)

    def facts(self) -> Sequence[str]:
        """Return what was simulated."""
        result = self.result
        sent = max((row.offered for row in result.totals), default=0)
        return [
            plural(len(result.disciplines), "discipline"),
            plural(len(result.flows), "flow"),
            plural(len(result.links), "link"),
            f"{plural(sent, 'packet')} under each discipline",
            plural(result.replications, "replication"),
        ]

    def figures(self) -> Sequence[Figure]:
        """Return throughput over time, shares, and distributions of delay."""
        from weir.models.network.figures import network_figures

        return network_figures(self.result)

    def sections(self, charts: Sequence[str]) -> Sequence[str]:
        """Return comparison, classes, flows, charts, intervals, links and closed forms."""
        result = self.result
        metrics = dict.fromkeys(row.metric for row in result.theory if row.value is not None)
        forms = (f"<h3>{escape(each)}</h3>\n{table(theory_columns(result, each))}" for each in metrics)
        return [
            section("The comparison", _comparison(result)),
            section("By class", _by(result, "class") if len(result.classes) > 1 else ""),
            section("By flow", _by(result, "flow")),
            *charts,
            section("By time of sending", _intervals(result)),
            section("Links", _links(result)),
            section("Closed forms", "".join(forms)),
        ]

    def origin(self) -> dict[str, object]:
        """Return which packets count, and how many were dropped and sent."""
        result = self.result
        whole = result.intervals.find(name=ALL)
        counted = "not recorded" if whole is None else f"{whole.from_:g} s to {whole.to:g} s"
        dropped = (f"{result.labels[row.discipline]} {row.dropped:,}" for row in result.totals)
        return {
            "sent from, to": counted,
            "packets dropped": ", ".join(dropped),
            "transmissions": f"{sum(row.hops for row in result.totals):,}",
        }


def _kinds(result: NetworkResult) -> list[str]:
    """Return what is shown one by one: flows, and classes where there are several."""
    kinds = [("class", 2 if subjects(result, "flow") else 1), ("flow", 1)]
    return [kind for kind, least in kinds if len(subjects(result, kind)) >= least]


def _more(out: Console, count: int, noun: str, shown: int = MOST_ROWS) -> None:
    """Say how many were not shown, and where they are."""
    if count > shown:
        say(out, f"{plural(count - shown, f'more {noun}')}: --out FILE.csv has all", style="dim")


# The page.


def _comparison(result: NetworkResult) -> str:
    words = "All flows together. Means with 95 % confidence intervals over the replications."
    if len(result.disciplines) > 1:
        reference = result.labels[result.reference]
        words += f" Differences to {reference} are paired: all saw the same departures."
    return table(comparison_columns(result)) + note(words) + in_full(result, shown=False)


def _by(result: NetworkResult, kind: str) -> str:
    chosen = subjects(result, kind)
    if not chosen:
        return ""
    more = ""
    if len(chosen) > _MOST_FLOWS:
        more = note(f"The first {_MOST_FLOWS} of {len(chosen):,}; the table of estimates has all.")
    return table(subject_columns(result, chosen[:_MOST_FLOWS])) + more


def _intervals(result: NetworkResult) -> str:
    chosen = subjects(result, "flow")[:_MOST_FLOWS]
    parts = []
    for interval in result.intervals:
        known = [each for each in chosen if _sent(result, each.name, interval.name)]
        if interval.name != ALL and known:
            parts.append(details(interval.name, table(throughput_columns(result, known, interval.name))))
    words = "Throughput of the packets that were sent in an interval, whenever they arrived."
    return note(words) + "".join(parts) if parts else ""


def _sent(result: NetworkResult, flow: str, interval: str) -> bool:
    row = result.estimate(result.reference, metric="offer", flow=flow, interval=interval)
    return row is not None and bool(row.value)


def _links(result: NetworkResult) -> str:
    if not links_measured(result):
        return ""
    made = ((name, link_columns(result, [name])) for name in result.disciplines)
    return "".join(details(result.labels[name], table(columns)) for name, columns in made)
