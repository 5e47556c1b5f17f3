"""The open points of the report: the choice made for each, and its effect, measured where another can be run.

The choices are described at length in ``reproduce/epoch/README.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from weir.reproduce.engine.evidence import NotMeasuredError
from weir.reproduce.epoch import runs
from weir.reproduce.epoch.measured import GENERATOR, SINK, TRUE, Measured

if TYPE_CHECKING:
    from collections.abc import Callable

    from weir.reproduce.epoch.evidence import Evidence

_KEPT, _AHEAD = 1, 2
"""Places in `runs.READINGS`."""


@dataclass(frozen=True, slots=True)
class OpenPoint:
    """An open point: the choice, and what another would change; ``measured`` says whether that was run."""

    number: str
    point: str
    choice: str
    effect: str
    measured: bool


def open_points(evidence: Evidence) -> tuple[OpenPoint, ...]:
    """Return all open points, in the order of the README."""
    return tuple(_point(evidence, *each) for each in _POINTS)


def _point(
    evidence: Evidence, number: str, point: str, choice: str, effect: str | Callable[[Evidence], str]
) -> OpenPoint:
    if isinstance(effect, str):
        return OpenPoint(number, point, choice, effect, measured=False)
    try:
        return OpenPoint(number, point, choice, effect(evidence), measured=True)
    except NotMeasuredError as missing:
        return OpenPoint(number, point, choice, f"not measured: {missing}", measured=False)


def _moved(evidence: Evidence) -> str:
    """Say how much run time changes hands where low members return in front."""
    moved: list[float] = []
    missed, worst = [0, 0], 0.0
    for number in evidence.numbered("readings"):
        own, other = (evidence.view(f"readings/{number}", place) for place in (0, _AHEAD))
        pairs = list(zip(own.processes(), other.processes(), strict=True))
        moved.append(sum(abs(own.per_epoch(a.run_time - b.run_time)) for a, b in pairs) / 2)
        missed = [
            count + sum(pair[place].needs_missed for pair in pairs) for place, count in enumerate(missed)
        ]
        worst = max(worst, *(row.worst_shortfall for pair in pairs for row in pair))
    return (
        f"in front: {fmean(moved):.2f} ms of an epoch change hands, as a mean over {len(moved)} sets whose "
        f"needs fill the epoch, {max(moved):.2f} at most; {missed[1]:,} needs are missed in place of "
        f"{missed[0]:,}, by {1e3 * worst:.2f} ms at most"
    )


def _kept(evidence: Evidence) -> str:
    """Say what becomes of the promise where slices outlast an epoch."""
    epochs, missed, worst = evidence.shortfalls("readings", _KEPT)
    return (
        f"kept: {missed:,} of {epochs:,} process-epochs short of their need ({missed / epochs:.1%}), by "
        f"{1e3 * worst:.1f} ms at most"
    )


def _thresholds(evidence: Evidence) -> str:
    """Say what larger thresholds save, and cost."""
    shown = []
    for place, span in enumerate(runs.THRESHOLDS):
        views = [evidence.view(f"thresholds/{number}", place) for number in evidence.numbered("thresholds")]
        rate = fmean(sum(row.schedulings for row in view.processes()) / view.elapsed for view in views)
        worst = max(row.worst_shortfall for view in views for row in view.processes())
        shown.append(f"{span}: {rate:.0f} schedulings/s, {1e3 * worst:.2f} ms short at most")
    return "with the report's costs, " + "; ".join(shown)


def _admitted(evidence: Evidence) -> str:
    warned = sum(bool(evidence.result(f"overcommitted/{name}").warnings) for name in ("slices", "met"))
    return f"`admit=refuse` would refuse the report's own experiments; {warned} of 2 overcommitted runs warn"


def _payer(evidence: Evidence) -> str:
    measured = Measured(evidence)
    ours = [measured.rounds(name).overhead(TRUE[name]).value for name in (GENERATOR, SINK)]
    return (
        "charged to the process that is started, the two directions would change places: generator "
        f"{ours[0]:.0f} and sink {ours[1]:.0f} us here, where the report has 219 and 119"
    )


def _undeclared(evidence: Evidence) -> str:
    """Say how the Remote Demon fares without a declared need, next to a generator that has 98 %."""
    shown = []
    for name in ("declared", "undeclared"):
        view = evidence.view(name)
        demon = view.processes(system=True)[1].process
        shown.append(1e3 * view.figure(demon, "response", "max"))
    return (
        f"next to a generator with a need of 98 ms the Remote Demon responds in {shown[0]:.1f} ms at most if "
        f"its need is declared, {shown[1]:.1f} ms if not"
    )


def _dispatch(evidence: Evidence) -> str:
    """Say what the other way to allocate does to the anomaly."""
    found = [1e3 * evidence.view("anomaly", place).figure("late", "response", "max") for place in (0, 1)]
    return (
        f"the process with a need responds in {found[0]:.0f} ms, and in {found[1]:.0f} ms with `at_dispatch`"
    )


_NONE = "no parameter; "
_POINTS: tuple[tuple[str, str, str, str | Callable[[Evidence], str]], ...] = (
    ("1", "post of an event that is posted", "ignored", _NONE + "who counts uses a dual queue"),
    ("2", "order in which low members return", "behind the normal ones", _moved),
    ("3", "slice left over at the end of an epoch", "void", _kept),
    (
        "4",
        "who runs at the end of an epoch",
        "is preempted; then a decision",
        _NONE + "without it a low process would run on ahead of normal ones",
    ),
    ("5", "windfall time and what is owed", "not subtracted", _NONE + "matters below `min_slice` only"),
    (
        "6",
        "what is given back of an unused slice",
        "its uncommitted part",
        _NONE
        + "giving back what the need covers counts it twice: needs are missed, in a trial by up to 17 ms",
    ),
    (
        "7",
        "uncommitted time once the critical period has begun",
        "none",
        _NONE + "less than none would demote processes with unmet need when overcommitted",
    ),
    ("8", "a few hundred microseconds", "300 us, twice", _thresholds),
    ("9", "the six paths", "by who ran before and who runs after", _NONE + "counters only"),
    ("10", "needs above the epoch", "admitted with a warning", _admitted),
    ("11", "who pays a switch", "the process left, inside its next slice", _payer),
    ("12", "need of the system processes", "declared: 1 and 3 ms", _undeclared),
    (
        "13",
        "change of a need, exit",
        "at the next epoch; what is owed goes back",
        _NONE + "anything else breaks the books of the epoch",
    ),
    ("3.4", "uncommitted time of who waits", "kept, as in the report", _dispatch),
)
