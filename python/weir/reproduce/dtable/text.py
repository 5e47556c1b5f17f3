"""The reproduction as plain text of at most 110 columns."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

from weir.reproduce.checks import Status
from weir.reproduce.dtable import published, runs
from weir.reproduce.dtable.evidence import NotMeasuredError
from weir.reproduce.dtable.published import CHANNELS
from weir.reproduce.dtable.sensitivity import SHOWN

if TYPE_CHECKING:
    from weir.reproduce.checks import Check
    from weir.reproduce.dtable.document import DtableReproduction
    from weir.reproduce.dtable.runs import Variant
    from weir.reproduce.dtable.sensitivity import Row

__all__ = ["MARKS", "text"]

_WIDTH = 110
MARKS = {Status.MET: "OK", Status.NOT_MET: "!!", Status.ARTEFACT: "artefact", Status.NOT_CHECKABLE: "n/a"}
_CHOICE = 46


def text(reproduction: DtableReproduction) -> str:
    """Return the whole text, the verdict first."""
    blocks = [
        [fill(f"dtable, {reproduction.checks.fidelity}: {reproduction.verdict()}", _WIDTH)],
        _table_1(reproduction),
        _figure_1(reproduction),
        *(_improvements(reproduction, variant) for variant in runs.VARIANTS),
        _claims(reproduction),
        _sensitivity(reproduction),
        _missed(reproduction),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _table_1(reproduction: DtableReproduction) -> list[str]:
    by_id = {check.id: check for check in reproduction.checks.of_kind("table")}
    heads = ("phi %", "entries", "%", "min phi %", "max phi %", "weight", "total", "DRR quantum")
    lines = [
        "Table 1, computed; weights and quanta in credits",
        f"{'':<6}" + "".join(f"{head:>12}" for head in heads),
    ]
    for name in (*CHANNELS, published.TOTAL):
        found = (by_id.get(f"table/1/{name}/{column}") for column in published.COLUMNS)
        lines.append(f"{name:<6}" + "".join(f"{'' if each is None else _exact(each):>12}" for each in found))
    return lines


def _exact(check: Check) -> str:
    mark = "" if check.status == Status.MET else f" {MARKS[check.status]}"
    return f"{check.measured:g}{mark}" if isinstance(check.measured, float) else "n/a"


def _figure_1(reproduction: DtableReproduction) -> list[str]:
    checks = list(reproduction.checks.of_kind("figure"))
    lines = ["Figure 1, a saturated link: share of each channel, by the rule and simulated"]
    for name in runs.SIZE_SETS:
        sizes = [f"{size} B" for size in runs.packet_sizes(name)]
        lines.append(f"{'':<9}" + "".join(f"{size:>22}" for size in sizes))
        for role in runs.TABLES:
            found = [check for check in checks if check.id.startswith(f"figure/1{name}/{role}/")]
            lines.append(f"{role:<9}" + "".join(f"{_pair(check):>22}" for check in found))
    return lines


def _pair(check: Check) -> str:
    measured = f"{check.measured:.4f}" if isinstance(check.measured, float) else "n/a"
    return f"{check.published:.4f} {measured} {MARKS[check.status]}"


def _improvements(reproduction: DtableReproduction, variant: Variant) -> list[str]:
    """Return channels x loads: improvement of the mean, and of the maximum, in per cent."""
    try:
        view = reproduction.evidence.network(variant)
    except NotMeasuredError:
        return []
    lines = [
        f"{variant.name}: improvement of DTable over DRR, mean/maximum in %, half interval of the mean",
        f"{'load':<5}" + "".join(f"{name:>15}" for name in CHANNELS),
    ]
    for load in view.loads:
        row = ""
        for name in CHANNELS:
            try:
                mean, most = (view.improvement(load, name, statistic=each) for each in ("mean", "max"))
            except NotMeasuredError:
                row += f"{'n/a':>15}"
                continue
            half = (mean.ci95[1] - mean.ci95[0]) / 2
            row += f"{f'{mean.value:+.0f}/{most.value:+.0f} ±{half:.1f}':>15}"
        lines.append(f"{load:<5g}{row}")
    return lines


def _claims(reproduction: DtableReproduction) -> list[str]:
    lines = ["claims"]
    for judgement in reproduction.judgements:
        claim, check = judgement.published, judgement.check
        lines.append(_cut(f"{MARKS[check.status]:<3} {claim.id} {claim.section:<13} {claim.text}"))
    return lines


def _sensitivity(reproduction: DtableReproduction) -> list[str]:
    lines = [
        "sensitivity, one choice changed at a time: improvement of DTable over DRR, mean, load 0.9, %",
        f"{'':<4} {'':<{_CHOICE}}" + "".join(f"{name:>17}" for name in SHOWN),
    ]
    for row in reproduction.sensitivity:
        lines += _row(row)
    return lines


def _row(row: Row) -> list[str]:
    if not row.figures:
        words = fill(f"{row.choice}: {row.remark}", _WIDTH - 5, subsequent_indent="  ").split("\n")
        return [f"{row.point if place == 0 else '':<4} {line}" for place, line in enumerate(words)]
    found = (row.figures[name] for name in SHOWN)
    columns = (f"{each.value:+.1f} ±{(each.ci95[1] - each.ci95[0]) / 2:.1f}" for each in found)
    return [f"{row.point:<4} {row.choice:<{_CHOICE}}" + "".join(f"{column:>17}" for column in columns)]


def _missed(reproduction: DtableReproduction) -> list[str]:
    checks = [*reproduction.missed(), *_undecided(reproduction)]
    if not checks:
        return []
    lines = ["not met, or not checkable, with the reason"]
    for check in checks:
        shown = f"{check.measured:.4g}" if isinstance(check.measured, float) else check.measured
        facts = f"{MARKS[check.status]:<3} {check.id}: claimed {check.published}, found {shown}; {check.note}"
        lines.append(fill(facts, _WIDTH, subsequent_indent="    "))
    return lines


def _undecided(reproduction: DtableReproduction) -> list[Check]:
    found = reproduction.checks.of_kind("claim")
    return [check for check in found if check.status == Status.NOT_CHECKABLE]


def _cut(line: str) -> str:
    return line if len(line) <= _WIDTH else line[: _WIDTH - 4] + " ..."
