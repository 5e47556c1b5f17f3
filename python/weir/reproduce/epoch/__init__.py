"""Reproduction ``epoch``: Tables 1 and 2 of the Chrysalis report, its experiments, and how epochs behave.

Source: R. D. Rettberg, *Development of a Voice Funnel System, Quarterly Technical Report No. 18*, BBN Report
5285, 1983, sections 2 to 5. What the report leaves open, and the choices made, are told in
``reproduce/epoch/README.md``. The costs of Table 1 go into a simulated node, and come out of it again by the
report's own method of measurement; random task sets try the promise, and compare with other disciplines.

``quick``, ``default`` and ``full`` have 30, 100 or 1,000 random task sets in the comparison, and about as
many that try the promise; what has nothing random in it is the same in all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.models.node.result import NodeResult
from weir.reproduce.checks import Checks
from weir.reproduce.epoch import cells, published, runs
from weir.reproduce.epoch.claims import judge
from weir.reproduce.epoch.document import EpochReproduction
from weir.reproduce.epoch.evidence import Evidence
from weir.reproduce.series import Series, engine

if TYPE_CHECKING:
    from collections.abc import Mapping

    from weir.reproduce.epoch.runs import Plan

__all__ = ["EpochReproduction", "evaluate", "run", "simulate"]

simulate = engine(NodeResult)
"""Runs a scenario with the engine; the runner unless another is given."""


def evaluate(
    results: Mapping[Plan, NodeResult], *, fidelity: str = "default", interrupted: bool = False
) -> EpochReproduction:
    """Hold results against what was published; see `weir.reproduce.series.Evaluate`."""
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


run = Series(runs.plans, runs.SEED, _scenario, simulate, evaluate).run
"""Runs the reproduction; see `weir.reproduce.series.Series.run`."""
