"""Results of the node made for tests, in the shape that the engine writes.

Two generators and a sink on one node, the sink fed over a queue: run times, misses and responses are given by
discipline and process, and everything else is derived from them, so that a document agrees with itself. No
test takes a number from here as true of a node.
"""

import json

import making
from making import NORMAL
from making import subject_row as estimate

EPOCH = 0.1
EPOCHS = 100
"""Measured in a replication."""
NEEDS = {"g1": 0.03, "g2": 0.0, "sink": 0.04, "Epoch Scheduler": 0.001}
NODES = ("node",)
QUEUES = ("messages",)
RUNS = {
    "epoch": {"g1": 0.032, "g2": 0.02, "sink": 0.044, "Epoch Scheduler": 0.0003},
    "cbs:reclaim=grub": {"g1": 0.031, "g2": 0.02, "sink": 0.044, "Epoch Scheduler": 0.0003},
    "eevdf": {"g1": 0.028, "g2": 0.03, "sink": 0.038, "Epoch Scheduler": 0.0003},
}
"""Run time in an epoch."""
MISSED = {"eevdf": {"g1": (120, 0.004), "sink": (400, 0.0125)}}
"""Needs missed in all replications, and the worst shortfall."""
RESPONSES = {"epoch": 0.012, "cbs:reclaim=grub": 0.0121, "eevdf": 0.03}
"""The longest, of all processes."""


PARTS = {"mean": 0.3, "p50": 0.25, "p90": 0.5, "p99": 0.8, "p99.9": 0.9, "max": 1.0}


def times(discipline, kind, name, metric, longest):
    """Return a time by its mean, quantiles and maximum."""
    return making.statistics(discipline, kind, name, metric, longest, "s", PARTS)


def rows_of(discipline, name, run, longest, missed):
    """Return the figures of a process."""
    made = [
        estimate(discipline, "process", name, "share", run / EPOCH, "1", error=0.001),
        estimate(discipline, "process", name, "epoch_run", run, "s", error=0.0001),
        estimate(discipline, "process", name, "schedulings", 96.0, "1/s", error=0.5),
        *times(discipline, "process", name, "response", longest),
        *times(discipline, "process", name, "wait", longest / 3),
    ]
    if NEEDS.get(name):
        met = 1 - missed / (10 * EPOCHS)
        made.append(
            estimate(discipline, "process", name, "need_met", met, "1", error=0.01 if missed else 0.0)
        )
    if discipline.startswith("epoch"):
        made.append(estimate(discipline, "process", name, "uncommitted", 0.05, "1", error=0.001))
        made.append(estimate(discipline, "process", name, "windfall", 0.02, "1", error=0.001))
    return made


def process_totals(discipline, name, run, missed, lack, replications):
    elapsed = run * EPOCHS * replications
    told = discipline.startswith("epoch")
    return {
        "discipline": discipline,
        "process": name,
        "run_time": elapsed,
        "need_time": 0.8 * elapsed if told else None,
        "uncommitted_time": 0.15 * elapsed if told else None,
        "windfall_time": 0.05 * elapsed if told else None,
        "schedulings": 9600,
        "wakeups": 5000,
        "waits": 5000,
        "epochs_ready": EPOCHS * replications,
        "needs_missed": missed,
        "worst_shortfall": lack,
        "late": None,
        "unfinished": None,
        "enqueued": 1000 if name.startswith("g") else 0,
        "dequeued": 2000 if name == "sink" else 0,
        "moves": 0,
    }


def timeline(discipline, names, *, epochs=5, levels=True, truncated=False):
    """Return a made timeline: the processes in turn, low after 70 ms of an epoch, a little overhead first."""
    runs = {"node": [], "process": [], "level": [], "from": [], "until": []}
    lengths = {"queue": [], "at": [], "length": []}
    marks = {"what": [], "process": [], "at": []}
    critical = {"node": [], "at": [], "begins": []}

    def ran(process, level, begin, end):
        for key, value in zip(runs, (0, process, level if levels else None, begin, end), strict=True):
            runs[key].append(value)

    def mark(what, process, at):
        for key, value in zip(marks, (what, process, at), strict=True):
            marks[key].append(value)

    for epoch in range(epochs):
        start = round(1.0 + epoch * EPOCH, 6)
        mark("epoch", None, start)
        for at, begins in ((0.0, 0.03), (0.04, 0.05), (0.07, 0.07)) if levels else ():
            for key, value in zip(critical, (0, start + at, start + begins), strict=True):
                critical[key].append(round(value, 9))
        ran(None, None, start, round(start + 0.0008, 9))
        for turn in range(9):
            process = turn % max(1, len(names) - 1)
            begin = round(start + (0.001 if turn == 0 else turn * 0.01), 9)
            end = round(start + (turn + 1) * 0.01, 9)
            mark("woke", process, begin)
            ran(process, 1 if turn < 7 else -3, begin, end)
            mark("waits", process, end)
            for key, value in zip(lengths, (0, begin, (epoch + turn) % 4), strict=True):
                lengths[key].append(value)
    return {
        "discipline": discipline,
        "from": 1.0,
        "until": round(1.0 + epochs * EPOCH, 6),
        "truncated": truncated,
        "runs": runs,
        "lengths": lengths,
        "marks": marks,
        "critical": critical,
    }


