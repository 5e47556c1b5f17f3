"""Commands that describe: list, explain, schema, completion, manual."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from weir.cli.completion import SHELLS, script
from weir.cli.shared import Json, ModelName, echo_json
from weir.errors import ConfigError
from weir.models import MODELS
from weir.text import absent, number

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
    app.command("completion", short_help="Print a completion script for a shell.")(completion)
    app.command("manual", short_help="Write the manual pages.")(manual)


def list_disciplines(
    word: Annotated[
        str | None,
        typer.Argument(
            metavar="WORD",
            help="Only those that have this word in name or title, or that textbooks call so.",
            show_default=False,
        ),
    ] = None,
    model: Annotated[
        ModelName | None,
        typer.Option(
            "--model", metavar="MODEL", help=f"Only those that this model takes: {', '.join(MODELS)}."
        ),
    ] = None,
    queue: Annotated[
        str | None,
        typer.Option(
            "--for",
            metavar="QUEUE",
            help="Only those with a closed form in this queue, such as M/M/1, M/D/4 or M/G/1.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """List the disciplines: name, kind, the models that take them, title, work per item, parameters.

    A kind says what is ordered: messages, packets, tasks (processes of a node), or requests to a pool of
    cores, where a dispatcher decides on arrival. A wrapper is put around another discipline.

    \b
    Example:
      weir list
      weir list --model server
      weir list fair
      weir list --for M/M/3
    """
    from weir.registry import disciplines, found

    rows = disciplines() if word is None else found(word)
    rows = [row for row in rows if model is None or model in row["models"]] or _none_of(rows, model)
    if queue is not None:
        rows = _with_closed_form(rows, queue)
    if as_json:
        echo_json(rows)
        return
    from weir.results import terminal

    out = terminal.console()
    terminal.print_table(out, _listing(rows))
    if model == "server":
        orders = "`per_server(jsq,discipline=sf)` orders the queue of each core by a discipline of messages."
        terminal.say(out, f"\n{orders}")
    terminal.say(out, f"\n{_more(word, rows)}")


def _more(word: str | None, rows: Sequence[dict[str, Any]]) -> str:
    """Return where to read on: of the one that was found, or that a textbook calls so."""
    from weir.registry import textbook

    gives = "gives the rule, the source and the parameters of"
    known = textbook(word) if word and word != rows[0]["name"] else None
    if known is not None and known["here"]:
        here = f"written `{known['written'][0]}`" if known["written"] else f"called `{known['here'][0]}`"
        return f"{known['means']} is {here} here; `weir explain {word}` {gives} it."
    if len(rows) == 1:
        return f"`weir explain {rows[0]['name']}` {gives} it."
    return f"`weir explain NAME` {gives} one."


def _with_closed_form(rows: Sequence[dict[str, Any]], queue: str) -> list[dict[str, Any]]:
    """Return those of the rows that have a closed form in the queue, with its formula."""
    from weir.closed_forms import exact_for

    asked = {(row["name"], row["kind"]) for row in rows}
    known = [row for row in exact_for(queue) if (row["name"], row["kind"]) in asked]
    if not known:
        raise ConfigError(
            f"no closed form is known of `{rows[0]['name']}` in {queue}",
            f"`weir list --for {queue}` lists those that have one",
        )
    return known


def _none_of(rows: Sequence[dict[str, Any]], model: str | None) -> NoReturn:
    raise ConfigError(
        f"no discipline of that name is of the model `{model}`",
        f"`weir explain {rows[0]['name']}` says which models take it, or leave out `--model`",
    )


def _listing(rows: Sequence[dict[str, object]]) -> list[Column]:
    """Return the disciplines: name, kind, models, title, work per item, parameters."""
    from weir.results.tables import Column

    return [
        Column("name", tuple(str(row["name"]) for row in rows), numeric=False),
        Column("kind", tuple(str(row["kind"]) for row in rows), numeric=False),
        Column("models", tuple(_models(row) for row in rows), numeric=False),
        Column("title", tuple(str(row["title"]) for row in rows), numeric=False),
        Column("work per item", tuple(str(row["work"]) for row in rows), rank=3, numeric=False),
        Column("parameters", tuple(_parameters(row) for row in rows), rank=2, numeric=False),
        *_forms(rows),
    ]


def _forms(rows: Sequence[dict[str, object]]) -> list[Column]:
    """Return the column of closed forms, where these were asked for."""
    from weir.results.tables import Column

    formulas = tuple(str(row["formula"]) for row in rows if "formula" in row)
    return [Column("closed form", formulas, numeric=False)] if formulas else []


def _models(row: dict[str, Any]) -> str:
    return ", ".join(row["models"])


def _parameters(row: dict[str, object]) -> str:
    parameters = row["parameters"]
    names = [str(each["name"]) for each in parameters] if isinstance(parameters, list) else []
    return ", ".join(names) or "–"


def explain(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="A discipline, such as alpha; textbook names, such as fcfs, are understood. Or `law`.",
            show_default=False,
        ),
    ],
    law: Annotated[
        str | None,
        typer.Argument(
            metavar="LAW", help="After `law`: a law of times, such as lognormal.", show_default=False
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Explain a discipline: its rule, source, work, parameters and closed forms. Or a law of times.

    \b
    Example:
      weir explain alpha
      weir explain law lognormal
    """
    if name == "law":
        _explain_law(law, as_json=as_json)
        return
    if law is not None:
        raise ConfigError(
            f"`{law}` follows a discipline", f"write `weir explain {name}`, or `weir explain law {law}`"
        )
    from weir.registry import discipline

    row = discipline(name)
    if as_json:
        echo_json(row)
        return
    _print_explanation(row)


