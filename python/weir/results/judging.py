"""Whether needs are met: a figure held against its bound, at 95 % as results tell it, or at another level.

A need is *met* where the whole interval of its figure is on the right side of the bound, *missed* where none
of it is, else *not settled*; so is a figure that has no interval though it is an estimate, or whose interval
is itself not settled. An extreme (``max``, ``min``), a share that was counted, and every figure of a scenario
in which nothing is random, as of a recording that is played again, have no interval, and are held against the
bound as they are.

What is lost never arrives. Where more is lost than a quantile leaves above it, the need is missed. Where less
is, the quantile of all that was sent is one of those that arrived, and a higher one: with a part `d` lost the
p-quantile of all is that at ``p / (1 - d)`` of the others. So the need is met only if the next quantile that
the result has keeps the bound too, and missed where the lower one does not.

An interval at another level reaches in proportion to Student's quantiles, to each side by itself, as in
``crates/weir-lab/src/stats/estimate.rs``.

Work O(needs x disciplines). Units: those of the figures.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from weir import _weir
from weir.results.rows import Judgement, Sampled
from weir.text import share

if TYPE_CHECKING:
    from weir.results.result import Result
    from weir.results.rows import Measured, Need

__all__ = ["CONFIDENCE", "MET", "MISSED", "NOT_SETTLED", "ends", "judged", "past"]

CONFIDENCE = 0.95
"""The level of the intervals of a result."""
MET, MISSED, NOT_SETTLED = "met", "missed", "not_settled"
TOO_SHORT = "the run is too short for this figure"
_COUNTED = {"max", "min", "share", "window_max"}
"""Statistics of which a run has no interval: they are what was counted."""
_QUANTILES = ("p50", "p90", "p99", "p99.9", "p99.99")
_GROUPS = re.compile(r"\d+")


def judged(result: Result, level: float = CONFIDENCE) -> list[Judgement]:
    """Return what became of each need under each discipline, in the order of the scenario."""
    return [
        _judged(result, place, need, name, level)
        for place, need in enumerate(result.needs)
        for name in result.disciplines
    ]


def ends(row: Measured, level: float) -> tuple[float, float] | None:
    """Return the ends of a figure's interval at a level; None where it has no interval."""
    if row.value is None or row.low is None or row.high is None:
        return None
    if level == CONFIDENCE:
        return row.low, row.high
    found = _GROUPS.search(row.method or "") if isinstance(row, Sampled) else None
    groups = int(found.group()) if found else 0
    if groups < 2:  # nothing varies, so that no level makes it wider
        return row.low, row.high
    farther = _weir.reach(level, groups)
    return row.value + (row.low - row.value) * farther, row.value + (row.high - row.value) * farther


def past(value: float, need: Need) -> float:
    """Return by how much a value is on the wrong side; below zero on the right one."""
    return value - need.bound if need.side == "at_most" else need.bound - value


def _judged(result: Result, place: int, need: Need, discipline: str, level: float) -> Judgement:
    row = result.needed(discipline, need)
    state, reason = _state(row, need, level, exact=not result.random)
    told = _lost(result, discipline, need, level)
    if told is not None and (told[0] == MISSED or state == MET):
        state, reason = told
    value = None if row is None else row.value
    interval = None if row is None else ends(row, level)
    is_past = state == MISSED and value is not None and past(value, need) > 0
    return Judgement(
        need=place,
        discipline=discipline,
        state=state,
        value=value,
        low=interval and interval[0],
        high=interval and interval[1],
        missed_by=past(value, need) if is_past and value is not None else None,
        reason=reason,
    )


def _state(row: Measured | None, need: Need, level: float, *, exact: bool) -> tuple[str, str | None]:
    """Return what became of a need, and why where it is not settled."""
    if row is None or row.value is None:
        return NOT_SETTLED, (row.reason if row is not None else None) or "the run has no such figure"
    if row.settled is False:
        return NOT_SETTLED, TOO_SHORT
    interval = ends(row, level)
    if interval is None:
        if need.statistic not in _COUNTED and not exact:
            return NOT_SETTLED, row.reason or "without an interval, of one replication"
        return (MISSED if past(row.value, need) > 0 else MET), None
    inner, outer = sorted(past(end, need) for end in interval)
    if outer <= 0:
        return MET, None
    return (MISSED, None) if inner > 0 else (NOT_SETTLED, "the interval contains the bound")


def _lost(result: Result, discipline: str, need: Need, level: float) -> tuple[str, str] | None:
    """Return what losses make of a quantile within a bound, if they do: missed, or not known to be met."""
    if need.statistic not in _QUANTILES or need.side != "at_most":
        return None
    row = result.lost(discipline, need)
    if row is None or not row.value:
        return None
    left = _above(need.statistic)
    low, high = (row.value, row.value) if level == CONFIDENCE else ends(row, level) or (row.value, row.value)
    if low > left:
        return MISSED, f"{share(row.value)} is lost, more than a {need.statistic} leaves out"
    reached = 1 - (1 - left) / (1 - high)
    higher = next((each for each in _QUANTILES if _above(each) <= reached), None)
    if high <= left and higher is not None:
        next_need = replace(need, statistic=higher)
        exact = not result.random
        if _state(result.needed(discipline, next_need), next_need, level, exact=exact)[0] == MET:
            return None
    return NOT_SETTLED, f"{share(row.value)} is lost, and the {need.statistic} is of what arrived"


def _above(quantile: str) -> float:
    """Return the share above a quantile."""
    return 1 - float(quantile.removeprefix("p")) / 100
