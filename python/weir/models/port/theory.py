"""The simulation beside its closed forms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from weir.results.style import DASHES, OTHERS, Figure, specification, styles

if TYPE_CHECKING:
    from weir.models.port.result import Estimate, PortResult

__all__ = ["beside_theory"]


def beside_theory(result: PortResult) -> Figure | None:
    """Return the ratios to the closed forms, one panel a discipline, or None where there are none."""
    points = []
    for row in result.theory:
        found = result.estimate(row.discipline, class_=row.class_, metric=row.metric)
        if row.value and found is not None and found.value is not None and row.metric == result.metric:
            points.append(_ratio_point(row.discipline or "all", row.class_, row.value, found))
    if not points:
        return None
    names = [name for name in result.disciplines if any(point["discipline"] == name for point in points)]
    caption = (
        "The simulated mean over its closed form, minus one, with the 95 % interval of the simulation. Where "
        "the interval crosses zero the two agree; of many intervals one in twenty may miss it."
    )
    panels = [(name, _ratio_spec(result, [p for p in points if p["discipline"] == name])) for name in names]
    return Figure("Simulation beside theory", caption, tuple(panels))


def _ratio_point(name: str, class_: str, exact: float, found: Estimate) -> dict[str, Any]:
    value = found.value or 0.0
    low, high = (
        (found.low, found.high) if found.low is not None and found.high is not None else (value, value)
    )
    ratios = {"ratio": value / exact - 1, "low": low / exact - 1, "high": high / exact - 1}
    return {
        "discipline": name,
        "class": class_,
        **{key: float(f"{each:.4g}") for key, each in ratios.items()},
    }


def _ratio_spec(result: PortResult, points: list[dict[str, Any]]) -> dict[str, Any]:
    order = [each.name for each in result.classes]
    reach = max(max(abs(point["low"]), abs(point["high"])) for point in points) * 1.15 or 0.01
    x = alt.X(
        "low:Q",
        scale=alt.Scale(domain=[-reach, reach], nice=True),
        axis=alt.Axis(title=None, format="+.2~%", tickCount=5),
    )
    base = alt.Chart().encode(y=alt.Y("class:N", sort=order, axis=alt.Axis(title=None)))
    name = points[0]["discipline"]
    colour = styles(result).get(name, (OTHERS[0], DASHES[0]))[0]
    zero = alt.Chart().mark_rule(strokeDash=[3, 3], color="#888888").encode(x=alt.datum(0))
    bars = base.mark_rule(strokeWidth=2.5, color=colour).encode(x=x, x2="high:Q")
    tooltip = ["class:N", *(alt.Tooltip(f"{key}:Q", format="+.3~%") for key in ("ratio", "low", "high"))]
    dots = base.mark_point(filled=True, size=60, opacity=1, color=colour).encode(x="ratio:Q", tooltip=tooltip)
    return specification(alt.layer(zero, bars, dots), max(60, 24 * len(points)), points)
