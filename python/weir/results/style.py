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
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#e69f00", "#cc79a7", "#56b4e9", "#000000", "#9a4dff")
"""Eight colours that the colour-blind can tell apart (Okabe and Ito 2008), with a violet for their yellow.

Yellow lines are not seen on white. Black is the ink of the page: light in the dark theme (``report.css``).
"""
DASHES = (
    [1, 0],
    [6, 3],
    [2, 2],
    [8, 3, 2, 3],
    [12, 3],
    [1, 4],
    [10, 3, 2, 3, 2, 3],
    [4, 2, 1, 2],
)
"""Eight lines that are distinguishable without colour, as on paper."""
SHAPES = (
    "circle",
    "square",
    "triangle-up",
    "diamond",
    "cross",
    "triangle-down",
    "triangle-right",
    "triangle-left",
)
"""Eight points that are distinguishable without colour."""
MUTED = "#888888"
"""What is drawn besides the data: intervals of bars, lines at zero."""
_MOST_CURVES = len(PALETTE)
_FEW_TICKS = 2
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
    leads: bool = False
    """Whether it stands before the tables: the picture that answers first."""
    folded: bool = False
    """Whether only its title is shown until it is asked for."""


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
    """Return colour and dash of every discipline, eight of which are alike in neither."""
    count = len(PALETTE)
    return {
        name: (PALETTE[i % count], DASHES[(i + i // count) % len(DASHES)])
        for i, name in enumerate(disciplines)
    }


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
    """Return a scale that can show ``values``, the ends of intervals among them.

    It is logarithmic where they span much above zero; where some reach zero or below it, logarithmic on
    either side of zero and linear about it; else linear.
    """
    if is_wide(values):
        return alt.Scale(type="log", nice=False, padding=10)
    if knee := _knee(values):
        return alt.Scale(type="symlog", constant=knee, nice=False, padding=10)
    if min(values) == max(values):
        return alt.Scale(domain=[min(0.0, *values), max(0.0, *values) or 1.0], padding=12)
    return alt.Scale(zero=False, padding=12)


def _knee(values: list[float]) -> float | None:
    """Return where a scale over zero turns from linear to logarithmic; None where it is linear throughout."""
    positive = sorted(value for value in values if value > 0)
    if not positive or min(values) > 0:
        return None
    # A few values near zero, as ends of intervals, are not what is to be read.
    low = positive[len(positive) // 10]
    return low if positive[-1] > _LOG_ABOVE * low else None


def _ticks_over_zero(values: list[float], knee: float) -> list[float]:
    """Return zero and the powers of ten above the knee, on the sides of zero that there are."""
    first, last = math.ceil(math.log10(knee)), math.floor(math.log10(max(map(abs, values))))
    powers = [float(f"1e{power}") for power in range(first, last + 1)]
    below = [-power for power in reversed(powers) if power <= -min(values)]
    return [*below, 0.0, *(power for power in powers if power <= max(values))]


def _ticks(values: list[float]) -> list[float]:
    """Return the ticks of a logarithmic axis: powers of ten, with 2 and 5 between where these are few."""
    first, last = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    steps = (1, 2, 5) if last - first <= 3 else (1,)
    return [float(f"{step}e{power}") for power in range(first, last + 1) for step in steps]


_LABEL = "abs(datum.value) >= 1e7 || (datum.value != 0 && abs(datum.value) < 1e-4)"


def axis(title: str, values: list[float]) -> alt.Axis:
    """Return an axis for ``values`` whose labels are plain decimals where these are short."""
    label = f"{_LABEL} ? format(datum.value, '.0e') : format(datum.value, ',~r')"
    knee = None if is_wide(values) else _knee(values)
    ticks: dict[str, Any] = {"tickCount": 6}
    if knee is not None:
        ticks = {"values": _ticks_over_zero(values, knee)}
    elif is_wide(values):
        ticks = {"values": _ticks(values)}
    return alt.Axis(title=title, labelExpr=label, labelOverlap="greedy", labelSeparation=4, **ticks)


def share_axis(title: str, shares: list[float]) -> alt.Axis:
    """Return a logarithmic axis of shares whose ticks are per cent: 0.1 %, and not 1e-3."""
    ticks = [tick for tick in _ticks(shares) if min(shares) <= tick <= 1]
    powers = [tick for tick in ticks if math.log10(tick).is_integer()]
    values = powers if len(powers) > _FEW_TICKS else ticks
    label = "format(datum.value * 100, ',.4~r') + ' %'"
    return alt.Axis(title=title, labelExpr=label, values=values, labelOverlap="greedy")


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
