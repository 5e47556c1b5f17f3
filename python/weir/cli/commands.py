"""All commands as one application, and how its errors are shown."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from weir.cli import describe, importing, live, measure, plan, simulate, slo, tour
from weir.cli.shared import INTERRUPTED, report_error
from weir.errors import ConfigError, UnsupportedError, WeirError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["app", "run"]


class _Commands(TyperGroup):
    """The commands; Ctrl-C that none of them answers is told here, where typer would end without a word."""

    def make_context(self, *args: Any, **more: Any) -> Any:  # noqa: ANN401 - as the base has it
        with _told():
            return super().make_context(*args, **more)

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - as the base has it
        with _told():
            return super().invoke(ctx)


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        raise typer.Exit(INTERRUPTED) from None


app = typer.Typer(
    name="weir", cls=_Commands, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False
)


def _print_version(asked: bool) -> None:
    if asked:
        from weir import __version__

        typer.echo(f"weir {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """Decide who is served next, and see what that does to everybody's waiting time.

    \b
    Start with:
      weir demo                   a tour: one page of text and one HTML file
      weir list                   the disciplines
      weir compare scenario.toml  your own scenario

    \b
    Exit codes: 0 done and met, 1 a requirement or a published value is not met
    or could not be checked, a self-check failed, or a figure is not settled (the run
    is too short for it), 2 bad input, 3 not permitted or not supported here,
    130 interrupted.
    """


for group in (tour, describe, simulate, slo, plan, importing, measure, live):
    group.add_to(app)


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code; without arguments, show the help."""
    as_json = "--json" in arguments
    try:
        code = app(args=list(arguments) or ["--help"], prog_name="weir", standalone_mode=False)
    except WeirError as error:
        return report_error(error, 3 if isinstance(error, UnsupportedError) else 2, as_json=as_json)
    except typer.TyperException as error:
        return report_error(_usage(error), 2, as_json=as_json)
    return int(code or 0)


def _usage(error: typer.TyperException) -> WeirError:
    """Return a mistake on the command line as an error with a remedy."""
    told = getattr(error, "format_message", error.__str__)().strip().rstrip(".")
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "weir"
    return ConfigError(told[:1].lower() + told[1:], f"`{command} --help` lists what it takes")
