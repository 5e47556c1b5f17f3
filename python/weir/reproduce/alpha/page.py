"""The reproduction as one HTML file: verdict, tables side by side, claims, figures, fairness."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from weir.reproduce.alpha import published
from weir.reproduce.alpha.figures import drawings
from weir.reproduce.alpha.published import LOADS, QUANTITIES, STRATEGIES, Load
from weir.reproduce.checks import Status
from weir.reproduce.markup import STYLE, bold_cell, cell, headline, mark, note, row_name, table_of
from weir.results.page import page, section
from weir.text import plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from weir.reproduce.alpha.document import AlphaReproduction
    from weir.reproduce.alpha.fairness import Fairness
    from weir.reproduce.alpha.figures import Drawing
    from weir.reproduce.alpha.judgement import Judgement
    from weir.reproduce.checks import Check

__all__ = ["html"]

_OPEN = Load("95")


def html(reproduction: AlphaReproduction) -> str:
    """Return the document."""
    drawn = drawings(reproduction.evidence)
    title = f"Alpha message scheduling, reproduced ({reproduction.checks.fidelity})"
    sections = [
        STYLE,
        headline("weir reproduction", title, reproduction.verdict(), _facts(reproduction)),
        section("Load by load", _loads(reproduction)),
        section("The claims of the text", _claims(reproduction)),
        *(section(drawing.title, _figure(drawing)) for drawing in drawn),
        section("Fairness", _fairness(reproduction)),
        section("Published, measured, exact", _tables(reproduction)),
        section("The overflow of the original", _artefacts(reproduction)),
        section("What is not met", _missed(reproduction)),
    ]
    return page(title, "".join(sections), {drawing.id: drawing.spec for drawing in drawn})


def _facts(reproduction: AlphaReproduction) -> tuple[str, ...]:
    return (
        f"{plural(reproduction.met, 'check')} met",
        f"{reproduction.not_met:,} not met",
        f"{reproduction.artefact:,} artefact",
        f"{reproduction.not_checkable:,} not checkable",
        f"{reproduction.packets:,} packets for each of {len(STRATEGIES)} strategies",
    )


def _loads(reproduction: AlphaReproduction) -> str:
    rows = (
        (row_name(f"{load} %"), *map(cell, (f"{packets:,}", met, _two_digits(share))))
        for load, packets, met, share in reproduction.rows_of_loads()
    )
    head = ("load", "packets simulated", "means met", "largest deviation, in tolerances")
    return table_of(head, rows) + note(
        "The tolerance of a mean comes from the standard errors of both runs and the rounding of print; a "
        "deviation of more than 1.00 tolerances is not met. The chance of any false alarm over all checks is "
        "below 1 %."
    )


def _two_digits(share: float | None) -> str:
    return "n/a" if share is None else f"{share:.2f}"


def _claims(reproduction: AlphaReproduction) -> str:
    legend = note(
        "A mark says that a claim came out as its record has it, as agreeing or as contradicted. A claim "
        "is called contradicted only if noise cannot explain it."
    )
    head = ("", "found", "section", "claim", "claimed", "measured")
    return legend + table_of(head, map(_claim, reproduction.judgements), text=6)


def _claim(judgement: Judgement) -> Iterator[str]:
    check, row = judgement.check, judgement.published
    yield mark(check)
    yield cell(judgement.found or "n/a", "text")
    yield cell(row.section, "text")
    yield cell(row.text, "text wrap")
    yield cell(row.claimed, "text wrap")
    yield cell(_number(check.measured), "text wrap", check.note)


def _figure(drawing: Drawing) -> str:
    legend = "" if drawing.id == "fairness" else " Lines are measured, rings are published."
    return (
        f'<figure><div class="panels"><div class="panel"><div class="chart" id="{drawing.id}" role="img" '
        f'aria-label="{escape(drawing.title)}"></div></div></div>'
        f"<figcaption>{escape(drawing.caption + legend)}</figcaption></figure>\n"
    )


def _fairness(reproduction: AlphaReproduction) -> str:
    head = (
        "load",
        "strategy",
        "smallest period",
        "length",
        "largest period",
        "length",
        "range",
        "average latency",
    )
    return table_of(head, map(_fairness_row, reproduction.fairness), text=2) if reproduction.fairness else ""


def _fairness_row(row: Fairness) -> Iterator[str]:
    yield row_name(f"{row.load} %")
    yield cell(row.strategy, "text")
    for period, length in ((row.smallest, row.smallest_length), (row.largest, row.largest_length)):
        yield cell(f"{period:.3f}")
        yield cell(str(length))
    yield cell(f"{row.range:.3f}")
    yield cell(f"{row.average:.2f}")


def _tables(reproduction: AlphaReproduction) -> str:
    by_id = {check.id: check for check in reproduction.checks.of_kind("table")}
    words = (
        "Measured in bold with its mark; below it the published value and, where there is one, the exact one."
    )
    return note(words) + "".join(_load_table(by_id, load) for load in LOADS)


def _load_table(by_id: dict[str, Check], load: Load) -> str:
    rows = (
        (row_name(strategy), *(_mean(by_id, load, strategy, quantity) for quantity in QUANTITIES))
        for strategy in STRATEGIES
    )
    opened = " open" if load == _OPEN else ""
    table = table_of(("strategy", *QUANTITIES), rows)
    return f"<details{opened}><summary>{load} %</summary>\n{table}</details>\n"


def _mean(by_id: dict[str, Check], load: Load, strategy: str, quantity: str) -> str:
    check = by_id[f"table/{load}/{strategy}/{quantity}"]
    exact = published.exact().get((load, strategy, quantity))
    beside = f"{check.published:.2f}" + (f" · {exact:.3f}" if exact is not None else "")
    measured = f"{check.measured:.3f}" if isinstance(check.measured, float) else ""
    return bold_cell(check, measured, beside, _hint(check))


def _hint(check: Check) -> str:
    if check.ci95 is None or check.tolerance is None:
        return check.note
    words = f"95 % interval {check.ci95[0]:.4g} to {check.ci95[1]:.4g}, tolerance {check.tolerance:.3g}"
    return f"{words}; {check.note}" if check.note else words


def _checks_table(checks: Iterable[Check]) -> str:
    head = ("", "check", "published", "measured", "tolerance", "note")
    return table_of(head, map(_check_row, checks), text=2)


def _check_row(check: Check) -> Iterator[str]:
    yield mark(check)
    yield cell(check.id, "text")
    for value in (check.published, check.measured, check.tolerance):
        yield cell(_number(value))
    yield cell(check.note, "text wrap")


def _number(value: float | str | None) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value or "n/a")


def _artefacts(reproduction: AlphaReproduction) -> str:
    checks = list(reproduction.checks.of_kind("artefact"))
    if not checks:
        return ""
    words = (
        "The original counts packets in a 32-bit integer. The 97 % run alone is longer than 2^31 packets: "
        "its counter became negative, new messages no longer went ahead of anything, and RR' was RR for the "
        "rest. Both measured means, mixed in that proportion, give the published row."
    )
    return f"<p>{escape(words)}</p>\n" + _checks_table(checks)


def _missed(reproduction: AlphaReproduction) -> str:
    missed = [check for check in reproduction.checks.checks if check.status == Status.NOT_MET]
    return _checks_table(missed) if missed else ""
