"""Reproduction ``sfq``: Tables 1 to 11 of the SFQ report, its claims, and what random maps predict.

Source: *A Report on Stochastic Fairness Queueing (SFQ) Experiments*, SRI, March 1993. What the report
leaves open, and the choices made, are described in ``reproduce/sfq/README.md``. The work is four experiments
under five disciplines, one with the maps of a perturbed run frozen in, and many draws of random maps.

``quick`` has 8 seeds, ``default`` 16, ``full`` 64; random maps are drawn 40, 64 or 256 times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.models.network.result import NetworkResult
from weir.reproduce.engine.checks import Status
from weir.reproduce.engine.document import Reproduction, evaluator
from weir.reproduce.engine.judgement import Judgement
from weir.reproduce.engine.series import Series, engine
from weir.reproduce.sfq import cells, published, runs
from weir.reproduce.sfq.claims import judge
from weir.reproduce.sfq.evidence import Evidence
from weir.reproduce.sfq.published import PublishedClaim

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weir.reproduce.sfq.runs import Plan

__all__ = ["SfqReproduction", "evaluate", "run", "simulate"]

simulate = engine(NetworkResult)


class SfqReproduction(Reproduction[Evidence, Judgement[PublishedClaim]]):
    """The checks of throughputs, delays and offers, what random maps predict, and the claims."""

    name, title = "sfq", "Stochastic fairness queueing"

    def sentences(self) -> Iterator[str]:
        """Yield what came of it, a sentence for each kind of check."""
        words = self.met_of("table", "published throughputs and delays", "are met")
        words += self.counted(Status.ARTEFACT, "table", "are misprints or contaminated")
        yield words + self.not_met_of("table")
        words = self.met_of("offer", "offers", "are those of the generator's own random sequence")
        yield words + self.counted(Status.ARTEFACT, "offer", "windows begin or end elsewhere")
        words = self.met_of("prediction", "values of perturbed runs", "lie in the range of random maps")
        yield words + self.counted(Status.ARTEFACT, "prediction", "are misprints")
        yield self.claims_met()

    def simulated(self) -> Iterator[str]:
        """Yield how much was simulated."""
        yield f"{self.evidence.packets:,} packets"


evaluate = evaluator(
    SfqReproduction, Evidence, judge, (cells.cells, cells.offers, cells.suggested, cells.predictions, None)
)
"""Holds results against what was published; see `weir.reproduce.engine.document.evaluator`."""


def _source(plan: Plan) -> tuple[str, str]:
    """Return the scenario of a run, and the name under which errors speak of it."""
    return runs.scenario(plan), str(published.folder() / f"{plan.experiment}.toml ({plan.measured})")


run = Series(runs.plans, runs.SEED, _source, simulate, evaluate).run
"""Runs the reproduction; see `weir.reproduce.engine.series.Series.run`."""
