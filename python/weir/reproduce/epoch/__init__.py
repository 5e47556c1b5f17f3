"""Reproduction ``epoch``: Tables 1 and 2 of the Chrysalis report, its experiments, and how epochs behave.

Source: R. D. Rettberg, *Development of a Voice Funnel System, Quarterly Technical Report No. 18*, BBN Report
5285, 1983, sections 2 to 5. What the report leaves open, and the choices made, are described in
``reproduce/epoch/README.md``. The costs of Table 1 go into a simulated node, and come out of it again by the
report's own method of measurement; random task sets try the promise, and compare with other disciplines.

``quick``, ``default`` and ``full`` have 30, 100 or 1,000 random task sets in the comparison, and about as
many that try the promise; what has nothing random in it is the same in all.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING

from weir.models.node.result import NodeResult
from weir.reproduce.engine.document import Reproduction, evaluator
from weir.reproduce.engine.judgement import Judgement
from weir.reproduce.engine.series import Series, engine, source
from weir.reproduce.epoch import cells, comparison, published, runs
from weir.reproduce.epoch.claims import judge
from weir.reproduce.epoch.evidence import Evidence
from weir.reproduce.epoch.open_points import open_points
from weir.reproduce.epoch.published import PublishedClaim

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weir.reproduce.engine.checks import Check
    from weir.reproduce.epoch.comparison import Rows
    from weir.reproduce.epoch.open_points import OpenPoint

__all__ = ["EpochReproduction", "evaluate", "run", "simulate"]

simulate = engine(NodeResult)

_CHAIN = "table/2/chain/"


class EpochReproduction(Reproduction[Evidence, Judgement[PublishedClaim]]):
    """The checks of tables, numbers of the text, experiments, rates, and the claims."""

    name, title = "epoch", "Epoch scheduling"

    @cached_property
    def compared(self) -> Rows:
        """``epoch`` and other disciplines on the same task sets."""
        return comparison.rows(self.evidence)

    @cached_property
    def open_points(self) -> tuple[OpenPoint, ...]:
        """The open points, each with its choice and effect."""
        return open_points(self.evidence)

    def never(self, check: Check) -> bool:
        """Whether it is of the complex sink, whose cost the document does not give."""
        return check.id.startswith(_CHAIN)

    def sentences(self) -> Iterator[str]:
        """Yield what came of it, a sentence for each kind of check."""
        digit = f"; {self.artefact} is a last digit, rounded up" if self.artefact else ""
        yield self.met_of("table", "values of Tables 1 and 2", "are reproduced by the experiments") + digit
        given = sum(bool(row.given) for row in published.stated())
        yield self.met_of("text", "numbers of the text", "are met") + (
            f"; {given} of them are circular: the scenarios are given them, and they show what is counted"
        )
        yield self.met_of("experiment", "figures of the experiments", "are as the printed costs have them")
        yield self.met_of("rate", "rates of generator and sink", "are those of the closed form")
        yield self.met_of("claim", "claims", "are met")
        yield from self.missed_in_words()

    def simulated(self) -> Iterator[str]:
        """Yield how much was simulated."""
        yield f"{self.evidence.seconds:,.0f} simulated seconds"
        yield f"{self.evidence.schedulings:,} schedulings"


evaluate = evaluator(
    EpochReproduction,
    Evidence,
    judge,
    (cells.cost_cells, cells.stated_cells, cells.experiment_cells, cells.rate_cells, None),
)
"""Holds results against what was published; see `weir.reproduce.engine.document.evaluator`."""

run = Series(runs.plans, runs.SEED, partial(source, published.FILES), simulate, evaluate).run
"""Runs the reproduction; see `weir.reproduce.engine.series.Series.run`."""
