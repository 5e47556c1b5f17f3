"""Reproduction ``dtable``: Table 1, Figures 1 to 5 and the claims about DTable and DRR at 64 end-points.

Source: Martínez, Alfaro and Sánchez, *Comparing the latency performance of the DTable and DRR schedulers*,
2007. What the document leaves open, and the choices made, are described in ``reproduce/dtable/README.md``; a
sensitivity table shows what each of them decides.

``quick`` has some loads and 3 replications, ``default`` more loads and 10, ``full`` 30 replications.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING

from weir.models.fabric.result import FabricResult
from weir.reproduce.dtable import cells, published, runs
from weir.reproduce.dtable.claims import HARDWARE, judge
from weir.reproduce.dtable.evidence import Evidence
from weir.reproduce.dtable.published import PublishedClaim
from weir.reproduce.dtable.sensitivity import signs, table
from weir.reproduce.engine.document import Reproduction, evaluator
from weir.reproduce.engine.judgement import Judgement
from weir.reproduce.engine.series import Series, engine, source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weir.reproduce.dtable.sensitivity import Row
    from weir.reproduce.engine.checks import Check

__all__ = ["DtableReproduction", "evaluate", "run", "simulate"]

simulate = engine(FabricResult)


class DtableReproduction(Reproduction[Evidence, Judgement[PublishedClaim]]):
    """The checks of Table 1, Figure 1, the claims, other traffic and shares, choices, and a prototype."""

    name, title = "dtable", "DTable and DRR"

    @cached_property
    def sensitivity(self) -> list[Row]:
        """The sensitivity table."""
        return table(self.evidence)

    def figure_1(self) -> dict[str, dict[str, list[Check]]]:
        """Return the checks of the saturated shares, by set of sizes and by table."""
        found = list(self.checks.of_kind("figure"))
        return {
            name: {
                role: [check for check in found if check.id.startswith(f"figure/1{name}/{role}/")]
                for role in runs.TABLES
            }
            for name in runs.SIZE_SETS
        }

    def never(self, check: Check) -> bool:
        """Whether it is a claim on hardware, which is not for a simulation to decide."""
        return check.note == HARDWARE

    def sentences(self) -> Iterator[str]:
        """Yield what came of it, a sentence for each kind of check."""
        of = self.met_of
        yield of("table", "values of Table 1", "follow from k = 2, w = 4, N = 64 and an MTU of 32 credits")
        yield of("figure", "saturated shares of Figure 1", "are those of the rules")
        claims = of("claim", "claims", "are met") + self.not_met_of("claim")
        yield f"{claims}; C32, on hardware, is not for a simulation to decide"
        yield of("variant", "checks under other traffic and shares", "are met")
        yield of("sensitivity", "signs of the sensitivity table", "are as with the choices made")
        yield of("prototype", "mean improvements of a prototype", "have its sign here")
        yield from self.missed_in_words()

    def simulated(self) -> Iterator[str]:
        """Yield how much was simulated."""
        yield f"{self.evidence.traversals:,} packets over links"


evaluate = evaluator(
    DtableReproduction,
    Evidence,
    judge,
    (lambda _: cells.table_cells(), cells.figure_cells, None, cells.variants, signs, cells.prototypes),
)
"""Holds results against what was published; see `weir.reproduce.engine.document.evaluator`."""

run = Series(runs.plans, runs.SEED, partial(source, published.FILES), simulate, evaluate).run
"""Runs the reproduction; see `weir.reproduce.engine.series.Series.run`."""
