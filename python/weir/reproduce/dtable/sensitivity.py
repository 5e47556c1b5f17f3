"""The sensitivity table: every open point with another choice, and the improvements at load 0.9.

A row changes one choice. Its figures are by how much the mean latency under DTable is below that under DRR,
for D2, D16 and D64, with 95 % intervals. Rows that need a run of their own are `runs.SWITCHES`; the others
are read off the main runs. Points that the engine has no parameter for say so.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from weir.reproduce.checks import Check, Status
from weir.reproduce.dtable import runs
from weir.reproduce.dtable.cells import CAUSES, FIGURE_WEIGHT, SIGNS, sign_of
from weir.reproduce.dtable.evidence import Figure, NotMeasuredError, spread
from weir.reproduce.dtable.method import saturated_shares
from weir.reproduce.dtable.runs import MAIN, SWITCHES, Variant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weir.reproduce.dtable.evidence import Evidence, View

__all__ = ["SHOWN", "Row", "signs", "table"]

SHOWN = ("D2", "D16", "D64")
_AT = 0.9
_VANISHES = "crossbar at the speed of a link"
"""The choice under which the prototype's effect almost vanishes (section 7)."""


@dataclass(frozen=True, slots=True)
class Row:
    """One open point with one choice; ``remark`` where there is no figure, or something beside it."""

    point: str
    choice: str
    figures: dict[str, Figure] = field(default_factory=dict)
    remark: str = ""
    sign_of_d16: int | None = 1
    """What is expected of D16: better, worse, or nothing."""


def table(evidence: Evidence) -> list[Row]:
    """Return all rows: the choices made, then each other choice, O1 to O18."""
    rows = [
        _row(evidence, "", "the choices made", MAIN.name),
        _row(evidence, "O1", "shares in proportion to phi", Variant(False, True).name, sign=-1),
        _of_metric(evidence),
        _row(evidence, "O4", "bursts (S)", Variant(True, False).name),
        _row(
            evidence, "O4", "bursts (S), and shares in proportion to phi", Variant(True, True).name, sign=None
        ),
        *(_row(evidence, each.point, each.choice, each.name) for each in SWITCHES),
        Row(
            "O7",
            "order of arbitration",
            remark="no parameter; the crossbar's speed shows how much it matters",
        ),
        Row(
            "O12",
            "schedulers elsewhere",
            remark="no parameter: every output and interface has one, as stated",
        ),
        *_of_figure_1(evidence),
        _of_interval(evidence),
        _of_base(evidence),
        *_of_threshold(evidence),
    ]
    return sorted(rows, key=lambda row: int(row.point.removeprefix("O") or 0))


def _figures(view: View, metric: str = "latency") -> dict[str, Figure]:
    return {name: view.improvement(_AT, name, metric=metric) for name in SHOWN}


def _row(evidence: Evidence, point: str, choice: str, run: str, sign: int | None = 1) -> Row:
    try:
        return Row(point, choice, _figures(evidence.view(run)), sign_of_d16=sign)
    except NotMeasuredError as missing:
        return Row(point, choice, remark=str(missing))


def _of_metric(evidence: Evidence) -> Row:
    choice = "latency from generation"
    try:
        return Row("O2", choice, _figures(evidence.main, "total_latency"))
    except NotMeasuredError as missing:
        return Row("O2", choice, remark=str(missing))


def _of_figure_1(evidence: Evidence) -> Iterator[Row]:
    """Yield what sizes and weights do to Figure 1: largest less smallest share, saturated."""
    for point, name, weight, choice in (
        ("O13", "b", FIGURE_WEIGHT, "128, 512, 1024, 2176 B in Figure 1"),
        ("O14", "a", 32, "entries of 32 credits in Figure 1"),
    ):
        base = _spreads(FIGURE_WEIGHT, "a")
        other = _spreads(weight, name)
        try:
            measured = spread(
                [
                    each.value
                    for each in evidence.view("figure 1b").shares(runs.WEIGHTED, runs.SATURATED).values()
                ]
            )
            seen = f", measured {measured:.4f}" if name == "b" else " by the closed form"
        except NotMeasuredError:
            seen = " by the closed form"
        words = (
            f"largest less smallest share {other:.4f} under the weighted table{seen}, instead of {base:.4f}"
        )
        yield Row(point, choice, remark=words)


