"""Results of the SFQ experiments made for tests: as printed in the tables.

What a run does not print (other disciplines, other intervals) is filled with plain values, so that every
claim can be decided.
"""

import json

from network_results import document
from weir import NetworkResult
from weir.reproduce.sfq import published, runs
from weir.reproduce.sfq.runs import EXPERIMENTS, RUNS, STATED, Fidelity, Measured, Reading

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


def result(plan, figures):
    """Return the result of a plan; ``figures`` by role and stream, one tuple or None an interval."""
    made = document(
        {role: figures[role] for role in roles_of(plan)},
        intervals=INTERVALS[plan.experiment],
        links=LINKS,
        error=0.0,
        replications=plan.replications,
    )
    made["series"] = _offers(plan.experiment, made["disciplines"])
    return NetworkResult(json.dumps(made))


def _offers(experiment, disciplines):
    """Return what the streams offer over time, and get: each its 245 s, from its own beginning."""
    step, end = 5.0, INTERVALS[experiment][0][1]
    rows = []
    for stream, start in EXPERIMENTS[experiment].starts.items():
        times = [place * step for place in range(int(end / step))]
        values = [UNIT if start <= time < start + 245 else None for time in times]
        about = {"flow": stream, "unit": "bit/s", "step": step, "values": values}
        rows += [
            {"discipline": discipline, "metric": metric, **about}
            for discipline in disciplines
            for metric in ("offer", "throughput")
        ]
    return rows


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
