"""Tables of a fabric's result: virtual channels x disciplines at a load, and what the schedulers did.

Columns come in groups that belong together, such as the means under all disciplines with the improvement. The
terminal puts as many groups beside each other as fit; a page has them all. Headers are of two lines: what,
and under which discipline.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.fabric.reading import ALL
from weir.tables import Column, cell, column_scale
from weir.text import Scale, absent, number, value_with_margin

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from weir.fabric.result import FabricResult
    from weir.fabric.rows import FabricDifference, FabricEstimate, Totals

__all__ = [
    "PER_CENT",
    "channel_column",
    "channels_of",
    "discipline_groups",
    "improvement_columns",
    "load_groups",
    "others",
    "saturation_columns",
    "signed",
    "specs",
    "theory_columns",
    "work_columns",
]

PER_CENT = Scale(0.01, "%")
_NONE = "–"


def channels_of(result: FabricResult) -> tuple[str, ...]:
    """Return the channels by name, and all of them together where there are several."""
    names = tuple(row.name for row in result.channels)
    return names if len(names) == 1 else (*names, ALL)


def others(result: FabricResult) -> tuple[str, ...]:
    """Return the disciplines that are held against the reference."""
    return tuple(name for name in result.disciplines if name != result.reference)


def channel_column(result: FabricResult) -> Column:
    """Return the first column of every table of channels."""
    return Column("\nchannel", channels_of(result), numeric=False)


# Disciplines beside each other, at one load.


def load_groups(result: FabricResult, load: float) -> list[list[Column]]:
    """Return channels x mean, maximum, latency from generation, of messages, and throughput, at a load."""
    made = [
        _latencies(result, load, "latency", "mean", "mean"),
        _latencies(result, load, "latency", "max", "max"),
        _latencies(result, load, "total_latency", "mean", "from generation"),
        _latencies(result, load, "message_latency", "mean", "message mean"),
        _latencies(result, load, "message_latency", "max", "message max"),
        _rates(result, load),
    ]
    return [group for group in map(_known, made) if group]


def _latencies(result: FabricResult, load: float, metric: str, statistic: str, title: str) -> list[Column]:
    """Return a statistic under each discipline, then the improvements over the reference."""
    rows = {name: _estimates(result, name, load, metric, statistic) for name in result.disciplines}
    scale = column_scale([row for found in rows.values() for row in found])
    made = [_column(result, f"{title} {scale.header}", name, found, scale) for name, found in rows.items()]
    for name in others(result):
        found = [
            result.difference(name, load=load, channel=channel, metric=metric, statistic=statistic)
            for channel in channels_of(result)
        ]
        made.append(Column(f"improvement (%)\n{result.labels[name]}", tuple(map(signed, found))))
    return made


def _rates(result: FabricResult, load: float) -> list[Column]:
    """Return what is offered, then throughput and the accepted share under each discipline."""
    offered = _estimates(result, result.reference, load, "offered", "mean")
    made = [Column("offered (%)\n", tuple(cell(row, PER_CENT, margin=True) for row in offered))]
    for metric, title in (("throughput", "throughput (%)"), ("accepted", "accepted (%)")):
        for name in result.disciplines:
            rows = _estimates(result, name, load, metric, "mean")
            made.append(_column(result, title, name, rows, PER_CENT))
    return made


def _estimates(
    result: FabricResult, discipline: str, load: float, metric: str, statistic: str
) -> list[FabricEstimate | None]:
    return [
        result.estimate(discipline, load=load, channel=channel, metric=metric, statistic=statistic)
        for channel in channels_of(result)
    ]


def _column(
    result: FabricResult, title: str, discipline: str, rows: Sequence[FabricEstimate | None], scale: Scale
) -> Column:
    cells = tuple(_NONE if row is None else cell(row, scale, margin=True) for row in rows)
    return Column(f"{title.rstrip()}\n{result.labels[discipline]}", cells)


def _known(group: Iterable[Column]) -> list[Column]:
    """Return the columns that hold something."""
    return [column for column in group if any(text != _NONE for text in column.cells)]


def signed(row: FabricDifference | None) -> str:
    """Return an improvement in per cent with its sign and the half-width of its interval."""
    if row is None:
        return _NONE
    if row.value is None:
        return absent(row.reason)
    text = value_with_margin(row.value, row.low, row.high)
    return text.replace("-", "−") if text.startswith("-") else f"+{text}" if row.value > 0 else text


# Over all loads.


def improvement_columns(result: FabricResult, discipline: str, statistic: str = "mean") -> list[Column]:
    """Return channels x loads: by how much the latency is below the reference's, in per cent."""
    made = []
    for load in result.loads:
        rows = [
            result.difference(discipline, load=load, channel=channel, statistic=statistic)
            for channel in channels_of(result)
        ]
        made.append(Column(f"load\n{load:g}", tuple(map(signed, rows))))
    return _known(made)


