"""Commands on scenario files before anything is simulated: new, check."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weir.cli.shared import (
    BAD_INPUT,
    Json,
    ModelName,
    OneOutFile,
    ScenarioFile,
    Settings,
    echo_json,
    only,
    report_error,
    scenario,
)
from weir.errors import WeirError
from weir.models import MODELS
from weir.text import plural

if TYPE_CHECKING:
    from weir.scenario import Scenario

__all__ = ["add_to", "begun"]


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command("new", short_help="Write a scenario to begin with.")(new)
    app.command("check", short_help="Check scenario files; nothing is run.")(check)


def begun(model: str) -> str:
    """Return the text of a commented scenario of a model, which runs as it is."""
    file = resources.files("weir") / "assets" / "new" / f"{model}.toml"
    return file.read_text(encoding="utf-8")


def new(
    model: Annotated[
        ModelName, typer.Argument(metavar="MODEL", help=f"One of {', '.join(MODELS)}.", show_default=False)
    ],
    out: Annotated[
        OneOutFile,
        typer.Option(
            "--out",
            metavar="FILE",
            help="The file to write; an existing one is not replaced. Default: standard output.",
        ),
    ] = None,
) -> None:
    """Write a scenario with comments, which runs as it is, within seconds.

    \b
    Example:
      weir new network --out uplink.toml
      weir compare uplink.toml
    """
    from weir.errors import ConfigError
    from weir.files import write_text

    target, text = only(out), begun(model)
    if target is None:
        typer.echo(text, nl=False)
        return
    if target.is_file():
        raise ConfigError(f"--out is {target}, which exists", "name a new file")
    write_text(target, text)
    typer.echo(f"wrote {target}")
    typer.echo(f"next: weir compare {target}")


def check(
    file: ScenarioFile,
    others: Annotated[
        list[Path] | None, typer.Argument(metavar="[FILE]...", help="More scenarios.", show_default=False)
    ] = None,
    settings: Settings = None,
    as_json: Json = False,
) -> int:
    """Read scenarios and the data files that they name, and check them completely; nothing is run.

    Prints a line for each that is accepted, with its model, its disciplines and its fingerprint, which
    changes with all that changes a result. Of each that is refused it says where, why and what to do. The
    exit code is 2 if one is refused.

    \b
    Example:
      weir check scenario.toml
      weir check *.toml --set stop.replications=2
    """
    found = [_checked(each, settings) for each in (file, *(others or ()))]
    if as_json:
        echo_json([_document(path, result) for path, result in found])
    for path, result in found:
        if isinstance(result, WeirError):
            report_error(result, BAD_INPUT, as_json=False)
        elif not as_json:
            disciplines = plural(len(result.disciplines), "discipline")
            typer.echo(f"{path}: OK, {result.model}, {disciplines}, fingerprint {result.fingerprint}")
    return BAD_INPUT if any(isinstance(result, WeirError) for _, result in found) else 0


def _checked(file: Path, settings: list[str] | None) -> tuple[Path, Scenario | WeirError]:
    try:
        return file, scenario(file, settings)
    except WeirError as error:
        return file, error


def _document(path: Path, result: Scenario | WeirError) -> dict[str, object]:
    if isinstance(result, WeirError):
        return {"file": str(path), "ok": False, "error": result.to_dict()}
    return {
        "file": str(path),
        "ok": True,
        "model": result.model,
        "disciplines": list(result.disciplines),
        "fingerprint": result.fingerprint,
    }
