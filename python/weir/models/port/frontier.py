"""The trade-off of the mean against the tail, with the line of alpha through it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import altair as alt

from weir.results.marks import by_spec, values_told
from weir.results.style import MUTED, Figure, axis, family, is_wide, scale_of, specification
from weir.text import scale_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weir.models.port.result import PortResult
    from weir.text import Scale


def frontier(result: PortResult) -> Figure | None:
    """Return the trade-offs with the 99th percentile and the maximum, or None where nothing is traded."""
    panels = [_panel(result, statistic, name) for statistic, name in _TAILS.items()]
    drawn = tuple(panel for panel in panels if panel is not None)
    if not drawn:
        return None
    caption = (
        "Each discipline by its mean and its tail: left and down is better; bars are 95 % intervals. The "
        "line follows alpha from FIFO (0) to shortest first (infinite); a point to the right of and above "
        "another is beaten by it in both."
    )
    return Figure("Trade-off: mean against tail", caption, drawn, leads=True)


_TAILS = {"p99": "p99", "max": "maximum"}
_ENDS = {"mean": ("mean", "mean_low", "mean_high"), "tail": ("tail", "tail_low", "tail_high")}
"""The coordinates of a point, each with the ends of its interval."""


def _panel(result: PortResult, statistic: str, tail: str) -> tuple[str, dict[str, Any]] | None:
    points = _frontier_points(result, statistic)
    if len(points) < 2:
        return None
    mean_scale = scale_for((point["mean"] for point in points), result.time_unit)
    tail_scale = scale_for((point["tail"] for point in points), result.time_unit)
    for point in points:
        for key in point.keys() & _ENDS["mean"]:
            point[key] /= mean_scale.factor
        for key in point.keys() & _ENDS["tail"]:
            point[key] /= tail_scale.factor
    return f"mean against {tail}", _frontier_spec(result, points, (mean_scale, tail_scale), tail)


def _frontier_points(result: PortResult, statistic: str) -> list[dict[str, Any]]:
    places = {name: place for place, name in enumerate(family(result.disciplines))}
    points = []
    for name in result.disciplines:
        mean, tail = result.estimate(name), result.estimate(name, statistic=statistic)
        if mean is None or tail is None or mean.value is None or tail.value is None:
            continue
        point = {"discipline": name, "mean": mean.value, "tail": tail.value, "family": name in places}
        for (_, low, high), row in zip(_ENDS.values(), (mean, tail), strict=True):
            if row.low is not None and row.high is not None:
                point |= {low: row.low, high: row.high}
        points.append({**point, "order": places.get(name, -1)})
    return points


def _frontier_spec(
    result: PortResult, points: list[dict[str, Any]], scales: tuple[Scale, Scale], tail: str
) -> dict[str, Any]:
    names = [point["discipline"] for point in points]
    means, tails = _extents(points)
    lines = by_spec(result.disciplines, names)
    x = alt.X("mean:Q", scale=scale_of(means), axis=axis(f"mean {result.metric} {scales[0].header}", means))
    y = alt.Y("tail:Q", scale=scale_of(tails), axis=axis(f"{tail} {scales[1].header}", tails))
    base = alt.Chart().encode(x=x, y=y)
    line = (
        base.transform_filter("datum.family")
        .mark_line(strokeWidth=1.5, opacity=0.55, color=MUTED)
        .encode(order="order:Q")
    )
    tooltip = ["discipline:N", *values_told("mean"), alt.Tooltip("tail:Q", format=".4~g", title=tail)]
    dots = base.mark_point(filled=True, size=95, opacity=1).encode(
        color=lines.colour, shape=lines.shape, tooltip=tooltip
    )
    spans = base.mark_rule(strokeWidth=1.3, opacity=0.75).encode(color=lines.colour)
    layers = [line]
    if any("mean_low" in point for point in points):
        known = spans.transform_filter("isValid(datum.mean_low)")
        layers.append(known.encode(x=alt.X("mean_low:Q", scale=scale_of(means)), x2="mean_high:Q"))
    if any("tail_low" in point for point in points):
        known = spans.transform_filter("isValid(datum.tail_low)")
        layers.append(known.encode(y=alt.Y("tail_low:Q", scale=scale_of(tails)), y2="tail_high:Q"))
    layers.append(dots)
    values = _with_label_sides(points)
    sides = {point["side"] for point in values}
    for side, (dx, dy, align) in _SIDES.items():
        if side not in sides:  # a layer without a mark has no extent, and is warned of
            continue
        mark = base.transform_filter(f"datum.side == '{side}'").mark_text(
            dx=dx, dy=dy, align=align, fontSize=11.5
        )
        layers.append(mark.encode(text="label:N"))
    return specification(alt.layer(*layers), 380, values)


def _extents(points: list[dict[str, Any]]) -> Iterator[list[float]]:
    """Yield the means and the tails of points, the ends of their intervals among them."""
    for keys in _ENDS.values():
        yield [point[key] for point in points for key in keys if key in point]


Align = Literal["left", "center", "right"]

_SIDES: dict[str, tuple[int, int, Align]] = {
    "right above": (6, -11, "left"),
    "left below": (-6, 12, "right"),
    "right below": (6, 12, "left"),
    "left above": (-6, -11, "right"),
    "right": (9, 0, "left"),
    "left": (-9, 0, "right"),
    "above": (0, -13, "center"),
    "below": (0, 14, "center"),
}
"""Where a label cannot be combined with its point; diagonally it is clear of the intervals."""
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
    taken += [box for point in points for box in _span_boxes(points, point)]
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
    return [_place(points, point["mean"], point["tail"]) for point in points]


def _place(points: list[dict[str, Any]], *values: float) -> tuple[float, float]:
    """Return where a mean and a tail stand, of axes that hold all points with their intervals."""
    shares = []
    for value, extent in zip(values, _extents(points), strict=True):
        wide = is_wide(extent)
        at, low, high = (math.log(each) if wide else each for each in (value, min(extent), max(extent)))
        shares.append((at - low) / ((high - low) or 1.0))
    return shares[0] * _NARROW[0], (1 - shares[1]) * _NARROW[1]


def _span_boxes(points: list[dict[str, Any]], point: dict[str, Any]) -> Iterator[Box]:
    """Yield the boxes of the intervals of a point: two thin lines that cross in it."""
    if "mean_low" in point:
        ends = [_place(points, point[end], point["tail"]) for end in ("mean_low", "mean_high")]
        yield ends[0][0], ends[0][1] - 1, ends[1][0], ends[0][1] + 1
    if "tail_low" in point:
        ends = [_place(points, point["mean"], point[end]) for end in ("tail_high", "tail_low")]
        yield ends[0][0] - 1, ends[0][1], ends[0][0] + 1, ends[1][1]


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
