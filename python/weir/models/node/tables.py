"""Tables of a node's result: processes under a discipline, disciplines side by side, nodes and queues.

Columns come in groups that belong together, such as the statistics of a response. The terminal puts as many
groups side by side as fit; a page has them all. Headers are of two lines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.models.node.rows import PATHS
from weir.results.reading import ALL
from weir.results.tables import (
    ABSENT,
    NONE,
    PER_CENT,
    Column,
    Heading,
    beside,
    brief,
    columns_of,
    difference,
    groups_of,
    known,
    others,
    some,
    words,
)
from weir.text import number, scale_for

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from weir.models.node.result import NodeResult
    from weir.models.node.rows import NodeTotals, ProcessTotals
    from weir.results.rows import Measured
    from weir.results.subjects import SubjectEstimate
    from weir.text import Scale

_LEAST = {"s": 1.000001e-9, "1": 1e-7}
"""By unit, what is shown as nothing: a nanosecond, which is the clock's step, and one in ten milliseconds."""


def processes_of(result: NodeResult) -> tuple[str, ...]:
    """Return the processes by name, the system's last, and all but these together where they are several."""
    names = tuple(row.name for row in result.processes)
    several = sum(not row.system for row in result.processes) > 1
    return (*names, ALL) if several else names


def process_column(result: NodeResult) -> Column:
    """Return the first column of every table of processes."""
    return words("\nprocess", processes_of(result))


# How figures are written.


def _cell(row: Measured | None, scale: Scale) -> str:
    """Return an estimate with its interval; where it is absent, `absent_rows` says why."""
    return _nothing(row) or brief(row, scale)


def _difference(row: Measured | None, scale: Scale) -> str:
    """Return a paired difference; a dash where there is none for no reason."""
    if row is not None and row.value is None and not row.reason:
        return NONE
    return _nothing(row) or difference(row, scale)


def _nothing(row: Measured | None) -> str | None:
    """Return zero for what is below the resolution of time, its interval included."""
    if row is None or row.value is None:
        return None
    ends = [end for end in (row.value, row.low, row.high) if end is not None]
    if max(map(abs, ends)) > _LEAST.get(row.unit, 0.0):
        return None
    return "0" if row.low is None else "0 ±0"


def _of(title: str, metric: str, statistic: str = "mean", scale: Scale | None = None) -> Heading:
    return Heading(title, metric, statistic, scale=scale, text=_cell)


# One discipline.

_RAN = (_of("in an epoch\nran", "epoch_run"), _of("share\n(%)", "share", scale=PER_CENT))
_OF_PROCESSES = (
    tuple(_of(f"{each}\n(%)", each, scale=PER_CENT) for each in ("uncommitted", "windfall")),
    tuple(_of(f"response\n{each}", "response", each) for each in ("mean", "p50", "p99", "max")),
    (_of("late\n(%)", "late", scale=PER_CENT),),
    tuple(_of(f"wait\n{each}", "wait", each) for each in ("p99", "max")),
    (
        _of("scheduled\n(1/s)", "schedulings"),
        _of("put\n(1/s)", "enqueue_rate"),
        _of("taken\n(1/s)", "dequeue_rate"),
    ),
)


def process_groups(result: NodeResult, discipline: str) -> list[list[Column]]:
    """Return processes x run time, needs, what was not promised, response and schedulings."""

    def take(metric: str, statistic: str) -> list[SubjectEstimate | None]:
        return _estimates(result, discipline, metric, statistic)

    promised = _promised(result, discipline)
    made = [
        [_needs(result), *columns_of(_RAN, take)],
        [_missed("needs missed\nof epochs", promised), _lacked(promised, "at most")],
        *(columns_of(headings, take) for headings in _OF_PROCESSES),
        [Column("moves\n", _moves(result, discipline))] if result.balanced else [],
    ]
    return groups_of(made)


def _estimates(
    result: NodeResult, discipline: str, metric: str, statistic: str
) -> list[SubjectEstimate | None]:
    return [
        result.estimate(discipline, name=name, metric=metric, statistic=statistic)
        for name in processes_of(result)
    ]


