"""What a network's result says, in words: who is served worst, how long it takes, what that costs in loss.

The *due* of a flow is what it offers, but at most the mean throughput of all: who asks for more than an
equal share is not wronged by getting less than that. The worst served gets the smallest part of its due.
Where flows were not measured one by one, classes stand for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from weir.models.network.tables import subjects
from weir.results.reading import ALL
from weir.results.verdict import lowest, measured
from weir.text import number, quantity, share

if TYPE_CHECKING:
    from weir.models.network.result import NetworkResult
    from weir.models.network.tables import Subject

_ALL_OF_IT = 0.9995
"""A flow that gets this part of its due is said to get all of it."""
_DUE = " (what it offers, at most the mean of all)"


@dataclass(frozen=True, slots=True)
class Served:
    """The flow that gets the smallest part of its due under one discipline."""

    discipline: str
    subject: Subject
    part: float
    lossless: bool
    """Whether every flow gets all it offers."""


def worst_served(result: NetworkResult, discipline: str) -> Served | None:
    """Return the worst-served flow or class, or None where throughput was not measured."""
    rates = {
        subject: (offer.value, got.value)
        for subject in subjects(result, "flow") or subjects(result, "class") or subjects(result, ALL)
        if (offer := subject.estimate(result, discipline, "offer")) is not None
        and (got := subject.estimate(result, discipline, "throughput")) is not None
        and offer.value
        and got.value is not None
    }
    if not rates:
        return None
    mean = sum(got for _, got in rates.values()) / len(rates)
    parts = {subject: _part_of_due(offer, got, mean) for subject, (offer, got) in rates.items()}
    worst = min(parts, key=lambda subject: parts[subject])
    lossless = all(got >= _ALL_OF_IT * offer for offer, got in rates.values())
    return Served(discipline, worst, parts[worst], lossless)


def _part_of_due(offer: float, got: float, mean: float) -> float:
    due = min(offer, mean)
    return min(1.0, got / due) if due > 0 else 0.0


def served(result: NetworkResult) -> str | None:
    """Return who is served worst, under whom least badly, and under the reference."""
    worst = [each for name in result.disciplines if (each := worst_served(result, name)) is not None]
    if not worst:
        return None
    if all(each.lossless for each in worst):
        return "every flow gets all it offers" + (" under every discipline" if len(worst) > 1 else "")
    best = max(worst, key=lambda each: each.part)
    words = f"under {result.labels[best.discipline]} {_told(best, _DUE)}"
    others = [each for each in worst if each.discipline != best.discipline]
    if not others:
        return words
    reference = next((each for each in others if each.discipline == result.reference), None)
    other = reference or min(others, key=lambda each: each.part)
    return f"{words}; under {result.labels[other.discipline]} {_told(other)}"


def _told(worst: Served, explained: str = "") -> str:
    if worst.lossless:
        return "every flow gets all it offers"
    if worst.part >= _ALL_OF_IT:
        return f"every flow gets its due{explained}"
    who = "all flows together" if worst.subject.kind == ALL else worst.subject.name
    return f"the worst served, {who}, gets {share(worst.part)} of its due{explained}"


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

    Beside the reference; where that has the lowest delay itself, beside the discipline that loses least.
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
        return f", not to be told from {reference} at this length of run"
    low, high = (abs(each or 0.0) for each in (row.high, row.low))
    scale = 1e3 if abs(row.value) < 1 else 1.0
    unit = "ms" if scale > 1 else "s"
    ends = [number(end * scale, 3) for end in (low, high)]
    # Replayed traffic has no chance in it: then the interval is a point.
    span = f" (95 % interval {ends[0]} to {ends[1]} {unit})" if ends[0] != ends[1] else ""
    return f", {quantity(abs(row.value), row.unit)} below {reference}{span}"
