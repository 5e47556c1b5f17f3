"""The reproduction as one HTML file: verdict, tables, experiments, claims, comparison, open points."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.reproduce.engine.checks import Status
from weir.reproduce.engine.page import (
    bar_cell,
    cell,
    cells,
    figure_sections,
    mark,
    number,
    row_name,
    shown,
    span,
    table_of,
    two_lines,
    value_cells,
)
from weir.reproduce.epoch.comparison import FIGURES, words
from weir.reproduce.epoch.figures import drawings
from weir.results.page import note

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from weir.reproduce.engine.checks import Check
    from weir.reproduce.engine.judgement import Judgement
    from weir.reproduce.epoch import EpochReproduction
    from weir.reproduce.epoch.comparison import Row, Rows
    from weir.reproduce.epoch.open_points import OpenPoint
    from weir.reproduce.epoch.published import PublishedClaim

_DIGITS = 6


def html(reproduction: EpochReproduction) -> str:
    """Return the document."""
    figures, of_kind = drawings(reproduction.evidence), reproduction.checks.of_kind
    missed = reproduction.of_status(Status.NOT_MET, Status.ARTEFACT, Status.NOT_CHECKABLE)
    claim = ("", "", "section", "claim, and how it is checked", "found", "bar")
    point = ("point", "what is open", "choice", "effect of another")
    sections = [
        ("What is not met, or cannot be checked", _values(missed, "published") if missed else ""),
        ("Tables 1 and 2", _values(of_kind("table"), "printed")),
        ("Numbers of the text", _values(of_kind("text"), "printed")),
        ("Experiments", _values(of_kind("experiment"), "expected")),
        ("Generator and sink in turn", _values(of_kind("rate"), "closed form")),
        *figure_sections(figures),
        ("Claims", table_of(claim, map(_claim, reproduction.judgements), text=6)),
        ("Compared with other disciplines", _comparison(reproduction.compared)),
        ("Open points", table_of(point, map(_open_point, reproduction.open_points), text=4)),
    ]
    return shown(reproduction, sections, figures)


def _values(checks: Iterable[Check], wanted: str) -> str:
    head = ("", "what", "unit, and how", wanted, "measured", "bar")
    return table_of(head, map(_listed, checks), text=3)


def _listed(check: Check) -> Iterator[str]:
    yield mark(check)
    yield row_name(check.id.partition("/")[2])
    yield cell(check.note, "text wrap")
    yield from value_cells(check.published, digits=_DIGITS)
    found = number(check.measured, _DIGITS)
    yield two_lines(found, span(check, _DIGITS), "text wrap" if isinstance(check.measured, str) else "")
    yield bar_cell(check)


def _claim(judgement: Judgement[PublishedClaim]) -> Iterator[str]:
    check, claim = judgement.check, judgement.published
    yield mark(check)
    yield from cells("text", claim.id, claim.section)
    yield two_lines(claim.text, claim.check, "text wrap")
    found = number(check.measured, _DIGITS) if judgement.parts else check.note
    yield from cells("text wrap", found, claim.expected)


def _comparison(compared: Rows) -> str:
    if not compared:
        return ""
    head = ("discipline", *(f"{name} ({kind.unit})" for name, kind in FIGURES.items()))
    below = note(
        "Means over random task sets with 95 % intervals, and below them the paired difference from epoch. "
        "Needs met: part of the epochs in which a process was ready throughout. Lacked: the most in an "
        "epoch. Late: responses of control tasks beyond their period; their worst response is over the "
        "period. Given: what processes run beyond their needs. Costs are zero."
    )
    return note(words(compared)) + table_of(head, map(_row, compared)) + below


def _row(row: Row) -> Iterator[str]:
    yield row_name(row.name)
    for name, kind in FIGURES.items():
        if name not in row.means:
            yield cell("n/a", title="the discipline does not tell kinds of time apart")
            continue
        yield two_lines(kind.shown(row.means[name]), kind.shown(row.differences[name], signed=True))


def _open_point(point: OpenPoint) -> Iterator[str]:
    yield row_name(point.number)
    yield from cells("text wrap", point.point, point.choice, point.effect)
