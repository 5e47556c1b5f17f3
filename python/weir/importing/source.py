"""Captures as files: what can be read, and how the reading of a pipe is stopped."""

from __future__ import annotations

import json
import signal
import threading
from contextlib import contextmanager
from stat import S_ISDIR, S_ISFIFO, S_ISREG
from typing import TYPE_CHECKING, Any

from weir.errors import CaptureError

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

__all__ = ["check_capture", "read", "stopped_at_once"]


def read(
    capture: str | os.PathLike[str],
    schedule: Path,
    rest: Path,
    addresses: bool,
    flows: int,
    progress: Callable[[Mapping[str, float]], object] | None,
) -> dict[str, Any]:
    """Write the schedule and the rest of a capture, and return what it holds."""
    from weir import _weir

    facts: dict[str, Any] = json.loads(
        _weir.import_capture(capture, schedule, rest, addresses, flows, progress)
    )
    return facts


def check_capture(path: Path) -> bool:
    """Check that a capture can be read, before anything is written; return whether it comes through a pipe.

    Raises
    ------
    CaptureError
        If it is not there, or is a folder or a device.
    """
    try:
        mode = path.stat().st_mode
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise CaptureError(f"cannot be read: {reason}", "name an existing capture", str(path)) from error
    if S_ISDIR(mode):
        raise CaptureError("cannot be read: is a directory", "name a capture in it", str(path))
    if not (S_ISREG(mode) or S_ISFIFO(mode)):
        raise CaptureError("is neither a file nor a pipe", "name a capture", str(path))
    return S_ISFIFO(mode)


class _Stopped(Exception):  # noqa: N818 - no error: it becomes a KeyboardInterrupt
    """Ctrl-C, while a pipe is read."""


@contextmanager
def stopped_at_once() -> Iterator[None]:
    """Let Ctrl-C end the reading of a pipe that nobody writes to, which otherwise would go on waiting."""

    def stop(*_: object) -> None:
        raise _Stopped

    if threading.current_thread() is not threading.main_thread():  # signals do not come here
        yield
        return
    before = signal.signal(signal.SIGINT, stop)
    try:
        yield
    except _Stopped:
        raise KeyboardInterrupt from None
    finally:
        signal.signal(signal.SIGINT, before)
