"""The mean by length of message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from weir.results.style import Figure, axis, colour, dash, key, left_out, scale_of, shown, specification
from weir.text import scale_for

if TYPE_CHECKING:
    from weir.models.port.result import Estimate, LengthClass, PortResult
    from weir.text import Scale

__all__ = ["by_length"]


def by_length(result: PortResult) -> Figure | None:
    """Return the means by length, or None where there are fewer than two lengths."""
    lengths = {each.name: length for each in result.classes[1:] if (length := _length(each))}
    names = shown(result)
    found = [(name, class_, result.estimate(name, class_=class_)) for name in names for class_ in lengths]
    known = [(name, class_, row) for name, class_, row in found if row is not None and row.value is not None]
    if len({class_ for _, class_, _ in known}) < 2:
        return None
    scale = scale_for((row.value for *_, row in known), result.time_unit)
    points = [_length_point(name, lengths[class_] or 0.0, row, scale) for name, class_, row in known]
    caption = (
        "Mean by length of message, with 95 % intervals (often narrower than the dot). FIFO makes all wait "
        f"alike; what favours the short defers the long.{left_out(result)}"
    )
    spec = _by_length_spec(result, points, names, scale)
    return Figure(f"Mean {result.metric} by length of message", caption, (("", spec),), key(result, names))


def _length(class_: LengthClass) -> float | None:
    """Return the mean length of a class; that of a class of one length is known without counting."""
    return class_.low if class_.low == class_.high else class_.mean_length


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
    result: PortResult, points: list[dict[str, Any]], names: list[str], scale: Scale
) -> dict[str, Any]:
    unit = result.document.get("length_unit", "")
    lengths, means = ([point[key] for point in points] for key in ("length", "mean"))
    base = alt.Chart().encode(
        x=alt.X("length:Q", scale=scale_of(lengths), axis=axis(f"length ({unit})", lengths)),
        color=colour(result, names),
    )
    y_scale = scale_of(means)
    y = alt.Y("mean:Q", scale=y_scale, axis=axis(f"mean {result.metric} {scale.header}", means))
    tooltip = [
        "discipline:N",
        "length:Q",
        *(alt.Tooltip(f"{name}:Q", format=".4~g") for name in ("mean", "low", "high")),
    ]
    lines = base.mark_line(strokeWidth=2).encode(y=y, strokeDash=dash(result, names))
    bars = base.mark_rule(strokeWidth=2).encode(y=alt.Y("low:Q", scale=y_scale), y2="high:Q")
    dots = base.mark_point(filled=True, size=45, opacity=1).encode(y=y, tooltip=tooltip)
    return specification(alt.layer(lines, bars, dots), 340, points)
