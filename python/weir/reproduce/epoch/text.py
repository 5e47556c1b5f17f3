"""The reproduction as plain text of at most 110 columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.reproduce.engine.checks import Status
from weir.reproduce.engine.text import cut, filled, limited, marked
from weir.reproduce.epoch.comparison import FIGURES, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weir.reproduce.engine.checks import Check
    from weir.reproduce.epoch import EpochReproduction
    from weir.reproduce.epoch.comparison import Row, Rows

_KINDS = {
    "table": "Tables 1 and 2: printed, reproduced, bar",
    "text": "numbers of the text: printed, measured, bar",
    "experiment": "experiments: expected of a node with the printed costs, measured, bar",
    "rate": "generator and sink in turn, messages/s: closed form, simulated, bar",
}
_NAME, _LABEL, _FIGURE = 42, 37, 14
_SHOWN = (("needs met", "lacked", "late", "worst response"), ("given", "idle", "starts"))


def blocks(reproduction: EpochReproduction) -> Iterator[list[str]]:
    """Yield what stands below the verdict."""
    for kind, title in _KINDS.items():
        yield [title, *map(_value, reproduction.checks.of_kind(kind))]
    yield ["claims", *_claims(reproduction)]
    yield _comparison(reproduction.compared)
    yield [
        "open points: the choice made, and the effect of another",
        *(
            filled(f"{point.number:<4} {point.point}: {point.choice}. {point.effect}", 5)
            for point in reproduction.open_points
        ),
    ]
    found = reproduction.of_status(Status.NOT_MET, Status.ARTEFACT, Status.NOT_CHECKABLE)
    yield limited("not met, not checkable, or wrong in print, with the reason", list(map(_missed, found)))


def _value(check: Check) -> str:
    unit, circular = check.note.partition(";")[0], "; circular: " in check.note
    printed, found, bar = (
        f"{value:.6g}" if isinstance(value, float) else "n/a" if value is None else str(value)
        for value in (check.published, check.measured, check.tolerance)
    )
    shown = unit if check.status in {Status.MET, Status.NOT_MET} else ""
    name = f"{check.id} (circular)" if circular else check.id
    return marked(check.status, f"{name:<{_NAME}}{printed:>9}{found:>10}  ±{bar:<8} {shown}", 9).rstrip()


def _claims(reproduction: EpochReproduction) -> Iterator[str]:
    for each in reproduction.judgements:
        claim = each.published
        yield cut(marked(each.check.status, f" {claim.id} {claim.section:<4} {claim.text}"))


def _comparison(compared: Rows) -> list[str]:
    if not compared:
        return []
    count = next(iter(compared[0].means.values())).count
    return [
        f"the same {count} random task sets under other disciplines, costs of zero: means, half of intervals",
        *(line for shown in _SHOWN for line in _table(compared, shown)),
        filled(words(compared)),
    ]


def _table(compared: Rows, shown: Sequence[str]) -> Iterator[str]:
    yield f"{'':<{_LABEL}}" + "".join(f"{name.split()[-1]:>{_FIGURE}}" for name in shown)
    yield f"{'':<{_LABEL}}" + "".join(f"{f'({FIGURES[name].unit})':>{_FIGURE}}" for name in shown)
    for row in compared:
        yield _row(row, shown)


def _row(row: Row, shown: Sequence[str]) -> str:
    means = (FIGURES[name].shown(row.means[name]) for name in shown)
    return f"{row.name:<{_LABEL}}" + "".join(f"{mean:>{_FIGURE}}" for mean in means)


def _missed(check: Check) -> str:
    shown = f"{check.measured:.4g}" if isinstance(check.measured, float) else check.measured
    return filled(marked(check.status, f" {check.id}: {check.published}, found {shown}; {check.note}"), 4)
