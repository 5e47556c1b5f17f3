"""What a queue holds: its items behind a lock, who sleeps until that changes, and what may be asked of it.

How items are put and taken is in `weir.queue`.
"""

from __future__ import annotations

import itertools
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, NamedTuple, Self, SupportsIndex, TypeVar

from weir import _weir
from weir.arguments import nanoseconds, whole
from weir.errors import ConfigError, Dropped
from weir.queue_errors import Empty, Full, ShutDown
from weir.sleepers import Sleepers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType

__all__ = ["Backlog", "Grant", "Held"]

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


class Held(Generic[T]):
    """The items of a queue, and what does not put or take them in turn; `weir.Queue` is the whole."""

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

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Shut the queue down; at once if the block ended by an exception."""
        self.shutdown(immediate=kind is not None)

    async def __aenter__(self) -> Self:
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

    def _described(
        self, size: SupportsIndex, flow: SupportsIndex, class_: SupportsIndex
    ) -> tuple[int, int, int]:
        return (
            whole("size", size, 1, self.MAX_SIZE),
            whole("flow", flow, 0, 2**32 - 1),
            whole("class_", class_, 0, 2**16 - 1),
        )

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
