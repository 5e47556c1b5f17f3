"""A limit on how much may begin in a time: a token bucket.

::

    limiter = weir.Limiter(rate=100, burst=20)     # 100 requests a second, up to 20 at once
    limiter.acquire()                              # waits for its turn; or await limiter.aacquire()

    limiter = weir.Limiter(rate="10Mbit", burst="64KiB")
    limiter.acquire(size=len(message))             # a size in bytes

It is the discipline ``tbf`` over ``fifo`` (`weir explain tbf`): tokens accrue at the rate, up to the burst,
which is there at first; who asks for tokens gets them in the order of asking. In any span of t seconds no
more than ``burst + rate * t`` is let through, whatever the number of threads and tasks.

Time is that of `time.monotonic`. A call takes O(1); one of those that wait sets the alarm for all.
"""

from __future__ import annotations

import itertools
import math
import threading
import time
from typing import SupportsIndex

from weir import _weir
from weir.arguments import waiting_time, whole
from weir.errors import ConfigError
from weir.sleepers import Sleepers

__all__ = ["Limiter"]

_FINE = 10**6
"""In how many parts a unit is counted where rate and burst are numbers, so that a rate may be fractional."""
_LARGEST = 1 << 40


class _Waiting:
    """A thread or a task that waits for tokens."""

    def __init__(self, lock: threading.RLock) -> None:
        self.is_through = False
        self.sleepers = Sleepers(lock)


class Limiter:
    """A token bucket for threads and tasks.

    Parameters
    ----------
    rate : float or str
        How fast tokens accrue: a number of units a second, which is kept to the nearest 1.25e-7 a second; or,
        where sizes are bytes, text such as ``"10Mbit"`` (bits a second: bit, kbit, Mbit, Gbit).
    burst : int or str
        How many tokens accrue at most, and so the largest size: a whole number of units, up to a million; or
        bytes such as ``"64KiB"``. Both are numbers, or both are text.

    Raises
    ------
    ConfigError
        If the rate or the burst is refused.

    Examples
    --------
    >>> limiter = Limiter(rate=1, burst=2)
    >>> limiter.try_acquire(), limiter.try_acquire(), limiter.try_acquire()
    (True, True, False)
    >>> limiter.acquire(timeout=5)
    True
    """

    def __init__(self, rate: float | str, burst: SupportsIndex | str) -> None:
        if isinstance(rate, str) != isinstance(burst, str):
            raise ConfigError(
                f"rate is {rate!r} and burst {burst!r}, must be both numbers or both text",
                'write rate="10Mbit", burst="64KiB", or rate=100, burst=20',
            )
        self.rate, self.burst = rate, burst
        if isinstance(rate, str):
            self._fine, shaped = 1, f"rate={rate},burst={burst}"
        else:
            if isinstance(rate, bool) or not (math.isfinite(rate) and 1e-6 <= rate <= 1e9):
                raise ConfigError(
                    f"rate is {rate!r}, must be from 1e-6 to 1e9 a second", "count in another unit"
                )
            most = whole("burst", burst, 1, _LARGEST // _FINE)  # type: ignore[arg-type] # no text here
            bits = round(rate * 8 * _FINE)
            self._fine, shaped = _FINE, f"rate={bits}bit,burst={most * _FINE}B"
        self._raw = _weir.Queue(f"tbf(fifo,{shaped})")
        self._handles = itertools.count()
        self._lock = threading.RLock()
        # In the order of asking: the first sets the alarm.
        self._waiting: dict[int, _Waiting] = {}

    def __repr__(self) -> str:
        return f"<weir.Limiter of {self.rate} a second, {self.burst} at once>"

    def try_acquire(self, size: SupportsIndex = 1) -> bool:
        """Take tokens if they are there and nobody waits for any.

        Parameters
        ----------
        size : int
            How many, in units or bytes; at least 1 and at most the burst.

        Returns
        -------
        bool
            Whether they were taken.

        Raises
        ------
        ConfigError
            If ``size`` is outside its bounds.
        """
        with self._lock:
            self._let_through()
            handle = self._ask(size)
            if not self._waiting and self._raw.dequeue(time.monotonic_ns())[0] is not None:
                return True
            self._raw.remove(handle)
            return False

    def acquire(self, size: SupportsIndex = 1, timeout: float | None = None) -> bool:
        """Take tokens, waiting for them.

        Parameters
        ----------
        size : int
            How many, in units or bytes; at least 1 and at most the burst.
        timeout : float, optional
            The longest wait in seconds; without it the wait has no end.

        Returns
        -------
        bool
            Whether they were taken: False where the time was over, and then none are.

        Raises
        ------
        ConfigError
            If ``size`` or ``timeout`` is outside its bounds.
        """
        limit = waiting_time(timeout)
        deadline = None if limit is None else time.monotonic() + limit
        with self._lock:
            handle, waiting = self._line_up(size)
            try:
                while not waiting.is_through:
                    nap = self._nap(handle)
                    if deadline is not None:
                        left = deadline - time.monotonic()
                        if left <= 0:
                            return False
                        nap = left if nap is None else min(nap, left)
                    waiting.sleepers.sleep(nap)
                    self._let_through()
            finally:
                self._leave(handle)
            return True

    async def aacquire(self, size: SupportsIndex = 1) -> None:
        """Take tokens, waiting for them on the running event loop.

        It may be cancelled at any time, and takes no tokens then, unless it had them already and was still to
        wake. Use `asyncio.timeout` to limit the wait.
        """
        with self._lock:
            handle, waiting = self._line_up(size)
        try:
            while True:
                with self._lock:
                    self._let_through()
                    if waiting.is_through:
                        return
                    nap, sleeper = self._nap(handle), waiting.sleepers.lie_down()
                await waiting.sleepers.settle(sleeper, nap)
        finally:
            with self._lock:
                self._leave(handle)

    # What follows is called with the lock held.

    def _ask(self, size: SupportsIndex) -> int:
        """Put a claim into the bucket's queue; return its handle."""
        tokens = whole("size", size, 1, _LARGEST // self._fine) * self._fine
        handle = next(self._handles)
        _, dropped = self._raw.enqueue(handle, tokens, 0, 0, time.monotonic_ns())
        if dropped:
            raise ConfigError(
                f"size is {size}, more than the burst {self.burst}",
                "ask for less at once, or raise the burst",
            )
        return handle

    def _line_up(self, size: SupportsIndex) -> tuple[int, _Waiting]:
        waiting, handle = _Waiting(self._lock), self._ask(size)
        self._waiting[handle] = waiting
        self._let_through()
        return handle, waiting

    def _let_through(self) -> None:
        """Let those through for whom there are tokens."""
        has_moved = False
        while (handle := self._raw.dequeue(time.monotonic_ns())[0]) is not None:
            waiting = self._waiting.pop(handle, None)
            if waiting is not None:
                waiting.is_through = has_moved = True
                waiting.sleepers.wake()
        if has_moved:
            self._wake_first()

    def _wake_first(self) -> None:
        """Let the first of those that wait set the alarm anew."""
        first = next(iter(self._waiting.values()), None)
        if first is not None:
            first.sleepers.wake()

    def _nap(self, handle: int) -> float | None:
        """How long to sleep, in seconds: the first until there are tokens for it, the others until woken."""
        if next(iter(self._waiting), None) != handle:
            return None
        event = self._raw.event(time.monotonic_ns())
        return None if event is None else event / 1e9

    def _leave(self, handle: int) -> None:
        """Withdraw the claim, if it was not met."""
        if self._waiting.pop(handle, None) is not None:
            self._raw.remove(handle)
            self._wake_first()