def _needs(result: NodeResult) -> Column:
    """Return what each process is promised in an epoch."""
    needs = {row.name: row.need for row in result.processes}
    scale = scale_for(needs.values(), "s")
    cells = tuple(
        number(needs[name] / scale.factor) if needs.get(name) else NONE for name in processes_of(result)
    )
    return Column(f"in an epoch\nneed {scale.header}", cells)


def _promised(result: NodeResult, discipline: str) -> list[ProcessTotals | None]:
    """Return what was counted of each process that is promised something."""
    promised = {row.name for row in result.processes if row.need > 0}
    return [result.totals(discipline, name) if name in promised else None for name in processes_of(result)]


def _missed(title: str, rows: Sequence[ProcessTotals | None]) -> Column:
    """Return how often needs were missed, of how many epochs in which they could be."""
    counts = (NONE if row is None else f"{row.needs_missed:,} of {row.epochs_ready:,}" for row in rows)
    return Column(title, tuple(counts))


def _lacked(rows: Sequence[ProcessTotals | None], label: str) -> Column:
    """Return the most that a process lacked of its need."""
    lacks = [row.worst_shortfall if row is not None and row.needs_missed else None for row in rows]
    scale = scale_for(lacks, "s")
    cells = tuple(NONE if lack is None else number(lack / scale.factor) for lack in lacks)
    return Column(f"lacked {scale.header}\n{label}", cells)


def absent_rows(result: NodeResult) -> list[str]:
    """Return why figures are absent, a line for each reason."""
    found: dict[tuple[str, str], list[str]] = {}
    under: dict[str, set[str]] = {}
    for row in result.estimates:
        if row.value is None and row.name != ALL:
            found.setdefault((row.metric, row.reason or "not measured"), []).append(row.name)
            under.setdefault(row.metric, set()).add(row.discipline)
    about: dict[str, list[str]] = {}
    for (metric, reason), names in found.items():
        once = list(dict.fromkeys(names))
        whose = [result.labels[name] for name in result.disciplines if name in under[metric]]
        where = "" if len(whose) == len(result.disciplines) else f" under {', '.join(whose)}"
        about.setdefault(reason, []).append(f"{metric} of {some(once)}{where}")
    return [f"{ABSENT}: {reason} ({'; '.join(parts)})" for reason, parts in about.items()]


# Disciplines side by side.

_ENDS = ("mean", "p99", "max")
_BESIDE = (
    (_of("response mean", "response"),),
    (_of("response p99", "response", "p99"),),
    (_of("response max", "response", "max"),),
    (_of("late (%)", "late", scale=PER_CENT),),
    (_of("uncommitted (%)", "uncommitted", scale=PER_CENT), _of("windfall (%)", "windfall", scale=PER_CENT)),
    (_of("scheduled", "schedulings"),),
)


def summary_columns(result: NodeResult) -> list[Column]:
    """Return what matters of all processes, a row a discipline: needs missed, what is late, and responses."""
    name = processes_of(result)[-1]

    def take(metric: str, statistic: str) -> list[SubjectEstimate | None]:
        return [
            result.estimate(each, name=name, metric=metric, statistic=statistic)
            for each in result.disciplines
        ]

    headings = (
        _of("late (%)", "late", scale=PER_CENT),
        *(_of(each, "response", each) for each in _ENDS),
    )
    return known([_all_missed(result), *columns_of(headings, take)])


def _all_missed(result: NodeResult) -> Column:
    """Return how often any process missed its need, of how many epochs of processes in which it could."""
    cells = []
    for name in result.disciplines:
        rows = [row for row in _promised(result, name) if row is not None]
        missed, ready = sum(row.needs_missed for row in rows), sum(row.epochs_ready for row in rows)
        cells.append(f"{missed:,} of {ready:,}" if rows else NONE)
    return Column("needs missed", tuple(cells))


