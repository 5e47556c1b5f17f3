"""The sensitivity table: every open point with another choice, and the improvements at load 0.9.

A row changes one choice. Its figures are by how much the mean latency under DTable is below that under DRR,
for D2, D16 and D64, with 95 % intervals. Rows that need a run of their own are `runs.SWITCHES`; the others
are read off the main runs. Points that the engine has no parameter for say so.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from weir.reproduce.dtable import runs
from weir.reproduce.dtable.cells import CAUSES, FIGURE_WEIGHT, NO_CAUSE, SIGNS
from weir.reproduce.dtable.evidence import Figure, spread
from weir.reproduce.dtable.method import saturated_shares
from weir.reproduce.dtable.runs import MAIN, SWITCHES, Variant
from weir.reproduce.engine.checks import Check, Status
from weir.reproduce.engine.evidence import NotMeasuredError, if_measured
from weir.reproduce.engine.judgement import Found, checked, signed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from weir.reproduce.dtable.evidence import Evidence, View

SHOWN = ("D2", "D16", "D64")
_AT = 0.9
_VANISHES = "crossbar at the speed of a link"
"""The choice under which the prototype's effect almost vanishes (section 7)."""


@dataclass(frozen=True, slots=True)
class Row:
    """One open point with one choice; ``remark`` where there is no figure, or something besides it."""

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
        _with_figures("O2", "latency from generation", lambda: _figures(evidence.main, "total_latency")),
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
        _with_figures("O16", "intervals of 90 %", lambda: _each(evidence, _narrow)),
        _with_figures("O17", "per cent of DTable's latency", lambda: _each(evidence, _of_dtable)),
        *_of_threshold(evidence),
    ]
    return sorted(rows, key=lambda row: int(row.point.removeprefix("O") or 0))


def _figures(view: View, metric: str = "latency") -> dict[str, Figure]:
    return {name: view.improvement(_AT, name, metric=metric) for name in SHOWN}


def _row(evidence: Evidence, point: str, choice: str, run: str, sign: int | None = 1) -> Row:
    return _with_figures(point, choice, lambda: _figures(evidence.view(run)), sign)


def _with_figures(
    point: str, choice: str, figures: Callable[[], dict[str, Figure]], sign: int | None = 1
) -> Row:
    try:
        return Row(point, choice, figures(), sign_of_d16=sign)
    except NotMeasuredError as missing:
        return Row(point, choice, remark=str(missing))


def _each(evidence: Evidence, change: Callable[[Figure], Figure]) -> dict[str, Figure]:
    return {name: change(each) for name, each in _figures(evidence.main).items()}


def _narrow(figure: Figure) -> Figure:
    """Return the 90 % interval of the document in place of ours."""
    return Figure(figure.value, figure.low_90, figure.high_90, figure.low_90, figure.high_90)


def _of_dtable(figure: Figure) -> Figure:
    """Return the same improvement in per cent of DTable's latency."""
    return figure.each(lambda percent: 100 * percent / (100 - percent))


def _of_figure_1(evidence: Evidence) -> Iterator[Row]:
    """Yield what sizes and weights do to Figure 1: largest less smallest share, saturated."""
    for point, name, weight, choice in (
        ("O13", "b", FIGURE_WEIGHT, "128, 512, 1024, 2176 B in Figure 1"),
        ("O14", "a", 32, "entries of 32 credits in Figure 1"),
    ):
        base = _spreads(FIGURE_WEIGHT, "a")
        other = _spreads(weight, name)
        shares = if_measured(_weighted_shares, evidence) if name == "b" else None
        seen = f", measured {spread(shares):.4f}" if shares else " by the closed form"
        words = (
            f"largest less smallest share {other:.4f} under the weighted table{seen}, instead of {base:.4f}"
        )
        yield Row(point, choice, remark=words)


def _weighted_shares(evidence: Evidence) -> list[float]:
    found = evidence.view("figure 1b").shares(runs.WEIGHTED, runs.SATURATED)
    return [each.value for each in found.values()]


def _spreads(weight: int, name: str) -> float:
    return spread(saturated_shares(runs.WEIGHTED, weight, list(runs.packet_sizes(name))))


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


def _check(row: Row, channel: str, published: str, found: Callable[[str], Found]) -> Check:
    name = " ".join(filter(None, (row.point, row.choice)))
    note = f"% of DRR's mean latency at load {_AT:g}"
    return checked(f"sensitivity/{name}/{channel}", "sensitivity", published, lambda: found(note))


def _signs(row: Row) -> Iterator[Check]:
    for channel in SHOWN:
        sign = row.sign_of_d16 if channel == "D16" else SIGNS[channel]
        if sign is None:
            continue
        cause = f"; {CAUSES.get((channel, row.point == 'O1'), NO_CAUSE)}"
        figure, words = row.figures[channel], "better" if sign > 0 else "worse"
        yield _check(row, channel, words, partial(signed, figure, sign, unless=cause))


def _vanished(evidence: Evidence, row: Row) -> Iterator[Check]:
    """Yield whether the effect is less than half of what it is with the choices made, with its interval."""
    base = _figures(evidence.main)
    for channel in ("D2", "D64"):
        figure, usual = row.figures[channel], base[channel].value
        half, largest = abs(usual) / 2, max(map(abs, figure.ci95))
        least = 0.0 if figure.ci95[0] <= 0 <= figure.ci95[1] else min(map(abs, figure.ci95))
        told = largest < half or least >= half
        found = Found(
            figure.value,
            largest < half if told else Status.NOT_CHECKABLE,
            "" if told else f"its 95 % interval reaches {largest:.1f}, so it cannot be decided; ",
            ci95=figure.ci95,
        )
        yield _check(row, channel, f"smaller than half of {usual:.1f}", partial(_noted, found))


def _noted(found: Found, note: str) -> Found:
    return replace(found, note=found.note + note)
