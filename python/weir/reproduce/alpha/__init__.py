"""Reproduction ``alpha``: Section 15 of the alpha report, its claims, its figures, its fairness analysis.

Source: Cherkasova and Rokicki, "Alpha Message Scheduling for Packet-Switched Interconnects", Hewlett-Packard
Laboratories. Which choices the report leaves open, and how tolerances come about, is told in
``reproduce/alpha/README.md``. The work is ten runs, one a load, of 13 strategies on the same arrivals.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from weir.reproduce import common
from weir.reproduce.alpha import published, runs, table
from weir.reproduce.alpha.document import AlphaReproduction
from weir.reproduce.alpha.evidence import Evidence
from weir.reproduce.alpha.judgement import judge
from weir.reproduce.checks import Checks
from weir.reproduce.common import scaled

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from weir.reproduce.alpha.published import Load
    from weir.reproduce.alpha.runs import Plan

__all__ = ["AlphaReproduction", "Runner", "evaluate", "run", "simulate"]


class Runner(Protocol):
    """Runs a scenario, given as TOML text, and returns the result as parsed JSON."""

    def __call__(  # noqa: D102 - the class says it
        self,
        text: str,
        name: str,
        *,
        threads: int | None,
        progress: Callable[[dict[str, float]], None] | None,
    ) -> Mapping[str, Any]: ...


def run(
    *,
    fidelity: str = "default",
    seed: int | None = None,
    threads: int | None = None,
    with_artefacts: bool = False,
    progress: Callable[[dict[str, float]], None] | None = None,
    runner: Runner | None = None,
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
    results, interrupted = _results(plans, runner or simulate, threads, progress)
    return evaluate(results, fidelity=fidelity, with_artefacts=with_artefacts, interrupted=interrupted)


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


def _results(
    plans: list[Plan],
    runner: Runner,
    threads: int | None,
    progress: Callable[[dict[str, float]], None] | None,
) -> tuple[dict[Load, Mapping[str, Any]], bool]:
    """Run load after load; return what was finished, and whether that is not all."""
    total = float(sum(plan.packets for plan in plans))
    results: dict[Load, Mapping[str, Any]] = {}
    done = 0.0
    with suppress(KeyboardInterrupt):
        for plan in plans:
            report = None if progress is None else scaled(progress, done, plan.packets, total)
            result = runner(runs.scenario(plan), _name(plan), threads=threads, progress=report)
            if result["interrupted"]:
                break
            results[plan.load] = result
            done += plan.packets
    return results, len(results) < len(plans)


def _name(plan: Plan) -> str:
    return str(published.folder() / f"section15.toml ({plan.load} %)")


def simulate(
    text: str, name: str, *, threads: int | None, progress: Callable[[dict[str, float]], None] | None
) -> Mapping[str, Any]:
    """Run a scenario with the engine; the runner unless another is given."""
    from weir.scenario import Scenario
    from weir.simulation import run as run_scenario

    result = run_scenario(Scenario(text, name), threads=threads, progress=progress)
    document: Mapping[str, Any] = json.loads(result.text)
    return document
