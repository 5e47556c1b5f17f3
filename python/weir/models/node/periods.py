"""What a timeline says of processes and nodes, as pieces of time: runs by kind, and critical periods.

The *critical scheduling period* of a node begins where the time that is left of an epoch is owed in full. The
discipline puts it off as owed time is used; it has begun when the present reaches it, and lasts to the
epoch's end.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weir.models.node.rows import Timeline

NORMAL, WINDFALL, OVERHEAD = "normal", "windfall", "overhead"
KINDS = (NORMAL, WINDFALL, OVERHEAD)
"""On a normal queue, or where there are no levels; on a low queue; busy for nobody."""


class Run(NamedTuple):
    """A time for which a process was charged, or in which a node was busy for nobody (no process)."""

    node: int
    process: int | None
    kind: str
    begin: float
    end: float


class Period(NamedTuple):
    """A critical scheduling period of a node."""

    node: int
    begin: float
    end: float


def runs(line: Timeline) -> Iterator[Run]:
    """Yield what a timeline says of the processors, in its order."""
    columns = line.runs
    for node, process, level, begin, end in zip(
        columns.node, columns.process, columns.level, columns.from_, columns.until, strict=True
    ):
        low = level is not None and level < 0
        kind = OVERHEAD if process is None else WINDFALL if low else NORMAL
        yield Run(node, process, kind, begin, end)


def epochs(line: Timeline) -> list[float]:
    """Return the turns of epochs that a timeline shows, each once."""
    marks = zip(line.marks.what, line.marks.at, strict=True)
    return sorted({at for what, at in marks if what == "epoch"})


def lengths(line: Timeline, queues: int) -> Iterator[tuple[int, float, int]]:
    """Yield queue, time and length: what the first ``queues`` hold at the beginning, then their changes.

    A timeline says what is there at its beginning of those queues only that hold something.
    """
    changes = list(zip(line.lengths.queue, line.lengths.at, line.lengths.length, strict=True))
    known = {queue for queue, at, _ in changes if at <= line.from_}
    yield from ((queue, line.from_, 0) for queue in range(queues) if queue not in known)
    yield from (change for change in changes if change[0] < queues)


def critical_periods(line: Timeline) -> list[Period]:
    """Return the critical scheduling periods that a timeline shows, node by node."""
    turns = sorted({line.from_, *(at for at in epochs(line) if at > line.from_), line.until})
    found = []
    for node in sorted(set(line.critical.node)):
        stands = _stands(line, node)
        times = list(stands)
        busy = [(run.begin, run.end) for run in runs(line) if (run.node, run.kind) == (node, NORMAL)]
        begins = [begin for begin, _ in busy]
        for begin, end in pairwise(turns):
            within = times[bisect_left(times, begin) : bisect_left(times, end)]
            for at, until in pairwise([*within, end]):
                near = busy[max(0, bisect_left(begins, at) - 1) : bisect_left(begins, until)]
                start = _start(at, until, stands[at] - at, near)
                if start is not None:
                    found.append(Period(node, start, end))
                    break
    return found


def _stands(line: Timeline, node: int) -> dict[float, float]:
    """Return when the critical period of a node begins, as it stands from each moment on; of one the last."""
    changes = zip(line.critical.node, line.critical.at, line.critical.begins, strict=True)
    return {at: begins for which, at, begins in changes if which == node}


def _start(at: float, until: float, free: float, busy: list[tuple[float, float]]) -> float | None:
    """Return when the time that is promised to nobody has gone, if it goes before ``until``.

    It goes by while nobody runs out of what is owed or allocated to him, that is on a normal queue.
    """
    for begin, end in [*busy, (until, until)]:
        idle = min(begin, until) - at
        if free <= max(idle, 0.0) and at + max(free, 0.0) < until:
            return at + max(free, 0.0)
        free -= max(idle, 0.0)
        at = max(at, end)
        if at >= until:
            break
    return None
