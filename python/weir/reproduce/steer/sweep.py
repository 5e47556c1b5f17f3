"""When does separation with dynamic allocation pay? A workload a row: tails, differences, cores.

Short requests of 1 us and long ones share eight cores under four policies, on the same arrivals. Separation
*pays* against another policy where the 95 % interval of the paired difference in p99.9 slowdown lies above
zero. Cores are saved where fewer are in use than there are, as a mean over time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from weir.reproduce.engine.evidence import if_measured
from weir.reproduce.engine.series import Fidelity
from weir.reproduce.steer.runs import PAYS, cells

if TYPE_CHECKING:
    from weir.reproduce.engine.evidence import Measured
    from weir.reproduce.steer.evidence import Evidence
    from weir.reproduce.steer.runs import Cell

BOTH = PAYS[-1]
OTHERS = PAYS[:-1]
SERVERS = 8


@dataclass(frozen=True, slots=True)
class Row:
    """A workload: p99.9 slowdowns and cores in use by policy, differences of the others from `BOTH`."""

    cell: Cell
    slowdown: dict[str, Measured]
    less: dict[str, Measured]
    cores: dict[str, float]

    def gain(self, other: str) -> float:
        """Return by which factor the slowdown of another is larger."""
        return self.slowdown[other].value / self.slowdown[BOTH].value

    def verdict(self, other: str) -> int:
        """Return 1 where `BOTH` is clearly better than another, -1 where it is clearly worse, else 0."""
        interval = self.less[other].ci95
        if interval is None:
            return 0
        return 1 if interval[0] > 0 else -1 if interval[1] < 0 else 0

    @property
    def saved(self) -> float:
        """Cores that `BOTH` leaves free, as a mean over time."""
        return SERVERS - self.cores[BOTH]


def rows(evidence: Evidence, fidelity: str) -> tuple[Row, ...]:
    """Return the workloads that were run, in the order of the grid."""
    return tuple(filter(None, (if_measured(_row, evidence, cell) for cell in cells(Fidelity(fidelity)))))


def _row(evidence: Evidence, cell: Cell) -> Row:
    views = {name: evidence.view(cell.name, place) for place, name in enumerate(PAYS)}
    return Row(
        cell,
        {name: view.figure("slowdown", "p99.9") for name, view in views.items()},
        {name: views[name].difference("slowdown", "p99.9") for name in OTHERS},
        {name: views[name].cores.value for name in ("dynamic", BOTH)},
    )


def words(found: tuple[Row, ...]) -> str:
    """Return the answer in words."""
    if not found:
        return ""
    parts = []
    for other in OTHERS:
        better, worse = (sum(row.verdict(other) == sign for row in found) for sign in (1, -1))
        parts.append(f"{other} in {better} (clearly worse in {worse})")
    pays = [row for row in found if all(row.verdict(other) >= 0 for other in ("rr", "dynamic"))]
    most = max(found, key=lambda row: row.gain("rr"))
    saved = max(found, key=lambda row: row.saved)
    return (
        f"Of {len(found)} workloads separation with dynamic allocation has a clearly lower p99.9 slowdown "
        f"than {', '.join(parts)}. It is not clearly worse than rr or dynamic in {len(pays)}; the largest "
        f"gain over rr is {most.gain('rr'):.3g} times ({_told(most.cell)}), and the most cores left free "
        f"are {saved.saved:.1f} of {SERVERS} ({_told(saved.cell)}). {_by_kind(found)}"
    )


def _by_kind(found: tuple[Row, ...]) -> str:
    """Say where it pays against rr, by arrivals and by the ratio of the services."""
    told = []
    for bursts in (False, True):
        for ratio in sorted({row.cell.ratio for row in found}):
            chosen = [row for row in found if (row.cell.bursts, row.cell.ratio) == (bursts, ratio)]
            better = sum(row.verdict("rr") == 1 for row in chosen)
            told.append(f"{'bursts' if bursts else 'Poisson'} and {ratio} times: {better} of {len(chosen)}")
    return f"Clearly better than rr, by arrivals and ratio of services: {'; '.join(told)}."


def _told(cell: Cell) -> str:
    arrivals = "bursts" if cell.bursts else "Poisson"
    return f"{cell.share:.1%} long, {cell.ratio} times, {arrivals}, load {cell.load:g}"
