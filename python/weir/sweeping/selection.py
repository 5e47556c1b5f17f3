"""Comparisons of the cells of a sweep: the best, what equals it within error, the frontier of two figures.

All cells have seen the same arrivals in each replication, so they are compared replication by replication;
what is computed of that, and what it assumes, is in ``weir-lab/src/stats/selection.rs``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from weir import _weir
from weir.arguments import check_confidence
from weir.axes import ALONE
from weir.errors import ConfigError

if TYPE_CHECKING:
    from weir.sweeping.figure import Figure
    from weir.sweeping.table import SweepResult

__all__ = ["Behind", "Best", "Frontier", "Stands", "best_of", "frontier_of"]


@dataclass(frozen=True, slots=True)
class Behind:
    """A cell, and how far it is from the best.

    Attributes
    ----------
    cell : int
        Its place.
    name : str
        Its values, by their keys.
    discipline : str or None
        The discipline, where cells compare several.
    value : float or None
        Its mean over the replications.
    behind : float or None
        How much worse it is than the best.
    half_width : float or None
        Half the width of that difference's interval; the intervals of all pairs hold at once.
    possible : bool
        It cannot be distinguished from the best.
    """

    cell: int
    name: str
    discipline: str | None
    value: float | None
    behind: float | None
    half_width: float | None
    possible: bool


@dataclass(frozen=True, slots=True)
class Best:
    """Cells by a figure, the best first.

    Attributes
    ----------
    figure, unit : str
        What they are compared in.
    confidence : float
        The truly best cell is among the possible ones with this probability.
    cells : tuple of Behind
        All cells that have the figure.
    """

    figure: str
    unit: str
    confidence: float
    cells: tuple[Behind, ...]

    @property
    def possible(self) -> tuple[Behind, ...]:
        """The best, and the cells that cannot be distinguished from it."""
        return tuple(each for each in self.cells if each.possible)


@dataclass(frozen=True, slots=True)
class Stands:
    """A cell, its means in two figures, and where it stands: ``frontier``, ``possible``, ``dominated``."""

    cell: int
    name: str
    discipline: str | None
    values: tuple[float, float]
    standing: str


@dataclass(frozen=True, slots=True)
class Frontier:
    """Cells by two figures.

    Attributes
    ----------
    figures, units : tuple of str
        What they are compared in.
    confidence : float
        No cell that is truly on the frontier is dominated, with this probability.
    cells : tuple of Stands
        All cells that have the figures, by the first of them.
    """

    figures: tuple[str, str]
    units: tuple[str, str]
    confidence: float
    cells: tuple[Stands, ...]


def _systems(
    result: SweepResult, figure: Figure, *, most: bool
) -> list[tuple[int, str | None, list[float | None]]]:
    """Return every cell under every discipline, with its numbers; those of which less is better."""
    systems = []
    rows = result.of(figure)
    for discipline in figure.disciplines:
        cells = [row["cell"] for row in rows if row.get("discipline") == discipline]
        for cell, numbers in zip(cells, result.numbers(figure, discipline, cells), strict=True):
            signed = [None if number is None else -number if most else number for number in numbers]
            if any(number is not None for number in signed):
                systems.append((cell, discipline, signed))
    if not systems:
        raise ConfigError(f"figure {figure.title!r} has no value in any cell", "choose another")
    return systems


def _compares(result: SweepResult, disciplines: int) -> bool:
    """Return whether cells compare several disciplines, so that their names do not say which is meant."""
    return disciplines > 1 and ALONE not in result.plan.keys


def _mean(numbers: list[float | None]) -> float | None:
    seen = [number for number in numbers if number is not None]
    return sum(seen) / len(seen) if seen else None


def best_of(result: SweepResult, figure: Figure, *, most: bool, confidence: float) -> Best:
    """Return the cells by a figure."""
    check_confidence(confidence)
    systems = _systems(result, figure, most=most)
    found = _weir.best_of([numbers for _, _, numbers in systems], confidence)
    if found is None:
        raise ConfigError(f"figure {figure.title!r} has no value in any cell", "choose another")
    least, possible, behind = found
    several = _compares(result, len(figure.disciplines))
    cells = []
    for place, (cell, discipline, numbers) in enumerate(systems):
        mean, apart = _mean(numbers), behind[place]
        value = None if mean is None else -mean if most else mean
        name = result.plan.label(cell)
        cells.append(
            Behind(
                cell,
                name,
                discipline if several else None,
                value,
                apart and apart[0],
                apart and apart[1],
                possible[place],
            )
        )
    first = cells[least]
    ordered = sorted(cells, key=lambda each: (each is not first, _last(each.behind), each.cell))
    return Best(figure.title, figure.unit, confidence, tuple(ordered))


def _last(value: float | None) -> float:
    return float("inf") if value is None else value


def frontier_of(
    result: SweepResult, figures: tuple[Figure, Figure], *, most: tuple[bool, bool], confidence: float
) -> Frontier:
    """Return the cells by two figures."""
    check_confidence(confidence)
    both = [
        {(cell, discipline): numbers for cell, discipline, numbers in _systems(result, figure, most=more)}
        for figure, more in zip(figures, most, strict=True)
    ]
    shared = [key for key in both[0] if key in both[1]]
    standings = _weir.frontier_of(
        [both[0][key] for key in shared], [both[1][key] for key in shared], confidence
    )
    several = _compares(result, len({discipline for _, discipline in shared}))
    cells = []
    for key, standing in zip(shared, standings, strict=True):
        means = [
            (_mean(each[key]) or 0.0) * (-1 if more else 1) for each, more in zip(both, most, strict=True)
        ]
        values = (means[0], means[1])
        cell, discipline = key
        name = result.plan.label(cell)
        cells.append(Stands(cell, name, discipline if several else None, values, standing))
    cells.sort(key=lambda each: (each.values, each.cell))
    units = (figures[0].unit, figures[1].unit)
    return Frontier((figures[0].title, figures[1].title), units, confidence, tuple(cells))
