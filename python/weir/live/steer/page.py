"""The study of steering as one HTML file: the verdict first, then figures, orderings, windows and costs."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import altair as alt

from weir.live.steer import text
from weir.live.steer.plan import LEVELS, POLICIES
from weir.reproduce.engine.page import headline
from weir.results.page import charts_of, details, drawn, long_section, note, page, section, table
from weir.results.style import DASHES, PALETTE, Figure, axis, scale_of, specification
from weir.text import plural

if TYPE_CHECKING:
    from weir.live.figures import Value
    from weir.live.steer.study import Cell, Study

__all__ = ["figures", "html"]

_PANELS = (("unimodal", "short"), ("bimodal", "short"), ("bimodal", "long"))
_HEIGHT = 220
_SOURCES = {
    "report_cores": ("7 cores of the report, simulated", "us", 1e6),
    "simulated": ("This machine, simulated", "ms", 1e3),
    "measured": ("This machine, measured", "ms", 1e3),
    "round_trip": ("Round trips, measured", "ms", 1e3),
}


def html(study: Study) -> str:
    """Return the report."""
    made = figures(study)
    facts = (
        plural(len(study.plan.processors), "processor"),
        f"{LEVELS} rates of {study.plan.window / 1e9:.3g} s",
        plural(study.repeat, "repetition"),
        plural(len(study.runs), "run"),
        f"{sum(each.ledger.sent for each in study.runs):,} requests",
    )
    verdict = " ".join(f"{line}." for line in study.verdicts())
    sections = [
        headline("weir live steer", text.TITLE, verdict, facts),
        *(section(figure.title, drawn(figure, index)) for index, figure in enumerate(made)),
        long_section("Largest delays", table(text.peak_columns(study.peaks)) + note(_PEAKS)),
        long_section("Largest round trips", table(text.trip_columns(study.peaks)) + note(_TRIPS)),
        long_section("The report's orderings", _orderings(study)),
        long_section("Processors in use, and requests dropped", table(text.use_columns(study))),
        long_section("Means at each rate", _windows(study)),
        long_section("What a request takes", _costs(study)),
        long_section("What became of the requests", table(text.ledger_columns(study)) + note(_LEDGER)),
        long_section("How the measurement differs", _list(study.departures())),
        long_section("What was run", note(f"{text.setting(study)}.") + _specs(study)),
    ]
    return page(text.TITLE, "".join(sections), charts_of(made))


_PEAKS = (
    "The largest mean of a window, as the report's counters have it, with 95 % intervals: over seeds where "
    "it was simulated, over repetitions where it was measured. 7 cores: simulated with the report's cores "
    "and costs."
)
_TRIPS = (
    "The largest mean at a rate, by the client; 95 % intervals over repetitions. The report's round trips "
    "are not explained by its delays: they have a stage outside the stamps, which simulations do not have."
)
_COSTS = (
    "Requests of each size came faster than they could be served. The time that the serving threads ran "
    "is a fixed part for each request and a part for each unit: t = M B + n s, the method of the report "
    "on epoch "
    "scheduling. The simulation has that; rates are set by the time that passed, which has in it what the "
    "client and the kernel took of the same processors."
)
_LEDGER = (
    "Unseen requests were sent and came to no queue; what is not back was served, and did not come to the "
    "client. Lateness is that of 99 of 100 requests; all requests of a burst are due at its begin."
)


def _costs(study: Study) -> str:
    return note(f"{text.costs(study)}.") + table(text.cost_columns(study)) + note(_COSTS)


def _orderings(study: Study) -> str:
    words = note(
        "Of the largest windowed means; all of both classes is the worse of them. holds?, fails?: the 95 % "
        "interval of the difference does not say so. !!: the simulation of this machine has it, and what was "
        "measured is clearly against it."
    )
    return table(text.ordering_columns(study)) + words + _list(text.reasons(study))


def _windows(study: Study) -> str:
    return "".join(
        details(f"{case.policy}, {case.traffic}, {name}", table(text.window_columns(study.rates(case, name))))
        for case, name in study.subjects
    )


def _list(lines: tuple[str, ...]) -> str:
    listed = "".join(f"<li>{escape(each)}</li>" for each in lines)
    return f"<ul>{listed}</ul>\n" if lines else ""


def _specs(study: Study) -> str:
    lines = "\n".join(f"{policy:9} {study.plan.spec(policy)}" for policy in study.plan.policies())
    return f"<pre><code>{escape(lines)}</code></pre>\n"


# Charts.


def figures(study: Study) -> list[Figure]:
    """Return one figure for each source: the mean delay at each rate, a panel a class, a line a policy."""
    cells = study.cells
    return [made for source in _SOURCES if (made := _figure(cells, source)) is not None]


def _figure(cells: tuple[Cell, ...], source: str) -> Figure | None:
    title, unit, factor = _SOURCES[source]
    panels = []
    for traffic, name in _PANELS:
        points = [
            _point(cell, getattr(cell, source), factor)
            for cell in cells
            if (cell.traffic, cell.class_) == (traffic, name) and getattr(cell, source).value is not None
        ]
        if points:
            what = "round trip" if source == "round_trip" else "delay"
            panels.append((f"{traffic}, {name}", _chart(points, f"mean {what} ({unit})")))
    if not panels:
        return None
    caption = "Means at each rate with 95 % intervals, on a logarithmic axis; the rate doubles each window."
    return Figure(title, caption, tuple(panels), _KEY)


_KEY = tuple(
    (policy, shade, " ".join(map(str, marks)))
    for policy, shade, marks in zip(POLICIES, PALETTE, DASHES, strict=False)
)


def _point(cell: Cell, value: Value, factor: float) -> dict[str, Any]:
    middle = value.value or 0.0
    low, high = (middle if end is None else end for end in (value.low, value.high))
    return {
        "line": cell.policy,
        "window": cell.level + 1,
        "rate": round(cell.rate),
        "value": _digits(middle * factor),
        "low": _digits(max(low, 0.5 * middle) * factor),
        "high": _digits(high * factor),
    }


def _digits(value: float) -> float:
    return float(f"{value:.4g}")


def _chart(points: list[dict[str, Any]], title: str) -> dict[str, Any]:
    up = [point[key] for point in points for key in ("value", "low", "high") if point[key] > 0]
    shades = alt.Scale(domain=list(POLICIES), range=list(PALETTE[: len(POLICIES)]))
    dashes = alt.Scale(domain=list(POLICIES), range=list(DASHES[: len(POLICIES)]))
    x = alt.X(
        "window:Q",
        scale=alt.Scale(domain=[0.8, LEVELS + 0.2]),
        axis=alt.Axis(title="window", tickCount=LEVELS),
    )
    colour = alt.Color("line:N", scale=shades, legend=None)
    scale = scale_of(up)
    base = alt.Chart().encode(x=x, color=colour)
    lines = base.mark_line(strokeWidth=2).encode(
        y=alt.Y("value:Q", scale=scale, axis=axis(title, up)),
        strokeDash=alt.StrokeDash("line:N", scale=dashes, legend=None),
    )
    marks = base.mark_point(filled=True, size=24).encode(
        y=alt.Y("value:Q", scale=scale),
        tooltip=["line:N", "window:Q", "rate:Q", "value:Q", "low:Q", "high:Q"],
    )
    spread = base.mark_rule(opacity=0.5).encode(y=alt.Y("low:Q", scale=scale), y2="high:Q")
    return specification(alt.layer(lines, marks, spread), _HEIGHT, points)
