"""Charts of a result, as Vega-Lite specifications that a report embeds.

Colour carries meaning and is the same in every chart: the alpha family, from FIFO (alpha 0) to shortest first
(alpha infinite), runs along one ramp by alpha; everything else takes a colour of the Okabe-Ito palette and a
shape or dash of its own, so that no reader depends on hue. A chart with more curves than can be told apart
draws a spread of them and says which are left out. Widths follow the page; the page sets light or dark.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import altair as alt

from weir.text import Scale, scale_for
from weir.verdict import tail_statistic

if TYPE_CHECKING:
    from weir.result import Distribution, Estimate, Result

__all__ = ["Figure", "alpha_of", "figures"]

_MOST_CURVES = 7
_MOST_POINTS = 160
_RAMP = ("#a36a00", "#c8852b", "#b9675f", "#9a5a96", "#6f5fb8", "#3d72c4", "#1b8fd0")
_OTHERS = ("#009e73", "#cc79a7", "#d55e00", "#7f7f7f", "#56b4e9", "#b8a800")
_DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 4], [1, 3])
_LOG_ABOVE = 20.0  # a ratio of largest to smallest above which an axis is logarithmic
_CLASSES_SHOWN = 8
_FLAT = (
    0.95  # a curve is drawn from where one item in twenty is out: before, nothing can be seen on a log axis
)


@dataclass(frozen=True, slots=True)
class Figure:
    """One chart with what is to be read from it; small multiples have several specifications."""

    title: str
    caption: str
    panels: tuple[tuple[str, dict[str, Any]], ...]
    key: tuple[tuple[str, str, str], ...] = ()
    """The curves' names, colours and dashes, as ``stroke-dasharray`` has them."""


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


def _family(result: Result) -> list[str]:
    """Return the disciplines of the plain alpha family, by alpha."""
    plain = [name for name in result.disciplines if alpha_of(name) is not None and "," not in name]
    return sorted(plain, key=lambda name: alpha_of(name) or 0.0)


def _styles(result: Result) -> dict[str, tuple[str, list[int]]]:
    """Return colour and dash of every discipline."""
    family = _family(result)
    ramp = [_RAMP[round(i * (len(_RAMP) - 1) / max(1, len(family) - 1))] for i in range(len(family))]
    styles = {name: (colour, _DASHES[0]) for name, colour in zip(family, ramp, strict=True)}
    others = [name for name in result.disciplines if name not in styles]
    for i, name in enumerate(others):
        styles[name] = (_OTHERS[i % len(_OTHERS)], _DASHES[1 + i % (len(_DASHES) - 1)])
    return styles


def _shown(result: Result) -> list[str]:
    """Return the disciplines whose curves are drawn: all, or the others and a spread of the alpha family."""
    names = list(result.disciplines)
    if len(names) <= _MOST_CURVES:
        return names
    family = _family(result)
    others = [name for name in names if name not in family][: _MOST_CURVES - min(4, len(family))]
    room = min(_MOST_CURVES - len(others), len(family))
    spread = {family[round(i * (len(family) - 1) / max(1, room - 1))] for i in range(room)}
    return [name for name in names if name in spread or name in others]


def _left_out(result: Result) -> str:
    missing = [name for name in result.disciplines if name not in _shown(result)]
    return f" Not drawn, to keep the curves apart: {', '.join(missing)}." if missing else ""


def _colour(result: Result, names: list[str]) -> alt.Color:
    styles = _styles(result)
    scale = alt.Scale(domain=names, range=[styles[name][0] for name in names])
    return alt.Color("discipline:N", scale=scale, sort=names, legend=None)


def _dash(result: Result, names: list[str]) -> alt.StrokeDash:
    styles = _styles(result)
    scale = alt.Scale(domain=names, range=[styles[name][1] for name in names])
    return alt.StrokeDash("discipline:N", scale=scale, sort=names, legend=None)


def _key(result: Result, names: list[str]) -> tuple[tuple[str, str, str], ...]:
    """Return the key of a figure, which the page draws so that it wraps with the screen."""
    styles = _styles(result)
    return tuple((name, styles[name][0], " ".join(map(str, styles[name][1]))) for name in names)


def _is_wide(values: list[float]) -> bool:
    """Return whether values are positive and span enough for a logarithmic axis."""
    return min(values) > 0 and max(values) > _LOG_ABOVE * min(values)


