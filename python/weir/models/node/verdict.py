"""What a node's result says, in words: which deadlines and needs are met, and who pays for it.

A response is late that is longer than the deadline of its process; a need is missed in an epoch in which its
process was ready throughout and ran less than it. Where processes have deadlines, these decide, and the
responses of the others are the price; else the longest response of all is compared. Two disciplines are
distinguished by the interval of their paired difference, in the longest response of a replication, or where
there is none by intervals that do not overlap.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from weir.results.verdict import (
    BOTH,
    clear,
    disjoint,
    joined,
    lowest,
    measured,
    named,
    rivals,
    those,
    told,
    under,
    warned,
)
from weir.text import number, percent, plural, quantity

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from weir.models.node.result import NodeResult
    from weir.models.node.rows import ProcessTotals
    from weir.results.subjects import SubjectDifference, SubjectEstimate

_FEW = 3
"""Disciplines of which it is reported one by one who misses a need."""
_DEARER = 1.05
"""A price below one part in twenty is none to name."""
_BY_PRIORITY = {"epoch", "priority_rr"}
"""Disciplines that serve the higher priority first."""
_EXACT = 1e-9
"""Of a value: an interval that is narrower is none, as of programs without random numbers."""


def warnings(result: NodeResult) -> list[str]:
    """Return what was warned of, one sentence a node, with the disciplines that it is about."""
    found = warned(result, ((f"{row.node}: {row.text}", row.discipline) for row in result.warnings))
    return [*found, *filter(None, [_equal_priorities(result)])]


def _equal_priorities(result: NodeResult) -> str | None:
    """Return that nobody is preferred, where deadlines are missed under disciplines that go by priority."""
    processes = [row for row in result.processes if not row.system]
    bound = [row.name for row in processes if row.deadline is not None]
    late = {name: any(row.late for row in rows) for name, rows in _counted(result, bound).items()}
    names = [name for name in late if late[name] and name.partition(":")[0] in _BY_PRIORITY]
    if not names or len(processes) == 1 or len({row.priority for row in processes}) > 1:
        return None
    count = "both" if len(processes) == BOTH else f"all {len(processes):,}"
    return (
        f"{count} processes have the same priority, {processes[0].priority}, so that {named(result, names)} "
        f"{'prefers' if len(names) == 1 else 'prefer'} none to another: a higher `priority` puts a process "
        "with a deadline first"
    )


def _counted(result: NodeResult, names: Sequence[str]) -> dict[str, list[ProcessTotals]]:
    """Return what was counted of these processes, under each discipline."""
    return {
        name: [row for process in names if (row := result.totals(name, process)) is not None]
        for name in result.disciplines
    }


def _best_first(result: NodeResult, best: Sequence[str], what: str, tell: Callable[[str], str]) -> list[str]:
    """Return what is said of the disciplines that miss something; of many the best and the worst."""
    several = len(result.disciplines) > 1
    chosen = best if len(best) <= _FEW else (*best[: _FEW - 1], best[-1])
    where = {name: f"under {result.labels[name]}" if several else "process" for name in chosen}
    parts = [f"{where[name]} {tell(name)}" for name in chosen]
    if len(best) > _FEW:
        parts.append(f"{what} are missed under {named(result, best[_FEW - 1 : -1])} too")
    return parts


def _and_others(rows: Sequence[ProcessTotals]) -> str:
    """Return how many there are besides the worst."""
    more = len(rows) - 1
    return f", and {'another' if more == 1 else f'{more:,} others'} too" if more else ""


# Needs.


def needs(result: NodeResult) -> str | None:
    """Return under which disciplines all needs are met, and who misses them under the others."""
    promised = [row.name for row in result.processes if row.need > 0]
    found = _counted(result, promised)
    tested = {name: sum(row.epochs_ready for row in rows) for name, rows in found.items()}
    if not promised:
        return None
    if not any(tested.values()):
        return "no process with a need was ready throughout an epoch, so none could be missed"
    missing = {name: [row for row in rows if row.needs_missed] for name, rows in found.items()}
    parts = []
    calm = [name for name in result.disciplines if tested[name] and not missing[name]]
    if calm:
        epochs = sum(tested[name] for name in calm)
        whose = under(result, calm)
        parts.append(f"every need is met{whose}, in all {epochs:,} epochs of processes ready throughout")
    late = sorted(
        (name for name in result.disciplines if missing[name]),
        key=lambda name: sum(row.needs_missed for row in missing[name]) / tested[name],
    )
    parts += _best_first(result, late, "needs", lambda name: _missing(result, name, missing[name]))
    idle = [name for name in result.disciplines if not tested[name]]
    if idle:
        parts.append(f"not tested{under(result, idle)}: no process with a need was ready throughout an epoch")
    return "; ".join(parts)


def _missing(result: NodeResult, discipline: str, rows: Sequence[ProcessTotals]) -> str:
    """Return who misses a need most often, with the interval, and how many others do."""
    worst = max(rows, key=lambda row: (row.needs_missed / max(1, row.epochs_ready), row.worst_shortfall))
    return (
        f"{worst.process} misses its need in {worst.needs_missed:,} of {plural(worst.epochs_ready, 'epoch')}"
        f"{_part(result.estimate(discipline, name=worst.process, metric='need_met'))}, by up to "
        f"{quantity(worst.worst_shortfall, 's')}{_and_others(rows)}"
    )


def _part(row: SubjectEstimate | None) -> str:
    """Return the part of the epochs in which a need is missed, with its interval."""
    if row is None or row.value is None:
        return ""
    ends = (None, None) if row.low is None or row.high is None else (1 - row.high, 1 - row.low)
    return _share(1 - row.value, *ends)


def _share(value: float, low: float | None, high: float | None) -> str:
    """Return a share with its interval, in brackets, with as many digits as tell the ends apart."""
    if low is None or high is None or high - low <= _EXACT:
        return f" ({percent(value)})"
    places = max(0, -math.floor(math.log10(100 * (high - low) / 2)))
    words, *ends = (f"{100 * each:.{places}f}" for each in (value, max(0.0, low), min(1.0, high)))
    return f" ({words} %, 95 % interval {ends[0]} to {ends[1]} %)"


# Deadlines.


def deadlines(result: NodeResult) -> str | None:
    """Return under which disciplines no response is late, and whose are under the others."""
    bound = [row.name for row in result.processes if row.deadline is not None]
    if not bound:
        return None
    found = _counted(result, bound)
    late = {name: [row for row in rows if row.late] for name, rows in found.items()}
    unknown = {
        name: [row.process for row in rows if not (row.waits or row.late)] for name, rows in found.items()
    }
    calm = [name for name in result.disciplines if found[name] and not late[name] and not unknown[name]]
    best = sorted(
        (name for name in result.disciplines if late[name]), key=lambda name: max(map(_late, late[name]))
    )
    parts = [
        *([f"every deadline is met{under(result, calm)}"] if calm else []),
        *_best_first(result, best, "deadlines", lambda name: _overdue(result, name, late[name])),
        *_untried(result, unknown),
    ]
    words = "; ".join(parts)
    nobody = len(best) == len(result.disciplines) > 1
    return f"no discipline meets every deadline: {words}" if nobody else words


def price(result: NodeResult) -> str | None:
    """Return whose responses are the price where deadlines are kept best, compared with the least of them."""
    bound = [row.name for row in result.processes if row.deadline is not None]
    found = _counted(result, bound)
    worst = {name: max(map(_late, rows), default=1.0) for name, rows in found.items()}
    best = min(worst, key=lambda name: worst[name])
    free = [row.name for row in result.processes if row.deadline is None and not row.system]
    paid = [each for name in free if (each := _paid(result, best, name)) is not None]
    return max(paid)[1] if paid else None


def _paid(result: NodeResult, best: str, process: str) -> tuple[float, str] | None:
    """Return how many times as long a process responds as under whom it responds soonest, and the words."""
    rows = measured(result, lambda name: result.estimate(name, name=process))
    least = lowest(rows)[0] if rows else best
    mean, lowest_mean = (rows[name].value if name in rows else None for name in (best, least))
    if not mean or not lowest_mean or mean < _DEARER * lowest_mean or not disjoint(rows[best], rows[least]):
        return None
    times = mean / lowest_mean
    return times, (
        f"the price under {result.labels[best]}: {process} responds in {quantity(mean, rows[best].unit)} on "
        f"average, {number(times, 2)} times as long as under {result.labels[least]}"
    )


def _late(row: ProcessTotals) -> float:
    """Return the part of the responses that is late."""
    return (row.late or 0) / max(1, row.waits, row.late or 0)


def _overdue(result: NodeResult, discipline: str, rows: Sequence[ProcessTotals]) -> str:
    """Return who is late most often, with the interval, and how many others are."""
    worst = max(rows, key=_late)
    row = result.estimate(discipline, name=worst.process, metric="late")
    part = "" if row is None or row.value is None else _share(row.value, row.low, row.high)
    # Of a replay there are more responses than waits.
    responses = row.count if row is not None and row.value is not None else worst.waits
    late = f"{worst.late or 0:,} of {plural(responses, 'response')}"
    return f"{worst.process} is late in {late}{part}{_and_others(rows)}"


def _untried(result: NodeResult, unknown: dict[str, list[str]]) -> list[str]:
    """Return who has a deadline and never came to the end of a response, under whom."""
    whose: dict[tuple[str, ...], list[str]] = {}
    for name, processes in unknown.items():
        if processes:
            whose.setdefault(tuple(processes), []).append(name)
    return [
        f"{'process' if len(processes) == 1 else 'processes'} "
        f"{joined(processes[:_FEW])}{f' and {len(processes) - _FEW} more' if len(processes) > _FEW else ''} "
        f"ended no response{under(result, names)}"
        for processes, names in whose.items()
    ]


# Responses.


def responses(result: NodeResult) -> str | None:
    """Return whose longest response is shortest, and what cannot be distinguished from it.

    Where a response is not over at the end, and is longer than all of its process that were, the longest is
    not known: such a discipline is named first, and stands no comparison.
    """
    found = measured(result, lambda name: result.estimate(name, statistic="max"))
    waiting = {
        name: open_one for name in result.disciplines if (open_one := _unfinished(result, name)) is not None
    }
    said = "; ".join(_not_over(result, row) for row in waiting.values()) or None
    found = {name: row for name, row in found.items() if name not in waiting}
    if not found:
        return said
    words = _shortest(result, found)
    return f"{said}; {words}" if said else words


def _unfinished(result: NodeResult, discipline: str) -> ProcessTotals | None:
    """Return who has a response that is not over and longer than all that were; of several the longest."""
    found = []
    for process in result.processes:
        row = result.totals(discipline, process.name)
        if process.system or row is None or row.unfinished is None:
            continue
        longest = result.estimate(discipline, name=process.name, statistic="max")
        if longest is None or row.unfinished > (longest.value or 0.0):
            found.append(row)
    return max(found, key=lambda row: row.unfinished or 0.0, default=None)


def _not_over(result: NodeResult, row: ProcessTotals) -> str:
    after = f"{quantity(row.unfinished or 0.0, 's')}{under(result, [row.discipline])}"
    return f"a response of {row.process} is not over after {after}, so the longest is not known"


def _shortest(result: NodeResult, found: dict[str, SubjectEstimate]) -> str:
    """Return who of those whose responses are over has the shortest longest one."""
    best = lowest(found)[0]
    least = told(found[best], _EXACT)
    if len(result.disciplines) == 1:
        return f"the longest response to a wake-up is {least}"
    if _all_equal(found):
        return f"the longest response to a wake-up is {least}{under(result, list(found))}"
    close = _rivals(result, found, best)
    if close:
        who = those(result, {best, *close})
        rest = [name for name in found if name not in {best, *close}]
        beyond = f", and is longer under {named(result, rest)}" if rest else ""
        why = "by one replication" if result.replications == 1 else "at this length of run"
        return (
            f"by the longest response to a wake-up {who} cannot be distinguished {why}: it is "
            f"{least} under {result.labels[best]}{beyond}"
        )
    after = _next(result, found, best)
    return f"the longest response to a wake-up is shortest under {result.labels[best]}, {least}{after}"


def _all_equal(found: dict[str, SubjectEstimate]) -> bool:
    """Return whether all are the same, without an interval: programs without random numbers, say."""
    first, *rest = found.values()
    exact = all(row.low == row.high for row in found.values())
    return bool(rest) and exact and all(row.value == first.value for row in rest)


def _next(result: NodeResult, found: dict[str, SubjectEstimate], best: str) -> str:
    """Return who comes next, with its own."""
    rest = [name for name in lowest(found) if name != best]
    return f"; {result.labels[rest[0]]} comes next, with {told(found[rest[0]], _EXACT)}" if rest else ""


def _rivals(result: NodeResult, found: dict[str, SubjectEstimate], best: str) -> list[str]:
    """Return what cannot be distinguished from the best, in the longest response of a replication.

    Two of which neither is the reference are held against it both. Of one replication, values tell.
    """

    def paired(name: str) -> SubjectDifference | None:
        return result.difference(name, metric=found[name].metric, statistic="replication_max")

    def differ(one: str, other: str) -> bool:
        known = disjoint(paired(one), paired(other))
        known = disjoint(found[one], found[other]) if known is None else known
        return result.replications == 1 and found[one].value != found[other].value if known is None else known

    return rivals(result, found, best, lambda name: clear(paired(name)), differ)
