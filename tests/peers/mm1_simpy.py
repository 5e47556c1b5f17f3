"""An M/M/1 queue in order of arrival by SimPy: a process that sends, a store, and a process that serves.

::

    python mm1_simpy.py MESSAGES LOAD SEED

Prints the messages served, their mean wait in mean service times, and the seconds of processor time, as
``mm1.c`` does.
"""

from __future__ import annotations

import random
import sys
import time
from typing import TYPE_CHECKING, Any

import simpy  # type: ignore[import-not-found, unused-ignore]

if TYPE_CHECKING:
    from collections.abc import Generator


def mean_wait(messages: int, load: float, seed: int) -> float:
    """Return the mean wait of the first messages."""
    draw = random.Random(seed).expovariate  # noqa: S311
    environment = simpy.Environment()
    queue = simpy.Store(environment)

    def send() -> Generator[Any, Any, None]:
        for _ in range(messages):
            yield environment.timeout(draw(load))
            queue.put(environment.now)

    def serve() -> Generator[Any, Any, float]:
        waits = 0.0
        for _ in range(messages):
            arrival = yield queue.get()
            waits += environment.now - arrival
            yield environment.timeout(draw(1.0))
        return waits / messages

    environment.process(send())
    wait: float = environment.run(environment.process(serve()))
    return wait


def main() -> None:
    """Run what the arguments say."""
    messages, load, seed = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
    began = time.process_time()
    wait = mean_wait(messages, load, seed)
    sys.stdout.write(f"{messages} {wait:.9g} {time.process_time() - began:.6f}\n")


if __name__ == "__main__":
    main()
