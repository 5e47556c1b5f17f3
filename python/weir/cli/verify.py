"""Whether a discipline keeps its contract: verify."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from weir.cli.shared import NOT_MET, Json, echo_json, report_error
from weir.errors import DisciplineError

__all__ = ["add_to"]

PROMISES = ("work_conserving", "flow_order", "resumable")

if TYPE_CHECKING:
    Promise = str
else:
    Promise = StrEnum("Promise", [(name, name) for name in PROMISES])


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("verify", short_help="Hold a discipline to its contract.")(verify)


def verify(
    discipline: Annotated[
        str,
        typer.Argument(
            metavar="DISCIPLINE",
            help="A class of Python, as FILE.py:CLASS, or a spec of messages or packets, as alpha:10.",
            show_default=False,
        ),
    ],
    promise: Annotated[
        list[Promise] | None,
        typer.Option(
            "--promise",
            metavar="PROMISE",
            help=f"Hold it to this too: {', '.join(PROMISES)}. May be repeated. A class with `requeue` is "
            "held to resumable.",
        ),
    ] = None,
    as_json: Json = False,
) -> int:
    """Hold a discipline to the contract of disciplines: the suite that those of weir pass.

    120 plans for each kind of item, at five loads, with and without interruptions and gates, over two copies
    that must decide alike; then senseless sequences, in which times run backwards. A breach names its plan
    and has exit code 1.

    \b
    Example:
      weir verify shortest.py:Shortest
      weir verify alpha:10 --promise work_conserving
    """
    from weir import _weir, own

    spec = own.name_of(discipline)
    promised = [*own.promises(spec), *(str(each) for each in promise or ())]
    try:
        held = int(_weir.verify(spec, promised))
    except DisciplineError as error:
        return report_error(error, NOT_MET, as_json=as_json)
    if as_json:
        echo_json({"discipline": spec, "promises": promised, "held": held})
    else:
        more = f" and is {', '.join(dict.fromkeys(promised))}" if promised else ""
        typer.echo(f"{spec} keeps the contract{more} in {held} plans and sequences")
    return 0
