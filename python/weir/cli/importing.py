"""Commands that make scenarios of what others have written: import tg."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from weir.importing import tg

__all__ = ["add_to"]

_app = typer.Typer(name="import", rich_markup_mode=None)


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.add_typer(_app, short_help="Make a scenario of a traffic script.")


@_app.callback()
def _group() -> None:
    """Make a scenario of what others have written.

    \b
    Example:
      weir import tg stream.tg --out scenario.toml
    """


@_app.command("tg", short_help="From a TG script.")
def import_tg(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The TG script.", show_default=False)],
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="The scenario to write; default: standard output."),
    ] = None,
    rate: Annotated[str, typer.Option("--rate", metavar="RATE", help="Rate of the slow link.")] = tg.RATE,
    random: Annotated[
        str,
        typer.Option(
            "--random",
            metavar="MODE",
            help="Random numbers: `independent` draws from the scenario's seed, `compatible` as TG does, the "
            "same for every stream.",
        ),
    ] = tg.RANDOM[0],
    duration: Annotated[
        str | None,
        typer.Option("--duration", metavar="TIME", help="When the sending ends; default: with the script."),
    ] = None,
) -> None:
    """Make a scenario of a script in the TG traffic language.

    The stream crosses one router with a slow link behind it. The scenario names the script and does not copy
    it.

    \b
    Example:
      weir import tg stream.tg --rate 1344kbit --out scenario.toml
    """
    folder = Path() if out is None else out.parent
    text = tg.scenario(file, folder=folder, rate=rate, random=random, duration=duration)
    if out is None:
        typer.echo(text, nl=False)
        return
    from weir.files import write_text

    write_text(out, text)
    typer.echo(f"wrote {out}")
