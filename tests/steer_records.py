"""Made-up records of steered packets: answers of the daemon, documents of the client, a whole study."""

from typing import Any

from weir.live.steer.costs import Costs, Setting, estimate
from weir.live.steer.counts import Mean, Trips, Windows, over
from weir.live.steer.measured import Ledger, Run
from weir.live.steer.model import Outcome
from weir.live.steer.plan import LEVELS, PERIODS, Case, plan
from weir.live.steer.study import Study
from weir.reproduce.steer.evidence import classes

FIXED, UNIT, RAN = 6e-6, 0.45e-6, 0.85


def settings(sizes=(50, 75, 100, 150, 200, 250), processors=2, noise=0.0, saturated=True) -> list[Setting]:
    """Return what saturated processors would have served, each second setting a bit more slowly."""
    made = []
    for place, units in enumerate(sizes):
        passed = (FIXED + units * UNIT) / RAN * (1 + noise * (-1) ** place)
        served = round(10 * processors / passed)
        made.append(
            Setting(
                units=units,
                served=served,
                seconds=served * passed / processors,
                processors=processors,
                saturated=saturated,
                ran=RAN,
            )
        )
    return made


def costs() -> Costs:
    """Return costs with a narrow interval."""
    return estimate(settings(noise=0.002), 120)


def answer(at: int, classes: dict[str, tuple[int, int]], **more: Any) -> dict[str, Any]:
    """Return an answer of the daemon: requests and the sum of their delays in nanoseconds, by class."""
    served = sum(count for count, _ in classes.values())
    queue = {"steered": served, "served": served, "dropped": 0, "waiting": 0, **more}
    rest = {"processor": 1, "thread": 78, "steered": 0, "served": 0, "dropped": 0, "waiting": 0}
    return {
        "answer": "requests",
        "at_ns": at,
        "policy": "rr",
        "in_use": 2,
        "parts": [[0, 2], [0, 2]],
        "changes": 0,
        "frames": {
            "steered": queue["steered"],
            "passed": 0,
            "short": 0,
            "fragment": 0,
            "no_server": 0,
            "redirected": 0,
            "left_out": 0,
            "completed": 0,
        },
        "processors": [{"processor": 0, "thread": 77, **queue}, rest],
        "classes": [
            {"name": name, "requests": count, "sum_ns": total, "longest_ns": 0, "buckets": []}
            for name, (count, total) in classes.items()
        ],
        "control": {"calls": 0, "busy_ns": 0, "period_ns": 1},
    }


def document(received: int, trip: int, windows: int = LEVELS) -> dict[str, Any]:
    """Return what the client writes: so many requests a window and class, each as long on its way."""
    rtt = {"sum_ns": received * trip, "longest_ns": trip, "buckets": [[trip, received]]}
    row = {"sent": received + 1, "received": received, "lost": 1, "reordered": 2, "duplicates": 0}
    return {
        "windows": [
            {
                "window": place,
                "rate_per_s": 1000 * 2**place,
                "span_ns": 10**9,
                "classes": [{"name": name, **row, "rtt": rtt} for name in ("short", "long")],
                "lateness": {"sum_ns": 0, "longest_ns": 900, "buckets": [[500, 98], [1023, 2]]},
            }
            for place in range(windows)
        ],
        "totals": {},
        "warnings": ["the clock is slow"],
    }


GROWN = {
    "RR/unimodal/short": 14e-3,
    "RR/bimodal/short": 8.6e-3,
    "RR/bimodal/long": 8.7e-3,
    "RRCS/unimodal/short": 200e-3,
    "RRCS/bimodal/short": 14.5e-3,
    "RRCS/bimodal/long": 2.8e-3,
    "DCA/unimodal/short": 14.2e-3,
    "DCA/bimodal/short": 20e-3,
    "DCA/bimodal/long": 20.2e-3,
    "COMBINED/unimodal/short": 14.3e-3,
    "COMBINED/bimodal/short": 14.5e-3,
    "COMBINED/bimodal/long": 2.9e-3,
}
"""What the delay of each class grows up to, in seconds, as two processors have it."""


def outcome(case: Case, factor: float = 1.0, **other: float) -> Outcome:
    """Return delays that double with the rate; ``other`` are largest delays in place of those above."""
    grown = {**GROWN, **{name.replace("_", "/"): value for name, value in other.items()}}
    delays = {}
    for name in classes(case.traffic):
        most = factor * grown[f"{case.name}/{name}"]
        levels = [most / 2 ** (LEVELS - 1 - level) for level in range(LEVELS)]
        periods = tuple(Mean(value, 100) for value in levels for _ in range(PERIODS))
        parts = (periods[PERIODS * level : PERIODS * (level + 1)] for level in range(LEVELS))
        delays[name] = Windows(periods=periods, levels=tuple(map(over, parts)))
    return Outcome(delays=delays, cores=1.5, dropped=0.0)


def _trips(delays: Windows) -> Trips:
    """Return round trips that are longer than the delays by a fifth, and whose tails are double."""
    levels = tuple(Mean(1.2 * (each.value or 0.0), each.count) for each in delays.levels)
    return Trips(levels=levels, tails=tuple(2 * (each.value or 0.0) for each in levels))


def run(case: Case, repetition: int, factor: float = 1.0, **other: float) -> Run:
    """Return a run of which every request is accounted for."""
    made = outcome(case, factor, **other)
    trips = {name: _trips(delays) for name, delays in made.delays.items()}
    ledger = Ledger(sent=1000, steered=1000, served=990, dropped=10, waiting=0, refused=0, received=990)
    return Run(
        case=case,
        repetition=repetition,
        outcome=made,
        trips=trips,
        ledger=ledger,
        late=3e-3,
        warnings=(),
    )


def study(repeat: int = 3, processors: int = 2, interrupted: bool = False, **other: float) -> Study:
    """Return a study whose measurement is the simulation, give or take a per cent, but for ``other``."""
    found = costs()
    planned = plan(range(processors), found, 10**9)
    cases = planned.cases()
    runs = [run(case, each, 1 + 0.01 * each, **other) for each in range(repeat) for case in cases]
    return Study(
        plan=planned,
        costs=found,
        present=processors,
        repeat=repeat,
        seed=1,
        report_cores={case: (outcome(case, 0.07),) * 2 for case in cases},
        simulated={case: (outcome(case), outcome(case, 1.001)) for case in cases},
        runs=tuple(runs[:-3] if interrupted else runs),
        interrupted=interrupted,
    )
