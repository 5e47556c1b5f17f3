"""Results of the fabric: typed views on the document that the engine wrote.

Source: the model of ``crates/weir-fabric/src/outcome.rs``. Times are in seconds; loads, throughputs and
improvements are shares. A figure is about a discipline, a load and a virtual channel (``all``: all of them);
packets count that were delivered in the measured time.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, TypedDict, Unpack

from weir.errors import ConfigError
from weir.models.fabric import rows
from weir.results.labels import short_labels
from weir.results.reading import ALL, check_counts, check_figures, check_rows, refuse
from weir.results.result import Field, Section
from weir.results.rows import rows as read
from weir.results.windowed import Windowed
from weir.text import number

if TYPE_CHECKING:
    from weir.results.rows import Need


class About(TypedDict, total=False):
    """What a figure is about, as `FabricResult.estimate` explains."""

    load: float | None
    channel: str
    metric: str
    statistic: str


@dataclass(frozen=True, eq=False, repr=False)
class FabricResult(Windowed):
    """What a run of the fabric found out: throughput and latency of the virtual channels, load by load.

    Examples
    --------
    >>> result = weir.run("fabric.toml")                                     # doctest: +SKIP
    >>> result.estimate("drr:quantum=2048B", load=0.8, channel="D2").value   # doctest: +SKIP
    >>> result.difference(result.disciplines[1], load=0.8, channel="D2").value  # doctest: +SKIP
    """

    _whole: ClassVar[tuple[str, ...] | None] = ("size",)
    _view: ClassVar[str] = "weir.models.fabric.view:FabricView"
    _named = staticmethod(short_labels)

    loads = Field[tuple[float, ...]]("tuple[float, ...]")
    """The loads, in the order of the scenario."""
    channels = Section(rows.ChannelRow)
    """The virtual channels, in the order of the scenario."""
    totals = Section(rows.Totals)
    """What was counted under each discipline at each load."""
    estimates = Section(rows.FabricEstimate)
    """All estimates, one row each."""
    differences = Section(rows.FabricDifference)
    """Paired differences to the reference, and improvements over it."""
    saturation = Section(rows.Saturation)
    """Where each channel saturates under each discipline."""
    distributions = Section(rows.FabricDistribution)
    """Histograms of latency."""

    @classmethod
    def _check(cls, document: dict[str, Any]) -> None:
        """Check that figures are about the loads and channels of the result."""
        check_rows(rows.FabricSize, [document["size"]], "size")
        _check_subjects(document)
        check_figures(document, ("low", "high"), ("low_90", "high_90"))
        check_counts(document, ["totals"])
        cls._check_windows(document)

    @cached_property
    def size(self) -> rows.FabricSize:
        """End-points, switches and links."""
        return read(rows.FabricSize, [self.document["size"]])[0]

    def estimate(self, discipline: str, **about: Unpack[About]) -> rows.FabricEstimate | None:
        """Return one estimate, or None if the run has no such row.

        Parameters
        ----------
        discipline : str
            A spec string of `disciplines`.
        load : float, optional
            One of `loads`; may be left out where there is one only.
        channel : str
            The name of one of `channels`; all together if not given.
        metric : str
            ``latency`` (if not given), ``total_latency``, ``message_latency``, ``throughput``, ``offered``,
            ``accepted``.
        statistic : str
            ``mean`` (if not given), ``p50``, ``p90``, ``p99``, ``p99.9`` or ``max``.

        Raises
        ------
        ConfigError
            If there are several loads and none is given.
        """
        return self.estimates.find(discipline=discipline, **self._row(**about))

    def needed(self, discipline: str, need: Need) -> rows.FabricEstimate | None:
        """Return the figure that a need is about."""
        return self.estimates.find(
            discipline=discipline,
            load=need.load,
            channel=need.name,
            metric=need.metric,
            statistic=need.statistic,
        )

    def difference(
        self, discipline: str, *, kind: str = "improvement", **about: Unpack[About]
    ) -> rows.FabricDifference | None:
        """Return the improvement of a discipline over the reference, or with ``kind`` the ``difference``.

        Parameters and errors are those of `estimate`.
        """
        return self.differences.find(discipline=discipline, kind=kind, **self._row(**about))

    def distribution(
        self, discipline: str, *, load: float | None = None, channel: str = ALL, metric: str = "latency"
    ) -> rows.FabricDistribution | None:
        """Return a histogram, if there is one; parameters and errors are those of `estimate`."""
        return self.distributions.find(
            discipline=discipline, load=self._load(load), channel=channel, metric=metric
        )

    def _row(
        self, load: float | None = None, channel: str = ALL, metric: str = "latency", statistic: str = "mean"
    ) -> dict[str, object]:
        """Return the fields of the row that a figure stands in."""
        return {"load": self._load(load), "channel": channel, "metric": metric, "statistic": statistic}

    def saturates(self, discipline: str, channel: str = ALL) -> float | None:
        """Return the least load at which a channel is known to saturate; None if none.

        Less than 99 % of what it offers arrives there: the 90 % interval over the replications is below.
        """
        found = self.saturation.find(discipline=discipline, channel=channel)
        return None if found is None else found.load

    def _load(self, load: float | None) -> float:
        if load is None and len(self.loads) > 1:
            told = ", ".join(map(number, self.loads))
            raise ConfigError(
                f"the result has {len(self.loads)} loads, {told}, and none is asked for",
                f"give one, as in load={self.loads[-1]}",
            )
        return self.loads[0] if load is None else load


def _check_subjects(document: dict[str, Any]) -> None:
    """Refuse loads and channels that cannot be distinguished, and rows about others than these."""
    loads, names = document["loads"], [row["name"] for row in document["channels"]]
    if not loads or len(set(loads)) < len(loads) or min(loads) <= 0:
        refuse("loads", loads, "one or more above 0, each once")
    if not names or len(set(names)) < len(names) or ALL in names:
        refuse("channels", names, f"one or more by different names, none of them `{ALL}`")
    known = {"channel": {ALL, *names}, "load": {None, *loads}}
    for section in ("totals", "estimates", "differences", "saturation", "distributions"):
        for place, row in enumerate(document[section]):
            for key, those in known.items():
                if row.get(key, ALL if key == "channel" else None) not in those:
                    refuse(f"{section}[{place}].{key}", row[key], f"one of the {key}s of the result")
