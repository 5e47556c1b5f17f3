"""The reproduction as one HTML file: verdict, figures, claims, tables, and when separation pays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.reproduce.checks import Status
from weir.reproduce.markup import (
    STYLE,
    bold_cell,
    cell,
    headline,
    mark,
    note,
    row_name,
    table_of,
    two_lines,
)
from weir.reproduce.steer import runs
from weir.reproduce.steer.cells import slowdown
from weir.reproduce.steer.evidence import NotMeasuredError
from weir.reproduce.steer.figures import drawings
from weir.reproduce.steer.sweep import BOTH, OTHERS, words
from weir.results.page import charts_of, drawn, page, section
from weir.text import number, plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from weir.reproduce.checks import Check
    from weir.reproduce.steer.claims import Judgement
    from weir.reproduce.steer.document import SteerReproduction
    from weir.reproduce.steer.sweep import Row

__all__ = ["html"]

_HEADLINES = (
    "Published headlines, from abstracts and not of this workload: Shinjuku (NSDI 2019) preempts every "
    "5 us and has up to 6.6 times the throughput and an 88 % lower tail on RocksDB than IX and ZygOS. "
    "ZygOS (SOSP 2017) reaches 75 % of the load of an ideal central queue at 10 us tasks and 88 % at 25 "
    "us. Shenango (NSDI 2019) reallocates cores every 5 us. Syrup (SOSP 2021): up to 8 times over "
    "default policies. RackSched (OSDI 2020): up to 1.44 times the throughput. Concord (SOSP 2023): up "
    "to 52 % more throughput on microbenchmarks, 83 % on LevelDB. Tiny Quanta (ASPLOS 2024): 1.2 to 6.8 "
    "times the throughput of earlier blind schedulers. None of them is checked here."
)


def html(reproduction: SteerReproduction) -> str:
    """Return the document."""
    figures = drawings(reproduction)
    title = f"Packet-to-CPU steering, reproduced ({reproduction.checks.fidelity})"
    of_kind = reproduction.checks.of_kind
    sections = [
        STYLE,
        headline("weir reproduction", title, reproduction.verdict(), _facts(reproduction)),
        section("What is not met, or cannot be checked", _missed(reproduction)),
        section("Claims", table_of(_CLAIM, map(_claim, reproduction.judgements), text=6)),
        section("The twelve orderings", _values(of_kind("order"), "ordering")),
        section("The lab's model beside another simulation of it", _values(of_kind("model"), "other")),
        section("p99.9 slowdown of policies", _slowdowns(reproduction)),
        section("Properties", _values(of_kind("property"), "property")),
        section("When does separation with dynamic allocation pay?", _sweep(reproduction.sweep)),
        *(section(figure.title, drawn(figure, index)) for index, figure in enumerate(figures)),
    ]
    return page(title, "".join(sections), charts_of(figures))


def _facts(reproduction: SteerReproduction) -> tuple[str, ...]:
    return (
        f"{plural(reproduction.met, 'check')} met",
        f"{reproduction.not_met:,} not met",
        f"{reproduction.artefact:,} artefacts",
        f"{reproduction.not_checkable:,} not checkable",
        f"{reproduction.evidence.requests:,} requests",
    )


def _missed(reproduction: SteerReproduction) -> str:
    missed = [check for check in reproduction.checks.checks if check.status != Status.MET]
    return _values(missed, "published") if missed else ""


def _values(checks: Iterable[Check], wanted: str) -> str:
    return table_of(("", "what", wanted, "measured", "bar", "how, and why"), map(_listed, checks), text=2)


def _listed(check: Check) -> Iterator[str]:
    yield mark(check)
    yield row_name(check.id)
    yield cell(_number(check.published), "text wrap" if isinstance(check.published, str) else "")
    interval = "" if check.ci95 is None else f"{check.ci95[0]:.4g} to {check.ci95[1]:.4g}"
    yield two_lines(_number(check.measured), interval, "text wrap" if isinstance(check.measured, str) else "")
    yield cell("" if check.tolerance is None else f"±{check.tolerance:.3g}")
    yield cell(check.note, "text wrap")


def _number(value: float | str | None) -> str:
    return number(value) if isinstance(value, float) else str(value or "n/a")


_CLAIM = ("", "", "policy", "traffic", "claim", "found", "reason")


def _claim(judgement: Judgement) -> Iterator[str]:
    check, claim = judgement.check, judgement.published
    unit = " us" if isinstance(check.measured, float) else ""
    yield mark(check)
    yield cell(claim.id, "text")
    yield cell(claim.policy, "text")
    yield cell(claim.traffic, "text")
    yield cell(claim.text, "text wrap")
    yield cell(f"{_number(check.measured)}{unit}", "text wrap")
    yield cell(check.note, "text wrap")


def _slowdowns(reproduction: SteerReproduction) -> str:
    columns = [(workload, load) for workload in runs.WORKLOADS for load in runs.LOADS]
    others = {check.id.partition("/")[2]: check for check in reproduction.checks.of_kind("slowdown")}

    def row(policy: str) -> Iterator[str]:
        yield row_name(policy)
        for workload, load in columns:
            try:
                found = slowdown(reproduction.evidence, policy, workload, load)
            except NotMeasuredError as missing:
                yield cell("n/a", title=str(missing))
                continue
            interval = "" if found.interval is None else f"{found.interval[0]:.3g} to {found.interval[1]:.3g}"
            other = others.get(f"{workload}/{load}/{policy}")
            if other is None:
                yield two_lines(number(found.value, 3), interval)
            else:
                beside = f"{interval} · other: {_number(other.published)}"
                yield bold_cell(other, number(found.value, 3), beside)

    head = ("policy", *(f"{workload} {load}" for workload, load in columns))
    below = note(
        "Over all requests, with 95 % intervals, and beside them what another simulation found in one run "
        "of a million requests. High: half 1 us, half 100 us. Extreme: 99.5 % 0.5 us, 0.5 % 500 us. "
        "RocksDB-like: half 1.5 us, half 635 us. 14 cores, Poisson arrivals. preemptive: quantum 5 us, cost "
        "0.5 us; separated: cores by demand, at least one a class."
    )
    return table_of(head, map(row, runs.POLICIES)) + below + note(_HEADLINES)


def _sweep(found: tuple[Row, ...]) -> str:
    if not found:
        return ""
    head = ("long", "times", "arrivals", "load", *OTHERS, BOTH, "cores, dynamic", f"cores, {BOTH}")
    below = note(
        "p99.9 slowdown over all requests on eight cores; a short request takes 1 us. Below each other "
        f"policy its paired difference from {BOTH} with 95 % interval: green where that one is clearly "
        "better, red where it is clearly worse. Cores: in use, as a mean over time."
    )
    return note(words(found)) + table_of(head, map(_row, found)) + below


_SIGNS = {1: "ok", -1: "bad", 0: "text"}


def _row(row: Row) -> Iterator[str]:
    grid = row.cell
    yield cell(f"{grid.share:.1%}")
    yield cell(f"{grid.ratio}")
    yield cell("bursts" if grid.bursts else "Poisson", "text")
    yield cell(f"{grid.load:g}")
    for name in OTHERS:
        less = row.less[name]
        interval = "" if less.interval is None else f" ({less.interval[0]:.3g} to {less.interval[1]:.3g})"
        below = f"{less.value:+.3g}{interval}"
        yield two_lines(number(row.slowdown[name].value, 3), below, _SIGNS[row.verdict(name)])
    yield cell(number(row.slowdown[BOTH].value, 3))
    yield cell(f"{row.cores['dynamic']:.1f}")
    yield cell(f"{row.cores[BOTH]:.1f}")
