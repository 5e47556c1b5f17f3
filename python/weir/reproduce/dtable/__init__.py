"""Reproduction ``dtable``: Table 1, Figures 1 to 5 and the claims about DTable and DRR at 64 end-points.

Source: Martínez, Alfaro and Sánchez, *Comparing the latency performance of the DTable and DRR schedulers*,
2007. What the document leaves open, and the choices made, are told in ``reproduce/dtable/README.md``; a
sensitivity table shows what each of them decides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.fabric import FabricResult
from weir.reproduce import common
from weir.reproduce.checks import Checks
from weir.reproduce.dtable import cells, published, runs
from weir.reproduce.dtable.claims import judge
from weir.reproduce.dtable.document import DtableReproduction
from weir.reproduce.dtable.evidence import Evidence
from weir.reproduce.dtable.sensitivity import signs
from weir.reproduce.series import engine, run_all

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from weir.reproduce.dtable.runs import Plan
    from weir.reproduce.series import Runner

__all__ = ["DtableReproduction", "evaluate", "run", "simulate"]

simulate = engine(FabricResult)
"""Runs a scenario with the engine; the runner unless another is given."""


def run(
    *,
    fidelity: str = "default",
    seed: int | None = None,
    threads: int | None = None,
    progress: Callable[[dict[str, float]], None] | None = None,
    runner: Runner[FabricResult] | None = None,
) -> DtableReproduction:
    """Run the reproduction.

    Parameters
    ----------
    fidelity : str
        ``quick`` (some loads, 3 replications), ``default`` (more loads, 10), or ``full`` (30).
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
    DtableReproduction
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
    results: Mapping[Plan, FabricResult], *, fidelity: str = "default", interrupted: bool = False
) -> DtableReproduction:
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
        *cells.table_cells(),
        *cells.figure_cells(evidence),
        *(each.check for each in judgements),
        *cells.variants(evidence),
        *signs(evidence),
        *cells.prototypes(evidence),
    )
    return DtableReproduction(Checks("dtable", fidelity, checks), evidence, judgements, interrupted)


def _scenario(plan: Plan) -> tuple[str, str]:
    """Return the scenario of a run, and the name under which errors speak of it."""
    return runs.scenario(plan), str(published.folder() / f"{plan.file} ({plan.name})")
