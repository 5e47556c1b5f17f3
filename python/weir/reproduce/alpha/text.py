"""The reproduction as plain text of at most 110 columns."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

from weir.reproduce.checks import Status

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weir.reproduce.alpha.document import AlphaReproduction
    from weir.reproduce.checks import Check

__all__ = ["text"]

_WIDTH = 110
_INDENT = " " * 26
_MARKS = {Status.MET: "OK", Status.NOT_MET: "!!", Status.ARTEFACT: "artefact", Status.NOT_CHECKABLE: "n/a"}
_MOST_LISTED = 20


def text(reproduction: AlphaReproduction) -> str:
    """Return the whole text, the verdict first."""
    blocks = [
        [fill(f"alpha, {reproduction.checks.fidelity}: {reproduction.verdict()}", _WIDTH)],
        _loads(reproduction),
        _claims(reproduction),
        _fairness(reproduction),
        _artefacts(reproduction),
        _missed(reproduction),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _loads(reproduction: AlphaReproduction) -> list[str]:
    lines = [f"{'load %':>6}  {'packets':>13}  {'means met':<24}  largest deviation, in tolerances"]
    for load, packets, met, share in reproduction.rows_of_loads():
        shown = "n/a" if share is None else f"{share:.2f}"
        lines.append(f"{load:>6}  {packets:>13,}  {met:<24}  {shown}")
    return lines


def _claims(reproduction: AlphaReproduction) -> list[str]:
    lines = ["claims of the text, as found"]
    for judgement in reproduction.judgements:
        check, row = judgement.check, judgement.published
        found = judgement.found or "n/a"
        lines.append(_cut(f"{_MARKS[check.status]:<3} {found:<12} {row.section:<8} {row.text}"))
        if judgement.found is None:
            lines.append(_cut(_INDENT + check.note))
        elif found != "agrees":
            lines.append(_cut(_INDENT + _shown(check.measured)))
    return lines


def _cut(line: str) -> str:
    return line if len(line) <= _WIDTH else line[: _WIDTH - 4] + " ..."


def _fairness(reproduction: AlphaReproduction) -> list[str]:
    rows = reproduction.fairness
    if not rows:
        return []
    lines = ["effective packet period (section 12): smallest and largest over all lengths, with the length"]
    lines.append(
        f"{'load %':>6}  {'strategy':<10} {'smallest':>14} {'largest':>14} {'range':>8} {'latency':>8}"
    )
    for row in rows:
        smallest = f"{row.smallest:.3f} {f'({row.smallest_length})':>4}"
        largest = f"{row.largest:.3f} {f'({row.largest_length})':>4}"
        ends = f"{row.load:>6}  {row.strategy:<10} {smallest:>14} {largest:>14}"
        lines.append(f"{ends} {row.range:>8.3f} {row.average:>8.2f}")
    return lines


def _artefacts(reproduction: AlphaReproduction) -> list[str]:
    checks = list(reproduction.checks.of_kind("artefact"))
    if not checks:
        return []
    words = (
        "The original counts packets in a 32-bit integer, which overflowed in the 97 % run. From then on RR' "
        "is RR; the mixture of both explains the row:"
    )
    note = checks[0].note.partition(";")[2].strip()
    return [fill(words, _WIDTH), *map(_line, checks), f"({note})"]


def _missed(reproduction: AlphaReproduction) -> list[str]:
    missed = [check for check in reproduction.checks.checks if check.status == Status.NOT_MET]
    if not missed:
        return []
    lines = ["not met", *map(_line, missed[:_MOST_LISTED])]
    return [*lines, f"and {len(missed) - _MOST_LISTED} more"] if len(missed) > _MOST_LISTED else lines


def _line(check: Check) -> str:
    return f"{_MARKS[check.status]:<3} {check.id}: " + ", ".join(_facts(check))


def _facts(check: Check) -> Iterator[str]:
    yield f"published {_shown(check.published)}"
    yield f"measured {_shown(check.measured)}"
    if check.tolerance is not None:
        yield f"tolerance {check.tolerance:.3g}"


def _shown(value: float | str | None) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
