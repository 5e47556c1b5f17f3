"""Figures: delay and cores in use over time in the lab, slowdown against load, and where separation pays."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import altair as alt

from weir.reproduce.engine.evidence import if_measured
from weir.reproduce.steer import runs
from weir.reproduce.steer.cells import slowdown
from weir.reproduce.steer.runs import WINDOWS
from weir.reproduce.steer.sweep import BOTH
from weir.results.style import Figure, axis, scale_of, specification, styles
from weir.text import number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from weir.reproduce.steer import SteerReproduction
    from weir.reproduce.steer.evidence import Evidence
    from weir.reproduce.steer.sweep import Row

_LAB = runs.LAB[:4]


def drawings(reproduction: SteerReproduction) -> list[Figure]:
    """Return the figures, of those whose runs are there."""
    made = (if_measured(draw, reproduction.evidence) for draw in (_delays, _cores, _slowdowns))
    return [*filter(None, made), *_pays(reproduction.sweep)]


def _delays(evidence: Evidence) -> Figure:
    panels = []
    for traffic, name in (("unimodal", "short"), ("bimodal", "short"), ("bimodal", "long")):
        values = [
            {"x": window + 1.0, "value": round(value, 3), "line": policy}
            for policy in _LAB
            for window, value in enumerate(evidence.lab(policy, traffic).windows(name))
        ]
        panels.append((f"{traffic}, {name}", _lines(values, _LAB, "window", "delay (us)")))
    caption = (
        "Mean queueing delay of each window, as the lab's counters have it; the rate doubles every five "
        "windows."
    )
    return Figure("Queueing delay", caption, tuple(panels), _key(_LAB), stacked=True)


def _cores(evidence: Evidence) -> Figure:
    names = ("DCA", "COMBINED")
    panels = []
    for traffic in runs.TRAFFICS:
        values = []
        for policy in names:
            view = evidence.lab(policy, traffic)
            at, count = view.counts()
            steps = [(when / view.period, cores) for when, cores in zip(at, count, strict=True)]
            steps = [*(each for each in steps if each[0] <= WINDOWS), (float(WINDOWS), count[-1])]
            values += [{"x": when, "value": float(cores), "line": policy} for when, cores in steps]
        panels.append((traffic, _lines(values, names, "window", "cores in use", step=True)))
    caption = "Cores that new requests are sent to; the loops decide at the end of each window."
    return Figure("Cores in use", caption, tuple(panels), _key(names), stacked=True)


def _slowdowns(evidence: Evidence) -> Figure:
    panels = []
    for workload in runs.WORKLOADS:
        values = [
            {"x": float(load), "value": slowdown(evidence, policy, workload, load).value, "line": policy}
            for policy in runs.POLICIES
            for load in runs.LOADS
        ]
        panels.append((workload, _lines(values, runs.POLICIES, "load", "p99.9 slowdown")))
    caption = "p99.9 of the slowdown over all requests on 14 cores, open-loop Poisson arrivals."
    return Figure("Slowdown against load", caption, tuple(panels), _key(runs.POLICIES), stacked=True)


def _key(names: Iterable[str]) -> tuple[tuple[str, str, str], ...]:
    return tuple(
        (name, shade, " ".join(map(str, marks))) for name, (shade, marks) in styles(tuple(names)).items()
    )


def _lines(
    values: list[dict[str, Any]], names: tuple[str, ...], x: str, y: str, *, step: bool = False
) -> dict[str, Any]:
    """Return lines with points, by name."""
    up = [each["value"] for each in values]
    found = styles(names)
    shades = alt.Scale(domain=list(names), range=[shade for shade, _ in found.values()])
    dashes = alt.Scale(domain=list(names), range=[marks for _, marks in found.values()])
    base = alt.Chart().encode(
        x=alt.X("x:Q", scale=alt.Scale(zero=False), axis=axis(x, [0.0, 1.0])),
        y=alt.Y("value:Q", scale=scale_of(up), axis=axis(y, up)),
        color=alt.Color("line:N", scale=shades, legend=None),
        strokeDash=alt.StrokeDash("line:N", scale=dashes, legend=None),
    )
    line = base.mark_line(strokeWidth=2, interpolate="step-after" if step else "linear")
    points = base.mark_point(filled=True, size=24).encode(tooltip=["line:N", "x:Q", "value:Q"])
    return specification(alt.layer(line, points), 220, values)


def _pays(found: tuple[Row, ...]) -> list[Figure]:
    """Return a heat map for each kind of arrivals, a panel a load."""
    made = []
    for bursts, title in ((False, "Poisson arrivals"), (True, "bursts")):
        chosen = [row for row in found if row.cell.bursts == bursts]
        if not chosen:
            continue
        most = max(abs(math.log10(row.gain("rr"))) for row in found) or 1.0
        panels = tuple(
            (f"load {load:g}", _map([row for row in chosen if row.cell.load == load], most))
            for load in sorted({row.cell.load for row in chosen})
        )
        caption = (
            f"How many times larger the p99.9 slowdown of rr is than that of {BOTH}: blue where "
            "separation with dynamic allocation gains, brown where it loses. In brackets: no clear "
            "difference at 95 %."
        )
        made.append(Figure(f"When does it pay? {title}", caption, panels, stacked=True))
    return made


def _map(found: list[Row], most: float) -> dict[str, Any]:
    values = [
        {
            "share": f"{row.cell.share:.1%}",
            "ratio": f"{row.cell.ratio}",
            "gain": round(math.log10(row.gain("rr")), 4),
            "shown": _shown(row),
            "saved": round(row.saved, 2),
        }
        for row in found
    ]
    shares, ratios = ([*dict.fromkeys(str(each[name]) for each in values)] for name in ("share", "ratio"))
    base = alt.Chart().encode(
        x=alt.X("share:N", sort=shares, axis=alt.Axis(title="long requests", labelAngle=0)),
        y=alt.Y("ratio:N", sort=ratios[::-1], axis=alt.Axis(title="long over short")),
    )
    scale = alt.Scale(domain=[-most, 0, most], range=["#e69f00", "#f4f1ea", "#56b4e9"])
    tiles = base.mark_rect().encode(
        color=alt.Color("gain:Q", scale=scale, legend=None),
        tooltip=["share:N", "ratio:N", "shown:N", "saved:Q"],
    )
    marks = base.mark_text(color="#111111").encode(text="shown:N")
    return specification(alt.layer(tiles, marks), 40 + 34 * len(ratios), values)


def _shown(row: Row) -> str:
    gain = number(row.gain("rr"), 2)
    return gain if row.verdict("rr") else f"({gain})"
