"""Results of the runs of the reproduction `dtable` made for tests: as the rules and the text have it.

Shares of saturated links are those of the closed forms, latencies follow the claims, and everything else is
plain. No test takes a number from here as true of a fabric.
"""

import json

from fabric_results import document
from weir import FabricResult
from weir.reproduce.dtable import published, runs
from weir.reproduce.dtable.cells import FIGURE_WEIGHT
from weir.reproduce.dtable.method import saturated_shares
from weir.reproduce.dtable.published import CHANNELS
from weir.reproduce.dtable.runs import DRR, Fidelity

GAINS = {"D2": 0.47, "D4": 0.41, "D8": 0.32, "D16": 0.15, "D32": -0.17, "D64": -0.57, "D64'": -0.57}
"""Improvement of the mean at load 0.9, as a part."""
CEILING = 300e-6
"""Latency of a saturated channel, in s."""
ERROR = 1e-3
"""Standard errors over values."""


def gain(channel, load, *, proportional=False, weak=False):
    """Return an improvement: none at no load, that of `GAINS` at 0.9."""
    most = -0.2 if proportional and channel == "D16" else GAINS[channel]
    return most * (0.1 if weak else 1.0) * min(load, 0.95) ** 2 / 0.9**2


def is_saturated(channel, load):
    return accepted(channel, load) < 0.99


def accepted(channel, load):
    """Return what arrives of a channel's offer under equal shares."""
    if load <= 1.0:
        return 0.97 if channel.startswith("D64") and load >= 0.95 else 0.999
    return min(1.0, 7 * published.phi(channel) / load)


def latency(role, channel, load, **how):
    base = (
        CEILING
        if is_saturated(channel, load)
        else 4e-6 / (1.2 - min(load, 1.0)) + 1e-8 * CHANNELS.index(channel)
    )
    if role == DRR:
        return base
    left = 0.1 if is_saturated(channel, load) and load >= 1.0 else 1.0
    return base * (1 - left * gain(channel, load, **how))


def network(plan, loads):
    """Return latencies of DTable and DRR, and what arrives."""
    how = {"proportional": "proportional" in plan.name, "weak": "speed of a link" in plan.name}
    return {
        spec: {load: [latency(role, name, load, **how) for name in CHANNELS] for load in loads}
        for role, spec in zip(plan.roles, plan.document["disciplines"], strict=True)
    }


def flat(plan, loads, channels, by_role=None):
    """Return one latency for each role, or that of ``by_role`` and channel, in s."""
    return {
        spec: {load: [(by_role or {}).get((role, name), 5e-6) for name in channels] for load in loads}
        for role, spec in zip(plan.roles, plan.document["disciplines"], strict=True)
    }


def latencies(plan, loads, channels):
    """Return the mean latency of each discipline, load and channel of a plan."""
    if plan.name in {runs.FRAMES, runs.FRAMES_PROPORTIONAL}:
        return flat(
            plan,
            loads,
            channels,
            {(role, name): 5e-6 * int(role) for role in plan.roles for name in channels},
        )
    if plan.name == "exchanged":
        moved = {("as printed", "D16"): 9e-6, ("exchanged", "D2"): 9e-6}
        return flat(plan, loads, channels, moved)
    if plan.name == "fair":
        ordered = {(runs.DTABLE, name): 3e-6 * (place + 1) for place, name in enumerate(channels)}
        return flat(plan, loads, channels, ordered)
    if plan.roles == runs.NETWORK and channels == CHANNELS and not plan.name.startswith("unloaded"):
        return network(plan, loads)
    return flat(plan, loads, channels)


def share_of(plan, role, place):
    """Return the part of a saturated link that a channel has."""
    if plan.name.startswith("figure 1"):
        sizes = list(runs.packet_sizes("b" if plan.name.endswith("b") else "a"))
        return saturated_shares(role, FIGURE_WEIGHT, sizes)[place]
    if plan.name == "visits":
        first = 2048 * (2 if role == runs.WEIGHTED else 34 / 32)
        return (first, 2176)[place] / (first + 2176)
    if plan.name == "one entry":
        return (1, 2, 1, 3)[place] / 7
    return published.phi(CHANNELS[place])