def comparison_groups(result: NodeResult) -> list[list[Column]]:
    """Return processes x run time, needs missed, and response under each discipline, with differences."""
    promised = {label: _promised(result, name) for name, label in result.labels.items()}
    moves = {label: _moves(result, name) for name, label in result.labels.items() if result.balanced}
    made = [
        _beside(result, _of("ran in an epoch", "epoch_run")),
        [
            *(_missed(f"needs missed\n{label}", rows) for label, rows in promised.items()),
            *(_lacked(rows, label) for label, rows in promised.items()),
        ],
        *([column for of in headings for column in _beside(result, of)] for headings in _BESIDE),
        [Column(f"moves\n{label}", cells) for label, cells in moves.items()],
    ]
    return groups_of(made)


def _beside(result: NodeResult, of: Heading) -> list[Column]:
    """Return a statistic under each discipline, then the paired differences to the reference."""
    rows = {name: _estimates(result, name, of.metric, of.statistic) for name in result.disciplines}
    made, head, scale = beside(result, of.title, rows, of.scale, _cell)
    for name in others(result):
        differences = (
            result.difference(name, name=process, metric=of.metric, statistic=of.statistic)
            for process in processes_of(result)
        )
        against = f"{result.labels[name]} − {result.labels[result.reference]}"
        made.append(Column(f"{head}\n{against}", tuple(_difference(row, scale) for row in differences)))
    return made


def _moves(result: NodeResult, discipline: str) -> tuple[str, ...]:
    """Return how often each process was moved to another node, in the measured time of all replications."""
    found = {row.name: result.totals(discipline, row.name) for row in result.processes}
    several = [
        row.moves for each in result.processes if not each.system and (row := found[each.name]) is not None
    ]
    cells = [NONE if row is None else f"{row.moves:,}" for row in found.values()]
    if ALL in processes_of(result):
        cells.append(f"{sum(several):,}" if several else NONE)
    return tuple(cells)


# Nodes and queues.

_OF_QUEUES = (
    (_of("through\n(1/s)", "throughput"),),
    tuple(_of(f"age\n{each}", "age", each) for each in ("mean", "p50", "p99", "max")),
)
_OF_NODES = tuple(_of(f"{each}\n(%)", each, scale=PER_CENT) for each in ("busy", "idle", "uncharged"))


def _pairs(result: NodeResult, kind: str) -> list[tuple[str, str]]:
    return [(discipline, name) for discipline in result.disciplines for name in result.names(kind)]


def _take(result: NodeResult, kind: str) -> Callable[[str, str], list[SubjectEstimate | None]]:
    """Return what finds a figure of nodes or queues, of each under each discipline."""
    return lambda metric, statistic: [
        result.estimate(discipline, kind=kind, name=name, metric=metric, statistic=statistic)
        for discipline, name in _pairs(result, kind)
    ]


def subject_column(result: NodeResult, kind: str) -> Column:
    """Return the first column of a table of nodes or queues, a row for each under each discipline."""
    alone = len(result.disciplines) == 1
    pairs = _pairs(result, kind)
    return words(f"\n{kind}", (name if alone else f"{result.labels[under]}, {name}" for under, name in pairs))


def queue_groups(result: NodeResult) -> list[list[Column]]:
    """Return queues x what went through, and how long it lay there."""
    return groups_of(columns_of(headings, _take(result, "queue")) for headings in _OF_QUEUES)


def node_groups(result: NodeResult) -> list[list[Column]]:
    """Return nodes x what the processor did, and the paths of the scheduler."""
    rows = [result.node_totals.find(discipline=under, node=name) for under, name in _pairs(result, "node")]
    elapsed = result.measured * max(1, result.replications)

    def rates(title: str, count: Callable[[NodeTotals], int]) -> Column:
        return Column(title, tuple(NONE if row is None else number(count(row) / elapsed) for row in rows))

    def path(place: int) -> Column:
        return rates(f"path (1/s)\n{PATHS[place]}", lambda row: row.paths[place])

    shares = columns_of(_OF_NODES, _take(result, "node"))
    over = rates("high over\nlow (1/s)", lambda row: row.high_over_low)
    return groups_of((shares, map(path, range(len(PATHS))), [over]))
