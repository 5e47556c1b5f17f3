"""Benchmarks of the engine and of the queue, as ``weir bench`` prints them."""

from __future__ import annotations

import json
import time
from typing import Any

from weir import _weir
from weir.queue import Queue

__all__ = ["measure"]

_ROUNDS = 5
_ITEMS = 20_000
_QUEUES = {"queue/fifo": "fifo", "queue/alpha": "alpha:0.001"}


def measure(prefix: str = "") -> list[dict[str, Any]]:
    """Run the benchmarks whose name begins with ``prefix``.

    Returns
    -------
    list of dict
        ``bench``, ``unit``, ``value`` (the median of several rounds), ``low`` and ``high``.
    """
    rows: list[dict[str, Any]] = json.loads(_weir.bench(prefix))
    return rows + [_measure_queue(name, spec) for name, spec in _QUEUES.items() if name.startswith(prefix)]


def _measure_queue(name: str, spec: str) -> dict[str, Any]:
    rates = sorted(_queue_rate(spec) for _ in range(_ROUNDS))
    return {"bench": name, "unit": "items/s", "value": rates[_ROUNDS // 2], "low": rates[0], "high": rates[-1]}


def _queue_rate(spec: str) -> float:
    """Return the items a second that pass through a queue of 100 from one thread."""
    queue: Queue[int] = Queue(spec)
    for item in range(100):
        queue.enqueue(item, size=1 + item % 20)
    began = time.perf_counter()
    for item in range(_ITEMS):
        queue.enqueue(item, size=1 + item % 20)
        queue.dequeue()
    return _ITEMS / (time.perf_counter() - began)
