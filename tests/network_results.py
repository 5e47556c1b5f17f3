"""Results of the network made for tests, in the shape that the engine writes.

Figures are given by discipline, flow and interval; what is not given is derived from them, so that a document
agrees with itself. No test takes a number from here as true of a network.
"""

import json
import math

import making


def estimate(discipline, scope, name, metric, value, unit, *, statistic="mean", interval="all", error=None):
    """Return one row; without ``error`` it has no interval."""
    about = {"discipline": discipline, "scope": scope, "name": name, "interval": interval}
    reason = "nothing arrived" if value is None else None
    made = making.row(about, metric, value, unit, statistic=statistic, error=error, reason=reason)
    return {**made, "count": 8, "method": None if error is None else "replications"}


def flow_rows(discipline, flow, interval, figures, error, replications):
    """Return the rows of a flow in an interval from offer, throughput, delay and its variance."""
    offer, throughput, delay, variance = figures
    noise = error / math.sqrt(replications)
    rows = [
        ("offer", offer, "bit/s", 0.0),
        ("throughput", throughput, "bit/s", noise * throughput),
        ("delay", delay, "s", None if delay is None else 0.1 * noise * delay),
        ("delay_variance", variance, "s^2", None),
        ("loss", 1 - throughput / offer, "1", noise),
        ("reordered", 0.0, "1", 0.0),
    ]
    made = [
        estimate(discipline, "flow", flow, metric, value, unit, interval=interval, error=spread)
        for metric, value, unit, spread in rows
    ]
    if delay is not None:
        for statistic, factor in (("p50", 0.98), ("p99", 1.2), ("max", 1.5)):
            made.append(
                estimate(
                    discipline,
                    "flow",
                    flow,
                    "delay",
                    delay * factor,
                    "s",
                    statistic=statistic,
                    interval=interval,
                )
            )
    return made


def over_all(discipline, interval, figures, noise):
    """Return the rows of all flows together; ``figures`` holds one tuple a flow."""
    offer, throughput = (sum(each[i] for each in figures) for i in (0, 1))
    delay = sum(each[2] * each[1] for each in figures if each[2] is not None) / throughput
    jain = throughput**2 / (len(figures) * sum(each[1] ** 2 for each in figures))
    least = min(each[1] for each in figures) * len(figures) / throughput
    rows = [
        ("offer", offer, "bit/s", "mean", 0.0),
        ("throughput", throughput, "bit/s", "mean", noise * throughput),
        ("delay", delay, "s", "mean", noise * delay),
        ("delay", delay * 1.4, "s", "p99", None),
        ("delay", delay * 2.0, "s", "max", None),
        ("loss", 1 - throughput / offer, "1", "mean", noise),
        ("jain", jain, "1", "mean", 0.1 * noise),
        ("share", least, "1", "min", 0.1 * noise),
    ]
    return [
        estimate(
            discipline, "all", "all", metric, value, unit, statistic=statistic, interval=interval, error=error
        )
        for metric, value, unit, statistic, error in rows
    ]


def link_rows(discipline, link):
    rows = [
        ("utilisation", 0.97, "1", "mean", 0.001),
        ("drops", 1234.5, "pkt", "mean", 10.0),
        ("queue", 88.0, "pkt", "mean", 0.5),
        ("queue", 100.0, "pkt", "max", None),
        ("wait", 0.45, "s", "mean", 0.001),
    ]
    return [
        estimate(discipline, "link", link, metric, value, unit, statistic=statistic, error=error)
        for metric, value, unit, statistic, error in rows
    ]


def difference(row, base):
    value = row["value"] - base["value"]
    error = max(0.01 * abs(value), 1e-9)
    keys = ("discipline", "scope", "name", "interval", "metric", "statistic", "unit")
    return {
        **{key: row[key] for key in keys},
        "reference": base["discipline"],
        "value": value,
        "low": value - error,
        "high": value + error,
        "reason": None,
    }


def differences(estimates, reference):
    keys = ("scope", "name", "interval", "metric", "statistic")
    return [
        difference(row, against)
        for row, against in making.pairs(estimates, reference, keys)
        if row["metric"] in {"throughput", "delay", "loss", "jain"}
    ]


def histogram(discipline, scope, name, delay):
    about = {"discipline": discipline, "scope": scope, "name": name}
    return making.histogram(about, "delay", "s", delay * 0.5, 1.05, 29)


