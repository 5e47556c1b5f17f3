"""What a network's result says, in words: who is served worst, how small flows fare, what low delay costs.

A flow is held against its max-min share (`weir.models.network.fairness`), with the weights of the discipline;
the worst served gets the smallest part of it. Where flows were not measured one by one, classes stand for
them, and their *due* is what they offer, but at most the mean throughput of all. A transfer that its own
window holds is named as such. Where the rate of a flow follows a curve, the share of its mean is that of no
time, and who is served worst is left out. A *small* flow is open-loop traffic that asks for a small part of a
link that others fill, as a call does: its delay and its loss are what it feels of the discipline.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from weir.models.network import fairness
from weir.models.network.tables import subjects
from weir.models.network.written import curved
from weir.results.reading import ALL
from weir.results.verdict import disjoint, lowest, measured, under
from weir.text import number, percent, plural, quantity, share

if TYPE_CHECKING:
    from weir.models.network.result import NetworkResult
    from weir.models.network.tables import Subject

_ALL_OF_IT = 0.995
"""A flow that gets this part of its share is said to get all of it."""
_LOSSLESS = 0.9995
_FAIR = " (max-min)"
_DUE = " (what it offers, at most the mean of all)"
_SMALL = 0.2
"""A flow that asks for less than this part of an equal share is small."""
_OPEN = {"drawn", "script", "replay"}


@dataclass(frozen=True, slots=True)
class Served:
    """The flow that gets the smallest part of its due under one discipline."""

    discipline: str
    kind: str
    name: str
    part: float
    lossless: bool
    """Whether every flow gets all it offers."""
    rate: float
    due: float
    weighted: bool = False
    """Whether the discipline has weights, which its due goes by."""


def worst_served(result: NetworkResult, discipline: str) -> Served | None:
    """Return the worst-served flow or class, or None where throughput was not measured."""
    known = fairness.transfers(result)
    window = fairness.held(result, discipline, known)
    found = fairness.shares(result, discipline, known, window)
    if not found:
        return _worst_class(result, discipline)
    worst = min(found, key=lambda each: each.part)
    lossless = not known and all(each.rate >= _LOSSLESS * _offer(result, discipline, each) for each in found)
    weighted = "weights=" in result.spec(discipline)
    return Served(discipline, "flow", worst.flow, worst.part, lossless, worst.rate, worst.fair, weighted)


def _offer(result: NetworkResult, discipline: str, each: fairness.Share) -> float:
    row = result.estimate(discipline, metric="offer", flow=each.flow)
    return 0.0 if row is None or row.value is None else row.value


def _worst_class(result: NetworkResult, discipline: str) -> Served | None:
    """Return the class that gets the smallest part of what it offers, at most the mean of all."""
    rates = {
        subject: (offer.value, got.value)
        for subject in subjects(result, "class") or subjects(result, ALL)
        if (offer := subject.estimate(result, discipline, "offer")) is not None
        and (got := subject.estimate(result, discipline, "throughput")) is not None
        and offer.value
        and got.value is not None
    }
    if not rates:
        return None
    mean = sum(got for _, got in rates.values()) / len(rates)
    dues = {subject: min(offer, mean) for subject, (offer, _) in rates.items()}
    parts = {
        subject: min(1.0, got / dues[subject]) for subject, (_, got) in rates.items() if dues[subject] > 0
    }
    if not parts:
        return None
    worst: Subject = min(parts, key=lambda subject: parts[subject])
    lossless = all(got >= _LOSSLESS * offer for offer, got in rates.values())
    return Served(discipline, worst.kind, worst.name, parts[worst], lossless, rates[worst][1], dues[worst])


def served(result: NetworkResult) -> str | None:
    """Return who is served worst, under whom least badly, and under the reference."""
    worst = [each for name in result.disciplines if (each := worst_served(result, name)) is not None]
    if not worst:
        return None
    if all(each.lossless for each in worst):
        return "every flow gets all it offers" + (" under every discipline" if len(worst) > 1 else "")
    if curved(result) or len(window_bound(result)) == len(result.flows):
        return None
    if all(each.part >= _ALL_OF_IT for each in worst) and len(worst) > 1:
        return f"every flow gets its {_name(worst[0])} under every discipline"
    best = max(worst, key=lambda each: each.part)
    words = f"under {result.labels[best.discipline]} {_told(best, explain=True)}"
    others = [each for each in worst if each.discipline != best.discipline]
    if not others:
        return words
    reference = next((each for each in others if each.discipline == result.reference), None)
    other = reference or min(others, key=lambda each: each.part)
    return f"{words}; under {result.labels[other.discipline]} {_told(other)}"


def _name(worst: Served) -> str:
    return "fair share" if worst.kind == "flow" else "due"


def _told(worst: Served, *, explain: bool = False) -> str:
    if worst.lossless:
        return "every flow gets all it offers"
    explained = (_FAIR if worst.kind == "flow" else _DUE) if explain else ""
    if worst.weighted:
        explained = " by the weights"
    if worst.part >= _ALL_OF_IT:
        return f"every flow gets its {_name(worst)}{explained}"
    who = "all flows together" if worst.kind == ALL else worst.name
    amounts = f": {quantity(worst.rate, 'bit/s')} of {quantity(worst.due, 'bit/s')}"
    return f"the worst served, {who}, gets {percent(worst.part)} of its {_name(worst)}{explained}{amounts}"


# What the discipline has no part in.


def window_bound(result: NetworkResult) -> dict[str, float]:
    """Return the transfers that their own window holds under every discipline, with the rate of each."""
    known = fairness.transfers(result)
    found = {name: fairness.held(result, name, known) for name in result.disciplines}
    rates = found.get(result.reference, {})
    return {name: rate for name, rate in rates.items() if all(name in held for held in found.values())}


def window(result: NetworkResult) -> str | None:
    """Return which transfers their own window holds, and how much of their link they fill."""
    known, every = fairness.transfers(result), window_bound(result)
    if not every:
        return None
    first = max(every, key=lambda name: every[name])
    path = next(flow.path for flow in result.flows if flow.name == first)
    link = min((link for link in result.links if link.name in path), key=lambda link: link.rate)
    others = len(every) - 1
    more = f"; so {'is' if others == 1 else 'are'} {plural(others, 'other transfer')}" if others else ""
    return (
        f"the transfer {first} fills {share(every[first] / link.rate)} of {link.name}: its own window of "
        f"{known[first].packets:,} packets holds it, not the queue{more}"
    )


# Small flows.


def small(result: NetworkResult) -> str | None:
    """Return how the small flow fares that waits longest, under whom best and under whom worst."""
    name = _small_flow(result)
    if name is None:
        return None
    statistic = "p99" if result.estimate(result.reference, statistic="p99", flow=name) else "max"
    rows = measured(result, lambda each: result.estimate(each, statistic=statistic, flow=name))
    if not rows:
        return None
    order = lowest(rows)
    least, most = order[0], order[-1]

    def told(discipline: str) -> str:
        row = rows[discipline]
        loss = result.estimate(discipline, metric="loss", flow=name)
        lost = "nothing" if loss is None or not loss.value else share(loss.value)
        return f"{quantity(row.value or 0.0, row.unit)} and loses {lost}"

    words = f"the small flow {name} has a {statistic} delay of {told(least)}"
    if len(rows) == 1:
        return words
    if disjoint(rows[least], rows[most]) is False or rows[least].value == rows[most].value:
        return words + under(result, list(rows))
    return f"{words} under {result.labels[least]}; under {result.labels[most]} it has {told(most)}"


def _small_flow(result: NetworkResult) -> str | None:
    """Return the small flow with the longest delay under any discipline."""
    rates = {link.name: link.rate for link in result.links}
    known = set(result.flows_measured)
    asked = {}
    for flow in result.flows:
        row = result.estimate(result.reference, metric="offer", flow=flow.name)
        if flow.name in known and row is not None and row.value:
            asked[flow.name] = row.value
    crowd: dict[str, list[str]] = {}
    for flow in result.flows:
        for link in flow.path if flow.name in asked else ():
            crowd.setdefault(link, []).append(flow.name)
    candidates = []
    for flow in result.flows:
        if flow.name not in asked or flow.traffic not in _OPEN:
            continue
        for link in flow.path:
            equal = rates.get(link, 0.0) / len(crowd[link])
            others = sum(asked[name] for name in crowd[link]) - asked[flow.name]
            if asked[flow.name] < _SMALL * equal and others > rates[link] / 2:
                candidates.append(flow.name)
                break
    return max(candidates, key=lambda name: _longest(result, name), default=None)


def _longest(result: NetworkResult, name: str) -> float:
    """Return a flow's longest mean delay under any discipline."""
    rows = measured(result, lambda each: result.estimate(each, flow=name))
    return max((row.value or 0.0 for row in rows.values()), default=0.0)