def _scale_of(values: list[float]) -> alt.Scale:
    return (
        alt.Scale(type="log", nice=False, padding=10)
        if _is_wide(values)
        else alt.Scale(zero=False, padding=12)
    )


def _ticks(values: list[float]) -> list[float]:
    """Return the ticks of a logarithmic axis: powers of ten, with 2 and 5 between where these are few."""
    first, last = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    steps = (1, 2, 5) if last - first <= 3 else (1,)
    return [float(f"{step}e{power}") for power in range(first, last + 1) for step in steps]


_LABEL = "abs(datum.value) >= 1e6 || (datum.value != 0 && abs(datum.value) < 1e-4)"


def _axis(title: str, values: list[float]) -> alt.Axis:
    """Return an axis for ``values`` whose labels are plain decimals where these are short."""
    label = f"{_LABEL} ? format(datum.value, '.0e') : format(datum.value, ',~r')"
    ticks = {"values": _ticks(values)} if _is_wide(values) else {"tickCount": 6}
    return alt.Axis(title=title, labelExpr=label, labelOverlap="greedy", **ticks)


def _log(values: list[float]) -> alt.Scale:
    return alt.Scale(type="log", nice=False, domain=[min(values), max(values)])


def figures(result: Result) -> list[Figure]:
    """Return the charts that the result has the rows for, in the order of a report."""
    made = (_delays(result), _by_length(result), _frontier(result), _beside_theory(result))
    return [figure for figure in made if figure is not None]


