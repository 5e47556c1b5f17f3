"""Charts of a network's result: what each flow gets over time, how flows share, how long packets take.

A panel is a discipline where flows are compared, and a flow where disciplines are; panels of a figure share
their axes. More flows than can be distinguished are not drawn: those served worst are, and the caption says
so.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import altair as alt

from weir.models.network.over_time import figures as windows_over_time
from weir.models.network.tables import subjects
from weir.results import over_time
from weir.results.marks import (
    bar_key,
    bar_offset,
    by_spec,
    digits,
    distribution,
    intervals,
    lines_of,
    panelled,
    styles_of,
)
from weir.results.reading import ALL
from weir.results.style import Figure, axis, shown, specification
from weir.text import number, scale_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from weir.models.network.result import NetworkResult
    from weir.models.network.rows import NetworkEstimate
    from weir.results.marks import Lines, Point
    from weir.results.style import Style
    from weir.text import Scale

MOST_FLOWS = 7
_TOUCHED = 0.05
"""Of the largest offer: a step with less is one in which a flow ends, or has not begun."""
_MOST_BARS = 8
"""Of more flows the classes are drawn, where there are several."""
_MOST_SUBJECTS = 40


def figures(result: NetworkResult) -> list[Figure | None]:
    """Return the charts in the order of a report."""
    leading = (_shares(result), _delays(result))
    return [
        *(figure and replace(figure, leads=True) for figure in leading),
        _delay_over_time(result),
        _over_time(result),
        *windows_over_time(result),
    ]


# Over time.


def _drawn_flows(result: NetworkResult, known: set[str]) -> list[str]:
    """Return the flows drawn: all, or those that get the smallest part of their offer."""
    names = [flow.name for flow in result.flows if flow.name in known]
    if len(names) <= MOST_FLOWS:
        return names
    worst = set(sorted(names, key=lambda name: _least_part(result, name))[:MOST_FLOWS])
    return [name for name in names if name in worst]


def _least_part(result: NetworkResult, flow: str) -> float:
    parts = []
    for name in result.disciplines:
        offer = result.estimate(name, metric="offer", flow=flow)
        got = result.estimate(name, metric="throughput", flow=flow)
        if offer is not None and got is not None and offer.value and got.value is not None:
            parts.append(got.value / offer.value)
    return min(parts, default=1.0)


def _over_time(result: NetworkResult) -> Figure | None:
    series = [row for row in result.series if row.metric == "throughput"]
    known = {row.flow for row in series}
    flows = _drawn_flows(result, known)
    if not flows:
        return None
    scale = scale_for((value for row in result.series for value in row.values), "bit/s")
    lines = by_spec(result.disciplines)
    panels = ((result.labels[name], time_points(result, name, flows, scale)) for name in lines.names)
    styles = styles_of(flows)
    some = (
        "" if len(flows) == len(known) else f" Drawn are the {len(flows)} served worst of {len(known)} flows."
    )
    caption = (
        f"Throughput of the packets sent in each {number(series[0].step)} s, one colour a flow, under each "
        "discipline; the thin line is what the flow offers. Means over the replications."
        f"{some}{lines.missing}"
    )

    def draw(points: list[Point], every: list[Point]) -> dict[str, Any]:
        return time_chart(points, every, styles, scale)

    return panelled("Throughput over time", caption, panels, draw, lines_of("flow", styles).key)


def time_points(result: NetworkResult, discipline: str, flows: Sequence[str], scale: Scale) -> list[Point]:
    """Return offer and throughput of flows over time, as the rows of a chart."""
    made = []
    for flow in flows:
        throughput = result.over_time(discipline, flow)
        offer = result.over_time(discipline, flow, "offer")
        if throughput is None:
            continue
        offers = offer.values if offer is not None else throughput.values
        for place in _sending(offers):
            got, sent = throughput.values[place], offers[place]
            made.append(
                {
                    "flow": flow,
                    "time": (place + 0.5) * throughput.step,
                    "throughput": digits((got or 0.0) / scale.factor),
                    "offer": None if offer is None else digits((sent or 0.0) / scale.factor),
                }
            )
    return made


def _sending(offers: Sequence[float | None]) -> range:
    """Return the steps in which the flow sends, without those at its ends that it only touches."""
    least = _TOUCHED * max((sent or 0.0 for sent in offers), default=0.0)
    some = [place for place, sent in enumerate(offers) if (sent or 0.0) > least]
    return range(some[0], some[-1] + 1) if some else range(0)


def time_chart(
    points: list[Point], every: Sequence[Point], styles: dict[str, Style], scale: Scale
) -> dict[str, Any]:
    """Return the chart of one discipline; ``every`` holds the points of all, whose axes it shares."""
    highest = max(max(point["throughput"], point["offer"] or 0.0) for point in every)
    latest = max(point["time"] for point in every)
    y_scale = alt.Scale(domain=[0, highest * 1.03], nice=False)
    base = alt.Chart().encode(
        x=alt.X(
            "time:Q",
            scale=alt.Scale(domain=[0, latest], nice=False),
            axis=alt.Axis(title="time of sending (s)", tickCount=6),
        ),
        color=lines_of("flow", styles).colour,
    )
    lines = base.mark_line(strokeWidth=2).encode(
        y=alt.Y("throughput:Q", scale=y_scale, axis=axis(f"throughput {scale.header}", [0.0, highest])),
        tooltip=["flow:N", "time:Q", "throughput:Q", "offer:Q"],
    )
    offers = base.mark_line(strokeWidth=0.9, strokeDash=[2, 2], opacity=0.75).encode(
        y=alt.Y("offer:Q", scale=y_scale)
    )
    return specification(alt.layer(offers, lines), 240, points)


def _delay_over_time(result: NetworkResult) -> Figure | None:
    lines = by_spec(result.disciplines)
    panels = {ALL: "all flows", **{name: name for name in result.classes if len(result.classes) > 1}}
    return over_time.figure(result.delay_over_time, lines, panels, "delay", "the packets sent")


# Shares.


def _shares(result: NetworkResult) -> Figure | None:
    flows, classes = subjects(result, "flow"), subjects(result, "class")
    chosen = classes if len(classes) > 1 and len(flows) > _MOST_BARS else flows or classes
    rows = [
        (subject.name, row)
        for name in shown(result.disciplines)
        for subject in chosen
        if (row := subject.estimate(result, name, "throughput")) is not None and row.value is not None
    ]
    if not rows or len(chosen) > _MOST_SUBJECTS:
        return None
    scale = scale_for((row.value for _, row in rows), "bit/s")
    points = [_share_point(result, about, row, scale) for about, row in rows]
    lines = by_spec(result.disciplines, list(dict.fromkeys(row.discipline for _, row in rows)))
    caption = f"What each {chosen[0].kind} gets, with 95 % intervals. {_fairness(result, lines.names)}"
    chart = _shares_chart(points, lines, [subject.name for subject in chosen], scale)
    return Figure("Shares", f"{caption}{lines.missing}".strip(), (("", chart),), bar_key(lines))


def _share_point(result: NetworkResult, about: str, row: NetworkEstimate, scale: Scale) -> Point:
    low, high = (row.value if end is None else end for end in (row.low, row.high))
    return {
        "discipline": row.discipline,
        "label": result.labels[row.discipline],
        "about": about,
        "throughput": digits((row.value or 0.0) / scale.factor),
        "low": digits(low or 0.0) / scale.factor,
        "high": digits(high or 0.0) / scale.factor,
    }


def _fairness(result: NetworkResult, names: Iterable[str]) -> str:
    """Return Jain's index under each discipline, in words."""
    rows = {name: result.estimate(name, metric="jain") for name in names}
    told = [
        f"{result.labels[name]} {number(row.value, 3)}"
        for name, row in rows.items()
        if row is not None and row.value is not None
    ]
    return f"Jain's index of the throughputs, 1 where all get the same: {', '.join(told)}." if told else ""