def delay(result: NetworkResult) -> str | None:
    """Return whose mean delay is lowest, and what it costs in packets."""
    means = measured(result, result.estimate)
    if not means:
        return None
    best = lowest(means)[0]
    value = quantity(means[best].value or 0.0, means[best].unit)
    if len(means) == 1:
        return f"the mean delay is {value}"
    words = (
        f"the lowest mean delay is that of {result.labels[best]}, {value}{_against_reference(result, best)}"
    )
    return words + _price(result, best)


def _price(result: NetworkResult, best: str) -> str:
    """Return what the lowest delay costs in packets, if that is clear: who drops more, has less to wait for.

    Compared with the reference; where that has the lowest delay itself, with the one that loses least.
    """
    rows = measured(result, lambda name: result.estimate(name, metric="loss"))
    losses = {name: row.value or 0.0 for name, row in rows.items()}
    if best not in losses:
        return ""
    other = result.reference if best != result.reference else min(losses, key=lambda name: losses[name])
    told, label = [], result.labels[other]
    if other in losses and _clearly_above(result, best, other, "loss"):
        told.append(f"loses {share(losses[best])} of its packets where {label} loses {share(losses[other])}")
    if _clearly_above(result, other, best, "throughput"):
        mine, theirs = (_throughput(result, name) for name in (best, other))
        told.append(f"delivers {mine} where {label} delivers {theirs}")
    return f"; but it {', and '.join(told)}" if told else ""


