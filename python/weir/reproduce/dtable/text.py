"""The reproduction as plain text of at most 110 columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.reproduce.dtable import published, runs
from weir.reproduce.dtable.published import CHANNELS
from weir.reproduce.dtable.sensitivity import SHOWN
from weir.reproduce.engine.checks import Status
from weir.reproduce.engine.evidence import NotMeasuredError, if_measured
from weir.reproduce.engine.text import MARKS, cut, filled, limited, marked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weir.reproduce.dtable import DtableReproduction
    from weir.reproduce.dtable.evidence import View
    from weir.reproduce.dtable.runs import Variant
    from weir.reproduce.dtable.sensitivity import Row
    from weir.reproduce.engine.checks import Check

_CHOICE, _IMPROVEMENT, _GAIN = 46, 16, 13


def blocks(reproduction: DtableReproduction) -> Iterator[list[str]]:
    """Yield what stands below the verdict."""
    yield _table_1(reproduction)
    yield _figure_1(reproduction)
    for variant in runs.VARIANTS:
        yield _improvements(reproduction, variant)
    yield limited(
        "claims",
        [
            cut(
                marked(
                    each.check.status,
                    f" {each.published.id} {each.published.section:<13} {each.published.text}",
                )
            )
            for each in reproduction.judgements
        ],
    )
    yield [
        "sensitivity, one choice changed at a time: improvement of DTable over DRR, mean, load 0.9, %",
        f"{'':<4} {'':<{_CHOICE}}" + "".join(f"{name:>{_IMPROVEMENT}}" for name in SHOWN),
        *(line for row in reproduction.sensitivity for line in _row(row)),
    ]
    undecided = [check for check in reproduction.of_status(Status.NOT_CHECKABLE) if check.kind == "claim"]
    missed = [_missed(check) for check in (*reproduction.missed(), *undecided)]
    yield limited("not met, or not checkable, with the reason", missed)


def _table_1(reproduction: DtableReproduction) -> list[str]:
    by_id = reproduction.by_id("table")
    heads = ("phi %", "entries", "%", "min phi %", "max phi %", "weight", "total", "DRR quantum")
    lines = [
        "Table 1, computed; weights and quanta in credits",
        f"{'':<6}" + "".join(f"{head:>{_room(head)}}" for head in heads),
    ]
    for name in (*CHANNELS, published.TOTAL):
        found = (by_id.get(f"table/1/{name}/{column}") for column in published.COLUMNS)
        cells = zip(heads, ("" if each is None else _exact(each) for each in found), strict=True)
        lines.append(f"{name:<6}" + "".join(f"{cell:>{_room(head)}}" for head, cell in cells))
    return lines


def _room(head: str) -> int:
    """Return the width of a column of Table 1."""
    return max(len(head) + 2, 10)


def _exact(check: Check) -> str:
    mark = "" if check.status == Status.MET else f" {MARKS[check.status]}"
    return f"{check.measured:g}{mark}" if isinstance(check.measured, float) else "n/a"


def _figure_1(reproduction: DtableReproduction) -> list[str]:
    lines = ["Figure 1, a saturated link: share of each channel, by the rule and simulated"]
    for name, rows in reproduction.figure_1().items():
        lines.append(f"{'':<9}" + "".join(f"{f'{size} B':>22}" for size in runs.packet_sizes(name)))
        lines += [
            f"{role:<9}" + "".join(f"{_pair(check):>22}" for check in row) for role, row in rows.items()
        ]
    return lines


def _pair(check: Check) -> str:
    measured = f"{check.measured:.4f}" if isinstance(check.measured, float) else "n/a"
    return f"{check.published:.4f} {measured} {MARKS[check.status]}"


def _improvements(reproduction: DtableReproduction, variant: Variant) -> list[str]:
    """Return channels x loads: improvement of the mean, and of the maximum, in per cent."""
    view = if_measured(reproduction.evidence.network, variant)
    if view is None:
        return []
    return [
        f"{variant.name}: improvement of DTable over DRR, mean/maximum in %, half interval of the mean",
        f"{'load':<5}" + "".join(f"{name:>{_GAIN}}" for name in CHANNELS),
        *(
            f"{load:<5g}" + "".join(f"{_gain(view, load, name):>{_GAIN}}" for name in CHANNELS)
            for load in view.loads
        ),
    ]


def _gain(view: View, load: float, name: str) -> str:
    try:
        mean, most = (view.improvement(load, name, statistic=each) for each in ("mean", "max"))
    except NotMeasuredError:
        return "n/a"
    return f"{mean.value:+.0f}/{most.value:+.0f} ±{mean.signed().partition('±')[2]}"


def _row(row: Row) -> list[str]:
    if not row.figures:
        words = filled(f"     {row.choice}: {row.remark}", 7).split("\n")
        return [f"{row.point:<4} {words[0][5:]}", *words[1:]]
    columns = "".join(f"{row.figures[name].signed():>{_IMPROVEMENT}}" for name in SHOWN)
    return [f"{row.point:<4} {row.choice:<{_CHOICE}}{columns}"]


def _missed(check: Check) -> str:
    shown = f"{check.measured:.4g}" if isinstance(check.measured, float) else check.measured
    facts = f" {check.id}: claimed {check.published}, found {shown}; {check.note}"
    return filled(marked(check.status, facts), 4)
