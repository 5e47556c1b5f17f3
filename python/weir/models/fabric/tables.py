"""Tables of a fabric's result: virtual channels x disciplines at a load, and what the schedulers did.

Columns come in groups that belong together, such as the means under all disciplines with the improvement. The
terminal puts as many groups side by side as fit; a page has them all. Headers are of two lines: what,
and under which discipline.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.results.reading import ALL
from weir.results.tables import (
    NONE,
    PER_CENT,
    Column,
    Heading,
    beside,
    columns_of,
    discipline_column,
    forms_columns,
    groups_of,
    known,
    margin,
    marked,
    others,
    signed,
    spread,
    words,
)
from weir.text import absent, number

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from weir.models.fabric.result import FabricResult
    from weir.models.fabric.rows import FabricDifference, FabricEstimate, Totals


def channels_of(result: FabricResult) -> tuple[str, ...]:
    """Return the channels by name, and all of them together where there are several."""
    names = tuple(row.name for row in result.channels)
    return names if len(names) == 1 else (*names, ALL)


def channel_column(result: FabricResult) -> Column:
    """Return the first column of every table of channels."""
    return words("\nchannel", channels_of(result))


def _estimates(
    result: FabricResult, discipline: str, load: float, metric: str, statistic: str = "mean"
) -> list[FabricEstimate | None]:
    return [
        result.estimate(discipline, load=load, channel=channel, metric=metric, statistic=statistic)
        for channel in channels_of(result)
    ]


def _improvements(
    result: FabricResult, discipline: str, load: float, metric: str, statistic: str
) -> tuple[str, ...]:
    """Return improvements in per cent with their signs and the half-widths of their intervals."""
    rows = (
        result.difference(discipline, load=load, channel=channel, metric=metric, statistic=statistic)
        for channel in channels_of(result)
    )
    return tuple(map(_improvement, rows))


def _improvement(row: FabricDifference | None) -> str:
    if row is None:
        return NONE
    if row.value is None:
        return absent(row.reason)
    ends = (row.low, row.high) if row.settled else (None, None)
    return marked(signed(row.value, *ends), row)


# Disciplines side by side, at one load.

_LATENCIES = (
    Heading("mean", "latency"),
    Heading("max", "latency", "max"),
    Heading("from generation", "total_latency"),
    Heading("message mean", "message_latency"),
    Heading("message max", "message_latency", "max"),
)


def load_groups(result: FabricResult, load: float) -> list[list[Column]]:
    """Return channels x mean, maximum, latency from generation, of messages, and throughput, at a load."""
    return groups_of([*(_latencies(result, load, each) for each in _LATENCIES), _rates(result, load)])


def _latencies(result: FabricResult, load: float, of: Heading) -> list[Column]:
    """Return a statistic under each discipline, then the improvements over the reference."""
    rows = {name: _estimates(result, name, load, of.metric, of.statistic) for name in result.disciplines}
    improved = {name: _improvements(result, name, load, of.metric, of.statistic) for name in others(result)}
    return [
        *beside(result, of.title, rows)[0],
        *(Column(f"improvement (%)\n{result.labels[name]}", cells) for name, cells in improved.items()),
    ]


def _rates(result: FabricResult, load: float) -> list[Column]:
    """Return what is offered, then throughput and the accepted share under each discipline."""
    offered = _estimates(result, result.reference, load, "offered")
    made = [Column("offered (%)\n", tuple(margin(row, PER_CENT) for row in offered))]
    for metric in ("throughput", "accepted"):
        rows = {name: _estimates(result, name, load, metric) for name in result.disciplines}
        made += beside(result, f"{metric} (%)", rows, PER_CENT)[0]
    return made


# Over all loads.


def improvement_columns(result: FabricResult, discipline: str, statistic: str = "mean") -> list[Column]:
    """Return channels x loads: by how much the latency is below the reference's, in per cent."""
    return known(
        Column(f"load\n{load:g}", _improvements(result, discipline, load, "latency", statistic))
        for load in result.loads
    )


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
    return [words("channel", channels_of(result)), *made]


def work_columns(result: FabricResult) -> list[Column]:
    """Return disciplines x what their schedulers examined for a decision, over all loads."""
    sums = {name: [row for row in result.totals if row.discipline == name] for name in result.disciplines}
    counted = {name: rows for name, rows in sums.items() if rows}

    def cells(tell: Callable[[Sequence[Totals]], str]) -> tuple[str, ...]:
        return tuple(map(tell, counted.values()))

    return [
        discipline_column(result, counted),
        Column("decisions", cells(lambda rows: f"{sum(row.decisions for row in rows):,}"), rank=3),
        Column("examined, mean", cells(lambda rows: _per_decision(rows, "examined"))),
        Column("most", cells(lambda rows: f"{max(row.most_examined for row in rows):,}")),
        Column("reads, mean", cells(lambda rows: _per_decision(rows, "steps")), rank=1),
        Column("most reads", cells(lambda rows: f"{max(row.most_steps for row in rows):,}"), rank=2),
    ]


def _per_decision(rows: Sequence[Totals], key: str) -> str:
    decisions = sum(row.decisions for row in rows)
    return number(sum(getattr(row, key) for row in rows) / decisions, 3) if decisions else NONE


def theory_columns(result: FabricResult) -> list[Column]:
    """Return the closed forms, one a row, with OK where the simulation agrees and !! where it does not."""
    rows = [row for row in result.theory if row.value is not None]
    values = [number(row.value or 0.0, 6) + ("" if row.unit == "1" else f" {row.unit}") for row in rows]
    return forms_columns(result, rows, ("channel", "metric"), {"closed form": values})


# One discipline at one load.

_RATES = tuple(
    Heading(f"{metric}\n(%)", metric, scale=PER_CENT, text=spread)
    for metric in ("offered", "throughput", "accepted")
)
_WAITS = tuple(
    Heading(f"latency\n{each}", "latency", each, text=spread)
    for each in ("mean", "p50", "p90", "p99", "p99.9", "max")
)
_MORE = tuple(
    Heading(f"{title}\n{each}", metric, each, text=spread)
    for metric, title in (("total_latency", "from generation"), ("message_latency", "message"))
    for each in ("mean", "p99", "max")
)


def discipline_groups(result: FabricResult, discipline: str, load: float) -> list[list[Column]]:
    """Return channels x offer, throughput, latency with its tail, and latency from the generation."""

    def take(metric: str, statistic: str) -> list[FabricEstimate | None]:
        return _estimates(result, discipline, load, metric, statistic)

    return groups_of(columns_of(headings, take) for headings in (_RATES, _WAITS, _MORE))
