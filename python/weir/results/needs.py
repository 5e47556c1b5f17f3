"""The words for what became of the needs that a scenario declares by ``[[need]]``, under each discipline.

What is met, missed or not settled is judged in `weir.results.judging`.

Work O(needs x disciplines). Units: those of the figures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.results.judging import MET, MISSED, NOT_SETTLED, past
from weir.results.reading import ALL
from weir.results.verdict import BOTH, joined
from weir.text import amount, plural

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from weir.results.result import Result
    from weir.results.rows import Judgement, Need

_PLAIN = {
    "late": "share of late responses",
    "need_met": "share of epochs in which the need is met",
    "dropped": "share of dropped requests",
    "reordered": "share that arrives out of order",
    "accepted": "share of the offer that is accepted",
    "in_use": "number of cores in use",
    "loss": "loss",
    "throughput": "throughput",
    "utilisation": "utilisation",
    "jain": "Jain's index",
}
"""Metrics that are no means of times, in words."""
_NOT_SHARES = {"slowdown", "jain"}
_FEW = 3
"""Disciplines that are named one by one."""


def told(result: Result) -> list[str]:
    """Return what became of the needs, and which no discipline can meet: three sentences at most."""
    found: dict[str, list[Judgement]] = {name: [] for name in result.disciplines}
    for each in result.judgements:
        found[each.discipline].append(each)
    if not result.needs:
        return []
    if len(result.needs) == 1:
        return [_of_one(result, found), *_hopeless(result)]
    if len(result.disciplines) == 1:
        return [_alone(result, next(iter(found.values()))), *_hopeless(result)]
    return [_meeting(result, found), *_hopeless(result), *_failing(result, found)]


def figure(need: Need) -> str:
    """Return what a need is about: ``the p99 response of api``."""
    words = _PLAIN.get(need.metric, need.metric.replace("_", " "))
    plain = need.statistic in {"mean", "share"} and need.metric in _PLAIN
    statistic = {"max": "longest", "min": "least", "share": ""}.get(need.statistic, need.statistic)
    whole = words if plain else f"{statistic} {words}".strip()
    of = "" if need.name == ALL else f" of {need.name}"
    at = "" if need.load is None else f" at load {need.load:g}"
    return f"the {whole}{of}{at}"


def of_shares(need: Need) -> bool:
    """Return whether a need is about a share, which is shown in per cent."""
    return need.unit == "1" and need.metric not in _NOT_SHARES


def written(value: float, need: Need) -> str:
    """Return a value of what a need is about, with its unit."""
    if of_shares(need):
        return f"{amount(100 * value, '1')} %"
    return amount(value, need.unit)


def bound(need: Need) -> str:
    """Return what a need asks for: ``at most 400 ms``."""
    return f"{'at most' if need.side == 'at_most' else 'at least'} {written(need.bound, need)}"


def _found(each: Judgement, need: Need) -> str:
    """Return what was found: the value, and its interval where that leaves it open."""
    if each.value is None:
        return f"no figure: {each.reason}"
    words = written(each.value, need)
    if each.state == NOT_SETTLED and each.low is not None and each.high is not None:
        ends = (written(max(each.low, 0.0), need), written(each.high, need))
        return f"{words}, 95 % interval {ends[0]} to {ends[1]}"
    return words


def _missed(each: Judgement, need: Need) -> str:
    """Return by how much a need is missed."""
    if each.missed_by is None:
        return f"since {each.reason}"
    return f"by {written(each.missed_by, need)}"


def _of_one(result: Result, found: dict[str, list[Judgement]]) -> str:
    """Return what became of the only need."""
    need = result.needs[0]
    each = {name: rows[0] for name, rows in found.items()}
    whole = "" if result.random else "in this one recording "
    what = f"{whole}{figure(need)} is to be {bound(need)}"
    if len(each) == 1:
        (row,) = each.values()
        return f"{what} and is {_outcome(row, need)}"
    by_state = {
        state: [name for name in _ordered(each, need) if each[name].state == state]
        for state in (MET, MISSED, NOT_SETTLED)
    }
    parts = []
    if by_state[MET]:
        parts.append(f"met under {_each(result, by_state[MET], lambda name: _found(each[name], need))}")
    if by_state[MISSED]:
        every = not by_state[MET] and not by_state[NOT_SETTLED]
        words = _each(result, by_state[MISSED], lambda name: _missed(each[name], need))
        parts.append(
            f"missed under every discipline, least under {words}" if every else f"missed under {words}"
        )
    if by_state[NOT_SETTLED]:
        words = _each(result, by_state[NOT_SETTLED], lambda name: _found(each[name], need))
        parts.append(f"not settled under {words}")
    return f"{what}: {'; '.join(parts)}"


def _outcome(row: Judgement, need: Need) -> str:
    if row.state == MET:
        return f"{_found(row, need)}: met"
    if row.state == MISSED:
        value = "missed" if row.value is None else f"{_found(row, need)}: missed"
        return f"{value} {_missed(row, need)}"
    return f"not settled ({_found(row, need)})"


def _ordered(each: dict[str, Judgement], need: Need) -> list[str]:
    """Return disciplines from the best value to the worst."""

    def distance(name: str) -> float:
        value = each[name].value
        return float("inf") if value is None else past(value, need)

    return sorted(each, key=distance)


def _each(result: Result, names: Sequence[str], tell: Callable[[str], str]) -> str:
    """Return disciplines with what is said of each, the first few one by one."""
    told = [f"{result.labels[name]} ({tell(name)})" for name in names[:_FEW]]
    if len(names) > _FEW:
        told.append(f"{plural(len(names) - _FEW, 'other')}")
    return joined(told)


def _alone(result: Result, rows: Sequence[Judgement]) -> str:
    """Return what became of several needs under the only discipline."""
    missed, still_open = ([row for row in rows if row.state == state] for state in (MISSED, NOT_SETTLED))
    count = plural(len(result.needs), "need")
    if not missed and not still_open:
        return f"{_all(result)} are met; {_closest(result, rows)}"
    parts = []
    if missed:
        parts.append(f"{len(missed)} of {count} missed: {_worst(result, missed)}")
    if still_open:
        parts.append(f"not settled: {_open(result, still_open)}")
    return "; ".join(parts)


def _meeting(result: Result, found: dict[str, list[Judgement]]) -> str:
    """Return who meets all needs, with what is left to the bound that is nearest."""
    count = len(result.needs)
    all_of = f"all {count} needs" if count > 2 else "both needs"
    calm = [name for name, rows in found.items() if all(row.state == MET for row in rows)]
    if not calm:
        hopeless = all(any(row.state == MISSED for row in rows) for rows in found.values())
        return f"no discipline {'meets' if hopeless else 'is known to meet'} {all_of}"
    calm.sort(key=lambda name: -_spare(result, _tightest(result, found[name])))
    where = "every discipline" if len(calm) == len(found) else joined(result.labels[name] for name in calm)
    whose = "" if len(calm) == 1 else f" under {result.labels[calm[0]]}, which has most to spare,"
    return f"{all_of} are met under {where};{whose} {_closest(result, found[calm[0]])}"


def _all(result: Result) -> str:
    count = len(result.needs)
    return "both needs" if count == BOTH else f"all {count} needs"


def _spare(result: Result, row: Judgement) -> float:
    """Return what is left to the bound, in parts of it."""
    need = result.needs[row.need]
    left = -past(row.value or 0.0, need)
    return left / need.bound if need.bound else left


def _tightest(result: Result, rows: Sequence[Judgement]) -> Judgement:
    return min(rows, key=lambda row: _spare(result, row))


def _closest(result: Result, rows: Sequence[Judgement]) -> str:
    """Return the need whose bound is nearest."""
    row = _tightest(result, rows)
    need = result.needs[row.need]
    return f"nearest to its bound is {figure(need)}, {_found(row, need)} for {bound(need)}"


def _failing(result: Result, found: dict[str, list[Judgement]]) -> list[str]:
    """Return who misses what by how much, and what is not settled under whom."""
    missed = {name: [row for row in rows if row.state == MISSED] for name, rows in found.items()}
    order = sorted(
        (name for name in missed if missed[name]),
        key=lambda name: (len(missed[name]), -min(_spare(result, row) for row in missed[name])),
    )
    parts = [f"under {result.labels[name]} {_worst(result, missed[name])}" for name in order[:_FEW]]
    if len(order) > _FEW:
        parts.append(f"needs are missed under {joined(result.labels[name] for name in order[_FEW:])} too")
    for name, rows in found.items():
        still_open = [row for row in rows if row.state == NOT_SETTLED]
        if still_open and not missed[name]:
            parts.append(f"under {result.labels[name]} it is not settled: {_open(result, still_open)}")
    return ["; ".join(parts)] if parts else []


def _hopeless(result: Result) -> list[str]:
    """Return which needs the service times alone miss, under whatever discipline."""
    missed = [
        need
        for place, need in enumerate(result.needs)
        if need.floor is not None
        and all(row.state == MISSED for row in result.judgements if row.need == place)
    ]
    if not missed:
        return []
    need = max(missed, key=lambda need: (need.floor or 0.0) / need.bound if need.bound else float("inf"))
    more = len(missed) - 1
    others = f", nor {plural(more, 'other need')} on the response" if more else ""
    of = "" if need.name == ALL else f" of {need.name}"
    least = written(need.floor or 0.0, need)
    asked = f"the {need.statistic} response{of} within {written(need.bound, need)}"
    words = f"the service times{of} alone have a {need.statistic} of {least}"
    return [f"{words}: no discipline that serves every request keeps {asked}{others}"]


def _worst(result: Result, rows: Sequence[Judgement]) -> str:
    """Return which need is missed most, by how much, and how many others are."""
    row = min(rows, key=lambda row: _spare(result, row))
    need = result.needs[row.need]
    words = f"{figure(need)} misses its {written(need.bound, need)} {_missed(row, need)}"
    more = len(rows) - 1
    return words + (
        f", and {plural(more, 'other need')} {'is' if more == 1 else 'are'} missed" if more else ""
    )


def _open(result: Result, rows: Sequence[Judgement]) -> str:
    """Return which needs are not settled, with what is known of the first."""
    need = result.needs[rows[0].need]
    more = f", nor {plural(len(rows) - 1, 'other need')}" if len(rows) > 1 else ""
    return f"{figure(need)} ({_found(rows[0], need)} for {bound(need)}){more}"
