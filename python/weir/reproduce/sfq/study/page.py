"""The study as one HTML file: charts of fairness over the number of flows, then every table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from weir.reproduce.engine.page import cell, headline, row_name, table_of
from weir.reproduce.sfq.study import parts
from weir.reproduce.sfq.study.tables import jain, tables, worst
from weir.results.page import charts_of, drawn, note, page, section
from weir.results.style import Figure, specification, styles

if TYPE_CHECKING:
    from weir.reproduce.sfq.study import Study
    from weir.reproduce.sfq.study.tables import Table

_TITLE = "Flows against queues: the study that the SFQ report recommends"
_VERDICT = (
    "Stochastic fair queueing is fair while queues outnumber flows by far, and least so with one to two "
    "flows a queue; beyond that every queue holds many, and all are treated alike badly. A timer that "
    "changes the hash averages this out over time, at the price of reordering unless queued packets are "
    "hashed anew; a change when idle never comes under overload. An eight-way set-associative hash is as "
    "fair as a queue a flow up to a quarter as many flows as queues. Addresses chosen to collide leave a "
    "victim a fifth of its share under an xor, and change nothing under a keyed hash."
)


def html(study: Study) -> str:
    """Return the document."""
    figures = [figure for figure in (_over_flows(study),) if figure is not None]
    sections = [
        headline("weir study", _TITLE, _VERDICT, _facts(study)),
        *(section(figure.title, drawn(figure, index)) for index, figure in enumerate(figures)),
        *(section(table.title, _table(table)) for table in tables(study)),
    ]
    return page(_TITLE, "".join(sections), charts_of(figures))


def _facts(study: Study) -> tuple[str, ...]:
    packets = sum(row.offered for result in study.results.values() for row in result.totals)
    return f"{len(study.results)} runs", f"{packets:,} packets"


def _table(table: Table) -> str:
    rows = ((row_name(row[0]), *map(cell, row[1:])) for row in table.rows)
    return note(table.note) + table_of(table.head, rows)


def _over_flows(study: Study) -> Figure | None:
    """Return Jain's index and the worst flow's share over the number of flows, with intervals."""
    found = study.of("flows")
    if len(found) < 2:
        return None
    specs = [label for label in parts.COUNTED if label != "fifo"]
    points: dict[str, list[dict[str, Any]]] = {"Jain's index": [], "worst flow's share": []}
    for run, result in found.items():
        for spec in specs:
            discipline = result.disciplines[list(parts.COUNTED).index(spec)]
            for name, measure in (("Jain's index", jain), ("worst flow's share", worst)):
                row = measure(result, discipline)
                if row is None or row.value is None:
                    continue
                low, high = (row.value if end is None else end for end in (row.low, row.high))
                points[name].append(
                    {"discipline": spec, "flows": run.flows, "value": row.value, "low": low, "high": high}
                )
    panels = tuple((name, _chart(name, rows, specs)) for name, rows in points.items() if rows)
    key = tuple((spec, shade, " ".join(map(str, marks))) for spec, (shade, marks) in styles(specs).items())
    caption = "Each flow offers twice its equal share. Means and 95 % intervals over the draws of the hashes."
    return Figure("Fairness over the number of flows", caption, panels, key)


def _chart(title: str, points: list[dict[str, Any]], specs: list[str]) -> dict[str, Any]:
    found = styles(specs)
    colours = alt.Scale(domain=specs, range=[shade for shade, _ in found.values()])
    dashes = alt.Scale(domain=specs, range=[marks for _, marks in found.values()])
    x = alt.X(
        "flows:Q",
        scale=alt.Scale(type="log", base=2, nice=False, padding=10),
        axis=alt.Axis(title="flows", values=list(parts.FLOWS), format="d"),
    )
    base = alt.Chart().encode(x=x, color=alt.Color("discipline:N", scale=colours, sort=specs, legend=None))
    lowest = min(point["low"] for point in points)
    y_scale = alt.Scale(domain=[max(0.0, 0.1 * int(10 * lowest)), 1.02], nice=False)
    lines = base.mark_line(strokeWidth=2).encode(
        y=alt.Y("value:Q", scale=y_scale, axis=alt.Axis(title=title, tickCount=6)),
        strokeDash=alt.StrokeDash("discipline:N", scale=dashes, sort=specs, legend=None),
    )
    spans = base.mark_rule(strokeWidth=1.5).encode(y=alt.Y("low:Q", scale=y_scale), y2="high:Q")
    dots = base.mark_point(filled=True, size=36, opacity=1).encode(
        y=alt.Y("value:Q", scale=y_scale), tooltip=["discipline:N", "flows:Q", "value:Q", "low:Q", "high:Q"]
    )
    return specification(alt.layer(lines, spans, dots), 320, points)
