"""Reproduction ``steer``: the runs of a packet-to-CPU lab, and what later policies make of harder workloads.

Source: Y. Ouyang, *CS477 Advanced Operating Systems Lab1 Report*, EPFL, 2024, and the handout of that lab.
What they leave open, and the choices made, are told in ``reproduce/steer/README.md``. Three policies of the
report and the one that it proposes run on its traffic; nine policies run on workloads of later papers; and a
sweep says when separation with dynamic allocation pays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.models.server.result import ServerResult
from weir.reproduce import common
from weir.reproduce.checks import Checks
from weir.reproduce.series import engine, run_all
from weir.reproduce.steer import cells, published, runs
from weir.reproduce.steer.claims import judge, order_checks
from weir.reproduce.steer.document import SteerReproduction
from weir.reproduce.steer.evidence import Evidence

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from weir.reproduce.series import Runner
    from weir.reproduce.steer.runs import Plan

__all__ = ["SteerReproduction", "evaluate", "run", "simulate"]

simulate = engine(ServerResult)
"""Runs a scenario with the engine; the runner unless another is given."""


def run(
    *,
    fidelity: str = "default",
    seed: int | None = None,
    threads: int | None = None,
    progress: Callable[[dict[str, float]], None] | None = None,
    runner: Runner[ServerResult] | None = None,
) -> SteerReproduction:
    """Run the reproduction.

    Parameters
    ----------
    fidelity : str
        ``quick``, ``default`` or ``full``: 1, 5 or 32 million requests for each slowdown, and 16, 72 or 240
        workloads in the sweep. The lab's runs are shortened in ``quick``.
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
    SteerReproduction
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
    results: Mapping[Plan, ServerResult], *, fidelity: str = "default", interrupted: bool = False
) -> SteerReproduction:
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
        *(each.check for each in judgements),
        *order_checks(evidence),
        *cells.model_cells(evidence),
        *cells.slowdown_cells(evidence),
        *cells.property_cells(evidence),
    )
    return SteerReproduction(Checks("steer", fidelity, checks), evidence, judgements, interrupted)


def _scenario(plan: Plan) -> tuple[str, str]:
    """Return the scenario of a run, and the name under which errors speak of it."""
    return runs.scenario(plan), str(published.folder() / f"{plan.file} ({plan.name})")
