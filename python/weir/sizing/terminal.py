"""A search on the terminal: what was found, and a table of the values that were tried."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.axes import written as told
from weir.results import terminal
from weir.results.needs import bound, figure, of_shares
from weir.results.tables import Column
from weir.text import number, plural, scale_for, value_with_margin

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weir.results.rows import Need
    from weir.sizing.result import Probe, Search, SizeResult

__all__ = ["show", "tables"]

_PER_CENT = 0.01
_SHOWN = 8
"""Values of a table."""


def show(result: SizeResult) -> None:
    """Print what was found under each discipline, and what was tried."""
    out = terminal.console()
    terminal.say(out, " ".join(result.verdict))
    for note in result.notes:
        terminal.say(out, f"note: {note}")
    if not any(search.probes for search in result.searches):
        return
    out.print()
    for columns in tables(result):
        terminal.print_table(out, columns)
    if left := sum(len(search.probes) - len(shown) for search, shown in _chosen(result)):
        terminal.say(out, f"and {plural(left, 'more value')}, with --json")


def tables(result: SizeResult) -> Iterator[list[Column]]:
    """Yield what was tried next to the answer: a table for all searches that have the same needs."""
    chosen = _chosen(result)
    for needs in dict.fromkeys(search.needs for search, shown in chosen if shown):
        yield _columns(result, [each for each in chosen if each[1] and each[0].needs == needs], needs)


def _chosen(result: SizeResult) -> list[tuple[Search, tuple[Probe, ...]]]:
    most = 2 if len(result.searches) > 1 else _SHOWN
    return [(search, _nearest(result, search, most)) for search in result.searches]


def _nearest(result: SizeResult, search: Search, most: int) -> tuple[Probe, ...]:
    """Return the values next to the answer, in their order."""
    left = [result.values.index(value) for value in search.possible] or [len(result.values)]

    def distance(probe: Probe) -> int:
        place = result.values.index(probe.value)
        return max(left[0] - place, place - left[-1], 0)

    nearest = sorted(search.probes, key=distance)[:most]
    return tuple(probe for probe in search.probes if probe in nearest)


def _columns(
    result: SizeResult, chosen: Sequence[tuple[Search, tuple[Probe, ...]]], needs: Sequence[Need]
) -> list[Column]:
    rows = [(search, probe) for search, shown in chosen for probe in shown]
    probes = [probe for _, probe in rows]
    columns = []
    if len(result.searches) > 1:
        columns.append(
            Column("discipline", tuple(str(search.discipline) for search, _ in rows), numeric=False)
        )
    numeric = all(isinstance(probe.value, int | float) for probe in probes)
    columns.append(Column(result.key, tuple(told(probe.value) for probe in probes), numeric=numeric))
    columns += [_figures(rows, place, need) for place, need in enumerate(needs)]
    columns.append(Column("", tuple(probe.state for probe in probes), numeric=False))
    if not any(search.is_random for search, _ in rows):
        return columns
    return [
        *columns,
        Column("replications", tuple(f"{probe.replications:,}" for probe in probes), rank=2),
        Column("times as long", tuple(f"{probe.times:,}" for probe in probes), rank=2),
    ]


def _figures(chosen: Sequence[tuple[Search, Probe]], place: int, need: Need) -> Column:
    """Return a need's figure at every value, with the interval that decides."""
    rows = [next((row for row in probe.judgements if row.need == place), None) for _, probe in chosen]
    values = [None if row is None else row.value for row in rows]
    scale = scale_for((*values, need.bound), need.unit)
    factor, unit = (_PER_CENT, "(%)") if of_shares(need) else (scale.factor, scale.header)
    cells = []
    for row, (search, probe) in zip(rows, chosen, strict=True):
        if row is None or row.value is None:
            cells.append(_without(probe))
        elif row.low is None or row.high is None or not search.is_random:
            cells.append(number(row.value / factor))
        else:
            ends = (max(row.low, 0.0) / factor, row.high / factor)
            cells.append(value_with_margin(row.value / factor, *ends))
    name = figure(need).removeprefix("the ")
    return Column(f"{name} {unit}".rstrip() + f"\n{bound(need)}", tuple(cells))


def _without(probe: Probe) -> str:
    return "unstable" if not probe.judgements else "n/a"
