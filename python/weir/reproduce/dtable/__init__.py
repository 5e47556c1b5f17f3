"""Reproduction ``dtable``: Table 1, Figures 1 to 5 and the claims about DTable and DRR at 64 end-points.

Source: Martínez, Alfaro and Sánchez, *Comparing the latency performance of the DTable and DRR schedulers*,
2007. What the document leaves open, and the choices made, are told in ``reproduce/dtable/README.md``; a
sensitivity table shows what each of them decides.

``quick`` has some loads and 3 replications, ``default`` more loads and 10, ``full`` 30 replications.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.models.fabric.result import FabricResult
from weir.reproduce.checks import Checks
from weir.reproduce.dtable import cells, published, runs
from weir.reproduce.dtable.claims import judge
from weir.reproduce.dtable.document import DtableReproduction
from weir.reproduce.dtable.evidence import Evidence
from weir.reproduce.dtable.sensitivity import signs
from weir.reproduce.series import Series, engine

if TYPE_CHECKING:
    from collections.abc import Mapping

    from weir.reproduce.dtable.runs import Plan

__all__ = ["DtableReproduction", "evaluate", "run", "simulate"]

simulate = engine(FabricResult)
"""Runs a scenario with the engine; the runner unless another is given."""


def evaluate(
    results: Mapping[Plan, FabricResult], *, fidelity: str = "default", interrupted: bool = False
) -> DtableReproduction:
    """Hold results against what was published; see `weir.reproduce.series.Evaluate`."""
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


run = Series(runs.plans, runs.SEED, _scenario, simulate, evaluate).run
"""Runs the reproduction; see `weir.reproduce.series.Series.run`."""
