"""The reproduction as one HTML file: verdict, tables, experiments, claims, comparison, open points."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.reproduce.checks import Status
from weir.reproduce.epoch.comparison import FIGURES, words
from weir.reproduce.epoch.figures import drawings
from weir.reproduce.markup import STYLE, cell, headline, mark, note, row_name, table_of, two_lines
from weir.results.page import charts_of, drawn, page, section
from weir.text import plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from weir.reproduce.checks import Check
    from weir.reproduce.epoch.claims import Judgement
    from weir.reproduce.epoch.comparison import Row
    from weir.reproduce.epoch.document import EpochReproduction
    from weir.reproduce.epoch.open_points import OpenPoint

__all__ = ["html"]


def html(reproduction: EpochReproduction) -> str:
    """Return the document."""
    figures = drawings(reproduction.evidence)
    title = f"Epoch scheduling, reproduced ({reproduction.checks.fidelity})"
    of_kind = reproduction.checks.of_kind
    sections = [
        STYLE,
        headline("weir reproduction", title, reproduction.verdict(), _facts(reproduction)),
        section("What is not met, or cannot be checked", _missed(reproduction)),
        section("Tables 1 and 2", _values(of_kind("table"), "printed")),
        section("Numbers of the text", _values(of_kind("text"), "printed")),
        section("Experiments", _values(of_kind("experiment"), "expected")),
        section("Generator and sink in turn", _values(of_kind("rate"), "closed form")),
        *(section(figure.title, drawn(figure, index)) for index, figure in enumerate(figures)),
        section("Claims", _claims(reproduction)),
        section("Beside other disciplines", _comparison(reproduction)),
        section("Open points", _open_points(reproduction)),
    ]
    return page(title, "".join(sections), charts_of(figures))


def _facts(reproduction: EpochReproduction) -> tuple[str, ...]:
    return (
        f"{plural(reproduction.met, 'check')} met",
        f"{reproduction.not_met:,} not met",
        f"{reproduction.artefact:,} artefact",
        f"{reproduction.not_checkable:,} not checkable",
        f"{reproduction.evidence.seconds:,.0f} simulated seconds",
        f"{reproduction.evidence.schedulings:,} schedulings",
    )


def _missed(reproduction: EpochReproduction) -> str:
    missed = [check for check in reproduction.checks.checks if check.status != Status.MET]
    return _values(missed, "published") if missed else ""


def _values(checks: Iterable[Check], wanted: str) -> str:
    head = ("", "what", "unit, and how", wanted, "measured", "bar")
    return table_of(head, map(_listed, checks), text=3)


def _listed(check: Check) -> Iterator[str]:
    yield mark(check)
    yield row_name(check.id.partition("/")[2])
    yield cell(check.note, "text wrap")
    yield cell(_number(check.published), "text wrap" if isinstance(check.published, str) else "")
    interval = "" if check.ci95 is None else f"{check.ci95[0]:.6g} to {check.ci95[1]:.6g}"
    yield two_lines(_number(check.measured), interval, "text wrap" if isinstance(check.measured, str) else "")
    yield cell("" if check.tolerance is None else f"±{check.tolerance:.3g}")


def _number(value: float | str | None) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value or "n/a")


def _claims(reproduction: EpochReproduction) -> str:
    head = ("", "", "section", "claim, and how it is checked", "found", "bar")
    return table_of(head, map(_claim, reproduction.judgements), text=6)


def _claim(judgement: Judgement) -> Iterator[str]:
    check, claim = judgement.check, judgement.published
    yield mark(check)
    yield cell(claim.id, "text")
    yield cell(claim.section, "text")
    yield two_lines(claim.text, claim.check, "text wrap")
    yield cell(_number(check.measured) if judgement.parts else check.note, "text wrap")
    yield cell(claim.expected, "text wrap")


def _comparison(reproduction: EpochReproduction) -> str:
    compared = reproduction.compared
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


def _open_points(reproduction: EpochReproduction) -> str:
    head = ("point", "what is open", "choice", "effect of another")
    return table_of(head, map(_open_point, reproduction.open_points), text=4)


def _open_point(point: OpenPoint) -> Iterator[str]:
    yield row_name(point.number)
    yield cell(point.point, "text wrap")
    yield cell(point.choice, "text wrap")
    yield cell(point.effect, "text wrap")