def series(discipline, flow, metric, unit, value, steps):
    wave = [value * (1 + 0.1 * math.sin(step / 3)) for step in range(steps)]
    return {
        "discipline": discipline,
        "flow": flow,
        "metric": metric,
        "unit": unit,
        "step": 5.0,
        "values": [*wave[:-1], None],
    }


def interval_name(low, high):
    return f"{low}s-{high}s"


def document(figures, *, intervals=((0, 245),), links=("A-B", "B-C"), error=0.01, replications=8, **changes):
    """Return a result as parsed JSON.

    ``figures`` maps discipline and flow to one tuple (offer, throughput, delay, variance), or None, an
    interval; the first interval is the whole run.
    """
    names = ["all", *(interval_name(*each) for each in intervals[1:])]
    disciplines = list(figures)
    flows = list(figures[disciplines[0]])
    estimates, drawn, histograms = [], [], []
    for discipline, of_flow in figures.items():
        for place, interval in enumerate(names):
            known = {flow: each[place] for flow, each in of_flow.items() if each[place] is not None}
            if known:
                estimates += over_all(
                    discipline, interval, list(known.values()), error / math.sqrt(replications)
                )
            for flow, each in known.items():
                estimates += flow_rows(discipline, flow, interval, each, error, replications)
        for link in links:
            estimates += link_rows(discipline, link)
        for flow, each in of_flow.items():
            offer, throughput, delay, _ = each[0] or next(one for one in each if one is not None)
            histograms.append(histogram(discipline, "flow", flow, delay or 0.1))
            drawn.append(series(discipline, flow, "offer", "bit/s", offer, 20))
            drawn.append(series(discipline, flow, "throughput", "bit/s", throughput, 20))
        histograms.append(histogram(discipline, "all", "all", 0.5))
    made = {
        "replications": replications,
        "length_unit": "B",
        "totals": [
            {
                "discipline": name,
                "offered": 1_000_000,
                "delivered": 600_000,
                "dropped": 400_000,
                "hops": 2_000_000,
            }
            for name in disciplines
        ],
        "intervals": [
            {"name": name, "from": low, "to": high}
            for name, (low, high) in zip(names, intervals, strict=True)
        ],
        "classes": ["default"],
        "flows": [
            {
                "name": flow,
                "class": "default",
                "from": flow[0],
                "to": flow[-1],
                "path": list(links),
                "traffic": "script",
            }
            for flow in flows
        ],
        "links": [
            {"name": link, "from": link[0], "to": link[-1], "rate": 1.344e6, "compared": True}
            for link in links
        ],
        "estimates": estimates,
        "differences": differences(estimates, disciplines[0]),
        "series": drawn,
        "delay_over_time": [making.over_time(name, "all", 0.5, 30.0) for name in disciplines],
        "distributions": histograms,
    }
    check = ("packets sent = delivered + dropped", 1_000_000.0, "packets")
    return making.frame("network", "Streams over one line", disciplines, check, **{**made, **changes})


T1 = 1.344e6
SMALL = {
    "fifo:limit=100pkt": {
        "a to b": [(0.6 * T1, 0.27 * T1, 1.47, 0.0057), (0.6 * T1, 0.27 * T1, 1.47, 0.0057)],
        "c to d": [(0.6 * T1, 0.47 * T1, 0.54, 0.0007), (0.6 * T1, 0.48 * T1, 0.54, 0.0007)],
        "e to f": [(0.2 * T1, 0.12 * T1, 0.54, 0.0007), (0.2 * T1, 0.13 * T1, 0.54, 0.0007)],
    },
    "sfq:queues=9,depth=100pkt": {
        "a to b": [(0.6 * T1, 0.33 * T1, 2.8, 0.12), (0.6 * T1, 0.33 * T1, 2.8, 0.12)],
        "c to d": [(0.6 * T1, 0.33 * T1, 1.5, 0.0095), (0.6 * T1, 0.33 * T1, 1.5, 0.0095)],
        "e to f": [(0.2 * T1, 0.2 * T1, 0.08, 0.0003), (0.2 * T1, 0.2 * T1, 0.08, 0.0003)],
    },
}


def made(**changes):
    """Return the JSON text of a small result of two disciplines and three flows."""
    return json.dumps(document(SMALL, intervals=((0, 245), (0, 30)), **changes))
