"""The tables of the study, as rows of text and as Markdown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from weir.reproduce.sfq.study import parts
from weir.results.labels import labels
from weir.text import plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weir.models.network.result import NetworkResult
    from weir.models.network.rows import NetworkEstimate
    from weir.reproduce.sfq.study import Study
    from weir.reproduce.sfq.study.parts import Run

_ALONE = 0.75
"""A flow with less than this of the largest throughput shares its queue."""


@dataclass(frozen=True, slots=True)
class Table:
    """One table: what it shows, its columns, its rows; the first column names the row."""

    title: str
    note: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def jain(result: NetworkResult, discipline: str, interval: str = "all") -> NetworkEstimate | None:
    """Return Jain's index of the flows' throughputs."""
    return result.estimate(discipline, metric="jain", interval=interval)


def worst(result: NetworkResult, discipline: str, interval: str = "all") -> NetworkEstimate | None:
    """Return the least throughput of a flow over the mean of all."""
    return result.estimate(discipline, metric="share", statistic="min", interval=interval)


def _cell(row: NetworkEstimate | None, digits: int = 3) -> str:
    if row is None or row.value is None:
        return f"n/a ({row.reason})" if row is not None and row.reason else "n/a"
    if row.low is None or row.high is None:
        return f"{row.value:.{digits}f}"
    return f"{row.value:.{digits}f} ±{(row.high - row.low) / 2:.{digits}f}"


def colliding_share(result: NetworkResult, discipline: str) -> float:
    """Return the share of flows that get less than a queue's turn, in a run of one draw."""
    found = [
        row.value
        for row in result.estimates
        if (row.discipline, row.scope, row.metric, row.interval) == (discipline, "flow", "throughput", "all")
        and row.value is not None
    ]
    most = max(found, default=0.0)
    return sum(value < _ALONE * most for value in found) / len(found) if found else 0.0


def tables(study: Study) -> Iterator[Table]:
    """Yield the tables of the study, of those parts that were run."""
    yield from _over_flows(study)
    yield from _collisions(study)
    yield from _policies(study)
    yield from _adversary(study)
    yield from _staggered(study)


def _over_flows(study: Study) -> Iterator[Table]:
    found = study.of("flows")
    if not found:
        return
    head = ("discipline", *(plural(run.flows, "flow") for run in found))
    for title, measure, note in (
        ("Jain's index over the number of flows", jain, "1 where all flows get the same."),
        ("Worst flow's share over the number of flows", worst, "The least throughput over the mean."),
    ):
        rows = tuple(
            (label, *(_cell(measure(result, result.disciplines[place])) for result in found.values()))
            for place, label in enumerate(parts.COUNTED)
        )
        whole = f"{note} Each flow offers twice its share; 95 % intervals over the maps."
        yield Table(title, whole, head, rows)


def _collisions(study: Study) -> Iterator[Table]:
    found = study.of("collisions")
    if not found:
        return
    flows = list(dict.fromkeys(run.flows for run in found))
    rows = tuple(
        (plural(queues, "queue"), *(_counted(found, place, queues, each) for each in flows))
        for place, queues in enumerate(parts.QUEUES)
    )
    draws = len(found) // len(flows)
    note = (
        f"Share of flows that share a queue, mean of {draws} draws of the keyed hash; in brackets 1 − (1 − "
        "1/q)^(n−1). Counted where some flow still has a queue to itself: up to two flows a queue."
    )
    yield Table(
        "Colliding flows, counted and exact",
        note,
        ("queues", *(plural(each, "flow") for each in flows)),
        rows,
    )


def _counted(found: dict[Run, NetworkResult], place: int, queues: int, flows: int) -> str:
    """Return the share of flows that collide in the draws of one size, next to the exact one."""
    exact = f"({100 * parts.colliding(flows, queues):.1f} %)"
    if flows > 2 * queues:
        return f"– {exact}"
    draws = [result for run, result in found.items() if run.flows == flows]
    share = sum(colliding_share(result, result.disciplines[place]) for result in draws) / len(draws)
    return f"{100 * share:.1f} % {exact}"


def _policies(study: Study) -> Iterator[Table]:
    for run, result in study.of("perturbation").items():
        names = [row.name for row in result.intervals[1:]]
        rows = tuple(
            (label, *_policy(result, spec, names))
            for label, spec in zip(parts.POLICIES, result.disciplines, strict=True)
        )
        spans = (f"Jain, {row.from_:g} to {row.to:g} s" for row in result.intervals[1:])
        head = ("seed changes", *spans, "worst share", "reordered")
        yield Table(f"Perturbation, {run.label}", _OF_POLICIES, head, rows)


_OF_POLICIES = (
    "16 flows, 32 queues. Where the line is overloaded it is never idle, and `idle` is `never`: the first "
    "map stays. Where queues empty, the map hardly matters to throughput, and what a timer leaves is "
    "reordering."
)


def _policy(result: NetworkResult, spec: str, intervals: list[str]) -> Iterator[str]:
    for name in intervals:
        yield _cell(jain(result, spec, name))
    yield _cell(worst(result, spec))
    reordered = result.estimate(spec, metric="reordered")
    known = reordered is not None and reordered.value is not None
    yield f"{100 * (reordered.value or 0.0):.3f} %" if reordered is not None and known else "n/a"


def _adversary(study: Study) -> Iterator[Table]:
    found = study.of("adversary")
    if not found:
        return
    first = next(iter(found.values()))
    names = labels(first.disciplines)
    rows = tuple(
        (names[spec], *(_victim(result, result.disciplines[place]) for result in found.values()))
        for place, spec in enumerate(first.disciplines)
    )
    head = ("discipline", *(f"attack: {run.label}" for run in found))
    note = (
        "What the victim gets over its equal share of the line, among 15 others and 8 attackers; 1 is "
        "fair, and above 1 the others collide among themselves. 1,024 queues, a new seed each second."
    )
    yield Table("An adversary who chooses addresses", note, head, rows)


def _victim(result: NetworkResult, discipline: str) -> str:
    row = result.estimate(discipline, metric="throughput", flow="victim")
    if row is None or row.value is None:
        return "n/a"
    fair = parts.CAPACITY / len(result.flows)
    half = 0.0 if row.low is None or row.high is None else (row.high - row.low) / 2
    return f"{row.value / fair:.2f} ±{half / fair:.2f}"


def _staggered(study: Study) -> Iterator[Table]:
    for run, result in study.of("staggered").items():
        names = [row.name for row in result.intervals[1:]]
        rows = tuple(
            (
                label,
                *(_cell(jain(result, result.disciplines[place], name), 2) for name in names),
                _cell(worst(result, result.disciplines[place], names[-1]), 2),
            )
            for place, label in enumerate(parts.STAGGERED)
        )
        steps = (f"{run.flows * (k + 1) // len(names):,} flows" for k in range(len(names)))
        head = ("Jain's index", *steps, "worst share, last")
        note = (
            "Flows begin in eight groups, one after the other; each offers four times its final share, so "
            "that the line is full from the second group on. The index is over the flows that send."
        )
        yield Table(f"Staggered streams: {run.label}", note, head, rows)


def text(study: Study) -> str:
    """Return all tables as Markdown."""
    return "\n".join(_markdown(table) for table in tables(study))


def _markdown(table: Table) -> str:
    lines = [
        f"## {table.title}",
        "",
        table.note,
        "",
        f"| {' | '.join(table.head)} |",
        f"|---|{'--:|' * (len(table.head) - 1)}",
        *(f"| {' | '.join(row)} |" for row in table.rows),
        "",
    ]
    return "\n".join(lines)
