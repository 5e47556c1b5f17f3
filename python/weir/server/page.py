"""The report of a server's result: verdict and charts, then tables.

These are of each metric and class, of losses, cores, and closed forms beside the simulation.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from weir.report import charts_of, checks, drawn, headline, page, provenance, section, table
from weir.server import tables
from weir.server.figures import server_figures
from weir.server.verdict import state, verdict, warnings
from weir.subjects import ALL
from weir.tables import split
from weir.text import number, plural, quantity

if TYPE_CHECKING:
    from weir.server.result import ServerResult
    from weir.tables import Column

__all__ = ["html"]

_WIDTH, _GAP = 104, 3
"""Characters of a table at the full width of the page, and those that the space beside a column takes."""


def html(result: ServerResult) -> str:
    """Return the report as one HTML document."""
    figures = server_figures(result)
    sections = [
        headline(result, verdict(result), state(result), _facts(result)),
        *(f'<p class="warning">{escape(words)}</p>\n' for words in warnings(result)),
        *(section(figure.title, drawn(figure, index)) for index, figure in enumerate(figures)),
        section("The comparison", _comparison(result)),
        section("Requests", _table(result, tables.loss_columns(result)) + _note(_REQUESTS)),
        section("Cores", _table(result, tables.core_columns(result)) + _note(_CORES)),
        section("Closed forms", _theory(result)),
        section(
            "What is absent, and what to mind",
            "".join(map(_note, [*tables.absent_rows(result), *result.notes])),
        ),
        section("Self-checks", checks(result)),
        section("Where it comes from", provenance(result, _origin(result))),
    ]
    return page(result.title, "".join(sections), charts_of(figures))


_REQUESTS = (
    "Of the requests that arrive in the measured time: dropped of those offered; reordered and cold of those "
    "done. Cold is a request that another core serves than the one of its flow before."
)
_THEORY = (
    "Exact means beside the simulated ones with their 95 % intervals; OK where the 99.9 % interval covers "
    "the exact mean, !! where it does not."
)
_CORES = (
    "Busy and overhead are shares of the time of all cores; in use are cores that new requests may be sent "
    "to, on average and at most."
)


def _facts(result: ServerResult) -> list[str]:
    load = [] if result.load is None else [f"load {number(result.load, 3)}"]
    return [
        plural(len(result.disciplines), "discipline"),
        plural(result.cores, "core"),
        plural(len(result.classes), "class"),
        *load,
        f"{quantity(result.measured, 's')} measured",
        plural(result.replications, "replication"),
    ]


def _note(words: str) -> str:
    return f'<p class="note">{escape(words)}</p>\n'


def _table(result: ServerResult, columns: list[Column], names: tuple[str, ...] | None = None) -> str:
    """Return a table, or several where it is wider than the page."""
    first = tables.discipline_column(result, names)
    room = _WIDTH - first.width - _GAP
    return "".join(table([first, *part]) for part in split([columns], room, _GAP) if part)


def _comparison(result: ServerResult) -> str:
    parts = []
    for metric, title in tables.METRICS.items():
        for class_ in tables.classes_of(result):
            columns = tables.metric_columns(result, metric, class_)
            if columns:
                words = title if class_ == ALL else f"{title} of {class_}"
                parts.append(f"<h3>{escape(words[:1].upper() + words[1:])}</h3>\n{_table(result, columns)}")
        parts.append(_differences(result, metric, title))
    note = (
        "Queueing delay is from arrival to where service begins first, response from arrival to the end of "
        "service, slowdown response over service. 95 % confidence intervals over the replications; "
        "differences are paired: the disciplines served the same requests."
    )
    return "".join(parts) + _note(note) + _specs(result) if any(parts) else ""


def _theory(result: ServerResult) -> str:
    """Return the closed forms, those that do not agree first, and why others have none."""
    columns = tables.theory_columns(result)
    without = {row.discipline: row.formula for row in result.theory if row.value is None}
    if not columns and not without:
        return ""
    reasons = "".join(
        _note(f"{result.labels.get(name or '', name)}: none: {reason}") for name, reason in without.items()
    )
    return (table(columns) + _note(_THEORY) if columns else "") + reasons


def _differences(result: ServerResult, metric: str, title: str) -> str:
    names = tables.others(result)
    columns = tables.difference_columns(result, metric) if names else []
    if not columns:
        return ""
    head = f"{title[:1].upper()}{title[1:]}, minus {result.labels[result.reference]}'s"
    return f"<details><summary>{escape(head)}</summary>\n{_table(result, columns, names)}</details>\n"


def _specs(result: ServerResult) -> str:
    """Return the whole spec strings, where labels are shorter."""
    if all(label == spec for spec, label in result.labels.items()):
        return ""
    rows = "".join(
        f"<div><dt>{escape(label)}</dt><dd><code>{escape(spec)}</code></dd></div>\n"
        for spec, label in result.labels.items()
    )
    return f"<details open><summary>The disciplines in full</summary>\n<dl>{rows}</dl></details>\n"


def _origin(result: ServerResult) -> dict[str, object]:
    queue = "any number" if result.queue is None else f"{result.queue:,}"
    return {
        "cores": f"{result.cores:,}",
        "receivers": f"{result.receivers:,}",
        "requests in a queue": queue,
        "measured in a replication": quantity(result.measured, "s"),
        "requests counted": f"{sum(row.offered for row in result.class_totals if row.class_ == ALL):,}",
    }
