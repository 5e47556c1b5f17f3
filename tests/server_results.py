"""Results of the server made for tests, in the shape that the engine writes.

Two classes on eight cores: slowdowns in the tail, cores in use and drops are given by discipline, and
everything else is derived from them, so that a document agrees with itself. No test takes a number from here
as true of a server.
"""

import json
import math

NORMAL = 1.959963984540054
CORES = 8
CLASSES = {"short": (0.995, 5e-7, 10.0), "long": (0.005, 5e-4, None)}
"""Share, mean service, and the slowdown that is asked for."""
TAILS = {"rr": 900.0, "jsq": 45.0, "cfcfs": 8.0, "dynamic:add=50us": 1200.0}
"""p99.9 of the slowdown of all requests."""
DROPPED = {"dynamic:add=50us": 2_000}
IN_USE = {"rr": 8.0, "jsq": 8.0, "cfcfs": 8.0, "dynamic:add=50us": 5.5}
STATISTICS = {"mean": 0.1, "p50": 0.05, "p90": 0.3, "p99": 0.6, "p99.9": 1.0, "p99.99": 1.4, "max": 2.0}
OFFERED = 100_000


def estimate(discipline, kind, name, metric, value, unit, *, statistic="mean", error=0.0, reason=None):
    """Return one row."""
    low, high = (None, None) if value is None else (value - NORMAL * error, value + NORMAL * error)
    return {
        "discipline": discipline,
        "kind": kind,
        "name": name,
        "metric": metric,
        "statistic": statistic,
        "value": value,
        "low": low,
        "high": high,
        "standard_error": None if value is None else error,
        "count": 0 if value is None else 1000,
        "method": None if value is None else "replications",
        "unit": unit,
        "reason": reason,
    }


def tail(discipline, name, metric, longest, unit):
    """Return a metric by its mean, quantiles and maximum, which has no interval."""
    rows = [
        estimate(
            discipline,
            "class",
            name,
            metric,
            longest * part,
            unit,
            statistic=each,
            error=0.01 * longest * part,
        )
        for each, part in STATISTICS.items()
    ]
    none = {"low": None, "high": None, "standard_error": None, "method": None}
    return [*rows[:-1], {**rows[-1], **none, "reason": "the extreme of all replications"}]


def figures(discipline):
    """Return the figures of a discipline."""
    slow = TAILS[discipline]
    dropped = DROPPED.get(discipline, 0) / OFFERED
    made = []
    for name, part in (("all", 1.0), ("short", 1.1), ("long", 0.01)):
        made += tail(discipline, name, "slowdown", slow * part, "1")
        made += tail(discipline, name, "response", slow * part * 1e-6, "s")
        made += tail(discipline, name, "delay", slow * part * 9e-7, "s")
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


def histogram(discipline, name, metric, longest, unit):
    edges = [longest * 0.02 * 1.14**step for step in range(31)]
    counts = [max(1, round(1000 * math.exp(-((step - 14) ** 2) / 20))) for step in range(30)]
    return {
        "discipline": discipline,
        "class": name,
        "metric": metric,
        "relative_error": 0.01,
        "unit": unit,
        "low": edges[:-1],
        "high": edges[1:],
        "count": counts,
    }


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
    return {
        "weir": "0.1.0",
        "model": "server",
        "title": "Two classes on eight cores",
        "file": "server.toml",
        "fingerprint": "0123456789abcdef",
        "seed": 7,
        "scenario": f'weir = 1\nmodel = "server"\ndisciplines = {json.dumps(each)}\n',
        "replications": replications,
        "time_unit": "s",
        "load": 0.7,
        "interrupted": False,
        "unstable": None,
        "engines": [{"discipline": name, "engine": "plain"} for name in each],
        "disciplines": each,
        "reference": reference,
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
            histogram(name, class_, metric, TAILS[name] * factor, unit)
            for name in each
            for class_ in ("all", *CLASSES)
            for metric, factor, unit in (
                ("slowdown", 1.0, "1"),
                ("response", 1e-6, "s"),
                ("delay", 9e-7, "s"),
            )
        ],
        "windows": [windows(name, class_) for name in each for class_ in ("all", *CLASSES)],
        "in_use": [
            {
                "discipline": name,
                "truncated": False,
                "at": [0.0, 0.2, 0.4] if name.startswith("dynamic") else [0.0],
                "count": [2, 5, 6] if name.startswith("dynamic") else [8],
            }
            for name in each
        ],
        "theory": [],
        "checks": [
            {
                "discipline": name,
                "check": "every request is done or dropped",
                "expected": OFFERED,
                "measured": OFFERED,
                "tolerance": 0.0,
                "ok": True,
                "note": "",
            }
            for name in each
        ],
    }


def made(disciplines=tuple(TAILS), **options):
    """Return a result as JSON."""
    return json.dumps(document(disciplines, **options))
