"""Results of the server made for tests, in the shape that the engine writes.

Two classes on eight cores: slowdowns in the tail, cores in use and drops are given by discipline, and
everything else is derived from them, so that a document agrees with itself. No test takes a number from here
as true of a server.
"""

import json

import making
from making import statistics
from making import subject_row as estimate

CORES = 8
CLASSES = {"short": (0.995, 5e-7, 10.0), "long": (0.005, 5e-4, None)}
"""Share, mean service, and the slowdown that is asked for."""
TAILS = {"rr": 900.0, "jsq": 45.0, "cfcfs": 8.0, "dynamic:add=50us": 1200.0}
"""p99.9 of the slowdown of all requests."""
DROPPED = {"dynamic:add=50us": 2_000}
IN_USE = {"rr": 8.0, "jsq": 8.0, "cfcfs": 8.0, "dynamic:add=50us": 5.5}
STATISTICS = {"mean": 0.1, "p50": 0.05, "p90": 0.3, "p99": 0.6, "p99.9": 1.0, "p99.99": 1.4, "max": 2.0}
OFFERED = 100_000


def figures(discipline):
    """Return the figures of a discipline."""
    slow = TAILS[discipline]
    dropped = DROPPED.get(discipline, 0) / OFFERED
    made = []
    for name, part in (("all", 1.0), ("short", 1.1), ("long", 0.01)):
        made += statistics(discipline, "class", name, "slowdown", slow * part, "1", STATISTICS)
        made += statistics(discipline, "class", name, "response", slow * part * 1e-6, "s", STATISTICS)
        made += statistics(discipline, "class", name, "delay", slow * part * 9e-7, "s", STATISTICS)
        made.append(estimate(discipline, "class", name, "dropped", dropped, "1", error=dropped / 50))
        made.append(
            estimate(discipline, "class", name, "reordered", None, "1", reason="measure.order is false")
        )
        made.append(estimate(discipline, "class", name, "cold", 0.4, "1", error=0.01))
        made.append(estimate(discipline, "class", name, "throughput", 2e6, "1/s", error=1e3))
    for metric, value, unit in (
        ("utilisation", 0.7, "1"),
        ("overhead", 0.01, "1"),
        ("in_use", IN_USE[discipline], "cores"),
    ):
        made.append(estimate(discipline, "core", "all", metric, value, unit, error=0.001 * value))
    return made


def differences(discipline, reference):
    """Return the paired differences of a discipline to the reference."""
    made = []
    for metric, factor, unit in (("slowdown", 1.0, "1"), ("response", 1e-6, "s"), ("delay", 9e-7, "s")):
        for statistic, part in list(STATISTICS.items())[:-1]:
            value = (TAILS[discipline] - TAILS[reference]) * part * factor
            width = 0.02 * abs(value)
            made.append(
                {
                    "discipline": discipline,
                    "reference": reference,
                    "kind": "class",
                    "name": "all",
                    "metric": metric,
                    "statistic": statistic,
                    "value": value,
                    "low": value - width,
                    "high": value + width,
                    "unit": unit,
                    "reason": None,
                }
            )
    return made


def windows(discipline, name):
    values = [None, *(TAILS[discipline] * 1e-7 * (1 + 0.1 * (step % 5)) for step in range(9))]
    return {
        "discipline": discipline,
        "class": name,
        "metric": "delay",
        "unit": "s",
        "interval": 0.1,
        "values": values,
        "counts": [0 if value is None else 1000 for value in values],
    }


def totals(discipline):
    dropped = DROPPED.get(discipline, 0)
    shares = {"all": 1.0, **{name: share for name, (share, *_) in CLASSES.items()}}
    return [
        {
            "discipline": discipline,
            "class": name,
            "offered": round(OFFERED * share),
            "done": round(OFFERED * share) - round(dropped * share),
            "dropped": round(dropped * share),
            "reordered": None,
            "cold": round(0.4 * OFFERED * share),
        }
        for name, share in shares.items()
    ]


def document(disciplines=tuple(TAILS), *, replications=10):
    """Return a result as the engine writes it, parsed."""
    reference = disciplines[0]
    each = list(disciplines)
    made = {
        "fingerprint": "0123456789abcdef",
        "seed": 7,
        "replications": replications,
        "load": 0.7,
        "engines": [{"discipline": name, "engine": "plain"} for name in each],
        "cores": CORES,
        "receivers": 1,
        "queue": 4096,
        "measured": 0.9,
        "classes": [
            {"name": name, "share": share, "service": service, "slo": slo}
            for name, (share, service, slo) in CLASSES.items()
        ],
        "warnings": [],
        "class_totals": [row for name in each for row in totals(name)],
        "discipline_totals": [
            {
                "discipline": name,
                "offered": OFFERED,
                "done": OFFERED - DROPPED.get(name, 0),
                "dropped": DROPPED.get(name, 0),
                "decisions": OFFERED,
                "preemptions": 0,
                "moved": 0,
                "peak_in_use": 8,
            }
            for name in each
        ],
        "core_totals": [
            {"discipline": name, "core": core, "busy": 6.3, "overhead": 0.09}
            for name in each
            for core in range(CORES)
        ],
        "estimates": [row for name in each for row in figures(name)],
        "differences": [row for name in each[1:] for row in differences(name, reference)],
        "distributions": [
            making.histogram(
                {"discipline": name, "class": class_},
                metric,
                unit,
                TAILS[name] * factor * 0.02,
                1.14,
                30,
                0.01,
            )
            for name in each
            for class_ in ("all", *CLASSES)
            for metric, factor, unit in (
                ("slowdown", 1.0, "1"),
                ("response", 1e-6, "s"),
                ("delay", 9e-7, "s"),
            )
        ],
        "windows": [windows(name, class_) for name in each for class_ in ("all", *CLASSES)],
        "delay_over_time": [
            making.over_time(name, class_, TAILS[name] * 1e-7)
            for name in each
            for class_ in ("all", *CLASSES)
        ],
        "in_use": [
            {
                "discipline": name,
                "truncated": False,
                "at": [0.0, 0.2, 0.4] if name.startswith("dynamic") else [0.0],
                "count": [2, 5, 6] if name.startswith("dynamic") else [8],
            }
            for name in each
        ],
    }
    check = ("every request is done or dropped", OFFERED, "")
    return making.frame("server", "Two classes on eight cores", each, check, **made)


def made(disciplines=tuple(TAILS), **options):
    """Return a result as JSON."""
    return json.dumps(document(disciplines, **options))
