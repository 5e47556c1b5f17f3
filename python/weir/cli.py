"""The command line of weir."""

from typing import Annotated

import typer

from weir import __version__

app = typer.Typer(name="weir", no_args_is_help=True, add_completion=False)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"weir {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Decide who is served next, and see what that does to everybody's waiting time."""


def main() -> None:
    """Run the command line; the entry point of the script `weir`."""
    app()
