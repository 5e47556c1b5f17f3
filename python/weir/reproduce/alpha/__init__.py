"""Reproduction ``alpha``: Section 15 of the alpha report, its claims, its figures, its fairness analysis.

Source: Cherkasova and Rokicki, "Alpha Message Scheduling for Packet-Switched Interconnects", Hewlett-Packard
Laboratories. Which choices the report leaves open, and how tolerances come about, is told in
``reproduce/alpha/README.md``. The work is ten runs, one a load, of 13 strategies on the same arrivals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weir.models.port.result import PortResult
from weir.reproduce import common
from weir.reproduce.alpha import published, runs, table
from weir.reproduce.alpha.document import AlphaReproduction
from weir.reproduce.alpha.evidence import Evidence
from weir.reproduce.alpha.judgement import judge
from weir.reproduce.checks import Checks
from weir.reproduce.series import engine, run_all

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from weir.reproduce.alpha.published import Load
    from weir.reproduce.alpha.runs import Plan
    from weir.reproduce.series import Runner

__all__ = ["AlphaReproduction", "evaluate", "run", "simulate"]

simulate = engine(PortResult)
"""Runs a scenario with the engine; the runner unless another is given."""


def run(
    *,
    fidelity: str = "default",
    seed: int | None = None,
    threads: int | None = None,
    with_artefacts: bool = False,
    progress: Callable[[dict[str, float]], None] | None = None,
    runner: Runner[PortResult] | None = None,
) -> AlphaReproduction:
    """Run the reproduction.

    Parameters
    ----------
    fidelity : str
        ``quick`` (3e8 packets in all), ``default`` (2e9), or ``full``: at least the published 4.1e9.
    seed : int, optional
        In place of that of the reproduction; each load has its own, counted from this one.
    threads : int, optional
        How many to use; the results do not depend on it.
    with_artefacts : bool
        Whether to show how the original's overflow explains the row of RR' at 97 %.
    progress : callable, optional
        Called with ``done`` and ``total``, in packets of all runs together.
    runner : callable, optional
        What runs a scenario; the engine if not given.

    Returns
    -------
    AlphaReproduction
        All checks, and what was measured. After Ctrl-C, with the loads that were finished.

    Raises
    ------
    ConfigError
        If there is no such fidelity, or the published tables are not there.
    """
    plans = [
        runs.plan(load, common.fidelity(fidelity), runs.SEED if seed is None else seed)
        for load in published.LOADS
    ]
    results, interrupted = run_all(plans, _scenario, runner or simulate, threads=threads, progress=progress)
    documents = {plan.load: result.document for plan, result in results.items()}
    return evaluate(documents, fidelity=fidelity, with_artefacts=with_artefacts, interrupted=interrupted)


def evaluate(
    results: Mapping[Load, Mapping[str, Any]],
    *,
    fidelity: str = "default",
    with_artefacts: bool = False,
    interrupted: bool = False,
) -> AlphaReproduction:
    """Hold results of the ten loads against what was published.

    Parameters
    ----------
    results : mapping
        A result as parsed JSON for each load, of those that were run.
    fidelity : str
        What they are labelled with.
    with_artefacts : bool
        Whether to show how the original's overflow explains the row of RR' at 97 %.
    interrupted : bool
        Whether the runs were stopped before their end.
    """
    evidence = Evidence(results, table.LEVEL)
    judgements = judge(evidence)
    checks = [*table.cells(evidence), *table.closed_forms(evidence), *(each.check for each in judgements)]
    if with_artefacts:
        checks += table.artefacts(evidence)
    return AlphaReproduction(Checks("alpha", fidelity, tuple(checks)), evidence, judgements, interrupted)


def _scenario(plan: Plan) -> tuple[str, str]:
    """Return the scenario of a run, and the name under which errors speak of it."""
    return runs.scenario(plan), str(published.folder() / f"section15.toml ({plan.load} %)")
