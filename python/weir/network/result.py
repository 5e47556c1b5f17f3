"""Results of the network: typed views on the document that the engine wrote.

Source: the model of ``crates/weir-sim/src/network/outcome.rs``. Times are in seconds, rates in bits a second,
shares between 0 and 1; a packet belongs to the interval in which it was sent.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from weir.network.labels import labels
from weir.network.rows import (
    FlowRow,
    IntervalRow,
    LinkRow,
    NetworkDifference,
    NetworkDistribution,
    NetworkEstimate,
    Series,
    Totals,
)
from weir.reading import refuse
from weir.result import Result
from weir.rows import rows

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ALL", "NetworkResult"]

ALL = "all"
"""The name of all flows, and of the interval that is the whole run."""


@dataclass(frozen=True, eq=False, repr=False)
class NetworkResult(Result):
    """What a run of the network found out: throughput, delay and loss, by flow, class and link.

    Examples
    --------
    >>> result = weir.run("network.toml")                               # doctest: +SKIP
    >>> result.estimate("sfq", metric="throughput", flow="a to b").value  # doctest: +SKIP
    >>> result.estimate("sfq", statistic="p99", class_="control").value   # doctest: +SKIP
    >>> result.estimate("fifo", metric="utilisation", link="A-B").value   # doctest: +SKIP
    """

    _fields: ClassVar[Mapping[str, str]] = {"classes": "tuple[str, ...]"}
    _sections: ClassVar[Mapping[str, type]] = {
        "estimates": NetworkEstimate,
        "differences": NetworkDifference,
        "series": Series,
        "distributions": NetworkDistribution,
        "totals": Totals,
        "flows": FlowRow,
        "links": LinkRow,
        "intervals": IntervalRow,
    }

    @classmethod
    def check(cls, document: dict[str, Any]) -> None:
        """Check what was read; series of a flow have as many values under each discipline."""
        super().check(document)
        lengths: dict[str, int] = {}
        for place, row in enumerate(document.get("series", ())):
            if row["step"] <= 0:
                refuse(f"series[{place}].step", row["step"], "above 0")
            if lengths.setdefault(row["flow"], len(row["values"])) != len(row["values"]):
                refuse(f"series[{place}].values", row["values"], "as many as in the other series of the flow")

    @cached_property
    def estimates(self) -> tuple[NetworkEstimate, ...]:
        """All estimates, one row each."""
        return rows(NetworkEstimate, self.document["estimates"])

    @cached_property
    def differences(self) -> tuple[NetworkDifference, ...]:
        """Paired differences to the reference."""
        return rows(NetworkDifference, self.document.get("differences", []))

    @cached_property
    def series(self) -> tuple[Series, ...]:
        """Offer, throughput and delay of the flows over time."""
        return rows(Series, self.document.get("series", []))

    @cached_property
    def distributions(self) -> tuple[NetworkDistribution, ...]:
        """Histograms of delay."""
        return rows(NetworkDistribution, self.document.get("distributions", []))

    @cached_property
    def totals(self) -> tuple[Totals, ...]:
        """Packets counted, under each discipline."""
        return rows(Totals, self.document.get("totals", []))

    @cached_property
    def flows(self) -> tuple[FlowRow, ...]:
        """The flows, in the order of the scenario."""
        return rows(FlowRow, self.document.get("flows", []))

    @cached_property
    def links(self) -> tuple[LinkRow, ...]:
        """The links, in the order of the scenario."""
        return rows(LinkRow, self.document.get("links", []))

    @cached_property
    def intervals(self) -> tuple[IntervalRow, ...]:
        """The intervals of sending time; the first is the whole run."""
        return rows(IntervalRow, self.document.get("intervals", []))

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes of the flows, by name."""
        return tuple(self.document["classes"])

    @cached_property
    def labels(self) -> dict[str, str]:
        """A short name for each of `disciplines`."""
        return labels(self.disciplines)

    @property
    def replications(self) -> int:
        """Independent replications behind the figures."""
        return int(self.document.get("replications", 1))

    @cached_property
    def flows_measured(self) -> tuple[str, ...]:
        """The flows that have figures of their own; none where only classes were measured."""
        known = {row.name for row in self.estimates if row.scope == "flow"}
        return tuple(flow.name for flow in self.flows if flow.name in known)

    @cached_property
    def _index(self) -> dict[tuple[str, str, str, str, str, str], NetworkEstimate]:
        return {
            (row.discipline, row.scope, row.name, row.interval, row.metric, row.statistic): row
            for row in self.estimates
        }

    @cached_property
    def _differences(self) -> dict[tuple[str, str, str, str, str, str], NetworkDifference]:
        return {
            (row.discipline, row.scope, row.name, row.interval, row.metric, row.statistic): row
            for row in self.differences
        }

    def estimate(
        self,
        discipline: str,
        *,
        metric: str = "delay",
        statistic: str = "mean",
        flow: str | None = None,
        class_: str | None = None,
        link: str | None = None,
        interval: str = ALL,
    ) -> NetworkEstimate | None:
        """Return one estimate, or None if the run has no such row.

        Parameters
        ----------
        discipline : str
            A spec string of `disciplines`.
        metric : str
            ``delay``, ``throughput``, ``offer``, ``loss``, ``jain``, ``utilisation``, ...
        statistic : str
            ``mean``, ``p50``, ``p90``, ``p99``, ``p99.9``, ``max`` or ``min``.
        flow, class_, link : str, optional
            What it is about: a flow, a class, a link, a flow at a link; all flows if none is given.
        interval : str
            The name of one of `intervals`; the whole run if not given.
        """
        scope, name = _about(flow, class_, link)
        return self._index.get((discipline, scope, name, interval, metric, statistic))

    def difference(
        self,
        discipline: str,
        *,
        metric: str = "delay",
        statistic: str = "mean",
        flow: str | None = None,
        class_: str | None = None,
        link: str | None = None,
        interval: str = ALL,
    ) -> NetworkDifference | None:
        """Return the paired difference of an estimate to the reference's, if there is one."""
        scope, name = _about(flow, class_, link)
        return self._differences.get((discipline, scope, name, interval, metric, statistic))

    def over_time(self, discipline: str, flow: str, metric: str = "throughput") -> Series | None:
        """Return a flow's figures over time, if there are any."""
        wanted = (discipline, flow, metric)
        found = (row for row in self.series if (row.discipline, row.flow, row.metric) == wanted)
        return next(found, None)


def _about(flow: str | None, class_: str | None, link: str | None) -> tuple[str, str]:
    """Return scope and name of what a figure is about."""
    if class_ is not None and class_ != ALL:
        return "class", class_
    if flow is not None and link is not None:
        return "hop", f"{flow} @ {link}"
    if link is not None:
        return "link", link
    return ("flow", flow) if flow is not None else (ALL, ALL)