def rates(plan, made):
    """Put what arrives in the place of plain values."""
    names = [each["name"] for each in made["channels"]]
    roles = dict(zip(made["disciplines"], plan.roles, strict=True))
    for row in made["estimates"]:
        if row["channel"] == "all" or row["metric"] not in {"throughput", "accepted"}:
            continue
        place, load = names.index(row["channel"]), row["load"]
        offer = load * made["channels"][place]["share"]
        if load > 1.5:
            carried = share_of(plan, roles[row["discipline"]], place)
        else:
            carried = offer * (accepted(row["channel"], load) if names == list(CHANNELS) else 1.0)
        put(row, carried if row["metric"] == "throughput" else carried / offer)


def put(row, value, error=ERROR):
    """Replace a value and its intervals."""
    half = error * abs(value)
    row |= {"value": value, "low": value - 2 * half, "high": value + 2 * half}
    row |= {"low_90": value - 1.6 * half, "high_90": value + 1.6 * half, "standard_error": half}


def carried(made, reference):
    """Add the paired differences of throughputs."""
    found = {
        (row["discipline"], row["load"], row["channel"]): row["value"]
        for row in made["estimates"]
        if row["metric"] == "throughput"
    }
    shown = next(row for row in made["differences"] if row["kind"] == "difference")
    for (discipline, load, channel), value in found.items():
        if discipline != reference:
            about = {"discipline": discipline, "load": load, "channel": channel, "metric": "throughput"}
            row = {**shown, **about, "statistic": "mean", "unit": "1"}
            put(row, value - found[reference, load, channel])
            row.pop("standard_error")
            row |= {"low_90": row["value"] - ERROR * value, "high_90": row["value"] + ERROR * value}
            made["differences"].append(row)


def precise(made):
    """Make every latency as certain as the rest, and every maximum better by as much as the mean."""
    for row in made["estimates"]:
        if row["metric"].endswith("latency"):
            put(row, row["value"])


def counts(plan, made):
    """Count as the network of the document would: 342 / 63 links a packet, mean packets of 184 bytes."""
    roles = dict(zip(made["disciplines"], plan.roles, strict=True))
    for row in made["totals"]:
        row |= {"delivered": 63_000, "traversals": 342_000, "decisions": 342_000, "examined": 1_000_000}
        reads = int(roles[row["discipline"]]) if plan.name == "read ahead" else 1
        row |= {
            "steps": 1_000_000 // reads + 100_000 * (reads > 1),
            "most_examined": 64,
            "most_steps": 64 // reads,
        }
    packets = 64 * 250e6 * 4e-3 * made["replications"] / 184
    for row in made["estimates"]:
        if row["metric"] == "offered" and row["channel"] == "all":
            row["count"] = round(row["value"] * packets)


def unloaded(plan, made):
    """Put the header's time through one, three or five switches in the place of the longest latency."""
    switches = 2 * int(plan.name[-1]) - 1
    for row in made["estimates"]:
        if (row["metric"], row["statistic"]) == ("latency", "max"):
            put(row, 1e-9 * (switches * (145 + 32 + 20) + 276), 0.0)


def result(plan):
    """Return the result of a plan."""
    channels = [each["name"] for each in plan.document["channel"]]
    traffic = plan.document["traffic"]
    loads = traffic.get("loads") or [traffic["load"]]
    specs = plan.document["disciplines"]
    reference = plan.document.get("reference", specs[0])
    if len(loads) != len(set(loads)):
        raise ValueError(f"loads of {plan.name} are {loads}")
    names = CHANNELS if tuple(channels) == CHANNELS else tuple(channels)
    made = document(latencies(plan, loads, names), channels=names, reference=reference)
    made["replications"] = plan.document["stop"]["replications"]
    made["distributions"] = []
    rates(plan, made)
    carried(made, reference)
    precise(made)
    counts(plan, made)
    if plan.name.startswith("unloaded"):
        unloaded(plan, made)
    return FabricResult(json.dumps(made))


def as_claimed(fidelity=Fidelity.QUICK):
    """Return results under which every claim comes out as the text has it."""
    return {plan: result(plan) for plan in runs.plans(fidelity)}
