"""What became of the needs of a scenario in the cells of its sweep: in how many they are met, and in which.

Each cell under each discipline is judged as its run would judge it (`weir.results.judging`), at 95 % by
itself: of a hundred cells near a bound some are judged wrongly by chance. `weir size` searches with a stated
probability. Work: that of gathering every cell once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from weir.axes import ALONE
from weir.results.judging import MET, MISSED, NOT_SETTLED
from weir.results.needs import bound, figure
from weir.results.verdict import BOTH, capital, joined
from weir.text import plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weir.results.rows import Judgement, Need
    from weir.sweeping.table import SweepResult

__all__ = ["Judged", "judged", "told"]

_NAMED = 4
"""Cells that are named one by one."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of the needs in a cell, under a discipline.

    Attributes
    ----------
    cell : int
        Its place.
    discipline : str
        The discipline.
    state : str
        ``met`` if all needs are, ``missed`` if one is, else ``not_settled``.
    judgements : tuple of Judgement
        One a need.
    """

    cell: int
    discipline: str
    state: str
    judgements: tuple[Judgement, ...]


def judged(result: SweepResult) -> tuple[tuple[Need, ...], list[Judged]]:
    """Return the needs, and what became of them in every cell that has figures."""
    needs: tuple[Need, ...] = ()
    found: list[Judged] = []
    if not result.plan.has_needs:
        return needs, found
    without = result.reasons()
    for cell in range(len(result.plan.cells)):
        if cell in without:
            continue
        whole = result.result(cell)
        needs = tuple(whole.needs)
        for name in whole.disciplines:
            rows = tuple(row for row in whole.judgements if row.discipline == name)
            found.append(Judged(cell, name, _state(rows), rows))
    return needs, found


def _state(rows: Sequence[Judgement]) -> str:
    states = {row.state for row in rows}
    return MET if states == {MET} else MISSED if MISSED in states else NOT_SETTLED


def told(result: SweepResult, needs: Sequence[Need], found: Sequence[Judged]) -> Iterator[str]:
    """Yield what became of the needs, in words."""
    if not found:
        return
    several = ALONE not in result.plan.keys and len({each.discipline for each in found}) > 1
    parts: list[str] = []
    for state, words in ((MET, "met"), (MISSED, "missed"), (NOT_SETTLED, "not settled")):
        names = [_name(result, each, several=several) for each in found if each.state == state]
        if names:
            which = f" ({joined(names)})" if len(names) <= _NAMED and state != MISSED else ""
            of = (
                ""
                if parts
                else f" of {plural(len(found), 'cell')}{' under its disciplines' if several else ''}"
            )
            parts.append(f"{words} in {len(names):,}{of}{which}")
    yield f"{capital(_asked(needs))}: {', '.join(parts)}."


def _asked(needs: Sequence[Need]) -> str:
    if len(needs) == 1:
        return f"{figure(needs[0])} is to be {bound(needs[0])}"
    return "both needs" if len(needs) == BOTH else f"all {len(needs)} needs"


def _name(result: SweepResult, each: Judged, *, several: bool) -> str:
    label = result.plan.label(each.cell)
    return f"{label} under {each.discipline}" if several else label
