"""The report of a network's result: verdict, comparison, flows, charts, intervals, links, checks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from weir.network.figures import network_figures
from weir.network.result import ALL
from weir.network.tables import (
    comparison_columns,
    link_columns,
    subject_columns,
    subjects,
    throughput_columns,
)
from weir.network.verdict import state, verdict
from weir.report import charts_of, checks, drawn, headline, page, provenance, section, table
from weir.tables import theory_columns
from weir.text import plural

if TYPE_CHECKING:
    from weir.network.result import NetworkResult

__all__ = ["html"]

_MOST_FLOWS = 200
"""Flows in the tables of a page."""


def html(result: NetworkResult) -> str:
    """Return the report as one HTML document."""
    figures = network_figures(result)
    sections = [
        headline(result, verdict(result), state(result), _facts(result)),
        section("The comparison", _comparison(result)),
        section("By class", _by(result, "class") if len(result.classes) > 1 else ""),
        section("By flow", _by(result, "flow")),
        *(section(figure.title, drawn(figure, index)) for index, figure in enumerate(figures)),
        section("By time of sending", _intervals(result)),
        section("Links", _links(result)),
        section("Closed forms", _theory(result)),
        section("Self-checks", checks(result)),
        section("Where it comes from", provenance(result, _origin(result))),
    ]
    return page(result.title, "".join(sections), charts_of(figures))


def _facts(result: NetworkResult) -> list[str]:
    sent = max((row.offered for row in result.totals), default=0)
    return [
        plural(len(result.disciplines), "discipline"),
        plural(len(result.flows), "flow"),
        plural(len(result.links), "link"),
        f"{plural(sent, 'packet')} under each discipline",
        plural(result.replications, "replication"),
    ]


def _note(words: str) -> str:
    return f'<p class="note">{escape(words)}</p>\n'


def _comparison(result: NetworkResult) -> str:
    note = "All flows together. Means with 95 % confidence intervals over the replications."
    if len(result.disciplines) > 1:
        reference = result.labels[result.reference]
        note += f" Differences to {reference} are paired: all saw the same departures."
    return table(comparison_columns(result)) + _note(note) + _specs(result)


def _specs(result: NetworkResult) -> str:
    """Return the whole spec strings, where labels are shorter."""
    if all(spec == label for spec, label in result.labels.items()):
        return ""
    rows = "".join(
        f"<div><dt>{escape(label)}</dt><dd><code>{escape(spec)}</code></dd></div>\n"
        for spec, label in result.labels.items()
    )
    return f"<details><summary>The disciplines in full</summary>\n<dl>{rows}</dl></details>\n"


def _by(result: NetworkResult, kind: str) -> str:
    chosen = subjects(result, kind)
    if not chosen:
        return ""
    more = ""
    if len(chosen) > _MOST_FLOWS:
        more = _note(f"The first {_MOST_FLOWS} of {len(chosen):,}; the table of estimates has all.")
    return table(subject_columns(result, chosen[:_MOST_FLOWS])) + more


def _intervals(result: NetworkResult) -> str:
    chosen = subjects(result, "flow")[:_MOST_FLOWS]
    parts = []
    for interval in result.intervals:
        known = [each for each in chosen if _sent(result, each.name, interval.name)]
        if interval.name == ALL or not known:
            continue
        listed = table(throughput_columns(result, known, interval.name))
        parts.append(f"<details><summary>{escape(interval.name)}</summary>\n{listed}</details>\n")
    note = _note("Throughput of the packets that were sent in an interval, whenever they arrived.")
    return note + "".join(parts) if parts else ""


def _sent(result: NetworkResult, flow: str, interval: str) -> bool:
    row = result.estimate(result.reference, metric="offer", flow=flow, interval=interval)
    return row is not None and bool(row.value)


def _links(result: NetworkResult) -> str:
    parts = []
    for name in result.disciplines:
        columns = link_columns(result, [name])
        if columns and columns[0].cells:
            listed = table(columns)
            parts.append(f"<details><summary>{escape(result.labels[name])}</summary>\n{listed}</details>\n")
    return "".join(parts)


def _theory(result: NetworkResult) -> str:
    metrics = dict.fromkeys(row.metric for row in result.theory if row.value is not None)
    return "".join(
        f"<h3>{escape(metric)}</h3>\n{table(theory_columns(result, metric))}" for metric in metrics
    )


def _origin(result: NetworkResult) -> dict[str, object]:
    hops = sum(row.hops for row in result.totals)
    dropped = ", ".join(f"{result.labels[row.discipline]} {row.dropped:,}" for row in result.totals)
    whole = next((row for row in result.intervals if row.name == ALL), None)
    counted = "not recorded" if whole is None else f"{whole.from_:g} s to {whole.to:g} s"
    return {
        "sent from, to": counted,
        "packets dropped": dropped,
        "transmissions": f"{hops:,}",
    }
