"""The report of a fabric's result: verdict, comparison, charts, load by load, saturation, checks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from weir.fabric import tables
from weir.fabric.figures import fabric_figures
from weir.fabric.verdict import state, telling_load, verdict
from weir.report import charts_of, checks, drawn, headline, page, provenance, section, table
from weir.text import plural

if TYPE_CHECKING:
    from weir.fabric.result import FabricResult
    from weir.tables import Column

__all__ = ["html"]


def html(result: FabricResult) -> str:
    """Return the report as one HTML document."""
    figures = fabric_figures(result)
    sections = [
        headline(result, verdict(result), state(result), _facts(result)),
        section("The comparison", _comparison(result)),
        *(section(figure.title, drawn(figure, index)) for index, figure in enumerate(figures)),
        section("Load by load", _loads(result)),
        section("Each discipline", _disciplines(result)),
        section("Saturation", _saturation(result)),
        section("Work of the schedulers", _work(result)),
        section("Closed forms", _table(tables.theory_columns(result))),
        section("Self-checks", checks(result)),
        section("Where it comes from", provenance(result, _origin(result))),
    ]
    return page(result.title, "".join(sections), charts_of(figures))


def _facts(result: FabricResult) -> list[str]:
    return [
        plural(len(result.disciplines), "discipline"),
        plural(len(result.channels), "channel"),
        plural(result.size.hosts, "end-point"),
        f"{result.size.switches:,} {'switch' if result.size.switches == 1 else 'switches'}",
        plural(len(result.loads), "load"),
        plural(result.replications, "replication"),
    ]


def _note(words: str) -> str:
    return f'<p class="note">{escape(words)}</p>\n'


def _table(columns: list[Column]) -> str:
    return table(columns) if columns else ""


def _at_load(result: FabricResult, load: float) -> str:
    """Return the disciplines beside each other at a load, one table a group of columns."""
    groups = tables.load_groups(result, load)
    return "".join(table([tables.channel_column(result), *group]) for group in groups)


def _comparison(result: FabricResult) -> str:
    load = telling_load(result)
    listed = _at_load(result, load)
    words = (
        f"At load {load:g}. Latency is from the entry into the buffer of the interface to the last byte at "
        "the other end; throughput is in per cent of what a link carries. 95 % confidence intervals over the "
        "replications."
    )
    if tables.others(result):
        reference = result.labels[result.reference]
        words += f" Improvements over {reference} are paired: all saw the same traffic."
    return listed + _note(words) + _specs(result) if listed else ""


def _specs(result: FabricResult) -> str:
    """Return the whole spec strings, where labels are shorter."""
    rows = "".join(
        f"<div><dt>{escape(label)}</dt><dd><code>{escape(spec)}</code></dd></div>\n"
        for label, spec in tables.specs(result)
    )
    return (
        f"<details open><summary>The disciplines in full</summary>\n<dl>{rows}</dl></details>\n"
        if rows
        else ""
    )


def _details(summary: str, content: str) -> str:
    return f"<details><summary>{escape(summary)}</summary>\n{content}</details>\n" if content else ""


def _loads(result: FabricResult) -> str:
    if len(result.loads) == 1:
        return ""
    parts = [_details(f"load {load:g}", _at_load(result, load)) for load in sorted(result.loads)]
    return "".join([*_improvements(result), *parts])


def _improvements(result: FabricResult) -> list[str]:
    """Return the improvements at all loads, one table a discipline."""
    reference = result.labels[result.reference]
    made = []
    for name in tables.others(result):
        for statistic, word in (("mean", "mean"), ("max", "maximum")):
            columns = tables.improvement_columns(result, name, statistic)
            if columns:
                title = f"{result.labels[name]}: improvement of the {word} latency over {reference} (%)"
                made.append(f"<h3>{escape(title)}</h3>\n{table([tables.channel_column(result), *columns])}")
    return made


def _disciplines(result: FabricResult) -> str:
    parts = []
    for name in result.disciplines:
        listed = "".join(
            f"<h3>load {load:g}</h3>\n"
            + "".join(table([tables.channel_column(result), *group]) for group in groups)
            for load in sorted(result.loads)
            if (groups := tables.discipline_groups(result, name, load))
        )
        parts.append(_details(result.labels[name], listed))
    return "".join(parts)


def _saturation(result: FabricResult) -> str:
    listed = _table(tables.saturation_columns(result))
    note = _note("The least load of the scenario at which less than 99 % of what a channel offers arrives.")
    return listed + note if listed else ""


def _work(result: FabricResult) -> str:
    note = _note(
        "Entries of tables, or flows, that a decision examines, and reads of several of them at once; over "
        "all schedulers, loads and replications, warm-up included."
    )
    return _table(tables.work_columns(result)) + note if result.totals else ""


def _origin(result: FabricResult) -> dict[str, object]:
    generated, delivered, traversals = (
        sum(getattr(row, key) for row in result.totals) for key in ("generated", "delivered", "traversals")
    )
    return {
        "links, one for each direction": f"{result.size.links:,}",
        "packets generated": f"{generated:,}",
        "packets delivered": f"{delivered:,}",
        "packets over links": f"{traversals:,}",
    }
