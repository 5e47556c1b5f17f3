"""Tables of a network's result: disciplines beside each other, flows and classes under each, links.

They go through `weir.results.tables`, so that a narrow terminal leaves out the columns of the highest rank.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from weir.results.reading import ALL
from weir.results.tables import NONE, Column, cell, column, column_scale, known, spread
from weir.text import absent, number, share

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from weir.models.network.result import NetworkResult
    from weir.models.network.rows import NetworkDifference, NetworkEstimate

__all__ = [
    "MOST_ROWS",
    "Subject",
    "comparison_columns",
    "link_columns",
    "links_measured",
    "subject_columns",
    "subjects",
    "throughput_columns",
]

MOST_ROWS = 24
"""Flows, classes or links shown in a table of the terminal; files have all."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What figures are about: a flow, a class, or all flows."""

    kind: str
    name: str

    def estimate(
        self,
        result: NetworkResult,
        discipline: str,
        metric: str,
        statistic: str = "mean",
        interval: str = ALL,
    ) -> NetworkEstimate | None:
        """Return one estimate about it."""
        flow, class_ = (self.name if self.kind == kind else None for kind in ("flow", "class"))
        return result.estimate(
            discipline, metric=metric, statistic=statistic, flow=flow, class_=class_, interval=interval
        )

    def difference(
        self, result: NetworkResult, discipline: str, metric: str, statistic: str = "mean"
    ) -> NetworkDifference | None:
        """Return the paired difference of an estimate about it."""
        flow, class_ = (self.name if self.kind == kind else None for kind in ("flow", "class"))
        return result.difference(discipline, metric=metric, statistic=statistic, flow=flow, class_=class_)


def subjects(result: NetworkResult, kind: str) -> list[Subject]:
    """Return the subjects of a kind that have figures: ``flow``, ``class`` or ``all``."""
    names = {"flow": result.flows_measured, "class": result.classes, ALL: (ALL,)}[kind]
    measured = {row.name for row in result.estimates if row.scope == kind}
    return [Subject(kind, name) for name in names if name in measured]


# Disciplines beside each other.


def comparison_columns(result: NetworkResult) -> list[Column]:
    """Return disciplines x throughput, delay with difference, tails, loss and fairness, over all flows."""
    return _columns(result, [(name, Subject(ALL, ALL)) for name in result.disciplines], fairness=True)


def subject_columns(
    result: NetworkResult, chosen: Sequence[Subject], disciplines: Sequence[str] | None = None
) -> list[Column]:
    """Return flows or classes x the same figures, each under the disciplines in turn."""
    names = result.disciplines if disciplines is None else disciplines
    return _columns(result, [(name, subject) for subject in chosen for name in names], fairness=False)


Pair = tuple[str, Subject]


def _columns(result: NetworkResult, pairs: Sequence[Pair], *, fairness: bool) -> list[Column]:
    kinds = {subject.kind for _, subject in pairs} - {ALL}
    several = len({name for name, _ in pairs}) > 1
    columns: list[Column] = []
    if kinds:
        columns.append(
            Column(kinds.pop(), _first_of_each(subject.name for _, subject in pairs), numeric=False)
        )
    if several or not columns:
        columns.append(Column("discipline", tuple(result.labels[name] for name, _ in pairs), numeric=False))
    compared = several and len(result.disciplines) > 1
    columns += [
        column("offer", _figures(result, pairs, "offer"), 5, text=spread),
        column("throughput", _figures(result, pairs, "throughput"), text=spread),
        *([_versus(result, pairs, "throughput", rank=6)] if compared else []),
        column("mean delay", _figures(result, pairs, "delay"), text=spread),
        *([_versus(result, pairs, "delay", rank=2)] if compared else []),
        *_tails(result, pairs),
        _shares(result, pairs, "loss", 0),
        _shares(result, pairs, "reordered", 7),
    ]
    if fairness:
        columns.append(column("Jain", _figures(result, pairs, "jain"), 4, text=spread))
    return known(columns)


def _first_of_each(names: Iterable[str]) -> tuple[str, ...]:
    """Return names with those that repeat the one above left empty."""
    before, made = None, []
    for name in names:
        made.append("" if name == before else name)
        before = name
    return tuple(made)


