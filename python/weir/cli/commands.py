"""All commands as one application, and how its errors are shown."""

from __future__ import annotations

import errno
import importlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from weir.cli import complain
from weir.cli.shared import INTERRUPTED, report_error
from weir.errors import ConfigError, UnsupportedError, WeirError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["GROUPS", "application", "run"]

GROUPS: dict[str, tuple[str, ...]] = {
    "tour": ("demo", "reproduce", "bench"),
    "describe": ("list", "explain", "schema", "completion", "manual"),
    "scenarios": ("new", "check"),
    "simulate": ("run", "compare", "theory", "show", "report"),
    "sweep": ("sweep",),
    "size": ("size",),
    "verify": ("verify",),
    "plan": ("plan", "lint"),
    "importing": ("import",),
    "measure": ("overhead",),
    "fit": ("fit",),
    "live": ("live",),
}
"""The commands of each module, in the order of the help."""

_OF_ALL = {"completion", "manual"}
"""Commands that look at all of them."""

_OF_AN_OUTPUT = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EBADF, errno.EIO, errno.EPIPE}
"""Without the name of a file they are of the standard output: whatever writes files names them."""


class _Commands(TyperGroup):
    """The commands; Ctrl-C that none of them answers is reported here: typer would end without a word."""

    def make_context(self, *args: Any, **more: Any) -> Any:  # noqa: ANN401 - as the base has it
        with _reported():
            return super().make_context(*args, **more)

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - as the base has it
        with _reported():
            return super().invoke(ctx)


@contextmanager
def _reported() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        complain("interrupted\n")
        raise typer.Exit(INTERRUPTED) from None


def _print_version(asked: bool) -> None:
    if asked:
        from weir import __version__

        typer.echo(f"weir {__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """Simulate queues: compare ways of choosing who is served next, and see how long everyone waits.

    \b
    Start with:
      weir demo                        a tour: one page of text and one HTML file
      weir list                        the disciplines
      weir new port > scenario.toml    a scenario to begin with, with comments
      weir compare scenario.toml       compare the disciplines of your own scenario

    \b
    Exit codes: 0 done and met, 1 a requirement or a published value is not met
    or could not be checked, a self-check failed, or a figure is not settled (the run
    is too short for it), 2 bad input, or an output that cannot be written, 3 not
    permitted or not supported here, 130 interrupted, 143 ended by SIGTERM.
    """


def application(command: str | None = None) -> typer.Typer:
    """Return the application: with the modules of all commands, or with that of the one that is given."""
    app = typer.Typer(
        name="weir",
        cls=_Commands,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    app.callback()(_root)
    of_it = [name for name, commands in GROUPS.items() if command in commands and command not in _OF_ALL]
    for name in of_it or GROUPS:
        importlib.import_module(f"weir.cli.{name}").add_to(app)
    return app


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code; without arguments, show the help."""
    as_json = "--json" in arguments
    try:
        app = application(arguments[0] if arguments else None)
        code = app(args=list(arguments) or ["--help"], prog_name="weir", standalone_mode=False)
    except WeirError as error:
        return report_error(error, 3 if isinstance(error, UnsupportedError) else 2, as_json=as_json)
    except typer.TyperException as error:
        return report_error(_usage(error), 2, as_json=as_json)
    except OSError as error:
        if error.filename is None and error.errno in _OF_AN_OUTPUT:
            raise
        return report_error(_failed(error), 2, as_json=as_json)
    return int(code or 0)


def _failed(error: OSError) -> WeirError:
    """Return what the system refused, where nobody has foreseen it, as an error with a remedy."""
    reason = (error.strerror or str(error)).lower()
    file = error.filename if isinstance(error.filename, str) else None
    return ConfigError(f"the system refuses: {reason}", "check the path, its permissions and the disk", file)


def _usage(error: typer.TyperException) -> WeirError:
    """Return a mistake on the command line as an error with a remedy."""
    words = getattr(error, "format_message", error.__str__)().strip().rstrip(".")
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "weir"
    return ConfigError(words[:1].lower() + words[1:], f"`{command} --help` lists what it takes")
