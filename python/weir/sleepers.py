"""Threads and tasks that sleep until something of an object has changed.

Every method is called with the lock of that object held, `Sleepers.settle` apart. A wake-up is a hint: who is
woken looks again under the lock, and sleeps again if there is nothing for it. So a wake-up too many costs
time, and one too few would strand somebody: whoever is woken and gives up instead hands the wake-up on.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from typing import NamedTuple

__all__ = ["Sleeper", "Sleepers"]


class Sleeper(NamedTuple):
    """A task that sleeps."""

    loop: asyncio.AbstractEventLoop
    ready: asyncio.Future[None]

    def wake(self) -> bool:
        """Wake it from any thread; whether its loop still runs."""
        if _running_loop() is self.loop:  # no need to interrupt the loop, which takes system calls
            _resolve(self.ready)
            return True
        try:
            self.loop.call_soon_threadsafe(_resolve, self.ready)
        except RuntimeError:  # the loop was closed over a sleeping task
            return False
        return True


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _resolve(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)


class Sleepers:
    """Those that wait for one kind of change."""

    def __init__(self, lock: threading.RLock) -> None:
        self._lock = lock
        self._threads = threading.Condition(lock)
        self._tasks: deque[Sleeper] = deque()

    def wake(self) -> None:
        """Wake one thread and one task; whoever finds nothing sleeps again."""
        self._threads.notify()
        while self._tasks and not self._tasks.popleft().wake():
            pass

    def wake_all(self) -> None:
        """Wake all."""
        self._threads.notify_all()
        while self._tasks:
            self._tasks.popleft().wake()

    def sleep(self, seconds: float | None) -> None:
        """Let the thread sleep until woken, for at most so long; it does not hold the lock meanwhile."""
        try:
            self._threads.wait(seconds)
        except BaseException:  # Ctrl-C: the wake-up may have been meant for another
            self.wake()
            raise

    def lie_down(self) -> Sleeper:
        """Note that the running task sleeps; it is to await `settle` without the lock."""
        loop = asyncio.get_running_loop()
        sleeper = Sleeper(loop, loop.create_future())
        self._tasks.append(sleeper)
        return sleeper

    async def settle(self, sleeper: Sleeper, seconds: float | None = None) -> None:
        """Sleep until woken, for at most so long; who is cancelled after the wake-up hands it on."""
        alarm = None if seconds is None else sleeper.loop.call_later(seconds, _resolve, sleeper.ready)
        try:
            await sleeper.ready
        except BaseException:
            with self._lock:
                if not self._forget(sleeper):
                    self.wake()
            raise
        finally:
            if alarm is not None:
                alarm.cancel()
        if alarm is not None:
            with self._lock:
                self._forget(sleeper)

    def _forget(self, sleeper: Sleeper) -> bool:
        """Take it off the list; whether it was on it, so that nobody has woken it."""
        try:
            self._tasks.remove(sleeper)
        except ValueError:
            return False
        return True
