"""A comparison as one HTML file: verdict, figures by interval, packets, generators, departures."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from weir.live.terminal import generator_columns, ledger_columns, row_columns, verdict
from weir.reproduce.engine.page import headline
from weir.results.page import details, note, page, section, table
from weir.text import plural

if TYPE_CHECKING:
    from weir.live.comparison import Comparison

__all__ = ["html", "parts"]


def html(comparison: Comparison) -> str:
    """Return the report."""
    facts = (
        plural(len(comparison.disciplines), "discipline"),
        plural(len(comparison.flows), "flow"),
        f"scale {comparison.scale}",
        f"{plural(comparison.repeat, 'run')} a discipline",
        f"frames by {' and '.join(comparison.means) or 'nothing'}",
    )
    head = headline("weir live", comparison.title, verdict(comparison), facts)
    return page(comparison.title, head + parts(comparison), {})


def parts(comparison: Comparison) -> str:
    """Return the sections of a comparison."""
    return "".join(
        (
            section("Simulated and measured", _figures(comparison)),
            section("What became of the packets", table(ledger_columns(comparison)) + _drops(comparison)),
            section("How late generators sent", _late(comparison)),
            section("How the testbed differs from the scenario", departures(comparison)),
            section(
                "Provenance",
                "<details><summary>The scenario as it was understood</summary>"
                f"<pre><code>{escape(comparison.scenario)}</code></pre></details>\n",
            ),
        )
    )


def _figures(comparison: Comparison) -> str:
    made = [
        note(
            "Times and rates are those of the scenario, with 95 % intervals: of the simulation over its "
            "replications, of what was measured over its runs, or over ten batches of a single one."
        )
    ]
    for interval in comparison.intervals:
        columns = row_columns(comparison, interval)
        if not columns[0].cells:
            continue
        listed = table(columns)
        made.append(listed if interval == "all" else details(f"Sent in {interval}", listed))
    return "".join(made)


def _drops(comparison: Comparison) -> str:
    made = []
    for ledger in comparison.ledgers:
        lost = {key: count for key, count in ledger.dropped.items() if count}
        if lost:
            label = f"{comparison.labels[ledger.discipline]}, run {ledger.run + 1}"
            listed = "".join(f"<li>{escape(key)}: {count:,}</li>" for key, count in lost.items())
            made.append(details(f"Drops: {label}", f"<ul>{listed}</ul>"))
    return "".join(made)


def _late(comparison: Comparison) -> str:
    words = "In real time, not that of the scenario: lateness here is not caused by the network."
    return note(words) + table(generator_columns(comparison))


def departures(comparison: Comparison) -> str:
    """Return the list of departures."""
    listed = "".join(f"<li>{escape(each)}</li>" for each in comparison.departures)
    return f"<ul>{listed}</ul>\n"
