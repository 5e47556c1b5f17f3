"""Figures of what was measured: offer, throughput, delay and loss of a flow in an interval of sending time.

The 95 % interval of a figure is Student's, over repeated runs where there are some, else over ten batches
of the interval. Batches are not independent where a queue remembers longer than one of them: the interval
of a single run says how steady the run was, not how far another would lie.

Units: as in results of the simulation: bits a second, seconds, their squares, shares; times of the scenario.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from weir.reproduce.engine.thresholds import student_quantile

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy as np

    from weir.live.logs import Packets
    from weir.live.plan import Plan

__all__ = ["FIGURES", "Value", "around", "difference", "longest_of", "measured"]

FIGURES = (
    ("offer", "mean", "bit/s"),
    ("throughput", "mean", "bit/s"),
    ("delay", "mean", "s"),
    ("delay_variance", "mean", "s^2"),
    ("delay", "p50", "s"),
    ("delay", "p90", "s"),
    ("delay", "p99", "s"),
    ("loss", "mean", "1"),
)
"""What is measured: metric, statistic and unit, as rows of the simulation have them."""
_BATCHES = 10
_OUTSIDE = 0.05
_QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99}


@dataclass(frozen=True, slots=True)
class Value:
    """A figure with its 95 % interval, where it has one; None where there is nothing to take it from."""

    value: float | None
    low: float | None = None
    high: float | None = None

    @property
    def half(self) -> float:
        """Half the width of the interval; 0 where there is none."""
        return 0.0 if self.low is None or self.high is None else (self.high - self.low) / 2


@dataclass(frozen=True, slots=True, eq=False)
class _Sent:
    """Packets of a flow in times of the scenario."""

    due: np.ndarray[Any, Any]
    size: np.ndarray[Any, Any]
    delay: np.ndarray[Any, Any]

    def within(self, begin: float, end: float) -> _Sent:
        chosen = (self.due >= begin) & (self.due < end)
        return _Sent(self.due[chosen], self.size[chosen], self.delay[chosen])


def measured(
    plan: Plan, runs: Sequence[Sequence[Packets]], place: int, interval: tuple[float, float]
) -> dict[tuple[str, str], Value]:
    """Return the figures of a flow in an interval, by metric and statistic.

    Parameters
    ----------
    plan : Plan
        What was run.
    runs : sequence
        The packets of all flows, of each run.
    place : int
        Which flow.
    interval : (float, float)
        In seconds of sending time, of the scenario.
    """
    chosen = [_of_scenario(plan, packets[place], place).within(*interval) for packets in runs]
    values = [_figures(each, interval) for each in chosen]
    if len(chosen) > 1:
        parts = values
    else:
        begin, width = interval[0], (interval[1] - interval[0]) / _BATCHES
        spans = [(begin + width * batch, begin + width * (batch + 1)) for batch in range(_BATCHES)]
        parts = [_figures(chosen[0].within(*span), span) for span in spans]
    return {key: _value(key, values, parts) for key in values[0]}


def _of_scenario(plan: Plan, packets: Packets, place: int) -> _Sent:
    stream = plan.streams[place]
    due = (packets.due * plan.scale + stream.start) / 1e9
    delay = (packets.delay * plan.scale + stream.before + stream.after) / 1e9
    return _Sent(due, packets.size, delay)


def _figures(sent: _Sent, interval: tuple[float, float]) -> dict[tuple[str, str], float | None]:
    import numpy as np

    arrived = ~np.isnan(sent.delay)
    delays = sent.delay[arrived]
    span = interval[1] - interval[0]
    made: dict[tuple[str, str], float | None] = {
        ("offer", "mean"): float(sent.size.sum()) * 8 / span,
        ("throughput", "mean"): float(sent.size[arrived].sum()) * 8 / span,
        ("delay", "mean"): float(delays.mean()) if len(delays) else None,
        ("delay_variance", "mean"): float(delays.var(ddof=1)) if len(delays) > 1 else None,
        ("loss", "mean"): float(1 - arrived.mean()) if len(arrived) else None,
    }
    for name, level in _QUANTILES.items():
        quantile = np.quantile(delays, level, method="inverted_cdf") if len(delays) else None
        made["delay", name] = None if quantile is None else float(quantile)
    return made


def _value(
    key: tuple[str, str],
    values: Sequence[dict[tuple[str, str], float | None]],
    parts: Sequence[dict[tuple[str, str], float | None]],
) -> Value:
    known = [each[key] for each in values]
    found = [value for value in known if value is not None]
    if not found:
        return Value(None)
    return around(fmean(found), [value for each in parts if (value := each[key]) is not None])


def around(mean: float, spread: Sequence[float]) -> Value:
    """Return a mean with Student's 95 % interval by what spreads around it; no interval of fewer than two."""
    if len(spread) < 2:
        return Value(mean)
    freedom = len(spread) - 1
    half = student_quantile(_OUTSIDE, freedom) * stdev(spread) / math.sqrt(len(spread))
    return Value(mean, mean - half, mean + half)


def longest_of(spans: Iterable[Mapping[str, Any]], level: float) -> int | None:
    """Return what so large a share of spans took at most, in nanoseconds; None where nothing was counted.

    ``spans`` are as ``weird`` tells them, in buckets; it is the end of one, and at most the longest of all.
    """
    found = list(spans)
    counts: Counter[int] = Counter()
    for each in found:
        counts.update(dict(each["buckets"]))
    rank, below = level * counts.total(), 0
    for end, count in sorted(counts.items()):
        below += count
        if below >= rank > 0:
            return min(end, max(int(each["longest_ns"]) for each in found))
    return None


def difference(measured: Value, simulated: Value) -> Value:
    """Return measured minus simulated, which are independent, with its 95 % interval."""
    if measured.value is None or simulated.value is None:
        return Value(None)
    value = measured.value - simulated.value
    half = math.hypot(measured.half, simulated.half)
    return Value(value, value - half, value + half)
