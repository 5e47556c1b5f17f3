"""A discipline as an in-process queue for a server.

A queue orders items by any message discipline of the registry::

    queue = weir.Queue("alpha:0.001")
    queue.enqueue(request, size=request.prompt_tokens)
    request = queue.get(timeout=1.0)      # blocks; or dequeue(), or await aget()

Sizes are positive whole numbers in any unit: tokens, bytes, microseconds. The unit is the caller's, as
long as a queue sees one; alpha weighs a size against the size served meanwhile, so it has no unit.

Time is in seconds of one clock, which is `time.monotonic` where no ``now`` is given. A ``now`` before the
latest one seen counts as the latest: threads race for the lock, and the order of the calls decides.

An item taken by `Queue.dequeue`, `Queue.get` or `Queue.aget` counts as served with its full size at that
instant, so any number of workers may share a queue. A server that can interrupt its work uses
`Queue.take`, one grant at a time.

Each operation costs O(log n) of n items waiting, and the lock is held for that long only. Nothing waits
under it: a blocking `get` sleeps on a condition, an `aget` on a future of its own event loop. An item
leaves the queue in the same step in which the caller has it, so cancelling an ``aget`` loses none.
"""

from __future__ import annotations

import asyncio
import itertools
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

from weir import _weir
from weir.arguments import nanoseconds, whole
from weir.errors import ConfigError, Dropped, Empty

__all__ = ["Backlog", "Grant", "Queue"]

T = TypeVar("T")


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


class _Waiter(NamedTuple):
    """An `aget` that sleeps."""

    loop: asyncio.AbstractEventLoop
    ready: asyncio.Future[None]

    def wake(self) -> bool:
        """Wake it from any thread; whether its loop still runs."""
        try:
            self.loop.call_soon_threadsafe(_resolve, self.ready)
        except RuntimeError:  # the loop was closed over a sleeping task
            return False
        return True


def _resolve(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)


def _named(discipline: type) -> str:
    """Return the name of a class, under which it is added to the disciplines."""
    from weir.own import name_of

    return name_of(discipline)


