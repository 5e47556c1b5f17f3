"""What a port's result says, in words.

The verdict names the discipline with the lowest mean, by how much it beats the reference with the interval of
the paired difference, what that costs in the tail, and whether closed forms and self-checks agree. Where two
cannot be told apart it says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.results.verdict import measured
from weir.text import number, percent, quantity, reduction

if TYPE_CHECKING:
    from weir.models.port.result import Estimate, PortResult

_NEAR = 1.10  # a mean within a tenth of the lowest is worth a look at its tail
_PRICE = 1.5  # a maximum half as long again is a price to name
_GENTLER = 0.9  # and a tail a tenth below is worth a word


def tail_statistic(result: PortResult) -> str:
    """Return the tail the report speaks of: p99 where it was measured, else the maximum."""
    rows = (result.estimate(name, statistic="p99") for name in result.disciplines)
    return "p99" if any(row is not None and row.value is not None for row in rows) else "max"


def ranking(result: PortResult) -> str:
    """Return who has the lowest mean, what that costs in the tail, and who is nearly as good."""
    means = _known(result, "mean")
    if not means:
        return "No mean could be estimated"
    best = min(means, key=lambda name: _value(means[name]))
    where = f"{best} has the lowest mean {result.metric}, {quantity(_value(means[best]), means[best].unit)}"
    if len(means) == 1:
        return where.replace("has the lowest", "has a", 1)
    against = _against_reference(result, best)
    return where + against + _price(result, best) + _gentler(result, best, means)


def _against_reference(result: PortResult, best: str) -> str:
    if best == result.reference:
        return _runner_up(result)
    difference = result.difference(best)
    if difference is None or difference.relative is None:
        return ""
    if not difference.clear:
        return f", not to be told from {result.reference} at this length of run"
    ends = (difference.ratio_high, difference.ratio_low)
    low, high = (None if end is None else 1 - end for end in ends)
    told, _, span = reduction(-difference.relative, low, high).partition(" (")
    return f", {told} below {result.reference}{span and f' ({span}'}"


def _runner_up(result: PortResult) -> str:
    rows = [
        row for name in result.disciplines if (row := result.difference(name)) and row.relative is not None
    ]
    if not rows:
        return ""
    nearest = min(rows, key=lambda row: row.relative or 0.0)
    if not nearest.clear:
        return f", not to be told from {nearest.discipline} at this length of run"
    return f"; {nearest.discipline} comes next, {percent(nearest.relative or 0.0)} above"


def _price(result: PortResult, best: str) -> str:
    """Return what the lowest mean costs the unluckiest, if that is much."""
    longest = _known(result, "max")
    if best == result.reference or not {best, result.reference} <= set(longest):
        return ""
    usual = _value(longest[result.reference])
    if usual <= 0 or _value(longest[best]) < _PRICE * usual:
        return ""
    return f", at a maximum {number(_value(longest[best]) / usual, 2)} times as long"


def _gentler(result: PortResult, best: str, means: dict[str, Estimate]) -> str:
    """Return the discipline that is nearly as good on average and clearly better in the tail, if any."""
    statistic = tail_statistic(result)
    tails = _known(result, statistic)
    if best not in tails:
        return ""
    limit = _NEAR * _value(means[best])
    near = [name for name in means if name in tails and name != best and _value(means[name]) <= limit]
    gentle = min(near, key=lambda name: _value(tails[name]), default=None)
    if gentle is None or _value(tails[gentle]) > _GENTLER * _value(tails[best]):
        return ""
    extra = _value(means[gentle]) / _value(means[best]) - 1
    less = 1 - _value(tails[gentle]) / _value(tails[best])
    tail = "maximum" if statistic == "max" else statistic
    return f"; {gentle} costs {percent(extra)} more on average and takes {percent(less)} off its {tail}"


def _known(result: PortResult, statistic: str) -> dict[str, Estimate]:
    return measured(result, lambda name: result.estimate(name, statistic=statistic))


def _value(row: Estimate) -> float:
    return row.value if row.value is not None else float("inf")
