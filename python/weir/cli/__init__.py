"""The command line of weir.

One module a group of commands: `weir.cli.describe` (list, explain, schema), `weir.cli.simulate` (run,
compare, theory, show, report), `weir.cli.slo` (slo), `weir.cli.plan` (plan, lint), `weir.cli.importing`
(import), `weir.cli.measure` (overhead), `weir.cli.live` (live) and `weir.cli.tour` (demo, reproduce,
bench). What they share: `weir.cli.shared`. `weir.cli.commands` puts them together; it is loaded when a
command is run, so that Ctrl-C is answered from the first moment.

Exit codes: 0 done and met, 1 a requirement or a published value is not met or could not be checked, a
self-check failed, or a figure is not settled, 2 bad input, 3 not permitted or not supported here, 130
interrupted (what was finished is kept and labelled).
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # as in typing, which takes a while to load
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main", "run"]

_INTERRUPTED = 130


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code; without arguments, show the help."""
    try:
        from weir.cli import commands

        return commands.run(arguments)
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return _INTERRUPTED


def main() -> None:
    """Run the command line; the entry point of the script ``weir``."""
    try:
        import signal

        if hasattr(signal, "SIGPIPE"):
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `weir list | head` ends quietly, as filters do
        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        code = _INTERRUPTED
    sys.exit(code)