def _spec(chart: alt.Chart | alt.LayerChart, height: int, values: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the specification of a chart with its data; the page sets width, theme and schema."""
    spec: dict[str, Any] = chart.properties(width="container", height=height).to_dict(validate=False)
    spec = {key: part for key, part in spec.items() if key not in {"config", "$schema"}}
    return {**spec, "data": {"values": values}}


# --- distribution of delay -------------------------------------------------------------------------------------


def _delays(result: Result) -> Figure | None:
    rows = [row for row in result.distributions if row.metric == result.metric and sum(row.count)]
    classes = [each.name for each in result.classes if any(row.class_ == each.name for row in rows)]
    if not rows:
        return None
    scale = scale_for((row.low[len(row.low) // 2] for row in rows), result.time_unit)
    names = [name for name in _shown(result) if any(row.discipline == name for row in rows)]
    points = {class_: _points(rows, names, class_, scale) for class_ in classes[:_CLASSES_SHOWN]}
    if not any(points.values()):
        return None
    every = [point for each in points.values() for point in each]
    chart = _ccdf_chart(result, every, names, scale)
    panels = [
        (_class_title(class_), {**chart, "data": {"values": each}}) for class_, each in points.items() if each
    ]
    caption = (
        f"The share of messages that wait longer than a given time, for each class; the lower the curve, the better. "
        f"Both axes are logarithmic: a straight fall is a heavy tail.{_left_out(result)}"
    )
    return Figure(f"Distribution of {result.metric}", caption, tuple(panels), _key(result, names))


def _class_title(name: str) -> str:
    return "all messages" if name == "all" else name


def _ccdf(row: Distribution, scale: Scale) -> list[dict[str, Any]]:
    """Return the share of items above the upper edge of each bin, thinned to what a line needs."""
    total = sum(row.count)
    above = total
    points = []
    for high, count in zip(row.high, row.count, strict=True):
        above -= count
        if 0 < above < _FLAT * total and high > 0:
            points.append((high / scale.factor, above / total))
    return [
        {"discipline": row.discipline, "delay": _digits(delay), "above": _digits(share)}
        for delay, share in _thinned(points)
    ]


def _thinned(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return at most some points, spread evenly over the logarithms of both axes."""
    if len(points) <= _MOST_POINTS:
        return points
    span_x = math.log(points[-1][0] / points[0][0]) or 1.0
    span_y = math.log(points[0][1] / points[-1][1]) or 1.0
    kept, x, y = [points[0]], *points[0]
    for delay, share in points[1:-1]:
        if math.log(delay / x) / span_x + math.log(y / share) / span_y >= 2 / _MOST_POINTS:
            kept.append((delay, share))
            x, y = delay, share
    return [*kept, points[-1]]


def _points(rows: list[Distribution], names: list[str], class_: str, scale: Scale) -> list[dict[str, Any]]:
    drawn = [row for row in rows if row.class_ == class_ and row.discipline in names]
    return [point for row in drawn for point in _ccdf(row, scale)]


def _ccdf_chart(
    result: Result, every: list[dict[str, Any]], names: list[str], scale: Scale
) -> dict[str, Any]:
    """Return the chart for all panels: they share axes, so that they can be compared."""
    delays, shares = ([point[key] for point in every] for key in ("delay", "above"))
    chart = (
        alt.Chart()
        .mark_line(strokeWidth=2)
        .encode(
            x=alt.X("delay:Q", scale=_log(delays), axis=_axis(f"{result.metric} {scale.header}", delays)),
            y=alt.Y(
                "above:Q",
                scale=_log([*shares, 1.0]),
                axis=alt.Axis(title="share above", format="~e", tickCount=5),
            ),
            color=_colour(result, names),
            strokeDash=_dash(result, names),
            tooltip=[
                "discipline:N",
                alt.Tooltip("delay:Q", format=".4~g"),
                alt.Tooltip("above:Q", format=".3~g"),
            ],
        )
    )
    return _spec(chart, 240, [])


def _digits(value: float) -> float:
    return float(f"{value:.5g}")


# --- mean by length --------------------------------------------------------------------------------------------


def _by_length(result: Result) -> Figure | None:
    lengths = {each.name: each.mean_length for each in result.classes[1:] if each.mean_length}
    names = _shown(result)
    found = [(name, class_, result.estimate(name, class_=class_)) for name in names for class_ in lengths]
    known = [(name, class_, row) for name, class_, row in found if row is not None and row.value is not None]
    if len({class_ for _, class_, _ in known}) < 2:
        return None
    scale = scale_for((row.value for *_, row in known), result.time_unit)
    points = [_length_point(name, lengths[class_] or 0.0, row, scale) for name, class_, row in known]
    caption = (
        "Mean by length of message, with 95 % intervals (often narrower than the dot). FIFO makes all wait alike; "
        f"what favours the short defers the long.{_left_out(result)}"
    )
    spec = _by_length_spec(result, points, names, scale)
    return Figure(f"Mean {result.metric} by length of message", caption, (("", spec),), _key(result, names))


def _length_point(name: str, length: float, row: Estimate, scale: Scale) -> dict[str, Any]:
    value = row.value or 0.0
    return {
        "discipline": name,
        "length": length,
        "mean": value / scale.factor,
        "low": (row.low if row.low is not None else value) / scale.factor,
        "high": (row.high if row.high is not None else value) / scale.factor,
    }


def _by_length_spec(
    result: Result, points: list[dict[str, Any]], names: list[str], scale: Scale
) -> dict[str, Any]:
    unit = result.document.get("length_unit", "")
    lengths, means = ([point[key] for point in points] for key in ("length", "mean"))
    base = alt.Chart().encode(
        x=alt.X("length:Q", scale=_scale_of(lengths), axis=_axis(f"length ({unit})", lengths)),
        color=_colour(result, names),
    )
    y_scale = _scale_of(means)
    y = alt.Y("mean:Q", scale=y_scale, axis=_axis(f"mean {result.metric} {scale.header}", means))
    tooltip = [
        "discipline:N",
        "length:Q",
        *(alt.Tooltip(f"{name}:Q", format=".4~g") for name in ("mean", "low", "high")),
    ]
    lines = base.mark_line(strokeWidth=2).encode(y=y, strokeDash=_dash(result, names))
    bars = base.mark_rule(strokeWidth=2).encode(y=alt.Y("low:Q", scale=y_scale), y2="high:Q")
    dots = base.mark_point(filled=True, size=45, opacity=1).encode(y=y, tooltip=tooltip)
    return _spec(alt.layer(lines, bars, dots), 340, points)


# --- frontier --------------------------------------------------------------------------------------------------


def _frontier(result: Result) -> Figure | None:
    statistic = tail_statistic(result)
    points = _frontier_points(result, statistic)
    if len(points) < 2:
        return None
    mean_scale = scale_for((point["mean"] for point in points), result.time_unit)
    tail_scale = scale_for((point["tail"] for point in points), result.time_unit)
    for point in points:
        point["mean"] /= mean_scale.factor
        point["tail"] /= tail_scale.factor
    tail = "maximum" if statistic == "max" else statistic
    caption = (
        f"Each discipline by its mean and its {tail}: left and down is better. The line follows alpha from FIFO "
        "(0) to shortest first (infinite); a point to the right of and above another is beaten by it in both."
    )
    spec = _frontier_spec(result, points, (mean_scale, tail_scale), tail)
    return Figure(f"Trade-off: mean against {tail}", caption, (("", spec),))


def _frontier_points(result: Result, statistic: str) -> list[dict[str, Any]]:
    family = {name: place for place, name in enumerate(_family(result))}
    points = []
    for name in result.disciplines:
        mean, tail = result.estimate(name), result.estimate(name, statistic=statistic)
        if mean is None or tail is None or mean.value is None or tail.value is None:
            continue
        point = {"discipline": name, "mean": mean.value, "tail": tail.value, "family": name in family}
        points.append({**point, "order": family.get(name, -1)})
    return points


def _frontier_spec(
    result: Result, points: list[dict[str, Any]], scales: tuple[Scale, Scale], tail: str
) -> dict[str, Any]:
    names = [point["discipline"] for point in points]
    means, tails = ([point[key] for point in points] for key in ("mean", "tail"))
    base = alt.Chart().encode(
        x=alt.X(
            "mean:Q", scale=_scale_of(means), axis=_axis(f"mean {result.metric} {scales[0].header}", means)
        ),
        y=alt.Y("tail:Q", scale=_scale_of(tails), axis=_axis(f"{tail} {scales[1].header}", tails)),
    )
    line = (
        base.transform_filter("datum.family")
        .mark_line(strokeWidth=1.5, opacity=0.55, color="#888888")
        .encode(order="order:Q")
    )
    shape = alt.Shape(
        "family:N", scale=alt.Scale(domain=[True, False], range=["circle", "diamond"]), legend=None
    )
    tooltip = [
        "discipline:N",
        alt.Tooltip("mean:Q", format=".4~g"),
        alt.Tooltip("tail:Q", format=".4~g", title=tail),
    ]
    dots = base.mark_point(filled=True, size=95, opacity=1).encode(
        color=_colour(result, names), shape=shape, tooltip=tooltip
    )
    layers = [line, dots]
    for side, (dx, dy, align) in _SIDES.items():
        mark = base.transform_filter(f"datum.side == '{side}'").mark_text(
            dx=dx, dy=dy, align=align, fontSize=11.5
        )
        layers.append(mark.encode(text="label:N"))
    return _spec(alt.layer(*layers), 380, _with_label_sides(points))


_SIDES = {
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
        seen = [math.log(value) for value in values] if _is_wide(values) else values
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


# --- theory ----------------------------------------------------------------------------------------------------


def _beside_theory(result: Result) -> Figure | None:
    points = []
    for row in result.theory:
        found = result.estimate(row.discipline, class_=row.class_, metric=row.metric)
        if row.value and found is not None and found.value is not None and row.metric == result.metric:
            points.append(_ratio_point(row.discipline or "all", row.class_, row.value, found))
    if not points:
        return None
    names = [name for name in result.disciplines if any(point["discipline"] == name for point in points)]
    caption = (
        "The simulated mean over its closed form, minus one, with the 95 % interval of the simulation. Where the "
        "interval crosses zero the two agree; of many intervals one in twenty may miss it."
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


def _ratio_spec(result: Result, points: list[dict[str, Any]]) -> dict[str, Any]:
    order = [each.name for each in result.classes]
    reach = max(max(abs(point["low"]), abs(point["high"])) for point in points) * 1.15 or 0.01
    x = alt.X(
        "low:Q",
        scale=alt.Scale(domain=[-reach, reach], nice=True),
        axis=alt.Axis(title=None, format="+.2~%", tickCount=5),
    )
    base = alt.Chart().encode(y=alt.Y("class:N", sort=order, axis=alt.Axis(title=None)))
    name = points[0]["discipline"]
    colour = _styles(result).get(name, (_OTHERS[0], _DASHES[0]))[0]
    zero = alt.Chart().mark_rule(strokeDash=[3, 3], color="#888888").encode(x=alt.datum(0))
    bars = base.mark_rule(strokeWidth=2.5, color=colour).encode(x=x, x2="high:Q")
    tooltip = ["class:N", *(alt.Tooltip(f"{key}:Q", format="+.3~%") for key in ("ratio", "low", "high"))]
    dots = base.mark_point(filled=True, size=60, opacity=1, color=colour).encode(x="ratio:Q", tooltip=tooltip)
    return _spec(alt.layer(zero, bars, dots), max(60, 24 * len(points)), points)
