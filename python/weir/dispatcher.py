"""Several servers, and the rule that says which of them a request joins.

A dispatcher of the registry decides when a request arrives, once and for all; each server has a queue of its
own, which a discipline orders::

    servers = weir.Dispatcher("jsq", servers=4, discipline="sf")
    servers.put(request, size=request.prompt_tokens)     # joins the server with the fewest requests

    with servers.get(server) as request:                 # in the worker of that server
        answer(request)                                  # done when the block ends

For servers that have queues of their own, such as other machines, `Dispatcher.assign` says where to send a
request.

A server has a request from its assignment until it is reported to be done, so that rules that look at lengths
count what is in service too. Sizes are whole numbers in any unit, and what rules call work. A decision takes
as long as its rule says, O(1) to O(servers).
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Generic, SupportsIndex, TypeVar

from weir import _weir
from weir.arguments import nanoseconds, whole
from weir.errors import Dropped
from weir.queue import Backlog, Queue

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["Assigned", "Dispatcher"]

T = TypeVar("T")


class Assigned(Generic[T]):
    """A request that a server has until it is `done`.

    It is a context manager, which yields the item and is done at the end.

    Attributes
    ----------
    item : T
        The request.
    server : int
        Which server has it, from 0.
    size : int
        What it costs to serve, in the unit of the caller.
    """

    __slots__ = ("_dispatcher", "_is_done", "item", "server", "size")

    def __init__(self, item: T, server: int, size: int, dispatcher: Dispatcher[T]) -> None:
        self.item = item
        self.server = server
        self.size = size
        self._dispatcher = dispatcher
        self._is_done = False

    def __repr__(self) -> str:
        return f"<weir.Assigned {self.item!r} at server {self.server}>"

    def __enter__(self) -> T:
        return self.item

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.done()

    def done(self) -> None:
        """Tell the dispatcher that the server has it no longer; a second call does nothing."""
        self._dispatcher._leave(self)  # noqa: SLF001 - the dispatcher is its other half


class Dispatcher(Generic[T]):
    """Servers with a queue each, and a rule that says which of them a request joins.

    Parameters
    ----------
    rule : str
        A spec string of a dispatcher, as in ``weir list dispatcher``: ``"rr"``, ``"jsq"``,
        ``"power_of_two"``, ``"least_work"``, ``"flow_hash"``. Those that measure delays every so often
        (``dynamic``) are refused.
    servers : int
        How many servers there are, from 1 to 1024.
    discipline : str or class
        What orders the queue of each server, as of `Queue`.
    maxsize : int
        How many requests may wait at each server, as of `Queue`.

    Attributes
    ----------
    queues : tuple of Queue
        The queue of each server. Take from it by `get`, so that the dispatcher learns what is done.

    Raises
    ------
    ConfigError
        If the rule, the discipline or a number is refused.

    Examples
    --------
    >>> servers = Dispatcher("jsq", servers=2)
    >>> [servers.put(name).server for name in ("a", "b", "c")]
    [0, 1, 0]
    >>> with servers.get(0) as item:
    ...     item, servers.loads[0].items
    ('a', 2)
    >>> servers.loads[0].items
    1
    """

    def __init__(
        self,
        rule: str,
        servers: SupportsIndex,
        discipline: str | type = "fifo",
        maxsize: SupportsIndex = 0,
    ) -> None:
        self.rule = rule
        self._raw = _weir.Dispatcher(rule, whole("servers", servers, 1, 1024))
        self._lock = threading.Lock()
        self.queues = tuple(Queue[Assigned[T]](discipline, maxsize) for _ in self._raw.loads())

    def __repr__(self) -> str:
        return f"<weir.Dispatcher {self.rule!r} over {len(self.queues)} servers>"

    @property
    def loads(self) -> tuple[Backlog, ...]:
        """What each server has, waiting or in service: the number of requests, and their sizes together."""
        return tuple(Backlog(*load) for load in self._raw.loads())

    def assign(
        self,
        item: T,
        *,
        size: SupportsIndex = 1,
        flow: SupportsIndex = 0,
        class_: SupportsIndex = 0,
        now: float | None = None,
    ) -> Assigned[T]:
        """Say which server a request joins, without putting it into that server's queue.

        Parameters
        ----------
        item : T
            The request.
        size, flow, class_
            As of `Queue.put`.
        now : float, optional
            The time in seconds; `time.monotonic` where not given.

        Raises
        ------
        ConfigError
            If a value is outside its bounds.
        Dropped
            If the rule lets it join no server.
        """
        cost = whole("size", size, 1, Queue.MAX_SIZE)
        owner, kind = whole("flow", flow, 0, 2**32 - 1), whole("class_", class_, 0, 2**16 - 1)
        server = self._raw.assign(cost, owner, kind, nanoseconds(now))
        if server is None:
            raise Dropped((item,), f"{self.rule} lets it join no server")
        return Assigned(item, server, cost, self)

    def put(
        self,
        item: T,
        *,
        size: SupportsIndex = 1,
        flow: SupportsIndex = 0,
        class_: SupportsIndex = 0,
        now: float | None = None,
    ) -> Assigned[T]:
        """Put a request into the queue of the server that it joins, at once.

        Parameters
        ----------
        item, size, flow, class_, now
            As in `assign`.

        Raises
        ------
        ConfigError, Dropped
            As in `assign`, and where the discipline of the server drops it.
        Full, ShutDown
            If the queue of that server is full, or was shut down; the server does not have the request then.
        """
        assigned = self.assign(item, size=size, flow=flow, class_=class_, now=now)
        try:
            self.queues[assigned.server].put_nowait(
                assigned, size=assigned.size, flow=flow, class_=class_, now=now
            )
        except Dropped as dropped:
            for each in dropped.items:
                each.done()
            raise Dropped(tuple(each.item for each in dropped.items), dropped.reason) from None
        except BaseException:
            assigned.done()
            raise
        return assigned

    def get(
        self,
        server: SupportsIndex,
        block: bool = True,
        timeout: float | None = None,
    ) -> Assigned[T]:
        """Return the next request of a server, as `Queue.get` does; say `Assigned.done` afterwards."""
        return self._queue(server).get(block, timeout)

    async def aget(self, server: SupportsIndex) -> Assigned[T]:
        """Return the next request of a server, as `Queue.aget` does; say `Assigned.done` afterwards."""
        return await self._queue(server).aget()

    def remove(self, assigned: Assigned[T]) -> bool:
        """Take a request out of the queue of its server, unserved; whether it waited there. O(n)."""
        removed = self.queues[assigned.server].remove(assigned)
        if removed:
            assigned.done()
        return removed

    def shutdown(self, immediate: bool = False) -> None:
        """Shut all queues down, as `Queue.shutdown` does."""
        for queue in self.queues:
            for assigned in queue._shut(immediate):  # noqa: SLF001 - as `shutdown`, and the servers lose them
                assigned.done()

    def _queue(self, server: SupportsIndex) -> Queue[Assigned[T]]:
        return self.queues[whole("server", server, 0, len(self.queues) - 1)]

    def _leave(self, assigned: Assigned[T]) -> None:
        with self._lock:
            if assigned._is_done:  # noqa: SLF001 - it is the dispatcher's other half
                return
            assigned._is_done = True  # noqa: SLF001
        self._raw.done(assigned.server, assigned.size)
