"""The reproduction as plain text of at most 110 columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.reproduce.alpha.published import LOADS
from weir.reproduce.engine.text import cut, filled, limited, marked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weir.reproduce.alpha import AlphaReproduction
    from weir.reproduce.engine.checks import Check

_INDENT = " " * 26
_MOST_LISTED = 20


def blocks(reproduction: AlphaReproduction) -> Iterator[list[str]]:
    """Yield what stands below the verdict."""
    yield list(_loads(reproduction))
    yield ["claims of the text, as found", *_claims(reproduction)]
    yield _fairness(reproduction)
    yield _artefacts(reproduction)
    yield limited("not met", list(map(_line, reproduction.missed())), _MOST_LISTED)


def _loads(reproduction: AlphaReproduction) -> Iterator[str]:
    yield f"{'load %':>6}  {'packets':>13}  {'means met':<24}  largest deviation, in tolerances"
    for load in LOADS:
        met, share = reproduction.tallied(load)
        yield f"{load:>6}  {reproduction.packets(load):>13,}  {met:<24}  {share}"


def _claims(reproduction: AlphaReproduction) -> Iterator[str]:
    for each in reproduction.judgements:
        check, row, found = each.check, each.published, each.found or "n/a"
        yield cut(marked(check.status, f" {found:<12} {row.section:<8} {row.text}"))
        if each.found is None:
            yield cut(_INDENT + check.note)
        elif found != "agrees":
            yield cut(_INDENT + _shown(check.measured))


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
    return [filled(words), *map(_line, checks), f"({note})"]


def _line(check: Check) -> str:
    return marked(check.status, f" {check.id}: {', '.join(_facts(check))}")


def _facts(check: Check) -> Iterator[str]:
    yield f"published {_shown(check.published)}"
    yield f"measured {_shown(check.measured)}"
    if check.tolerance is not None:
        yield f"tolerance {check.tolerance:.3g}"


def _shown(value: float | str | None) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
