"""Reproduction ``sfq``: Tables 1 to 11 of the SFQ report, its claims, and what random maps predict.

Source: *A Report on Stochastic Fairness Queueing (SFQ) Experiments*, SRI, March 1993. What the report
leaves open, and the choices made, are told in ``reproduce/sfq/README.md``. The work is four experiments
under five disciplines, one with the maps of a perturbed run frozen in, and many draws of random maps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.network.result import NetworkResult
from weir.reproduce import common
from weir.reproduce.checks import Checks
from weir.reproduce.series import engine, run_all
from weir.reproduce.sfq import cells, published, runs
from weir.reproduce.sfq.claims import judge
from weir.reproduce.sfq.document import SfqReproduction
from weir.reproduce.sfq.evidence import Evidence
from weir.reproduce.sfq.predictions import predictions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from weir.reproduce.series import Runner
    from weir.reproduce.sfq.runs import Plan

__all__ = ["SfqReproduction", "evaluate", "run", "simulate"]

simulate = engine(NetworkResult)
"""Runs a scenario with the engine; the runner unless another is given."""


def run(
    *,
    fidelity: str = "default",
    seed: int | None = None,
    threads: int | None = None,
    progress: Callable[[dict[str, float]], None] | None = None,
    runner: Runner[NetworkResult] | None = None,
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
    results, interrupted = run_all(planned, _scenario, runner or simulate, threads=threads, progress=progress)
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


def _scenario(plan: Plan) -> tuple[str, str]:
    """Return the scenario of a run, and the name under which errors speak of it."""
    return runs.scenario(plan), str(published.folder() / f"{plan.experiment}.toml ({plan.measured})")
