"""What a timeline says of processes and nodes, as pieces of time: runs by kind, and critical periods.

The *critical scheduling period* of a node begins where the time that is left of an epoch is owed in full. The
discipline puts it off as owed time is used; it has begun when the present reaches it, and lasts to the
epoch's end.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weir.node.rows import Timeline

__all__ = ["KINDS", "NORMAL", "OVERHEAD", "WINDFALL", "Period", "Run", "critical_periods", "epochs", "runs"]

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


def critical_periods(line: Timeline) -> list[Period]:
    """Return the critical scheduling periods that a timeline shows, node by node."""
    ends = [end for end in epochs(line) if end > line.from_]
    turns = sorted({line.from_, *ends, max(line.until, line.from_)})
    found = []
    for node in sorted(set(line.critical.node)):
        changes = [
            (at, begins)
            for which, at, begins in zip(
                line.critical.node, line.critical.at, line.critical.begins, strict=True
            )
            if which == node
        ]
        for begin, end in pairwise(turns):
            start = _start(changes, begin, end)
            if start is not None:
                found.append(Period(node, start, end))
    return found


def _start(changes: list[tuple[float, float]], begin: float, end: float) -> float | None:
    """Return when the critical period begins in an epoch, if it does.

    At the turn itself the old epoch's value may still stand before the new one's.
    """
    within = [change for change in changes if begin <= change[0] < end]
    for (at, begins), (until, _) in pairwise([*within, (end, end)]):
        if begins < until:
            return max(at, begins)
    return None
