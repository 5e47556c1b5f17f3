"""The rows of a node's result, one dataclass each, as the engine writes them.

Times are in seconds. A figure is about a discipline and a process, a dual queue or a node; ``all`` is all of
a kind, without the system's processes.
"""

from __future__ import annotations

from dataclasses import dataclass

from weir.results.rows import Histogram, Of
from weir.results.subjects import SubjectDifference, SubjectEstimate

PATHS = ("restart", "swap", "to idle", "from idle to the last", "from idle", "idle on")
"""The paths of the scheduler, in the order of `NodeTotals.paths`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeEstimate(SubjectEstimate):
    """One estimated quantity with its 95 % confidence interval.

    ``kind`` is ``process``, ``queue`` or ``node``. ``metric`` of a process is ``share`` (run time over
    elapsed), ``epoch_run`` (s in an epoch), ``need_met`` (part of the epochs in which it was ready
    throughout), ``uncommitted``, ``windfall`` (shares of elapsed), ``response``, ``wait`` (s), ``late`` (part
    of its responses), ``schedulings``, ``enqueue_rate``, ``dequeue_rate`` (1/s); of a queue ``throughput``
    (1/s) and ``age`` (s); of a node ``busy``, ``idle``, ``uncharged`` (shares). ``statistic`` is ``mean``,
    ``p50``, ``p90``, ``p99``, ``p99.9``, ``min`` or ``max``. Where ``value`` is None, ``reason`` says why.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeDifference(SubjectDifference):
    """A discipline's value less the reference's, paired on the same programs, replication by replication.

    ``statistic`` is that of the figures, but for ``replication_min`` and ``replication_max``: the mean
    difference of each replication's own least and longest.
    """


@dataclass(frozen=True, kw_only=True)
class _OfProcess:
    """A process, or all but those of the system."""

    __slots__ = ()
    process: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeDistribution(Histogram, _OfProcess, Of):
    """A histogram of a process's ``response`` or ``wait``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessRow:
    """A process: where it begins, and what it asks for. ``system``: it is one of the system's."""

    name: str
    node: str
    priority: int
    need: float
    slice: float | None
    deadline: float | None
    system: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeWarning(Of):
    """What was warned of: more is promised than there is, who waits for ever, who never ran."""

    node: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessTotals(Of):
    """What was counted of a process in the measured time of all replications.

    ``need_time``, ``uncommitted_time`` and ``windfall_time`` are parts of ``run_time``; None where the
    discipline does not tell them apart. ``needs_missed`` are those of its ``epochs_ready`` in which it ran
    less than its need, ``worst_shortfall`` the most that it lacked. ``late`` is None where it has no
    deadline. ``unfinished`` is the longest response that was not over at the end of a replication, as long as
    it had been by then; None where all were over, and of a process without a deadline that never waits.
    """

    process: str
    run_time: float
    need_time: float | None
    uncommitted_time: float | None
    windfall_time: float | None
    schedulings: int
    wakeups: int
    waits: int
    epochs_ready: int
    needs_missed: int
    worst_shortfall: float
    late: int | None
    unfinished: float | None
    enqueued: int
    dequeued: int
    moves: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeTotals(Of):
    """What was counted of a node in the measured time of all replications; ``paths`` in `PATHS`."""

    node: str
    run_time: float
    idle_time: float
    uncharged_time: float
    paths: tuple[int, ...]
    high_over_low: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples(Of):
    """What the sampler saw of the first replication: one value an interval of ``interval`` seconds."""

    kind: str
    name: str
    metric: str
    unit: str
    interval: float
    values: tuple[float, ...]


# The timeline: columns of equal length, the n-th of each make up a row.


@dataclass(frozen=True, slots=True, kw_only=True)
class Runs:
    """What processes were charged for; ``process`` is None where the processor is busy for nobody.

    ``level`` is that of the queue: 3 to 0 a normal one, -1 to -4 a low one; None where there are no levels.
    """

    node: tuple[int, ...]
    process: tuple[int | None, ...]
    level: tuple[int | None, ...]
    from_: tuple[float, ...]
    until: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lengths:
    """How many a queue holds from each of these moments on."""

    queue: tuple[int, ...]
    at: tuple[float, ...]
    length: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """Moments: ``epoch``, and ``woke``, ``waits``, ``moved`` of a process."""

    what: tuple[str, ...]
    process: tuple[int | None, ...]
    at: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Critical:
    """When the critical scheduling period of a node begins, as it stands from each of these moments on."""

    node: tuple[int, ...]
    at: tuple[float, ...]
    begins: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """Who ran when, in part of the first replication; ``truncated``: more happened than is kept."""

    discipline: str
    from_: float
    until: float
    truncated: bool
    runs: Runs
    lengths: Lengths
    marks: Marks
    critical: Critical