def _shares_chart(points: list[Point], lines: Lines, order: list[str], scale: Scale) -> dict[str, Any]:
    y = alt.Y("about:N", sort=order, axis=alt.Axis(title=None, labelLimit=190))
    base = alt.Chart().encode(y=y, yOffset=bar_offset(lines.names), color=lines.colour)
    x = alt.X(
        "throughput:Q",
        scale=alt.Scale(zero=True),
        axis=alt.Axis(title=f"throughput {scale.header}", tickCount=6),
    )
    bars = base.mark_bar(opacity=0.85).encode(
        x=x, tooltip=["about:N", "label:N", "throughput:Q", "low:Q", "high:Q"]
    )
    spans = intervals(base, alt.X("low:Q"))
    height = max(80, (13 * len(lines.names) + 8) * len(order))
    return specification(alt.layer(bars, spans), height, points)


# Delay.


def _delays(result: NetworkResult) -> Figure | None:
    """Return the distributions of delay: over all flows, then class by class or flow by flow."""
    lines = by_spec(result.disciplines)
    rows = [row for row in result.distributions if row.discipline in lines.names and any(row.count)]
    known = {(row.scope, row.name) for row in rows}
    classes = result.classes if len(result.classes) > 1 else ()
    flows = _drawn_flows(result, {name for scope, name in known if scope == "flow"})
    titles = {
        (ALL, ALL): "all flows",
        **{("class", name): name for name in classes},
        **{("flow", name): name for name in flows},
    }
    caption = (
        "The share of delivered packets that take longer than a given time; the lower the curve, the better. "
        "Dropped packets have no delay. Both axes are logarithmic."
    )
    return distribution("delay", caption, rows, titles, lambda row: (row.scope, row.name), lines)
