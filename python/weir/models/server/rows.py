"""The rows of a server's result, one dataclass each, as the engine writes them.

Times are in seconds. A figure is about a discipline and a class, or the cores; ``all`` is all of a kind.
"""

from __future__ import annotations

from dataclasses import dataclass

from weir.results.rows import Histogram, Of, OfClass
from weir.results.subjects import SubjectDifference, SubjectEstimate


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerEstimate(SubjectEstimate):
    """One estimated quantity with its 95 % confidence interval.

    ``kind`` is ``class`` or ``core``. ``metric`` of a class is ``delay`` (s, from arrival to where service
    begins first), ``response`` (s, from arrival to the end of service), ``slowdown`` (response over service),
    ``dropped`` (of those offered), ``reordered``, ``cold`` (of those done) and ``throughput`` (1/s), and
    where requests leave or clients give up ``abandoned``, ``balked``, ``missed``, ``refused``, ``late``,
    ``goodput`` (1/s) and ``attempts``, where they go to several cores ``hedged`` and ``cancelled`` (of the
    sub-requests); of cores ``utilisation``, ``overhead``, ``wasted`` (shares of the time of all cores),
    ``in_use`` (cores), ``tipped`` (the share of the replications in which most attempts fail at the end) and
    ``recovery`` (s, from the end of a burst until they no longer do). ``statistic`` is
    ``mean``, ``p50`` to ``p99.99``, ``max``, or ``window_max``, the largest mean of a window. Where ``value``
    is None, ``reason`` says why.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerDifference(SubjectDifference):
    """A discipline's value less the reference's, paired on the same requests, replication by replication.

    ``statistic`` is that of the figures, but for ``replication_max`` and ``replication_window_max``: the mean
    difference of each replication's own longest.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerDistribution(Histogram, OfClass, Of):
    """A histogram of a class's ``delay``, ``response`` or ``slowdown``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassRow:
    """A class of requests: its share, its mean service, and the slowdown that is not to be exceeded."""

    name: str
    share: float
    service: float
    slo: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerWarning:
    """What was warned of; ``discipline`` is None for what all share."""

    discipline: str | None
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassTotals(Of):
    """What was counted of a class's requests that arrived in the measured time, in all replications.

    ``reordered`` were done after a later one of their flow; ``cold`` were served by another core than the
    request of their flow before; each is None where that is not measured. Of the dropped, ``abandoned`` left
    since their service did not begin in time, ``balked`` did not join, ``missed`` were dropped for their
    deadline and ``refused`` by the circuit breaker; of the offered, ``retried`` are attempts that were not
    the first of their request; of the done, ``late`` were done when their client had given up. ``sent`` are
    sub-requests, of which ``copies`` were sent a second time and ``cancelled`` not served to their end.
    """

    class_: str
    offered: int
    done: int
    dropped: int
    reordered: int | None
    cold: int | None
    abandoned: int | None = None
    balked: int | None = None
    missed: int | None = None
    refused: int | None = None
    retried: int | None = None
    late: int | None = None
    sent: int | None = None
    copies: int | None = None
    cancelled: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DisciplineTotals(Of):
    """What was counted of a discipline in all replications, warm-up included.

    ``decisions`` are grants, ``preemptions`` those that ended before the request was done; ``moved`` requests
    went to another core than they were first sent to.
    """

    offered: int
    done: int
    dropped: int
    decisions: int
    preemptions: int
    moved: int
    peak_in_use: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreTotals(Of):
    """How long a core was busy in the measured time of all replications; ``overhead`` was no service."""

    core: int
    busy: float
    overhead: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Windows(Of):
    """Means of successive windows of ``interval`` seconds of the first replication; None: nothing began."""

    class_: str
    metric: str
    unit: str
    interval: float
    values: tuple[float | None, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class InUse(Of):
    """How many cores were in use in the first replication, from each of these moments on."""

    truncated: bool
    at: tuple[float, ...]
    count: tuple[int, ...]
