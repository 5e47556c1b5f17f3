"""A placement against its simulation: is every need met, and what rebalancing makes of the same processes.

**The discipline.** What is emitted runs under ``epoch:min_slice=1ns``, for only then does a process that has
less than 300 us of its need left in an epoch still run it. Plain ``epoch`` leaves such a rest out: whoever is
preempted shortly before the end of its need misses it. So the placement is simulated under both, and what is
missed by default is counted next to what is missed.

**The placement.** In the scenario that is emitted every process is always ready, the worst that it can do to
others, and what is reserved runs as a process of the system. Under epoch scheduling a process that is ready
throughout an epoch runs its need in it; every epoch is looked at, of every process.

**Rebalancing.** All processes that may be anywhere begin on the first node. Each computes its need and waits
for the next epoch; where a node is promised too much it is late, ready throughout an epoch, and misses its
need. Every ten epochs one process moves at most. What is looked for is the comparison of nodes from which on
no need is missed: runs whose measurement begins later and later, by halving, as what is missed from some
time on cannot become more.
"""

from __future__ import annotations

import tomllib
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, cast

from weir.errors import ConfigError
from weir.planning.request import emit, plan

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    from weir.models.node.result import NodeResult

__all__ = ["DEFAULT", "NodeCheck", "ProcessCheck", "check"]

DEFAULT = "epoch"
"""Epoch scheduling as it is without parameters."""
_LEAST_SLICE = 0.3  # ms: its min_slice,
_DEFAULT_SLICE = 20.0  # and its slice


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessCheck:
    """A process in the check; times in seconds.

    Of ``epochs`` in which it was ready throughout it ran less than its need in ``missed``, and lacked
    ``worst_shortfall`` at most. It was on ``node`` when it began. ``missed_by_default`` is how many it missed
    under plain ``epoch``, None where that was not simulated.
    """

    name: str
    node: str
    need: float
    epochs: int
    missed: int
    worst_shortfall: float
    moves: int
    missed_by_default: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeCheck:
    """What a check found, under ``discipline``; times in seconds.

    ``measured`` is how long was looked at. Of rebalancing, ``settled`` is the comparison of nodes from
    which on no need was missed, None if needs were missed to the end; of a placement it is None.
    """

    target: str
    discipline: str
    seed: int
    interrupted: bool
    measured: float
    settled: float | None
    processes: tuple[ProcessCheck, ...]

    @property
    def is_met(self) -> bool:
        """Whether every need is met in every epoch, or with rebalancing from some time on."""
        if self.target == "rebalance":
            return self.settled is not None
        return all(row.epochs > 0 and row.missed == 0 for row in self.processes)

    @property
    def missed_by_default(self) -> int | None:
        """How many needs are missed under plain ``epoch``; None if it was not simulated."""
        counts = [row.missed_by_default for row in self.processes]
        return None if None in counts else sum(count for count in counts if count is not None)

    def to_dict(self) -> dict[str, Any]:
        """Return the check as a JSON object."""
        return {
            **asdict(self),
            "processes": [asdict(row) for row in self.processes],
            "met": self.is_met,
            "missed_by_default": self.missed_by_default,
        }


def check(
    request: str | os.PathLike[str],
    *,
    target: str | None = None,
    seed: int = 1,
    threads: int | None = None,
    progress: Callable[[dict[str, float]], None] | None = None,
) -> NodeCheck:
    """Place the processes of a request and simulate the scenario that is emitted.

    Parameters
    ----------
    request : path
        The request.
    target : str, optional
        One of `weir.planning.request.NODE_TARGETS`; without it, ``scenario``.
    seed, threads, progress
        As of `weir.run`.

    Raises
    ------
    ConfigError
        If the file cannot be read, is no request of nodes, a process has no place, or the plan cannot be
        simulated.
    PlanError
        If the request is refused as a whole.
    """
    form = target or "scenario"
    if plan(request)["kind"] != "nodes":
        raise ConfigError("is no request of nodes", "name one with a table `[nodes]`", str(request))
    scenario = tomllib.loads(emit(request, form).text)

    def run(warm_up: str | None = None, disciplines: list[str] | None = None) -> NodeResult:
        from weir.scenario import Scenario
        from weir.simulation import run as simulate

        stop = scenario["stop"] | ({} if warm_up is None else {"warm_up": warm_up})
        changed = {"stop": stop} | ({} if disciplines is None else {"disciplines": disciplines})
        checked = Scenario.from_dict(scenario | changed, str(request))
        return cast("NodeResult", simulate(checked, seed=seed, threads=threads, progress=progress))

    result = run()
    settled: float | None = None
    interrupted = result.interrupted
    by_default: NodeResult | None = None
    if form == "rebalance" and not interrupted:
        settled, interrupted = _settled(scenario, result, run)
    elif not interrupted and _takes_default(scenario):
        by_default = run(disciplines=[DEFAULT])
        interrupted = by_default.interrupted
    return NodeCheck(
        target=form,
        discipline=scenario["disciplines"][0],
        seed=seed,
        interrupted=interrupted,
        measured=result.measured,
        settled=settled,
        processes=tuple(_rows(result, by_default)),
    )


def _takes_default(scenario: Mapping[str, Any]) -> bool:
    """Return whether the default discipline takes the epoch and all slices: none is below its least."""
    slices = [_milliseconds(process["slice"]) for process in scenario["process"] if "slice" in process]
    return min(_milliseconds(scenario["node"]["epoch"]), *slices, _DEFAULT_SLICE) >= _LEAST_SLICE


def _rows(result: NodeResult, by_default: NodeResult | None) -> list[ProcessCheck]:
    totals = {row.process: row for row in result.process_totals}
    missed = {row.process: row.needs_missed for row in by_default.process_totals} if by_default else {}
    return [
        ProcessCheck(
            name=row.name,
            node=row.node,
            need=row.need,
            epochs=totals[row.name].epochs_ready,
            missed=totals[row.name].needs_missed,
            worst_shortfall=totals[row.name].worst_shortfall,
            moves=totals[row.name].moves,
            missed_by_default=missed.get(row.name),
        )
        for row in result.processes
        if not row.system
    ]


def _missed(result: NodeResult) -> int:
    return sum(row.needs_missed for row in result.process_totals)


def _settled(
    scenario: Mapping[str, Any], whole: NodeResult, run: Callable[[str], NodeResult]
) -> tuple[float | None, bool]:
    """Return from when on nothing is missed, and whether the search for it was interrupted."""
    every = _milliseconds(scenario["balance"]["every"])
    last = int(_milliseconds(scenario["stop"]["duration"]) / every) - 1
    if not _missed(whole):
        return 0.0, False
    low, high = 0, last + 1  # something is missed from `low` on, and nothing from `high` on
    while low + 1 < high:
        middle = (low + high) // 2
        result = run(f"{middle * every:.6f}ms")
        if result.interrupted:
            return None, True
        low, high = (middle, high) if _missed(result) else (low, middle)
    return (high * every / 1e3, False) if high <= last else (None, False)


def _milliseconds(text: str) -> float:
    return float(text.removesuffix("ms"))
