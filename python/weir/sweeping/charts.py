"""The charts of a sweep: curves along an axis, a map over two, and two figures against each other.

Points are rows of the set, of one figure. The horizontal axis is the axis of numbers with the most values;
what else tells cells apart, the discipline among them, makes the lines of a panel or its title.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from weir.axes import ALONE, written
from weir.results.marks import digits, ends_of, lines_of, styles_of, values_told
from weir.results.style import MUTED, Figure, axis, scale_of, specification
from weir.text import number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from weir.sweeping.table import SweepResult

Row = dict[str, Any]
_MOST_LINES = 8
_MOST_PANELS = 12
_MOST_TILES = 40
"""Values of an axis of a map."""
_FEW_TILES = 12
"""The most columns of tiles that have room for their values."""
_FEW = 2


def figures_of(result: SweepResult, titles: Sequence[str]) -> list[Figure]:
    """Return curves and maps of figures, by their titles, and the first two against each other."""
    made: list[Figure | None] = []
    for title in titles:
        rows = rows_of(result, title)
        made.append(curves(result, title, rows))
        made.append(heat_map(result, title, rows))
    if len(titles) >= _FEW:
        made.append(frontier(result, titles[0], titles[1]))
    return [each for each in made if each is not None]


def rows_of(result: SweepResult, title: str) -> list[Row]:
    """Return the rows of a figure that have a value, each with the values of its axes."""
    rows = [row for row in result.of(result.figure(title)) if row["value"] is not None]
    return [{**row, "axes": _values(result, row)} for row in rows]


def _values(result: SweepResult, row: Row) -> dict[str, Any]:
    """Return the values that distinguish a row from others: those of its cell, and its discipline."""
    values = dict(result.plan.cells[row["cell"]])
    if row.get("discipline") is not None:
        values[ALONE] = row["discipline"]
    values.pop("disciplines", None)
    return values


def _axes(rows: Sequence[Row]) -> dict[str, list[Any]]:
    """Return the axes along which rows differ, each with its values in their order."""
    found: dict[str, list[Any]] = {}
    for row in rows:
        for key, value in row["axes"].items():
            values = found.setdefault(key, [])
            if value not in values:
                values.append(value)
    return {key: values for key, values in found.items() if len(values) > 1}


def _numeric(axes: Mapping[str, list[Any]]) -> list[str]:
    """Return the axes of numbers, that with the most values first."""
    keys = [
        key
        for key, values in axes.items()
        if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    ]
    return sorted(keys, key=lambda key: -len(axes[key]))


def _unit(result: SweepResult, title: str) -> str:
    unit = result.figure(title).unit
    return f"{title} ({unit})" if unit not in {"", "1"} else title


def curves(result: SweepResult, title: str, rows: Sequence[Row]) -> Figure | None:
    """Return a figure along the axis of numbers with the most values, with its interval as a band."""
    axes = _axes(rows)
    along = next(iter(_numeric(axes)), None)
    if along is None:
        return None
    line, others = _line_and_others(axes, along)
    names = [_name(line, value) for value in axes[line]] if line else ["all"]
    drawn = names[:_MOST_LINES]
    lines = lines_of("line", styles_of(drawn))
    panels: dict[str, list[Row]] = {}
    for row in rows:
        name = _name(line, row["axes"].get(line)) if line else "all"
        if name in drawn and row["axes"].get(along) is not None:
            panel = ", ".join(f"{key} {written(row['axes'].get(key))}" for key in others)
            panels.setdefault(panel, []).append(_point(row, row["axes"][along], name))
    if not panels:
        return None
    made = []
    for panel, points in list(panels.items())[:_MOST_PANELS]:
        x, ends = [point["x"] for point in points], ends_of(points)
        base = alt.Chart().encode(x=alt.X("x:Q", scale=scale_of(x), axis=axis(along, x)), color=lines.colour)
        y = alt.Y("value:Q", scale=scale_of(ends), axis=axis(_unit(result, title), ends))
        band = base.mark_area(opacity=0.2).encode(y=alt.Y("low:Q", scale=scale_of(ends)), y2="high:Q")
        drawn_line = base.mark_line(strokeWidth=2).encode(y=y, strokeDash=lines.dash)
        dots = base.mark_point(filled=True, size=28, opacity=1).encode(
            y=y, shape=lines.shape, tooltip=["line:N", alt.Tooltip("x:Q", title=along), *values_told()]
        )
        made.append((panel, specification(alt.layer(band, drawn_line, dots), 260, points)))
    more = [f"{len(names) - len(drawn)} more of {line}" if len(names) > len(drawn) else ""]
    more.append(f"{len(panels) - _MOST_PANELS} more panels" if len(panels) > _MOST_PANELS else "")
    left = " and ".join(filter(None, more))
    caption = f"The band is the 95 % interval of each figure.{f' Not drawn: {left}.' if left else ''}"
    key = lines.key if line else ()
    return Figure(f"{title} by {along}", caption, tuple(made), key, leads=True)


def _line_and_others(axes: Mapping[str, list[Any]], along: str) -> tuple[str | None, list[str]]:
    """Return the axis that makes lines, and those that make panels."""
    rest = [key for key in axes if key != along]
    line = ALONE if ALONE in rest else next(iter(rest), None)
    return line, [key for key in rest if key != line]


def _name(key: str | None, value: object) -> str:
    word = "–" if value is None else written(value)
    return word if key == ALONE else f"{key} {word}"


def _point(row: Row, x: float, line: str) -> Row:
    value = float(row["value"])
    low, high = (value if row.get(end) is None else float(row[end]) for end in ("low", "high"))
    return {"x": x, "line": line, "value": digits(value), "low": digits(max(0.0, low)), "high": digits(high)}


def heat_map(result: SweepResult, title: str, rows: Sequence[Row]) -> Figure | None:
    """Return a figure over two axes of numbers, a panel for each of whatever else tells cells apart."""
    axes = _axes(rows)
    numeric = _numeric(axes)
    if len(numeric) < _FEW or any(len(axes[key]) > _MOST_TILES for key in numeric[:2]):
        return None
    x, y = numeric[:2]
    panels: dict[str, list[Row]] = {}
    for row in rows:
        if row["axes"].get(x) is None or row["axes"].get(y) is None:
            continue
        others = [(key, row["axes"].get(key)) for key in axes if key not in (x, y)]
        panel = ", ".join(_name(key, value) for key, value in others)
        value = float(row["value"])
        tile = {"x": written(row["axes"][x]), "y": written(row["axes"][y]), "value": digits(value)}
        panels.setdefault(panel, []).append({**tile, "shown": number(value, 3)})
    values = [tile["value"] for tiles in panels.values() for tile in tiles]
    if not values:
        return None
    order = [sorted(axes[key]) for key in (x, y)]
    made = [
        (panel, _tiles(tiles, (x, y), [list(map(written, each)) for each in order], values))
        for panel, tiles in list(panels.items())[:_MOST_PANELS]
    ]
    caption = f"{_unit(result, title)}: the darker, the more; all panels have one scale."
    return Figure(f"{title} over {x} and {y}", caption, tuple(made))


def _tiles(
    tiles: list[Row], titles: tuple[str, str], order: list[list[str]], values: list[float]
) -> dict[str, Any]:
    wide = min(values) > 0
    base = alt.Chart().encode(
        x=alt.X("x:N", sort=order[0], axis=alt.Axis(title=titles[0], labelAngle=0, labelOverlap="greedy")),
        y=alt.Y("y:N", sort=order[1][::-1], axis=alt.Axis(title=titles[1])),
    )
    scale = alt.Scale(
        type="log" if wide else "linear", domain=[min(values), max(values)], range=["#f4f1ea", "#0072b2"]
    )
    drawn = base.mark_rect().encode(
        color=alt.Color("value:Q", scale=scale, legend=None),
        tooltip=[
            alt.Tooltip("x:N", title=titles[0]),
            alt.Tooltip("y:N", title=titles[1]),
            *values_told("value"),
        ],
    )
    layers = [drawn]
    if len(order[0]) <= _FEW_TILES:
        # Dark tiles have light words.
        middle = (min(values) * max(values)) ** 0.5 if wide else sum((min(values), max(values))) / 2
        shade = alt.condition(f"datum.value > {middle!r}", alt.value("#ffffff"), alt.value("#111111"))
        layers.append(base.mark_text(fontSize=11).encode(text="shown:N", color=shade))
    return specification(alt.layer(*layers), 40 + 30 * len(order[1]), tiles)


def frontier(result: SweepResult, one: str, other: str) -> Figure | None:
    """Return two figures against each other, with the cells that no other beats in both."""
    of_other = {(row["cell"], row.get("discipline")): float(row["value"]) for row in rows_of(result, other)}
    points: list[Row] = []
    for row in rows_of(result, one):
        own = (row["cell"], row.get("discipline"))
        if own in of_other:
            name = " ".join(_name(key, value) for key, value in row["axes"].items())
            points.append({"name": name, "x": digits(float(row["value"])), "y": digits(of_other[own])})
    if len(points) < _FEW:
        return None
    least = float("inf")
    for point in sorted(points, key=lambda point: (point["x"], point["y"])):
        point["on"] = "on the frontier" if point["y"] < least else "beaten in both"
        least = min(least, point["y"])
    x, y = ([point[name] for point in points] for name in ("x", "y"))
    words = ["on the frontier", "beaten in both"]
    shades = alt.Scale(domain=words, range=["#d55e00", MUTED])
    base = alt.Chart().encode(
        x=alt.X("x:Q", scale=scale_of(x), axis=axis(_unit(result, one), x)),
        y=alt.Y("y:Q", scale=scale_of(y), axis=axis(_unit(result, other), y)),
    )
    line = (
        base.transform_filter("datum.on == 'on the frontier'")
        .mark_line(strokeWidth=1.2, color="#d55e00", interpolate="step-after", opacity=0.6)
        .encode(order="x:Q")
    )
    dots = base.mark_point(filled=True, size=40, opacity=0.9).encode(
        color=alt.Color("on:N", scale=shades, legend=None),
        tooltip=["name:N", alt.Tooltip("x:Q", title=one), alt.Tooltip("y:Q", title=other), "on:N"],
    )
    caption = (
        "Each point is a cell under a discipline; less is better in both. The frontier is that of the "
        "figures as they are: `weir sweep --best ... --best ...` says which cells cannot be told from it."
    )
    key = tuple((word, shade, "") for word, shade in zip(words, ("#d55e00", MUTED), strict=True))
    chart = specification(alt.layer(line, dots), 280, points)
    return Figure(f"{one} and {other}", caption, (("", chart),), key)
