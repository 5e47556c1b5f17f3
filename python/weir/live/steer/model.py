"""The same runs simulated: with the cores and costs of the report, and with those of this machine.

Both are scenarios of ``reproduce/steer``, the first as ``weir reproduce steer --quick`` has it, the second
with other cores, services, rates, bursts, windows and thresholds. All policies serve the same requests, and
every seed is a run of its own, so that each has means of its windows.

Source: Ouyang, 2024, by `weir.reproduce.steer.runs`. Work: that of the engine. Units: seconds.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from weir import toml
from weir.live.quantities import time
from weir.live.steer.counts import Mean, windows_of
from weir.live.steer.plan import LEVELS, LONG, PERIODS, POLICIES, QUEUE, TRAFFICS, UNIMODAL, Case
from weir.reproduce.engine.series import Fidelity
from weir.reproduce.steer import runs
from weir.reproduce.steer.evidence import classes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from weir.live.steer.costs import Costs
    from weir.live.steer.counts import Windows
    from weir.live.steer.plan import Plan
    from weir.models.server.result import ServerResult

__all__ = ["Outcome", "of_machine", "of_report", "simulate"]

_SPACING = 0.05 / 3.42
"""Between requests of a burst, in services of a unimodal request."""
_WINDOWS = PERIODS * LEVELS


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one run of a policy on a traffic came to, simulated or measured."""

    delays: dict[str, Windows]
    """By class, those that have requests."""
    cores: float
    """In use, as a mean over time."""
    dropped: float
    """Of all requests, those that found a queue full."""


def of_report(seed: int) -> dict[str, dict[str, Any]]:
    """Return the scenario of each traffic with the cores and costs of the report."""
    made = {plan.name: plan.document for plan in runs.plans(Fidelity.QUICK, seed)}
    return {traffic: _once(made[f"lab/{traffic}"]) for traffic in TRAFFICS}


def _once(document: dict[str, Any]) -> dict[str, Any]:
    chosen = document["disciplines"][: len(POLICIES)]
    stop = {**document["stop"], "replications": 1}
    return {**document, "disciplines": chosen, "reference": chosen[0], "stop": stop}


def of_machine(plan: Plan, costs: Costs, seed: int) -> dict[str, dict[str, Any]]:
    """Return the scenario of each traffic with the processors and costs of a machine."""
    return {traffic: _scaled(each, plan, costs, traffic) for traffic, each in of_report(seed).items()}


def _scaled(document: dict[str, Any], plan: Plan, costs: Costs, traffic: str) -> dict[str, Any]:
    specs = [plan.spec(policy) for policy in plan.policies()]
    sizes = {kind.name: kind.units for kind in plan.kinds(traffic)}
    trains = {"every": time(plan.burst), "spacing": _time(_SPACING * costs.service(UNIMODAL))}
    return {
        **document,
        "title": f"{document['title'].partition(' on ')[0]} on the processors of this machine",
        "disciplines": specs,
        "reference": specs[0],
        "server": {**document["server"], "cores": len(plan.processors), "queue": QUEUE},
        "class": [
            {**each, "service": _time(costs.service(sizes.get(each["name"], LONG)))}
            for each in document["class"]
        ],
        "workload": {
            "rate": f"{plan.rate:.6f}/s",
            "arrivals": {"trains": trains},
            "levels": {"every": time(plan.window), "count": LEVELS, "factor": 2.0},
        },
        "stop": {**document["stop"], "duration": time(LEVELS * plan.window)},
        "measure": {**document["measure"], "window": time(plan.period)},
    }


def _time(seconds: float) -> str:
    return time(max(1, round(seconds * 1e9)))


def simulate(
    scenarios: Callable[[int], dict[str, dict[str, Any]]],
    seeds: range,
    told: Callable[[float], None] | None = None,
) -> dict[Case, tuple[Outcome, ...]]:
    """Simulate the scenarios of several seeds.

    Parameters
    ----------
    scenarios : callable
        Returns the scenario of each traffic for a seed.
    seeds : range
        Of the runs.
    told : callable, optional
        Called with the share that is done.
    """
    made: dict[Case, list[Outcome]] = {}
    for place, seed in enumerate(seeds, 1):
        for traffic, document in scenarios(seed).items():
            for policy, outcome in _run(document, traffic):
                made.setdefault(Case(policy, traffic), []).append(outcome)
        if told is not None:
            told(place / len(seeds))
    return {case: tuple(each) for case, each in made.items()}


def _run(document: dict[str, Any], traffic: str) -> Iterator[tuple[str, Outcome]]:
    import weir
    from weir.models.server.result import ServerResult

    result = weir.run(weir.Scenario.from_toml(toml.dumps(document), f"weir live steer ({traffic})"))
    if not isinstance(result, ServerResult):
        raise TypeError(result.model)
    if result.interrupted:
        raise KeyboardInterrupt
    for policy, discipline in zip(POLICIES, result.disciplines, strict=False):
        delays = {name: _windows(result, discipline, name) for name in classes(traffic)}
        totals = next(row for row in result.discipline_totals if row.discipline == discipline)
        lost = totals.dropped / totals.offered if totals.offered else 0.0
        yield policy, Outcome(delays=delays, cores=_in_use(result, discipline), dropped=lost)


def _windows(result: ServerResult, discipline: str, name: str) -> Windows:
    row = next(
        row
        for row in result.windows
        if (row.discipline, row.class_, row.metric) == (discipline, name, "delay")
    )
    return windows_of(map(Mean, row.values[:_WINDOWS], row.counts[:_WINDOWS]))


def _in_use(result: ServerResult, discipline: str) -> float:
    """Return the mean over time; the engine's own is of measured time, which is all of it."""
    row = next(row for row in result.in_use if row.discipline == discipline)
    ends = [*row.at[1 : bisect_right(row.at, result.measured)], result.measured]
    spans = pairwise([0.0, *ends])
    return sum(count * (end - begin) for count, (begin, end) in zip(row.count, spans, strict=False)) / (
        result.measured or 1.0
    )
