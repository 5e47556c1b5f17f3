"""The rows of a fabric's result, one dataclass each, as the engine writes them.

A row is about a discipline at a load; ``channel`` is a virtual channel, or ``all`` for all of them. Times are
in seconds, sizes in bytes on the wire, loads and throughputs shares of what a link carries.
"""

from __future__ import annotations

from dataclasses import dataclass

from weir.rows import Comparison

__all__ = [
    "ChannelRow",
    "FabricDifference",
    "FabricDistribution",
    "FabricEstimate",
    "FabricSize",
    "Saturation",
    "Totals",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricEstimate:
    """One estimated quantity with its 95 % and 90 % confidence intervals.

    ``metric`` is ``offered``, ``throughput`` (shares of what a link carries), ``accepted`` (throughput over
    offered), ``latency`` (s, from the entry into the buffer of the interface), ``total_latency`` (s, from the
    generation) or ``message_latency`` (s, of whole messages). Where ``value`` is None, ``reason`` says why.
    """

    discipline: str
    load: float
    channel: str
    metric: str
    statistic: str
    value: float | None
    low: float | None
    high: float | None
    low_90: float | None
    high_90: float | None
    standard_error: float | None
    count: int
    method: str | None
    unit: str
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricDifference(Comparison):
    """A discipline against the reference, paired on the same traffic, replication by replication.

    ``kind`` is ``difference``, the discipline's value less the reference's, or ``improvement``, what the
    discipline's is below the reference's, in per cent of that: positive is better where less is. ``low`` to
    ``high`` is the 95 % interval, ``low_90`` to ``high_90`` that of 90 %.
    """

    discipline: str
    reference: str
    load: float
    channel: str
    metric: str
    kind: str
    statistic: str
    value: float | None
    low: float | None
    high: float | None
    low_90: float | None
    high_90: float | None
    unit: str
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Saturation:
    """The least load at which less than 99 % of what a channel offers arrives; None if there is none."""

    discipline: str
    channel: str
    load: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricDistribution:
    """A histogram by its non-empty bins, from ``low`` to ``high``, with their counts.

    Quantiles read from it have at most ``relative_error``.
    """

    discipline: str
    load: float
    channel: str
    metric: str
    relative_error: float
    unit: str
    low: tuple[float, ...]
    high: tuple[float, ...]
    count: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """What was counted in all replications of a discipline at a load, warm-up included.

    ``traversals`` are packets over links, each counted. ``examined`` are the table entries or flows that all
    ``decisions`` of all schedulers looked at, ``steps`` their reads of several entries at once; the most of
    one decision stands beside each.
    """

    discipline: str
    load: float
    generated: int
    delivered: int
    traversals: int
    decisions: int
    examined: int
    most_examined: int
    steps: int
    most_steps: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelRow:
    """A virtual channel and its part of the offered load."""

    name: str
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricSize:
    """How large the fabric is; ``links`` counts one for each direction."""

    hosts: int
    switches: int
    links: int
