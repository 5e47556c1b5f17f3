"""Results whose figures are about subjects, each with a kind and a name: what the node and the server share.

Source: the rows of ``crates/weir-sim/src/stats/figure.rs``. Times are in seconds. A look-up takes O(1) after
the first, which takes O(rows).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from weir.fabric.labels import labels
from weir.reading import check_bins, check_interval, refuse
from weir.result import Result
from weir.rows import Comparison, rows

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

__all__ = [
    "ALL",
    "SubjectDifference",
    "SubjectEstimate",
    "SubjectResult",
    "check_counts",
    "check_figures",
    "check_listed",
    "check_names",
    "check_subjects",
]

ALL = "all"
"""The name of all of a kind together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectEstimate:
    """One estimated quantity with its 95 % confidence interval.

    Where ``value`` is None, or has no interval, ``reason`` says why.
    """

    discipline: str
    kind: str
    name: str
    metric: str
    statistic: str
    value: float | None
    low: float | None
    high: float | None
    standard_error: float | None
    count: int
    method: str | None
    unit: str
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectDifference(Comparison):
    """A discipline's value less the reference's, paired on the same work, replication by replication."""

    discipline: str
    reference: str
    kind: str
    name: str
    metric: str
    statistic: str
    value: float | None
    low: float | None
    high: float | None
    unit: str
    reason: str | None


AnEstimate = TypeVar("AnEstimate", bound=SubjectEstimate)
ADifference = TypeVar("ADifference", bound=SubjectDifference)


@dataclass(frozen=True, eq=False, repr=False)
class SubjectResult(Result, Generic[AnEstimate, ADifference]):
    """What a run found out about subjects; ``_usual`` is the kind and the metric that is asked for most."""

    _usual: ClassVar[tuple[str, str]]

    @cached_property
    def estimates(self) -> tuple[AnEstimate, ...]:
        """All estimates, one row each."""
        return rows(self._sections["estimates"], self.document["estimates"])

    @cached_property
    def differences(self) -> tuple[ADifference, ...]:
        """Paired differences to the reference."""
        return rows(self._sections["differences"], self.document["differences"])

    @property
    def measured(self) -> float:
        """The measured time of a replication, in seconds."""
        return float(self.document["measured"])

    @property
    def replications(self) -> int:
        """Independent replications behind the figures."""
        return int(self.document["replications"])

    @cached_property
    def labels(self) -> dict[str, str]:
        """A short name for each of `disciplines`."""
        return labels(self.disciplines)

    @cached_property
    def _index(self) -> dict[tuple[str, ...], AnEstimate]:
        return {_key(row): row for row in self.estimates}

    @cached_property
    def _differences(self) -> dict[tuple[str, ...], ADifference]:
        return {_key(row): row for row in self.differences}

    def estimate(
        self,
        discipline: str,
        *,
        name: str = ALL,
        metric: str | None = None,
        statistic: str = "mean",
        kind: str | None = None,
    ) -> AnEstimate | None:
        """Return one estimate, or None if the run has no such row.

        Parameters
        ----------
        discipline : str
            A spec string of `disciplines`.
        name : str
            The subject; all of the kind, of a node but for the system's, if not given.
        metric : str, optional
            As the rows list them; ``response`` of a node, ``delay`` of a server if not given.
        statistic : str
            As the rows list them: ``mean``, ``p50``, ``max``, ...
        kind : str, optional
            As the rows list them; ``process`` of a node, ``class`` of a server if not given.
        """
        return self._index.get(self._wanted(discipline, kind, name, metric, statistic))

    def difference(
        self,
        discipline: str,
        *,
        name: str = ALL,
        metric: str | None = None,
        statistic: str = "mean",
        kind: str | None = None,
    ) -> ADifference | None:
        """Return the paired difference to the reference, if there is one; parameters as of `estimate`.

        Instead of the least and the longest, as ``max``, there are those of each replication's own, as
        ``replication_max``.
        """
        return self._differences.get(self._wanted(discipline, kind, name, metric, statistic))

    def _wanted(
        self, discipline: str, kind: str | None, name: str, metric: str | None, statistic: str
    ) -> tuple[str, ...]:
        usual_kind, usual_metric = self._usual
        kind = usual_kind if kind is None else kind
        return (discipline, kind, name, usual_metric if metric is None else metric, statistic)


def _key(row: SubjectEstimate | SubjectDifference) -> tuple[str, ...]:
    return (row.discipline, row.kind, row.name, row.metric, row.statistic)


# What the document must be beyond the types of its fields.


def check_names(where: str, names: Sequence[str], *, empty: bool = False) -> None:
    """Refuse subjects that cannot be told apart, or none unless it may be empty."""
    if len(set(names)) < len(names) or ALL in names or not (names or empty):
        refuse(where, names, f"by different names, none of them `{ALL}`")


def check_listed(where: str, name: str, known: Container[str]) -> None:
    """Refuse a name that is none of these."""
    if name not in known:
        refuse(where, name, "one that the result lists")


def check_subjects(
    document: Mapping[str, Any], sections: Sequence[str], known: Mapping[str, Sequence[str]]
) -> None:
    """Refuse rows about kinds and names, `ALL` besides, that are not known."""
    listed = {kind: {ALL, *names} for kind, names in known.items()}
    for section in sections:
        for place, row in enumerate(document[section]):
            if row["kind"] not in listed:
                refuse(f"{section}[{place}].kind", row["kind"], f"one of {', '.join(listed)}")
            check_listed(f"{section}[{place}].name", row["name"], listed[row["kind"]])


def check_figures(document: Mapping[str, Any]) -> None:
    """Refuse no measured time, intervals that end before they begin or are half, and bins out of order."""
    if document["measured"] <= 0:
        refuse("measured", document["measured"], "above 0")
    for section in ("estimates", "differences"):
        for place, row in enumerate(document[section]):
            check_interval(f"{section}[{place}]", row, "low", "high")
    for place, row in enumerate(document["distributions"]):
        check_bins(f"distributions[{place}]", row)


def check_counts(document: Mapping[str, Any], sections: Sequence[str]) -> None:
    """Refuse counts and times below zero."""
    for section in sections:
        for place, row in enumerate(document[section]):
            for key, value in row.items():
                least = min(value, default=0) if isinstance(value, list) else value
                if isinstance(least, int | float) and least < 0:
                    refuse(f"{section}[{place}].{key}", value, "0 or more")
