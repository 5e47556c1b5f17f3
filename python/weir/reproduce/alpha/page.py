"""The reproduction as one HTML file: verdict, tables side by side, claims, figures, fairness."""

from __future__ import annotations

from html import escape
from itertools import count
from typing import TYPE_CHECKING

from weir.report import page
from weir.reproduce.alpha import published
from weir.reproduce.alpha.figures import drawings
from weir.reproduce.alpha.published import LOADS, QUANTITIES, STRATEGIES, Load
from weir.reproduce.checks import Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from weir.reproduce.alpha.document import AlphaReproduction
    from weir.reproduce.alpha.fairness import Fairness
    from weir.reproduce.alpha.figures import Drawing
    from weir.reproduce.alpha.judgement import Judgement
    from weir.reproduce.checks import Check

__all__ = ["html"]

_MARKS = {Status.MET: "✓", Status.NOT_MET: "✗", Status.ARTEFACT: "artefact", Status.NOT_CHECKABLE: "n/a"}
_KINDS = {Status.MET: "ok", Status.NOT_MET: "bad", Status.ARTEFACT: "text", Status.NOT_CHECKABLE: "text"}
_OPEN = Load("95")
_STYLE = (
    "<style>.cell b{font-weight:600}.cell small{display:block;opacity:.72;font-size:.78em}"
    ".wrap{white-space:normal}</style>\n"
)


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
        f"{reproduction.met:,} checks met",
        f"{reproduction.not_met:,} not met",
        f"{reproduction.artefact:,} artefact",
        f"{reproduction.not_checkable:,} not checkable",
        f"{reproduction.packets:,} packets for each of {len(STRATEGIES)} strategies",
    )
    return (
        f'<header>\n<p class="kicker">weir reproduction</p>\n<h1>{escape(title)}</h1>\n'
        f'<p class="verdict">{escape(reproduction.verdict())}</p>\n'
        f'<p class="facts">{escape(" · ".join(facts))}</p>\n</header>\n'
    )


def _td(content: str, kind: str = "", title: str = "") -> str:
    """Return a cell; its content is text."""
    return _cell_of(escape(content), kind, title)


def _cell_of(markup: str, kind: str = "", title: str = "") -> str:
    """Return a cell; its content is HTML."""
    hint = f' title="{escape(title)}"' if title else ""
    return f"<td{_class(kind)}{hint}>{markup}</td>"


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


def _th(content: str) -> str:
    """Return the cell that names a row."""
    return f'<th scope="row" class="text">{escape(content)}</th>'


def _mark(check: Check) -> str:
    return _td(_MARKS[check.status], _KINDS[check.status])


def _table(head: Iterable[str], rows: Iterable[Iterable[str]], *, text: int = 1) -> str:
    """Return a table; the first ``text`` columns are words."""
    kinds = (_class("text" if column < text else "") for column in count())
    cells = "".join(
        f'<th scope="col"{kind}>{escape(name)}</th>' for name, kind in zip(head, kinds, strict=False)
    )
    body = "\n".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    return (
        f'<div class="scroll" tabindex="0"><table><thead><tr>{cells}</tr></thead>\n'
        f"<tbody>{body}</tbody></table></div>\n"
    )


def _note(words: str) -> str:
    return f'<p class="note">{escape(words)}</p>\n'


def _loads(reproduction: AlphaReproduction) -> str:
    rows = (
        (_th(f"{load} %"), *map(_td, (f"{packets:,}", met, _two_digits(share))))
        for load, packets, met, share in reproduction.rows_of_loads()
    )
    head = ("load", "packets simulated", "means met", "largest deviation, in tolerances")
    return _table(head, rows) + _note(
        "The tolerance of a mean comes from the standard errors of both runs and the rounding of print; a "
        "deviation of more than 1.00 tolerances is not met. The chance of any false alarm over all checks is "
        "below 1 %."
    )


def _two_digits(share: float | None) -> str:
    return "n/a" if share is None else f"{share:.2f}"


def _claims(reproduction: AlphaReproduction) -> str:
    note = _note(
        "A mark says that a claim came out as its record has it, as agreeing or as contradicted. A claim "
        "is called contradicted only if noise cannot explain it."
    )
    head = ("", "found", "section", "claim", "claimed", "measured")
    return note + _table(head, map(_claim, reproduction.judgements), text=6)


def _claim(judgement: Judgement) -> Iterator[str]:
    check, row = judgement.check, judgement.published
    yield _mark(check)
    yield _td(judgement.found or "n/a", "text")
    yield _td(row.section, "text")
    yield _td(row.text, "text wrap")
    yield _td(row.claimed, "text wrap")
    yield _td(_number(check.measured), "text wrap", check.note)


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
    return _table(head, map(_fairness_row, reproduction.fairness), text=2) if reproduction.fairness else ""


def _fairness_row(row: Fairness) -> Iterator[str]:
    yield _th(f"{row.load} %")
    yield _td(row.strategy, "text")
    for period, length in ((row.smallest, row.smallest_length), (row.largest, row.largest_length)):
        yield _td(f"{period:.3f}")
        yield _td(str(length))
    yield _td(f"{row.range:.3f}")
    yield _td(f"{row.average:.2f}")


def _tables(reproduction: AlphaReproduction) -> str:
    by_id = {check.id: check for check in reproduction.checks.of_kind("table")}
    words = (
        "Measured in bold with its mark; below it the published value and, where there is one, the exact one."
    )
    return _note(words) + "".join(_load_table(by_id, load) for load in LOADS)


def _load_table(by_id: dict[str, Check], load: Load) -> str:
    rows = (
        (_th(strategy), *(_mean(by_id, load, strategy, quantity) for quantity in QUANTITIES))
        for strategy in STRATEGIES
    )
    opened = " open" if load == _OPEN else ""
    table = _table(("strategy", *QUANTITIES), rows)
    return f"<details{opened}><summary>{load} %</summary>\n{table}</details>\n"


def _mean(by_id: dict[str, Check], load: Load, strategy: str, quantity: str) -> str:
    check = by_id[f"table/{load}/{strategy}/{quantity}"]
    exact = published.exact().get((load, strategy, quantity))
    beside = f"{check.published:.2f}" + (f" · {exact:.3f}" if exact is not None else "")
    measured = f"{check.measured:.3f}" if isinstance(check.measured, float) else ""
    mark = f'<span class="{_KINDS[check.status]}">{_MARKS[check.status]}</span>'
    return _cell_of(f"<b>{measured}</b> {mark}<small>{beside}</small>", "cell", _hint(check))


def _hint(check: Check) -> str:
    if check.ci95 is None or check.tolerance is None:
        return check.note
    words = f"95 % interval {check.ci95[0]:.4g} to {check.ci95[1]:.4g}, tolerance {check.tolerance:.3g}"
    return f"{words}; {check.note}" if check.note else words


def _checks_table(checks: Iterable[Check]) -> str:
    head = ("", "check", "published", "measured", "tolerance", "note")
    return _table(head, map(_check_row, checks), text=2)


def _check_row(check: Check) -> Iterator[str]:
    yield _mark(check)
    yield _td(check.id, "text")
    for value in (check.published, check.measured, check.tolerance):
        yield _td(_number(value))
    yield _td(check.note, "text wrap")


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
