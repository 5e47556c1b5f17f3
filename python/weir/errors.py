"""The errors of weir.

::

    WeirError                     everything weir raises on purpose
    ├── ConfigError (ValueError)  a value is refused: a spec string, a size, an option
    │   ├── ScenarioError         a scenario file, with the place in it
    │   ├── TraceError            a trace of arrivals, with its line
    │   ├── CaptureError          a packet capture, with its byte
    │   ├── PlanError             a request for a table, or an options file, with the place in it
    │   └── ResultError           a file that is not a result of weir
    ├── DisciplineError (RuntimeError) a discipline breaks its contract, or a class of one raises
    ├── GrantError (RuntimeError) a grant of a queue that is open, or closed already
    ├── Dropped (RuntimeError)    a discipline dropped items of a queue; carries them
    ├── MissingExtraError (ImportError) packages of an extra are not installed
    ├── UnsupportedError          not permitted, or not supported here
    ├── Empty (queue.Empty, asyncio.QueueEmpty)          nothing can be served now
    ├── Full (queue.Full, asyncio.QueueFull)             a queue holds as many items as it may
    └── ShutDown (queue.ShutDown, asyncio.QueueShutDown) a queue was shut down

The last three are in `weir.queue_errors`.
A run stopped by Ctrl-C raises none of them: it returns what is finished, with ``interrupted`` set.
Each message says what, with the value and the bound; ``remedy`` says what to do.
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "CaptureError",
    "ConfigError",
    "DisciplineError",
    "Dropped",
    "GrantError",
    "MissingExtraError",
    "PlanError",
    "ResultError",
    "ScenarioError",
    "TraceError",
    "UnsupportedError",
    "WeirError",
]


class WeirError(Exception):
    """Everything weir raises on purpose.

    Parameters
    ----------
    message : str
        What is wrong, with the value and the bound; lower case, no full stop.
    remedy : str, optional
        What to do about it.
    file : str, optional
        The file in which it was found.
    line, column : int, optional
        The place in that file, counted from 1.
    key, value : str, optional
        The key, and what was given for it, as written.
    """

    def __init__(
        self,
        message: str,
        remedy: str | None = None,
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
        key: str | None = None,
        value: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.file = file
        self.line = line
        self.column = column
        self.key = key
        self.value = value

    def __reduce__(self) -> tuple[Any, ...]:
        place = (self.file, self.line, self.column, self.key, self.value)
        return type(self), (self.message, self.remedy, *place)

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)
        return f"{place}: {self.message}" if place else self.message

    def to_dict(self) -> dict[str, str | int | None]:
        """Return the error as a JSON object, as ``--json`` prints it."""
        return {
            "kind": type(self).__name__,
            "message": self.message,
            "remedy": self.remedy,
            "file": self.file,
            "line": self.line,
            "column": self.column,
            "key": self.key,
            "value": self.value,
        }


class ConfigError(WeirError, ValueError):
    """A value is refused: a spec string, a size, an option."""


class ScenarioError(ConfigError):
    """A scenario file is refused; ``file``, ``line`` and ``column`` say where."""


class TraceError(ConfigError):
    """A trace of arrivals is refused; ``file`` and ``line`` say where."""


class CaptureError(ConfigError):
    """A packet capture is refused; ``file`` says which, and the message at which byte."""


class PlanError(ConfigError):
    """A request for an arbitration table, or an options file, is refused; ``file`` and ``line`` say where."""


class ResultError(ConfigError):
    """A file is not a result of weir."""


class DisciplineError(WeirError, RuntimeError):
    """A discipline breaks its contract, or a method of a class raised something, which is the cause."""


class GrantError(WeirError, RuntimeError):
    """A grant of a queue is open while another is asked for, or is closed already."""


class Dropped(WeirError, RuntimeError):  # noqa: N818 - an outcome, named as the discipline names it
    """A discipline dropped items of a queue.

    Parameters
    ----------
    items : tuple
        The items dropped; they are no longer in the queue.
    reason : str
        Why the first of them was.
    """

    def __init__(self, items: tuple[Any, ...], reason: str) -> None:
        super().__init__(f"{len(items)} dropped: {reason}", "finish the grant, or limit what is enqueued")
        self.items = items
        self.reason = reason

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.items, self.reason)


class MissingExtraError(WeirError, ImportError):
    """Packages of an extra are not installed; the remedy names it."""


class UnsupportedError(WeirError):
    """Not permitted, or not supported on this machine."""
