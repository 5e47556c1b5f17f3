"""Benchmarks of this machine, as ``weir bench`` prints them.

``port/*``, ``source/*`` and ``core/*`` are measured inside the engine's library, without Python; ``queue/*``
passes items through `weir.Queue` (`weir.bench_queue`); ``live/*``, only where it is asked for, sends real
packets through `weird` in namespaces, which takes root.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from weir import _weir, bench_queue

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["measure"]


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
    yield from bench_queue.measure(prefix)
