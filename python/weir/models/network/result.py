"""Results of the network: typed views on the document that the engine wrote.

Source: the model of ``crates/weir-network/src/outcome.rs``. Times are in seconds, rates in bits a second,
shares between 0 and 1; a packet belongs to the interval in which it was sent.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, TypedDict, Unpack

from weir.models.network import rows
from weir.results.labels import labels
from weir.results.reading import ALL, check_delays, check_positive, refuse
from weir.results.result import Field, Section
from weir.results.rows import DelayOverTime
from weir.results.windowed import Windowed

if TYPE_CHECKING:
    from weir.results.rows import Need


@dataclass(frozen=True, eq=False, repr=False)
class NetworkResult(Windowed):
    """What a run of the network found out: throughput, delay and loss, by flow, class and link.

    Examples
    --------
    >>> result = weir.run("network.toml")                               # doctest: +SKIP
    >>> result.estimate("sfq", metric="throughput", flow="a to b").value  # doctest: +SKIP
    >>> result.estimate("sfq", statistic="p99", class_="control").value   # doctest: +SKIP
    >>> result.estimate("fifo", metric="utilisation", link="A-B").value   # doctest: +SKIP
    """

    _view: ClassVar[str] = "weir.models.network.view:NetworkView"
    _named = staticmethod(labels)

    classes = Field[tuple[str, ...]]("tuple[str, ...]")
    """The classes of the flows, by name."""
    estimates = Section(rows.NetworkEstimate)
    """All estimates, one row each."""
    differences = Section(rows.NetworkDifference)
    """Paired differences to the reference."""
    series = Section(rows.Series)
    """Offer, throughput and delay of the flows over time."""
    delay_over_time = Section(DelayOverTime, later=True)
    """Delays over time in the first replication, by the time of sending."""
    distributions = Section(rows.NetworkDistribution)
    """Histograms of delay."""
    totals = Section(rows.Totals)
    """Packets counted, under each discipline."""
    flows = Section(rows.FlowRow)
    """The flows, in the order of the scenario."""
    links = Section(rows.LinkRow)
    """The links, in the order of the scenario."""
    intervals = Section(rows.IntervalRow)
    """The intervals of sending time; the first is the whole run."""

    @classmethod
    def _check(cls, document: dict[str, Any]) -> None:
        """Check that the series of a flow have as many values under each discipline."""
        lengths: dict[str, int] = {}
        for place, row in enumerate(document.get("series", ())):
            check_positive(f"series[{place}].step", row["step"])
            if lengths.setdefault(row["flow"], len(row["values"])) != len(row["values"]):
                refuse(f"series[{place}].values", row["values"], "as many as in the other series of the flow")
        cls._check_windows(document)
        check_delays(document, [ALL, *document["classes"]])

    @cached_property
    def flows_measured(self) -> tuple[str, ...]:
        """The flows that have figures of their own; none where only classes were measured."""
        known = {row.name for row in self.estimates if row.scope == "flow"}
        return tuple(flow.name for flow in self.flows if flow.name in known)

    def estimate(self, discipline: str, **about: Unpack[About]) -> rows.NetworkEstimate | None:
        """Return one estimate, or None if the run has no such row.

        Parameters
        ----------
        discipline : str
            A spec string of `disciplines`.
        metric : str
            ``delay`` (if not given), ``throughput``, ``offer``, ``loss``, ``jain``, ``utilisation``, ...
        statistic : str
            ``mean`` (if not given), ``p50``, ``p90``, ``p99``, ``p99.9``, ``max`` or ``min``.
        flow, class_, link : str, optional
            What it is about: a flow, a class, a link, a flow at a link; all flows if none is given.
        interval : str
            The name of one of `intervals`; the whole run if not given.
        """
        return self.estimates.find(discipline=discipline, **_row(**about))

    def needed(self, discipline: str, need: Need) -> rows.NetworkEstimate | None:
        """Return the figure that a need is about."""
        about = {"scope": need.kind, "name": need.name, "interval": ALL}
        return self.estimates.find(
            discipline=discipline, **about, metric=need.metric, statistic=need.statistic
        )

    def lost(self, discipline: str, need: Need) -> rows.NetworkEstimate | None:
        """Return the share of packets that were dropped, of those whose delay a need is about."""
        about = {"scope": need.kind, "name": need.name, "interval": ALL}
        if need.metric != "delay":
            return None
        return self.estimates.find(discipline=discipline, **about, metric="loss", statistic="mean")

    def difference(self, discipline: str, **about: Unpack[About]) -> rows.NetworkDifference | None:
        """Return the paired difference of an estimate to the reference's, if there is one."""
        return self.differences.find(discipline=discipline, **_row(**about))

    def over_time(self, discipline: str, flow: str, metric: str = "throughput") -> rows.Series | None:
        """Return a flow's figures over time, if there are any."""
        return self.series.find(discipline=discipline, flow=flow, metric=metric)


class About(TypedDict, total=False):
    """What a figure is about, as `NetworkResult.estimate` explains."""

    metric: str
    statistic: str
    flow: str | None
    class_: str | None
    link: str | None
    interval: str


def _row(
    metric: str = "delay",
    statistic: str = "mean",
    flow: str | None = None,
    class_: str | None = None,
    link: str | None = None,
    interval: str = ALL,
) -> dict[str, str]:
    """Return the fields of the row that a figure stands in."""
    scope, name = ("flow", flow) if flow is not None else (ALL, ALL)
    if link is not None:
        scope, name = ("link", link) if flow is None else ("hop", f"{flow} @ {link}")
    if class_ is not None and class_ != ALL:
        scope, name = "class", class_
    return {"scope": scope, "name": name, "interval": interval, "metric": metric, "statistic": statistic}
