"""The claims about behaviour, each as statements about what was measured, and what became of it.

Wording and bars are in ``reproduce/epoch/claims.csv``. A claim is met if all of its parts hold.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from weir.reproduce.engine.judgement import Part, all_hold, judged
from weir.reproduce.epoch import published, runs
from weir.reproduce.epoch.measured import GENERATOR, Measured

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from weir.reproduce.engine.judgement import Judgement
    from weir.reproduce.epoch.evidence import Evidence, View
    from weir.reproduce.epoch.published import PublishedClaim

    Parts = Callable[[Evidence], Iterator[Part]]

_NS = 1e-9
_SAME = 1e-6
"""Milliseconds an epoch: a nanosecond."""
_FEW = 0.05
"""Part of the sets in which a raised need may be paid for by the way slices fall."""
_SWITCH = 219.0
"""Microseconds."""
_LEAST = 100_000
"""Process-epochs that try the promise."""


def judge(evidence: Evidence) -> tuple[Judgement[PublishedClaim], ...]:
    """Decide every claim, in the order of the list."""
    return tuple(
        judged(claim, partial(CLAIMS[claim.id], evidence), partial(all_hold, bar=f"bar: {claim.expected}"))
        for claim in published.claims()
    )


# Terms.


def _run(view: View, process: str) -> float:
    """Return milliseconds an epoch of a process."""
    return view.per_epoch(view.totals(process).run_time)


def _runs(view: View, expected: dict[str, float], what: str) -> Part:
    """Say that processes run an exact number of milliseconds an epoch."""
    found = {name: _run(view, name) for name in expected}
    same = all(abs(found[name] - value) < _SAME for name, value in expected.items())
    return Part(same, f"{what}: {', '.join(f'{value:.6g}' for value in found.values())} ms")


def _shortfalls(evidence: Evidence, kind: str, place: int) -> tuple[int, int, float]:
    """Return process-epochs, those short of the need, and the most that one lacked, in microseconds."""
    epochs, missed, worst = evidence.shortfalls(kind, place)
    return epochs, missed, 1e6 * worst


def _shown(spec: str, epochs: int, missed: int, worst: float) -> str:
    return f"{spec}: {missed:,} of {epochs:,} process-epochs short, by {worst:.3f} us at most"


# The promise.


def _promise(evidence: Evidence) -> Iterator[Part]:
    for place, spec in enumerate(runs.EXACT):
        epochs, missed, worst = _shortfalls(evidence, "promise", place)
        yield Part(missed == 0 and epochs >= _LEAST, _shown(spec, epochs, missed, worst))


def _thresholds(evidence: Evidence) -> Iterator[Part]:
    for place, spec in enumerate((runs.EPOCH, runs.AT_DISPATCH), len(runs.EXACT)):
        epochs, missed, worst = _shortfalls(evidence, "promise", place)
        yield Part(worst < 300, _shown(spec, epochs, missed, worst))


def _carried(evidence: Evidence) -> Iterator[Part]:
    """Say that nobody lacks more than the last switches of all, which the next epoch's needs pay for."""
    for place, spec in enumerate(runs.EXACT):
        epochs, missed, worst = _shortfalls(evidence, "costs", place)
        views = [evidence.view(f"costs/{number}", place) for number in evidence.numbered("costs")]
        within = all(
            1e6 * row.worst_shortfall <= _SWITCH * len(view.result.processes)
            for view in views
            for row in view.processes()
        )
        yield Part(within, _shown(spec, epochs, missed, worst))


# Who gets what.


def _committed(evidence: Evidence) -> Iterator[Part]:
    for name in ("equal slices", "other slices", "other priorities"):
        yield _runs(evidence.view(f"committed/{name}"), {"a": 15, "b": 25, "c": 60}, name)


def _priority(evidence: Evidence) -> Iterator[Part]:
    yield _runs(evidence.view("uncommitted"), {"high": 80, "low": 20}, "priorities 2 and 1")


def _kinds(evidence: Evidence) -> Iterator[Part]:
    view = evidence.view("windfall")
    rows = view.processes()
    for what, expected, values in (
        ("need", 60, [row.need_time for row in rows]),
        ("uncommitted", 10, [row.uncommitted_time for row in rows]),
        ("windfall", 30, [row.windfall_time for row in rows]),
    ):
        found = sum(map(view.per_epoch, values))
        yield Part(abs(found - expected) < _SAME, f"{what} {found:.6g} ms an epoch")
    idle = view.node().idle_time
    yield Part(idle == 0, f"idle {idle:g} s")


def _at_once(evidence: Evidence) -> Iterator[Part]:
    found = 1e3 * evidence.view("windfall").figure("sleeper", "response", "max")
    yield Part(abs(found - 10) < _SAME, f"it responds in {found:.6g} ms at most")


def _too_late(evidence: Evidence) -> Iterator[Part]:
    view = evidence.view("too late")
    least, most = (1e3 * view.figure("late", "epoch_run", each) for each in ("min", "max"))
    yield Part(abs(least - 10) < _SAME and abs(most - 30) < _SAME, f"it runs {least:.6g} and {most:.6g} ms")
    missed = view.totals("late").needs_missed
    yield Part(missed == 0, f"{missed} promises broken")


