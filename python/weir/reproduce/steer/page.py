"""The reproduction as one HTML file: verdict, figures, claims, tables, and when separation pays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.reproduce.engine.checks import Status
from weir.reproduce.engine.evidence import NotMeasuredError
from weir.reproduce.engine.page import (
    bar_cell,
    bold_cell,
    cell,
    cells,
    figure_sections,
    mark,
    row_name,
    shown,
    span,
    table_of,
    two_lines,
)
from weir.reproduce.engine.text import told
from weir.reproduce.steer import runs
from weir.reproduce.steer.cells import slowdown
from weir.reproduce.steer.figures import drawings
from weir.reproduce.steer.sweep import BOTH, OTHERS, words
from weir.results.page import note
from weir.text import number

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from weir.reproduce.engine.checks import Check
    from weir.reproduce.engine.evidence import Measured
    from weir.reproduce.engine.judgement import Judgement
    from weir.reproduce.steer import SteerReproduction
    from weir.reproduce.steer.published import PublishedClaim
    from weir.reproduce.steer.sweep import Row

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
    figures, of_kind = drawings(reproduction), reproduction.checks.of_kind
    missed = reproduction.of_status(Status.NOT_MET, Status.ARTEFACT, Status.NOT_CHECKABLE)
    claim = ("", "", "policy", "traffic", "claim", "found", "reason")
    sections = [
        ("What is not met, or cannot be checked", _values(missed, "published") if missed else ""),
        ("Claims", table_of(claim, map(_claim, reproduction.judgements), text=6)),
        ("The twelve orderings", _values(of_kind("order"), "ordering")),
        ("The lab's model next to another simulation of it", _values(of_kind("model"), "other")),
        ("p99.9 slowdown of policies", _slowdowns(reproduction)),
        ("Properties", _values(of_kind("property"), "property")),
        ("When does separation with dynamic allocation pay?", _sweep(reproduction.sweep)),
        *figure_sections(figures),
    ]
    return shown(reproduction, sections, figures)


def _values(checks: Iterable[Check], wanted: str) -> str:
    return table_of(("", "what", wanted, "measured", "bar", "how, and why"), map(_listed, checks), text=2)


def _listed(check: Check) -> Iterator[str]:
    yield mark(check)
    yield row_name(check.id)
    yield cell(told(check.published), _kind(check.published))
    yield two_lines(told(check.measured), span(check), _kind(check.measured))
    yield bar_cell(check)
    yield cell(check.note, "text wrap")


def _kind(value: float | str | None) -> str:
    return "text wrap" if isinstance(value, str) else ""


def _claim(judgement: Judgement[PublishedClaim]) -> Iterator[str]:
    check, claim = judgement.check, judgement.published
    unit = " us" if isinstance(check.measured, float) else ""
    yield mark(check)
    yield from cells("text", claim.id, claim.policy, claim.traffic)
    yield from cells("text wrap", claim.text, f"{told(check.measured)}{unit}", check.note)


def _slowdowns(reproduction: SteerReproduction) -> str:
    columns = [(workload, load) for workload in runs.WORKLOADS for load in runs.LOADS]
    others = reproduction.by_id("slowdown")

    def row(policy: str) -> Iterator[str]:
        yield row_name(policy)
        for workload, load in columns:
            try:
                found = slowdown(reproduction.evidence, policy, workload, load)
            except NotMeasuredError as missing:
                yield cell("n/a", title=str(missing))
                continue
            interval = _span(found)
            other = others.get(f"slowdown/{workload}/{load}/{policy}")
            if other is None:
                yield two_lines(number(found.value, 3), interval)
            else:
                beside = f"{interval} · other: {told(other.published)}"
                yield bold_cell(other, number(found.value, 3), beside)

    head = ("policy", *(f"{workload} {load}" for workload, load in columns))
    below = note(
        "Over all requests, with 95 % intervals, and next to them what another simulation found in one run "
        "of a million requests. High: half 1 us, half 100 us. Extreme: 99.5 % 0.5 us, 0.5 % 500 us. "
        "RocksDB-like: half 1.5 us, half 635 us. 14 cores, Poisson arrivals. preemptive: quantum 5 us, cost "
        "0.5 us; separated: cores by demand, at least one a class."
    )
    return table_of(head, map(row, runs.POLICIES)) + below + note(_HEADLINES)


def _span(found: Measured) -> str:
    return "" if found.ci95 is None else f"{found.low:.3g} to {found.high:.3g}"


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
    yield from cells("", f"{grid.share:.1%}", f"{grid.ratio}")
    yield cell("bursts" if grid.bursts else "Poisson", "text")
    yield cell(f"{grid.load:g}")
    for name in OTHERS:
        less = row.less[name]
        interval = _span(less)
        below = f"{less.value:+.3g}" + (f" ({interval})" if interval else "")
        yield two_lines(number(row.slowdown[name].value, 3), below, _SIGNS[row.verdict(name)])
    in_use = (f"{row.cores[name]:.1f}" for name in ("dynamic", BOTH))
    yield from cells("", number(row.slowdown[BOTH].value, 3), *in_use)
