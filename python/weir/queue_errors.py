"""What a queue raises where the queues of the standard library would raise the same.

Each is an error of `queue` and of `asyncio`, so that code written for either catches it. Apart from
`weir.errors`, since `asyncio` takes a while to load.
"""

from __future__ import annotations

import asyncio
import queue
import sys

from weir.errors import WeirError

__all__ = ["Empty", "Full", "ShutDown"]

if sys.version_info >= (3, 13):
    _OfThreads, _OfTasks = queue.ShutDown, asyncio.QueueShutDown
else:

    class _OfThreads(Exception):  # noqa: N818 - stands for `queue.ShutDown`
        pass

    class _OfTasks(Exception):  # noqa: N818 - stands for `asyncio.QueueShutDown`
        pass


class Empty(WeirError, queue.Empty, asyncio.QueueEmpty):  # noqa: N818 - named as the standard library names it
    """Nothing can be served now."""


class Full(WeirError, queue.Full, asyncio.QueueFull):  # noqa: N818 - named as the standard library names it
    """A queue holds as many items as its ``maxsize`` allows."""


class ShutDown(WeirError, _OfThreads, _OfTasks):  # noqa: N818 - named as the standard library names it
    """A queue was shut down: it takes nothing, and has nothing left to give.

    It is a `queue.ShutDown` and an `asyncio.QueueShutDown` where Python has them, from 3.13 on.
    """
