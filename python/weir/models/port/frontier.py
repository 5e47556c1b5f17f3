"""The trade-off of the mean against the tail, with the line of alpha through it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import altair as alt

from weir.results.marks import by_spec, values_told
from weir.results.style import Figure, axis, family, is_wide, scale_of, specification
from weir.text import scale_for

if TYPE_CHECKING:
    from weir.models.port.result import PortResult
    from weir.text import Scale


def frontier(result: PortResult) -> Figure | None:
    """Return the trade-offs with the 99th percentile and the maximum, or None where nothing is traded."""
    panels = [_panel(result, statistic, name) for statistic, name in _TAILS.items()]
    drawn = tuple(panel for panel in panels if panel is not None)
    if not drawn:
        return None
    caption = (
        "Each discipline by its mean and its tail: left and down is better. The line follows alpha from FIFO "
        "(0) to shortest first (infinite); a point to the right of and above another is beaten by it in both."
    )
    return Figure("Trade-off: mean against tail", caption, drawn)


_TAILS = {"p99": "p99", "max": "maximum"}


def _panel(result: PortResult, statistic: str, tail: str) -> tuple[str, dict[str, Any]] | None:
    points = _frontier_points(result, statistic)
    if len(points) < 2:
        return None
    mean_scale = scale_for((point["mean"] for point in points), result.time_unit)
    tail_scale = scale_for((point["tail"] for point in points), result.time_unit)
    for point in points:
        point["mean"] /= mean_scale.factor
        point["tail"] /= tail_scale.factor
    return f"mean against {tail}", _frontier_spec(result, points, (mean_scale, tail_scale), tail)


def _frontier_points(result: PortResult, statistic: str) -> list[dict[str, Any]]:
    places = {name: place for place, name in enumerate(family(result.disciplines))}
    points = []
    for name in result.disciplines:
        mean, tail = result.estimate(name), result.estimate(name, statistic=statistic)
        if mean is None or tail is None or mean.value is None or tail.value is None:
            continue
        point = {"discipline": name, "mean": mean.value, "tail": tail.value, "family": name in places}
        points.append({**point, "order": places.get(name, -1)})
    return points


def _frontier_spec(
    result: PortResult, points: list[dict[str, Any]], scales: tuple[Scale, Scale], tail: str
) -> dict[str, Any]:
    names = [point["discipline"] for point in points]
    means, tails = ([point[key] for point in points] for key in ("mean", "tail"))
    base = alt.Chart().encode(
        x=alt.X(
            "mean:Q", scale=scale_of(means), axis=axis(f"mean {result.metric} {scales[0].header}", means)
        ),
        y=alt.Y("tail:Q", scale=scale_of(tails), axis=axis(f"{tail} {scales[1].header}", tails)),
    )
    line = (
        base.transform_filter("datum.family")
        .mark_line(strokeWidth=1.5, opacity=0.55, color="#888888")
        .encode(order="order:Q")
    )
    shape = alt.Shape(
        "family:N", scale=alt.Scale(domain=[True, False], range=["circle", "diamond"]), legend=None
    )
    tooltip = ["discipline:N", *values_told("mean"), alt.Tooltip("tail:Q", format=".4~g", title=tail)]
    dots = base.mark_point(filled=True, size=95, opacity=1).encode(
        color=by_spec(result.disciplines, names).colour, shape=shape, tooltip=tooltip
    )
    layers = [line, dots]
    for side, (dx, dy, align) in _SIDES.items():
        mark = base.transform_filter(f"datum.side == '{side}'").mark_text(
            dx=dx, dy=dy, align=align, fontSize=11.5
        )
        layers.append(mark.encode(text="label:N"))
    return specification(alt.layer(*layers), 380, _with_label_sides(points))


Align = Literal["left", "center", "right"]

_SIDES: dict[str, tuple[int, int, Align]] = {
    "right": (9, 0, "left"),
    "left": (-9, 0, "right"),
    "above": (0, -13, "center"),
    "below": (0, 14, "center"),
    "right above": (6, -11, "left"),
    "left below": (-6, 12, "right"),
    "right below": (6, 12, "left"),
    "left above": (-6, -11, "right"),
}
_NARROW = (330.0, 320.0)  # pixels of the drawing on a telephone, for which labels are placed
_LETTER = (6.6, 12.0)  # pixels of a letter

Box = tuple[float, float, float, float]


def _short(discipline: str) -> str:
    """Return the label of a point: an alpha by its value alone."""
    return discipline.replace("alpha:", "α ", 1) if discipline.startswith("alpha:") else discipline


def _with_label_sides(points: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the points with a label and a side for it, chosen in turn so that few boxes overlap."""
    places = _places(points)
    taken: list[Box] = [(x - 6, y - 6, x + 6, y + 6) for x, y in places]
    sided = []
    for point, place in sorted(zip(points, places, strict=True), key=lambda pair: pair[1]):
        label = _short(point["discipline"])
        boxes = {side: _label_box(place, label, side) for side in _SIDES}
        side = min(_SIDES, key=lambda side: _crowding(boxes[side], taken))
        taken.append(boxes[side])
        sided.append({**point, "label": label, "side": side})
    return sided


def _places(points: list[dict[str, Any]]) -> list[tuple[float, float]]:
    """Return where the points stand on a narrow screen, in pixels to the right and down."""
    shares = []
    for key in ("mean", "tail"):
        values = [point[key] for point in points]
        seen = [math.log(value) for value in values] if is_wide(values) else values
        span = (max(seen) - min(seen)) or 1.0
        shares.append([(value - min(seen)) / span for value in seen])
    return [(x * _NARROW[0], (1 - y) * _NARROW[1]) for x, y in zip(*shares, strict=True)]


def _label_box(place: tuple[float, float], label: str, side: str) -> Box:
    dx, dy, align = _SIDES[side]
    width, height = _LETTER[0] * len(label), _LETTER[1]
    left = place[0] + dx - {"left": 0.0, "center": width / 2, "right": width}[align]
    top = place[1] + dy - height / 2
    return left, top, left + width, top + height


def _crowding(box: Box, taken: list[Box]) -> float:
    """Return the area of a box that others, or the edge of the chart, take away."""
    shared = sum(_overlap(box, other) for other in taken)
    outside = max(0.0, -10 - box[0]) + max(0.0, box[2] - _NARROW[0] - 10)
    return shared + outside * _LETTER[1]


def _overlap(a: Box, b: Box) -> float:
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    return max(0.0, width) * max(0.0, height)
