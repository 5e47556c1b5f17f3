"""Claims C18 to C30: the network of section 3.3, with Poisson gaps and equal shares.

Each function yields parts, statements that were decided; a claim is met if all of its parts hold. Bars are
those of ``reproduce/dtable/claims.csv``; intervals are of 90 %, as in the document.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from weir.reproduce.dtable import published
from weir.reproduce.dtable.cells import ACCEPTED
from weir.reproduce.dtable.evidence import EQUAL_PHI
from weir.reproduce.dtable.published import CHANNELS
from weir.reproduce.dtable.runs import (
    BEYOND,
    DRR,
    DTABLE,
    EXCHANGED,
    FRAMES,
    FRAMES_PROPORTIONAL,
    LARGER,
    NETWORK,
    OVERLOAD,
)
from weir.reproduce.engine.judgement import Part

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weir.reproduce.dtable.evidence import Evidence, Figure, View

_US = 1e6
SAME = 0.02
"""The part of a channel's throughput within which both are called the same."""
_SATURATED = 0.99


def _micros(values: list[float]) -> str:
    return ", ".join(f"{_US * value:.1f}" for value in values)


def _latencies(view: View, role: str, load: float) -> list[float]:
    return [view.latency(role, load, name) for name in CHANNELS]


# Throughput.


def _same_throughput(evidence: Evidence) -> Iterator[Part]:
    """Say, load by load, how far the throughputs under both are apart: paired, both see the same packets."""
    yield from _apart(evidence.main, tuple(load for load in evidence.main.loads if load <= 1))
    yield from _apart(evidence.view("overload"), (BEYOND,))


def _apart(view: View, loads: tuple[float, ...]) -> Iterator[Part]:
    """Say that the whole paired 90 % interval of each difference is within `SAME` of what DRR carries."""
    for load in loads:
        gaps: dict[str, Figure] = {}
        for name in CHANNELS:
            carried = view.estimate(DRR, load, name, "throughput").value
            gap = view.apart(DTABLE, load, name, kind="difference", metric="throughput")
            gaps[name] = gap.each(partial(_part_of, carried))
        reaches = {name: max(abs(gap.low_90), abs(gap.high_90)) for name, gap in gaps.items()}
        worst = max(reaches, key=lambda name: reaches[name])
        shown = f"{worst} {100 * gaps[worst].value:+.2f} ±{100 * gaps[worst].half_90:.2f} %"
        yield Part(reaches[worst] <= SAME, f"{load:g}: {shown}")


def _part_of(whole: float, value: float) -> float:
    return value / whole


def _all_arrives(evidence: Evidence) -> Iterator[Part]:
    view = evidence.main
    for role in NETWORK:
        least, load, name = view.accepted(role)
        yield Part(least >= ACCEPTED, f"{role}: at least {least:.4f} of the offer, {name} at {load:g}")


def _saturation(evidence: Evidence) -> Iterator[Part]:
    for role in NETWORK:
        found = evidence.main.saturates(role, _SATURATED)
        holds = found is not None and 0.85 <= found[0] <= 1.0
        shown = "no channel" if found is None else f"{found[1]} at {found[0]:g}"
        yield Part(holds, f"{role}: first below 0.99 of its offer: {shown}")
    for role in NETWORK:
        shares = evidence.view("overload").shares(role, OVERLOAD)
        ratios = {name: shares[name].value / published.phi(name) for name in CHANNELS}
        near = all(abs(ratio - 1) <= 0.1 for ratio in ratios.values())
        shown = ", ".join(f"{ratio:.3f}" for ratio in ratios.values())
        yield Part(near, f"{role}: at load {OVERLOAD:g} shares over phi {shown}")


# Latency.


def _ratio(view: View, role: str, load: float, bar: float) -> Part:
    waits = _latencies(view, role, load)
    ratio = max(waits) / min(waits)
    return Part(ratio < bar, f"{role} at {load:g}: {ratio:.3f}")


def _light(evidence: Evidence) -> Iterator[Part]:
    for role in NETWORK:
        for load in evidence.main.within(0.1, 0.3):
            yield _ratio(evidence.main, role, load, 1.15)


def _alike_under_drr(evidence: Evidence) -> Iterator[Part]:
    for load in evidence.main.within(0.6, 0.85):
        yield _ratio(evidence.main, DRR, load, 1.25)


def _in_order(evidence: Evidence) -> Iterator[Part]:
    view = evidence.main
    for load in view.within(0.7, 0.95):
        found = {name: view.estimate(DTABLE, load, name) for name in CHANNELS}
        ordered = [found[name] for name in CHANNELS[:6]]
        apart = all(a.high_90 < b.low_90 for a, b in pairwise(ordered))
        alike = _overlap(found["D64"], found["D64'"])
        yield Part(apart and alike, f"{load:g}: {_micros([each.value for each in found.values()])} us")


def _overlap(one: Figure, other: Figure) -> bool:
    return max(one.low_90, other.low_90) <= min(one.high_90, other.high_90)