class Queue(Generic[T]):
    """A thread-safe queue whose order is that of a discipline.

    Parameters
    ----------
    discipline : str or class
        A spec string of a message discipline, as in ``weir list``: ``"alpha:0.001"``, ``"sf"``,
        ``"in_order(alpha:10)"``; or a class of your own (`weir.Discipline`). A `DisciplineError` of such a
        class ends the queue: every later call raises it again.

    Raises
    ------
    ConfigError
        If no message discipline has that name, or a parameter is refused.

    Examples
    --------
    >>> queue = Queue("sf")
    >>> queue.enqueue("long", size=20)
    False
    >>> queue.enqueue("short", size=1)
    False
    >>> queue.dequeue(), queue.dequeue(), len(queue)
    ('short', 'long', 0)
    """

    MAX_SIZE = 1 << 40
    """The largest size of one item, in the unit of the caller."""

    def __init__(self, discipline: str | type) -> None:
        self.discipline = discipline if isinstance(discipline, str) else _named(discipline)
        self._raw = _weir.Queue(self.discipline)
        self._items: dict[int, T] = {}
        self._handles = itertools.count()
        # Reentrant: a destructor or a signal handler may use the queue in the middle of a call.
        self._changed = threading.Condition(threading.RLock())
        self._waiters: deque[_Waiter] = deque()
        self._open: Grant[T] | None = None

    def __repr__(self) -> str:
        return f"<weir.Queue {self.discipline!r}, {len(self)} waiting>"

    def __len__(self) -> int:
        return self._raw.backlog()[0]

    def __bool__(self) -> bool:
        """Return True however many items wait: a queue is a resource and no collection."""
        return True

    @property
    def backlog(self) -> Backlog:
        """Items waiting, and their sizes together."""
        return Backlog(*self._raw.backlog())

    def enqueue(self, item: T, size: int, flow: int = 0, class_: int = 0, now: float | None = None) -> bool:
        """Put an item into the queue.

        Parameters
        ----------
        item : T
            Anything; the queue keeps a reference until the item leaves.
        size : int
            What it costs to serve, from 1 to 2**40, in the unit of the caller.
        flow : int
            Whose item it is, from 0 to 2**32 - 1. Round robins and the in-order wrapper read it.
        class_ : int
            What kind it is, from 0 to 65535. An alpha per class reads it.
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
        Dropped
            If the discipline dropped the item, or another to make room.
        """
        whole("size", size, 1, self.MAX_SIZE)
        whole("flow", flow, 0, 2**32 - 1)
        whole("class_", class_, 0, 2**16 - 1)
        at = nanoseconds(now)
        with self._changed:
            handle = next(self._handles)
            self._items[handle] = item
            preempts, dropped = self._raw.enqueue(handle, size, flow, class_, at)
            if preempts and self._open is not None:
                self._open._outranked.set()  # noqa: SLF001 - the queue is the grant's other half
            self._wake()
            self._raise_dropped(dropped)
        return preempts

    def dequeue(self, now: float | None = None) -> T:
        """Return the next item at once, as served with its full size.

        Raises
        ------
        Empty
            If nothing can be served now.
        GrantError
            If a grant is open.
        """
        at = nanoseconds(now)
        with self._changed:
            handle = self._raw.dequeue(at)
            if handle is None:
                raise Empty("the queue is empty", "use get() to wait")
            return self._items.pop(handle)

    def get(self, timeout: float | None = None) -> T:
        """Return the next item, waiting for one.

        Parameters
        ----------
        timeout : float, optional
            The longest wait in seconds; without it the wait has no end.

        Raises
        ------
        Empty
            If nothing could be served within ``timeout``.
        """
        if timeout is not None and not timeout >= 0:
            raise ConfigError(
                f"timeout is {timeout}, must be at least 0 seconds", "leave it out to wait for ever"
            )
        deadline = None if timeout is None else time.monotonic() + timeout
        with self._changed:
            while True:
                try:
                    return self.dequeue()
                except Empty:
                    self._sleep(deadline)

    def _sleep(self, deadline: float | None) -> None:
        """Wait for a change of the queue until ``deadline``, then raise `Empty`."""
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left <= 0:
            raise Empty("the queue stayed empty until the timeout", "wait longer, or enqueue something")
        try:
            self._changed.wait(left)
        except BaseException:  # Ctrl-C: the wake-up may have been meant for an item that is still there
            self._wake()
            raise

    async def aget(self) -> T:
        """Return the next item, waiting for one on the running event loop.

        It may be cancelled at any time; no item is lost. Use `asyncio.timeout` to limit the wait.
        """
        loop = asyncio.get_running_loop()
        while True:
            with self._changed:
                try:
                    return self.dequeue()
                except Empty:
                    waiter = _Waiter(loop, loop.create_future())
                    self._waiters.append(waiter)
            await self._settle(waiter)

    async def _settle(self, waiter: _Waiter) -> None:
        """Sleep until woken; cancelled after that, hand the wake-up on."""
        try:
            await waiter.ready
        except BaseException:
            with self._changed:
                if waiter in self._waiters:
                    self._waiters.remove(waiter)
                else:
                    self._wake()
            raise

    def take(self, now: float | None = None) -> Grant[T]:
        """Open a grant: leave to serve the next item for at most ``grant.quantum``.

        For a server that serves in parts and can give an item back. One grant may be open at a time;
        close it by `requeue` or `finish`.

        Raises
        ------
        Empty
            If nothing can be served now.
        GrantError
            If a grant is open already.
        """
        at = nanoseconds(now)
        with self._changed:
            taken = self._raw.take(at)
            if taken is None:
                raise Empty("the queue is empty", "use get() to wait")
            handle, quantum, remaining = taken
            self._open = Grant(self._items[handle], quantum, remaining, handle)
            return self._open

    def charge(self, grant: Grant[T], used: int, now: float | None = None) -> None:
        """Tell the discipline that ``used`` more of the item was served and that the grant goes on.

        Charging as the service proceeds keeps the comparison with newcomers exact.

        Raises
        ------
        GrantError
            If the grant is closed.
        ConfigError
            If more is used than remains.
        """
        whole("used", used, 0, self.MAX_SIZE)
        at = nanoseconds(now)
        with self._changed:
            self._raw.charge(grant.handle, used, at)

    def requeue(self, grant: Grant[T], used: int, now: float | None = None) -> None:
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
        whole("used", used, 0, self.MAX_SIZE)
        at = nanoseconds(now)
        with self._changed:
            dropped = self._raw.requeue(grant.handle, used, at)
            self._open = None
            self._wake()
            self._raise_dropped(dropped)

    def finish(self, grant: Grant[T], used: int | None = None, now: float | None = None) -> T:
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
        if used is not None:
            whole("used", used, 0, self.MAX_SIZE)
        at = nanoseconds(now)
        with self._changed:
            self._raw.finish(grant.handle, used, at)
            self._open = None
            self._wake()
            return self._items.pop(grant.handle)

    def _wake(self) -> None:
        """Wake one sleeping thread and one sleeping task; whoever finds nothing sleeps again."""
        self._changed.notify()
        while self._waiters and not self._waiters.popleft().wake():
            pass

    def _raise_dropped(self, dropped: list[tuple[int, str]]) -> None:
        if dropped:
            items = tuple(self._items.pop(handle) for handle, _ in dropped)
            raise Dropped(items, dropped[0][1])
