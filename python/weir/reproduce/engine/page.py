"""A reproduction as one HTML file: its verdict, then the sections of the document, of tables and figures."""

from __future__ import annotations

from html import escape
from itertools import count
from typing import TYPE_CHECKING, Any

from weir.reproduce.engine.checks import Status
from weir.results.page import charts_of, drawn, long_section, page, section

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from weir.reproduce.engine.checks import Check
    from weir.reproduce.engine.document import Reproduction
    from weir.results.style import Figure

__all__ = [
    "KINDS",
    "MARKS",
    "STYLE",
    "bar_cell",
    "bold_cell",
    "cell",
    "cells",
    "figure_sections",
    "headline",
    "mark",
    "number",
    "row_name",
    "shown",
    "span",
    "table_of",
    "two_lines",
    "value_cells",
]

MARKS = {Status.MET: "✓", Status.NOT_MET: "✗", Status.ARTEFACT: "artefact", Status.NOT_CHECKABLE: "n/a"}
KINDS = {Status.MET: "ok", Status.NOT_MET: "bad", Status.ARTEFACT: "text", Status.NOT_CHECKABLE: "text"}

STYLE = (
    "<style>.cell b{font-weight:600}.cell small{display:block;opacity:.72;font-size:.78em}"
    ".wrap{white-space:normal;min-width:15rem}td,th{vertical-align:top}</style>\n"
)


def headline(kicker: str, title: str, verdict: str, facts: Iterable[str]) -> str:
    """Return the head of a page."""
    return (
        f'<header>\n<p class="kicker">{escape(kicker)}</p>\n<h1>{escape(title)}</h1>\n'
        f'<p class="verdict">{escape(verdict)}</p>\n'
        f'<p class="facts">{escape(" · ".join(facts))}</p>\n</header>\n'
    )


def cell(content: str, kind: str = "", title: str = "") -> str:
    """Return a cell; its content is text."""
    return _cell_of(escape(content), kind, title)


def _cell_of(markup: str, kind: str = "", title: str = "") -> str:
    hint = f' title="{escape(title)}"' if title else ""
    return f"<td{_class(kind)}{hint}>{markup}</td>"


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


def bold_cell(check: Check, measured: str, beside: str, title: str = "") -> str:
    """Return the measured value with its mark, and what cannot be combined with it below."""
    sign = f'<span class="{KINDS[check.status]}">{MARKS[check.status]}</span>'
    return _cell_of(f"<b>{escape(measured)}</b> {sign}<small>{escape(beside)}</small>", "cell", title)


def two_lines(content: str, below: str, kind: str = "") -> str:
    """Return a cell of text with smaller text below."""
    return _cell_of(f"{escape(content)}<small>{escape(below)}</small>", f"{kind} cell".strip())


def cells(kind: str, *contents: str) -> Iterable[str]:
    """Return cells of one kind, such as ``text``."""
    return (cell(content, kind) for content in contents)


def row_name(content: str) -> str:
    """Return the cell that names a row."""
    return f'<th scope="row" class="text">{escape(content)}</th>'


def mark(check: Check) -> str:
    """Return the cell that says what came of a check."""
    return cell(MARKS[check.status], KINDS[check.status])


def table_of(head: Iterable[str], rows: Iterable[Iterable[str]], *, text: int = 1) -> str:
    """Return a table of cells; the first ``text`` columns are words."""
    kinds = (_class("text" if column < text else "") for column in count())
    cells = "".join(
        f'<th scope="col"{kind}>{escape(name)}</th>' for name, kind in zip(head, kinds, strict=False)
    )
    body = "\n".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    return (
        f'<div class="wide"><div class="scroll" tabindex="0"><table><thead><tr>{cells}</tr></thead>\n'
        f"<tbody>{body}</tbody></table></div></div>\n"
    )


def number(value: float | str | None, digits: int = 4) -> str:
    """Return a value of a check."""
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value or "n/a")


def value_cells(*values: float | str | None, digits: int = 4) -> Iterable[str]:
    """Return cells of numbers, and of words where there are some."""
    return (cell(number(value, digits), "text wrap" if isinstance(value, str) else "") for value in values)


def bar_cell(check: Check) -> str:
    """Return the tolerance of a check."""
    return cell("" if check.tolerance is None else f"±{check.tolerance:.3g}")


def span(check: Check, digits: int = 4, unknown: str = "") -> str:
    """Return the 95 % interval of a check."""
    return unknown if check.ci95 is None else f"{check.ci95[0]:.{digits}g} to {check.ci95[1]:.{digits}g}"


# Whole pages.

_MOST_FIGURES = 3
"""Figures that are not folded."""

Section = tuple[str, str]
"""A title, and what stands below it; without content it is left out."""


def shown(
    reproduction: Reproduction[Any, Any],
    sections: Iterable[Section],
    figures: Sequence[Figure] = (),
    charts: dict[str, dict[str, Any]] | None = None,
) -> str:
    """Return the document, with the charts of figures or those given.

    Figures come first, of many the first of them, then what has tables; what is long is folded.
    """
    title = f"{reproduction.title}, reproduced ({reproduction.checks.fidelity})"
    head = headline("weir reproduction", title, reproduction.verdict(), reproduction.facts())
    listed = list(sections)
    drawings = [each for each in listed if "<figure>" in each[1]]
    body = "".join(
        [
            STYLE,
            head,
            *(section(*each, folded=place >= _MOST_FIGURES) for place, each in enumerate(drawings)),
            *(long_section(*each) for each in listed if each not in drawings),
        ]
    )
    return page(title, body, charts_of(figures) if charts is None else charts)


def figure_sections(figures: Sequence[Figure]) -> list[Section]:
    """Return a section for each figure."""
    return [(figure.title, drawn(figure, index)) for index, figure in enumerate(figures)]
