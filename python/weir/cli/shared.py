"""What the commands share: options, and how results and errors are shown."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weir.cli import complain
from weir.errors import ConfigError
from weir.extras import need
from weir.models import MODELS
from weir.results.saving import FORMS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weir.errors import WeirError
    from weir.results.result import Result
    from weir.scenario import Scenario

__all__ = [
    "BAD_INPUT",
    "INTERRUPTED",
    "NOT_MET",
    "STANDARD_INPUT",
    "Confirm",
    "Disciplines",
    "Json",
    "ModelName",
    "OneOutFile",
    "OutFiles",
    "Records",
    "Samples",
    "ScenarioFile",
    "Seed",
    "Settings",
    "Settle",
    "Threads",
    "Trace",
    "echo_json",
    "exit_code",
    "form_of",
    "given",
    "is_streamed",
    "only",
    "report_error",
    "report_nothing",
    "save",
    "scenario",
    "with_disciplines",
]

INTERRUPTED = 130
NOT_MET = 1
BAD_INPUT = 2
_EXTRAS = {".html": "charts", ".csv": "parquet", ".parquet": "parquet", ".pftrace": "trace"}
"""What writes a file, by how its name ends."""
_FEW = 2  # forms that are listed as "a or b"

if TYPE_CHECKING:
    ModelName = str
else:
    ModelName = StrEnum("ModelName", [(name, name) for name in MODELS])
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Seed = Annotated[
    int | None,
    typer.Option("--seed", metavar="N", help="Seed of all random streams, instead of the scenario's."),
]
Disciplines = Annotated[
    list[str] | None,
    typer.Option(
        "--discipline",
        metavar="DISCIPLINE",
        help="One more after those of the scenario: a spec, or a class of Python as FILE.py:CLASS, which "
        "runs slowly. May be repeated.",
    ),
]
Settle = Annotated[
    bool,
    typer.Option(
        "--settle",
        help="Run for as long as it takes until every figure is settled, as `stop.settle = true` does, at "
        "most `stop.settle_limit` times the scenario's length (default: 64).",
    ),
]
Confirm = Annotated[
    bool,
    typer.Option(
        "--confirm",
        help="If a self-check fails that also fails for one right figure in 1,000, run again with the "
        "next seed. A check that then holds had failed by chance.",
    ),
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
        help="Write one row for each item to FILE.csv or FILE.parquet: each message of a port, request of a "
        "server, packet of a network or fabric, response of a process of the node, with its times.",
    ),
]
OutFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--out",
        metavar="FILE",
        help="Also write the result: .json all of it, .html the report, .csv or .parquet the table of "
        "estimates. May be repeated. An existing file is replaced.",
    ),
]
Trace = Annotated[
    Path | None,
    typer.Option(
        "--trace",
        metavar="FILE",
        help="For a node: write which process ran when, from measure.timeline, as a Perfetto trace "
        "FILE.pftrace, which "
        "ui.perfetto.dev shows.",
    ),
]
Samples = Annotated[
    Path | None,
    typer.Option(
        "--samples",
        metavar="FILE",
        help="Write the windows of measure.over_time to FILE.csv or FILE.parquet, one row a value; for a "
        "node without any the samples of measure.sample, one row for each interval.",
    ),
]
OneOutFile = list[Path] | None
"""Of an ``--out`` that may be given once: `only` refuses more, where the last would win without a word."""
ScenarioFile = Annotated[
    Path,
    typer.Argument(
        metavar="FILE", help="The scenario, a TOML file; `-` reads standard input.", show_default=False
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Replace a value of the scenario, as in workload.load=0.9 or link.0.rate=20Mbit. May be "
        "repeated.",
    ),
]
STANDARD_INPUT = "-"


def scenario(file: Path, settings: Sequence[str] | None = None) -> Scenario:
    """Return the scenario of a file, or of standard input, with some of its keys set."""
    import weir
    from weir.files import read_text
    from weir.settings import Setting, scenario_with

    if not settings and str(file) != STANDARD_INPUT:
        return weir.Scenario.from_file(file)
    asked = [Setting.read(each) for each in settings or ()]
    # Data files are relative to the folder that one is in.
    name = "standard input" if str(file) == STANDARD_INPUT else str(file)
    return scenario_with(read_text(given(file)), name, asked)


def with_disciplines(file: Path, settings: Sequence[str] | None, more: Sequence[str] | None) -> Scenario:
    """Return the scenario of a file with some of its keys set, and with more disciplines.

    Classes of Python are added before it is read, so that it may name them.
    """
    if not more:
        return scenario(file, settings)
    from weir import own

    names = [own.name_of(each) for each in more]
    return own.with_disciplines(scenario(file, settings), names)


def given(file: Path) -> Path:
    """Return the path of an input file; of ``-`` that of standard input."""
    return Path("/dev/stdin") if str(file) == STANDARD_INPUT else file


def echo_json(document: object) -> None:
    """Print a document as JSON, on one line a level."""
    typer.echo(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False))


def report_error(error: WeirError, code: int, *, as_json: bool) -> int:
    """Show an error on two lines at most, and as a JSON object where JSON was asked for; return ``code``."""
    if as_json:
        echo_json({"error": {**error.to_dict(), "exit_code": code}})
    complain(f"error: {_one_line(str(error))}\n")
    if error.remedy:
        complain(f"  remedy: {_one_line(error.remedy)}\n")
    return code


def _one_line(text: str) -> str:
    return " ".join(text.split())


def only(paths: list[Path] | None) -> Path | None:
    """Return the path of an ``--out`` that may be given once, or None.

    Raises
    ------
    ConfigError
        If it was given more often.
    """
    if paths and len(paths) > 1:
        raise ConfigError(f"--out is given {len(paths)} times, may be given once", "leave one of them")
    return paths[0] if paths else None


def form_of(path: Path, forms: Sequence[str], option: str = "--out") -> str:
    """Return which of ``forms`` an option asks for by its ending; of a stream without one, the first.

    Raises
    ------
    ConfigError
        If it is none of them, or the file could not be written: said before a long run and not after it.
    MissingExtraError
        If what writes it is not installed.
    """
    if not path.suffix and is_streamed(path, option):
        return _installed(forms[0])
    if path.suffix not in forms:
        known = ", ".join(forms) if len(forms) > _FEW else " or ".join(forms)
        ends = f"one of {known}" if len(forms) > _FEW else known
        raise ConfigError(
            f"{option} is {path}, must end in {ends}", f"write `{option} {path.stem or 'result'}{forms[0]}`"
        )
    if not path.parent.is_dir():
        raise ConfigError(
            f"{option} is {path}, and the folder {path.parent} does not exist", "create it first"
        )
    is_streamed(path, option)
    return _installed(path.suffix)


def _installed(form: str) -> str:
    """Return a form that a file is to have, whose packages are installed."""
    if form in _EXTRAS:
        need(_EXTRAS[form], f"a {form} file")
    return form


def is_streamed(path: Path, option: str = "--out") -> bool:
    """Return whether an option leads to a pipe, a device or an open descriptor.

    Raises
    ------
    ConfigError
        If it leads to a folder or a disk.
    """
    from weir.files import is_stream

    try:
        return is_stream(path)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ConfigError(f"{option} is {path}, which cannot be written: {reason}", "name a file") from error


def check_out(paths: Sequence[Path] | None) -> None:
    """Refuse an ``--out`` that could not be written, or that is given twice."""
    from weir.files import same_file

    for place, path in enumerate(paths or ()):
        form_of(path, FORMS)
        if any(same_file(path, other) for other in (paths or ())[:place]):
            raise ConfigError(f"--out is {path} twice", "name each file once")


def save(result: Result, paths: Sequence[Path] | None) -> None:
    """Write a result to each of ``paths``, in the form that its name asks for."""
    for path in paths or ():
        form_of(path, FORMS)
        result.save(path)


def report_nothing() -> int:
    """Say that a run was stopped before anything of it was finished; return the exit code."""
    complain("interrupted: nothing was finished, and nothing was written\n")
    return INTERRUPTED


def exit_code(result: Result) -> int:
    """Return the exit code of a run."""
    if result.interrupted:
        return INTERRUPTED
    if result.unstable:
        return BAD_INPUT
    return 0 if result.ok and result.settling is None else NOT_MET