def _ratio(evidence: Evidence) -> Iterator[Part]:
    view = evidence.view("ratio")
    slices = {"one": 1, "two": 2, "four": 4}
    found = {name: view.per_epoch(view.totals(name).windfall_time) for name in slices}
    for name, length in slices.items():
        share = sum(found.values()) * length / sum(slices.values())
        shown = f"slice {length} ms: {found[name]:.2f} ms of windfall, in the ratio {share:.2f}"
        yield Part(abs(found[name] - share) <= length, shown)


def _overcommitted(name: str, expected: dict[str, float]) -> Parts:
    def parts(evidence: Evidence) -> Iterator[Part]:
        view = evidence.view(f"overcommitted/{name}")
        yield _runs(view, expected, "run time an epoch")
        demoted = sum(row.windfall_time or 0.0 for row in view.processes())
        yield Part(demoted == 0, f"{demoted:g} s on low queues")

    return parts


def _never_low(evidence: Evidence) -> Iterator[Part]:
    found = [evidence.view(f"restart/{length}").totals(GENERATOR).windfall_time for length in runs.LENGTHS]
    yield Part(all(value == 0 for value in found), f"{max(value or 0.0 for value in found):g} s at most")


# The anomaly.


def _anomaly(place: int, expected: float) -> Parts:
    def parts(evidence: Evidence) -> Iterator[Part]:
        view = evidence.view("anomaly", place)
        found = [1e3 * view.figure("late", "response", each) for each in ("mean", "max")]
        shown = f"`late` responds in {found[0]:.6g} ms as a mean, {found[1]:.6g} at most"
        yield Part(all(abs(value - expected) < _SAME for value in found), shown)

    return parts


# Needs, books, counters.


def _raised(evidence: Evidence) -> Iterator[Part]:
    gains, within = [], True
    for number in evidence.numbered("raised"):
        before, after = (evidence.view(f"raised/{number}/{each}") for each in ("before", "after"))
        first = before.result.processes[0]
        gains.append(_run(after, first.name) - _run(before, first.name))
        within &= gains[-1] > -1e3 * (first.slice or 0.0)
    falls = sum(gain < -_SAME for gain in gains)
    shown = (
        f"it falls in {falls} of {len(gains)} sets, and changes by {min(gains):+.3f} to {max(gains):+.3f} ms"
    )
    yield Part(within and falls <= _FEW * len(gains), shown)


def _verified(evidence: Evidence) -> Iterator[Part]:
    checks = [(name, check) for name, result in evidence.results.items() for check in result.checks]
    broken = [f"{check.check} in {name}" for name, check in checks if check.ok is False]
    shown = "; ".join(broken[:3]) or "none broken"
    yield Part(not broken, f"{len(checks):,} self-checks of {len(evidence.results)} runs: {shown}")


def _conserved(evidence: Evidence) -> Iterator[Part]:
    worst = 0.0
    for result in evidence.results.values():
        elapsed = result.measured * result.replications
        for row in result.node_totals:
            worst = max(worst, abs(row.run_time + row.idle_time + row.uncharged_time - elapsed))
    yield Part(worst < _NS, f"off by {1e9 * worst:.3f} ns at most")


def _normalised(evidence: Evidence) -> Iterator[Part]:
    found = evidence.setting("restart/96", GENERATOR)
    yield Part(
        abs(found.messages / 1740 - 1) <= 0.01,
        f"{found.messages:.1f} messages/s in {found.run_time:.1f} ms/s",
    )


def _sensitive(evidence: Evidence) -> Iterator[Part]:
    # The node has the swaps to its system processes besides: M/n is read at the report's schedulings.
    for length, schedulings, expected, digit in ((96, 25, 69, 1.0), (1, 970, 1.6, 0.1)):
        found = evidence.setting(f"restart/{length}", GENERATOR)
        at = found.messages / schedulings
        shown = f"{found.schedulings:.0f} schedulings/s: {found.sensitivity:.2f} us per us"
        shown += f", at {schedulings}/s {at:.2f}, printed {expected:g}"
        yield Part(abs(at - expected) <= digit / 2, shown)


def _each_message(evidence: Evidence) -> Iterator[Part]:
    measured = Measured(evidence)
    found = [measured.preemptions(need)[0] for need in runs.DEMANDS]
    rising = all(before < after for before, after in pairwise(found))
    shown = f"for each message {', '.join(f'{value:.2f}' for value in found)}"
    yield Part(rising and found[-1] > 0.8, shown)


CLAIMS: dict[str, Parts] = {
    "E01": _promise,
    "E02": _thresholds,
    "E03": _carried,
    "E04": _committed,
    "E05": _priority,
    "E06": _kinds,
    "E07": _at_once,
    "E08": _too_late,
    "E09": _ratio,
    "E10": _overcommitted("slices", {"a": 10, "b": 30, "c": 60}),
    "E11": _overcommitted("met", {"a": 20, "b": 40, "c": 40}),
    "E12": _never_low,
    "E13": _anomaly(0, 29.0),
    "E14": _anomaly(1, 10.0),
    "E15": _raised,
    "E16": _verified,
    "E17": _conserved,
    "E18": _normalised,
    "E19": _sensitive,
    "E20": _each_message,
}
"""By the number of the claim."""
