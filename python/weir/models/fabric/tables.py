"""Tables of a fabric's result: virtual channels x disciplines at a load, and what the schedulers did.

Columns come in groups that belong together, such as the means under all disciplines with the improvement. The
terminal puts as many groups beside each other as fit; a page has them all. Headers are of two lines: what,
and under which discipline.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.results.reading import ALL
from weir.results.tables import (
    NONE,
    PER_CENT,
    Column,
    beside,
    cell,
    column,
    forms_columns,
    groups_of,
    known,
    others,
    signed,
    spread,
)
from weir.text import absent, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weir.models.fabric.result import FabricResult
    from weir.models.fabric.rows import FabricDifference, FabricEstimate, Totals
    from weir.text import Scale

__all__ = [
    "channel_column",
    "channels_of",
    "discipline_groups",
    "improvement_columns",
    "load_groups",
    "saturation_columns",
    "theory_columns",
    "work_columns",
]


def channels_of(result: FabricResult) -> tuple[str, ...]:
    """Return the channels by name, and all of them together where there are several."""
    names = tuple(row.name for row in result.channels)
    return names if len(names) == 1 else (*names, ALL)


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
    return groups_of(made)


def _latencies(result: FabricResult, load: float, metric: str, statistic: str, title: str) -> list[Column]:
    """Return a statistic under each discipline, then the improvements over the reference."""
    rows = {name: _estimates(result, name, load, metric, statistic) for name in result.disciplines}
    made, _, _ = beside(result, title, rows)
    for name in others(result):
        found = [
            result.difference(name, load=load, channel=channel, metric=metric, statistic=statistic)
            for channel in channels_of(result)
        ]
        made.append(Column(f"improvement (%)\n{result.labels[name]}", tuple(map(_improvement, found))))
    return made


def _rates(result: FabricResult, load: float) -> list[Column]:
    """Return what is offered, then throughput and the accepted share under each discipline."""
    offered = _estimates(result, result.reference, load, "offered", "mean")
    made = [Column("offered (%)\n", tuple(cell(row, PER_CENT, margin=True) for row in offered))]
    for metric in ("throughput", "accepted"):
        rows = {name: _estimates(result, name, load, metric, "mean") for name in result.disciplines}
        made += beside(result, f"{metric} (%)", rows, PER_CENT)[0]
    return made


def _estimates(
    result: FabricResult, discipline: str, load: float, metric: str, statistic: str
) -> list[FabricEstimate | None]:
    return [
        result.estimate(discipline, load=load, channel=channel, metric=metric, statistic=statistic)
        for channel in channels_of(result)
    ]


def _improvement(row: FabricDifference | None) -> str:
    """Return an improvement in per cent with its sign and the half-width of its interval."""
    if row is None:
        return NONE
    return absent(row.reason) if row.value is None else signed(row.value, row.low, row.high)


# Over all loads.


def improvement_columns(result: FabricResult, discipline: str, statistic: str = "mean") -> list[Column]:
    """Return channels x loads: by how much the latency is below the reference's, in per cent."""
    made = []
    for load in result.loads:
        rows = [
            result.difference(discipline, load=load, channel=channel, statistic=statistic)
            for channel in channels_of(result)
        ]
        made.append(Column(f"load\n{load:g}", tuple(map(_improvement, rows))))
    return known(made)


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
    names = [name for name in result.disciplines if any(row.discipline == name for row in result.totals)]
    sums = {name: [row for row in result.totals if row.discipline == name] for name in names}
    return [
        Column("discipline", tuple(result.labels[name] for name in names), numeric=False),
        Column("decisions", tuple(f"{sum(row.decisions for row in sums[name]):,}" for name in names), rank=3),
        Column("examined, mean", tuple(_per_decision(sums[name], "examined") for name in names)),
        Column("most", tuple(f"{max(row.most_examined for row in sums[name]):,}" for name in names)),
        Column("reads, mean", tuple(_per_decision(sums[name], "steps") for name in names), rank=1),
        Column(
            "most reads", tuple(f"{max(row.most_steps for row in sums[name]):,}" for name in names), rank=2
        ),
    ]


def _per_decision(rows: Sequence[Totals], key: str) -> str:
    decisions = sum(row.decisions for row in rows)
    return number(sum(getattr(row, key) for row in rows) / decisions, 3) if decisions else NONE


def theory_columns(result: FabricResult) -> list[Column]:
    """Return the closed forms, one a row, with OK where the simulation agrees and !! where it does not."""
    rows = [row for row in result.theory if row.value is not None]
    if not rows:
        return []
    values = [number(row.value or 0.0, 6) + ("" if row.unit == "1" else f" {row.unit}") for row in rows]
    return forms_columns(result, rows, ("channel", "metric"), {"closed form": values})


# One discipline at one load.


def discipline_groups(result: FabricResult, discipline: str, load: float) -> list[list[Column]]:
    """Return channels x offer, throughput, latency with its tail, and latency from the generation."""

    def of(title: str, metric: str, statistic: str, scale: Scale | None = None) -> Column:
        rows = _estimates(result, discipline, load, metric, statistic)
        return column(title, rows, scale=scale, text=spread)

    rates = [
        of(f"{metric}\n(%)", metric, "mean", PER_CENT) for metric in ("offered", "throughput", "accepted")
    ]
    statistics = ("mean", "p50", "p90", "p99", "p99.9", "max")
    waits = [of(f"latency\n{each}", "latency", each) for each in statistics]
    more = [
        of(f"{title}\n{statistic}", metric, statistic)
        for metric, title in (("total_latency", "from generation"), ("message_latency", "message"))
        for statistic in ("mean", "p99", "max")
    ]
    return groups_of((rates, waits, more))
