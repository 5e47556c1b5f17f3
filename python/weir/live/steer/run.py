"""A whole study of steering: costs are measured, then runs are simulated and measured.

Cases take turns, repetition by repetition, so that what changes on the machine meets all of them. After
Ctrl-C what is finished is kept.

Source: Ouyang, *CS477 Advanced Operating Systems Lab1 Report*, EPFL, 2024. Work: 14 s for the costs, 6 s for
the simulations, and 56 s a repetition with windows of a second. Units: nanoseconds, unless a name says
otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.errors import UnsupportedError
from weir.live.steer import model, saturation
from weir.live.steer.bed import Bed
from weir.live.steer.measured import measure
from weir.live.steer.plan import LEVELS, plan, spare, workers
from weir.live.steer.study import Study
from weir.reproduce.steer.runs import SEED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from weir.live.steer.measured import Run
    from weir.live.steer.model import Outcome
    from weir.live.steer.plan import Case

__all__ = ["run"]

_LEAST = 2
"""Processors: with one, what the client takes is what nobody serves."""
_SEEDS = 8
"""Of the simulation of this machine."""
_SEEDS_OF_REPORT = 4


def run(
    present: Sequence[int],
    *,
    window: int = 10**9,
    service: int = 50_000,
    repeat: int = 3,
    seed: int = SEED,
    keep: Path | None = None,
    told: Callable[[float], None] | None = None,
) -> Study:
    """Measure costs, simulate, and measure.

    Parameters
    ----------
    present : sequence of int
        The processors that there are.
    window, service : int
        How long each rate lasts, and what a long request is to take, in nanoseconds.
    repeat : int
        How often each case is measured.
    seed : int
        Of requests, simulated and sent.
    keep : path, optional
        Where files of the runs stay.
    told : callable, optional
        Called with the share that is done, by the time that was estimated.

    Raises
    ------
    UnsupportedError
        If it cannot be done here, as with one processor.
    WeirError
        If daemon or client fail.
    """
    if len(present) < _LEAST:
        message = f"{len(present)} processor may be used, and the client would take it from those who serve"
        raise UnsupportedError(message, f"run it where there are at least {_LEAST}")
    processors = workers(present)
    clock = _Clock(len(processors), window, repeat, told)
    found: list[Run] = []
    interrupted = False
    with Bed(spare(present), keep) as bed:
        costs = saturation.measure(bed, processors, service, window // 2, clock.part(_Clock.COSTS))
        made = plan(processors, costs, window)
        report_cores: Mapping[Case, Sequence[Outcome]] = {}
        simulated: Mapping[Case, Sequence[Outcome]] = {}
        try:
            simulated = model.simulate(
                lambda each: model.of_machine(made, costs, each), range(seed, seed + _SEEDS)
            )
            report_cores = model.simulate(
                model.of_report, range(seed, seed + _SEEDS_OF_REPORT), clock.part(_Clock.SIMULATED)
            )
            for repetition in range(repeat):
                for case in made.cases():
                    found.append(measure(bed, made, case, repetition, seed + repetition))
                    clock.next(clock.run)
        except KeyboardInterrupt:
            interrupted = True
    return Study(
        plan=made,
        costs=costs,
        present=len(present),
        repeat=repeat,
        seed=seed,
        report_cores=report_cores,
        simulated=simulated,
        runs=tuple(found),
        interrupted=interrupted,
    )


class _Clock:
    """How much is done, in seconds as they were estimated before."""

    COSTS, SIMULATED = 14.0, 6.0
    _STARTED = 1.0
    """Seconds of a run besides those in which requests are sent."""

    def __init__(
        self, processors: int, window: int, repeat: int, told: Callable[[float], None] | None
    ) -> None:
        self.run = LEVELS * window / 1e9 + self._STARTED
        cases = 8 if processors > 1 else 2
        self._total = self.COSTS + self.SIMULATED + repeat * cases * self.run
        self._done = 0.0
        self._told = told

    def next(self, seconds: float) -> None:
        """So much more is done."""
        self._done += seconds
        self._tell(0.0)

    def part(self, seconds: float) -> Callable[[float], None]:
        """Return what is called with the share of a part that is done."""

        def told(share: float) -> None:
            if share >= 1:
                self.next(seconds)
            else:
                self._tell(share * seconds)

        return told

    def _tell(self, more: float) -> None:
        if self._told is not None:
            self._told(min(1.0, (self._done + more) / self._total))