def _much_better(evidence: Evidence) -> Iterator[Part]:
    view = evidence.main
    for load in view.within(0.8, 0.95):
        means = [view.improvement(load, name).value for name in EQUAL_PHI]
        most = [view.improvement(load, name, statistic="max").value for name in EQUAL_PHI]
        shown = ", ".join(
            f"{name} {mean:.0f}/{high:.0f}" for name, mean, high in zip(EQUAL_PHI, means, most, strict=True)
        )
        large = min(means) > 20 and min(most) > 15
        yield Part(large and means[0] > means[1] > means[2], f"{load:g}: mean/maximum better by {shown} %")


def _slightly_better(evidence: Evidence) -> Iterator[Part]:
    for load in evidence.main.within(0.7, 0.95):
        found = evidence.main.improvement(load, "D16")
        low, high = found.ci95
        yield Part(low > 0 and high < 20, f"{load:g}: {found.signed()} %")


def _worse(evidence: Evidence) -> Iterator[Part]:
    for load in evidence.main.within(0.7, 0.9):
        near, *far = (evidence.main.improvement(load, name) for name in ("D32", "D64", "D64'"))
        holds = near.ci95[1] < 0 and max(each.ci95[1] for each in far) < near.ci95[0]
        yield Part(holds, f"{load:g}: {', '.join(each.signed() for each in (near, *far))} %")


# Saturation.


def _saturated_at(view: View, name: str) -> list[float]:
    """Return the loads at which a channel is saturated under both."""
    return [
        load
        for load in view.loads
        if all(view.estimate(role, load, name, "accepted").high_90 < _SATURATED for role in NETWORK)
    ]


def _tends_to_zero(evidence: Evidence) -> Iterator[Part]:
    """Say that the improvement of a saturated channel is smaller than its largest before."""
    view = evidence.main
    for name in CHANNELS:
        over = _saturated_at(view, name)
        below = [load for load in view.loads if over and load < min(over)]
        if not below or min(over) == max(view.loads):
            continue
        before = max(abs(view.improvement(load, name).value) for load in below)
        after = abs(view.improvement(max(over), name).value)
        yield Part(after < before, f"{name}: {after:.1f} % at {max(over):g}, before up to {before:.1f} %")


def _levels_off(evidence: Evidence) -> Iterator[Part]:
    """Say that both have nearly the same latency where a channel was saturated at the load before too."""
    view = evidence.main
    for name in CHANNELS:
        over = _saturated_at(view, name)
        for load in over[1:]:
            ours, theirs = (view.latency(role, load, name) for role in NETWORK)
            gap = ours / theirs - 1
            yield Part(
                abs(gap) <= 0.15, f"{name} at {load:g}: {_micros([ours, theirs])} us, {100 * gap:+.1f} %"
            )


# Frames and distances.


def _longer_frames(evidence: Evidence) -> Iterator[Part]:
    view = evidence.view(FRAMES)
    for name in CHANNELS:
        waits = [view.latency(str(factor), 0.9, name) for factor in LARGER]
        longer = _longer(view, name)
        rising = waits[0] < waits[1] < waits[2] and longer.ci95[0] > 0
        yield Part(rising, f"{name}: {_micros(waits)} us, {longer.signed()} %")


def _longer(view: View, name: str) -> Figure:
    """Return by how many per cent longer a channel waits with the largest quanta than as printed, paired."""
    found = view.apart(str(LARGER[0]), 0.9, name, kind="improvement")
    return found.each(lambda percent: 100 * percent / (100 - percent))


def frames_in_words(evidence: Evidence) -> str:
    """Say what longer frames do under both shares, which open point O1 does not decide."""
    shown = []
    for name, words in ((FRAMES, "equal shares"), (FRAMES_PROPORTIONAL, "shares in proportion to phi")):
        view = evidence.view(name)
        found = {channel: _longer(view, channel) for channel in CHANNELS}
        listed = ", ".join(f"{channel} {each.signed()}" for channel, each in found.items())
        shown.append(f"under {words} quanta {LARGER[-1]} times as large change the wait by {listed} %")
    return (
        f"{'; '.join(shown)}. So open point O1 is not the cause: with the other shares the claim does not "
        "hold either. What fits both: a turn of DRR ends where the queue of its channel does, seldom where "
        "the quantum does, so that a longer frame matters only next to channels that offer several times "
        "their reservation, which use the whole of a larger quantum, wait less, and let the others wait"
    )


def _distance_decides(evidence: Evidence) -> Iterator[Part]:
    view = evidence.view("exchanged")
    for name, grows in (("D2", True), ("D16", False)):
        printed, other = (view.latency(role, 0.9, name) for role in EXCHANGED)
        words = "16 apart" if grows else "2 apart"
        yield Part((other > printed) == grows, f"{name} {words}: {_micros([printed, other])} us")
    first, second = (view.latency(EXCHANGED[1], 0.9, name) for name in ("D16", "D2"))
    yield Part(first < second, f"exchanged, D16 waits {_US * first:.1f} us and D2 {_US * second:.1f} us")


NETWORK_CLAIMS = {
    "C18": _same_throughput,
    "C19": _all_arrives,
    "C20": _saturation,
    "C21": _light,
    "C22": _alike_under_drr,
    "C23": _in_order,
    "C24": _much_better,
    "C25": _slightly_better,
    "C26": _worse,
    "C27": _tends_to_zero,
    "C28": _levels_off,
    "C29": _longer_frames,
    "C30": _distance_decides,
}
"""By the number of the claim."""
