"""Benchmarks of `weir.Queue` against the queues of the standard library.

All of them hold a hundred items, of the sizes 1 to 20, while one is put and one is taken; ``queue/standard``
has what Python has for the same order, shortest first: `heapq` alone, `queue.PriorityQueue`,
`asyncio.PriorityQueue`.

What counts is processor time of the process, as in the other benchmarks, so other work on the machine matters
only through the caches.

- ``.../ping_pong``: a task puts an item, and sleeps until another task has sent it back over a second queue.
- ``.../threads``: one thread puts what another takes.
- ``.../peek/N``, ``.../remove/N``: one call with N items waiting; what is removed is put back.
"""

from __future__ import annotations

import asyncio
import heapq
import queue
import statistics
import threading
import time
from functools import partial
from typing import TYPE_CHECKING, Any

from weir.queue import Queue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["measure"]

_ROUNDS = 7
_ITEMS = 20_000
_WAITING = 100


def measure(prefix: str = "") -> Iterator[dict[str, Any]]:
    """Run the benchmarks whose name begins with ``prefix``; yield as `weir.bench.measure` does."""
    for name, rate in _BENCHES.items():
        if name.startswith(prefix):
            rate()  # warms up
            rates = [rate() for _ in range(_ROUNDS)]
            value = statistics.median(rates)
            yield {"bench": name, "unit": "items/s", "value": value, "low": min(rates), "high": max(rates)}


def _size(number: int) -> int:
    return 1 + number % 20


def _through(put: Callable[[int], object], take: Callable[[], object]) -> float:
    """Return the items a second that are put and taken by one thread."""
    for number in range(_WAITING):
        put(number)
    began = time.process_time()
    for number in range(_ITEMS):
        put(number)
        take()
    return _ITEMS / (time.process_time() - began)


def _weir(spec: str) -> float:
    waiting: Queue[int] = Queue(spec)
    return _through(
        lambda number: waiting.put_nowait(number, size=_size(number), flow=number % 4), waiting.get_nowait
    )


def _heapq() -> float:
    heap: list[tuple[int, int]] = []
    return _through(lambda number: heapq.heappush(heap, (_size(number), number)), lambda: heapq.heappop(heap))


def _priority_queue() -> float:
    waiting: queue.PriorityQueue[tuple[int, int]] = queue.PriorityQueue()
    return _through(lambda number: waiting.put_nowait((_size(number), number)), waiting.get_nowait)


def _asyncio_priority_queue() -> float:
    async def main() -> float:
        waiting: asyncio.PriorityQueue[tuple[int, int]] = asyncio.PriorityQueue()
        return _through(lambda number: waiting.put_nowait((_size(number), number)), waiting.get_nowait)

    return asyncio.run(main())


def _ping_pong(make: Callable[[], tuple[Callable[[int], Any], Callable[[], Any]]]) -> float:
    """Return the items a second that go to another task and come back."""

    async def main() -> float:
        (serve, receive), (give_back, take_back) = make(), make()

        async def other() -> None:
            for _ in range(_ITEMS // 4):
                give_back(await receive())

        task = asyncio.create_task(other())
        began = time.process_time()
        for number in range(_ITEMS // 4):
            serve(number)
            await take_back()
        took = time.process_time() - began
        await task
        return _ITEMS // 4 / took

    return asyncio.run(main())


def _weir_tasks() -> tuple[Callable[[int], Any], Callable[[], Any]]:
    waiting: Queue[int] = Queue("sf")
    return lambda number: waiting.put_nowait(number, size=_size(number)), waiting.aget


def _asyncio_tasks() -> tuple[Callable[[int], Any], Callable[[], Any]]:
    waiting: asyncio.PriorityQueue[tuple[int, int]] = asyncio.PriorityQueue()

    async def take() -> int:
        return (await waiting.get())[1]

    return lambda number: waiting.put_nowait((_size(number), number)), take


def _threads(put: Callable[[int], object], take: Callable[[], object]) -> float:
    """Return the items a second that one thread puts and another takes."""
    began = time.process_time()
    thread = threading.Thread(target=lambda: [put(number) for number in range(_ITEMS)])
    thread.start()
    for _ in range(_ITEMS):
        take()
    took = time.process_time() - began
    thread.join()
    return _ITEMS / took


def _weir_threads() -> float:
    waiting: Queue[int] = Queue("sf")
    return _threads(lambda number: waiting.put(number, size=_size(number)), waiting.get)


def _standard_threads() -> float:
    waiting: queue.PriorityQueue[tuple[int, int]] = queue.PriorityQueue()
    return _threads(lambda number: waiting.put((_size(number), number)), waiting.get)


def _calls(items: int, call: Callable[[Queue[int]], object]) -> float:
    """Return the calls a second on a queue of a given length."""
    waiting: Queue[int] = Queue("sf")
    for number in range(items):
        waiting.put_nowait(number, size=1 + number * 7919 % 4096)
    calls = max(_ITEMS // items, 10)
    began = time.process_time()
    for _ in range(calls):
        call(waiting)
    return calls / (time.process_time() - began)


def _remove(waiting: Queue[int]) -> None:
    item = len(waiting) // 2
    waiting.remove(item)
    waiting.put_nowait(item, size=7)


_BENCHES: dict[str, Callable[[], float]] = {
    "queue/fifo": lambda: _weir("fifo"),
    "queue/alpha": lambda: _weir("alpha:10"),
    "queue/sf": lambda: _weir("sf"),
    "queue/drr": lambda: _weir("drr:quantum=20B"),
    "queue/standard/heapq": _heapq,
    "queue/standard/priority_queue": _priority_queue,
    "queue/standard/asyncio": _asyncio_priority_queue,
    "queue/sf/ping_pong": lambda: _ping_pong(_weir_tasks),
    "queue/standard/asyncio/ping_pong": lambda: _ping_pong(_asyncio_tasks),
    "queue/sf/threads": _weir_threads,
    "queue/standard/priority_queue/threads": _standard_threads,
    **{f"queue/sf/peek/{items}": partial(_calls, items, Queue.peek) for items in (100, 10_000)},
    **{f"queue/sf/remove/{items}": partial(_calls, items, _remove) for items in (100, 10_000)},
}
