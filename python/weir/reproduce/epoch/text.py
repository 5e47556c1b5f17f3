"""The reproduction as plain text of at most 110 columns."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

from weir.reproduce.checks import Status
from weir.reproduce.epoch.comparison import FIGURES, words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from weir.reproduce.checks import Check
    from weir.reproduce.epoch.comparison import Row
    from weir.reproduce.epoch.document import EpochReproduction

__all__ = ["MARKS", "text"]

_WIDTH = 110
MARKS = {Status.MET: "OK", Status.NOT_MET: "!!", Status.ARTEFACT: "artefact", Status.NOT_CHECKABLE: "n/a"}
_KINDS = {
    "table": "Tables 1 and 2: printed, measured back, bar",
    "text": "numbers of the text: printed, measured, bar",
    "experiment": "experiments: expected of a node with the printed costs, measured, bar",
    "rate": "generator and sink in turn, messages/s: closed form, simulated, bar",
}
_NAME = 42


def text(reproduction: EpochReproduction) -> str:
    """Return the whole text, the verdict first."""
    blocks = [
        [fill(f"epoch, {reproduction.checks.fidelity}: {reproduction.verdict()}", _WIDTH)],
        *(_values(title, reproduction.checks.of_kind(kind)) for kind, title in _KINDS.items()),
        _claims(reproduction),
        _comparison(reproduction),
        _open_points(reproduction),
        _missed(reproduction),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _values(title: str, checks: Iterable[Check]) -> list[str]:
    return [title, *(_value(check) for check in checks)]


def _value(check: Check) -> str:
    unit = check.note.partition(";")[0]
    printed, found, bar = (
        f"{value:.6g}" if isinstance(value, float) else "n/a" if value is None else str(value)
        for value in (check.published, check.measured, check.tolerance)
    )
    shown = unit if check.status in {Status.MET, Status.NOT_MET} else ""
    return f"{MARKS[check.status]:<9}{check.id:<{_NAME}}{printed:>9}{found:>10}  ±{bar:<8} {shown}".rstrip()


def _claims(reproduction: EpochReproduction) -> list[str]:
    lines = ["claims"]
    for judgement in reproduction.judgements:
        claim = judgement.published
        lines.append(_cut(f"{MARKS[judgement.check.status]:<3} {claim.id} {claim.section:<4} {claim.text}"))
    return lines


def _comparison(reproduction: EpochReproduction) -> list[str]:
    compared = reproduction.compared
    if not compared:
        return []
    count = next(iter(compared[0].means.values())).count
    lines = [
        f"the same {count} random task sets under other disciplines, costs of zero: means, half of intervals",
        f"{'':<{_LABEL}}" + "".join(f"{name.split()[-1]:>{_FIGURE}}" for name in _SHOWN),
        f"{'':<{_LABEL}}" + "".join(f"{f'({FIGURES[name].unit})':>{_FIGURE}}" for name in _SHOWN),
    ]
    lines += map(_row, compared)
    return [*lines, fill(words(compared), _WIDTH)]


_SHOWN = ("needs met", "lacked", "late", "worst response", "given", "idle", "starts")
_LABEL, _FIGURE = 37, 10


def _row(row: Row) -> str:
    means = (FIGURES[name].shown(row.means[name]) for name in _SHOWN)
    return f"{row.name:<{_LABEL}}" + "".join(f"{mean:>{_FIGURE}}" for mean in means)


def _open_points(reproduction: EpochReproduction) -> list[str]:
    lines = ["open points: the choice made, and the effect of another"]
    for point in reproduction.open_points:
        words = f"{point.number:<4} {point.point}: {point.choice}. {point.effect}"
        lines.append(fill(words, _WIDTH, subsequent_indent="     "))
    return lines


def _missed(reproduction: EpochReproduction) -> list[str]:
    found = [
        check
        for check in reproduction.checks.checks
        if check.status in {Status.NOT_MET, Status.ARTEFACT, Status.NOT_CHECKABLE}
    ]
    if not found:
        return []
    lines = ["not met, not checkable, or wrong in print, with the reason"]
    for check in found:
        shown = f"{check.measured:.4g}" if isinstance(check.measured, float) else check.measured
        facts = f"{MARKS[check.status]:<3} {check.id}: {check.published}, found {shown}; {check.note}"
        lines.append(fill(facts, _WIDTH, subsequent_indent="    "))
    return lines


def _cut(line: str) -> str:
    return line if len(line) <= _WIDTH else line[: _WIDTH - 4] + " ..."
