"""Tables of a server's result: disciplines x statistics of a metric, class by class, and what cores did.

The rows of every table are the disciplines. Quantiles come with their intervals; where a figure is absent,
`absent_rows` says why.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.results.reading import ALL
from weir.results.tables import (
    ABSENT,
    NONE,
    PER_CENT,
    Column,
    brief,
    column,
    column_scale,
    forms_columns,
    known,
    others,
    signed,
    some,
)
from weir.text import Scale, quantity

if TYPE_CHECKING:
    from weir.models.server.result import ServerResult
    from weir.results.rows import Measured
    from weir.results.subjects import SubjectEstimate

__all__ = [
    "METRICS",
    "absent_rows",
    "classes_of",
    "core_columns",
    "difference_columns",
    "loss_columns",
    "metric_columns",
    "theory_columns",
]

METRICS = {
    "delay": "queueing delay",
    "response": "response",
    "slowdown": "slowdown",
}
"""The metrics of requests that have tails, with their titles."""
_STATISTICS = ("mean", "p50", "p99", "p99.9", "p99.99", "window_max", "max")
_TITLES = {"window_max": "largest window"}


def classes_of(result: ServerResult) -> tuple[str, ...]:
    """Return all requests together, then the classes where they are several."""
    names = tuple(row.name for row in result.classes)
    return (ALL, *names) if len(names) > 1 else (ALL,)


def metric_columns(result: ServerResult, metric: str, class_: str = ALL) -> list[Column]:
    """Return the statistics of a metric of a class, with intervals; those that hold something."""
    return known(
        column(_TITLES.get(each, each), _figures(result, metric, each, class_), text=brief)
        for each in _STATISTICS
    )


def _figures(
    result: ServerResult, metric: str, statistic: str = "mean", name: str = ALL, kind: str = "class"
) -> list[SubjectEstimate | None]:
    """Return a figure under each discipline."""
    return [
        result.estimate(each, kind=kind, name=name, metric=metric, statistic=statistic)
        for each in result.disciplines
    ]


def difference_columns(result: ServerResult, metric: str, class_: str = ALL) -> list[Column]:
    """Return the paired differences to the reference, of the mean and of quantiles."""
    made = []
    for statistic in ("mean", "p50", "p99", "p99.9", "p99.99"):
        rows = [
            result.difference(name, name=class_, metric=metric, statistic=statistic)
            for name in others(result)
        ]
        made.append(column(statistic, rows, text=_difference))
    return known(made)


def _difference(row: Measured | None, scale: Scale) -> str:
    if row is None:
        return NONE
    return ABSENT if row.value is None else signed(row.value, row.low, row.high, scale.factor)


def loss_columns(result: ServerResult) -> list[Column]:
    """Return what is lost, reordered, moved and preempted, and what is done in a second."""
    figures = {
        "dropped" if class_ == ALL else f"of {class_}": _figures(result, "dropped", name=class_)
        for class_ in classes_of(result)
    }
    figures |= {metric: _figures(result, metric) for metric in ("reordered", "cold")}
    made = [column(title, rows, scale=PER_CENT, text=brief) for title, rows in figures.items()]
    return known([*made, column("done", _figures(result, "throughput"), text=brief)])


def core_columns(result: ServerResult) -> list[Column]:
    """Return what the cores did: busy, overhead, in use; and grants, preemptions and moves of a request."""
    made = [
        column(title, _figures(result, metric, kind="core"), scale=scale, text=brief)
        for metric, title, scale in (
            ("utilisation", "busy", PER_CENT),
            ("overhead", "overhead", PER_CENT),
            ("in_use", "in use", Scale(1.0, "cores")),
        )
    ]
    totals = {row.discipline: row for row in result.discipline_totals}
    rows = [totals.get(name) for name in result.disciplines]
    made.append(
        Column("at most", tuple(NONE if row is None else f"{row.peak_in_use:,}" for row in rows), rank=1)
    )
    made += [
        Column(
            f"{key} a request",
            tuple(NONE if row is None else f"{getattr(row, key) / max(1, row.done):.3f}" for row in rows),
            rank=2,
        )
        for key in ("preemptions", "moved")
        if any(row is not None and getattr(row, key) for row in rows)
    ]
    return known(made)


def theory_columns(result: ServerResult) -> list[Column]:
    """Return the closed forms beside what was simulated, OK where they agree and !! where they do not.

    Nothing where there are none. Those that do not agree come first.
    """
    rows = sorted(
        (row for row in result.theory if row.value is not None), key=lambda row: row.agrees is not False
    )
    if not rows:
        return []
    found = [result.estimate(row.discipline or "each", name=row.class_, metric=row.metric) for row in rows]
    values = {
        "closed form": [quantity(row.value or 0.0, row.unit) for row in rows],
        "simulated": [NONE if row is None else _with_margin(row) for row in found],
    }
    return forms_columns(result, rows, ("class", "mean"), values)


def _with_margin(row: Measured) -> str:
    """Return an estimate with its interval and its own unit."""
    scale = column_scale([row])
    unit = scale.header.strip("()")
    return f"{brief(row, scale)} {unit}".rstrip()


def absent_rows(result: ServerResult) -> list[str]:
    """Return why figures are absent, a line for each reason."""
    about: dict[str, dict[str, None]] = {}
    for row in result.estimates:
        if row.value is None:
            words = f"{row.statistic} {row.metric}" if row.name == ALL else f"{row.metric} of {row.name}"
            about.setdefault(row.reason or "not measured", {})[words] = None
    return [f"{ABSENT}: {reason} ({some(list(found))})" for reason, found in about.items()]
