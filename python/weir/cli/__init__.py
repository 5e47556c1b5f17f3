"""The command line of weir.

One module a group of commands: `weir.cli.describe` (list, explain, schema, completion, manual),
`weir.cli.scenarios` (new, check), `weir.cli.simulate` (run, compare, theory, show, report), `weir.cli.sweep`
(sweep), `weir.cli.size` (size), `weir.cli.plan` (plan, lint), `weir.cli.importing` (import),
`weir.cli.measure` (overhead), `weir.cli.live` (live) and `weir.cli.tour` (demo, reproduce, bench). What they
share: `weir.cli.shared`. `weir.cli.commands` puts them together; it is loaded when a command is run, so that
Ctrl-C is answered from the first moment.

Exit codes: 0 done and met, 1 a requirement or a published value is not met or could not be checked, a
self-check failed, or a figure is not settled, 2 bad input, or an output that cannot be written, 3 not
permitted or not supported here, 130 interrupted (what was finished is kept and labelled), 143 ended by
SIGTERM (nothing is kept, and no half-written file stays).

Ctrl-C in the first hundredths of a second, while the interpreter itself starts and nothing of weir is loaded,
is answered by the interpreter.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # as in typing, which takes a while to load
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["complain", "main", "run"]

_UNWRITABLE = 2
_INTERRUPTED = 130
_TERMINATED = 143


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code; without arguments, show the help."""
    try:
        if list(arguments) == ["--version"]:
            return _print_version()
        from weir.cli import commands

        return commands.run(arguments)
    except KeyboardInterrupt:
        complain("interrupted\n")
        return _INTERRUPTED
    except OSError as error:  # of a file: the commands report it themselves
        return _unwritable(error)


def _print_version() -> int:
    """Print the version, as the commands do, without their libraries, which take most of the start."""
    from weir import __version__

    sys.stdout.write(f"weir {__version__}\n")
    sys.stdout.flush()
    return 0


def main() -> None:
    """Run the command line; the entry point of the script ``weir``."""
    code = _INTERRUPTED
    try:
        _open_all()
        import signal

        if hasattr(signal, "SIGPIPE"):
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `weir list | head` ends quietly, as filters do
        signal.signal(signal.SIGTERM, _ending(os.getpid()))
        code = _flushed(run(sys.argv[1:]))
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # all is done; what is left is the interpreter's
    except KeyboardInterrupt:
        complain("interrupted\n")
    sys.exit(code)


def _ending(process: int) -> Callable[..., None]:
    """Return what ends a process as an error does, so that what is half-written is removed on the way.

    Who was forked from it has inherited this, and nothing to remove: such a one ends at once. Libraries end
    their helpers so, and these would take down what the command has built.
    """

    def end(*_: object) -> None:
        if os.getpid() != process:
            os._exit(_TERMINATED)
        sys.exit(_TERMINATED)

    return end


def _open_all() -> None:
    """Open what the caller has closed, as ``>&-`` does: no file that is opened later takes its number.

    What is written to a closed output fails, as it does in other programs; errors that nobody wants to see
    are lost.
    """
    closed = [stream is None for stream in (sys.stdin, sys.stdout, sys.stderr)]
    if any(closed):
        while os.open(os.devnull, os.O_RDONLY) < len(closed):
            pass
    if closed[0]:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - it stays open
    if closed[1]:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if closed[2]:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115


def _flushed(code: int) -> int:
    """Return the exit code once all output is written; if it cannot be, say so."""
    try:
        sys.stdout.flush()
    except OSError as error:
        return _unwritable(error)
    return code


def _unwritable(error: OSError) -> int:
    """Say that the standard output cannot be written, on two lines; return the exit code."""
    _discard(1)
    reason = (error.strerror or str(error)).lower()
    complain(f"error: standard output cannot be written: {reason}\n  remedy: make room, or write elsewhere\n")
    return _UNWRITABLE


def complain(text: str) -> None:
    """Write to the error output, if that can be written."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        _discard(2)


def _discard(descriptor: int) -> None:
    """Lose what is written there, so that the interpreter does not try it again when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
