"""Commands that describe: list, explain, schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from weir.cli.shared import Json, echo_json
from weir.text import absent

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["add_to"]


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command("list", short_help="List the disciplines.")(list_disciplines)
    app.command("explain", short_help="Explain one discipline.")(explain)
    app.command("schema", short_help="Print the schema of scenarios.")(schema)


def list_disciplines(as_json: Json = False) -> None:
    """List the disciplines: name, title, kind, work per item, parameters.

    \b
    Example:
      weir list
    """
    from weir.registry import disciplines

    rows = disciplines()
    if as_json:
        echo_json(rows)
        return
    from weir import tables

    out = tables.console()
    tables.print_table(out, tables.listing_columns(rows))
    tables.say(out, "\n`weir explain NAME` tells the rule, the source and the parameters of one.")


def explain(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A discipline, such as alpha.", show_default=False)
    ],
    as_json: Json = False,
) -> None:
    """Explain a discipline: its rule, source, work, parameters and closed forms.

    \b
    Example:
      weir explain alpha
    """
    from weir.registry import discipline

    row = discipline(name)
    if as_json:
        echo_json(row)
        return
    _print_explanation(row)


def _print_explanation(row: dict[str, Any]) -> None:
    from weir import tables

    out = tables.console()
    tables.say(out, f"{row['name']}: {row['title']}", style="bold")
    tables.say(out, f"{_sentence(row['rule'])}\n")
    for key in ("kind", "source", "work"):
        label = "work per item" if key == "work" else key
        tables.say(out, f"{label + ':':<15}{row[key]}")
    for line in _closed_forms(row["closed_forms"]):
        tables.say(out, f"{'closed form:':<15}{line}")
    tables.say(out, f"{'example:':<15}{row['example']}")
    for parameter in row["parameters"]:
        _print_parameter(out, parameter)
    for other in row.get("also", []):
        tables.say(out, "")
        _print_explanation(other)


def _closed_forms(forms: dict[str, dict[str, str | None]]) -> list[str]:
    """Return a line for each way of serving messages; one for all where there is none in any."""
    told = {mode: form["formula"] or absent(form["reason"]) for mode, form in forms.items()}
    if len(set(told.values())) == 1:
        return [next(iter(told.values()))]
    return [f"{text}, {mode}" for mode, text in told.items()]


def _print_parameter(out: Console, parameter: dict[str, str | None]) -> None:
    from weir import tables

    default = parameter["default"]
    given = "must be given" if default is None else f"default {default}"
    tables.say(out, f"\nparameter {parameter['name']}: {parameter['values']}; {given}")
    tables.say(out, f"  {parameter['meaning']}")


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def schema() -> None:
    """Print the JSON Schema of scenario files, for editors and checks.

    \b
    Example:
      weir schema > scenario.schema.json
    """
    from weir import _weir

    typer.echo(_weir.schema())
