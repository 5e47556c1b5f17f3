"""The reproduction as one HTML file: verdict, claims, sensitivity, figures, tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.reproduce.dtable import published, runs
from weir.reproduce.dtable.evidence import NotMeasuredError
from weir.reproduce.dtable.figures import drawings
from weir.reproduce.dtable.published import CHANNELS
from weir.reproduce.dtable.sensitivity import SHOWN
from weir.reproduce.markup import (
    STYLE,
    bold_cell,
    cell,
    headline,
    mark,
    note,
    row_name,
    table_of,
    two_lines,
)
from weir.results.page import charts_of, drawn, page, section
from weir.text import plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from weir.reproduce.checks import Check
    from weir.reproduce.dtable.claims import Judgement
    from weir.reproduce.dtable.document import DtableReproduction
    from weir.reproduce.dtable.evidence import Figure, View
    from weir.reproduce.dtable.runs import Variant
    from weir.reproduce.dtable.sensitivity import Row

__all__ = ["html"]


def html(reproduction: DtableReproduction) -> str:
    """Return the document."""
    figures = drawings(reproduction.evidence)
    title = f"DTable and DRR, reproduced ({reproduction.checks.fidelity})"
    sections = [
        STYLE,
        headline("weir reproduction", title, reproduction.verdict(), _facts(reproduction)),
        section("What is not met", _missed(reproduction)),
        section("The claims of the text", _claims(reproduction)),
        section("What hangs on a choice", _sensitivity(reproduction)),
        section("Table 1", _table_1(reproduction)),
        section("Figure 1", _figure_1(reproduction)),
        *(section(figure.title, drawn(figure, index)) for index, figure in enumerate(figures)),
        section("Improvements in figures", _improvements(reproduction)),
        section("Other traffic, other shares", _listing(reproduction.checks.of_kind("variant"))),
        section("Beside a prototype", _prototype(reproduction)),
    ]
    return page(title, "".join(sections), charts_of(figures))


def _facts(reproduction: DtableReproduction) -> tuple[str, ...]:
    return (
        f"{plural(reproduction.met, 'check')} met",
        f"{reproduction.not_met:,} not met",
        f"{reproduction.artefact:,} artefact",
        f"{reproduction.not_checkable:,} not checkable",
        f"{reproduction.evidence.traversals:,} packets over links",
    )


def _missed(reproduction: DtableReproduction) -> str:
    missed = reproduction.missed()
    return _listing(missed) if missed else ""


def _listing(checks: Iterable[Check]) -> str:
    head = ("", "check, and what is claimed", "found", "note")
    return table_of(head, map(_listed, checks), text=4)


def _listed(check: Check) -> Iterator[str]:
    yield mark(check)
    yield two_lines(check.id, _number(check.published), "text wrap")
    interval = "" if check.ci95 is None else f"{check.ci95[0]:.4g} to {check.ci95[1]:.4g}"
    yield two_lines(_number(check.measured), interval, "text wrap")
    yield cell(check.note, "text wrap")


def _number(value: float | str | None) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value or "n/a")


# Claims, sensitivity.


def _claims(reproduction: DtableReproduction) -> str:
    head = ("", "", "section", "claim, and how it is checked", "found", "bar")
    words = note(
        "Under Poisson gaps with equal shares, the choices that the README gives; other traffic and shares "
        "stand below."
    )
    return words + table_of(head, map(_claim, reproduction.judgements), text=6)


def _claim(judgement: Judgement) -> Iterator[str]:
    check, claim = judgement.check, judgement.published
    yield mark(check)
    yield cell(claim.id, "text")
    yield cell(claim.section, "text")
    yield two_lines(claim.text, claim.check, "text wrap")
    yield cell(_number(check.measured) if judgement.parts else check.note, "text wrap")
    yield cell("; ".join(filter(None, (claim.expected, claim.tolerance))), "text wrap")


def _sensitivity(reproduction: DtableReproduction) -> str:
    words = note(
        "One choice changed at a time. By how much the mean latency under DTable is below that under DRR at "
        "load 0.9, "
        "in per cent of it, with 95 % intervals; below zero DTable is worse."
    )
    head = ("open point", "choice", *SHOWN, "remark")
    return table_of(head, map(_sensitive, reproduction.sensitivity), text=2) + words


def _sensitive(row: Row) -> Iterator[str]:
    yield row_name(row.point)
    yield cell(row.choice, "text wrap")
    for name in SHOWN:
        yield cell(_signed(row.figures[name]) if name in row.figures else "")
    yield cell(row.remark, "text wrap")


def _signed(figure: Figure) -> str:
    return f"{figure.value:+.1f} ± {(figure.ci95[1] - figure.ci95[0]) / 2:.1f}"


# Tables.


def _table_1(reproduction: DtableReproduction) -> str:
    by_id = {check.id: check for check in reproduction.checks.of_kind("table")}
    head = (
        "channel",
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
    words = note("Computed in bold, from k = 2, w = 4, 64 entries and an MTU of 32 credits; printed below.")
    return table_of(head, rows) + words


def _printed(check: Check | None) -> str:
    if check is None:
        return cell("")
    found, printed = (
        f"{value:g}" if isinstance(value, float) else str(value)
        for value in (check.measured, check.published)
    )
    return bold_cell(check, found, printed, check.note)


def _figure_1(reproduction: DtableReproduction) -> str:
    checks = list(reproduction.checks.of_kind("figure"))
    made = []
    for name in runs.SIZE_SETS:
        sizes = [f"{size} B" for size in runs.packet_sizes(name)]
        rows = (
            (
                row_name(role),
                *(_share(check) for check in checks if check.id.startswith(f"figure/1{name}/{role}/")),
            )
            for role in runs.TABLES
        )
        made.append(table_of(("table", *sizes), rows))
    words = note(
        "Shares of a saturated link with equal entries of 34 credits: simulated in bold, by the rule below. "
        "Only the "
        "deficit table gives each channel what is reserved."
    )
    return "".join(made) + words


def _share(check: Check) -> str:
    measured = f"{check.measured:.4f}" if isinstance(check.measured, float) else "n/a"
    beside = f"{check.published:.4f}" if isinstance(check.published, float) else ""
    return bold_cell(check, measured, beside, check.note)


# Improvements.


def _improvements(reproduction: DtableReproduction) -> str:
    return "".join(_of_variant(reproduction, variant) for variant in runs.VARIANTS)


def _of_variant(reproduction: DtableReproduction, variant: Variant) -> str:
    try:
        view = reproduction.evidence.network(variant)
    except NotMeasuredError:
        return ""
    rows = ((row_name(f"{load:g}"), *(_gain(view, load, name) for name in CHANNELS)) for load in view.loads)
    opened = " open" if variant == runs.MAIN else ""
    listed = table_of(("load", *CHANNELS), rows)
    summary = f"{variant.name}: improvement of DTable over DRR, mean latency with maximum latency below (%)"
    return f"<details{opened}><summary>{summary}</summary>\n{listed}</details>\n"


def _gain(view: View, load: float, name: str) -> str:
    try:
        mean, most = (view.improvement(load, name, statistic=each) for each in ("mean", "max"))
    except NotMeasuredError as missing:
        return cell("n/a", title=str(missing))
    return two_lines(_signed(mean), _signed(most))


def _prototype(reproduction: DtableReproduction) -> str:
    by_id = {check.id: check for check in reproduction.checks.of_kind("prototype")}
    loads = sorted({row.load for row in published.prototype()})
    rows = (
        (row_name(f"{load:g}"), *(_beside(by_id[f"prototype/{load:g}/{name}"]) for name in CHANNELS))
        for load in loads
    )
    words = note(
        "Improvement of the mean in per cent: ours in bold, another program's below, whose standard errors "
        "are not "
        "known. The sign alone is compared, and nothing was fitted to it."
    )
    return table_of(("load", *CHANNELS), rows) + words


def _beside(check: Check) -> str:
    measured = f"{check.measured:+.1f}" if isinstance(check.measured, float) else "n/a"
    beside = f"{check.published:+.0f}" if isinstance(check.published, float) else ""
    return bold_cell(check, measured, beside, check.note)
