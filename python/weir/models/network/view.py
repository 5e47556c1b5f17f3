"""A network's result as it is shown: disciplines side by side, flows, classes, intervals and links."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.models.network.cautions import cautions
from weir.models.network.notes import notes
from weir.models.network.result import NetworkResult
from weir.models.network.tables import (
    MOST_ROWS,
    comparison_columns,
    link_columns,
    subject_columns,
    subjects,
    throughput_columns,
)
from weir.models.network.verdict import delay, served, small, window
from weir.results.page import by_discipline, details, headed, in_full, note, section, table, telling
from weir.results.reading import ALL
from weir.results.tables import theory_columns
from weir.results.terminal import print_titled, say
from weir.results.view import View
from weir.text import plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

_MOST_FLOWS = 200
"""Flows in the tables of a page."""
_FIRST = ("mean delay", "p99", "max", "loss")
_MOST_SHOWN = 16
"""Rows of a table that is not folded."""


class NetworkView(View[NetworkResult]):
    """What a network shows."""

    charts = "weir.models.network.figures:figures"
    lists_specs = False

    def statements(self) -> Sequence[str | None]:
        """Return who is served worst, whom a window holds, how small flows fare, what low delay costs."""
        return served(self.result), window(self.result), small(self.result), delay(self.result)

    def show(self, out: Console, *, compared: bool) -> None:
        """Show flows, classes where there are several, and links; compared, over all flows first."""
        result = self.result
        if compared:
            print_titled(out, f"{result.title}: all flows", comparison_columns(result))
            most = max(1, MOST_ROWS // len(result.disciplines))
            for kind in _kinds(result):
                chosen = subjects(result, kind)
                print_titled(out, f"by {kind}", subject_columns(result, chosen[:most]))
                _more(out, len(chosen), kind, most)
            return
        links = subjects(result, "link")
        for name in result.disciplines:
            for kind in _kinds(result):
                chosen = subjects(result, kind)
                print_titled(out, f"{name}: by {kind}", subject_columns(result, chosen[:MOST_ROWS], [name]))
                _more(out, len(chosen), kind)
            if links:
                print_titled(out, f"{name}: links", link_columns(result, [name], links[:MOST_ROWS]))
                _more(out, len(links), "link")

    def warnings(self) -> Sequence[str]:
        """Return what is to be known before the figures are read: of the run, and of the disciplines."""
        return [*cautions(self.result), *notes(self.result)]

    def size(self) -> Sequence[str]:
        """Return how many flows, links and packets there were."""
        result = self.result
        sent = max((row.offered for row in result.totals), default=0)
        packets = f"{plural(sent, 'packet')} under each discipline"
        return plural(len(result.flows), "flow"), plural(len(result.links), "link"), packets

    def sections(self, charts: Sequence[str]) -> Sequence[str]:
        """Return comparison, classes, flows, charts, intervals, links and closed forms."""
        result = self.result
        metrics = dict.fromkeys(row.metric for row in result.theory if row.value is not None)
        forms = (headed(each, table(theory_columns(result, each))) for each in metrics)
        links = by_discipline(result, lambda name: table(link_columns(result, [name])))
        return [
            section("The comparison", _comparison(result)),
            _subjects(result, "class") if len(result.classes) > 1 else "",
            *charts,
            _subjects(result, "flow"),
            section("By time of sending", _intervals(result), folded=True),
            section("Links", links if subjects(result, "link") else "", folded=True),
            section("Closed forms", "".join(forms), folded=True),
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
    return telling(comparison_columns(result), _FIRST) + note(words) + in_full(result, shown=False)


def _subjects(result: NetworkResult, kind: str) -> str:
    """Return the section of what is measured by flow or by class, folded where it is long."""
    chosen = subjects(result, kind)
    if not chosen:
        return ""
    listed = telling(subject_columns(result, chosen[:_MOST_FLOWS]), _FIRST)
    if len(chosen) > _MOST_FLOWS:
        listed += note(f"The first {_MOST_FLOWS} of {len(chosen):,}; the table of estimates has all.")
    long = len(chosen) * len(result.disciplines) > _MOST_SHOWN
    return section(f"By {kind}", listed, folded=long)


def _intervals(result: NetworkResult) -> str:
    chosen = subjects(result, "flow")[:_MOST_FLOWS]
    parts = []
    for name in (interval.name for interval in result.intervals if interval.name != ALL):
        offers = ((each, each.estimate(result, result.reference, "offer", interval=name)) for each in chosen)
        sending = [each for each, row in offers if row is not None and row.value]
        if sending:
            parts.append(details(name, table(throughput_columns(result, sending, name))))
    words = "Throughput of the packets that were sent in an interval, whenever they arrived."
    return note(words) + "".join(parts) if parts else ""
