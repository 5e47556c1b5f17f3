"""Tables of a node's result: processes under a discipline, disciplines beside each other, nodes and queues.

Columns come in groups that belong together, such as the statistics of a response. The terminal puts as many
groups beside each other as fit; a page has them all. Headers are of two lines.
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
    beside,
    brief,
    column,
    groups_of,
    others,
    signed,
    some,
)
from weir.text import number, scale_for

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from weir.models.node.result import NodeResult
    from weir.models.node.rows import NodeTotals, ProcessTotals
    from weir.results.subjects import SubjectDifference, SubjectEstimate
    from weir.text import Scale

__all__ = [
    "absent_rows",
    "comparison_groups",
    "kept",
    "node_groups",
    "process_column",
    "process_groups",
    "processes_of",
    "queue_groups",
    "subject_column",
]

_LEAST = {"s": 1.000001e-9, "1": 1e-7}
"""By unit, what is told as nothing: a nanosecond, which is the clock's step, and one in ten milliseconds."""


def processes_of(result: NodeResult) -> tuple[str, ...]:
    """Return the processes by name, the system's last, and all but these together where they are several."""
    names = tuple(row.name for row in result.processes)
    several = sum(not row.system for row in result.processes) > 1
    return (*names, ALL) if several else names


def process_column(result: NodeResult) -> Column:
    """Return the first column of every table of processes."""
    return Column("\nprocess", processes_of(result), numeric=False)


def kept(columns: Sequence[Column], places: Sequence[int]) -> list[Column]:
    """Return the columns with these of their rows."""
    return [
        Column(column.header, tuple(column.cells[place] for place in places), column.rank, column.numeric)
        for column in columns
    ]


# One discipline.


def process_groups(result: NodeResult, discipline: str) -> list[list[Column]]:
    """Return processes x run time, needs, what was not promised, response and schedulings."""
    made = [
        [
            _needs(result),
            _plain(result, discipline, "epoch_run", "mean", "in an epoch\nran"),
            _plain(result, discipline, "share", "mean", "share\n(%)", PER_CENT),
        ],
        _missed(result, discipline),
        [
            _plain(result, discipline, metric, "mean", f"{metric}\n(%)", PER_CENT)
            for metric in ("uncommitted", "windfall")
        ],
        [
            _plain(result, discipline, "response", statistic, f"response\n{statistic}")
            for statistic in ("mean", "p50", "p99", "max")
        ],
        [_plain(result, discipline, "late", "mean", "late\n(%)", PER_CENT)],
        [_plain(result, discipline, "wait", statistic, f"wait\n{statistic}") for statistic in ("p99", "max")],
        [
            _plain(result, discipline, metric, "mean", f"{title}\n(1/s)")
            for metric, title in (
                ("schedulings", "scheduled"),
                ("enqueue_rate", "put"),
                ("dequeue_rate", "taken"),
            )
        ],
        [Column("moves\n", _moves(result, discipline))] if result.balanced else [],
    ]
    return groups_of(made)


def _needs(result: NodeResult) -> Column:
    """Return what each process is promised in an epoch."""
    needs = {row.name: row.need for row in result.processes}
    scale = scale_for(needs.values(), "s")
    cells = tuple(
        number(needs[name] / scale.factor) if needs.get(name) else NONE for name in processes_of(result)
    )
    return Column(f"in an epoch\nneed {scale.header}", cells)


def _missed(result: NodeResult, discipline: str) -> list[Column]:
    rows = [_promised(result, discipline, name) for name in processes_of(result)]
    return [
        Column("needs missed\nof epochs", tuple(map(missed, rows))),
        _lacks("lacked", rows),
    ]


def _promised(result: NodeResult, discipline: str, name: str) -> ProcessTotals | None:
    """Return what was counted of a process that is promised something."""
    promised = any(row.name == name and row.need > 0 for row in result.processes)
    return result.totals(discipline, name) if promised else None


def missed(row: ProcessTotals | None) -> str:
    """Return how often a need was missed, of how many epochs in which it could be."""
    return NONE if row is None else f"{row.needs_missed:,} of {row.epochs_ready:,}"


def _lacks(title: str, rows: Sequence[ProcessTotals | None], label: str = "at most") -> Column:
    lacks = [row.worst_shortfall if row is not None and row.needs_missed else None for row in rows]
    scale = scale_for(lacks, "s")
    cells = tuple(NONE if lack is None else number(lack / scale.factor) for lack in lacks)
    return Column(f"{title} {scale.header}\n{label}", cells)


def _estimates(
    result: NodeResult, discipline: str, metric: str, statistic: str
) -> list[SubjectEstimate | None]:
    return [
        result.estimate(discipline, name=name, metric=metric, statistic=statistic)
        for name in processes_of(result)
    ]


def _plain(
    result: NodeResult, discipline: str, metric: str, statistic: str, title: str, scale: Scale | None = None
) -> Column:
    return _column(title, _estimates(result, discipline, metric, statistic), scale)


def _column(title: str, rows: Sequence[SubjectEstimate | None], scale: Scale | None = None) -> Column:
    return column(title, rows, scale=scale, text=_cell)


def _cell(row: SubjectEstimate | None, scale: Scale) -> str:
    """Return an estimate with its interval; where it is absent, `absent_rows` says why."""
    return (row is not None and row.value is not None and _nothing(row)) or brief(row, scale)


def _nothing(row: SubjectEstimate | SubjectDifference) -> str | None:
    """Return zero for what is below the resolution of time, its interval included."""
    ends = [end for end in (row.value, row.low, row.high) if end is not None]
    if max(map(abs, ends)) > _LEAST.get(row.unit, 0.0):
        return None
    return "0" if row.low is None else "0 ±0"


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


