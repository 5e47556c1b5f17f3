"""Reproduction ``alpha``: Section 15 of the alpha report, its claims, its figures, its fairness analysis.

Source: Cherkasova and Rokicki, "Alpha Message Scheduling for Packet-Switched Interconnects", Hewlett-Packard
Laboratories. Which choices the report leaves open, and how tolerances come about, is described in
``reproduce/alpha/README.md``. The work is ten runs, one a load, of 13 strategies on the same arrivals.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING

from weir.models.port.result import PortResult
from weir.reproduce.alpha import published, runs, table
from weir.reproduce.alpha.claims import Judgement, judge
from weir.reproduce.alpha.evidence import Evidence
from weir.reproduce.alpha.fairness import FAIRNESS_LOADS, FAMILY, fairness
from weir.reproduce.engine.checks import Status
from weir.reproduce.engine.document import Reproduction, evaluator
from weir.reproduce.engine.evidence import if_measured
from weir.reproduce.engine.series import Series, engine

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from weir.reproduce.alpha.fairness import Fairness
    from weir.reproduce.alpha.published import Load
    from weir.reproduce.alpha.runs import Plan

__all__ = ["AlphaReproduction", "evaluate", "run", "simulate"]

simulate = engine(PortResult)


class AlphaReproduction(Reproduction[Evidence, Judgement]):
    """The checks of published means, closed forms and claims."""

    name, title = "alpha", "Alpha message scheduling"

    @cached_property
    def fairness(self) -> tuple[Fairness, ...]:
        """Section 12: the extremes of the effective packet period, of every alpha at 50 % and 95 %."""
        found = (
            if_measured(fairness, self.evidence, load, strategy)
            for load in FAIRNESS_LOADS
            for strategy in FAMILY
        )
        return tuple(filter(None, found))

    def sentences(self) -> Iterator[str]:
        """Yield what came of it, a sentence for each kind of check."""
        words = self.met_of("table", "published means", "are met")
        words += self.counted(Status.ARTEFACT, "table", "are artefacts of the original's overflow")
        yield words + self.not_met_of("table")
        yield self._exact()
        yield self.claims_met()

    def _exact(self) -> str:
        measured, printed = "closed form", "published to closed form"
        made = sum(check.status != Status.NOT_CHECKABLE for check in self.checks.of_kind(measured))
        if not made:
            return "None of the closed forms could be checked"
        artefact = self.count(Status.ARTEFACT, printed)
        shown = f"{self.count(Status.MET, measured)} agree with what was measured"
        shown += f" and {self.count(Status.MET, printed)} with what was published"
        shown += f" ({artefact} artefacts)" if artefact else ""
        return f"Of {made} closed forms, {shown}"

    def simulated(self) -> Iterator[str]:
        """Yield how much was simulated, at all loads together."""
        packets = sum(map(self.packets, published.LOADS))
        yield f"{packets:,} packets for each of {len(published.STRATEGIES)} strategies"

    def packets(self, load: Load) -> int:
        """Return the packets simulated for each strategy at a load."""
        found = self.evidence.loads.get(load)
        return int(found.document["ticks"]) if found else 0


evaluate = evaluator(
    AlphaReproduction,
    partial(Evidence, level=table.LEVEL),
    judge,
    (table.cells, table.closed_forms, None),
    with_artefacts=table.artefacts,
)
"""Holds results of the ten loads, as parsed JSON, against what was published.

``with_artefacts`` is whether to show how the original's overflow explains the row of RR' at 97 %; see
`weir.reproduce.engine.document.evaluator`.
"""


def _source(plan: Plan) -> tuple[str, str]:
    """Return the scenario of a run, and the name under which errors speak of it."""
    return runs.scenario(plan), str(published.folder() / f"section15.toml ({plan.load} %)")


def _evaluate(results: Mapping[Plan, PortResult], **how: object) -> AlphaReproduction:
    return evaluate({plan.load: result.document for plan, result in results.items()}, **how)


run = Series(runs.plans, runs.SEED, _source, simulate, _evaluate).run
"""Runs the reproduction: ``quick`` has 3e8 packets in all, ``default`` 2e9, ``full`` at least the published
4.1e9. Each load has its own seed, counted from that of the reproduction. ``with_artefacts`` is that of
`evaluate`; see `weir.reproduce.engine.series.Series.run`."""
