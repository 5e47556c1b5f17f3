"""The reproduction as plain text of at most 110 columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.reproduce.engine.checks import Status
from weir.reproduce.engine.evidence import NotMeasuredError
from weir.reproduce.engine.text import filled, limited, marked, told
from weir.reproduce.steer import runs
from weir.reproduce.steer.cells import slowdown
from weir.reproduce.steer.published import CLAIMS
from weir.reproduce.steer.sweep import BOTH, OTHERS, words
from weir.text import number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weir.reproduce.engine.checks import Check
    from weir.reproduce.engine.judgement import Judgement
    from weir.reproduce.steer import SteerReproduction
    from weir.reproduce.steer.published import PublishedClaim
    from weir.reproduce.steer.sweep import Row

_SLOWDOWN = 14  # characters of a column of slowdowns


def blocks(reproduction: SteerReproduction) -> Iterator[list[str]]:
    """Yield what stands below the verdict."""
    of_kind = reproduction.checks.of_kind
    title = "the twelve orderings, and round trips: largest windowed mean delay"
    yield [f"claims: {', '.join(CLAIMS)}", *map(_claim, reproduction.judgements)]
    yield [title, *map(_listed, of_kind("order"))]
    yield ["the lab's model: another simulation, this one, bar", *map(_value, of_kind("model"))]
    yield list(_slowdowns(reproduction))
    yield ["properties", *map(_listed, of_kind("property"))]
    yield _sweep(reproduction.sweep)
    found = reproduction.of_status(Status.NOT_MET, Status.ARTEFACT, Status.NOT_CHECKABLE)
    title = "not met, not checkable, or contradicted by the report itself, with the reason"
    yield limited(title, list(map(_missed, found)))


def _claim(judgement: Judgement[PublishedClaim]) -> str:
    claim, check = judgement.published, judgement.check
    found = "" if check.measured is None else f" Found: {told(check.measured)}"
    unit = " us" if isinstance(check.measured, float) else ""
    line = f"{claim.id} {claim.policy}, {claim.traffic}: {claim.text}.{found}{unit}"
    return filled(marked(check.status, line, 9), 13)


def _listed(check: Check) -> str:
    line = f"{check.id.partition('/')[2]} {check.published}: {check.measured or check.note}"
    return filled(marked(check.status, line, 9), 13)


def _value(check: Check) -> str:
    unit, _, what = check.note.partition("; ")
    wanted, found = told(check.published), told(check.measured)
    bar = f"±{check.tolerance:.3g} {unit}" if check.tolerance else ""
    return filled(marked(check.status, f"{wanted:>8}{found:>10}  {bar:<12} {what}", 9).rstrip(), 41)


def _missed(check: Check) -> str:
    facts = f"{check.id}: {told(check.published)}, found {told(check.measured)}; {check.note}"
    return filled(marked(check.status, facts, 9), 9)


def _slowdowns(reproduction: SteerReproduction) -> Iterator[str]:
    """Yield the table of slowdowns, each with that of the other simulation below."""
    others = reproduction.by_id("slowdown")
    columns = [(workload, load) for workload in runs.WORKLOADS for load in runs.LOADS]
    yield "p99.9 slowdown over all requests on 14 cores, with half of its 95 % interval; below it in brackets"
    yield "what another simulation found in one run of a million requests (`!!`: farther apart than the bar)"
    for part in (columns[:6], columns[6:]):
        names = (f"{workload} {load}" for workload, load in part)
        yield f"{'':<13}" + "".join(f"{name:>{_SLOWDOWN}}" for name in names)
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
            first, second = f"{first}{'n/a':>{_SLOWDOWN}}", f"{second}{'':>{_SLOWDOWN}}"
            continue
        other = others.get(f"slowdown/{workload}/{load}/{policy}")
        mark = "!!" if other is not None and other.status == Status.NOT_MET else ""
        half = "" if found.ci95 is None else f" ±{number(found.half, 2)}"
        first += f"{f'{mark}{number(found.value, 3)}{half}':>{_SLOWDOWN}}"
        second += f"{'' if other is None else f'({told(other.published)})':>{_SLOWDOWN}}"
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
    return [*lines, filled(words(found))]