# Disciplines beside each other.


def comparison_groups(result: NodeResult) -> list[list[Column]]:
    """Return processes x run time, needs missed, and response under each discipline, with differences."""
    made = [
        _beside(result, "epoch_run", "mean", "ran in an epoch"),
        [*_missed_beside(result), *_lacked_beside(result)],
        *(
            _beside(result, "response", statistic, f"response {statistic}")
            for statistic in ("mean", "p99", "max")
        ),
        _beside(result, "late", "mean", "late (%)", PER_CENT),
        [
            column
            for metric in ("uncommitted", "windfall")
            for column in _beside(result, metric, "mean", f"{metric} (%)", PER_CENT)
        ],
        _beside(result, "schedulings", "mean", "scheduled"),
        _moves_beside(result),
    ]
    return groups_of(made)


def _beside(
    result: NodeResult, metric: str, statistic: str, title: str, scale: Scale | None = None
) -> list[Column]:
    """Return a statistic under each discipline, then the paired differences to the reference."""
    rows = {name: _estimates(result, name, metric, statistic) for name in result.disciplines}
    made, head, chosen = beside(result, title, rows, scale, _cell)
    for name in others(result):
        cells = tuple(
            _difference(result, name, process, metric, statistic, chosen) for process in processes_of(result)
        )
        against = f"{result.labels[name]} − {result.labels[result.reference]}"
        made.append(Column(f"{head}\n{against}", cells))
    return made


def _difference(
    result: NodeResult, discipline: str, process: str, metric: str, statistic: str, scale: Scale
) -> str:
    row = result.difference(discipline, name=process, metric=metric, statistic=statistic)
    if row is None or (row.value is None and not row.reason):
        return NONE
    if row.value is None:
        return ABSENT
    return _nothing(row) or signed(row.value, row.low, row.high, scale.factor)


def _missed_beside(result: NodeResult) -> list[Column]:
    return [
        Column(
            f"needs missed\n{result.labels[name]}",
            tuple(missed(_promised(result, name, process)) for process in processes_of(result)),
        )
        for name in result.disciplines
    ]


def _lacked_beside(result: NodeResult) -> list[Column]:
    rows = {
        name: [_promised(result, name, process) for process in processes_of(result)]
        for name in result.disciplines
    }
    return [_lacks("lacked", found, result.labels[name]) for name, found in rows.items()]


def _moves_beside(result: NodeResult) -> list[Column]:
    return [
        Column(f"moves\n{result.labels[name]}", _moves(result, name))
        for name in result.disciplines
        if result.balanced
    ]


def _moves(result: NodeResult, discipline: str) -> tuple[str, ...]:
    """Return how often each process was moved to another node, in the measured time of all replications."""
    found = [result.totals(discipline, name) for name in processes_of(result)]
    several = [
        row.moves
        for process in result.processes
        if not process.system and (row := result.totals(discipline, process.name)) is not None
    ]
    cells = [NONE if row is None else f"{row.moves:,}" for row in found]
    return (*cells[:-1], f"{sum(several):,}") if ALL in processes_of(result) and several else tuple(cells)


# Nodes and queues.


def _subjects(result: NodeResult, names: Sequence[str]) -> list[tuple[str, str]]:
    return [(discipline, name) for discipline in result.disciplines for name in names]


def subject_column(result: NodeResult, kind: str) -> Column:
    """Return the first column of a table of nodes or queues, a row for each under each discipline."""
    pairs = _subjects(result, result.names(kind))
    cells = (
        name if len(result.disciplines) == 1 else f"{result.labels[discipline]}, {name}"
        for discipline, name in pairs
    )
    return Column(f"\n{kind}", tuple(cells), numeric=False)


def queue_groups(result: NodeResult) -> list[list[Column]]:
    """Return queues x what went through, and how long it lay there."""
    pairs = _subjects(result, result.queues)

    def of(metric: str, statistic: str) -> list[SubjectEstimate | None]:
        return [
            result.estimate(discipline, kind="queue", name=name, metric=metric, statistic=statistic)
            for discipline, name in pairs
        ]

    made = [
        [_column("through\n(1/s)", of("throughput", "mean"))],
        [_column(f"age\n{statistic}", of("age", statistic)) for statistic in ("mean", "p50", "p99", "max")],
    ]
    return groups_of(made)


def node_groups(result: NodeResult) -> list[list[Column]]:
    """Return nodes x what the processor did, and the paths of the scheduler."""
    pairs = _subjects(result, result.nodes)
    totals = {(row.discipline, row.node): row for row in result.node_totals}
    rows = [totals.get(pair) for pair in pairs]
    shares = [
        _column(
            f"{metric}\n(%)",
            [
                result.estimate(discipline, kind="node", name=name, metric=metric)
                for discipline, name in pairs
            ],
            PER_CENT,
        )
        for metric in ("busy", "idle", "uncharged")
    ]
    paths = [
        Column(f"path (1/s)\n{path}", _rates(result, rows, _path(place))) for place, path in enumerate(PATHS)
    ]
    over = Column("high over\nlow (1/s)", _rates(result, rows, lambda row: row.high_over_low))
    return groups_of((shares, paths, [over]))


def _path(place: int) -> Callable[[NodeTotals], int]:
    return lambda row: row.paths[place]


def _rates(
    result: NodeResult, rows: Sequence[NodeTotals | None], count: Callable[[NodeTotals], int]
) -> tuple[str, ...]:
    elapsed = result.measured * max(1, result.replications)
    return tuple(NONE if row is None else number(count(row) / elapsed) for row in rows)
