"""Commands that describe: list, explain, schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from weir.cli.shared import Json, echo_json
from weir.text import absent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from weir.results.tables import Column

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
    from weir.results import terminal

    out = terminal.console()
    terminal.print_table(out, _listing(rows))
    terminal.say(out, "\n`weir explain NAME` tells the rule, the source and the parameters of one.")


def _listing(rows: Sequence[dict[str, object]]) -> list[Column]:
    """Return the disciplines: name, kind, title, work per item, parameters."""
    from weir.results.tables import Column

    return [
        Column("name", tuple(str(row["name"]) for row in rows), numeric=False),
        Column("title", tuple(str(row["title"]) for row in rows), numeric=False),
        Column("kind", tuple(str(row["kind"]) for row in rows), rank=3, numeric=False),
        Column("work per item", tuple(str(row["work"]) for row in rows), rank=2, numeric=False),
        Column("parameters", tuple(_parameters(row) for row in rows), rank=1, numeric=False),
    ]


def _parameters(row: dict[str, object]) -> str:
    parameters = row["parameters"]
    names = [str(each["name"]) for each in parameters] if isinstance(parameters, list) else []
    return ", ".join(names) or "–"


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
    from weir.results import terminal

    out = terminal.console()
    terminal.say(out, f"{row['name']}: {row['title']}", style="bold")
    terminal.say(out, f"{_sentence(row['rule'])}\n")
    for key in ("kind", "source", "work"):
        label = "work per item" if key == "work" else key
        terminal.say(out, f"{label + ':':<15}{row[key]}")
    for line in _closed_forms(row["closed_forms"]):
        terminal.say(out, f"{'closed form:':<15}{line}")
    terminal.say(out, f"{'example:':<15}{row['example']}")
    for parameter in row["parameters"]:
        _print_parameter(out, parameter)
    for other in row.get("also", []):
        terminal.say(out, "")
        _print_explanation(other)


def _closed_forms(forms: dict[str, dict[str, str | None]]) -> list[str]:
    """Return a line for each way of serving messages; one for all where there is none in any."""
    told = {mode: form["formula"] or absent(form["reason"]) for mode, form in forms.items()}
    if len(set(told.values())) == 1:
        return [next(iter(told.values()))]
    return [f"{text}, {mode}" for mode, text in told.items()]


def _print_parameter(out: Console, parameter: dict[str, str | None]) -> None:
    from weir.results import terminal

    default = parameter["default"]
    given = "must be given" if default is None else f"default {default}"
    terminal.say(out, f"\nparameter {parameter['name']}: {parameter['values']}; {given}")
    terminal.say(out, f"  {parameter['meaning']}")


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