def differences(estimates, reference):
    """Return paired differences of all figures that both have."""
    keys = ("kind", "name", "metric", "statistic")
    made = []
    for row, against in making.pairs(estimates, reference, keys):
        value, error = row["value"] - against["value"], 0.01 * abs(against["value"])
        shared = {key: row[key] for key in ("discipline", *keys, "unit")}
        if row["statistic"] == "max":
            shared["statistic"] = "replication_max"
        ends = {"low": value - NORMAL * error, "high": value + NORMAL * error}
        made.append({**shared, "reference": reference, "value": value, **ends, "reason": None})
    return made


def samples(discipline, names):
    """Return ten seconds of samples."""
    parts = [("process", name, "run_time", "ms/s", 300.0) for name in names]
    parts += [
        ("queue", "messages", "length", "1", 4.0),
        ("queue", "messages", "messages", "1/s", 900.0),
        ("node", "node", "idle", "ms/s", 10.0),
    ]
    return [
        {
            "discipline": discipline,
            "kind": kind,
            "name": name,
            "metric": metric,
            "unit": unit,
            "interval": 1.0,
            "values": [value + place for place in range(10)],
        }
        for kind, name, metric, unit, value in parts
    ]


def document(disciplines=tuple(RUNS), *, needs=None, replications=10, **changes):
    """Return a result as parsed JSON; ``needs`` are those of the processes, a system's the last."""
    needs = needs or NEEDS
    names, estimates, totals, histograms = list(needs), [], [], []
    for discipline in disciplines:
        longest = RESPONSES.get(discipline, 0.02)
        for place, name in enumerate((*names, "all")):
            run = RUNS.get(discipline, RUNS["epoch"]).get(name, 0.01)
            missed, lack = MISSED.get(discipline, {}).get(name, (0, 0.0))
            most = longest if name == "all" else longest * (1 - 0.1 * (place % 5))
            estimates += rows_of(discipline, name, run, most, missed)
            about = {"discipline": discipline, "process": name}
            histograms.append(making.histogram(about, "response", "s", most * 0.02, 1.14, 30))
            if name != "all":
                totals.append(process_totals(discipline, name, run, missed, lack, replications))
        estimates += [
            estimate(discipline, "queue", "messages", "throughput", 980.0, "1/s", error=2.0),
            *times(discipline, "queue", "messages", "age", 0.05),
            *(
                estimate(discipline, "node", "node", metric, value, "1", error=0.001)
                for metric, value in (("busy", 0.95), ("idle", 0.042), ("uncharged", 0.008))
            ),
        ]
    made = {
        "replications": replications,
        "engines": [{"discipline": name, "engine": "plain"} for name in disciplines],
        "epoch": EPOCH,
        "measured": EPOCHS * EPOCH,
        "nodes": list(NODES),
        "processes": [
            {
                "name": name,
                "node": "node",
                "priority": 3 if name == "Epoch Scheduler" else 1,
                "need": need,
                "slice": 0.02 if name == "g1" else None,
                "deadline": None,
                "system": name == "Epoch Scheduler",
            }
            for name, need in needs.items()
        ],
        "queues": list(QUEUES),
        "warnings": [],
        "process_totals": totals,
        "node_totals": [
            {
                "discipline": discipline,
                "node": "node",
                "run_time": 0.95 * EPOCHS * EPOCH * replications,
                "idle_time": 0.042 * EPOCHS * EPOCH * replications,
                "uncharged_time": 0.008 * EPOCHS * EPOCH * replications,
                "paths": [1000, 20000, 30, 10, 20, 5],
                "high_over_low": 700 if discipline == "epoch" else 0,
            }
            for discipline in disciplines
        ],
        "estimates": estimates,
        "differences": differences(estimates, disciplines[0]),
        "distributions": histograms,
        "samples": [row for name in disciplines for row in samples(name, names)],
        "timelines": [timeline(name, names, levels=name == "epoch") for name in disciplines],
    }
    check = ("time conserved", 100.0, "run time + idle + uncharged")
    return making.frame("node", "Two generators and a sink", disciplines, check, **{**made, **changes})


def made(disciplines=tuple(RUNS), **changes):
    """Return the JSON text of a result."""
    return json.dumps(document(disciplines, **changes))