def _explain_law(name: str | None, *, as_json: bool) -> None:
    """Print what is known of a law; without a name, the laws."""
    from weir.registry import law, laws
    from weir.results import terminal
    from weir.results.tables import Column

    if name is not None:
        row = law(name)
        if as_json:
            echo_json(row)
        else:
            _print_law(row)
        return
    rows = laws()
    if as_json:
        echo_json(rows)
        return
    out = terminal.console()
    columns = [
        Column("law", tuple(row["name"] for row in rows), numeric=False),
        Column("what it is", tuple(row["what"] for row in rows), numeric=False),
    ]
    terminal.print_table(out, columns)
    terminal.say(out, "\n`weir explain law NAME` gives parameters, moments and source of one.")


def _print_law(row: dict[str, Any]) -> None:
    from weir.results import terminal

    out = terminal.console()
    example = row["example"]
    terminal.say(out, f"{row['name']}: {row['title']}", style="bold")
    terminal.say(out, f"{_sentence(row['what'])}\n")
    for parameter in row["parameters"]:
        terminal.say(out, f"parameter {parameter['name']}: {parameter['bounds']}")
        terminal.say(out, f"  {parameter['meaning']}")
    terminal.say(out, "")
    facts = {
        "mean": row["mean"],
        "squared cv": row["scv"],
        "skewness": row["skewness"],
        "example": f"service = {example['written']}",
        "of it": ", ".join(
            (
                f"mean {_finite(example['mean'], 'ms')}",
                f"cv {_finite(example['cv'])}",
                f"skewness {_finite(example['skewness'])}",
                f"median {_finite(example['median'], 'ms')}",
                f"99th percentile {_finite(example['p99'], 'ms')}",
            )
        ),
        "used in": _uses(row["name"]),
        "source": row["source"],
    }
    for label, fact in facts.items():
        terminal.say(out, f"{label + ':':<15}{fact}")


def _uses(name: str) -> str:
    """Return where a law may stand."""
    service = "`service` of a class of the server"
    renewal = ("lognormal", "gamma", "hyperexponential", "erlang", "weibull", "pareto")
    return f"{service}; `arrivals = {{ renewal = … }}` of server and port" if name in renewal else service


def _finite(value: float | None, unit: str = "") -> str:
    return "infinite" if value is None else f"{number(value)} {unit}".rstrip()


def _print_explanation(row: dict[str, Any]) -> None:
    from weir.results import terminal

    out = terminal.console()
    if known := row.get("textbook"):
        note = f" ({known['note']})" if known["note"] else ""
        here = f"is written `{known['written'][0]}`" if known["written"] else f"is called `{row['name']}`"
        terminal.say(out, f"{known['means']} {here} here{note}.\n")
    terminal.say(out, f"{row['name']}: {row['title']}", style="bold")
    terminal.say(out, f"{_sentence(row['rule'])}\n")
    facts = {
        "kind": row["kind"],
        "models": _models(row),
        "source": row["source"],
        "work per item": row["work"],
    }
    for label, fact in facts.items():
        terminal.say(out, f"{label + ':':<15}{fact}")
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
    found = {mode: form["formula"] or absent(form["reason"]) for mode, form in forms.items()}
    if len(set(found.values())) == 1:
        return [next(iter(found.values()))]
    return [f"{text}, {mode}" for mode, text in found.items()]


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


if TYPE_CHECKING:
    Shell = str
else:
    Shell = StrEnum("Shell", [(name, name) for name in SHELLS])


def completion(
    context: typer.Context,
    shell: Annotated[
        Shell, typer.Argument(metavar="SHELL", help=f"One of {', '.join(SHELLS)}.", show_default=False)
    ],
) -> None:
    """Print a script that completes commands, options and names of disciplines in a shell.

    \b
    Example:
      source <(weir completion bash)
      weir completion zsh > ~/.zfunc/_weir
      weir completion fish > ~/.config/fish/completions/weir.fish
    """
    typer.echo(script(shell, context.find_root().command), nl=False)


def manual(
    context: typer.Context,
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DIR",
            help="The folder to write them to, such as ~/.local/share/man/man1.",
            show_default=False,
        ),
    ],
) -> None:
    """Write the manual pages of weir and of its commands; existing pages are replaced.

    \b
    Example:
      weir manual ~/.local/share/man/man1
    """
    from weir import __version__
    from weir.cli.manual import pages
    from weir.files import write_text

    if not folder.is_dir():
        raise ConfigError(f"DIR is {folder}, which is no folder", "create it first, or name another")
    for name, text in pages(context.find_root().command, __version__):
        write_text(folder / name, text)
