"""Reproduction ``epoch``: Tables 1 and 2 of the Chrysalis report, its experiments, and how epochs behave.

Source: R. D. Rettberg, *Development of a Voice Funnel System, Quarterly Technical Report No. 18*, BBN Report
5285, 1983, sections 2 to 5. What the report leaves open, and the choices made, are told in
``reproduce/epoch/README.md``. The costs of Table 1 go into a simulated node, and come out of it again by the
report's own method of measurement; random task sets try the promise, and compare with other disciplines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.node import NodeResult
from weir.reproduce import common
from weir.reproduce.checks import Checks
from weir.reproduce.epoch import cells, published, runs
from weir.reproduce.epoch.claims import judge
from weir.reproduce.epoch.document import EpochReproduction
from weir.reproduce.epoch.evidence import Evidence
from weir.reproduce.series import engine, run_all

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from weir.reproduce.epoch.runs import Plan
    from weir.reproduce.series import Runner

__all__ = ["EpochReproduction", "evaluate", "run", "simulate"]

simulate = engine(NodeResult)
"""Runs a scenario with the engine; the runner unless another is given."""


def run(
    *,
    fidelity: str = "default",
    seed: int | None = None,
    threads: int | None = None,
    progress: Callable[[dict[str, float]], None] | None = None,
    runner: Runner[NodeResult] | None = None,
) -> EpochReproduction:
    """Run the reproduction.

    Parameters
    ----------
    fidelity : str
        ``quick``, ``default`` or ``full``: 30, 100 or 1,000 random task sets in the comparison, and
        about as many that try the promise. What has nothing random in it is the same in all.
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
    EpochReproduction
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
    results: Mapping[Plan, NodeResult], *, fidelity: str = "default", interrupted: bool = False
) -> EpochReproduction:
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
        *cells.cost_cells(evidence),
        *cells.stated_cells(evidence),
        *cells.experiment_cells(evidence),
        *cells.rate_cells(evidence),
        *(each.check for each in judgements),
    )
    return EpochReproduction(Checks("epoch", fidelity, checks), evidence, judgements, interrupted)


def _scenario(plan: Plan) -> tuple[str, str]:
    """Return the scenario of a run, and the name under which errors speak of it."""
    return runs.scenario(plan), str(published.folder() / f"{plan.file} ({plan.name})")
