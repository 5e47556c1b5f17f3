"""Reproduction ``sfq``: Tables 1 to 11 of the SFQ report, its claims, and what random maps predict.

Source: *A Report on Stochastic Fairness Queueing (SFQ) Experiments*, SRI, March 1993. What the report
leaves open, and the choices made, are told in ``reproduce/sfq/README.md``. The work is four experiments
under five disciplines, one with the maps of a perturbed run frozen in, and many draws of random maps.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from weir.network.result import NetworkResult
from weir.reproduce import common
from weir.reproduce.checks import Checks
from weir.reproduce.common import scaled
from weir.reproduce.sfq import cells, published, runs
from weir.reproduce.sfq.claims import judge
from weir.reproduce.sfq.document import SfqReproduction
from weir.reproduce.sfq.evidence import Evidence
from weir.reproduce.sfq.predictions import predictions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from weir.reproduce.sfq.runs import Plan

__all__ = ["Runner", "SfqReproduction", "evaluate", "run", "simulate"]


class Runner(Protocol):
    """Runs a scenario, given as TOML text, and returns its result."""

    def __call__(  # noqa: D102 - the class says it
        self,
        text: str,
        name: str,
        *,
        threads: int | None,
        progress: Callable[[dict[str, float]], None] | None,
    ) -> NetworkResult: ...


def run(
    *,
    fidelity: str = "default",
    seed: int | None = None,
    threads: int | None = None,
    progress: Callable[[dict[str, float]], None] | None = None,
    runner: Runner | None = None,
) -> SfqReproduction:
    """Run the reproduction.

    Parameters
    ----------
    fidelity : str
        ``quick`` (8 seeds), ``default`` (16), or ``full`` (64); random maps are drawn 24, 64 or 256 times.
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
    SfqReproduction
        All checks, and what was measured. After Ctrl-C, with the runs that were finished.

    Raises
    ------
    ConfigError
        If there is no such fidelity, or the published tables are not there.
    """
    planned = runs.plans(common.fidelity(fidelity), runs.SEED if seed is None else seed)
    results, interrupted = _results(planned, runner or simulate, threads, progress)
    return evaluate(results, fidelity=fidelity, interrupted=interrupted)


def evaluate(
    results: Mapping[Plan, NetworkResult], *, fidelity: str = "default", interrupted: bool = False
) -> SfqReproduction:
    """Hold results against what was published.

    Parameters
    ----------
    results : mapping
        A result for each plan, of those that were run.
    fidelity : str
        What they are labelled with.
    interrupted : bool
        Whether the runs were stopped before their end.
    """
    evidence = Evidence(results)
    judgements = judge(evidence)
    checks = (
        *cells.cells(evidence),
        *cells.offers(evidence),
        *cells.suggested(evidence),
        *predictions(evidence),
        *(each.check for each in judgements),
    )
    return SfqReproduction(Checks("sfq", fidelity, checks), evidence, judgements, interrupted)


def _results(
    planned: list[Plan],
    runner: Runner,
    threads: int | None,
    progress: Callable[[dict[str, float]], None] | None,
) -> tuple[dict[Plan, NetworkResult], bool]:
    """Run one plan after the other; return what was finished, and whether that is not all."""
    total = float(sum(plan.work for plan in planned))
    results: dict[Plan, NetworkResult] = {}
    done = 0.0
    with suppress(KeyboardInterrupt):
        for plan in planned:
            report = None if progress is None else scaled(progress, done, plan.work, total)
            result = runner(runs.scenario(plan), _name(plan), threads=threads, progress=report)
            if result.interrupted:
                break
            results[plan] = result
            done += plan.work
    return results, len(results) < len(planned)


def _name(plan: Plan) -> str:
    return str(published.folder() / f"{plan.experiment}.toml ({plan.measured})")


def simulate(
    text: str, name: str, *, threads: int | None, progress: Callable[[dict[str, float]], None] | None
) -> NetworkResult:
    """Run a scenario with the engine; the runner unless another is given."""
    from weir.scenario import Scenario
    from weir.simulation import run as run_scenario

    result = run_scenario(Scenario(text, name), threads=threads, progress=progress)
    if not isinstance(result, NetworkResult):
        raise TypeError(f"the scenario is one of the model {result.model}")
    return result
