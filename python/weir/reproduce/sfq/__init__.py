"""Reproduction ``sfq``: Tables 1 to 11 of the SFQ report, its claims, and what random maps predict.

Source: *A Report on Stochastic Fairness Queueing (SFQ) Experiments*, SRI, March 1993. What the report
leaves open, and the choices made, are told in ``reproduce/sfq/README.md``. The work is four experiments
under five disciplines, one with the maps of a perturbed run frozen in, and many draws of random maps.

``quick`` has 8 seeds, ``default`` 16, ``full`` 64; random maps are drawn 24, 64 or 256 times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.models.network.result import NetworkResult
from weir.reproduce.checks import Checks
from weir.reproduce.series import Series, engine
from weir.reproduce.sfq import cells, published, runs
from weir.reproduce.sfq.claims import judge
from weir.reproduce.sfq.document import SfqReproduction
from weir.reproduce.sfq.evidence import Evidence
from weir.reproduce.sfq.predictions import predictions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from weir.reproduce.sfq.runs import Plan

__all__ = ["SfqReproduction", "evaluate", "run", "simulate"]

simulate = engine(NetworkResult)
"""Runs a scenario with the engine; the runner unless another is given."""


def evaluate(
    results: Mapping[Plan, NetworkResult], *, fidelity: str = "default", interrupted: bool = False
) -> SfqReproduction:
    """Hold results against what was published; see `weir.reproduce.series.Evaluate`."""
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


run = Series(runs.plans, runs.SEED, _scenario, simulate, evaluate).run
"""Runs the reproduction; see `weir.reproduce.series.Series.run`."""
