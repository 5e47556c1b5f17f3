"""What a port's result says, in words.

It names the discipline with the lowest mean, and by how much it beats the reference, with the interval of the
paired difference. Then its price: for which class the mean gets worse most, and how much longer the longest
takes. Last who is nearly as good and gentler in the tail. Where two cannot be distinguished it says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.results.verdict import joined, measured
from weir.text import number, percent, quantity, reduction

if TYPE_CHECKING:
    from weir.models.port.result import Estimate, PortResult

_NEAR = 1.10  # a mean within a tenth of the lowest is worth a look at its tail
_PRICE = 1.5  # a maximum half as long again is a price to name
_WORSE = 0.05  # and so is a class whose mean is a twentieth above
_GENTLER = 0.9  # and a tail a tenth below is worth a word


def tail_statistic(result: PortResult) -> str:
    """Return the tail the report speaks of: p99 where it was measured, else the maximum."""
    rows = (result.estimate(name, statistic="p99") for name in result.disciplines)
    return "p99" if any(row is not None and row.value is not None for row in rows) else "max"


def best(result: PortResult) -> str | None:
    """Return the discipline with the lowest mean, if one could be estimated."""
    means = _known(result, "mean")
    return min(means, key=lambda name: _value(means[name]), default=None)


def ranking(result: PortResult) -> str:
    """Return who has the lowest mean, and by how much."""
    name = best(result)
    if name is None:
        return "no mean could be estimated"
    means = _known(result, "mean")
    value = quantity(_value(means[name]), means[name].unit)
    if len(means) == 1:
        return f"under {name} the mean {result.metric} is {value}"
    words = f"the lowest mean {result.metric} is that of {name}, {value}"
    return words + _against_reference(result, name)


def _against_reference(result: PortResult, best: str) -> str:
    if best == result.reference:
        return _runner_up(result)
    difference = result.difference(best)
    if difference is None or difference.relative is None:
        return ""
    if not difference.clear:
        return f", not distinguishable from {result.reference} at this length of run"
    ends = (difference.ratio_high, difference.ratio_low)
    low, high = (None if end is None else 1 - end for end in ends)
    less, _, span = reduction(-difference.relative, low, high).partition(" (")
    return f", {less} below {result.reference}{span and f' ({span}'}"


def _runner_up(result: PortResult) -> str:
    rows = [
        row for name in result.disciplines if (row := result.difference(name)) and row.relative is not None
    ]
    if not rows:
        return ""
    nearest = min(rows, key=lambda row: row.relative or 0.0)
    if not nearest.clear:
        return f", not distinguishable from {nearest.discipline} at this length of run"
    return f"; {nearest.discipline} comes next, {percent(nearest.relative or 0.0)} above"


def price(result: PortResult) -> str | None:
    """Return what the lowest mean costs: the class that it makes wait most, and the longest of all."""
    name = best(result)
    if name is None or len(result.disciplines) == 1:
        return None
    other = _other(result, name)
    parts = [part for part in (_worse(result, name, other), _longer(result, name, other)) if part]
    return f"its price against {other}: {joined(parts)}" if parts else None


def _other(result: PortResult, name: str) -> str:
    """Return whom the best is held against: the reference, or the next where it is the reference."""
    if name != result.reference:
        return result.reference
    means = _known(result, "mean")
    return min((each for each in means if each != name), key=lambda each: _value(means[each]), default=name)


def _worse(result: PortResult, name: str, other: str) -> str:
    """Return the class whose mean gets worse most, if one clearly does."""
    compared, sign = (other, -1) if name == result.reference else (name, 1)
    found = []
    for class_ in result.classes[1:]:
        row = result.difference(compared, class_=class_.name)
        if row is not None and row.clear and row.ratio:
            found.append((row.ratio**sign - 1, class_.name))
    more, class_name = max(found, default=(0.0, ""))
    if more <= _WORSE:
        return ""
    return f"the mean {result.metric} of {class_name} is {percent(more)} longer"


def _longer(result: PortResult, name: str, other: str) -> str:
    """Return how much longer the longest takes, if that is much."""
    longest = _known(result, "max")
    usual = _value(longest[other]) if {name, other} <= set(longest) else 0.0
    if usual <= 0 or _value(longest[name]) < _PRICE * usual:
        return ""
    return f"the longest {result.metric} is {number(_value(longest[name]) / usual, 2)} times as long"


def gentler(result: PortResult) -> str | None:
    """Return the discipline that is nearly as good on average and clearly better in the tail, if any."""
    name = best(result)
    means, statistic = _known(result, "mean"), tail_statistic(result)
    return None if name is None else _gentler(result, name, means, statistic)


def _gentler(result: PortResult, best: str, means: dict[str, Estimate], statistic: str) -> str | None:
    tails = _known(result, statistic)
    if best not in tails or _value(means[best]) <= 0:
        return None
    limit = _NEAR * _value(means[best])
    near = [name for name in means if name in tails and name != best and _value(means[name]) <= limit]
    gentle = min(near, key=lambda name: _value(tails[name]), default=None)
    if gentle is None or _value(tails[gentle]) > _GENTLER * _value(tails[best]):
        return None
    extra = _value(means[gentle]) / _value(means[best]) - 1
    less = 1 - _value(tails[gentle]) / _value(tails[best])
    tail = "maximum" if statistic == "max" else statistic
    return (
        f"nearly as good is {gentle}: {percent(extra)} more on average, "
        f"and {percent(less)} off the {tail} of {best}"
    )


def _known(result: PortResult, statistic: str) -> dict[str, Estimate]:
    return measured(result, lambda name: result.estimate(name, statistic=statistic))


def _value(row: Estimate) -> float:
    return row.value if row.value is not None else float("inf")
