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

import time
from typing import SupportsIndex, TypeVar

from weir.arguments import nanoseconds, waiting_time, whole
from weir.queue_errors import Empty
from weir.queue_held import Backlog, Grant, Held

__all__ = ["Backlog", "Grant", "Queue"]

T = TypeVar("T")


class Queue(Held[T]):
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