def _spreads(weight: int, name: str) -> float:
    return spread(saturated_shares(runs.WEIGHTED, weight, list(runs.packet_sizes(name))))


def _of_interval(evidence: Evidence) -> Row:
    """Return the 90 % intervals of the document in place of ours."""
    try:
        found = _figures(evidence.main)
    except NotMeasuredError as missing:
        return Row("O16", "intervals of 90 %", remark=str(missing))
    narrow = {
        name: Figure(each.value, each.low_90, each.high_90, each.low_90, each.high_90)
        for name, each in found.items()
    }
    return Row("O16", "intervals of 90 %", narrow)


def _of_base(evidence: Evidence) -> Row:
    """Return the same improvements in per cent of DTable's latency."""
    choice = "per cent of DTable's latency"
    try:
        found = _figures(evidence.main)
    except NotMeasuredError as missing:
        return Row("O17", choice, remark=str(missing))

    def turned(percent: float) -> float:
        return 100 * percent / (100 - percent)

    ends = {
        name: Figure(*(turned(end) for end in (each.value, each.low, each.high, each.low_90, each.high_90)))
        for name, each in found.items()
    }
    return Row("O17", choice, ends)


def _of_threshold(evidence: Evidence) -> Iterator[Row]:
    for part in (0.99, 0.98, 0.95):
        choice = f"saturated below {part:g} of the offer"
        try:
            found = [evidence.main.saturates(role, part) for role in runs.NETWORK]
        except NotMeasuredError as missing:
            yield Row("O18", choice, remark=str(missing))
            continue
        shown = ["none" if each is None else f"{each[1]} at {each[0]:g}" for each in found]
        yield Row("O18", choice, remark=f"first under DTable: {shown[0]}; under DRR: {shown[1]}")


def signs(evidence: Evidence) -> Iterator[Check]:
    """Yield a check for each figure of the table: no choice but O1 may decide a sign."""
    for row in table(evidence):
        if row.figures and row.choice != _VANISHES:
            yield from _signs(row)
        elif row.figures:
            yield from _vanished(evidence, row)
        elif row.point in _RUN:
            yield Check.missing(f"sensitivity/{row.point} {row.choice}", "sensitivity", "signs", row.remark)


_RUN = {"", "O1", "O2", "O4", "O16", "O17", *(switch.point for switch in SWITCHES)} - {"O7"}


def _check(row: Row, channel: str, published: str, note: str, *, met: bool) -> Check:
    found = row.figures[channel]
    name = " ".join(filter(None, (row.point, row.choice)))
    return Check(
        id=f"sensitivity/{name}/{channel}",
        kind="sensitivity",
        published=published,
        measured=found.value,
        ci95=found.ci95,
        status=Status.MET if met else Status.NOT_MET,
        note=note,
    )


def _signs(row: Row) -> Iterator[Check]:
    for channel in SHOWN:
        sign = row.sign_of_d16 if channel == "D16" else SIGNS[channel]
        if sign is None:
            continue
        met = sign_of(row.figures[channel], sign)
        cause = "" if met else f"; {CAUSES.get((channel, row.point == 'O1'), 'no cause is known')}"
        words = "better" if sign > 0 else "worse"
        yield _check(row, channel, words, f"% of DRR's mean latency at load {_AT:g}{cause}", met=met)


def _vanished(evidence: Evidence, row: Row) -> Iterator[Check]:
    """Yield whether the effect is less than half of what it is with the choices made."""
    base = _figures(evidence.main)
    for channel in ("D2", "D64"):
        met = abs(row.figures[channel].value) < abs(base[channel].value) / 2
        words = f"smaller than half of {base[channel].value:.1f}"
        yield _check(row, channel, words, f"% of DRR's mean latency at load {_AT:g}", met=met)
