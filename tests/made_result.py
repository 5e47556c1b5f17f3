"""A result made by hand, for tests of what is shown: the report's workload at 95 % load.

Means are those that the alpha report prints for 95 %; the distributions around them are exponential, and the
closed forms are its exact values. No test takes a number from here as true of the port.
"""

import itertools
import json
import math

import making

SHARES = {"1pkt": 0.18, "2pkt": 0.18, "3pkt": 0.18, "4pkt": 0.18, "5pkt": 0.18, "20pkt": 0.10}
MEANS = {
    "fifo": (103.33, 104.34, 105.29, 106.31, 107.26, 122.30),
    "rr_head": (0.74, 23.31, 45.80, 68.28, 90.62, 422.94),
    "rr": (18.25, 36.85, 55.44, 74.09, 92.71, 374.23),
    "alpha:1": (95.00, 96.86, 98.64, 100.46, 102.19, 130.66),
    "alpha:2": (87.00, 89.64, 92.23, 94.87, 97.44, 138.68),
    "alpha:3": (79.64, 82.93, 86.24, 89.63, 92.97, 146.20),
    "alpha:6": (61.06, 65.68, 70.54, 75.73, 80.99, 166.03),
    "alpha:10": (43.00, 48.27, 54.09, 60.71, 67.75, 187.10),
    "alpha:20": (18.36, 23.13, 28.76, 35.85, 44.60, 221.10),
    "alpha:30": (8.33, 11.92, 16.45, 22.49, 30.90, 239.12),
    "alpha:60": (1.65, 3.49, 5.91, 9.41, 15.28, 257.30),
    "alpha:100": (0.98, 2.46, 4.33, 6.97, 11.52, 261.50),
    "sf": (0.79, 2.19, 3.90, 6.22, 10.06, 264.23),
}
WITH_A_FORM = ("fifo", "rr_head", "rr", "sf")
MESSAGES = 2_000_000
QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999}


def class_means(name: str) -> dict[str, float]:
    by_class = dict(zip(SHARES, MEANS[name], strict=True))
    return {"all": sum(SHARES[each] * mean for each, mean in by_class.items()), **by_class}


def tail(parts: list[tuple[float, float]], delay: float) -> float:
    """Return the share above ``delay`` of a mixture of exponentials (share, mean)."""
    return sum(share * math.exp(-delay / mean) for share, mean in parts)


def quantile(parts: list[tuple[float, float]], level: float) -> float:
    low, high = 0.0, 1e6
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(parts, middle) > 1 - level else (low, middle)
    return high


def parts_of(name: str, class_: str) -> list[tuple[float, float]]:
    means = class_means(name)
    return [(1.0, means[class_])] if class_ != "all" else [(SHARES[each], means[each]) for each in SHARES]


def row(name: str | None, class_: str, metric: str, statistic: str, value: float | None, **more) -> dict:
    margin = None if value is None or statistic != "mean" else 0.01 * value
    return {
        "discipline": name,
        "class": class_,
        "flow": None,
        "metric": metric,
        "statistic": statistic,
        "value": value,
        "low": None if margin is None else value - margin,
        "high": None if margin is None else value + margin,
        "standard_error": None if margin is None else margin / 1.96,
        "count": round(MESSAGES * (1 if class_ == "all" else SHARES[class_])),
        "method": None if margin is None else "batch means",
        "unit": "u",
        "reason": None,
        **more,
    }


def delays(name: str) -> list[dict]:
    rows = []
    for class_, mean in class_means(name).items():
        parts = parts_of(name, class_)
        rows.append(row(name, class_, "latency", "mean", mean))
        rows += [
            row(name, class_, "latency", each, quantile(parts, level)) for each, level in QUANTILES.items()
        ]
        rows.append(row(name, class_, "latency", "max", quantile(parts, 1 - 1 / MESSAGES)))
    return rows


def difference(name: str, reference: str, class_: str) -> dict:
    base = class_means(reference)[class_]
    value = class_means(name)[class_] - base
    return {
        "discipline": name,
        "reference": reference,
        "class": class_,
        "metric": "latency",
        "statistic": "mean",
        "value": value,
        "low": value - 0.005 * base,
        "high": value + 0.005 * base,
        "ratio": 1 + value / base,
        "ratio_low": 1 + value / base - 0.005,
        "ratio_high": 1 + value / base + 0.005,
        "ratio_standard_error": 0.0025,
        "unit": "u",
        "reason": None,
    }


def closed_form(name: str, class_: str) -> dict:
    known = name in WITH_A_FORM
    return {
        "discipline": name,
        "class": class_,
        "metric": "latency",
        "value": class_means(name)[class_] * 1.002 if known else None,
        "unit": "u",
        "formula": "exact" if known else f"no closed form for 0 < alpha < infinity ({name})",
        "agrees": True if known else None,
    }


def histogram(name: str, class_: str) -> dict:
    parts = parts_of(name, class_)
    edges = [0.0, *(0.01 * 1.04**step for step in range(360))]
    count = round(MESSAGES * (1 if class_ == "all" else SHARES[class_]))
    bins = [
        (low, high, round(count * (tail(parts, low) - tail(parts, high))))
        for low, high in itertools.pairwise(edges)
    ]
    kept = [each for each in bins if each[2]]
    return {
        "discipline": name,
        "class": class_,
        "metric": "latency",
        "relative_error": 0.02,
        "unit": "u",
        "low": [each[0] for each in kept],
        "high": [each[1] for each in kept],
        "count": [each[2] for each in kept],
    }


def check(name: str | None, what: str, expected: float, measured: float) -> dict:
    return {
        "discipline": name,
        "check": what,
        "expected": expected,
        "measured": measured,
        "tolerance": 0.01 * expected,
        "ok": abs(expected - measured) <= 0.01 * expected,
        "note": "",
    }


def length_class(name: str) -> dict:
    length = int(name.removesuffix("pkt"))
    count = round(MESSAGES * SHARES[name])
    return {"name": name, "low": length, "high": length, "count": count, "mean_length": float(length)}


def made(names: tuple[str, ...] = tuple(MEANS), **changes) -> str:
    """Return the JSON text of a result of the disciplines ``names``; the first is the reference."""
    classes = ["all", *SHARES]
    document = {
        "replications": 4,
        "time_unit": "u",
        "length_unit": "pkt",
        "load": 0.95,
        "ticks": 9_400_000,
        "messages": MESSAGES,
        "unfinished": 22,
        "duration": 9_894_736.8,
        "warm_up": {"rule": "detected (MSER-5)", "ticks": 4700},
        "precision": None,
        "classes": [
            {"name": "all", "low": None, "high": None, "count": MESSAGES, "mean_length": 4.7},
            *map(length_class, SHARES),
        ],
        "estimates": [
            row(None, "all", "queue", "mean", 102.69, unit="pkt"),
            *(each for name in names for each in delays(name)),
        ],
        "differences": [difference(name, names[0], class_) for name in names[1:] for class_ in classes],
        "theory": [closed_form(name, class_) for name in names for class_ in classes],
        "checks": [
            check(None, "flow balance", 9_400_000, 9_400_000),
            *(check(name, "Little's law", 102.69, 102.5) for name in names),
        ],
        "distributions": [histogram(name, class_) for name in names for class_ in classes],
    }
    nothing = ("", 0, "")
    document |= changes
    return json.dumps(making.frame("port", "Message port at 95 % load", names, nothing, **document))
