"""The distribution of delay: the share of messages above a time, class by class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weir.results.marks import ccdf, ccdf_chart, early
from weir.results.style import Figure, key, left_out, shown
from weir.text import scale_for

if TYPE_CHECKING:
    from weir.models.port.result import Distribution, PortResult
    from weir.text import Scale

__all__ = ["delays"]

_CLASSES_SHOWN = 12


def delays(result: PortResult) -> Figure | None:
    """Return the distributions, one panel a class, or None where none was measured."""
    rows = [row for row in result.distributions if row.metric == result.metric and any(row.count)]
    classes = [each.name for each in result.classes if any(row.class_ == each.name for row in rows)]
    if not rows:
        return None
    scale = scale_for((row.low[len(row.low) // 2] for row in rows), result.time_unit)
    names = [name for name in shown(result) if any(row.discipline == name for row in rows)]
    drawn = [row for row in rows if row.discipline in names]
    points = {class_: _points(drawn, class_, scale) for class_ in classes[:_CLASSES_SHOWN]}
    if not any(points.values()):
        return None
    every = [point for each in points.values() for point in each]
    chart = ccdf_chart(result, result.metric, every, names, scale)
    panels = [
        (_class_title(class_), {**chart, "data": {"values": each}}) for class_, each in points.items() if each
    ]
    caption = (
        "The share of messages that wait longer than a given time, class by class; the lower the curve, the "
        "better. Both axes are logarithmic: a straight fall is a heavy tail."
        f"{left_out(result)}{_others(classes)}"
    )
    return Figure(f"Distribution of {result.metric}", caption, tuple(panels), key(result, names))


def _others(classes: list[str]) -> str:
    """Return a sentence that names the classes not drawn."""
    missing = classes[_CLASSES_SHOWN:]
    return f" Classes not drawn: {', '.join(missing)}." if missing else ""


def _class_title(name: str) -> str:
    return "all messages" if name == "all" else name


def _points(rows: list[Distribution], class_: str, scale: Scale) -> list[dict[str, Any]]:
    wanted = [row for row in rows if row.class_ == class_]
    return [point for row in wanted for point in ccdf(row, scale, early(rows))]
