"""A discipline as an in-process queue for a server.

A queue orders items by any discipline of messages or of packets that the registry has, or by a class of your
own. It has the methods of `queue.Queue` and, with an ``a`` before them, those of `asyncio.Queue`::

    queue = weir.Queue("alpha:0.001", maxsize=1000)
    queue.put(request, size=request.prompt_tokens)      # or await queue.aput(...)
    request = queue.get(timeout=1.0)                    # or await queue.aget()
    ...
    queue.task_done()

Sizes are positive whole numbers in any unit: tokens, bytes, microseconds. The unit is the caller's, as long
as a queue sees one; alpha weighs a size against the size served meanwhile, so it has no unit. Parameters of
disciplines of packets that are in bytes, such as the quantum of `drr`, count that unit; a rate in bits a
second serves an eighth of it.

Time is in seconds of one clock, which is `time.monotonic` where no ``now`` is given. A ``now`` before the
latest one seen counts as the latest: threads race for the lock, and the order of the calls decides.

An item taken by `Queue.get`, `Queue.get_nowait` or `Queue.aget` counts as served with its full size at that
instant, so any number of workers may share a queue. A server that can interrupt its work uses
`Queue.take`, one grant at a time.

Putting and taking cost O(log n) of n items waiting, and the lock is held for that long only. Nothing waits
under it: a thread sleeps on a condition, a task on a future of its own event loop. An item leaves the queue
in the same step in which the caller has it, so cancelling an ``aget`` loses none. To look ahead
(`Queue.peek`, iteration) copies the discipline, and `Queue.remove` searches it: both O(n).
"""

from __future__ import annotations

import itertools
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, NamedTuple, SupportsIndex, TypeVar

from weir import _weir
from weir.arguments import nanoseconds, waiting_time, whole
from weir.errors import ConfigError, Dropped
from weir.queue_errors import Empty, Full, ShutDown
from weir.sleepers import Sleepers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType

__all__ = ["Backlog", "Grant", "Queue"]

T = TypeVar("T")

_LARGEST_QUEUE = 2**62


class Backlog(NamedTuple):
    """What waits in a queue; the item of an open grant is not counted."""

    items: int
    """Items waiting."""
    size: int
    """Their remaining sizes together, in the unit of the caller."""


@dataclass(frozen=True, slots=True)
class Grant(Generic[T]):
    """Leave to serve an item, for at most a quantum.

    Attributes
    ----------
    item : T
        The item to serve.
    quantum : int
        How much of it may be served before it must be given back, in the unit of its size.
    remaining : int
        How much of it was left when the grant was opened.
    """

    item: T
    quantum: int
    remaining: int
    handle: int = field(repr=False)
    _outranked: threading.Event = field(default_factory=threading.Event, repr=False, compare=False)

    @property
    def preempted(self) -> bool:
        """Whether an item that arrived since outranks this one: requeue the grant as soon as possible."""
        return self._outranked.is_set()


def _named(discipline: type) -> str:
    """Return the name of a class, under which it is added to the disciplines."""
    from weir.own import name_of

    return name_of(discipline)


