"""Results whose figures are about subjects, each with a kind and a name: what the node and the server share.

Source: the rows of ``crates/weir-lab/src/stats/figure.rs``. Times are in seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypedDict, Unpack

from weir.results.labels import short_labels
from weir.results.reading import ALL, refuse
from weir.results.result import Result, Section
from weir.results.rows import Against, Difference, Estimated, Of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from weir.results.rows import Need


@dataclass(frozen=True, kw_only=True)
class SubjectAbout:
    """What a figure is about; its name is ``all`` where it is about all of the kind."""

    __slots__ = ()
    kind: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectEstimate(Estimated, SubjectAbout, Of):
    """One estimated quantity with its 95 % confidence interval.

    Where ``value`` is None, or has no interval, ``reason`` says why.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectDifference(Difference, SubjectAbout, Against):
    """A discipline's value less the reference's, paired on the same work, replication by replication."""


class About(TypedDict, total=False):
    """What a figure is about, as `SubjectResult.estimate` explains."""

    name: str
    metric: str | None
    statistic: str
    kind: str | None


@dataclass(frozen=True, eq=False, repr=False)
class SubjectResult(Result):
    """What a run found out about subjects."""

    _usual: ClassVar[tuple[str, str]]
    _named = staticmethod(short_labels)

    estimates = Section(SubjectEstimate)
    """All estimates, one row each."""
    differences = Section(SubjectDifference)
    """Paired differences to the reference."""

    @property
    def usual(self) -> tuple[str, str]:
        """The kind and the metric that are asked for most."""
        return self._usual

    def estimate(self, discipline: str, **about: Unpack[About]) -> SubjectEstimate | None:
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
            As the rows list them: ``mean`` (if not given), ``p50``, ``max``, ...
        kind : str, optional
            As the rows list them; ``process`` of a node, ``class`` of a server if not given.
        """
        return self.estimates.find(discipline=discipline, **self._row(**about))

    def needed(self, discipline: str, need: Need) -> SubjectEstimate | None:
        """Return the figure that a need is about; of all together of whichever kind has it."""
        asked = {"discipline": discipline, "metric": need.metric, "statistic": need.statistic}
        if need.kind != ALL:
            return self.estimates.find(**asked, kind=need.kind, name=need.name)
        kinds = dict.fromkeys([self.usual[0], *(row.kind for row in self.estimates)])
        found = (self.estimates.find(**asked, kind=kind, name=ALL) for kind in kinds)
        return next((row for row in found if row is not None), None)

    def difference(self, discipline: str, **about: Unpack[About]) -> SubjectDifference | None:
        """Return the paired difference to the reference, if there is one; parameters as of `estimate`.

        Instead of the least and the longest, as ``max``, there are those of each replication's own, as
        ``replication_max``.
        """
        return self.differences.find(discipline=discipline, **self._row(**about))

    def _row(
        self, name: str = ALL, metric: str | None = None, statistic: str = "mean", kind: str | None = None
    ) -> dict[str, str]:
        """Return the fields of the row that a figure stands in."""
        usual_kind, usual_metric = self.usual
        return {
            "kind": usual_kind if kind is None else kind,
            "name": name,
            "metric": usual_metric if metric is None else metric,
            "statistic": statistic,
        }


def check_about(
    document: Mapping[str, Any], sections: Sequence[str], known: Mapping[str, Sequence[str]]
) -> None:
    """Refuse rows about kinds and names, all of a kind together besides, that are not known."""
    listed = {kind: {ALL, *names} for kind, names in known.items()}
    for section in sections:
        for place, row in enumerate(document[section]):
            if row["kind"] not in listed:
                refuse(f"{section}[{place}].kind", row["kind"], f"one of {', '.join(listed)}")
            if row["name"] not in listed[row["kind"]]:
                refuse(f"{section}[{place}].name", row["name"], "one that the result lists")