def saturation_columns(result: FabricResult) -> list[Column]:
    """Return channels x the least load at which less than 99 % of what is offered arrives, beyond doubt."""
    if not result.saturation:
        return []
    highest = max(result.loads)
    made = []
    for name in result.disciplines:
        loads = [result.saturates(name, channel) for channel in channels_of(result)]
        cells = tuple(f"above {highest:g}" if load is None else f"{load:g}" for load in loads)
        made.append(Column(result.labels[name], cells))
    return [Column("channel", channels_of(result), numeric=False), *made]


def work_columns(result: FabricResult) -> list[Column]:
    """Return disciplines x what their schedulers examined for a decision, over all loads."""
    known = [name for name in result.disciplines if any(row.discipline == name for row in result.totals)]
    sums = {name: [row for row in result.totals if row.discipline == name] for name in known}
    return [
        Column("discipline", tuple(result.labels[name] for name in known), numeric=False),
        Column("decisions", tuple(f"{sum(row.decisions for row in sums[name]):,}" for name in known), rank=3),
        Column("examined, mean", tuple(_per_decision(sums[name], "examined") for name in known)),
        Column("most", tuple(f"{max(row.most_examined for row in sums[name]):,}" for name in known)),
        Column("reads, mean", tuple(_per_decision(sums[name], "steps") for name in known), rank=1),
        Column(
            "most reads", tuple(f"{max(row.most_steps for row in sums[name]):,}" for name in known), rank=2
        ),
    ]


def _per_decision(rows: Sequence[Totals], key: str) -> str:
    decisions = sum(row.decisions for row in rows)
    return number(sum(getattr(row, key) for row in rows) / decisions, 3) if decisions else _NONE


def theory_columns(result: FabricResult) -> list[Column]:
    """Return the closed forms, one a row, with OK where the simulation agrees and !! where it does not."""
    rows = [row for row in result.theory if row.value is not None]
    if not rows:
        return []
    marks = {True: "OK", False: "!!", None: ""}
    names = [row.discipline or "each" for row in rows]
    values = [number(row.value or 0.0, 6) + ("" if row.unit == "1" else f" {row.unit}") for row in rows]
    return [
        Column("discipline", tuple(result.labels.get(name, name) for name in names), numeric=False),
        Column("channel", tuple(row.class_ for row in rows), numeric=False),
        Column("metric", tuple(row.metric for row in rows), numeric=False),
        Column("closed form", tuple(values)),
        Column("", tuple(marks[row.agrees] for row in rows), numeric=False),
        Column("formula", tuple(row.formula for row in rows), rank=1, numeric=False),
    ]


def specs(result: FabricResult) -> list[tuple[str, str]]:
    """Return labels with the whole spec strings, where any label is shorter."""
    pairs = [(label, spec) for spec, label in result.labels.items()]
    return pairs if any(label != spec for label, spec in pairs) else []


# One discipline at one load.


def discipline_groups(result: FabricResult, discipline: str, load: float) -> list[list[Column]]:
    """Return channels x offer, throughput, latency with its tail, and latency from the generation."""
    rates = [
        _plain(result, discipline, load, metric, "mean", title, PER_CENT)
        for metric, title in (
            ("offered", "offered\n(%)"),
            ("throughput", "throughput\n(%)"),
            ("accepted", "accepted\n(%)"),
        )
    ]
    statistics = ("mean", "p50", "p90", "p99", "p99.9", "max")
    waits = [_plain(result, discipline, load, "latency", each, f"latency\n{each}") for each in statistics]
    more = [
        _plain(result, discipline, load, metric, statistic, f"{title}\n{statistic}")
        for metric, title in (("total_latency", "from generation"), ("message_latency", "message"))
        for statistic in ("mean", "p99", "max")
    ]
    return [group for group in map(_known, (rates, waits, more)) if group]


def _plain(
    result: FabricResult,
    discipline: str,
    load: float,
    metric: str,
    statistic: str,
    title: str,
    scale: Scale | None = None,
) -> Column:
    rows = _estimates(result, discipline, load, metric, statistic)
    chosen = scale or column_scale(rows)
    unit = "" if scale else f" {chosen.header}".rstrip()
    cells = tuple(_NONE if row is None else cell(row, chosen, margin=True) for row in rows)
    return Column(f"{title}{unit}", cells)
