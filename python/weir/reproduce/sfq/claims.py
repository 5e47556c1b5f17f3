"""The 28 claims of the report's text, each as statements about simulated values.

Wording, and whether the printed tables bear a claim out, are in ``reproduce/sfq/claims.csv``. A claim has
one or more parts; it agrees if all hold, is contradicted if none does, and else holds partly. Values are
means over the seeds, so a part that states a printed number holds within the bars of the tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from weir.reproduce.engine.judgement import Finding, Part, finding_of, judged
from weir.reproduce.sfq import published
from weir.reproduce.sfq.evidence import Evidence
from weir.reproduce.sfq.runs import EXPERIMENTS, STATED, STRICT, Reading

if TYPE_CHECKING:
    from weir.reproduce.engine.judgement import Judgement
    from weir.reproduce.sfq.published import PublishedClaim

DARTNET, LBL, LAWNDART, MM6 = "Dartnet1 to Malarky", "LBL to Dart3", "Lawndart to Dart5", "MM6 to Ant"
HEAVY, LIGHT, REVERSE = "Lawndart to Ant", "MM6 to Dart5", "Malarky to Dartnet1"
WHOLE = (0.0, 245.0)
FOUR = (DARTNET, LAWNDART, LBL, MM6)
STARVED = (LIGHT, DARTNET)

_LOSES = 1.0
"""Packets dropped at a link, above which it is congested."""
_SERVICE = {"fifo": 4.798e-3, "sfq": 4.907e-3}
"""Seconds that a packet takes on a T1 line."""
_DEPTH = 100


Parts = Callable[[Evidence], Iterator[Part]]

_PRINTED = {"yes": Finding.AGREES, "no": Finding.CONTRADICTED, "partly": Finding.PARTLY}


def expected(claim: PublishedClaim) -> Finding:
    """Return what the printed tables say of a claim."""
    return _PRINTED[claim.holds]


def judge(evidence: Evidence) -> tuple[Judgement[PublishedClaim], ...]:
    """Decide every claim, in the order of the text."""
    return tuple(_judge(evidence, claim) for claim in published.claims())


def _judge(evidence: Evidence, claim: PublishedClaim) -> Judgement[PublishedClaim]:
    def conclude(parts: tuple[Part, ...]) -> tuple[bool, str]:
        found, wanted = finding_of(parts), expected(claim)
        beside = "" if found == wanted else f"; expected: {wanted}"
        return found == wanted, f"{found}{beside}; {claim.evidence}"

    published_as = f"{claim.text} ({claim.holds})"
    return judged(claim, lambda: CLAIMS[claim.id](evidence), conclude, published_as)


# Terms.


class _View:
    """Values of one run of the report over one interval, in the unit of the tables."""

    def __init__(self, evidence: Evidence, run: str | Reading, interval: tuple[float, float] = WHOLE) -> None:
        self._evidence, self._run, self._interval = evidence, run, interval

    def _mean(self, stream: str, quantity: str) -> float:
        return self._evidence.mean(self._run, stream, self._interval, quantity).value

    def throughput(self, stream: str) -> float:
        return self._mean(stream, "throughput")

    def kept(self, stream: str) -> float:
        """Return the part of its offer that a stream gets, in per cent."""
        return 100 * self.throughput(stream) / self._mean(stream, "offer")

    def delay(self, stream: str) -> float:
        return self._mean(stream, "delay")

    def variance(self, stream: str) -> float:
        return self._mean(stream, "delay_variance")

    def shares(self, *streams: str) -> list[float]:
        return [self.throughput(stream) for stream in streams]

    def spread(self, *streams: str) -> float:
        """Return the largest throughput less the smallest, in points."""
        shares = self.shares(*streams)
        return max(shares) - min(shares)


def _about(value: float, claimed: float, share: float, what: str, unit: str = "%") -> Part:
    """Say that a value is ``claimed``, within a share of it."""
    holds = abs(value - claimed) <= share * claimed
    return Part(holds, f"{what} {value:.2f} {unit}, claimed {claimed:g}")


def _less(low: float, high: float, what: str, digits: int = 2) -> Part:
    """Say that one value is below another."""
    return Part(low < high, f"{what} {low:.{digits}f} < {high:.{digits}f}")


# Section 1.


def _equal_shares(evidence: Evidence) -> Iterator[Part]:
    fifo = _View(evidence, "fifo29").spread(*FOUR)
    for run in ("sfq29", "sfq49"):
        yield _less(_View(evidence, run).spread(*FOUR), fifo, f"spread of {run} and FIFO, points")


def _greed_pays(evidence: Evidence) -> Iterator[Part]:
    for run, light in (("fifo27", STARVED), ("fifo21", (LIGHT,))):
        view = _View(evidence, run)
        for stream in light:
            words = f"{run}: kept of its offer, {stream} and {HEAVY}, %"
            yield _less(view.kept(stream), view.kept(HEAVY), words)


def _nice_users(evidence: Evidence) -> Iterator[Part]:
    for sfq, fifo, streams in (("sfq28", "fifo27", STARVED), ("sfq24", "fifo21", (LIGHT,))):
        ours, theirs = _View(evidence, sfq), _View(evidence, fifo)
        for stream in streams:
            yield _less(ours.variance(stream), theirs.variance(stream), f"{sfq}: variance of {stream}", 5)
            yield _less(theirs.throughput(stream), ours.throughput(stream), f"{sfq}: FIFO's {stream}, %")


def _processing(evidence: Evidence) -> Iterator[Part]:
    fifo, sfq = _View(evidence, "fifo27"), _View(evidence, "sfq28")
    sums = [sum(view.shares(HEAVY, *STARVED)) for view in (sfq, fifo)]
    yield _less(sums[0], sums[1], "carried by AMES-LA under SFQ and FIFO, %")
    yield _less(
        fifo.delay(HEAVY), sfq.delay(HEAVY), f"delay of the saturated {HEAVY} under FIFO and SFQ, s", 3
    )
    yield _less(fifo.delay(LIGHT), sfq.delay(LIGHT), f"delay of the light {LIGHT} under FIFO and SFQ, s", 3)


def _fifo_beats_perturbed(evidence: Evidence) -> Iterator[Part]:
    third = (60.0, 90.0)
    fifo, sfq = (_View(evidence, run, third).spread(DARTNET, LBL, LAWNDART) for run in ("fifo31", "sfq41"))
    yield _less(fifo, sfq, "60 to 90 s, spread of FIFO and sfq41, points")


# Section 4.1.


def _third_of_capacity(evidence: Evidence) -> Iterator[Part]:
    carried = sum(_View(evidence, "fifo29").shares(DARTNET, LBL, LAWNDART))
    yield _about(carried / 3, 32.3, 0.01, "a third of what LA-DC carries under FIFO:")


def _experiment_49(evidence: Evidence) -> Iterator[Part]:
    view = _View(evidence, "sfq49")
    for stream, claimed in ((DARTNET, 31.8), (LBL, 31.6), (LAWNDART, 31.7), (MM6, 31.8)):
        yield _about(view.throughput(stream), claimed, 0.02, stream)


def _lbl_dominates(evidence: Evidence) -> Iterator[Part]:
    shares = _View(evidence, "fifo29").shares(DARTNET, LAWNDART, MM6)
    yield _less(max(shares), _View(evidence, "fifo29").throughput(LBL), "the next stream and LBL, %")


def _perturbation_helps(evidence: Evidence) -> Iterator[Part]:
    with_collision, without = (min(_View(evidence, run).shares(*FOUR)) for run in ("sfq29", "sfq49"))
    yield _less(with_collision, without, "smallest share in sfq29 and sfq49, %")


def _share_one_queue(evidence: Evidence) -> Iterator[Part]:
    printed = 22.85 + 24.71
    together = sum(_View(evidence, "sfq29").shares(DARTNET, MM6))
    apart = sum(_View(evidence, Reading("fair", STRICT)).shares(DARTNET, MM6))
    yield _about(together, printed, 0.1, "Dartnet1 and MM6 in one queue:")
    yield Part(
        abs(apart - printed) > 0.1 * printed, f"in queues of their own {apart:.2f} %, which is not that"
    )


# Section 4.2.


def _greedy_stream(evidence: Evidence) -> Iterator[Part]:
    view = _View(evidence, "fifo27")
    yield _about(view.throughput(HEAVY), 74, 0.1, HEAVY)
    yield _about(view.kept(HEAVY), 78, 0.1, "of its request:")


def _light_streams(evidence: Evidence) -> Iterator[Part]:
    view = _View(evidence, "fifo27")
    for stream in STARVED:
        yield _about(view.throughput(stream), 11, 0.1, stream)
        yield _about(view.kept(stream), 58, 0.1, "of its request:")


def _whole_demand(evidence: Evidence) -> Iterator[Part]:
    for run in ("sfq28", "sfq47"):
        view = _View(evidence, run)
        for stream in STARVED:
            kept = view.kept(stream)
            yield Part(kept > 99.9, f"{run}: {stream} gets {kept:.2f} % of its offer")


def _less_variance(evidence: Evidence) -> Iterator[Part]:
    for stream in STARVED:
        ours, theirs = (_View(evidence, run).variance(stream) for run in ("sfq28", "fifo27"))
        yield _less(ours, theirs, f"variance of {stream}, SFQ and FIFO, s²", 5)


def _stated_collision(evidence: Evidence) -> Iterator[Part]:
    rows = {(row.run, row.stream): row for row in published.rows()}
    for run, experiment in (("sfq28", "starve"), ("sfq24", "resource")):
        row = rows[run, LIGHT]
        view = _View(evidence, Reading(experiment, STATED))
        throughput, delay = view.throughput(LIGHT), view.delay(LIGHT)
        holds = (
            abs(throughput - row.throughput) <= 0.1 * row.throughput
            and abs(delay - row.delay) <= 0.05 * delay
        )
        printed = f"{row.throughput:.2f} % and {row.delay:.3f} s printed"
        yield Part(
            holds, f"collided, {LIGHT} gets {throughput:.2f} % and waits {delay:.3f} s, {printed} for {run}"
        )


# Section 4.3.

_BEFORE, _AFTER, _REST = (60.0, 90.0), (90.0, 120.0), (120.0, 245.0)
_THREE = (DARTNET, LBL, LAWNDART)
_DEGRADED = ("fifo31", "sfq31", "sfq41")


def _proportionate(evidence: Evidence) -> Iterator[Part]:
    for run in _DEGRADED:
        shares = _View(evidence, run, _BEFORE).shares(*_THREE)
        ratio = max(shares) / min(shares)
        yield Part(ratio < 1.25, f"{run}: largest over smallest of three is {ratio:.2f}")


def _little_effect(evidence: Evidence) -> Iterator[Part]:
    for run in _DEGRADED:
        before, after = (_View(evidence, run, interval).shares(*_THREE) for interval in (_BEFORE, _AFTER))
        change = max(abs(b / a - 1) for a, b in zip(before, after, strict=True))
        yield Part(change < 0.1, f"{run}: with MM6 one of three changes by {100 * change:.0f} %")


def _about_half(evidence: Evidence) -> Iterator[Part]:
    for run in _DEGRADED:
        shares = _View(evidence, run, (245.0, 275.0)).shares(LBL, LAWNDART, MM6)
        shown = ", ".join(f"{share:.2f}" for share in shares)
        yield Part(all(abs(share - 50) <= 5 for share in shares), f"{run}: {shown} %")


def _lbl_leaves(evidence: Evidence) -> Iterator[Part]:
    for run in _DEGRADED:
        before, after = (
            _View(evidence, run, interval).shares(LAWNDART, MM6)
            for interval in ((245.0, 275.0), (275.0, 305.0))
        )
        change = max(abs(b / a - 1) for a, b in zip(before, after, strict=True))
        yield Part(change < 0.05, f"{run}: a stream changes by {100 * change:.0f} % when LBL has left")


def _alone(evidence: Evidence) -> Iterator[Part]:
    for run in _DEGRADED:
        kept = _View(evidence, run, (305.0, 335.0)).kept(MM6)
        yield Part(kept > 99, f"{run}: MM6 alone gets {kept:.2f} % of its offer")


def _dominates(evidence: Evidence) -> Iterator[Part]:
    view = _View(evidence, "fifo31", _REST)
    yield _less(max(view.shares(DARTNET, LAWNDART, MM6)), view.throughput(LBL), "the next stream and LBL, %")


def _strict_beats_perturbed(evidence: Evidence) -> Iterator[Part]:
    perturbed = _View(evidence, "sfq41", _BEFORE).spread(*_THREE)
    for name, run in (("sfq31", "sfq31"), ("strict", Reading("degrade", STRICT))):
        spread = _View(evidence, run, _BEFORE).spread(*_THREE)
        yield _less(spread, perturbed, f"spread of {name} and sfq41, points")


# Section 4.4, 4 and 3.


def _at_95(evidence: Evidence) -> Iterator[Part]:
    for run, claimed in (("fifo21", 94.68), ("sfq24", 94.46)):
        yield _about(_View(evidence, run).throughput(REVERSE), claimed, 0.01, f"{run}:")


def _always_slower(evidence: Evidence) -> Iterator[Part]:
    faster = [
        stream
        for sfq, fifo, streams in (("sfq28", "fifo27", STARVED), ("sfq24", "fifo21", (LIGHT,)))
        for stream in streams
        if _View(evidence, sfq).delay(stream) < _View(evidence, fifo).delay(stream)
    ]
    shown = (
        f"{len(faster)} of 3 light streams are faster under SFQ"
        if faster
        else "no stream is faster under SFQ"
    )
    yield Part(not faster, shown)


def _scarce(evidence: Evidence) -> Iterator[Part]:
    ours, theirs = (_View(evidence, run).variance(LIGHT) for run in ("sfq24", "fifo21"))
    yield _less(ours, theirs, f"variance of {LIGHT}, SFQ and FIFO, s²", 5)


def _staggered(evidence: Evidence) -> Iterator[Part]:
    for name, experiment in EXPERIMENTS.items():
        lasted, step = evidence.sending(name)
        yield Part(abs(lasted - 335) < step, f"{experiment.section} lasts {lasted:g} s, to {step:g} s")


def _bottlenecks(evidence: Evidence) -> Iterator[Part]:
    for link in ("AMES-LA", "LA-DC"):
        dropped = evidence.drops("fifo31", link)
        yield Part(dropped > _LOSES, f"{link} drops {dropped:,.0f} packets")
    dropped = evidence.drops("fifo31", "SRI-AMES")
    yield Part(dropped <= _LOSES, f"the tail SRI-AMES, which is not named, drops {dropped:,.0f}")


def _queues_of_100(evidence: Evidence) -> Iterator[Part]:
    # Beyond its queues a packet needs about 60 ms to Malarky and Dart3.
    alone = _View(evidence, "sfq31", (0.0, 30.0)).delay(DARTNET)
    for run, active, discipline in (("fifo29", 1, "fifo"), ("sfq49", 3, "sfq")):
        measured = _View(evidence, run).delay(LBL)
        claimed = alone + active * _DEPTH * _SERVICE[discipline]
        words = f"{run}: delay of LBL behind {active} x {_DEPTH} packets,"
        yield _about(measured, claimed, 0.05, words, "s")


CLAIMS: dict[str, Parts] = {
    "C01": _equal_shares,
    "C02": _greed_pays,
    "C03": _nice_users,
    "C04": _processing,
    "C05": _fifo_beats_perturbed,
    "C06": _third_of_capacity,
    "C07": _experiment_49,
    "C08": _lbl_dominates,
    "C09": _perturbation_helps,
    "C10": _share_one_queue,
    "C11": _greedy_stream,
    "C12": _light_streams,
    "C13": _whole_demand,
    "C14": _less_variance,
    "C15": _stated_collision,
    "C16": _proportionate,
    "C17": _little_effect,
    "C18": _about_half,
    "C19": _lbl_leaves,
    "C20": _alone,
    "C21": _dominates,
    "C22": _strict_beats_perturbed,
    "C23": _at_95,
    "C24": _always_slower,
    "C25": _scarce,
    "C26": _staggered,
    "C27": _bottlenecks,
    "C28": _queues_of_100,
}
"""By the number of the claim."""
