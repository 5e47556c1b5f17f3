"""Benchmarks of this machine: whole runs of the port, and the queue, as ``weir bench`` prints them.

``port/*`` simulates the alpha report's workload at 95 % load on one thread and counts packets by the clock on
the wall, start and statistics included: ``port/fifo`` and the like one discipline with means and intervals,
``port/report`` its 13 strategies on one timeline, ``port/report/tails`` these with histograms. ``queue/*``
passes items through `weir.Queue` from one thread.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weir.queue import Queue
from weir.scenario import Scenario
from weir.simulation import run

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["measure"]

_ROUNDS = 5
_PACKETS = 16_000_000
_ITEMS = 20_000
_WAITING = 100
_REPORT = ("fifo", "rr", "rr_head", "sf", *(f"alpha:{alpha}" for alpha in (1, 2, 3, 6, 10, 20, 30, 60, 100)))


@dataclass(frozen=True, slots=True)
class _Benchmark:
    name: str
    unit: str
    round: Callable[[], float]
    """One round; returns units a second."""

    def row(self) -> dict[str, Any]:
        self.round()  # warms up
        rates = [self.round() for _ in range(_ROUNDS)]
        return {
            "bench": self.name,
            "unit": self.unit,
            "value": statistics.median(rates),
            "low": min(rates),
            "high": max(rates),
        }


def _benchmarks() -> list[_Benchmark]:
    single = {"port/fifo": "fifo", "port/rr": "rr", "port/sf": "sf", "port/alpha": "alpha:10"}
    ports = [_port(name, (spec,), _PACKETS) for name, spec in single.items()]
    ports += [
        _port("port/report", _REPORT, _PACKETS // 4),
        _port("port/report/tails", _REPORT, _PACKETS // 4, tails=True),
    ]
    return [*ports, _queue("queue/fifo", "fifo"), _queue("queue/alpha", "alpha:10")]


def measure(prefix: str = "") -> list[dict[str, Any]]:
    """Run the benchmarks whose name begins with ``prefix``.

    Returns
    -------
    list of dict
        ``bench``, ``unit``, ``value`` (the median of five rounds), ``low`` and ``high``.
    """
    return [benchmark.row() for benchmark in _benchmarks() if benchmark.name.startswith(prefix)]


def _port(name: str, disciplines: tuple[str, ...], packets: int, *, tails: bool = False) -> _Benchmark:
    def once() -> float:
        scenario = Scenario.from_dict(
            {
                "weir": 1,
                "model": "port",
                "disciplines": disciplines,
                "workload": {"load": 0.95, "lengths": "report"},
                "stop": {"packets": packets, "warm_up": "none"},
                "measure": {"tails": tails},
            },
            name,
        )
        began = time.perf_counter()
        run(scenario, threads=1)
        return packets / (time.perf_counter() - began)

    return _Benchmark(name, "packets/s", once)


def _queue(name: str, spec: str) -> _Benchmark:
    return _Benchmark(name, "items/s", lambda: _queue_rate(spec))


def _queue_rate(spec: str) -> float:
    """Return the items a second that pass through a queue that holds a hundred."""
    queue: Queue[int] = Queue(spec)
    for item in range(_WAITING):
        queue.enqueue(item, size=1 + item % 20)
    began = time.perf_counter()
    for item in range(_ITEMS):
        queue.enqueue(item, size=1 + item % 20)
        queue.dequeue()
    return _ITEMS / (time.perf_counter() - began)
