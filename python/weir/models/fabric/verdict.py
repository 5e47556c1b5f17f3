"""What a fabric's result says, in words: who is best for which channel, and where channels saturate.

The words are about one load, the highest of the scenario at which no channel saturates under any discipline,
nor may; above it latencies are those of full buffers. Two disciplines are distinguished by the interval of
their paired difference, or where there is none by intervals that do not overlap.

A channel saturates where the 90 % interval of what is accepted is below 99 %. Where the interval reaches both
sides of that and is wider than 2 %, or one replication has none, it is not known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from weir.results.reading import ALL
from weir.results.verdict import BOTH, disjoint, joined, measured, rivals, those, under
from weir.text import plural, quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weir.models.fabric.result import FabricResult
    from weir.models.fabric.rows import FabricEstimate, Saturation

_FEW = 3
"""Disciplines whose saturation is reported one by one."""
_ACCEPTED = 0.99
_WIDE = 0.02
"""An interval of the accepted part that is wider leaves open whether a channel saturates."""
_TWO_DIGITS = 9.95


@dataclass(frozen=True, slots=True)
class Standing:
    """The lowest mean latency of a channel at a load, and what cannot be distinguished from it."""

    channel: str
    best: str
    rivals: tuple[str, ...]


def telling_load(result: FabricResult) -> float:
    """Return the highest load below saturation; the lowest, where every load saturates a channel."""
    known = [row.load for row in result.saturation if row.load is not None]
    known += [row.load for row in _open(result) if row.value is not None and row.value < _ACCEPTED]
    below = [load for load in result.loads if load < min(known, default=float("inf"))]
    return max(below, default=min(result.loads))


# Who is best for whom.


def standings(result: FabricResult, load: float) -> list[Standing]:
    """Return who has the lowest mean latency of each channel at a load, where that is known."""
    found = (_standing(result, load, channel.name) for channel in result.channels)
    return [each for each in found if each is not None]


def _standing(result: FabricResult, load: float, channel: str) -> Standing | None:
    found = measured(result, lambda name: result.estimate(name, load=load, channel=channel))
    if len(found) < len(result.disciplines):
        return None
    best = min(found, key=lambda name: _mean(found[name]))

    def paired(name: str) -> bool | None:
        row = result.difference(name, load=load, channel=channel)
        return None if row is None else row.clear

    close = rivals(result, found, best, paired, lambda *two: bool(disjoint(*(found[name] for name in two))))
    return Standing(channel, best, tuple(close))


def _mean(row: FabricEstimate) -> float:
    return float("inf") if row.value is None else row.value


def latency(result: FabricResult) -> str | None:
    """Return whose mean latency is lowest for which channels, at the telling load."""
    load = telling_load(result)
    if len(result.disciplines) == 1:
        return _alone(result, load)
    found = standings(result, load)
    if not found:
        return None
    clear = [each for each in found if not each.rivals]
    winners = sorted(
        {each.best for each in clear},
        key=lambda name: (-sum(each.best == name for each in clear), name == result.reference, name),
    )
    parts = [
        _named(result, load, name, [each.channel for each in clear if each.best == name], len(found))
        for name in winners
    ]
    close = _close(result, [each for each in found if each.rivals], len(found))
    if not parts:
        return f"at load {load:g} {close}"
    words = f"at load {load:g} the mean latency is lowest {joined(parts)}"
    return f"{words}; {close}" if close else words


def _named(result: FabricResult, load: float, name: str, channels: Sequence[str], known: int) -> str:
    """Return whose latency is lowest under a discipline, and by how much."""
    whose = "every channel" if len(channels) == known > 1 else joined(channels)
    return f"under {result.labels[name]} for {whose}{_gain(result, load, name, channels)}"


def _gain(result: FabricResult, load: float, name: str, channels: Sequence[str]) -> str:
    """Return by how much a discipline is below the reference, or the only other one above it."""
    against = [each for each in result.disciplines if each != result.reference]
    other = against[0] if name == result.reference else name
    if name == result.reference and len(against) > 1:
        return ""
    rows = [result.difference(other, load=load, channel=channel) for channel in channels]
    known = [row for row in rows if row is not None and row.value is not None]
    if not known:
        return ""
    least, most = (end(abs(row.value or 0.0) for row in known) for end in (min, max))
    ends = dict.fromkeys((_per_cent(least), _per_cent(most)))
    span = " to ".join(ends)
    if name == result.reference:
        return f" ({result.labels[other]} is {span} % above)"
    interval = ""
    if len(known) == 1 and known[0].low is not None and known[0].high is not None:
        interval = f", 95 % interval {_per_cent(known[0].low)} to {_per_cent(known[0].high)}"
    return f" ({span} % below {result.labels[result.reference]}{interval})"


def _per_cent(value: float) -> str:
    text = f"{value:.0f}" if abs(value) >= _TWO_DIGITS else f"{value:.1f}"
    return text.replace("-", "−")


def _close(result: FabricResult, close: Sequence[Standing], known: int) -> str:
    """Return for which channels no best can be named, and of which disciplines."""
    groups: dict[frozenset[str], list[str]] = {}
    for each in close:
        groups.setdefault(frozenset((each.best, *each.rivals)), []).append(each.channel)
    told = sorted(groups.items(), key=lambda group: -len(group[1]))
    alone = result.replications == 1
    why = "without intervals, of one replication" if alone else "at this length of run"
    words = ""
    for names, channels in told[:_FEW]:
        who, whose = those(result, names), "any channel" if len(channels) == known else joined(channels)
        words += f", nor {who} for {whose}" if words else f"for {whose} {who} cannot be distinguished {why}"
    return words + (", nor others for the rest" if len(told) > _FEW else "")


def price(result: FabricResult) -> str | None:
    """Return which channel pays most for whoever is best for most; of two `latency` says it."""
    load = telling_load(result)
    clear = [each.best for each in standings(result, load) if not each.rivals]
    if len(result.disciplines) <= BOTH or not clear:
        return None
    best = max(dict.fromkeys(clear), key=clear.count)
    rows = [(each.name, result.difference(best, load=load, channel=each.name)) for each in result.channels]
    worse = [(row.value or 0.0, name) for name, row in rows if row is not None and row.clear]
    lost, channel = min(worse, default=(0.0, ""))
    if best == result.reference or lost >= 0:
        return None
    return (
        f"the channel {channel} pays most for {result.labels[best]}: its mean latency is "
        f"{_per_cent(-lost)} % above that under {result.labels[result.reference]}"
    )


def _alone(result: FabricResult, load: float) -> str | None:
    """Return the latencies of the only discipline."""
    name = result.disciplines[0]
    every = result.estimate(name, load=load)
    rows = [result.estimate(name, load=load, channel=each.name) for each in result.channels]
    known = [row for row in rows if row is not None and row.value is not None]
    if not known:
        return None
    low, high = min(known, key=_mean), max(known, key=_mean)
    least, most = (quantity(_mean(row), row.unit) for row in (low, high))
    if len(known) == 1:
        return f"at load {load:g} the mean latency is {least}"
    spread = f"from {least} ({low.channel}) to {most} ({high.channel})"
    whole = (
        f"is {quantity(every.value, every.unit)} over all channels, "
        if every is not None and every.value is not None
        else "of the channels is "
    )
    return f"at load {load:g} the mean latency {whole}{spread}"


# Where it saturates.


def _open(result: FabricResult) -> list[FabricEstimate]:
    """Return the accepted parts of channels of which it is not known whether they saturate."""
    first = {(row.discipline, row.channel): row.load or float("inf") for row in result.saturation}
    return [
        row
        for row in result.estimates
        if row.metric == "accepted" and row.channel != ALL and row.value is not None
        if row.load < first.get((row.discipline, row.channel), 0.0) and _is_open(row)
    ]


def _is_open(row: FabricEstimate) -> bool:
    if row.low_90 is None or row.high_90 is None:
        return True
    return row.low_90 < _ACCEPTED <= row.high_90 and row.high_90 - row.low_90 > _WIDE


def _untold(result: FabricResult) -> str | None:
    """Return where it is not known whether a channel saturates, and what is known of the lowest."""
    rows = _open(result)
    if not rows:
        return None
    least = min(rows, key=lambda row: (_mean(row) if row.low_90 is None else row.low_90, row.load))
    at = f"{least.channel} at load {least.load:g}{under(result, [least.discipline])}"
    if least.low_90 is None or least.high_90 is None:
        return (
            "whether channels saturate is not known from one replication: of what is offered at least "
            f"{100 * _mean(least):.1f} % arrives, for {at}"
        )
    others = len({(row.discipline, row.channel, row.load) for row in rows}) - 1
    more = f", nor in {plural(others, 'other case')}" if others else ""
    return (
        f"whether {at} saturates is not known at this length of run: {100 * least.low_90:.1f} to "
        f"{100 * least.high_90:.1f} % of what is offered arrives (90 % interval){more}"
    )


def saturation(result: FabricResult) -> str | None:
    """Return which channels saturate first, and where that cannot be determined."""
    return "; ".join(filter(None, (_saturated(result), _untold(result)))) or None


def _saturated(result: FabricResult) -> str | None:
    rows = [row for row in result.saturation if row.channel != ALL]
    if not rows:
        return None
    first = {name: _first(rows, name) for name in result.disciplines}
    saturating = sorted(
        (name for name in result.disciplines if first[name] is not None), key=lambda name: first[name] or 0.0
    )
    highest = f"{max(result.loads):g}"
    if not saturating and _open(result):
        return None
    if not saturating:
        return f"no channel saturates up to load {highest}: at least 99 % of what is offered arrives"
    told: dict[str, list[str]] = {}
    for name in saturating[:_FEW]:
        channels = [row.channel for row in rows if row.discipline == name and row.load == first[name]]
        told.setdefault(f"{joined(channels)} from load {first[name]:g}", []).append(name)
    doubtful = {row.discipline for row in _open(result)}
    calm = [name for name in result.disciplines if first[name] is None and name not in doubtful]
    if calm:
        told[f"no channel up to load {highest}"] = calm
    parts = [f"{words}{under(result, names)}" for words, names in told.items()]
    return f"first to saturate, with less than 99 % of what is offered arriving: {'; '.join(parts)}"


def _first(rows: Sequence[Saturation], discipline: str) -> float | None:
    """Return the least load at which a channel saturates under a discipline."""
    return min(
        (row.load for row in rows if row.discipline == discipline and row.load is not None), default=None
    )