def _figures(
    result: NetworkResult, pairs: Sequence[Pair], metric: str, statistic: str = "mean"
) -> list[NetworkEstimate | None]:
    return [subject.estimate(result, name, metric, statistic) for name, subject in pairs]


def _tails(result: NetworkResult, pairs: Sequence[Pair]) -> list[Column]:
    return [
        column(statistic, _figures(result, pairs, "delay", statistic), rank)
        for statistic, rank in (("p50", 8), ("p99", 1), ("p99.9", 9), ("max", 3))
    ]


def _versus(result: NetworkResult, pairs: Sequence[Pair], metric: str, rank: int) -> Column:
    """Return the paired differences to the reference, with their intervals."""
    rows = [subject.difference(result, name, metric) for name, subject in pairs]
    scale = column_scale(rows)
    cells = tuple(_signed(row, scale.factor) for row in rows)
    return Column(f"vs {result.labels[result.reference]} {scale.header}".rstrip(), cells, rank)


def _signed(row: NetworkDifference | None, factor: float) -> str:
    if row is None:
        return NONE
    if row.value is None:
        return absent(row.reason)
    value = row.value / factor
    sign = "+" if value > 0 else "−" if value < 0 else ""
    half = None if row.low is None or row.high is None else (row.high - row.low) / 2 / factor
    margin = "" if half is None else f" ±{number(half, 2)}"
    return f"{sign}{number(abs(value), 3)}{margin}"


def _shares(result: NetworkResult, pairs: Sequence[Pair], metric: str, rank: int) -> Column:
    return Column(metric, tuple(map(_share, _figures(result, pairs, metric))), rank)


def _share(row: NetworkEstimate | None) -> str:
    if row is None:
        return NONE
    return absent(row.reason) if row.value is None else share(row.value)


# Flows x disciplines, and links.


def throughput_columns(result: NetworkResult, chosen: Sequence[Subject], interval: str) -> list[Column]:
    """Return flows x offer and throughput under each discipline, of packets sent in an interval."""
    offers = [each.estimate(result, result.reference, "offer", interval=interval) for each in chosen]
    rows = {
        name: [each.estimate(result, name, "throughput", interval=interval) for each in chosen]
        for name in result.disciplines
    }
    scale = column_scale([row for each in (offers, *rows.values()) for row in each if row is not None])
    kind = chosen[0].kind if chosen else "flow"
    return [
        Column(kind, tuple(each.name for each in chosen), numeric=False),
        Column(f"offer {scale.header}".rstrip(), tuple(cell(row, scale) for row in offers)),
        *(
            Column(result.labels[name], tuple(cell(row, scale, margin=True) for row in found), rank=1 + place)
            for place, (name, found) in enumerate(rows.items())
        ),
    ]


def links_measured(result: NetworkResult) -> list[str]:
    """Return the links that have figures, by name."""
    measured = {row.name for row in result.estimates if row.scope == "link"}
    return [link.name for link in result.links if link.name in measured]


def link_columns(
    result: NetworkResult, disciplines: Sequence[str] | None = None, names: Sequence[str] | None = None
) -> list[Column]:
    """Return links x utilisation, drops and queue, each under the disciplines in turn."""
    wanted = links_measured(result) if names is None else names
    specs = result.disciplines if disciplines is None else disciplines
    pairs = [(name, link) for link in wanted for name in specs]

    def rows(metric: str, statistic: str = "mean") -> list[NetworkEstimate | None]:
        return [result.estimate(name, metric=metric, statistic=statistic, link=link) for name, link in pairs]

    columns = [
        Column("link", _first_of_each(link for _, link in pairs), numeric=False),
        *(
            [Column("discipline", tuple(result.labels[name] for name, _ in pairs), numeric=False)]
            if len(specs) > 1
            else []
        ),
        Column("utilisation", tuple(map(_share, rows("utilisation")))),
        *(
            column(header, rows(metric, statistic), rank)
            for header, metric, statistic, rank in (
                ("drops", "drops", "mean", 1),
                ("mean queue", "queue", "mean", 2),
                ("longest queue", "queue", "max", 3),
                ("mean wait", "wait", "mean", 4),
            )
        ),
    ]
    return known(columns)
