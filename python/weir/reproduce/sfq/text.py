"""The reproduction as plain text of at most 110 columns."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

from weir.reproduce.checks import Status
from weir.reproduce.sfq import published
from weir.reproduce.sfq.cells import cell_id, summed_with

if TYPE_CHECKING:
    from weir.reproduce.checks import Check
    from weir.reproduce.sfq.document import SfqReproduction
    from weir.reproduce.sfq.published import Row

__all__ = ["text"]

_WIDTH = 110
_MARKS = {Status.MET: "OK", Status.NOT_MET: "!!", Status.ARTEFACT: "artefact", Status.NOT_CHECKABLE: "n/a"}
_MOST_LISTED = 20


def text(reproduction: SfqReproduction) -> str:
    """Return the whole text, the verdict first."""
    blocks = [
        [fill(f"sfq, {reproduction.checks.fidelity}: {reproduction.verdict()}", _WIDTH)],
        _tables(reproduction),
        _cells(reproduction),
        _claims(reproduction),
        _listed(reproduction, Status.ARTEFACT, "printed wrong in the report"),
        _listed(reproduction, Status.NOT_MET, "not met, with the likely cause"),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _tables(reproduction: SfqReproduction) -> list[str]:
    lines = [f"{'table':>5}  {'cells met':<22}  largest deviation, in tolerances"]
    for table, words, share in reproduction.rows_of_tables():
        lines.append(f"{table:>5}  {words:<22}  {'n/a' if share is None else f'{share:.2f}'}")
    return lines


def _cells(reproduction: SfqReproduction) -> list[str]:
    """Return all rows, published beside simulated."""
    by_id = {check.id: check for check in reproduction.checks.of_kind("table")}
    lines = [
        "published and simulated: throughput in % of 1.344 Mb/s, delay in s (mean over seeds, 95 % interval)",
        f"{'T':>2} {'run':<7} {'stream':<20} {'interval':<9} {'throughput':<31} delay",
    ]
    return [*lines, *(_row(by_id, row) for row in published.rows())]


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
    mark = {"artefact": "~~"}.get(_MARKS[check.status], _MARKS[check.status])
    return f"{printed:>6} {check.measured:>6.{digits}f} ±{half:<6.{digits}f} {mark}"


def _claims(reproduction: SfqReproduction) -> list[str]:
    lines = ["claims of the text, as found"]
    for judgement in reproduction.judgements:
        claim, check = judgement.published, judgement.check
        found = judgement.found or "n/a"
        lines.append(
            _cut(f"{_MARKS[check.status]:<3} {claim.id} {found:<12} {claim.section:<4} {claim.text}")
        )
    return lines


def _listed(reproduction: SfqReproduction, status: Status, title: str) -> list[str]:
    found = [
        check for check in reproduction.checks.checks if check.status == status and check.kind != "prediction"
    ]
    if not found:
        return []
    lines = [title]
    for check in found[:_MOST_LISTED]:
        printed, simulated = _shown(check.published), _shown(check.measured)
        facts = f"{_MARKS[status]:<3} {check.id}: printed {printed}, simulated {simulated}; {check.note}"
        lines.append(fill(facts, _WIDTH, subsequent_indent="    "))
    return [*lines, f"and {len(found) - _MOST_LISTED} more"] if len(found) > _MOST_LISTED else lines


def _cut(line: str) -> str:
    return line if len(line) <= _WIDTH else line[: _WIDTH - 4] + " ..."


def _shown(value: float | str | None) -> str:
    return f"{value:.5g}" if isinstance(value, float) else str(value)