def _throughput(result: NetworkResult, name: str) -> str:
    row = result.estimate(name, metric="throughput")
    return "n/a" if row is None or row.value is None else quantity(row.value, row.unit)


def _clearly_above(result: NetworkResult, one: str, other: str, metric: str) -> bool:
    """Return whether a figure of one is above that of another, one of them the reference, beyond doubt."""
    sign, name = (1, one) if other == result.reference else (-1, other)
    row = result.difference(name, metric=metric)
    return row is not None and row.value is not None and row.clear and sign * row.value > 0


def _against_reference(result: NetworkResult, best: str) -> str:
    row = result.difference(best)
    if best == result.reference or row is None or row.value is None:
        return ""
    reference = result.labels[row.reference]
    if not row.clear:
        return f", not distinguishable from {reference} at this length of run"
    low, high = (abs(each or 0.0) for each in (row.high, row.low))
    scale = 1e3 if abs(row.value) < 1 else 1.0
    unit = "ms" if scale > 1 else "s"
    ends = [number(end * scale, 3) for end in (low, high)]
    # Replayed traffic has no chance in it: then the interval is a point.
    span = f" (95 % interval {ends[0]} to {ends[1]} {unit})" if ends[0] != ends[1] else ""
    return f", {quantity(abs(row.value), row.unit)} below {reference}{span}"
