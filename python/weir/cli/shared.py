"""What the commands share: options, and how results and errors are shown."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weir.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weir.errors import WeirError
    from weir.result import Result

__all__ = [
    "INTERRUPTED",
    "Json",
    "OutFiles",
    "Records",
    "ScenarioFile",
    "Seed",
    "Threads",
    "echo_json",
    "exit_code",
    "report_error",
    "save",
]

INTERRUPTED = 130
NOT_MET = 1
BAD_INPUT = 2

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Seed = Annotated[
    int | None,
    typer.Option("--seed", metavar="N", help="Seed of all random streams, in place of the scenario's."),
]
Threads = Annotated[
    int | None,
    typer.Option(
        "--threads", metavar="N", help="Threads to use; never changes a result. Default: all cores."
    ),
]
Records = Annotated[
    Path | None,
    typer.Option(
        "--records",
        metavar="FILE",
        help="Write one row an item to FILE.csv or FILE.parquet: id, flow, class, length, arrival, first and "
        "last service (in the result's unit of time), discipline.",
    ),
]
OutFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--out",
        metavar="FILE",
        help="Also write the result: .json all of it, .html the report, .csv or .parquet the table of "
        "estimates. May be repeated.",
    ),
]
ScenarioFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="The scenario, a TOML file.", show_default=False)
]


def echo_json(document: object) -> None:
    """Print a document as JSON, on one line a level."""
    typer.echo(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False))


def report_error(error: WeirError, code: int, *, as_json: bool) -> int:
    """Show an error on two lines at most, and as a JSON object where JSON was asked for; return ``code``."""
    if as_json:
        echo_json({"error": {**error.to_dict(), "exit_code": code}})
    sys.stderr.write(f"error: {_one_line(str(error))}\n")
    if error.remedy:
        sys.stderr.write(f"  remedy: {_one_line(error.remedy)}\n")
    return code


def _one_line(text: str) -> str:
    return " ".join(text.split())


def check_out(paths: Sequence[Path] | None) -> None:
    """Refuse an ``--out`` that could not be written, before a long run and not after it."""
    for path in paths or ():
        if path.suffix not in _WRITERS:
            known = ", ".join(_WRITERS)
            raise ConfigError(
                f"--out is {path}, must end in one of {known}", f"write `--out {path.stem}.json`"
            )
        if not path.parent.is_dir():
            raise ConfigError(
                f"--out is {path}, and the folder {path.parent} does not exist", "create it first"
            )


def save(result: Result, paths: Sequence[Path] | None) -> None:
    """Write a result to each of ``paths``, in the form that its name asks for."""
    for path in paths or ():
        _WRITERS[path.suffix](result, path)


def _save_json(result: Result, path: Path) -> None:
    result.save(path)


def _save_html(result: Result, path: Path) -> None:
    from weir import report

    report.write(result, path)


def _save_csv(result: Result, path: Path) -> None:
    from pyarrow import csv

    from weir.files import replacing

    with replacing(path) as part:
        csv.write_csv(result.to_arrow(), part)


def _save_parquet(result: Result, path: Path) -> None:
    from pyarrow import parquet

    from weir.files import replacing

    with replacing(path) as part:
        parquet.write_table(result.to_arrow(), part)


_WRITERS = {".json": _save_json, ".html": _save_html, ".csv": _save_csv, ".parquet": _save_parquet}


def exit_code(result: Result) -> int:
    """Return the exit code of a run."""
    if result.interrupted:
        return INTERRUPTED
    if result.unstable:
        return BAD_INPUT
    return 0 if result.ok else NOT_MET
