"""Results of the SFQ experiments made for tests: as printed in the tables, or from the reference network.

What a run does not print (other disciplines, other intervals) is filled with plain values, so that every
claim can be decided.
"""

import json
import math
import statistics

import reference_network as reference
from network_results import NORMAL, document
from weir.network.result import NetworkResult
from weir.reproduce.sfq import published, runs
from weir.reproduce.sfq.runs import EXPERIMENTS, FREE, RUNS, STATED, Fidelity, Measured, Reading

UNIT = published.CAPACITY / 100
INTERVALS = {
    "fair": ((0, 245),),
    "starve": ((0, 245),),
    "resource": ((0, 245),),
    "degrade": (
        (0, 335),
        (0, 30),
        (30, 60),
        (60, 90),
        (90, 120),
        (120, 245),
        (245, 275),
        (275, 305),
        (305, 335),
    ),
}
LINKS = ("SRI-AMES", "AMES-LA", "LA-DC")
PERTURBED_AS = {"fair": "sfq49", "starve": "sfq47", "degrade": "sfq41"}


def roles_of(plan):
    """Return what the disciplines of a plan's result stand for."""
    if plan.measured == Measured.FROZEN:
        return (runs.FROZEN,)
    return EXPERIMENTS[plan.experiment].roles if plan.measured == Measured.COMPARED else (runs.PERTURBED,)


def result(plan, figures, spreads=None):
    """Return the result of a plan; ``figures`` by role and stream, one tuple or None an interval.

    ``spreads`` are the standard deviations of single seeds, by role, stream, place of the interval and
    metric.
    """
    made = document(
        {f"{role}": figures[role] for role in roles_of(plan)},
        intervals=INTERVALS[plan.experiment],
        links=LINKS,
        error=0.0,
        replications=plan.replications,
        interrupted=False,
    )
    names = [row["name"] for row in made["intervals"]]
    for row in made["estimates"]:
        if row["scope"] == "flow" and row["statistic"] == "mean" and row["value"] is not None:
            key = (row["discipline"], row["name"], names.index(row["interval"]), row["metric"])
            error = (spreads or {}).get(key, 0.0) / math.sqrt(plan.replications)
            row.update(
                standard_error=error, low=row["value"] - NORMAL * error, high=row["value"] + NORMAL * error
            )
    return NetworkResult(json.dumps(made))


def _row_figures(row):
    return (row.offer * UNIT, row.throughput * UNIT, row.delay, row.variance)


def _printed_role(experiment, role):
    """Return the figures of a role: those printed for a run that is read as it, else plain ones."""
    labels = [label for label, reading in RUNS.items() if reading == Reading(experiment, role)]
    if role in {runs.PERTURBED, runs.FROZEN} and experiment in PERTURBED_AS:
        labels = [PERTURBED_AS[experiment]]
    rows = {
        (row.stream, (row.start, row.end)): _row_figures(row)
        for row in published.rows()
        if row.run in labels[:1]
    }
    plain = (60 * UNIT, 31 * UNIT, 1.5, 0.01)
    if role == STATED and experiment in {"starve", "resource"}:
        plain = (20 * UNIT, 9 * UNIT, 0.6, 0.01)
    filled = {}
    for stream in EXPERIMENTS[experiment].starts:
        filled[stream] = [rows.get((stream, interval)) for interval in INTERVALS[experiment]]
        if not any(filled[stream]):
            filled[stream] = [plain for _ in INTERVALS[experiment]]
    return filled


def printed(fidelity=Fidelity.QUICK):
    """Return the printed tables, taken for what was measured."""
    return {
        plan: result(plan, {role: _printed_role(plan.experiment, role) for role in roles_of(plan)})
        for plan in runs.plans(fidelity)
    }


# From the reference network.


def _queues(experiment, role, seed):
    if role == runs.FIFO:
        return "fifo", reference.fifo
    if role == runs.STRICT:
        return "fq", reference.fair
    if role == runs.FROZEN:
        return "sfq", reference.colliding(reference.FROZEN)
    if role == runs.PERTURBED:
        return "sfq", reference.perturbed(seed)
    if role == FREE:
        return "sfq", reference.fair
    pairs = {"fair": reference.DARTNET_MM6, "degrade": reference.DARTNET_MM6}
    return "sfq", reference.colliding([pairs.get(experiment, (None, "Lawndart to Ant", "MM6 to Dart5"))])


def simulated(plan, count):
    """Return the result of a plan as the reference network gives it, from ``count`` seeds."""
    figures, spreads = {}, {}
    for role in roles_of(plan):
        found = []
        for seed in range(count):
            kind, queues = _queues(plan.experiment, role, plan.seed + seed)
            found.append(reference.simulate(plan.experiment, kind, queues, plan.seed + seed))
        figures[role] = {}
        for stream in EXPERIMENTS[plan.experiment].starts:
            figures[role][stream] = []
            for place, interval in enumerate(INTERVALS[plan.experiment]):
                each = [reference.figures(packets[stream], *interval) for packets in found]
                figures[role][stream].append(_mean(each))
                for at, metric in enumerate(("offer", "throughput", "delay", "delay_variance")):
                    values = [one[at] for one in each if one[at] is not None]
                    spread = statistics.stdev(values) if len(values) > 1 else 0.0
                    spreads[role, stream, place, metric] = spread
    return result(plan, figures, spreads)


def _mean(each):
    if any(one[2] is None for one in each):
        return None
    return tuple(statistics.fmean(one[at] for one in each) for at in range(4))
