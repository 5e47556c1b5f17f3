"""What `weir theory` says of a queue in Kendall's notation."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weir.cli.shared import echo_json
from weir.errors import ConfigError

if TYPE_CHECKING:
    from rich.console import Console

    from weir.notation import QueueFigure, QueueParameter, QueueTheory

__all__ = ["Arrival", "Batch", "Given", "Patience", "ScvArrival", "ScvBatch", "ScvService", "Service"]
__all__ += ["FileOrQueue", "is_queue", "show"]

_NOTATION = re.compile(r"[A-Z][^./]*/")
"""How a queue begins, and few files do."""

FileOrQueue = Annotated[
    str,
    typer.Argument(
        metavar="FILE|QUEUE",
        help="The scenario, a TOML file; `-` reads standard input. Or a queue in Kendall's notation, such as "
        "M/M/3, M/M/3/10+M or M/G/1-PS.",
        show_default=False,
    ),
]
Arrival = Annotated[
    str | None,
    typer.Option(
        "--arrival",
        metavar="RATE",
        help="Of a queue: the rate of arrivals, such as 2.4/s; of batches with M^X, of each idle source in "
        "M/M/3//50.",
    ),
]
Service = Annotated[
    str | None,
    typer.Option(
        "--service", metavar="TIME|RATE", help="Of a queue: the mean service, 500ms, or its rate, 2/s."
    ),
]
Patience = Annotated[
    str | None,
    typer.Option(
        "--patience", metavar="TIME|RATE", help="Of a queue with +M: the mean patience, or its rate."
    ),
]
ScvArrival = Annotated[
    float | None,
    typer.Option(
        "--scv-arrival",
        metavar="NUMBER",
        help="Of a queue with arrivals G: the variance of the gaps over their squared mean.",
    ),
]
ScvService = Annotated[
    float | None,
    typer.Option("--scv-service", metavar="NUMBER", help="Of a queue with service G: the same of services."),
]
Batch = Annotated[
    float | None,
    typer.Option("--batch", metavar="NUMBER", help="Of a queue with M^X: the mean number in a batch."),
]
ScvBatch = Annotated[
    float | None,
    typer.Option("--scv-batch", metavar="NUMBER", help="Of a queue with M^X: the same of that number."),
]


@dataclass(frozen=True, slots=True)
class Given:
    """What is given of a queue."""

    arrival: str | None
    service: str | None
    patience: str | None
    scv_arrival: float | None
    scv_service: float | None
    batch: float | None
    scv_batch: float | None

    def refuse(self, file: str) -> None:
        """Refuse what is given where a scenario says it itself.

        Raises
        ------
        ConfigError
            If anything is given.
        """
        for each in fields(self):
            if getattr(self, each.name) is not None:
                option = "--" + each.name.replace("_", "-")
                raise ConfigError(
                    f"{option} is of a queue such as M/M/3, and {file} is a scenario",
                    "change a scenario by `--set KEY=VALUE`",
                )


def is_queue(text: str) -> bool:
    """Return whether an argument is a queue, and not the name of a file."""
    return _NOTATION.match(text) is not None and not text.endswith(".toml") and not _is_there(text)


def _is_there(file: str) -> bool:
    try:
        return Path(file).exists()
    except OSError:  # a name that no file can have
        return False


def show(queue: str, given: Given, *, as_json: bool) -> int:
    """Show what is known of a queue; return the exit code."""
    from weir.notation import kendall

    found = kendall(queue, **{each.name: getattr(given, each.name) for each in fields(given)})
    if as_json:
        import json

        echo_json(json.loads(found.text))
    else:
        from weir.results.terminal import console

        _print(console(), found)
    return 0


def _print(out: Console, found: QueueTheory) -> None:
    from weir.results.tables import Column
    from weir.results.terminal import print_table, say

    parameters = ", ".join(f"{each.name} {_parameter(each)}" for each in found.parameters)
    say(out, f"{found.queue}: {parameters}", style="bold")
    figures = found.figures
    print_table(
        out,
        [
            Column("figure", tuple(_label(each.metric) for each in figures), numeric=False),
            Column("value", tuple(_value(each) for each in figures)),
            Column("status", tuple(each.status for each in figures), numeric=False),
            Column("source", tuple(each.source for each in figures), rank=1, numeric=False),
        ],
    )


def _label(metric: str) -> str:
    """Return a metric in words; of a quantile the share."""
    found = re.fullmatch(r"wait_(p\d+)", metric)
    return f"{found[1]} of the wait" if found else metric.replace("_", " ")


def _parameter(given: QueueParameter) -> str:
    from weir.text import number, quantity

    if given.unit == "s":
        return quantity(given.value, "s")
    return f"{number(given.value)}{'/s' if given.unit == '1/s' else ''}"


def _value(figure: QueueFigure) -> str:
    from weir.text import number, quantity, share

    if figure.unit == "s":
        return quantity(figure.value, "s")
    return share(figure.value) if figure.unit == "share" else number(figure.value)
