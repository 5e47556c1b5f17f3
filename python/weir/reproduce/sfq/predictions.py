"""Perturbed runs as a prediction: what random maps give, with no map taken from the tables.

Under perturbation the map in force when congestion begins stays for the rest of the run, at each interface
by itself; it is chance which streams collide. The report shows one draw of each experiment. A printed value
agrees with the prediction if it lies within the range of the draws, widened by the bar of a cell without
collision.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.reproduce.checks import Check, Status
from weir.reproduce.sfq import published
from weir.reproduce.sfq.cells import bar_without_collision, cell_id
from weir.reproduce.sfq.evidence import NotMeasuredError
from weir.reproduce.sfq.published import ARTEFACTS, QUANTITIES
from weir.reproduce.sfq.runs import RUNS

if TYPE_CHECKING:
    from weir.reproduce.sfq.evidence import Evidence
    from weir.reproduce.sfq.published import Row

__all__ = ["predictions"]


def predictions(evidence: Evidence) -> list[Check]:
    """Return a check for each throughput and delay of the perturbed runs."""
    perturbed = [row for row in published.rows() if row.discipline == "sfq_perturb"]
    return [_prediction(evidence, row, quantity) for row in perturbed for quantity in QUANTITIES]


def _prediction(evidence: Evidence, row: Row, quantity: str) -> Check:
    printed: float = getattr(row, quantity)
    name = cell_id(row, quantity).replace("table/", "prediction/", 1)
    try:
        drawn = evidence.drawn(RUNS[row.run].experiment, row.stream, (row.start, row.end), quantity)
    except NotMeasuredError as missing:
        return Check.missing(name, "prediction", printed, missing)
    low, high = drawn.range
    bar = bar_without_collision(row, quantity)
    status = Status.MET if low - bar <= printed <= high + bar else Status.NOT_MET
    artefact = ARTEFACTS.get((row.table, row.run, row.stream, quantity))
    if artefact is not None:
        status = Status.ARTEFACT
    return Check(
        id=name,
        kind="prediction",
        published=printed,
        measured=drawn.quantile(0.5),
        ci95=(drawn.quantile(0.025), drawn.quantile(0.975)),
        status=status,
        note=artefact.reason if artefact else f"{len(drawn.values)} draws from {low:.4g} to {high:.4g}",
    )
