"""The rows of a fabric's result, one dataclass each, as the engine writes them.

A row is about a discipline at a load; ``channel`` is a virtual channel, or ``all`` for all of them. Times are
in seconds, sizes in bytes on the wire, loads and throughputs shares of what a link carries.
"""

from __future__ import annotations

from dataclasses import dataclass

from weir.results.rows import Against, Comparison, Histogram, Measured, Of, Sampled, Value


@dataclass(frozen=True, kw_only=True)
class _About:
    """What a row is about."""

    __slots__ = ()
    load: float
    channel: str


@dataclass(frozen=True, kw_only=True)
class _Ninety:
    """The 90 % confidence interval."""

    __slots__ = ()
    low_90: float | None
    high_90: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricEstimate(Measured, Sampled, _Ninety, Value, _About, Of):
    """One estimated quantity with its 95 % and 90 % confidence intervals.

    ``metric`` is ``offered``, ``throughput`` (shares of what a link carries), ``accepted`` (throughput over
    offered), ``latency`` (s, from the entry into the buffer of the interface), ``total_latency`` (s, from the
    generation) or ``message_latency`` (s, of whole messages). Where ``value`` is None, ``reason`` says why.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricDifference(Measured, _Ninety, Comparison, _About, Against):
    """A discipline against the reference, paired on the same traffic, replication by replication.

    ``kind`` is ``difference``, the discipline's value less the reference's, or ``improvement``, what the
    discipline's is below the reference's, in per cent of that: positive is better where less is. ``low`` to
    ``high`` is the 95 % interval, ``low_90`` to ``high_90`` that of 90 %.
    """

    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Saturation(Of):
    """The least load at which less than 99 % of what a channel offers arrives; None if there is none."""

    channel: str
    load: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricDistribution(Histogram, _About, Of):
    """A histogram of the latency of a channel at a load."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals(Of):
    """What was counted in all replications of a discipline at a load, warm-up included.

    ``traversals`` are packets over links, each counted. ``examined`` are the table entries or flows that all
    ``decisions`` of all schedulers looked at, ``steps`` their reads of several entries at once; the most of
    one decision cannot be combined with each.
    """

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
