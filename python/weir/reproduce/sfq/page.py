"""The reproduction as one HTML file: verdict, tables side by side, claims, graphs, predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.reproduce.checks import Status
from weir.reproduce.markup import STYLE, bold_cell, cell, headline, mark, note, row_name, table_of, two_lines
from weir.reproduce.sfq import published
from weir.reproduce.sfq.cells import cell_id, collides, summed_with
from weir.reproduce.sfq.evidence import NotMeasuredError
from weir.reproduce.sfq.figures import drawings
from weir.reproduce.sfq.published import TABLES
from weir.results.page import charts_of, drawn, page, section
from weir.text import plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from weir.reproduce.checks import Check
    from weir.reproduce.sfq.claims import Judgement
    from weir.reproduce.sfq.document import SfqReproduction
    from weir.reproduce.sfq.published import Row

__all__ = ["html"]

_READINGS = (
    "Perturbed runs are read in two ways. The tables take the maps that the delays of the report show, "
    "frozen into the routers: that is fitted. Below stands what random maps give, with nothing taken from "
    "the tables: that is a prediction, and the report one draw of it."
)


def html(reproduction: SfqReproduction) -> str:
    """Return the document."""
    figures = drawings(reproduction.evidence)
    title = f"Stochastic fairness queueing, reproduced ({reproduction.checks.fidelity})"
    sections = [
        STYLE,
        headline("weir reproduction", title, reproduction.verdict(), _facts(reproduction)),
        section("Table by table", _overview(reproduction)),
        section("What is not met", _missed(reproduction)),
        section("The claims of the text", _claims(reproduction)),
        *(section(figure.title, drawn(figure, index)) for index, figure in enumerate(figures)),
        section("Published and simulated", _tables(reproduction)),
        section("Random maps: a prediction", _predictions(reproduction)),
        section("Printed wrong", _artefacts(reproduction)),
    ]
    return page(title, "".join(sections), charts_of(figures))


def _facts(reproduction: SfqReproduction) -> tuple[str, ...]:
    return (
        f"{plural(reproduction.met, 'check')} met",
        f"{reproduction.not_met:,} not met",
        f"{reproduction.artefact:,} artefact",
        f"{reproduction.not_checkable:,} not checkable",
        f"{reproduction.evidence.packets:,} packets",
    )


def _overview(reproduction: SfqReproduction) -> str:
    rows = (
        (row_name(f"Table {table}"), cell(words), cell("n/a" if share is None else f"{share:.2f}"))
        for table, words, share in reproduction.rows_of_tables()
    )
    return table_of(("table", "cells met", "largest deviation, in tolerances"), rows) + note(
        "A cell is a throughput or a delay. Without a collision a throughput is held to 2 % and a delay to "
        "5 % or 8 ms; under FIFO, and where streams share a queue, a throughput to 10 % and a delay to 5 "
        "%. Means over the seeds; a published value is one run and may also lie within two standard "
        "deviations of the seeds."
    )


def _missed(reproduction: SfqReproduction) -> str:
    missed = [
        check
        for check in reproduction.checks.checks
        if check.status == Status.NOT_MET and check.kind != "prediction"
    ]
    return _listing(missed) if missed else ""


def _artefacts(reproduction: SfqReproduction) -> str:
    wrong = [
        check
        for check in reproduction.checks.checks
        if check.status == Status.ARTEFACT and check.kind in {"table", "offer"}
    ]
    words = (
        "What stood there before the fault, as the rest of the tables suggests, held against the simulation:"
    )
    explained = list(reproduction.checks.of_kind("artefact"))
    return _listing(wrong) + note(words) + _listing(explained)


def _listing(checks: Iterable[Check]) -> str:
    head = ("", "check", "published", "measured", "tolerance", "note")
    return table_of(head, map(_listed, checks), text=2)


def _listed(check: Check) -> Iterator[str]:
    yield mark(check)
    yield cell(check.id, "text wrap")
    for value in (check.published, check.measured, check.tolerance):
        yield cell(_number(value), "text wrap" if isinstance(value, str) else "")
    yield cell(check.note, "text wrap")


def _number(value: float | str | None) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value or "n/a")


def _claims(reproduction: SfqReproduction) -> str:
    words = note(
        "A mark says that a claim came out as the printed tables have it: borne out, contradicted, or "
        "partly so."
    )
    head = ("", "", "found", "section", "claim, and the printed tables below", "simulated")
    return words + table_of(head, map(_claim, reproduction.judgements), text=6)


def _claim(judgement: Judgement) -> Iterator[str]:
    check, claim = judgement.check, judgement.published
    yield mark(check)
    yield cell(claim.id, "text")
    yield cell(judgement.found or "n/a", "text")
    yield cell(claim.section, "text")
    yield two_lines(claim.text, claim.evidence, "text wrap")
    yield cell(_number(check.measured) if judgement.found else check.note, "text wrap")


def _tables(reproduction: SfqReproduction) -> str:
    by_id = {check.id: check for check in reproduction.checks.checks}
    words = note(
        "Simulated in bold with its mark, the published value below. Offer and throughput in % of 1.344 "
        "Mb/s, delay in s, its variance in s². ‡: the stream shares a queue; Σ: the sum of the two that "
        "share it is checked."
    )
    return words + "".join(_table(reproduction, by_id, number) for number in TABLES)


def _table(reproduction: SfqReproduction, by_id: dict[str, Check], number: int) -> str:
    rows = [row for row in published.rows() if row.table == number]
    spans = sorted({(row.start, row.end) for row in rows})
    span = ", ".join(f"{start:g} to {end:g} s" for start, end in spans)
    head = ("stream", "run", "discipline", "offer", "throughput", "delay", "variance")
    listed = table_of(head, (_row(reproduction, by_id, row) for row in rows), text=3)
    opened = " open" if number in {1, 2, 11} else ""
    return f"<details{opened}><summary>Table {number}: {span}</summary>\n{listed}</details>\n"


def _row(reproduction: SfqReproduction, by_id: dict[str, Check], row: Row) -> Iterator[str]:
    yield row_name(row.stream + (" ‡" if row.discipline != "fifo" and collides(row) else ""))
    yield cell(row.run, "text")
    yield cell(row.discipline.replace("_", ", "), "text")
    yield _value(by_id[cell_id(row, "offer").replace("table/", "offer/", 1)], 2, margin=False)
    summed = summed_with(row) is not None
    yield _value(by_id[cell_id(row, "throughput")], 2, "Σ " if summed else "")
    yield _value(by_id[cell_id(row, "delay")], 4)
    yield two_lines(_variance(reproduction, row), f"{row.variance:.5f}")


def _variance(reproduction: SfqReproduction, row: Row) -> str:
    try:
        return f"{reproduction.evidence.of_row(row, 'delay_variance').value:.5f}"
    except NotMeasuredError:
        return "n/a"


def _value(check: Check, digits: int, before: str = "", *, margin: bool = True) -> str:
    measured = f"{check.measured:.{digits}f}" if isinstance(check.measured, float) else "n/a"
    half = "" if check.ci95 is None or not margin else f" ±{(check.ci95[1] - check.ci95[0]) / 2:.{digits}f}"
    hint = (
        check.note
        if check.tolerance is None
        else f"tolerance {check.tolerance:.3g}; {check.note}".rstrip("; ")
    )
    printed = f"{check.published:.{digits}f}" if isinstance(check.published, float) else ""
    return bold_cell(check, before + measured + half, printed, hint)


def _predictions(reproduction: SfqReproduction) -> str:
    found = list(reproduction.checks.of_kind("prediction"))
    if not found:
        return ""
    rows = [
        (row, quantity)
        for row in published.rows()
        if row.discipline == "sfq_perturb"
        for quantity in ("throughput", "delay")
    ]
    listed = (_predicted(check, row, quantity) for check, (row, quantity) in zip(found, rows, strict=True))
    head = ("", "table", "run", "stream", "quantity", "published", "median", "95 % of the draws")
    return note(_READINGS) + table_of(head, listed, text=5)


def _predicted(check: Check, row: Row, quantity: str) -> Iterator[str]:
    yield mark(check)
    yield cell(f"{row.table}", "text")
    yield cell(row.run, "text")
    yield cell(row.stream, "text")
    yield cell(quantity, "text")
    yield cell(_number(check.published))
    yield cell(_number(check.measured))
    span = "n/a" if check.ci95 is None else f"{check.ci95[0]:.4g} to {check.ci95[1]:.4g}"
    yield cell(span, title=check.note)
