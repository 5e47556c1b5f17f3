"""Results of the fabric: typed views on the document that the engine wrote.

Source: the model of ``crates/weir-sim/src/fabric/outcome.rs``. Times are in seconds; loads, throughputs and
improvements are shares. A figure is about a discipline, a load and a virtual channel (``all``: all of them);
packets count that were delivered in the measured time.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from weir.errors import ConfigError
from weir.fabric.labels import labels
from weir.fabric.reading import ALL, check_figures, check_subjects
from weir.fabric.rows import (
    ChannelRow,
    FabricDifference,
    FabricDistribution,
    FabricEstimate,
    FabricSize,
    Saturation,
    Totals,
)
from weir.reading import check_rows
from weir.result import LISTED, Result
from weir.rows import rows
from weir.text import number

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ALL", "FabricResult"]


@dataclass(frozen=True, eq=False, repr=False)
class FabricResult(Result):
    """What a run of the fabric found out: throughput and latency of the virtual channels, load by load.

    Examples
    --------
    >>> result = weir.run("fabric.toml")                                     # doctest: +SKIP
    >>> result.estimate("drr:quantum=2048B", load=0.8, channel="D2").value   # doctest: +SKIP
    >>> result.difference(result.disciplines[1], load=0.8, channel="D2").value  # doctest: +SKIP
    """

    _fields: ClassVar[Mapping[str, str]] = {"loads": "tuple[float, ...]"}
    _sections: ClassVar[Mapping[str, type]] = {
        "channels": ChannelRow,
        "totals": Totals,
        "estimates": FabricEstimate,
        "differences": FabricDifference,
        "saturation": Saturation,
        "distributions": FabricDistribution,
    }
    _required: ClassVar[tuple[str, ...]] = ("loads", "size", *_sections, *LISTED)

    @classmethod
    def check(cls, document: dict[str, Any]) -> None:
        """Check what was read: as of every result, and that figures are about its loads and channels.

        Raises
        ------
        ResultError
            If something is not as the engine writes it; the error says where.
        """
        super().check(document)
        check_rows(FabricSize, [document["size"]], "size")
        check_subjects(document, [name for name in cls._sections if name != "channels"])
        check_figures(document)

    @cached_property
    def estimates(self) -> tuple[FabricEstimate, ...]:
        """All estimates, one row each."""
        return rows(FabricEstimate, self.document["estimates"])

    @cached_property
    def differences(self) -> tuple[FabricDifference, ...]:
        """Paired differences to the reference, and improvements over it."""
        return rows(FabricDifference, self.document["differences"])

    @cached_property
    def saturation(self) -> tuple[Saturation, ...]:
        """Where each channel saturates under each discipline."""
        return rows(Saturation, self.document["saturation"])

    @cached_property
    def distributions(self) -> tuple[FabricDistribution, ...]:
        """Histograms of latency."""
        return rows(FabricDistribution, self.document["distributions"])

    @cached_property
    def totals(self) -> tuple[Totals, ...]:
        """What was counted under each discipline at each load."""
        return rows(Totals, self.document["totals"])

    @cached_property
    def channels(self) -> tuple[ChannelRow, ...]:
        """The virtual channels, in the order of the scenario."""
        return rows(ChannelRow, self.document["channels"])

    @cached_property
    def size(self) -> FabricSize:
        """End-points, switches and links."""
        return rows(FabricSize, [self.document["size"]])[0]

    @property
    def loads(self) -> tuple[float, ...]:
        """The loads, in the order of the scenario."""
        return tuple(self.document["loads"])

    @property
    def replications(self) -> int:
        """Independent replications behind the figures."""
        return int(self.document["replications"])

    @cached_property
    def labels(self) -> dict[str, str]:
        """A short name for each of `disciplines`, whose spec strings may hold whole tables."""
        return labels(self.disciplines)

    @cached_property
    def _index(self) -> dict[tuple[str, float, str, str, str], FabricEstimate]:
        return {
            (row.discipline, row.load, row.channel, row.metric, row.statistic): row for row in self.estimates
        }

    @cached_property
    def _differences(self) -> dict[tuple[str, float, str, str, str, str], FabricDifference]:
        return {
            (row.discipline, row.load, row.channel, row.metric, row.statistic, row.kind): row
            for row in self.differences
        }

    def estimate(
        self,
        discipline: str,
        *,
        load: float | None = None,
        channel: str = ALL,
        metric: str = "latency",
        statistic: str = "mean",
    ) -> FabricEstimate | None:
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
            ``latency``, ``total_latency``, ``message_latency``, ``throughput``, ``offered``, ``accepted``.
        statistic : str
            ``mean``, ``p50``, ``p90``, ``p99``, ``p99.9`` or ``max``.

        Raises
        ------
        ConfigError
            If there are several loads and none is given.
        """
        return self._index.get((discipline, self._load(load), channel, metric, statistic))

    def difference(
        self,
        discipline: str,
        *,
        load: float | None = None,
        channel: str = ALL,
        metric: str = "latency",
        statistic: str = "mean",
        kind: str = "improvement",
    ) -> FabricDifference | None:
        """Return the improvement of a discipline over the reference, or with ``kind`` the ``difference``.

        Parameters and errors are those of `estimate`.
        """
        return self._differences.get((discipline, self._load(load), channel, metric, statistic, kind))

    def distribution(
        self, discipline: str, *, load: float | None = None, channel: str = ALL, metric: str = "latency"
    ) -> FabricDistribution | None:
        """Return a histogram, if there is one; parameters and errors are those of `estimate`."""
        wanted = (discipline, self._load(load), channel, metric)
        found = (
            row for row in self.distributions if (row.discipline, row.load, row.channel, row.metric) == wanted
        )
        return next(found, None)

    def saturates(self, discipline: str, channel: str = ALL) -> float | None:
        """Return the least load at which a channel is known to saturate; None if none.

        Less than 99 % of what it offers arrives there: the 90 % interval over the replications is below.
        """
        found = (
            row.load for row in self.saturation if (row.discipline, row.channel) == (discipline, channel)
        )
        return next(found, None)

    def _load(self, load: float | None) -> float:
        if load is None and len(self.loads) > 1:
            told = ", ".join(map(number, self.loads))
            raise ConfigError(
                f"the result has {len(self.loads)} loads, {told}, and none is asked for",
                f"give one, as in load={self.loads[-1]}",
            )
        return self.loads[0] if load is None else load
