"""What all charts share: the colour and dash of each discipline, axes, and the form of a specification."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import altair as alt

if TYPE_CHECKING:
    from collections.abc import Sequence

Style = tuple[str, list[int]]
"""Colour and dash."""
_MOST_CURVES = 7
_RAMP = ("#a36a00", "#c8852b", "#b9675f", "#9a5a96", "#6f5fb8", "#3d72c4", "#1b8fd0")
OTHERS = ("#009e73", "#cc79a7", "#d55e00", "#7f7f7f", "#56b4e9", "#b8a800")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 4], [1, 3])
_LOG_ABOVE = 20.0  # a ratio of largest to smallest above which an axis is logarithmic


@dataclass(frozen=True, slots=True)
class Figure:
    """One chart with what is to be read from it; small multiples have several specifications."""

    title: str
    caption: str
    panels: tuple[tuple[str, dict[str, Any]], ...]
    key: tuple[tuple[str, str, str], ...] = ()
    """The curves' names, colours and dashes, as ``stroke-dasharray`` has them."""
    stacked: bool = False
    """Whether the panels stand below each other, as those that share an axis of time do."""


def alpha_of(discipline: str) -> float | None:
    """Return the alpha of a discipline of the alpha family: 0 for FIFO, infinite for shortest first."""
    name, _, rest = discipline.partition(":")
    if name in {"fifo", "fcfs"}:
        return 0.0
    if name in {"sf", "srpt"}:
        return math.inf
    if name != "alpha":
        return None
    try:
        return float(rest.split(",")[0].removeprefix("alpha="))
    except ValueError:
        return None


def family(disciplines: Sequence[str]) -> list[str]:
    """Return the disciplines of the plain alpha family, by alpha."""
    plain = [name for name in disciplines if alpha_of(name) is not None and "," not in name]
    return sorted(plain, key=lambda name: alpha_of(name) or 0.0)


def styles(disciplines: Sequence[str]) -> dict[str, Style]:
    """Return colour and dash of every discipline."""
    along = family(disciplines)
    ramp = [_RAMP[round(i * (len(_RAMP) - 1) / max(1, len(along) - 1))] for i in range(len(along))]
    found = {name: (shade, DASHES[0]) for name, shade in zip(along, ramp, strict=True)}
    others = [name for name in disciplines if name not in found]
    for i, name in enumerate(others):
        found[name] = (OTHERS[i % len(OTHERS)], DASHES[1 + i % (len(DASHES) - 1)])
    return found


def shown(disciplines: Sequence[str]) -> list[str]:
    """Return the disciplines whose curves are drawn: all, or the others and a spread of the alpha family."""
    if len(disciplines) <= _MOST_CURVES:
        return list(disciplines)
    along = family(disciplines)
    others = [name for name in disciplines if name not in along][: _MOST_CURVES - min(4, len(along))]
    room = min(_MOST_CURVES - len(others), len(along))
    spread = {along[round(i * (len(along) - 1) / max(1, room - 1))] for i in range(room)}
    return [name for name in disciplines if name in spread or name in others]


def left_out(disciplines: Sequence[str]) -> str:
    """Return a sentence that names the disciplines whose curves are not drawn."""
    drawn = shown(disciplines)
    missing = [name for name in disciplines if name not in drawn]
    return f" Not drawn, to keep the curves apart: {', '.join(missing)}." if missing else ""


def is_wide(values: list[float]) -> bool:
    """Return whether values are positive and span enough for a logarithmic axis."""
    return min(values) > 0 and max(values) > _LOG_ABOVE * min(values)


def scale_of(values: list[float]) -> alt.Scale:
    """Return a logarithmic scale for values that span much, else a linear one."""
    return (
        alt.Scale(type="log", nice=False, padding=10)
        if is_wide(values)
        else alt.Scale(zero=False, padding=12)
    )


def _ticks(values: list[float]) -> list[float]:
    """Return the ticks of a logarithmic axis: powers of ten, with 2 and 5 between where these are few."""
    first, last = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    steps = (1, 2, 5) if last - first <= 3 else (1,)
    return [float(f"{step}e{power}") for power in range(first, last + 1) for step in steps]


_LABEL = "abs(datum.value) >= 1e7 || (datum.value != 0 && abs(datum.value) < 1e-4)"


def axis(title: str, values: list[float]) -> alt.Axis:
    """Return an axis for ``values`` whose labels are plain decimals where these are short."""
    label = f"{_LABEL} ? format(datum.value, '.0e') : format(datum.value, ',~r')"
    ticks = {"values": _ticks(values)} if is_wide(values) else {"tickCount": 6}
    return alt.Axis(title=title, labelExpr=label, labelOverlap="greedy", **ticks)


def log_scale(values: list[float]) -> alt.Scale:
    """Return a logarithmic scale from the smallest to the largest value."""
    return alt.Scale(type="log", nice=False, domain=[min(values), max(values)])


def specification(
    chart: alt.Chart | alt.LayerChart | alt.FacetChart, height: int, values: list[dict[str, Any]]
) -> dict[str, Any]:
    """Return the specification of a chart with its data; the page sets width, theme and schema."""
    whole = chart.properties(width="container", height=height).to_dict(validate=False)
    spec = {key: part for key, part in whole.items() if key not in {"config", "$schema", "datasets"}}
    for layer in spec.get("layer", ()):
        del layer["data"]  # an empty set stands there, which would hide the chart's own
    return {**spec, "data": {"values": values}}
