"""The reproduction as one HTML file: verdict, tables side by side, claims, figures, fairness."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from weir.report import page
from weir.reproduce.alpha import published
from weir.reproduce.alpha.figures import drawings
from weir.reproduce.alpha.published import LOADS, QUANTITIES, STRATEGIES, Load
from weir.reproduce.checks import Status

if TYPE_CHECKING:
    from collections.abc import Iterable

    from weir.reproduce.alpha.document import AlphaReproduction
    from weir.reproduce.alpha.figures import Drawing
    from weir.reproduce.checks import Check

__all__ = ["html"]

_MARKS = {Status.MET: "✓", Status.NOT_MET: "✗", Status.ARTEFACT: "artefact", Status.NOT_CHECKABLE: "n/a"}
_KINDS = {Status.MET: "ok", Status.NOT_MET: "bad", Status.ARTEFACT: "text", Status.NOT_CHECKABLE: "text"}
_OPEN = Load("95")
_STYLE = "<style>.cell b{font-weight:600}.cell small{display:block;opacity:.72;font-size:.78em}.wrap{white-space:normal}</style>\n"


def html(reproduction: AlphaReproduction) -> str:
    """Return the document."""
    drawn = drawings(reproduction.evidence)
    title = f"Alpha message scheduling, reproduced ({reproduction.checks.fidelity})"
    sections = [
        _STYLE,
        _headline(reproduction, title),
        _section("Load by load", _loads(reproduction)),
        _section("The claims of the text", _claims(reproduction)),
        *(_section(drawing.title, _figure(drawing)) for drawing in drawn),
        _section("Fairness", _fairness(reproduction)),
        _section("Published, measured, exact", _tables(reproduction)),
        _section("The overflow of the original", _artefacts(reproduction)),
        _section("What is not met", _missed(reproduction)),
    ]
    return page(title, "".join(sections), {drawing.id: drawing.spec for drawing in drawn})


def _section(title: str, content: str) -> str:
    return f"<section>\n<h2>{escape(title)}</h2>\n{content}</section>\n" if content else ""


def _headline(reproduction: AlphaReproduction, title: str) -> str:
    facts = (
        f"{reproduction.met:,} checks met · {reproduction.not_met:,} not met · {reproduction.artefact:,} artefact · "
        f"{reproduction.not_checkable:,} not checkable · {reproduction.packets:,} packets for each of 13 strategies"
    )
    return (
        f'<header>\n<p class="kicker">weir reproduction</p>\n<h1>{escape(title)}</h1>\n'
        f'<p class="verdict">{escape(reproduction.verdict())}</p>\n<p class="facts">{escape(facts)}</p>\n</header>\n'
    )


def _table(head: Iterable[str], rows: Iterable[str], *, text: int = 1) -> str:
    cells = "".join(f'<th scope="col"{_text(i < text)}>{escape(name)}</th>' for i, name in enumerate(head))
    body = "\n".join(f"<tr>{row}</tr>" for row in rows)
    return f'<div class="scroll" tabindex="0"><table><thead><tr>{cells}</tr></thead>\n<tbody>{body}</tbody></table></div>\n'


def _text(is_text: bool) -> str:
    return ' class="text"' if is_text else ""


def _loads(reproduction: AlphaReproduction) -> str:
    rows = (
        f'<th scope="row" class="text">{load} %</th><td>{packets:,}</td><td>{met} of {total}</td>'
        f"<td>{'n/a' if share is None else f'{share:.2f}'}</td>"
        for load, packets, met, total, share in reproduction.rows_of_loads()
    )
    note = (
        "The tolerance of a mean comes from the standard errors of both runs and the rounding of print; a deviation of "
        "more than 1.00 tolerances is not met. The chance of any false alarm over all checks is below 1 %."
    )
    head = ("load", "packets simulated", "means met", "largest deviation, in tolerances")
    return _table(head, rows) + f'<p class="note">{escape(note)}</p>\n'


def _claims(reproduction: AlphaReproduction) -> str:
    rows = []
    for judgement in reproduction.judgements:
        check, row = judgement.check, judgement.published
        measured = (
            f"{check.measured:.4g}" if isinstance(check.measured, float) else str(check.measured or "n/a")
        )
        rows.append(
            f'<td class="{_KINDS[check.status]}">{_MARKS[check.status]}</td><td class="text">{escape(judgement.found or "n/a")}</td>'
            f'<td class="text">{escape(row.section)}</td><td class="text wrap">{escape(row.text)}</td>'
            f'<td class="text wrap">{escape(row.claimed)}</td><td class="text wrap" title="{escape(check.note)}">{escape(measured)}</td>'
        )
    note = (
        "A mark says that a claim came out as its record has it, be it as agreeing or as contradicted. A claim is called "
        "contradicted only if noise cannot explain it."
    )
    head = ("", "found", "section", "claim", "claimed", "measured")
    return f'<p class="note">{escape(note)}</p>\n' + _table(head, rows, text=6)


def _figure(drawing: Drawing) -> str:
    return (
        f'<figure><div class="panels"><div class="panel"><div class="chart" id="{drawing.id}" role="img" '
        f'aria-label="{escape(drawing.title)}"></div></div></div><figcaption>{escape(drawing.caption)} '
        f"{'' if drawing.id == 'fairness' else 'Lines are measured, rings are published.'}</figcaption></figure>\n"
    )


def _fairness(reproduction: AlphaReproduction) -> str:
    rows = [
        f'<th scope="row" class="text">{row.load} %</th><td class="text">{escape(row.strategy)}</td><td>{row.smallest:.3f}</td>'
        f"<td>{row.smallest_length}</td><td>{row.largest:.3f}</td><td>{row.largest_length}</td><td>{row.range:.3f}</td>"
        f"<td>{row.average:.2f}</td>"
        for row in reproduction.fairness
    ]
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
    return _table(head, rows, text=2) if rows else ""


def _tables(reproduction: AlphaReproduction) -> str:
    by_id = {check.id: check for check in reproduction.checks.of_kind("table")}
    note = "Each cell: measured in bold with its mark, below it the published value and, where there is one, the exact one."
    return f'<p class="note">{note}</p>\n' + "".join(_load_table(by_id, load) for load in LOADS)


def _load_table(by_id: dict[str, Check], load: Load) -> str:
    rows = (
        f'<th scope="row" class="text">{escape(strategy)}</th>'
        + "".join(_cell(by_id, load, strategy, each) for each in QUANTITIES)
        for strategy in STRATEGIES
    )
    opened = " open" if load == _OPEN else ""
    return (
        f"<details{opened}><summary>{load} %</summary>\n{_table(('strategy', *QUANTITIES), rows)}</details>\n"
    )


def _cell(by_id: dict[str, Check], load: Load, strategy: str, quantity: str) -> str:
    check = by_id[f"table/{load}/{strategy}/{quantity}"]
    exact = published.exact().get((load, strategy, quantity))
    beside = f"{check.published:.2f}" + (f" · {exact:.3f}" if exact is not None else "")
    measured = f"{check.measured:.3f}" if isinstance(check.measured, float) else "n/a"
    mark = f'<span class="{_KINDS[check.status]}">{_MARKS[check.status]}</span>'
    return f'<td class="cell" title="{escape(_hint(check))}"><b>{measured}</b> {mark}<small>{beside}</small></td>'


def _hint(check: Check) -> str:
    if check.ci95 is None or check.tolerance is None:
        return check.note
    words = f"95 % interval {check.ci95[0]:.4g} to {check.ci95[1]:.4g}, tolerance {check.tolerance:.3g}"
    return f"{words}; {check.note}" if check.note else words


def _checks_table(checks: list[Check]) -> str:
    rows = (
        f'<td class="{_KINDS[check.status]}">{_MARKS[check.status]}</td><td class="text">{escape(check.id)}</td>'
        f"<td>{_number(check.published)}</td><td>{_number(check.measured)}</td><td>{_number(check.tolerance)}</td>"
        f'<td class="text wrap">{escape(check.note)}</td>'
        for check in checks
    )
    return _table(("", "check", "published", "measured", "tolerance", "note"), rows, text=2)


def _number(value: float | str | None) -> str:
    return f"{value:.4g}" if isinstance(value, float) else escape(str(value or "n/a"))


def _artefacts(reproduction: AlphaReproduction) -> str:
    checks = list(reproduction.checks.of_kind("artefact"))
    if not checks:
        return ""
    words = (
        "The original counts packets in a 32-bit integer. The 97 % run alone is longer than 2^31 packets: its counter "
        "became negative, new messages no longer went ahead of anything, and RR' was RR for the rest. Both measured "
        "means, mixed in that proportion, give the published row."
    )
    return f"<p>{escape(words)}</p>\n" + _checks_table(checks)


def _missed(reproduction: AlphaReproduction) -> str:
    missed = [check for check in reproduction.checks.checks if check.status == Status.NOT_MET]
    return _checks_table(missed) if missed else ""
