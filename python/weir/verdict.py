"""What a result says, in words: the first line of every report.

The verdict names the discipline with the lowest mean, by how much it beats the reference with the interval of
the paired difference, what that costs in the tail, and whether closed forms and self-checks agree. Where two
cannot be told apart it says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.text import number, percent, plural, quantity

if TYPE_CHECKING:
    from weir.result import Difference, Estimate, PortResult, Result

__all__ = ["agreement", "state", "tail_statistic", "verdict"]

_NEAR = 1.10  # a mean within a tenth of the lowest is worth a look at its tail
_PRICE = 1.5  # a maximum half as long again is a price to name
_GENTLER = 0.9  # and a tail a tenth below is worth a word


def tail_statistic(result: PortResult) -> str:
    """Return the tail the report speaks of: p99 where it was measured, else the maximum."""
    rows = (result.estimate(name, statistic="p99") for name in result.disciplines)
    return "p99" if any(row is not None and row.value is not None for row in rows) else "max"


def state(result: PortResult) -> str | None:
    """Return why the numbers are to be read with care: no steady state, or an interrupted run."""
    if result.unstable:
        return f"No steady state: {result.unstable}"
    if result.empty:
        return "Interrupted before anything was finished"
    if result.interrupted:
        messages = result.document.get("messages", 0)
        return f"Interrupted after {plural(int(messages), 'message')}: what follows was finished by then"
    return None


def verdict(result: PortResult) -> str:
    """Return the verdict: one to three sentences."""
    if result.empty:
        return f"{state(result)}."
    parts = [state(result), None if result.unstable else _ranking(result), agreement(result)]
    return " ".join(f"{part}." for part in parts if part)


def _ranking(result: PortResult) -> str:
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
    if _straddles_zero(difference):
        return f", not to be told from {result.reference} at this length of run"
    span = _span(difference)
    return f", {percent(-difference.relative)} below {result.reference}{span}"


def _span(difference: Difference) -> str:
    low, high = difference.ratio_low, difference.ratio_high
    if low is None or high is None:
        return ""
    return f" (95 % interval {percent(1 - high).removesuffix(' %')} to {percent(1 - low)})"


def _runner_up(result: PortResult) -> str:
    rows = [
        row for name in result.disciplines if (row := result.difference(name)) and row.relative is not None
    ]
    if not rows:
        return ""
    nearest = min(rows, key=lambda row: row.relative or 0.0)
    if _straddles_zero(nearest):
        return f", not to be told from {nearest.discipline} at this length of run"
    return f"; {nearest.discipline} comes next, {percent(nearest.relative or 0.0)} above"


def _straddles_zero(row: Difference) -> bool:
    return row.low is None or row.high is None or row.low <= 0 <= row.high


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
    rows = {name: result.estimate(name, statistic=statistic) for name in result.disciplines}
    return {name: row for name, row in rows.items() if row is not None and row.value is not None}


def _value(row: Estimate) -> float:
    return row.value if row.value is not None else float("inf")


def agreement(result: Result) -> str | None:
    """Return how many closed forms the simulation agrees with, and which self-checks failed."""
    if result.empty:
        return None
    tested = [row for row in result.theory if row.agrees is not None]
    failed = [check for check in result.checks if not check.ok]
    words = []
    if tested:
        agreeing = sum(1 for row in tested if row.agrees)
        agree = "agrees" if len(tested) == 1 else "agree"
        words.append(f"{agreeing} of {plural(len(tested), 'closed form')} {agree} with the simulation")
    if failed:
        words.append(f"{len(failed)} of {plural(len(result.checks), 'self-check')} failed: {failed[0].check}")
    elif len(result.checks) == 1:
        words.append("the self-check holds")
    elif result.checks:
        words.append(f"all {len(result.checks):,} self-checks hold")
    return "; ".join(words) or None
