"""The rows of a network's result, one dataclass each.

A row is *about* all flows, a class, a flow, a link, or a flow at a link: ``scope`` says which of these,
``name`` which one (``all`` for all flows). Packets belong to the interval in which they were sent.
"""

from __future__ import annotations

from dataclasses import dataclass

from weir.results.rows import Against, Difference, Estimated, Histogram, Of


@dataclass(frozen=True, kw_only=True)
class _About:
    """What a row is about."""

    __slots__ = ()
    scope: str
    name: str


@dataclass(frozen=True, kw_only=True)
class _Sent(_About):
    """What a figure is about, and when it was sent."""

    __slots__ = ()
    interval: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkEstimate(Estimated, _Sent, Of):
    """One estimated quantity with its 95 % confidence interval.

    ``metric`` is ``offer``, ``throughput`` (bit/s), ``delay`` (s), ``delay_variance`` (s^2), ``loss``,
    ``reordered``, ``share``, ``jain``, ``utilisation`` (1), ``queue``, ``drops`` (pkt) or ``wait`` (s). Where
    ``value`` is None, ``reason`` says why.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkDifference(Difference, _Sent, Against):
    """A discipline's value minus that of the reference, paired on the same departures.

    ``low`` to ``high`` is the 95 % confidence interval. Where ``value`` is None, ``reason`` says why.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Series(Of):
    """A flow over time, the mean of the replications: one value a ``step`` of sending time, in seconds.

    A value is None where nothing was sent, or nothing arrived.
    """

    flow: str
    metric: str
    unit: str
    step: float
    values: tuple[float | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkDistribution(Histogram, _About, Of):
    """A histogram of the delay of a flow, of a class, or of all flows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals(Of):
    """Packets counted in all replications; ``hops`` are transmissions, link by link."""

    offered: int
    delivered: int
    dropped: int
    hops: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalRow:
    """An interval of sending time, in seconds; ``all`` is the whole run."""

    name: str
    from_: float
    to: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowRow:
    """A flow: its ends, the links it goes through, and what it sends."""

    name: str
    class_: str
    from_: str
    to: str
    path: tuple[str, ...]
    traffic: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkRow:
    """A link, one direction, ``rate`` in bit/s; if ``compared``, the compared disciplines order its queue."""

    name: str
    from_: str
    to: str
    rate: float
    compared: bool