class Queue(Generic[T]):
    """A queue for threads and tasks whose order is that of a discipline.

    Parameters
    ----------
    discipline : str or class
        A spec string of a discipline of messages, as in ``weir list``: ``"alpha:0.001"``, ``"sf"``,
        ``"in_order(alpha:10)"``; or of packets, which tells tenants apart by ``flow``:
        ``"drr:quantum=2000B"``, ``"wfq:rate=8kbit,weights=4/1"``, ``"fq(fifo)"``; or a class of your own
        (`weir.Discipline`). A `DisciplineError` of such a class ends the queue: every later call raises it
        again.
    maxsize : int
        How many items may wait; `put` and `aput` wait while there are as many. 0: any number.
    on_drop : callable, optional
        Called with each item that the discipline drops and the reason, a str, by the call that finds it
        dropped, without the lock. Where it is not given, that call raises `Dropped`; nothing else is lost by
        it.

    Raises
    ------
    ConfigError
        If no discipline has that name, a parameter is refused, or ``maxsize`` is.

    Examples
    --------
    >>> queue = Queue("sf")
    >>> queue.put("long", size=20)
    False
    >>> queue.put("short", size=1)
    False
    >>> list(queue), queue.get(), len(queue)
    (['short', 'long'], 'short', 1)
    """

    MAX_SIZE = 1 << 40
    """The largest size of one item, in the unit of the caller."""

    def __init__(
        self,
        discipline: str | type,
        maxsize: SupportsIndex = 0,
        *,
        on_drop: Callable[[T, str], object] | None = None,
    ) -> None:
        self.discipline = discipline if isinstance(discipline, str) else _named(discipline)
        self.maxsize = whole("maxsize", maxsize, 0, _LARGEST_QUEUE)
        self._raw = _weir.Queue(self.discipline)
        self._on_drop = on_drop
        # The item of the open grant is among them.
        self._items: dict[int, T] = {}
        self._handles = itertools.count()
        # Reentrant: a destructor or a signal handler may use the queue in the middle of a call.
        self._lock = threading.RLock()
        self._getters, self._putters, self._joiners = (Sleepers(self._lock) for _ in range(3))
        self._open: Grant[T] | None = None
        self._unfinished = 0
        self._is_shut = False

    def __repr__(self) -> str:
        bound = f" of at most {self.maxsize}" if self.maxsize else ""
        return f"<weir.Queue {self.discipline!r}, {len(self)}{bound} waiting>"

    def __len__(self) -> int:
        with self._lock:
            return len(self._items) - (self._open is not None)

    def __bool__(self) -> bool:
        """Return True however many items wait: a queue is a resource and no collection."""
        return True

    def __enter__(self) -> Queue[T]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Shut the queue down; at once if the block ended by an exception."""
        self.shutdown(immediate=kind is not None)

    async def __aenter__(self) -> Queue[T]:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.shutdown(immediate=kind is not None)

    @property
    def backlog(self) -> Backlog:
        """Items waiting, and their sizes together."""
        return Backlog(*self._raw.backlog())

    def qsize(self) -> int:
        """Return how many items wait, as ``len(queue)`` does."""
        return len(self)

    def empty(self) -> bool:
        """Return whether nothing waits; with other threads about, it may be different at once."""
        return len(self) == 0

    def full(self) -> bool:
        """Return whether as many items wait as may."""
        return 0 < self.maxsize <= len(self)

    def put(
        self,
        item: T,
        block: bool = True,
        timeout: float | None = None,
        *,
        size: SupportsIndex = 1,
        flow: SupportsIndex = 0,
        class_: SupportsIndex = 0,
    ) -> bool:
        """Put an item into the queue, waiting while it is full.

        Parameters
        ----------
        item : T
            Anything; the queue keeps a reference until the item leaves.
        block : bool
            Whether to wait; without it a full queue raises at once.
        timeout : float, optional
            The longest wait in seconds; without it the wait has no end.
        size : int
            What it costs to serve, from 1 to 2**40, in the unit of the caller; 1 where all items cost the
            same.
        flow : int
            Whose item it is, from 0 to 2**32 - 1. Round robins, fair queues and the in-order wrapper read it.
        class_ : int
            What kind it is, from 0 to 65535. An alpha per class reads it.

        Returns
        -------
        bool
            Whether it outranks the item of the open grant, which then is ``preempted``.

        Raises
        ------
        ConfigError
            If a value is outside its bounds; the queue is unchanged.
        Full
            If there was no room within ``timeout``.
        ShutDown
            If the queue was shut down.
        Dropped
            If the discipline dropped the item, or another to make room.
        """
        described = self._described(size, flow, class_)
        limit = waiting_time(timeout)
        deadline = None if limit is None else time.monotonic() + limit
        with self._lock:
            while not self._has_room():
                if not block:
                    raise self._full()
                left = None if deadline is None else deadline - time.monotonic()
                if left is not None and left <= 0:
                    raise self._full(" until the timeout")
                self._putters.sleep(left)
            preempts, lost = self._insert(item, described, time.monotonic_ns())
        self._tell(lost)
        return preempts

    def put_nowait(
        self,
        item: T,
        *,
        size: SupportsIndex = 1,
        flow: SupportsIndex = 0,
        class_: SupportsIndex = 0,
        now: float | None = None,
    ) -> bool:
        """Put an item into the queue at once, as `put` does with ``block=False``.

        Parameters
        ----------
        item, size, flow, class_
            As in `put`.
        now : float, optional
            The time in seconds; `time.monotonic` where not given.

        Returns
        -------
        bool
            Whether it outranks the item of the open grant, which then is ``preempted``.

        Raises
        ------
        ConfigError
            If a value is outside its bounds; the queue is unchanged.
        Full
            If the queue is full.
        ShutDown
            If the queue was shut down.
        Dropped
            If the discipline dropped the item, or another to make room.
        """
        described = self._described(size, flow, class_)
        at = nanoseconds(now)
        with self._lock:
            if not self._has_room():
                raise self._full()
            preempts, lost = self._insert(item, described, at)
        self._tell(lost)
        return preempts

    async def aput(
        self, item: T, *, size: SupportsIndex = 1, flow: SupportsIndex = 0, class_: SupportsIndex = 0
    ) -> bool:
        """Put an item into the queue as `put` does, waiting on the running event loop while it is full.

        It may be cancelled at any time: the item is in the queue if it returned, and not if it was cancelled.
        """
        described = self._described(size, flow, class_)
        while True:
            with self._lock:
                if self._has_room():
                    preempts, lost = self._insert(item, described, time.monotonic_ns())
                    break
                sleeper = self._putters.lie_down()
            await self._putters.settle(sleeper)
        self._tell(lost)
        return preempts

    def push_front(self, item: T, size: SupportsIndex = 1) -> bool:
        """Put an item before everything else that waits, the latest such item first.

        For what was taken and could not be served: it was admitted and counted as served when it was taken.
        So it waits for no room, and the discipline does not learn of it, now or when it leaves: it is charged
        to no flow and moves no clock.

        Parameters
        ----------
        item : T
            Anything.
        size : int
            What it costs to serve, from 1 to 2**40; it counts in `backlog` and in the quantum of `take`.

        Returns
        -------
        bool
            Whether a grant is open, which it outranks and which then is ``preempted``.

        Raises
        ------
        ConfigError
            If ``size`` is outside its bounds.
        ShutDown
            If the queue was shut down.
        """
        size = whole("size", size, 1, self.MAX_SIZE)
        with self._lock:
            self._assert_open()
            handle = next(self._handles)
            self._raw.push_front(handle, size)
            self._items[handle] = item
            self._unfinished += 1
            if self._open is not None:
                self._open._outranked.set()  # noqa: SLF001 - the queue is the grant's other half
            self._getters.wake()
            return self._open is not None

    def get(self, block: bool = True, timeout: float | None = None) -> T:
        """Return the next item, waiting for one.

        Parameters
        ----------
        block : bool
            Whether to wait; without it a queue that has nothing to give raises at once.
        timeout : float, optional
            The longest wait in seconds; without it the wait has no end.

        Raises
        ------
        Empty
            If nothing could be served within ``timeout``.
        ShutDown
            If the queue was shut down and nothing waits.
        GrantError
            If a grant is open.
        Dropped
            If the discipline dropped items, and there is no ``on_drop``; the next item is still there.
        """
        limit = waiting_time(timeout)
        deadline = None if limit is None else time.monotonic() + limit
        while True:
            with self._lock:
                handle, dropped = self._raw.dequeue(time.monotonic_ns())
                if handle is not None:
                    return self._leave(handle)
                if not dropped:
                    self._assert_more()
                    if not block:
                        raise Empty("the queue is empty", "wait with get()")
                    self._getters.sleep(self._nap(deadline))
                    continue
                lost = self._lose(dropped)
            self._tell(lost)

    def get_nowait(self, now: float | None = None) -> T:
        """Return the next item at once, as served with its full size.

        Parameters
        ----------
        now : float, optional
            The time in seconds; `time.monotonic` where not given.

        Raises
        ------
        Empty
            If nothing can be served now.
        ShutDown, GrantError, Dropped
            As in `get`.
        """
        at = nanoseconds(now)
        while True:
            with self._lock:
                handle, dropped = self._raw.dequeue(at)
                if handle is not None:
                    return self._leave(handle)
                if not dropped:
                    self._assert_more()
                    raise Empty("the queue is empty", "wait with get()")
                lost = self._lose(dropped)
            self._tell(lost)

    async def aget(self) -> T:
        """Return the next item, waiting for one on the running event loop.

        It may be cancelled at any time; no item is lost. Use `asyncio.timeout` to limit the wait. It raises
        what `get` raises.
        """
        while True:
            with self._lock:
                handle, dropped = self._raw.dequeue(time.monotonic_ns())
                if handle is not None:
                    return self._leave(handle)
                lost = self._lose(dropped or [])
                if not lost:
                    self._assert_more()
                    nap, sleeper = self._nap(None), self._getters.lie_down()
            if lost:
                self._tell(lost)
            else:
                await self._getters.settle(sleeper, nap)

    def peek(self, now: float | None = None) -> T:
        """Return the item that would be served next, and change nothing. O(n).

        It is what `get_nowait` would return now, or, if the discipline holds all back, at the time at which
        it lets one go. An open grant counts as finished.

        Raises
        ------
        Empty
            If nothing waits.
        UnsupportedError
            If the discipline's state cannot be copied: of a class of your own, and of ``fq``, ``htb`` and
            ``priority``.
        """
        at = nanoseconds(now)
        with self._lock:
            order = self._raw.order(at, 1)
            if not order:
                raise Empty("the queue is empty", "put something into it")
            return self._items[order[0]]

    def __iter__(self) -> Iterator[T]:
        """Iterate over the items in the order in which they would leave if all left now.

        It is that of one moment: what changes meanwhile is not seen. It takes as long as to copy the
        discipline and to serve all of the copy, O(n log n), and raises what `peek` raises, except `Empty`.
        """
        with self._lock:
            order = self._raw.order(time.monotonic_ns())
            return iter([self._items[handle] for handle in order])

    def remove(self, item: T) -> bool:
        """Take an item out of the queue, unserved.

        It counts as done: `join` does not wait for it. The others keep their order. The discipline forgets it
        at once, if it orders messages and is no class of your own and not ``outstanding``. Any other keeps
        its place until its turn comes, and it counts there meanwhile: towards ``limit``, and, where flows
        take turns, as served to its flow.

        Parameters
        ----------
        item : T
            The first waiting item that is this one, or equal to it, in the order in which they were put, is
            removed. O(n).

        Returns
        -------
        bool
            Whether it waited. Where not, it never did, or somebody has taken it.
        """
        with self._lock:
            is_open = None if self._open is None else self._open.handle
            waiting = [pair for pair in self._items.items() if pair[0] != is_open]
            handle = next((handle for handle, other in waiting if other is item or other == item), None)
            if handle is None or handle not in self._items or not self._raw.remove(handle):
                return False
            gone = self._items.pop(handle)
            self._finish(1)
            self._putters.wake()
        del gone  # its destructor runs without the lock
        return True

    def task_done(self) -> None:
        """Note that what was taken is done, for `join`.

        Raises
        ------
        ConfigError
            If it is called more often than items were put.
        """
        with self._lock:
            if self._unfinished <= 0:
                raise ConfigError("task_done() called too many times", "call it once for each item taken")
            self._finish(1)

    def join(self) -> None:
        """Wait until `task_done` was called for every item that was put."""
        with self._lock:
            while self._unfinished:
                self._joiners.sleep(None)

    async def ajoin(self) -> None:
        """Wait as `join` does, on the running event loop."""
        while True:
            with self._lock:
                if not self._unfinished:
                    return
                sleeper = self._joiners.lie_down()
            await self._joiners.settle(sleeper)

    def shutdown(self, immediate: bool = False) -> None:
        """Shut the queue down, as in Python 3.13: `put` raises `ShutDown`, and `get` does once nothing waits.

        Parameters
        ----------
        immediate : bool
            Whether what waits is thrown away, and counts as done. What was taken is not waited for by `join`
            alone.
        """
        self._shut(immediate)

    def _shut(self, immediate: bool) -> list[T]:
        """Shut the queue down; return what is thrown away, so that its destructors run without the lock."""
        gone: list[T] = []
        with self._lock:
            self._is_shut = True
            if immediate:
                is_open = None if self._open is None else self._open.handle
                waiting = [handle for handle in self._items if handle != is_open]
                self._raw.clear()
                gone = [self._items.pop(handle) for handle in waiting]
                self._finish(len(gone))
            for sleepers in (self._getters, self._putters, self._joiners):
                sleepers.wake_all()
        return gone

    def take(self, now: float | None = None) -> Grant[T]:
        """Open a grant: leave to serve the next item for at most ``grant.quantum``.

        For a server that serves in parts and can give an item back. One grant may be open at a time;
        close it by `requeue` or `finish`.

        Raises
        ------
        Empty
            If nothing can be served now.
        ShutDown
            If the queue was shut down and nothing waits.
        GrantError
            If a grant is open already.
        Dropped
            As in `get`.
        """
        at = nanoseconds(now)
        while True:
            with self._lock:
                taken, dropped = self._raw.take(at)
                if taken is not None:
                    handle, quantum, remaining = taken
                    self._open = Grant(self._items[handle], quantum, remaining, handle)
                    self._putters.wake()
                    return self._open
                if not dropped:
                    self._assert_more()
                    raise Empty("the queue is empty", "wait with get()")
                lost = self._lose(dropped)
            self._tell(lost)

    def charge(self, grant: Grant[T], used: SupportsIndex, now: float | None = None) -> None:
        """Tell the discipline that ``used`` more of the item was served and that the grant goes on.

        Charging as the service proceeds keeps the comparison with newcomers exact.

        Raises
        ------
        GrantError
            If the grant is closed.
        ConfigError
            If more is used than remains.
        """
        used = whole("used", used, 0, self.MAX_SIZE)
        at = nanoseconds(now)
        with self._lock:
            self._raw.charge(grant.handle, used, at)

    def requeue(self, grant: Grant[T], used: SupportsIndex, now: float | None = None) -> None:
        """Close the grant and put the rest of its item back, where the discipline says.

        Parameters
        ----------
        grant : Grant
            The open grant.
        used : int
            What was served since the grant was opened, or since the last `charge`.
        now : float, optional
            The time in seconds.

        Raises
        ------
        GrantError
            If the grant is closed already.
        ConfigError
            If nothing would remain: finish it instead.
        Dropped
            If the discipline serves items whole; the error carries the item.
        """
        used = whole("used", used, 0, self.MAX_SIZE)
        at = nanoseconds(now)
        with self._lock:
            dropped = self._raw.requeue(grant.handle, used, at)
            self._open = None
            self._getters.wake()
            lost = self._lose(dropped)
        self._tell(lost)

    def finish(self, grant: Grant[T], used: SupportsIndex | None = None, now: float | None = None) -> T:
        """Close the grant; its item leaves the queue.

        Parameters
        ----------
        grant : Grant
            The open grant.
        used : int, optional
            What was served since the grant was opened, or since the last `charge`; all that remained
            where not given.
        now : float, optional
            The time in seconds.

        Returns
        -------
        T
            The item.

        Raises
        ------
        GrantError
            If the grant is closed already.
        """
        served = None if used is None else whole("used", used, 0, self.MAX_SIZE)
        at = nanoseconds(now)
        with self._lock:
            self._raw.finish(grant.handle, served, at)
            self._open = None
            self._getters.wake()
            return self._items.pop(grant.handle)

    def _described(
        self, size: SupportsIndex, flow: SupportsIndex, class_: SupportsIndex
    ) -> tuple[int, int, int]:
        return (
            whole("size", size, 1, self.MAX_SIZE),
            whole("flow", flow, 0, 2**32 - 1),
            whole("class_", class_, 0, 2**16 - 1),
        )

    # What follows is called with the lock held, `_tell` apart.

    def _has_room(self) -> bool:
        self._assert_open()
        return not self.maxsize or len(self) < self.maxsize

    def _full(self, until: str = "") -> Full:
        return Full(f"the queue is full{until}: {self.maxsize} items wait", "take some out, or raise maxsize")

    def _assert_open(self) -> None:
        if self._is_shut:
            raise ShutDown("the queue was shut down", "put nothing more into it")

    def _assert_more(self) -> None:
        """Refuse to wait for what cannot come."""
        if self._is_shut and not len(self):
            raise ShutDown("the queue was shut down, and nothing waits", "end the worker")

    def _insert(self, item: T, described: tuple[int, int, int], at: int) -> tuple[bool, list[tuple[T, str]]]:
        handle = next(self._handles)
        self._items[handle] = item
        try:
            preempts, dropped = self._raw.enqueue(handle, *described, at)
        except BaseException:
            del self._items[handle]
            raise
        self._unfinished += 1
        if preempts and self._open is not None:
            self._open._outranked.set()  # noqa: SLF001 - the queue is the grant's other half
        self._getters.wake()
        return preempts, self._lose(dropped) if dropped else []

    def _leave(self, handle: int) -> T:
        """Take the item of a handle that was dequeued."""
        if self.maxsize:
            self._putters.wake()
        return self._items.pop(handle)

    def _nap(self, deadline: float | None) -> float | None:
        """Return how long to sleep, in seconds: until ``deadline``, or something held back is let go."""
        event = self._raw.event(time.monotonic_ns()) if self._items else None
        naps = [] if event is None else [event / 1e9]
        if deadline is not None:
            left = deadline - time.monotonic()
            if left <= 0:
                raise Empty(
                    "the queue had nothing to give until the timeout", "wait longer, or put something into it"
                )
            naps.append(left)
        return min(naps, default=None)

    def _finish(self, items: int) -> None:
        self._unfinished = max(self._unfinished - items, 0)
        if not self._unfinished:
            self._joiners.wake_all()

    def _lose(self, dropped: list[tuple[int, str]]) -> list[tuple[T, str]]:
        """Take out what the discipline dropped."""
        lost = [(self._items.pop(handle), reason) for handle, reason in dropped]
        if lost:
            self._finish(len(lost))
            self._putters.wake()
            self._getters.wake()  # who tells of it may have been woken for another item
        return lost

    def _tell(self, lost: list[tuple[T, str]]) -> None:
        if lost and self._on_drop is None:
            raise Dropped(tuple(item for item, _ in lost), lost[0][1])
        for item, reason in lost:
            assert self._on_drop is not None  # noqa: S101 - for the type checker
            self._on_drop(item, reason)
