"""The picture that answers what a scenario declares: each need as a figure against its bound.

A panel is a need, a bar a discipline, with the outcome next to it; a dashed line stands at the bound.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import altair as alt

from weir.results import marks
from weir.results.judging import MET, MISSED
from weir.results.needs import bound, figure, of_shares
from weir.results.style import MUTED, specification
from weir.results.tables import PER_CENT, UNSETTLED
from weir.results.verdict import capital
from weir.text import number, scale_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weir.results.marks import Lines, Point
    from weir.results.result import Result
    from weir.results.rows import Judgement, Need
    from weir.results.style import Figure
    from weir.text import Scale

_OUTCOMES = {MET: "met", MISSED: "missed"}
_ROOM = 1.5
"""How far the axis goes beyond the longest bar, for the outcome next to it."""


def figures(result: Result) -> list[Figure | None]:
    """Return one figure with a panel for each need; nothing where there are none."""
    lines = marks.by_discipline(result.labels)
    panels = []
    for place, need in enumerate(result.needs):
        rows = lines.drawn(row for row in result.judgements if row.need == place and row.value is not None)
        scale = _scale(need, rows)
        panels.append((_title(need), [_point(result, row, need, scale) for row in rows]))
    caption = (
        "Each figure with its 95 % interval, where it has one, against its bound, the dashed line"
        + (f"; {UNSETTLED} where the run is too short to tell" if _open(result) else "")
        + f".{lines.missing}"
    )
    title = "The need" if len(result.needs) == 1 else "The needs"
    made = marks.panelled(title, caption, panels, lambda points, _: _chart(points, lines))
    return [made and replace(made, leads=True)]


def _title(need: Need) -> str:
    words = f"{figure(need).removeprefix('the ')}, {bound(need)}"
    return words if need.statistic.startswith("p") else capital(words)


def _open(result: Result) -> bool:
    return any(row.state not in _OUTCOMES for row in result.judgements)


def _scale(need: Need, rows: Sequence[Judgement]) -> Scale:
    if of_shares(need):
        return PER_CENT
    return scale_for([need.bound, *(row.value for row in rows)], need.unit)


def _point(result: Result, row: Judgement, need: Need, scale: Scale) -> Point:
    """Return a bar, its bound, and its value with the outcome in words, beyond bar and bound."""
    value = row.value or 0.0
    low, high = (value if end is None else end for end in (row.low, row.high))
    ends = {
        "value": value,
        "low": max(0.0, low),
        "high": high,
        "bound": need.bound,
        "beyond": max(high, need.bound),
    }
    return {
        "discipline": result.labels[row.discipline],
        **{name: marks.digits(end / scale.factor) for name, end in ends.items()},
        "unit": scale.header.strip("()"),
        "outcome": f"{number(value / scale.factor)} {_OUTCOMES.get(row.state, UNSETTLED)}",
    }


def _chart(points: list[Point], lines: Lines) -> dict[str, Any]:
    names = [name for name in lines.names if any(point["discipline"] == name for point in points)]
    most = max(point["beyond"] for point in points)
    scale = alt.Scale(domain=[0, _ROOM * most or 1.0], nice=False)
    title = points[0]["unit"] or None
    x = alt.X("value:Q", scale=scale, axis=alt.Axis(title=title, tickCount=5))
    base = alt.Chart().encode(y=alt.Y("discipline:N", sort=names, axis=alt.Axis(title=None, labelLimit=130)))
    bars = base.mark_bar(opacity=0.85).encode(
        x=x, color=lines.colour, tooltip=["discipline:N", *marks.values_told(), "outcome:N"]
    )
    told = base.mark_text(align="left", dx=5, fontSize=11, color=MUTED).encode(
        x=alt.X("beyond:Q", scale=scale), text="outcome:N"
    )
    at = alt.Chart().mark_rule(strokeDash=[5, 3], strokeWidth=1.5, color=MUTED)
    rule = at.encode(x=alt.X("min(bound):Q", scale=scale))
    layers = [bars, marks.intervals(base, alt.X("low:Q", scale=scale)), rule, told]
    return specification(alt.layer(*layers), max(60, 24 * len(names)), points)
