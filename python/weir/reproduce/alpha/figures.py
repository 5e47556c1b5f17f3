"""The report's figures 1 to 4 and its fairness analysis, redrawn from measured means.

Lines are measured, rings are published. Figures 1 and 2 show latency over the length of a message, at 50 %
and 95 %; figures 3 and 4 the average latency over traffic, absolute and relative to shortest first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import altair as alt

from weir.reproduce.alpha import published
from weir.reproduce.alpha.fairness import FAIRNESS_LOADS, FAMILY
from weir.reproduce.alpha.published import LENGTHS, LOADS, Load
from weir.reproduce.engine.evidence import if_measured
from weir.results.style import PALETTE, styles

if TYPE_CHECKING:
    from weir.reproduce.alpha import AlphaReproduction
    from weir.reproduce.alpha.evidence import Evidence
    from weir.reproduce.alpha.fairness import Fairness

Row = dict[str, Any]

_STYLES = styles(("fifo", "rr", "rr_head", "alpha:1", "alpha:10", "alpha:60", "sf"))


@dataclass(frozen=True, slots=True)
class Drawing:
    """One figure: its title, what is to be read from it, and its Vega-Lite specification."""

    id: str
    title: str
    caption: str
    spec: dict[str, Any]


def drawings(reproduction: AlphaReproduction) -> list[Drawing]:
    """Return the figures for which something was measured."""
    evidence = reproduction.evidence
    made = [
        *(_by_length(evidence, number, load) for number, load in ((1, Load("50")), (2, Load("95")))),
        _by_traffic(evidence),
        _relative(evidence),
        _fairness(reproduction.fairness),
    ]
    return [drawing for drawing in made if drawing is not None]


def _row(evidence: Evidence, load: Load, strategy: str, quantity: str) -> Row | None:
    """Return one mean with its published value, if it was measured and can stand on a logarithmic axis."""
    found = if_measured(evidence.mean, load, strategy, quantity)
    printed = published.table()[load, strategy, quantity]
    if found is None or found.value <= 0 or printed <= 0:
        return None
    return {"strategy": strategy, "measured": found.value, "published": printed}


def _by_length(evidence: Evidence, number: int, load: Load) -> Drawing | None:
    rows = [
        {**row, "length": length}
        for strategy in _STYLES
        for length in LENGTHS
        if (row := _row(evidence, load, strategy, f"lat{length}"))
    ]
    x = alt.X("length:Q", title="length of the message (packets)")
    caption = (
        f"At {load} % load. Shortest first serves short messages early at the cost of long ones; alpha moves "
        "between it and FIFO. RR' serves the first packet of a message at once."
    )
    return _drawing(f"figure{number}", f"Figure {number}: latency by length at {load} %", caption, rows, x)


def _by_traffic(evidence: Evidence) -> Drawing | None:
    rows = [
        {**row, "traffic": float(load)}
        for strategy in _STYLES
        for load in LOADS
        if (row := _row(evidence, load, strategy, "avlat"))
    ]
    caption = "The gain of a strategy that knows the length grows with the load."
    return _drawing("figure3", "Figure 3: average latency by traffic", caption, rows, _traffic())


def _relative(evidence: Evidence) -> Drawing | None:
    rows = [row for strategy in _STYLES for load in LOADS if (row := _relative_row(evidence, load, strategy))]
    caption = "Average latency over that of shortest first. Heavy traffic needs a large alpha."
    return _drawing("figure4", "Figure 4: average latency relative to the optimum", caption, rows, _traffic())


def _relative_row(evidence: Evidence, load: Load, strategy: str) -> Row | None:
    found = if_measured(evidence.ratio, load, strategy, "sf", "avlat")
    if found is None:
        return None
    table = published.table()
    printed = table[load, strategy, "avlat"] / table[load, "sf", "avlat"]
    return {"strategy": strategy, "traffic": float(load), "measured": found.value, "published": printed}


def _traffic() -> alt.X:
    return alt.X("traffic:Q", title="traffic (% of capacity)", scale=alt.Scale(domain=[0, 100]))


def _drawing(name: str, title: str, caption: str, rows: list[Row], x: alt.X) -> Drawing | None:
    """Return a figure with measured lines and published rings, on a logarithmic axis."""
    if not rows:
        return None
    kind = "relative to shortest first" if "relative" in title else "mean latency (packet services)"
    names, looks = list(_STYLES), list(_STYLES.values())
    colours = alt.Scale(domain=names, range=[colour for colour, _ in looks])
    dashes = alt.Scale(domain=names, range=[dash for _, dash in looks])
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=x,
        color=alt.Color("strategy:N", scale=colours, sort=names, title=None),
        tooltip=["strategy:N", alt.Tooltip(x.shorthand), "measured:Q", "published:Q"],
    )
    lines = base.mark_line(strokeWidth=1.8).encode(
        y=alt.Y("measured:Q", title=kind, scale=alt.Scale(type="log", nice=False, padding=10)),
        strokeDash=alt.StrokeDash("strategy:N", scale=dashes, sort=names, title=None),
    )
    rings = base.mark_point(size=38, filled=False, strokeWidth=1.3).encode(y=alt.Y("published:Q"))
    return Drawing(name, title, caption, _spec(lines + rings, 340))


def _spec(chart: alt.LayerChart | alt.Chart, height: int) -> dict[str, Any]:
    specification: dict[str, Any] = chart.properties(width="container", height=height).to_dict()
    return specification


def _fairness(found: tuple[Fairness, ...]) -> Drawing | None:
    if not found:
        return None
    rows = [
        {
            "strategy": row.strategy,
            "load": f"{row.load} %",
            "smallest": row.smallest,
            "of_length": row.smallest_length,
            "largest": row.largest,
            "to_length": row.largest_length,
        }
        for row in found
    ]
    order = list(FAMILY)
    x = alt.X("strategy:N", sort=order, title=None, axis=alt.Axis(labelAngle=-40))
    loads = alt.Scale(
        domain=[f"{load} %" for load in FAIRNESS_LOADS], range=list(PALETTE[: len(FAIRNESS_LOADS)])
    )
    chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar(size=9)
        .encode(
            x=x,
            xOffset="load:N",
            y=alt.Y(
                "smallest:Q",
                title="effective packet period",
                scale=alt.Scale(type="log", nice=False, padding=10),
            ),
            y2="largest:Q",
            color=alt.Color("load:N", scale=loads, title=None),
            tooltip=["strategy:N", "load:N", "smallest:Q", "of_length:Q", "largest:Q", "to_length:Q"],
        )
    )
    caption = (
        "From the smallest to the largest effective packet period, (latency + 1) / length, over all lengths. "
        "The shorter the bar, the more evenly messages share the server."
    )
    return Drawing("fairness", "Section 12: fairness over alpha", caption, _spec(chart, 300))
