"""The reproduction as one HTML file: verdict, claims, sensitivity, figures, tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.reproduce.dtable import published, runs
from weir.reproduce.dtable.figures import drawings
from weir.reproduce.dtable.published import CHANNELS
from weir.reproduce.dtable.sensitivity import SHOWN
from weir.reproduce.engine.evidence import NotMeasuredError, if_measured
from weir.reproduce.engine.page import (
    bold_cell,
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
)
from weir.results.page import details, note

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from weir.reproduce.dtable import DtableReproduction
    from weir.reproduce.dtable.evidence import View
    from weir.reproduce.dtable.published import PublishedClaim
    from weir.reproduce.dtable.runs import Variant
    from weir.reproduce.dtable.sensitivity import Row
    from weir.reproduce.engine.checks import Check
    from weir.reproduce.engine.judgement import Judgement


def html(reproduction: DtableReproduction) -> str:
    """Return the document."""
    figures = drawings(reproduction.evidence)
    improvements = "".join(_improvements(reproduction, variant) for variant in runs.VARIANTS)
    sections = [
        ("What is not met", _listing(missed) if (missed := reproduction.missed()) else ""),
        ("The claims of the text", _claims(reproduction)),
        ("The effect of each choice", _sensitivity(reproduction)),
        ("Table 1", _table_1(reproduction)),
        ("Figure 1", _figure_1(reproduction)),
        *figure_sections(figures),
        ("Improvements in figures", improvements),
        ("Other traffic, other shares", _listing(reproduction.checks.of_kind("variant"))),
        ("Compared with a prototype", _prototype(reproduction)),
    ]
    return shown(reproduction, sections, figures)


def _listing(checks: Iterable[Check]) -> str:
    return table_of(("", "check, and what is claimed", "found", "note"), map(_listed, checks), text=4)


def _listed(check: Check) -> Iterator[str]:
    yield mark(check)
    yield two_lines(check.id, number(check.published), "text wrap")
    yield two_lines(number(check.measured), span(check), "text wrap")
    yield cell(check.note, "text wrap")


def _claims(reproduction: DtableReproduction) -> str:
    head = ("", "", "section", "claim, and how it is checked", "found", "bar")
    words = (
        "Under Poisson gaps with equal shares, the choices that the README gives; other traffic and shares "
        "stand below."
    )
    return note(words) + table_of(head, map(_claim, reproduction.judgements), text=6)


def _claim(judgement: Judgement[PublishedClaim]) -> Iterator[str]:
    check, claim = judgement.check, judgement.published
    yield mark(check)
    yield from cells("text", claim.id, claim.section)
    yield two_lines(claim.text, claim.check, "text wrap")
    bar = "; ".join(filter(None, (claim.expected, claim.tolerance)))
    yield from cells("text wrap", number(check.measured) if judgement.parts else check.note, bar)


def _sensitivity(reproduction: DtableReproduction) -> str:
    words = (
        "One choice changed at a time. By how much the mean latency under DTable is below that under DRR at "
        "load 0.9, in per cent of it, with 95 % intervals; below zero DTable is worse."
    )
    head = ("open point", "choice", *SHOWN, "remark")
    return table_of(head, map(_sensitive, reproduction.sensitivity), text=2) + note(words)


def _sensitive(row: Row) -> Iterator[str]:
    yield row_name(row.point)
    yield cell(row.choice, "text wrap")
    for name in SHOWN:
        yield cell(row.figures[name].signed(" ± ") if name in row.figures else "")
    yield cell(row.remark, "text wrap")


# Tables.


def _table_1(reproduction: DtableReproduction) -> str:
    by_id = reproduction.by_id("table")
    units = (
        "phi (%)",
        "entries",
        "(%)",
        "min phi (%)",
        "max phi (%)",
        "weight (cr)",
        "total (cr)",
        "quantum (cr)",
    )
    rows = (
        (row_name(name), *(_printed(by_id.get(f"table/1/{name}/{column}")) for column in published.COLUMNS))
        for name in (*CHANNELS, published.TOTAL)
    )
    words = "Computed in bold, from k = 2, w = 4, 64 entries and an MTU of 32 credits; printed below."
    return table_of(("channel", *units), rows) + note(words)


def _printed(check: Check | None) -> str:
    return cell("") if check is None else _both(check, "g", unknown=str(check.measured))


def _both(check: Check, found: str, printed: str | None = None, unknown: str = "n/a") -> str:
    """Return the measured value, and the published one below it, in these formats."""
    measured = f"{check.measured:{found}}" if isinstance(check.measured, float) else unknown
    beside = f"{check.published:{printed or found}}" if isinstance(check.published, float) else ""
    return bold_cell(check, measured, beside, check.note)


def _figure_1(reproduction: DtableReproduction) -> str:
    made = []
    for name, rows in reproduction.figure_1().items():
        sizes = (f"{size} B" for size in runs.packet_sizes(name))
        shares = ((row_name(role), *(_both(check, ".4f") for check in row)) for role, row in rows.items())
        made.append(table_of(("table", *sizes), shares))
    words = (
        "Shares of a saturated link with equal entries of 34 credits: simulated in bold, by the rule below. "
        "Only the deficit table gives each channel what is reserved."
    )
    return "".join(made) + note(words)


# Improvements.


def _improvements(reproduction: DtableReproduction, variant: Variant) -> str:
    view = if_measured(reproduction.evidence.network, variant)
    if view is None:
        return ""
    rows = ((row_name(f"{load:g}"), *(_gain(view, load, name) for name in CHANNELS)) for load in view.loads)
    summary = f"{variant.name}: improvement of DTable over DRR, mean latency with maximum latency below (%)"
    return details(summary, table_of(("load", *CHANNELS), rows), shown=variant == runs.MAIN)


def _gain(view: View, load: float, name: str) -> str:
    try:
        mean, most = (view.improvement(load, name, statistic=each) for each in ("mean", "max"))
    except NotMeasuredError as missing:
        return cell("n/a", title=str(missing))
    return two_lines(mean.signed(" ± "), most.signed(" ± "))


def _prototype(reproduction: DtableReproduction) -> str:
    by_id = reproduction.by_id("prototype")
    rows = (
        (
            row_name(f"{load:g}"),
            *(_both(by_id[f"prototype/{load:g}/{name}"], "+.1f", "+.0f") for name in CHANNELS),
        )
        for load in sorted({row.load for row in published.prototype()})
    )
    words = (
        "Improvement of the mean in per cent: ours in bold, another program's below, whose standard errors "
        "are not known. The sign alone is compared, and nothing was fitted to it."
    )
    return table_of(("load", *CHANNELS), rows) + note(words)
