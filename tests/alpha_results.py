"""Results of the ten loads, made for tests: from the printed tables, or from means and errors given."""

import itertools
import random

from weir.reproduce.alpha import published
from weir.reproduce.alpha.published import LENGTHS, LOADS, MEAN_LENGTH, QUANTITIES, STRATEGIES

CLASSES = {"all": "avlat", **{f"{length}pkt": f"lat{length}" for length in LENGTHS}}
NORMAL = 1.959963984540054


def row(strategy, class_, metric, value, error, count):
    return {
        "discipline": strategy,
        "class": class_,
        "flow": None,
        "metric": metric,
        "statistic": "mean",
        "value": value,
        "low": value - NORMAL * error,
        "high": value + NORMAL * error,
        "standard_error": error,
        "count": count,
        "unit": "u",
        "reason": None,
    }


def difference(strategy, class_, mean, base, error):
    margin, ratio = NORMAL * error, mean / base if base else None
    spread = 0.0 if ratio is None else margin / base
    return {
        "discipline": strategy,
        "reference": "sf",
        "class": class_,
        "metric": "latency",
        "statistic": "mean",
        "value": mean - base,
        "low": mean - base - margin,
        "high": mean - base + margin,
        "ratio": ratio,
        "ratio_low": ratio if ratio is None else ratio - spread,
        "ratio_high": ratio if ratio is None else ratio + spread,
        "ratio_standard_error": ratio if ratio is None else spread / NORMAL,
        "unit": "u",
        "reason": None,
    }


def document(load, means, errors, packets):
    """Return a result of one load; ``means`` and ``errors`` by strategy and quantity."""
    messages = round(packets / MEAN_LENGTH)
    counts = {"all": messages} | {
        f"{length}pkt": round(messages * share) for length, share in LENGTHS.items()
    }
    pairs = list(itertools.product(STRATEGIES, CLASSES.items()))
    queue = row(None, "all", "queue", means["fifo", "qlen"], errors["fifo", "qlen"], packets)
    estimates = [row(s, c, "latency", means[s, q], errors[s, q], counts[c]) for s, (c, q) in pairs]
    differences = [
        difference(s, c, means[s, q], means["sf", q], min(errors[s, q], errors["sf", q]))
        for s, (c, q) in pairs
        if s != "sf"
    ]
    return {
        "disciplines": list(STRATEGIES),
        "interrupted": False,
        "ticks": packets,
        "messages": messages,
        "duration": messages * MEAN_LENGTH / (float(load) / 100),
        "estimates": [queue, *estimates],
        "differences": differences,
    }


def packets_of(load):
    return published.packets()[load] or published.ASSUMED_PACKETS


def printed():
    """Return the published tables as if they had been measured without noise."""
    cells = list(itertools.product(STRATEGIES, QUANTITIES))
    table = published.table()
    return {
        load: document(
            load, {cell: table[load, *cell] for cell in cells}, dict.fromkeys(cells, 0.0), packets_of(load)
        )
        for load in LOADS
    }


def drawn(seed, means, errors, ratio=1.0, only=LOADS):
    """Return results drawn from normal distributions, of runs ``ratio`` times as long as published."""
    random_ = random.Random(seed)  # noqa: S311 - a simulation
    cells = list(itertools.product(STRATEGIES, QUANTITIES))
    results = {}
    for load in only:
        scale = ratio**-0.5
        error = {cell: errors[load, *cell] * scale for cell in cells}
        mean = {cell: random_.gauss(means[load, *cell], error[cell]) for cell in cells}
        for strategy in STRATEGIES:
            mean[strategy, "qlen"], error[strategy, "qlen"] = mean["fifo", "qlen"], error["fifo", "qlen"]
        results[load] = document(load, mean, error, round(packets_of(load) * ratio))
    return results
