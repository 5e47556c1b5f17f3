"""Benchmarks of this machine, as ``weir bench`` prints them.

``port/*``, ``source/*`` and ``core/*`` are measured inside the engine's library, without Python; ``queue/*``
passes items through `weir.Queue` from one thread; ``live/*``, only where it is asked for, sends real packets
through `weird` in namespaces, which takes root.
"""

from __future__ import annotations

import json
import statistics
import time
from typing import TYPE_CHECKING, Any

from weir import _weir
from weir.queue import Queue

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["measure"]

_ROUNDS = 5
_ITEMS = 20_000
_WAITING = 100
_QUEUES = {"queue/fifo": "fifo", "queue/alpha": "alpha:10"}


def measure(prefix: str = "") -> Iterator[dict[str, Any]]:
    """Run the benchmarks whose name begins with ``prefix``, one by one.

    Yields
    ------
    dict
        ``bench``, ``unit``, ``value`` (the median of several repetitions), ``low`` and ``high``.
    """
    if prefix.startswith("live"):
        from weir.live import bench, bench_steer

        yield from bench.measure(prefix)
        yield from bench_steer.measure(prefix)
        return
    for name in _weir.bench_names(prefix):
        yield json.loads(_weir.bench_run(name))
    for name, spec in _QUEUES.items():
        if name.startswith(prefix):
            yield _queue(name, spec)


def _queue(name: str, spec: str) -> dict[str, Any]:
    _rate(spec)  # warms up
    rates = [_rate(spec) for _ in range(_ROUNDS)]
    value = statistics.median(rates)
    return {"bench": name, "unit": "items/s", "value": value, "low": min(rates), "high": max(rates)}


def _rate(spec: str) -> float:
    """Return the items a second that pass through a queue that holds a hundred."""
    queue: Queue[int] = Queue(spec)
    for item in range(_WAITING):
        queue.enqueue(item, size=1 + item % 20)
    began = time.perf_counter()
    for item in range(_ITEMS):
        queue.enqueue(item, size=1 + item % 20)
        queue.dequeue()
    return _ITEMS / (time.perf_counter() - began)
