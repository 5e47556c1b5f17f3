"""Claims C01 to C17, C31 to C34: saturated shares, arithmetic, wiring, counts.

Each function yields parts, statements that were decided; a claim is met if all of its parts hold.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from weir.reproduce.dtable import planned, published, runs
from weir.reproduce.dtable.cells import FIGURE_BAR, FIGURE_WEIGHT, computed, distance
from weir.reproduce.dtable.evidence import EQUAL_PHI, spread
from weir.reproduce.dtable.method import TABLE_1, saturated_shares
from weir.reproduce.dtable.published import CHANNELS, TOTAL
from weir.reproduce.dtable.runs import DRR, DTABLE, SATURATED, SCFQ, TABLES, WEIGHTED, WFQ
from weir.reproduce.dtable.wiring import Wiring
from weir.reproduce.engine.evidence import NotMeasuredError
from weir.reproduce.engine.judgement import Part

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from weir.reproduce.dtable.evidence import Evidence, View

_ALIKE = 1.05
"""How far latencies of one reservation may be apart under SCFQ and WFQ: ties go to the lower channel."""
_BY_CHANCE = "offered load"
"""A self-check on the traffic, which one run in a thousand fails; it says nothing of losses."""


# Shares of a saturated link.


def _largest_gap(view: View, role: str, load: float, expected: dict[str, float]) -> float:
    shares = view.shares(role, load)
    return max(abs(shares[name].value - share) for name, share in expected.items())


def _figure(role: str, evidence: Evidence) -> Iterator[Part]:
    for name in runs.SIZE_SETS:
        view = evidence.view(f"figure 1{name}")
        shares = saturated_shares(role, FIGURE_WEIGHT, list(runs.packet_sizes(name)))
        gap = _largest_gap(view, role, SATURATED, dict(zip(view.channels, shares, strict=True)))
        shown = ", ".join(f"{each.value:.4f}" for each in view.shares(role, SATURATED).values())
        yield Part(gap <= FIGURE_BAR, f"sizes {name}: {shown}, off by {gap:.5f} at most")


def _unfairness(evidence: Evidence) -> Iterator[Part]:
    for run, load in (("figure 1a", SATURATED), ("figure 1b", SATURATED), ("figure 1 in the network", 3.0)):
        view = evidence.view(run)
        spreads = [spread([each.value for each in view.shares(role, load).values()]) for role in TABLES]
        falling = spreads[0] > spreads[1] > spreads[2]
        yield Part(falling, f"{run}: {' > '.join(f'{each:.4f}' for each in spreads)}")


def _unsaturated(evidence: Evidence) -> Iterator[Part]:
    for run, loads in (
        ("figure 1a", runs.SWEPT),
        ("figure 1b", runs.SWEPT),
        ("figure 1 in the network", (0.4,)),
    ):
        view = evidence.view(run)
        worst = max(
            abs(view.estimate(role, load, channel, "accepted").value - 1)
            for role in TABLES
            for load in loads
            for channel in view.channels
        )
        yield Part(worst <= 0.01, f"{run}: throughput off the offer by {100 * worst:.2f} % at most")


def _visits(role: str, packets: Fraction, evidence: Evidence) -> Iterator[Part]:
    """Say that a visit of 34 credits sends a number of packets of 32, next to a flow with packets of 34."""
    view = evidence.view("visits")
    first, second = view.channels
    found = view.shares(role, SATURATED)[first].value
    expected, other = (float(2048 * each / (2048 * each + 2176)) for each in (packets, Fraction(1)))
    near = abs(found - expected) <= FIGURE_BAR
    shown = f"share of {first} next to {second}: {found:.4f}, rule {expected:.4f}, without it {other:.4f}"
    yield Part(near, shown)


def _one_pass(evidence: Evidence) -> Iterator[Part]:
    most = max(
        row.most_examined
        for name in ("overload", runs.MAIN.name, "one entry")
        for row in evidence.view(name).totals(DTABLE)
    )
    yield Part(most <= TABLE_1.entries, f"{most} entries examined at most, of {TABLE_1.entries}")


def _equals_drr(evidence: Evidence) -> Iterator[Part]:
    """Say that both send the same of each flow, but for a visit at either end of the window."""
    view = evidence.view("one entry")
    link = 250.0e6 * 0.02
    for place, (name, quantum) in enumerate(zip(view.channels, (2048, 4096, 2048, 6144), strict=True)):
        rates = [view.estimate(role, SATURATED, name, "throughput").value for role in (DTABLE, DRR)]
        gap = abs(rates[0] - rates[1]) * link
        yield Part(
            gap <= 2 * (quantum + 2048), f"flow {place}: {gap:.0f} B apart of {rates[0] * link / 1e6:.3f} MB"
        )


# Table 1 and the network.


def _formulas(_: Evidence) -> Iterator[Part]:
    facts = planned.plan()["table"]
    pool, largest = facts["pool_credits"], facts["largest_weight_credits"]
    yield Part(pool == TABLE_1.pool == 64 * 32 * 2, f"pool {pool} credits")
    yield Part(largest == TABLE_1.largest == 32 * 4, f"M {largest} credits")
    made = planned.table()
    columns = ("min_phi_pct", "max_phi_pct")
    wrong = [
        key
        for key, value in published.table().items()
        if key[1] in columns and made.get(key) != Fraction(value)
    ]
    yield Part(not wrong, f"{len(wrong)} of the bounds of a share differ")


def _table_1(_: Evidence) -> Iterator[Part]:
    for words, made in (("planned", planned.table()), ("by arithmetic", computed())):
        wrong = [key for key, value in published.table().items() if made.get(key) != Fraction(value)]
        yield Part(not wrong, f"{words}: {len(wrong)} of {len(published.table())} values differ")
    totals = [float(made[TOTAL, column]) for column in ("entries", "total_weight", "drr_quantum")]
    yield Part(totals == [64, 4096, 1024], f"totals {', '.join(f'{each:g}' for each in totals)}")


def _distances(_: Evidence) -> Iterator[Part]:
    places = planned.places()
    alone = TABLE_1.places([distance(name) for name in CHANNELS])
    same = places == [None if each is None else CHANNELS[each] for each in alone]
    yield Part(same, "the planner's places are those of the bit-reversed sequence")
    for name in CHANNELS:
        own = [place for place, each in enumerate(places) if each == name]
        if not own:
            yield Part(holds=False, shown=f"{name} has no entry")
            continue
        pairs = zip(own, [*own[1:], own[0] + len(places)], strict=True)
        found = {after - before for before, after in pairs}
        yield Part(found == {distance(name)}, f"{name}: {', '.join(map(str, sorted(found)))}")


def _frames(_: Evidence) -> Iterator[Part]:
    made = planned.table()
    yield Part(made[TOTAL, "drr_quantum"] == 1024, f"DRR {float(made[TOTAL, 'drr_quantum']):g} credits")
    yield Part(made[TOTAL, "total_weight"] == 4096, f"DTable {float(made[TOTAL, 'total_weight']):g} credits")


def _topology(evidence: Evidence) -> Iterator[Part]:
    wiring = Wiring()
    crossed = [wiring.crossed(host) for host in range(wiring.hosts)]
    yield Part(
        all(each == {1: 4, 3: 12, 5: 48} for each in crossed),
        "from each end-point "
        f"{', '.join(f'{number} over {switches}' for switches, number in sorted(crossed[0].items()))}",
    )
    yield Part(wiring.degrees() == {8}, f"ports in use below the last stage: {sorted(wiring.degrees())}")
    size = evidence.main.result.size
    yield Part(
        (size.hosts, size.switches) == (64, 48), f"engine: {size.hosts} end-points, {size.switches} switches"
    )
    rows = [row for role in runs.NETWORK for row in evidence.main.totals(role) if row.load <= 0.8]
    if not rows:
        raise NotMeasuredError("no load up to 0.8 was run")
    mean = sum(row.traversals for row in rows) / sum(row.delivered for row in rows)
    expected = wiring.mean_links()
    yield Part(abs(mean - expected) <= 0.02, f"engine: {mean:.4f} links a packet, wiring {expected:.4f}")


def _header(evidence: Evidence) -> Iterator[Part]:
    """Say how long the longest path of each tree takes a packet of 64 bytes that meets no other."""
    waits = [
        evidence.view(f"unloaded {levels}").estimate(DTABLE, 0.0005, "all", statistic="max")
        for levels in (1, 2, 3)
    ]
    for before, after, paths in ((waits[0], waits[1], "1 and 3"), (waits[1], waits[2], "3 and 5")):
        apart = 1e9 * (after.value - before.value)
        exact = math.isclose(apart, 2 * (145 + 32 + 20), abs_tol=1e-3)
        yield Part(exact, f"{paths} switches: {apart:.3f} ns apart, claimed {2 * (145 + 32 + 20)}")


def _lossless(evidence: Evidence) -> Iterator[Part]:
    view = evidence.view("verified")
    moved = sum(row.traversals for role in runs.NETWORK for row in view.totals(role))
    yield Part(moved > 0, f"{moved:,} link traversals verified, event by event")
    checks = [
        (name, check)
        for name, each in evidence.results.items()
        for check in each.checks
        if check.check != _BY_CHANCE
    ]
    broken = [f"{check.check} in {name}" for name, check in checks if check.ok is False]
    shown = "; ".join(broken[:3]) or "none broken"
    yield Part(not broken, f"{len(checks)} self-checks of {len(evidence.results)} runs: {shown}")


def _sizes(evidence: Evidence) -> Iterator[Part]:
    view = evidence.main
    packets = size = 0.0
    for load in view.loads:
        row = view.result.estimate(view.spec(DRR), load=load, channel="all", metric="offered")
        if row is None or row.value is None:
            raise NotMeasuredError(f"the offer at load {load:g}")
        packets += row.count
        size += row.value * 64 * 250e6 * 4e-3 * view.result.replications
    mean = size / packets - 8
    yield Part(packets >= 1e6, f"{packets / 1e6:.1f} M packets")
    yield Part(abs(mean / 176 - 1) <= 0.01, f"mean payload {mean:.2f} B")


# Other papers, hardware.


def _reads(evidence: Evidence) -> Iterator[Part]:
    view = evidence.view("read ahead")
    counts = {reads: view.totals(str(reads))[0] for reads in (1, 4, 8)}
    yield Part(counts[1].most_examined <= 64, f"{counts[1].most_examined} entries at most")
    alike = len({row.examined for row in counts.values()}) == 1
    mean = counts[1].examined / counts[1].decisions
    yield Part(alike, f"{mean:.2f} entries a decision on average, however many are read at once")
    for reads in (4, 8):
        row = counts[reads]
        fits = row.most_steps == -(-row.most_examined // reads)
        least = row.examined / reads <= row.steps <= row.examined / reads + row.decisions
        yield Part(
            fits and least,
            f"{reads} at once: {row.most_steps} steps at most, {row.steps / row.decisions:.2f} on average",
        )


def _foreign_weight(_: Evidence) -> Iterator[Part]:
    made = computed()
    places = TABLE_1.places([distance(name) for name in CHANNELS])
    weights = [int(made[name, "entry_weight"]) for name in CHANNELS]
    flow = CHANNELS.index("D16")
    own = [place for place, each in enumerate(places) if each == flow]
    between = sum(weights[each] for each in places[own[0] + 1 : own[1]] if each is not None)
    other = int(made[TOTAL, "drr_quantum"] - made["D16", "drr_quantum"])
    yield Part(between == other == 896, f"DTable {between}, DRR {other} credits")


def _stamped(evidence: Evidence) -> Iterator[Part]:
    view = evidence.view("fair")
    expected = {name: published.phi(name) for name in CHANNELS}
    for role in (SCFQ, WFQ):
        gap = _largest_gap(view, role, SATURATED, expected)
        yield Part(gap <= 0.002, f"{role}: shares off phi by {gap:.5f} at most")
        waits = [view.latency(role, 0.9, name) for name in EQUAL_PHI]
        shown = ", ".join(f"{1e6 * wait:.2f}" for wait in waits)
        yield Part(max(waits) <= _ALIKE * min(waits), f"{role}: D2, D4, D8 wait {shown} us")
    waits = [view.latency(DTABLE, 0.9, name) for name in EQUAL_PHI]
    shown = ", ".join(f"{1e6 * wait:.2f}" for wait in waits)
    yield Part(
        waits[0] < waits[1] < waits[2] > _ALIKE * waits[0], f"unlike DTable, where they wait {shown} us"
    )


EXACT: dict[str, Callable[[Evidence], Iterator[Part]]] = {
    "C01": partial(_figure, runs.BASIC),
    "C02": partial(_figure, WEIGHTED),
    "C03": partial(_figure, DTABLE),
    "C04": _unfairness,
    "C05": _unsaturated,
    "C06": partial(_visits, WEIGHTED, Fraction(2)),
    "C07": partial(_visits, DTABLE, Fraction(34, 32)),
    "C08": _one_pass,
    "C09": _equals_drr,
    "C10": _formulas,
    "C11": _table_1,
    "C12": _distances,
    "C13": _frames,
    "C14": _topology,
    "C15": _header,
    "C16": _lossless,
    "C17": _sizes,
    "C31": _reads,
    "C33": _foreign_weight,
    "C34": _stamped,
}
"""By the number of the claim."""
