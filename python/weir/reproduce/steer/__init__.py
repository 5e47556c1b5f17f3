"""Reproduction ``steer``: the runs of a packet-to-CPU lab, and what later policies make of harder workloads.

Source: Y. Ouyang, *CS477 Advanced Operating Systems Lab1 Report*, EPFL, 2024, and the handout of that lab.
What they leave open, and the choices made, are in ``reproduce/steer/README.md``. Three policies of the
report and the one that it proposes run on its traffic; nine policies run on workloads of later papers; and a
sweep says when separation with dynamic allocation pays.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING

from weir.models.server.result import ServerResult
from weir.reproduce.engine.checks import Status
from weir.reproduce.engine.document import Reproduction, evaluator
from weir.reproduce.engine.evidence import if_measured
from weir.reproduce.engine.judgement import Judgement
from weir.reproduce.engine.series import Series, engine, source
from weir.reproduce.steer import cells, published, runs, sweep
from weir.reproduce.steer.claims import judge, order_checks, trips_in_words
from weir.reproduce.steer.evidence import Evidence
from weir.reproduce.steer.published import PublishedClaim
from weir.text import be

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weir.reproduce.engine.checks import Check
    from weir.reproduce.steer.sweep import Row

__all__ = ["SteerReproduction", "evaluate", "run", "simulate"]

simulate = engine(ServerResult)


class SteerReproduction(Reproduction[Evidence, Judgement[PublishedClaim]]):
    """The checks of claims, orderings, figures of the model, slowdowns and properties."""

    name, title, artefacts = "steer", "Packet-to-CPU steering", "artefacts"

    @cached_property
    def sweep(self) -> tuple[Row, ...]:
        """When separation with dynamic allocation pays."""
        return sweep.rows(self.evidence, self.checks.fidelity)

    @cached_property
    def _trips(self) -> set[str]:
        return {each.check.id for each in self.judgements if each.published.metric == "rtt"}

    def never(self, check: Check) -> bool:
        """Whether it is of a round trip, which is not simulated."""
        return check.id in self._trips

    def sentences(self) -> Iterator[str]:
        """Yield what came of it, a sentence for each kind of check."""
        statuses = [each.check.status for each in self.judgements]
        met, wrong, unknown = map(statuses.count, (Status.MET, Status.ARTEFACT, Status.NOT_CHECKABLE))
        yield (
            f"Of {len(statuses)} claims of the report {met} are met; {wrong} {be(wrong)} contradicted by the "
            f"report's own numbers; {unknown} cannot be checked, which are round trips"
        )
        if words := if_measured(trips_in_words, self.evidence):
            yield words
        yield self.met_of("order", "orderings", "hold")
        yield self.met_of("model", "figures of the lab's model", "are those of another simulation of it")
        yield self.met_of("slowdown", "slowdowns", "are those of another simulation")
        yield self.met_of("property", "properties", "hold")
        yield from self.missed_in_words()

    def simulated(self) -> Iterator[str]:
        """Yield how much was simulated."""
        yield f"{self.evidence.requests:,} requests"


evaluate = evaluator(
    SteerReproduction,
    Evidence,
    judge,
    (None, order_checks, cells.model_cells, cells.slowdown_cells, cells.property_cells),
)
"""Holds results against what was published; see `weir.reproduce.engine.document.evaluator`."""

run = Series(runs.plans, runs.SEED, partial(source, published.FILES), simulate, evaluate).run
"""Runs the reproduction: ``quick``, ``default`` or ``full`` have 1, 5 or 32 million requests for each
slowdown, and 16, 72 or 240 workloads in the sweep; see `weir.reproduce.engine.series.Series.run`."""
