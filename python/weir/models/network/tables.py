"""Tables of a network's result: disciplines side by side, flows and classes under each, links.

They go through `weir.results.tables`, so that a narrow terminal leaves out the columns of the highest rank.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from weir.results.reading import ALL
from weir.results.tables import (
    NONE,
    Column,
    Heading,
    cell,
    column,
    column_scale,
    columns_of,
    known,
    margin,
    marked,
    signed,
    spread,
    words,
)
from weir.text import absent, share

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from weir.models.network.result import About, NetworkResult
    from weir.models.network.rows import NetworkDifference, NetworkEstimate
    from weir.text import Scale

MOST_ROWS = 24
"""Flows, classes or links shown in a table of the terminal; files have all."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What figures are about: a flow, a class, a link, or all flows."""

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
        return result.estimate(discipline, **self._about(metric, statistic, interval))

    def difference(self, result: NetworkResult, discipline: str, metric: str) -> NetworkDifference | None:
        """Return the paired difference of an estimate about it."""
        return result.difference(discipline, **self._about(metric))

    def _about(self, metric: str, statistic: str = "mean", interval: str = ALL) -> About:
        flow, class_, link = (self.name if self.kind == kind else None for kind in ("flow", "class", "link"))
        found: About = {"metric": metric, "statistic": statistic, "interval": interval}
        return {**found, "flow": flow, "class_": class_, "link": link}


def subjects(result: NetworkResult, kind: str) -> list[Subject]:
    """Return the subjects of a kind that have figures: ``flow``, ``class``, ``link`` or ``all``."""
    links = tuple(link.name for link in result.links)
    names = {"flow": result.flows_measured, "class": result.classes, "link": links, ALL: (ALL,)}[kind]
    measured = {row.name for row in result.estimates if row.scope == kind}
    return [Subject(kind, name) for name in names if name in measured]


# How figures are written.


def _share(row: NetworkEstimate | None, _: Scale) -> str:
    if row is None:
        return NONE
    return absent(row.reason) if row.value is None else marked(share(row.value), row)


def _signed(row: NetworkDifference | None, scale: Scale) -> str:
    if row is None:
        return NONE
    if row.value is None:
        return absent(row.reason)
    if not row.settled:
        return marked(signed(row.value, None, None, scale), row)
    return signed(row.value, row.low, row.high, scale)


# Disciplines side by side.


def comparison_columns(result: NetworkResult) -> list[Column]:
    """Return disciplines x throughput, delay with difference, tails, loss and fairness, over all flows."""
    fairness = Heading("Jain", "jain", rank=4, text=spread)
    return _Pairs(result, [Subject(ALL, ALL)], result.disciplines).columns(fairness)


def subject_columns(
    result: NetworkResult, chosen: Sequence[Subject], disciplines: Sequence[str] | None = None
) -> list[Column]:
    """Return flows or classes x the same figures, each under the disciplines in turn."""
    return _Pairs(result, chosen, disciplines or result.disciplines).columns()


def link_columns(
    result: NetworkResult, disciplines: Sequence[str] | None = None, chosen: Sequence[Subject] | None = None
) -> list[Column]:
    """Return links x utilisation, drops and queue, each under the disciplines in turn."""
    links = subjects(result, "link") if chosen is None else chosen
    pairs = _Pairs(result, links, disciplines or result.disciplines)
    return known([*pairs.first(), *columns_of(_OF_LINKS, pairs.estimates)])


_TAILS = tuple(
    Heading(each, "delay", each, rank) for each, rank in {"p50": 8, "p99": 1, "p99.9": 9, "max": 3}.items()
)
_OF_LINKS = (
    Heading("utilisation", "utilisation", text=_share),
    Heading("drops", "drops", rank=1),
    Heading("mean queue", "queue", rank=2),
    Heading("longest queue", "queue", "max", 3),
    Heading("mean wait", "wait", rank=4),
)


class _Pairs:
    """The rows of a table: subjects, each under the disciplines in turn."""

    def __init__(self, result: NetworkResult, chosen: Sequence[Subject], disciplines: Sequence[str]) -> None:
        self.result = result
        self.several = len(disciplines) > 1
        self.all = [(name, subject) for subject in chosen for name in disciplines]

    def first(self) -> Iterator[Column]:
        """Yield the columns that say whom a row is about, and under which discipline."""
        kind = next((subject.kind for _, subject in self.all), ALL)
        if kind != ALL:
            yield words(kind, _first_of_each(subject.name for _, subject in self.all))
        if self.several or kind == ALL:
            yield words("discipline", (self.result.labels[name] for name, _ in self.all))

    def estimates(self, metric: str, statistic: str) -> list[NetworkEstimate | None]:
        """Return a figure for every row."""
        return [subject.estimate(self.result, name, metric, statistic) for name, subject in self.all]

    def columns(self, *more: Heading) -> list[Column]:
        """Return offer, throughput, delay and loss, with differences where disciplines are compared."""
        headings = (
            Heading("offer", "offer", rank=5, text=spread),
            Heading("throughput", "throughput", text=spread),
            Heading("mean delay", "delay", text=spread),
            *_TAILS,
            Heading("loss", "loss", text=_share),
            Heading("reordered", "reordered", rank=7, text=_share),
            *more,
        )
        made = columns_of(headings, self.estimates)
        if self.several:
            made.insert(3, self._versus("delay", 2))
            made.insert(2, self._versus("throughput", 6))
        return known([*self.first(), *made])

    def _versus(self, metric: str, rank: int) -> Column:
        """Return the paired differences to the reference, with their intervals."""
        rows = [subject.difference(self.result, name, metric) for name, subject in self.all]
        scale = column_scale(rows)
        head = f"vs {self.result.labels[self.result.reference]} {scale.header}".rstrip()
        return Column(head, tuple(_signed(row, scale) for row in rows), rank)


def _first_of_each(names: Iterable[str]) -> Iterator[str]:
    """Yield names with those that repeat the one above left empty."""
    before = None
    for name in names:
        yield "" if name == before else name
        before = name


def throughput_columns(result: NetworkResult, chosen: Sequence[Subject], interval: str) -> list[Column]:
    """Return flows x offer and throughput under each discipline, of packets sent in an interval."""

    def rows(name: str, metric: str) -> list[NetworkEstimate | None]:
        return [each.estimate(result, name, metric, interval=interval) for each in chosen]

    offers = rows(result.reference, "offer")
    found = {name: rows(name, "throughput") for name in result.disciplines}
    scale = column_scale([*offers, *(row for each in found.values() for row in each)])
    return [
        words("flow", (each.name for each in chosen)),
        column("offer", offers, scale=scale, text=cell),
        *(
            Column(result.labels[name], tuple(margin(row, scale) for row in each), rank)
            for rank, (name, each) in enumerate(found.items(), 1)
        ),
    ]
