"""The twelve orderings of the report: which hold of its own figures, of simulations, and as measured.

An ordering is about the largest windowed mean of the queueing delay of two runs. It holds if it holds of
the means over repetitions; it is clear if the 95 % interval of what decides, left less factor times right in
pairs of repetitions, leaves zero out. Of a bound that was published only what follows from it is said.

Source: ``reproduce/steer/orderings.csv`` and ``claims.csv``. Units: seconds.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

from weir.live.figures import Value, around
from weir.live.steer.plan import POLICIES, TRAFFICS, Case
from weir.reproduce.steer import published, runs
from weir.reproduce.steer.evidence import classes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from weir.live.steer.model import Outcome
    from weir.reproduce.steer.published import Ordering, PublishedClaim

__all__ = ["Judged", "Row", "brief", "claimed", "judge", "largest", "rows", "told_published"]

_MICRO = 1e-6
_NOTHING = Value(None)


@dataclass(frozen=True, slots=True)
class Judged:
    """Whether an ordering holds; None where that cannot be said, and then why."""

    holds: bool | None
    clear: bool | None = None
    """None where there is one repetition, which has no interval."""
    left: Value = _NOTHING
    right: Value = _NOTHING
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One ordering, and whether it holds where."""

    id: str
    text: str
    meaning: str
    report: Judged
    report_cores: Judged
    """In the simulation with the report's seven cores."""
    simulated: Judged
    """In the simulation with this machine's processors."""
    measured: Judged

    @property
    def reversed(self) -> bool:
        """Whether the simulation of this machine has it and what was measured is clearly against it."""
        return bool(self.simulated.holds) and self.measured.holds is False and bool(self.measured.clear)

    def to_dict(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {**asdict(self), "reversed": self.reversed}


def rows(
    report_cores: Mapping[Case, Sequence[Outcome]],
    simulated: Mapping[Case, Sequence[Outcome]],
    measured: Mapping[Case, Sequence[Outcome]],
    processors: int,
) -> tuple[Row, ...]:
    """Return all of them."""
    return tuple(
        Row(
            id=each.id,
            text=brief(each),
            meaning=each.meaning,
            report=told_published(each),
            report_cores=judge(each, report_cores, runs.CORES),
            simulated=judge(each, simulated, processors),
            measured=judge(each, measured, processors),
        )
        for each in published.orderings()
    )


def brief(ordering: Ordering) -> str:
    """Return an ordering in a few signs, such as ``RRCS unimodal > 5 x RR unimodal``."""
    left, right = _brief(ordering.left), _brief(ordering.right)
    if ordering.relation == "about":
        return f"{left} ~ {right} (x {ordering.factor:g})"
    sign = {"above": ">", "below": "<", "at most": "<="}[ordering.relation]
    factor = "" if ordering.factor == 1 else f"{ordering.factor:g} x "
    return f"{left} {sign} {factor}{right}"


def _brief(subject: str) -> str:
    policy, traffic, name = subject.split("/")
    return f"{policy} {traffic if name == 'all' else name}"


def judge(ordering: Ordering, found: Mapping[Case, Sequence[Outcome]], processors: int) -> Judged:
    """Say whether an ordering holds of runs."""
    sides = []
    for subject in (ordering.left, ordering.right):
        policy, traffic, name = subject.split("/")
        outcomes = found.get(Case(policy, traffic), ())
        if not outcomes:
            return Judged(None, reason=_missing(policy, traffic, processors))
        values = [value for each in outcomes if (value := largest(each, traffic, name)) is not None]
        if not values:
            return Judged(None, reason=f"no request of {subject} was served")
        sides.append(values)
    left, right = sides
    holds = ordering.holds(fmean(left), fmean(right))
    return Judged(
        holds, _clear(ordering, left, right), around(fmean(left), left), around(fmean(right), right)
    )


def _missing(policy: str, traffic: str, processors: int) -> str:
    if processors == 1 and policy != POLICIES[0]:
        return f"{policy} needs two processors, there is one"
    return f"{policy} on {traffic} traffic was not run to its end"


def largest(outcome: Outcome, traffic: str, name: str) -> float | None:
    """Return the largest mean of a window, in seconds; of all classes it is that of the worse."""
    names = classes(traffic) if name == "all" else (name,)
    values = [outcome.delays[each].largest for each in names]
    return max((value for value in values if value is not None), default=None)


def _clear(ordering: Ordering, left: Sequence[float], right: Sequence[float]) -> bool | None:
    """Say whether the interval of what decides leaves zero out; of a factor both ways, of both."""
    pairs = list(zip(left, right, strict=False))
    if len(pairs) < 2:
        return None
    factors = [ordering.factor]
    if ordering.relation == "about":
        factors.append(1 / ordering.factor)
    margins = [[one - factor * other for one, other in pairs] for factor in factors]
    outside = [_leaves_out_zero(around(fmean(each), each)) for each in margins]
    if ordering.relation != "about" or ordering.holds(fmean(left), fmean(right)):
        return all(outside)
    return any(
        clear and (fmean(each) > 0) == (place == 0)
        for place, (clear, each) in enumerate(zip(outside, margins, strict=True))
    )


def _leaves_out_zero(value: Value) -> bool:
    return value.low is not None and value.high is not None and not value.low <= 0 <= value.high


def told_published(ordering: Ordering) -> Judged:
    """Say whether an ordering holds of the values that the report has read off its plots."""
    (left, left_bound), (right, right_bound) = (_value(each) for each in (ordering.left, ordering.right))
    if left is None or right is None:
        return Judged(None, reason="the report has no value of it")
    follows = not right_bound and (not left_bound or ordering.relation in {"below", "at most"})
    holds = ordering.holds(left, right)
    if not follows or (left_bound and not holds):
        return Judged(None, None, Value(left), Value(right), "the report has no more than a bound")
    return Judged(holds, None, Value(left), Value(right))


def claimed(policy: str, traffic: str, name: str, metric: str = "delay") -> list[PublishedClaim]:
    """Return the values that the report has of a class; unimodal traffic has but one, `all`."""
    names = {"all"} if traffic == TRAFFICS[0] else {*classes(traffic)} if name == "all" else {name}
    return [
        each
        for each in published.claims()
        if (each.policy, each.traffic, each.metric) == (policy, traffic, metric)
        and each.class_ in names
        and each.value is not None
    ]


def _value(subject: str) -> tuple[float | None, bool]:
    """Return the largest published delay of a subject in seconds, and whether it is a bound."""
    policy, traffic, name = subject.split("/")
    found = claimed(policy, traffic, name)
    if not found:
        return None, False
    worst = max(found, key=lambda each: each.value or 0.0)
    return _MICRO * (worst.value or 0.0), worst.kind == "bound"
