"""The reproduction as plain text of at most 110 columns."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

from weir.reproduce.checks import Status
from weir.reproduce.steer import runs
from weir.reproduce.steer.cells import slowdown
from weir.reproduce.steer.document import CLAIMS
from weir.reproduce.steer.evidence import NotMeasuredError
from weir.reproduce.steer.sweep import BOTH, OTHERS, words
from weir.text import number

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from weir.reproduce.checks import Check
    from weir.reproduce.steer.document import SteerReproduction
    from weir.reproduce.steer.sweep import Row

__all__ = ["text"]

_WIDTH = 110
_MARKS = {Status.MET: "OK", Status.NOT_MET: "!!", Status.ARTEFACT: "artefact", Status.NOT_CHECKABLE: "n/a"}


def text(reproduction: SteerReproduction) -> str:
    """Return the whole text, the verdict first."""
    of_kind = reproduction.checks.of_kind
    blocks = [
        [fill(f"steer, {reproduction.checks.fidelity}: {reproduction.verdict()}", _WIDTH)],
        _claims(reproduction),
        _listed("the twelve orderings, and round trips: largest windowed mean delay", of_kind("order")),
        _values("the lab's model: another simulation, this one, bar", of_kind("model")),
        list(_slowdowns(reproduction)),
        _listed("properties", of_kind("property")),
        _sweep(reproduction.sweep),
        _missed(reproduction),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _claims(reproduction: SteerReproduction) -> list[str]:
    lines = [f"claims: {', '.join(CLAIMS)}"]
    for each in reproduction.judgements:
        claim, check = each.published, each.check
        found = "" if check.measured is None else f" Found: {_number(check.measured)}"
        unit = " us" if isinstance(check.measured, float) else ""
        line = f"{_MARKS[check.status]:<9}{claim.id} {claim.policy}, {claim.traffic}: {claim.text}."
        lines.append(fill(f"{line}{found}{unit}", _WIDTH, subsequent_indent=" " * 13))
    return lines


def _listed(title: str, checks: Iterable[Check]) -> list[str]:
    lines = [title]
    for check in checks:
        name = check.id.partition("/")[2]
        line = f"{_MARKS[check.status]:<9}{name} {check.published}: {check.measured or check.note}"
        lines.append(fill(line, _WIDTH, subsequent_indent=" " * 13))
    return lines


def _values(title: str, checks: Iterable[Check]) -> list[str]:
    lines = [title]
    for check in checks:
        unit, _, what = check.note.partition("; ")
        wanted, found = _number(check.published), _number(check.measured)
        bar = f"±{check.tolerance:.3g} {unit}" if check.tolerance else ""
        lines.append(f"{_MARKS[check.status]:<9}{wanted:>8}{found:>10}  {bar:<12} {what}".rstrip())
    return lines


def _number(value: float | str | None) -> str:
    return number(value) if isinstance(value, float) else str(value or "n/a")


def _slowdowns(reproduction: SteerReproduction) -> Iterator[str]:
    """Yield the table of slowdowns, each with that of the other simulation below."""
    others = {check.id.partition("/")[2]: check for check in reproduction.checks.of_kind("slowdown")}
    columns = [(workload, load) for workload in runs.WORKLOADS for load in runs.LOADS]
    yield "p99.9 slowdown over all requests on 14 cores, with half of its 95 % interval; below it in brackets"
    yield "what another simulation found in one run of a million requests (`!!`: farther apart than the bar)"
    for part in (columns[:6], columns[6:]):
        names = (f"{workload} {load}" for workload, load in part)
        yield f"{'':<13}" + "".join(f"{name:>16}" for name in names)
        for policy in runs.POLICIES:
            yield from _policy(reproduction, policy, part, others)


def _policy(
    reproduction: SteerReproduction, policy: str, columns: list[tuple[str, str]], others: dict[str, Check]
) -> Iterator[str]:
    first, second = f"{policy:<13}", " " * 13
    for workload, load in columns:
        try:
            found = slowdown(reproduction.evidence, policy, workload, load)
        except NotMeasuredError:
            first, second = f"{first}{'n/a':>16}", f"{second}{'':>16}"
            continue
        other = others.get(f"{workload}/{load}/{policy}")
        mark = "!!" if other is not None and other.status == Status.NOT_MET else ""
        half = "" if found.interval is None else f" ±{number((found.interval[1] - found.interval[0]) / 2, 2)}"
        first += f"{f'{mark}{number(found.value, 3)}{half}':>16}"
        second += f"{'' if other is None else f'({_number(other.published)})':>16}"
    yield first
    if second.strip():
        yield second


def _sweep(found: tuple[Row, ...]) -> list[str]:
    if not found:
        return []
    head = f"{'long':>6}{'times':>6} {'arrivals':<9}{'load':>5}" + "".join(
        f"{name:>16}" for name in (*OTHERS, "both")
    )
    lines = [
        "when does separation with dynamic allocation pay? p99.9 slowdown on eight cores; `+` after another",
        "policy: both together are clearly better, `-`: worse; then cores in use under dynamic and both",
        f"{head}  cores",
    ]
    for row in found:
        cell = row.cell
        marks = {1: "+", -1: "-", 0: " "}
        others = "".join(
            f"{number(row.slowdown[name].value, 3):>15}{marks[row.verdict(name)]}" for name in OTHERS
        )
        lines.append(
            f"{cell.share:>6.1%}{cell.ratio:>6} {'bursts' if cell.bursts else 'Poisson':<9}{cell.load:>5.2f}"
            f"{others}{number(row.slowdown[BOTH].value, 3):>16}  "
            f"{row.cores['dynamic']:.1f} {row.cores[BOTH]:.1f}"
        )
    return [*lines, fill(words(found), _WIDTH)]


def _missed(reproduction: SteerReproduction) -> list[str]:
    found = [check for check in reproduction.checks.checks if check.status != Status.MET]
    if not found:
        return []
    lines = ["not met, not checkable, or contradicted by the report itself, with the reason"]
    for check in found:
        facts = f"{_MARKS[check.status]:<9}{check.id}: {_number(check.published)}"
        measured = f"found {_number(check.measured)}"
        lines.append(fill(f"{facts}, {measured}; {check.note}", _WIDTH, subsequent_indent=" " * 9))
    return lines
