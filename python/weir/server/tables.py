"""Tables of a server's result: disciplines x statistics of a metric, class by class, and what cores did.

The rows of every table are the disciplines. Quantiles come with their intervals; where a figure is absent,
`absent_rows` says why.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.subjects import ALL
from weir.tables import Column, cell, column_scale
from weir.text import Scale, quantity, value_with_margin

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from weir.server.result import ServerResult
    from weir.server.rows import ServerEstimate

__all__ = [
    "METRICS",
    "PER_CENT",
    "STATISTICS",
    "absent_rows",
    "classes_of",
    "core_columns",
    "difference_columns",
    "discipline_column",
    "loss_columns",
    "metric_columns",
    "others",
    "theory_columns",
]

PER_CENT = Scale(0.01, "%")
METRICS = {
    "delay": "queueing delay",
    "response": "response",
    "slowdown": "slowdown",
}
"""The metrics of requests that have tails, with their titles."""
STATISTICS = ("mean", "p50", "p99", "p99.9", "p99.99", "window_max", "max")
_TITLES = {"window_max": "largest window"}
_NONE, _ABSENT = "–", "n/a"
_FEW = 4


def classes_of(result: ServerResult) -> tuple[str, ...]:
    """Return all requests together, then the classes where they are several."""
    names = tuple(row.name for row in result.classes)
    return (ALL, *names) if len(names) > 1 else (ALL,)


def others(result: ServerResult) -> tuple[str, ...]:
    """Return the disciplines that are held against the reference."""
    return tuple(name for name in result.disciplines if name != result.reference)


def discipline_column(result: ServerResult, names: Sequence[str] | None = None) -> Column:
    """Return the first column of every table: disciplines by their labels."""
    chosen = result.disciplines if names is None else names
    return Column("discipline", tuple(result.labels[name] for name in chosen), numeric=False)


def metric_columns(result: ServerResult, metric: str, class_: str = ALL) -> list[Column]:
    """Return the statistics of a metric of a class, with intervals; those that hold something."""
    made = [
        _column(
            [
                result.estimate(name, name=class_, metric=metric, statistic=statistic)
                for name in result.disciplines
            ],
            _TITLES.get(statistic, statistic),
        )
        for statistic in STATISTICS
    ]
    return _known(made)


def difference_columns(result: ServerResult, metric: str, class_: str = ALL) -> list[Column]:
    """Return the paired differences to the reference, of the mean and of quantiles."""
    made = []
    for statistic in ("mean", "p50", "p99", "p99.9", "p99.99"):
        rows = [
            result.difference(name, name=class_, metric=metric, statistic=statistic)
            for name in others(result)
        ]
        scale = column_scale(rows)
        cells = []
        for row in rows:
            if row is None or row.value is None:
                cells.append(_NONE if row is None else _ABSENT)
                continue
            low, high = (None if end is None else end / scale.factor for end in (row.low, row.high))
            text = value_with_margin(row.value / scale.factor, low, high)
            signed = text.replace("-", "−") if text.startswith("-") else f"+{text}" if row.value > 0 else text
            cells.append(signed)
        made.append(Column(f"{statistic} {scale.header}".rstrip(), tuple(cells)))
    return _known(made)


def loss_columns(result: ServerResult) -> list[Column]:
    """Return what is lost, reordered, moved and preempted, and what is done in a second."""
    made = [
        _column(
            [result.estimate(name, name=class_, metric="dropped") for name in result.disciplines],
            "dropped" if class_ == ALL else f"of {class_}",
            PER_CENT,
        )
        for class_ in classes_of(result)
    ]
    for metric, title in (("reordered", "reordered"), ("cold", "cold")):
        rows = [result.estimate(name, metric=metric) for name in result.disciplines]
        made.append(_column(rows, title, PER_CENT))
    rates = [result.estimate(name, metric="throughput") for name in result.disciplines]
    return _known([*made, _column(rates, "done")])


def core_columns(result: ServerResult) -> list[Column]:
    """Return what the cores did: busy, overhead, in use; and grants, preemptions and moves of a request."""
    made = [
        _column([_of_cores(result, name, metric) for name in result.disciplines], title, scale)
        for metric, title, scale in (
            ("utilisation", "busy", PER_CENT),
            ("overhead", "overhead", PER_CENT),
            ("in_use", "in use", Scale(1.0, "cores")),
        )
    ]
    totals = {row.discipline: row for row in result.discipline_totals}
    rows = [totals.get(name) for name in result.disciplines]
    made.append(
        Column("at most", tuple(_NONE if row is None else f"{row.peak_in_use:,}" for row in rows), rank=1)
    )
    made += [
        Column(
            f"{key} a request",
            tuple(_NONE if row is None else f"{getattr(row, key) / max(1, row.done):.3f}" for row in rows),
            rank=2,
        )
        for key in ("preemptions", "moved")
        if any(row is not None and getattr(row, key) for row in rows)
    ]
    return _known(made)


def theory_columns(result: ServerResult) -> list[Column]:
    """Return the closed forms beside what was simulated, OK where they agree and !! where they do not.

    Nothing where there are none. Those that do not agree come first.
    """
    known = sorted(
        (row for row in result.theory if row.value is not None), key=lambda row: row.agrees is not False
    )
    if not known:
        return []
    marks = {True: "OK", False: "!!", None: ""}
    names = [row.discipline or "each" for row in known]
    found = [
        result.estimate(name, name=row.class_, metric=row.metric)
        for name, row in zip(names, known, strict=True)
    ]
    values = [quantity(row.value or 0.0, row.unit) for row in known]
    simulated = [_NONE if row is None else _with_margin(row) for row in found]
    return [
        Column("discipline", tuple(result.labels.get(name, name) for name in names), numeric=False),
        Column("class", tuple(row.class_ for row in known), numeric=False),
        Column("mean", tuple(row.metric for row in known), numeric=False),
        Column("closed form", tuple(values)),
        Column("simulated", tuple(simulated)),
        Column("", tuple(marks[row.agrees] for row in known), numeric=False),
        Column("formula", tuple(row.formula for row in known), rank=1, numeric=False),
    ]


def _with_margin(row: ServerEstimate) -> str:
    """Return an estimate with its interval and its own unit."""
    scale = column_scale([row])
    unit = scale.header.strip("()")
    return f"{_cell(row, scale)} {unit}".rstrip()


def _of_cores(result: ServerResult, discipline: str, metric: str) -> ServerEstimate | None:
    return result.estimate(discipline, kind="core", metric=metric)


def _column(rows: Sequence[ServerEstimate | None], title: str, scale: Scale | None = None) -> Column:
    chosen = scale or column_scale(rows)
    return Column(f"{title} {chosen.header}".rstrip(), tuple(_cell(row, chosen) for row in rows))


def _cell(row: ServerEstimate | None, scale: Scale) -> str:
    """Return an estimate with its interval; where it is absent, `absent_rows` says why."""
    if row is None:
        return _NONE
    return _ABSENT if row.value is None else cell(row, scale, margin=True)


def _known(columns: Iterable[Column]) -> list[Column]:
    """Return the columns that hold something."""
    return [column for column in columns if any(text != _NONE for text in column.cells)]


def absent_rows(result: ServerResult) -> list[str]:
    """Return why figures are absent, a line for each reason."""
    about: dict[str, dict[str, None]] = {}
    for row in result.estimates:
        if row.value is None:
            words = f"{row.statistic} {row.metric}" if row.name == ALL else f"{row.metric} of {row.name}"
            about.setdefault(row.reason or "not measured", {})[words] = None
    made = []
    for reason, found in about.items():
        some = list(found)
        more = f" and {len(some) - _FEW} more" if len(some) > _FEW else ""
        made.append(f"{_ABSENT}: {reason} ({', '.join(some[:_FEW])}{more})")
    return made
