"""The reproduction as one HTML file: verdict, tables side by side, claims, figures, fairness."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from weir.reproduce.alpha import published
from weir.reproduce.alpha.figures import drawings
from weir.reproduce.alpha.published import LOADS, QUANTITIES, STRATEGIES, Load
from weir.reproduce.engine.page import (
    bold_cell,
    cell,
    cells,
    mark,
    number,
    row_name,
    shown,
    span,
    table_of,
)
from weir.results.page import details, note

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from weir.reproduce.alpha import AlphaReproduction
    from weir.reproduce.alpha.claims import Judgement
    from weir.reproduce.alpha.fairness import Fairness
    from weir.reproduce.alpha.figures import Drawing
    from weir.reproduce.engine.checks import Check

_OPEN = Load("95")


def html(reproduction: AlphaReproduction) -> str:
    """Return the document."""
    drawn = drawings(reproduction)
    sections = [
        ("Load by load", _loads(reproduction)),
        ("The claims of the text", _claims(reproduction)),
        *((drawing.title, _figure(drawing)) for drawing in drawn),
        ("Fairness", _fairness(reproduction)),
        ("Published, measured, exact", _tables(reproduction)),
        ("The overflow of the original", _artefacts(reproduction)),
        ("What is not met", _checks_table(missed) if (missed := reproduction.missed()) else ""),
    ]
    return shown(reproduction, sections, charts={drawing.id: drawing.spec for drawing in drawn})


def _loads(reproduction: AlphaReproduction) -> str:
    head = ("load", "packets simulated", "means met", "largest deviation, in tolerances")
    return table_of(head, (_load(reproduction, load) for load in LOADS)) + note(
        "The tolerance of a mean comes from the standard errors of both runs and the rounding of print; a "
        "deviation of more than 1.00 tolerances is not met. The chance of any false alarm over all checks is "
        "below 1 %."
    )


def _load(reproduction: AlphaReproduction, load: Load) -> Iterator[str]:
    met, share = reproduction.tallied(load)
    yield row_name(f"{load} %")
    yield from cells("", f"{reproduction.packets(load):,}", met, share)


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
    yield from cells("text", judgement.found or "n/a", row.section)
    yield from cells("text wrap", row.text, row.claimed)
    yield cell(number(check.measured), "text wrap", check.note)


def _figure(drawing: Drawing) -> str:
    legend = "" if drawing.id == "fairness" else " Lines are measured, rings are published."
    return (
        f'<figure><div class="panels"><div class="panel"><div class="chart" id="{drawing.id}" role="img" '
        f'aria-label="{escape(drawing.title)}"></div></div></div>'
        f"<figcaption>{escape(drawing.caption + legend)}</figcaption></figure>\n"
    )


def _fairness(reproduction: AlphaReproduction) -> str:
    periods = ("smallest period", "length", "largest period", "length")
    head = ("load", "strategy", *periods, "range", "average latency")
    return table_of(head, map(_fairness_row, reproduction.fairness), text=2) if reproduction.fairness else ""


def _fairness_row(row: Fairness) -> Iterator[str]:
    yield row_name(f"{row.load} %")
    yield cell(row.strategy, "text")
    for period, length in ((row.smallest, row.smallest_length), (row.largest, row.largest_length)):
        yield from cells("", f"{period:.3f}", str(length))
    yield from cells("", f"{row.range:.3f}", f"{row.average:.2f}")


def _tables(reproduction: AlphaReproduction) -> str:
    by_id = reproduction.by_id("table")
    words = (
        "Measured in bold with its mark; below it the published value and, where there is one, the exact one."
    )
    return note(words) + "".join(_load_table(by_id, load) for load in LOADS)


def _load_table(by_id: dict[str, Check], load: Load) -> str:
    rows = (
        (row_name(strategy), *(_mean(by_id, load, strategy, quantity) for quantity in QUANTITIES))
        for strategy in STRATEGIES
    )
    return details(f"{load} %", table_of(("strategy", *QUANTITIES), rows), shown=load == _OPEN)


def _mean(by_id: dict[str, Check], load: Load, strategy: str, quantity: str) -> str:
    check = by_id[f"table/{load}/{strategy}/{quantity}"]
    exact = published.exact().get((load, strategy, quantity))
    beside = f"{check.published:.2f}" + (f" · {exact:.3f}" if exact is not None else "")
    measured = f"{check.measured:.3f}" if isinstance(check.measured, float) else ""
    return bold_cell(check, measured, beside, _hint(check))


def _hint(check: Check) -> str:
    if check.ci95 is None or check.tolerance is None:
        return check.note
    words = f"95 % interval {span(check)}, tolerance {check.tolerance:.3g}"
    return f"{words}; {check.note}" if check.note else words


def _checks_table(checks: Iterable[Check]) -> str:
    head = ("", "check", "published", "measured", "tolerance", "note")
    return table_of(head, map(_check_row, checks), text=2)


def _check_row(check: Check) -> Iterator[str]:
    yield mark(check)
    yield cell(check.id, "text")
    yield from cells("", *map(number, (check.published, check.measured, check.tolerance)))
    yield cell(check.note, "text wrap")


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
