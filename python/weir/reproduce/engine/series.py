"""The runs of a reproduction: scenarios from templates, run one after the other until they are stopped."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from weir import toml
from weir.errors import ConfigError
from weir.results.result import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from weir.reproduce.engine.published import Published

    Progress = Callable[[dict[str, float]], None] | None

__all__ = ["Fidelity", "Plan", "Planned", "Runner", "Series", "changed", "engine", "run_all"]

ResultT = TypeVar("ResultT", bound=Result)
ResultT_co = TypeVar("ResultT_co", bound=Result, covariant=True)
ReproductionT = TypeVar("ReproductionT")


class Fidelity(StrEnum):
    """How much is simulated."""

    QUICK = "quick"
    DEFAULT = "default"
    FULL = "full"

    @classmethod
    def _missing_(cls, value: object) -> Fidelity:
        raise ConfigError(
            f"fidelity is {value!r}, must be one of {', '.join(cls)}", "leave it out for the default"
        )


# Scenarios.


def changed(document: dict[str, Any], changes: Mapping[str, object]) -> dict[str, Any]:
    """Return a document with keys replaced, such as ``stop.duration``; what is not replaced is shared."""
    for key, value in changes.items():
        head, _, rest = key.partition(".")
        inner = changed(document.get(head, {}), {rest: value}) if rest else value
        document = {**document, head: inner}
    return document


@dataclass(frozen=True, slots=True)
class Plan:
    """One run: its name, the file that its scenario is made from, and the scenario."""

    name: str
    file: str = field(compare=False)
    document: dict[str, Any] = field(compare=False, repr=False)


def scenario(plan: Plan) -> str:
    """Return the scenario of a run as TOML text."""
    return toml.dumps({**plan.document, "title": f"{plan.document['title']}: {plan.name}"})


def source(published: Published, plan: Plan) -> tuple[str, str]:
    """Return the scenario of a run, and the name under which errors speak of it."""
    return scenario(plan), str(published.folder() / f"{plan.file} ({plan.name})")


# Runs.


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
        self, text: str, name: str, *, threads: int | None, progress: Progress
    ) -> ResultT_co: ...


def engine(kind: type[ResultT]) -> Runner[ResultT]:
    """Return what runs scenarios of one model with the engine; the runner unless another is given."""

    def simulate(text: str, name: str, *, threads: int | None, progress: Progress) -> ResultT:
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
    progress: Progress,
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


def _scaled(
    progress: Callable[[dict[str, float]], None], before: float, part: float, total: float
) -> Callable[[dict[str, float]], None]:
    """Return a callback that reports one run's progress as that of all."""

    def report(state: dict[str, float]) -> None:
        share = state["done"] / state["total"] if state["total"] else 0.0
        progress({"done": before + share * part, "total": total})

    return report


@dataclass(frozen=True, slots=True)
class Series(Generic[PlanT, ResultT, ReproductionT]):
    """A reproduction as a series of runs, and what they are held against.

    ``plans`` says what is run at a fidelity from a seed, ``scenario`` is that of `run_all`. ``evaluate``
    holds results against what was published: one for each plan, of those that were run, labelled with
    ``fidelity``; ``interrupted`` is whether the runs were stopped before their end.
    """

    plans: Callable[[Fidelity, int], Sequence[PlanT]]
    seed: int
    scenario: Callable[[PlanT], tuple[str, str]]
    engine: Runner[ResultT]
    evaluate: Callable[..., ReproductionT]

    def run(
        self,
        *,
        fidelity: str = "default",
        seed: int | None = None,
        threads: int | None = None,
        progress: Progress = None,
        runner: Runner[ResultT] | None = None,
        **more: object,
    ) -> ReproductionT:
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
        **more
            For ``evaluate``.

        Returns
        -------
        Reproduction
            All checks, and what was measured. After Ctrl-C, with the runs that were finished.

        Raises
        ------
        ConfigError
            If there is no such fidelity, or the published tables are not there.
        """
        planned = self.plans(Fidelity(fidelity), self.seed if seed is None else seed)
        results, interrupted = run_all(
            planned, self.scenario, runner or self.engine, threads=threads, progress=progress
        )
        return self.evaluate(results, fidelity=fidelity, interrupted=interrupted, **more)
