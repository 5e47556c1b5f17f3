"""The runs of a reproduction, one after the other, with what was finished when they are stopped."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from weir.reproduce.common import Reproduced
from weir.reproduce.common import fidelity as named
from weir.results.result import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from weir.reproduce.common import Fidelity

__all__ = ["Evaluate", "Planned", "Runner", "Series", "engine", "run_all"]

ResultT = TypeVar("ResultT", bound=Result)
ResultT_co = TypeVar("ResultT_co", bound=Result, covariant=True)
ResultT_contra = TypeVar("ResultT_contra", bound=Result, contravariant=True)
ReproducedT = TypeVar("ReproducedT", bound=Reproduced)
ReproducedT_co = TypeVar("ReproducedT_co", bound=Reproduced, covariant=True)


class Planned(Protocol):
    """A run that is to come; equal plans are one run."""

    def __hash__(self) -> int: ...

    @property
    def work(self) -> float:
        """How much there is to do, in any unit that all runs of a series share."""


PlanT = TypeVar("PlanT", bound=Planned)


class Runner(Protocol[ResultT_co]):
    """Runs a scenario, given as TOML text, and returns its result."""

    def __call__(  # noqa: D102 - the class says it
        self,
        text: str,
        name: str,
        *,
        threads: int | None,
        progress: Callable[[dict[str, float]], None] | None,
    ) -> ResultT_co: ...


class Evaluate(Protocol[PlanT, ResultT_contra, ReproducedT_co]):
    """Holds results against what was published: one for each plan, of those that were run.

    It labels them with ``fidelity``; ``interrupted`` is whether the runs were stopped before their end.
    """

    def __call__(  # noqa: D102 - the class says it
        self, results: Mapping[PlanT, ResultT_contra], *, fidelity: str = ..., interrupted: bool = ...
    ) -> ReproducedT_co: ...


def engine(kind: type[ResultT]) -> Runner[ResultT]:
    """Return what runs scenarios of one model with the engine; the runner unless another is given."""

    def simulate(
        text: str, name: str, *, threads: int | None, progress: Callable[[dict[str, float]], None] | None
    ) -> ResultT:
        from weir.scenario import Scenario
        from weir.simulation import run

        result = run(Scenario(text, name), threads=threads, progress=progress)
        if not isinstance(result, kind):
            raise TypeError(f"the scenario is one of the model {result.model}")
        return result

    return simulate


def run_all(
    planned: Sequence[PlanT],
    scenario: Callable[[PlanT], tuple[str, str]],
    runner: Runner[ResultT],
    *,
    threads: int | None,
    progress: Callable[[dict[str, float]], None] | None,
) -> tuple[dict[PlanT, ResultT], bool]:
    """Run one plan after the other; Ctrl-C ends the series, not the program.

    Parameters
    ----------
    planned : sequence
        What is to be run.
    scenario : callable
        Returns the scenario of a plan as TOML text, and the name under which errors speak of it.
    runner : callable
        What runs a scenario.
    threads : int, optional
        How many to use; the results do not depend on it.
    progress : callable, optional
        Called with ``done`` and ``total``, in the work of all plans together.

    Returns
    -------
    tuple
        A result for each plan that was finished, and whether these are not all.
    """
    total = float(sum(plan.work for plan in planned))
    results: dict[PlanT, ResultT] = {}
    done = 0.0
    with suppress(KeyboardInterrupt):
        for plan in planned:
            text, name = scenario(plan)
            report = None if progress is None else _scaled(progress, done, plan.work, total)
            result = runner(text, name, threads=threads, progress=report)
            if result.interrupted:
                break
            results[plan] = result
            done += plan.work
    return results, len(results) < len(planned)


@dataclass(frozen=True, slots=True)
class Series(Generic[PlanT, ResultT, ReproducedT]):
    """A reproduction as a series of runs, and what they are held against.

    ``plans`` says what is run at a fidelity from a seed, ``scenario`` is that of `run_all`.
    """

    plans: Callable[[Fidelity, int], Sequence[PlanT]]
    seed: int
    scenario: Callable[[PlanT], tuple[str, str]]
    engine: Runner[ResultT]
    evaluate: Evaluate[PlanT, ResultT, ReproducedT]

    def run(
        self,
        *,
        fidelity: str = "default",
        seed: int | None = None,
        threads: int | None = None,
        progress: Callable[[dict[str, float]], None] | None = None,
        runner: Runner[ResultT] | None = None,
    ) -> ReproducedT:
        """Run the reproduction.

        Parameters
        ----------
        fidelity : str
            ``quick``, ``default`` or ``full``; what is how often run in each, the reproduction says.
        seed : int, optional
            In place of that of the reproduction.
        threads : int, optional
            How many to use; the results do not depend on it.
        progress : callable, optional
            Called with ``done`` and ``total``, over all runs together.
        runner : callable, optional
            What runs a scenario; the engine if not given.

        Returns
        -------
        Reproduced
            All checks, and what was measured. After Ctrl-C, with the runs that were finished.

        Raises
        ------
        ConfigError
            If there is no such fidelity, or the published tables are not there.
        """
        planned = self.plans(named(fidelity), self.seed if seed is None else seed)
        results, interrupted = run_all(
            planned, self.scenario, runner or self.engine, threads=threads, progress=progress
        )
        return self.evaluate(results, fidelity=fidelity, interrupted=interrupted)


def _scaled(
    progress: Callable[[dict[str, float]], None], before: float, part: float, total: float
) -> Callable[[dict[str, float]], None]:
    """Return a callback that reports one run's progress as that of all."""

    def report(state: dict[str, float]) -> None:
        share = state["done"] / state["total"] if state["total"] else 0.0
        progress({"done": before + share * part, "total": total})

    return report
