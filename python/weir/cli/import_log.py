"""The command ``weir import log``: a scenario of the server from the log of a service."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weir.cli import complain
from weir.cli.shared import INTERRUPTED, STANDARD_INPUT, Json, OneOutFile, echo_json, only
from weir.errors import ConfigError
from weir.importing.targets import default_out
from weir.text import number, plural, quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weir.importing.log import Imported

__all__ = ["import_log"]


Log = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help=(
            "The log: CSV, JSON lines, or an access log of nginx, Apache or Envoy; may be compressed by gzip."
        ),
        show_default=False,
    ),
]
Out = Annotated[
    OneOutFile,
    typer.Option(
        "--out",
        metavar="PATH",
        help="A folder for scenario.toml and requests.csv, or the scenario itself, NAME.toml; "
        "existing files are replaced. Default: a folder called as the log.",
    ),
]
TimeColumn = Annotated[
    str | None, typer.Option("--time", metavar="COLUMN", help="The column of the time of a request.")
]
TimeUnit = Annotated[
    str | None,
    typer.Option(
        "--time-unit",
        metavar="FORM",
        help="How times are written: common (10/Oct/2000:13:55:36 -0700), iso, s, ms, us or ns.",
    ),
]
TimeOf = Annotated[
    str | None,
    typer.Option("--time-of", metavar="WHAT", help="What they are of: the arrival of a request, or its end."),
]
ServiceColumn = Annotated[
    str | None,
    typer.Option("--service", metavar="COLUMN", help="The column of the service time of a request."),
]
Unit = Annotated[
    str | None,
    typer.Option(
        "--unit",
        metavar="UNIT",
        help="Its unit: s, ms, us, ns, or written (as in 12ms) behind each number.",
    ),
]
DurationColumn = Annotated[
    str | None,
    typer.Option(
        "--duration",
        metavar="COLUMN",
        help="The column of the time from arrival to end, where times are of the end. Default: found "
        "by its name, else the service.",
    ),
]
DurationUnit = Annotated[
    str | None, typer.Option("--duration-unit", metavar="UNIT", help="The unit of that column.")
]
ClassColumn = Annotated[
    str | None,
    typer.Option(
        "--class", metavar="COLUMN", help="The column of the class, such as method; default: one class."
    ),
]
StatusColumn = Annotated[
    str | None, typer.Option("--status", metavar="COLUMN", help="The column of the status of the answer.")
]
Fit = Annotated[
    bool,
    typer.Option("--fit", help="Fit a rate and laws instead of replaying the requests."),
]
Cores = Annotated[
    int | None,
    typer.Option("--cores", metavar="N", help="How many cores serve. Default: as many as are 70 % busy."),
]
Disorder = Annotated[
    str,
    typer.Option("--disorder", metavar="TIME", help="By how much lines may come after a later one."),
]


def import_log(
    file: Log,
    out: Out = None,
    time: TimeColumn = None,
    time_unit: TimeUnit = None,
    time_of: TimeOf = None,
    service: ServiceColumn = None,
    unit: Unit = None,
    duration: DurationColumn = None,
    duration_unit: DurationUnit = None,
    class_column: ClassColumn = None,
    status: StatusColumn = None,
    fit: Fit = False,
    cores: Cores = None,
    disorder: Disorder = "1s",
    as_json: Json = False,
) -> int:
    """Make a scenario of the server of the log of a service.

    Columns are found by name or format. What is not known is asked, on a terminal, and otherwise refused with
    the columns there are. The scenario remembers the columns: a second import to the same place asks nothing.
    Requests are brought into the order of arrival.

    \b
    Example:
      weir import log access.log.gz --out replay
      weir import log calls.csv --time started --service took_ms --class method --fit --out model.toml
    """
    from weir.importing import log
    from weir.importing.log_columns import Asked
    from weir.progress import Progress

    if str(file) == STANDARD_INPUT:
        raise ConfigError("FILE is `-`, and a log is read twice", "save it, and give the name of that file")
    asked = Asked(
        time=time,
        time_unit=time_unit,
        time_of=time_of,
        service=service,
        unit=unit,
        duration=duration,
        duration_unit=duration_unit,
        klass=class_column,
        status=status,
    )
    try:
        with Progress("bytes") as progress:
            imported = log.write(
                file,
                only(out) or default_out(file),
                asked=asked,
                ask=_ask if _is_terminal() and not as_json else None,
                fitted=fit,
                cores=cores,
                disorder=disorder,
                progress=progress,
            )
    except KeyboardInterrupt:
        complain("interrupted: nothing was written\n")
        return INTERRUPTED
    if as_json:
        echo_json(imported.to_dict())
    else:
        _show(imported)
    return 0


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _ask(question: str, answers: Sequence[str]) -> str:
    """Ask until one of the answers is given."""
    while True:
        answer: str = typer.prompt(f"{question[:1].upper()}{question[1:]}? ({', '.join(answers)})").strip()
        if answer in answers:
            return answer
        typer.echo(f"`{answer}` is none of them.")


def _show(imported: Imported) -> None:
    """Say what the log holds, what to know of it, and what was written."""
    found = imported.facts["dispersion"]
    gaps, services = found["gaps"], found["services"]
    counts = [plural(found["requests"], "request"), plural(len(imported.facts["classes"]), "class")]
    parts = [*counts, quantity(found["span_ns"] / 1e9, "s")]
    typer.echo(", ".join(parts))
    if gaps is not None and gaps["mean_ns"] > 0:
        rate = number(1e9 / gaps["mean_ns"])
        mean = quantity(services["mean_ns"] / 1e9, "s")
        typer.echo(
            f"arrivals: {rate}/s, squared cv of gaps {gaps['scv']:.3g}; mean service {mean}, squared cv ",
            nl=False,
        )
        typer.echo(f"{services['scv']:.3g}")
    for note in imported.notes:
        typer.echo(note if note.startswith("Warning: ") else f"note: {note}")
    for path in (imported.scenario, imported.requests):
        if path is not None:
            typer.echo(f"wrote {path}")
    typer.echo(f"next: weir compare {imported.scenario}")
