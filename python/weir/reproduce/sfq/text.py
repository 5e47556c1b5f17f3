"""The reproduction as plain text of at most 110 columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.reproduce.engine.checks import Status
from weir.reproduce.engine.text import MARKS, cut, filled, limited, marked
from weir.reproduce.sfq import published
from weir.reproduce.sfq.cells import cell_id, summed_with

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weir.reproduce.engine.checks import Check
    from weir.reproduce.sfq import SfqReproduction
    from weir.reproduce.sfq.published import Row

_MOST_LISTED = 20


def blocks(reproduction: SfqReproduction) -> Iterator[list[str]]:
    """Yield what stands below the verdict."""
    yield [f"{'table':>5}  {'cells met':<22}  largest deviation, in tolerances", *_tables(reproduction)]
    by_id = reproduction.by_id("table")
    yield [
        "published and simulated: throughput in % of 1.344 Mb/s, delay in s (mean over seeds, 95 % interval)",
        f"{'T':>2} {'run':<7} {'stream':<20} {'interval':<9} {'throughput':<31} delay",
        *(_row(by_id, row) for row in published.rows()),
    ]
    yield ["claims of the text, as found", *_claims(reproduction)]
    yield _listed(reproduction, Status.ARTEFACT, "printed wrong in the report")
    yield _listed(reproduction, Status.NOT_MET, "not met, with the likely cause")


def _tables(reproduction: SfqReproduction) -> Iterator[str]:
    for table in published.TABLES:
        words, share = reproduction.tallied(str(table))
        yield f"{table:>5}  {words:<22}  {share}"


def _row(by_id: dict[str, Check], row: Row) -> str:
    interval = f"{row.start:g}-{row.end:g}"
    throughput = _cell(by_id[cell_id(row, "throughput")], 2) + (" sum" if summed_with(row) else "")
    delay = _cell(by_id[cell_id(row, "delay")], 4)
    return f"{row.table:>2} {row.run:<7} {row.stream:<20} {interval:<9} {throughput:<31} {delay}"


def _cell(check: Check, digits: int) -> str:
    printed = f"{check.published:.{digits}f}"
    if not isinstance(check.measured, float) or check.ci95 is None:
        return f"{printed} n/a"
    half = (check.ci95[1] - check.ci95[0]) / 2
    mark = "~~" if check.status == Status.ARTEFACT else MARKS[check.status]
    return f"{printed:>6} {check.measured:>6.{digits}f} ±{half:<6.{digits}f} {mark}"


def _claims(reproduction: SfqReproduction) -> Iterator[str]:
    for each in reproduction.judgements:
        claim, found = each.published, each.found or "n/a"
        yield cut(marked(each.check.status, f" {claim.id} {found:<12} {claim.section:<4} {claim.text}"))


def _listed(reproduction: SfqReproduction, status: Status, title: str) -> list[str]:
    found = [check for check in reproduction.of_status(status) if check.kind != "prediction"]
    return limited(title, [_fault(check) for check in found], _MOST_LISTED)


def _fault(check: Check) -> str:
    printed, simulated = (
        f"{value:.5g}" if isinstance(value, float) else str(value)
        for value in (check.published, check.measured)
    )
    facts = f" {check.id}: printed {printed}, simulated {simulated}; {check.note}"
    return filled(marked(check.status, facts), 4)
