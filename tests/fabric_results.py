"""Results of the fabric made for tests, in the shape that the engine writes.

Latencies are given by discipline, load and channel; everything else is derived from them, so that a document
agrees with itself. No test takes a number from here as true of a fabric.
"""

import json

import making
from making import NORMAL

CHANNELS = ("D2", "D4", "D8", "D16", "D32", "D64", "D64'")
DRR = "drr:quantum=2048B,weights=8/8/8/4/2/1/1"
DTABLE = "dtable:distances=2/4/8/16/32/64/64,weights=32cr/64cr/128cr/128cr/128cr/128cr/128cr"
GAINS = (0.47, 0.41, 0.32, 0.002, -0.17, -0.57, -0.53)
"""Of the table over round robin at load 0.9."""


def interval(value, error, factor=NORMAL):
    return (value - factor * error, value + factor * error)


def estimate(discipline, load, channel, metric, value, unit, *, statistic="mean", error=0.0, reason=None):
    """Return one row."""
    low_90, high_90 = (None, None) if value is None else interval(value, error, 1.645)
    about = {"discipline": discipline, "load": load, "channel": channel}
    made = making.row(about, metric, value, unit, statistic=statistic, error=error, reason=reason)
    return {**made, "low_90": low_90, "high_90": high_90}


def rows_of(discipline, load, channel, share, latency, accepted):
    """Return the rows of a channel."""
    offered = load * share
    rates = [
        ("offered", offered, 0.0),
        ("throughput", offered * accepted, 1e-4),
        ("accepted", accepted, 1e-3),
    ]
    made = [
        estimate(discipline, load, channel, metric, value, "1", error=error) for metric, value, error in rates
    ]
    for metric, more in (("latency", 1.0), ("total_latency", 1.2 / accepted)):
        for statistic, factor in (
            ("mean", 1),
            ("p50", 0.7),
            ("p90", 2),
            ("p99", 4),
            ("p99.9", 6),
            ("max", 9),
        ):
            value = latency * factor * more
            made.append(
                estimate(
                    discipline, load, channel, metric, value, "s", statistic=statistic, error=0.01 * value
                )
            )
    return made


def differences(estimates, reference):
    """Return differences and improvements of the latencies."""
    keys = ("load", "channel", "metric", "statistic")
    made = []
    for row, base in making.pairs(estimates, reference, keys):
        if not row["metric"].endswith("latency"):
            continue
        against = base["value"]
        shared = {key: row[key] for key in ("discipline", *keys)} | {"reference": reference, "reason": None}
        value = row["value"] - against
        for kind, number, unit, error in (
            ("difference", value, row["unit"], 0.005 * against),
            ("improvement", -100 * value / against, "%", 0.5),
        ):
            low, high = interval(number, error)
            low_90, high_90 = interval(number, error, 1.645)
            ends = {"low": low, "high": high, "low_90": low_90, "high_90": high_90}
            made.append({**shared, "kind": kind, "value": number, "unit": unit, **ends})
    return made


def histogram(discipline, load, channel, latency):
    about = {"discipline": discipline, "load": load, "channel": channel}
    return making.histogram(about, "latency", "s", latency * 0.1, 1.2, 30)


def totals(discipline, load):
    return {
        "discipline": discipline,
        "load": load,
        "generated": 1_000_000,
        "delivered": 990_000,
        "traversals": 5_400_000,
        "decisions": 5_400_000,
        "examined": 21_600_000,
        "most_examined": 64,
        "steps": 6_000_000,
        "most_steps": 8,
    }


def document(latencies, *, saturated=None, channels=CHANNELS, reference=None, **changes):
    """Return a result as parsed JSON.

    ``latencies`` maps discipline and load to one latency a channel; ``saturated`` maps discipline and channel
    to the load from which 97 % arrive.
    """
    saturated = saturated or {}
    disciplines = list(latencies)
    loads = list(latencies[disciplines[0]])
    share = 1 / len(channels)
    estimates, histograms = [], []
    for discipline, by_load in latencies.items():
        for load, found in by_load.items():
            every = sum(found) / len(found)
            for channel, latency in (*zip(channels, found, strict=True), ("all", every)):
                accepted = 0.97 if load >= saturated.get((discipline, channel), 9) else 1.0
                part = 1.0 if channel == "all" else share
                estimates += rows_of(discipline, load, channel, part, latency, accepted)
                histograms.append(histogram(discipline, load, channel, latency))
    base = reference or disciplines[0]
    made = {
        "replications": 10,
        "length_unit": "B",
        "reference": base,
        "size": {"hosts": 64, "switches": 48, "links": 384},
        "channels": [{"name": name, "share": share} for name in channels],
        "loads": loads,
        "totals": [totals(name, load) for name in disciplines for load in loads],
        "estimates": estimates,
        "differences": differences(estimates, base),
        "saturation": [
            {"discipline": name, "channel": channel, "load": saturated.get((name, channel))}
            for name in disciplines
            for channel in (*channels, "all")
        ],
        "distributions": histograms,
    }
    check = ("credits conserved", 0.0, "credits that are nowhere")
    return making.frame(
        "fabric", "Seven channels at 64 end-points", disciplines, check, **{**made, **changes}
    )


def paper(loads=(0.5, 0.8, 0.9, 1.0)):
    """Return latencies of two disciplines, further apart as the load grows."""
    flat = {load: [12e-6 / (1.4 - load) + 1e-6 * place for place in range(7)] for load in loads}
    return {
        DRR: flat,
        DTABLE: {
            load: [value * (1 - gain * load / 0.9) for value, gain in zip(found, GAINS, strict=True)]
            for load, found in flat.items()
        },
    }


def made(loads=(0.5, 0.8, 0.9, 1.0), **changes):
    """Return the JSON text of a result of two disciplines and seven channels."""
    late = {(DTABLE, "D64"): 1.0, (DTABLE, "D64'"): 1.0}
    return json.dumps(document(paper(loads), saturated=late if 1.0 in loads else {}, **changes))
