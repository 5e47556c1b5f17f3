"""Placements, and what their simulation found, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weir.planning.nodes import DEFAULT
from weir.results.tables import Column
from weir.results.terminal import print_table, say
from weir.text import number, percent, plural, quantity, scale_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import Console

    from weir.planning.nodes import NodeCheck, ProcessCheck

__all__ = ["show_check", "show_placement"]

_MOST = 20  # rows of those who missed their need


def show_placement(out: Console, plan: Mapping[str, Any]) -> None:
    """Show a placement: what each node promises, who is there, the bounds, and who has no place."""
    if plan["title"]:
        out.print(plan["title"], style="bold")
    epoch, reserve, capacity = (_time(plan[key]) for key in ("epoch_ns", "reserve_ns", "capacity_ns"))
    say(out, f"epoch {epoch}, of it {reserve} for the system: a node can promise {capacity}")
    if plan["nodes"]:
        out.print()
        print_table(out, _columns(plan["nodes"]))
        out.print()
        for node in plan["nodes"]:
            if node["processes"]:
                say(out, f"{node['name']}: {', '.join(node['processes'])}")
        out.print()
    for line in _answers(plan):
        say(out, line)
    for note in plan["notes"]:
        say(out, f"note: {note}")
    for refused in plan["refused"]:
        say(out, f"no place: {', '.join(refused['names'])} (line {refused['line']}) {refused['reason']}")
        say(out, f"  remedy: {refused['remedy']}")


def _columns(nodes: Sequence[Mapping[str, Any]]) -> list[Column]:
    scale = scale_for((max(node["committed_ns"], node["left_ns"]) / 1e9 for node in nodes), "s")

    def times(header: str, key: str) -> Column:
        cells = (number(node[key] / 1e9 / scale.factor) for node in nodes)
        return Column(f"{header} {scale.header}", tuple(cells))

    return [
        Column("node", tuple(node["name"] for node in nodes), numeric=False),
        Column("processes", tuple(f"{len(node['processes']):,}" for node in nodes)),
        times("committed", "committed_ns"),
        times("left", "left_ns"),
        Column("share", tuple(percent(node["share"]) for node in nodes)),
    ]


def _answers(plan: Mapping[str, Any]) -> Iterator[str]:
    """Yield how few nodes suffice, and how even the loads are, each with its bound."""
    few, balance = plan["fewest"], plan["balance"]
    bounds = few["bounds"]
    parts = ", ".join(f"{said} {bounds[name]:,}" for name, said in _COUNTS.items() if bounds[name])
    rules = f"first fit decreasing {_count(few['first_fit'])}, best fit decreasing {_count(few['best_fit'])}"
    if few["nodes"] is not None:
        known = _known(few["optimal"], "fewer", few["steps"])
        yield f"fewest nodes: {few['nodes']:,}, {known}; bound {few['bound']:,} ({parts}); {rules}"
    else:
        yield f"fewest nodes: bound {few['bound']:,} ({parts}); {rules}"
    if balance is None:
        return
    each = balance["bounds"]
    parts = ", ".join(f"{name} {_time(each[f'{name}_ns'])}" for name in _LOADS if each[f"{name}_ns"])
    known = _known(balance["optimal"], "less", balance["steps"])
    yield (
        f"largest committed: {_time(balance['largest_ns'])}, {known}; bound {_time(balance['bound_ns'])} "
        f"({parts}), gap {_time(balance['gap_ns'])}"
    )


_COUNTS = {"volume": "all needs", "large": "large ones", "apart": "apart"}
_LOADS = ("mean", "longest", "shared", "confined")


def _known(optimal: bool, better: str, steps: int) -> str:
    if optimal:
        return f"and {better} is impossible"
    return f"and {better} was not found in {plural(steps, 'step')}"


def _count(nodes: int | None) -> str:
    return "leaves some out" if nodes is None else f"{nodes:,}"


def _time(nanoseconds: int) -> str:
    return quantity(nanoseconds / 1e9, "s") if nanoseconds else "0 s"


def show_check(out: Console, check: NodeCheck) -> None:
    """Show what a check found: needs met and missed, and what moved."""
    head = f"check, epoch scheduling (`{check.discipline}`), seed {check.seed}"
    say(out, f"\n{head}, {quantity(check.measured, 's')}:", style="bold")
    moves = sum(row.moves for row in check.processes)
    epochs, missed = (sum(getattr(row, name) for row in check.processes) for name in ("epochs", "missed"))
    if check.target == "rebalance":
        say(out, f"all who may be anywhere begin on one node; {plural(moves, 'move')}")
    say(out, f"needs missed: {missed:,} of {epochs:,} (epochs in which a process was ready throughout)")
    by_default = check.missed_by_default
    if by_default is not None:
        say(out, f"under plain `{DEFAULT}`: {by_default:,}")
    failed = [
        row
        for row in check.processes
        if row.missed or row.missed_by_default or (check.target == "scenario" and not row.epochs)
    ]
    if failed:
        out.print()
        print_table(out, _failed(failed[:_MOST], "node" if check.target == "scenario" else "began on"))
    if len(failed) > _MOST:
        say(out, f"and {plural(len(failed) - _MOST, 'process')} more")
    say(out, f"\n{_outcome(check)}")


def _failed(rows: Sequence[ProcessCheck], place: str) -> list[Column]:
    scale = scale_for((row.need for row in rows), "s")

    def column(header: str, cells: Iterator[str]) -> Column:
        return Column(header, tuple(cells))

    by_default = [row.missed_by_default for row in rows if row.missed_by_default is not None]
    default = [column("missed by default", (f"{count:,}" for count in by_default))] if by_default else []
    return [
        Column("process", tuple(row.name for row in rows), numeric=False),
        Column(place, tuple(row.node for row in rows), numeric=False),
        column(f"need {scale.header}", (number(row.need / scale.factor) for row in rows)),
        column("epochs", (f"{row.epochs:,}" for row in rows)),
        column("missed", (f"{row.missed:,}" for row in rows)),
        *default,
        column(
            f"worst shortfall {scale.header}", (number(row.worst_shortfall / scale.factor) for row in rows)
        ),
        column("moves", (f"{row.moves:,}" for row in rows)),
    ]


def _outcome(check: NodeCheck) -> str:
    if check.target == "rebalance":
        if check.settled is None:
            return "needs are missed to the end"
        return f"no need is missed from {quantity(check.settled, 's')} on"
    if not check.is_met:
        return "not every need is met"
    missed = check.missed_by_default
    if not missed:
        return "every need is met in every epoch"
    return (
        f"every need is met in every epoch under `{check.discipline}`, which the scenario has; under plain "
        f"`{DEFAULT}` {plural(missed, 'need')} {'is' if missed == 1 else 'are'} missed: "
        "less than 300 us left of a need is not run there"
    )
