"""``epoch`` and other disciplines on the same random task sets: needs, responses, windfall.

The sets are those of `weir.reproduce.epoch.sets.mixed`; every discipline sees the same wake-ups and the same
computations, and costs are zero, so that what differs is who runs when. A figure is a mean over task sets; a
difference from ``epoch`` is paired, set by set.

==============  ===================================================================================
needs met       part of the epochs in which a process with a need was ready throughout
lacked          the most that such a process lacked of its need in an epoch, ms
late            part of the responses of control tasks that took longer than their period
worst response  of control tasks, over the task's period
given           time beyond needs in an epoch: run by processes whose need is used up
windfall        of it, what was promised to others; ``epoch`` only
idle            part of the time in which nobody ran although batch jobs are always ready
starts          how often a process is started, or goes on at a decision, in a second
==============  ===================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from weir.reproduce.engine.evidence import NotMeasuredError, if_measured
from weir.reproduce.epoch import runs
from weir.reproduce.epoch.evidence import mean_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from weir.models.node.rows import ProcessRow
    from weir.reproduce.epoch.evidence import Evidence, Mean, View


@dataclass(frozen=True, slots=True)
class Case:
    """A discipline on one task set, and the set's processes with their needs in an epoch."""

    view: View
    processes: tuple[ProcessRow, ...]

    @property
    def control(self) -> list[ProcessRow]:
        """The tasks that stay within what they need, whose deadline is their period."""
        return [row for row in self.processes if row.name.startswith("control")]


def _needs_met(case: Case) -> float:
    rows = [row for row in case.view.processes() if row.epochs_ready]
    epochs = sum(row.epochs_ready for row in rows)
    if not epochs:
        raise NotMeasuredError("nobody was ready throughout an epoch")
    return 1 - sum(row.needs_missed for row in rows) / epochs


def _lacked(case: Case) -> float:
    return 1e3 * max(row.worst_shortfall for row in case.view.processes())


def _late(case: Case) -> float:
    found = [case.view.figure(row.name, "late", "mean") for row in case.control]
    return sum(found) / len(found)


def _worst(case: Case) -> float:
    return max(
        case.view.figure(row.name, "response", "max") / (row.deadline or case.view.result.epoch)
        for row in case.control
    )


def _given(case: Case) -> float:
    found = {row: case.view.per_epoch(case.view.totals(row.name).run_time) for row in case.processes}
    return sum(max(0.0, value - 1e3 * row.need) for row, value in found.items())


def _windfall(case: Case) -> float:
    return sum(case.view.per_epoch(row.windfall_time) for row in case.view.processes())


def _idle(case: Case) -> float:
    return case.view.node().idle_time / case.view.elapsed


def _starts(case: Case) -> float:
    return sum(row.schedulings for row in case.view.processes()) / case.view.elapsed


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of figure: how it is computed, what it is multiplied by, its unit then, and decimals to show."""

    compute: Callable[[Case], float]
    factor: float
    unit: str
    decimals: int

    def shown(self, mean: Mean, *, signed: bool = False) -> str:
        """Return a mean with half of its interval."""
        sign = "+" if signed else ""
        return f"{mean.value:{sign}.{self.decimals}f} ±{mean.half:.{self.decimals}f}"


FIGURES = {
    "needs met": Kind(_needs_met, 100.0, "%", 1),
    "lacked": Kind(_lacked, 1.0, "ms", 1),
    "late": Kind(_late, 100.0, "%", 1),
    "worst response": Kind(_worst, 1.0, "periods", 1),
    "given": Kind(_given, 1.0, "ms", 1),
    "windfall": Kind(_windfall, 1.0, "ms", 1),
    "idle": Kind(_idle, 100.0, "%", 1),
    "starts": Kind(_starts, 1.0, "1/s", 0),
}


@dataclass(frozen=True, slots=True)
class Row:
    """A discipline: each figure as a mean over task sets, and as a paired difference from ``epoch``."""

    name: str
    means: dict[str, Mean]
    differences: dict[str, Mean]


Rows = tuple[Row, ...]


def rows(evidence: Evidence) -> Rows:
    """Return a row for each discipline; none where fewer than two task sets were run."""
    mixed, periods = (if_measured(evidence.numbered, kind) for kind in ("mixed", "periods"))
    numbers = sorted({*(mixed or ())} & {*(periods or ())})
    return tuple(_row(evidence, numbers, *each) for each in _compared()) if len(numbers) > 1 else ()


def _compared() -> list[tuple[str, str, int]]:
    """Return name, runs and place of each discipline."""
    made = [(spec, "mixed", place) for place, spec in enumerate(runs.COMPARED)]
    return made + [(f"{spec} (own periods)", "periods", place) for place, spec in enumerate(runs.PERIODIC)]


def _row(evidence: Evidence, numbers: list[int], name: str, kind: str, place: int) -> Row:
    means, differences = {}, {}
    for what in FIGURES:
        found = if_measured(_figures, evidence, what, numbers, kind, place)
        base = if_measured(_figures, evidence, what, numbers, "mixed", 0)
        if found and base:
            means[what] = mean_of(found)
            differences[what] = mean_of(own - other for own, other in zip(found, base, strict=True))
    return Row(name, means, differences)


def _figures(evidence: Evidence, what: str, numbers: list[int], kind: str, place: int) -> list[float]:
    """Return a figure of a discipline on each task set."""
    figure = FIGURES[what]
    cases = (
        Case(evidence.view(f"{kind}/{number}", place), evidence.result(f"mixed/{number}").processes)
        for number in numbers
    )
    return [figure.factor * figure.compute(case) for case in cases]


_TOLD = ("needs met", "lacked", "late", "worst response", "given", "windfall")


def words(compared: Rows) -> str:
    """Return in a paragraph what the comparison says: who is clearly better or worse than ``epoch``.

    Clearly: the 95 % interval of the paired difference excludes zero.
    """
    first, *_ = compared
    met, lacked, late, worst, given, windfall = (
        FIGURES[what].shown(first.means[what]).partition(" ")[0] for what in _TOLD
    )
    shortfall, lateness, response = (_beside(compared, each, best=-1) for each in _TOLD[1:4])
    sentences = [
        f"Under {first.name} {met} % of needs are met{_beside(compared, 'needs met', best=1)}.",
        f"The most that lacks in an epoch is {lacked} ms{shortfall}.",
        f"Of the responses of control tasks {late} % take longer than a period{lateness}.",
        f"Their worst response is {worst} periods{response}.",
        _left_idle(compared),
        f"{given} ms of an epoch go to processes beyond their needs, {windfall} ms of it windfall.",
    ]
    return " ".join(filter(None, sentences))


def _beside(compared: Rows, what: str, *, best: int) -> str:
    """Return who is clearly better, and who clearly worse, than the first."""
    better: list[str] = []
    worse: list[str] = []
    for row in compared[1:]:
        found = row.differences[what]
        if found.low > 0 or found.high < 0:
            (better if found.value * best > 0 else worse).append(row.name)
    named = (("better", better), ("worse", worse))
    parts = [f"clearly {word} under {', '.join(names)}" for word, names in named if names]
    return f"; {'; '.join(parts)}" if parts else "; nobody is clearly better or worse"


def _left_idle(compared: Rows) -> str:
    idle = [f"{row.name} ({row.means['idle'].value:.0f} %)" for row in compared if row.means["idle"].low > 0]
    return (
        f"The processor is left idle, though batch jobs are ready, under {', '.join(idle)}." if idle else ""
    )
