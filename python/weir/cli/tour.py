"""Commands that need no scenario: demo, reproduce, bench."""

from __future__ import annotations

from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weir.cli.shared import (
    INTERRUPTED,
    NOT_MET,
    Json,
    OneOutFile,
    Seed,
    Threads,
    echo_json,
    exit_code,
    form_of,
    only,
    report_nothing,
)
from weir.reproduce import DOCUMENTS
from weir.text import number

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from weir.reproduce.engine.document import Reproduction
    from weir.results.tables import Column

__all__ = ["add_to"]


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command("demo", short_help="A tour: one page and one HTML report.")(demo)
    app.command("reproduce", short_help="Check a published document.")(reproduce)
    app.command("bench", short_help="Measure speed on this machine.")(bench)


def demo(
    out: Annotated[
        OneOutFile,
        typer.Option(
            "--out",
            metavar="FILE",
            help="The HTML file; an existing one is replaced. Default: weir-demo.html, with charts.",
        ),
    ] = None,
    seed: Seed = None,
    threads: Threads = None,
    as_json: Json = False,
) -> int:
    """Take the tour: the alpha report's port at 95 % load, under eight disciplines.

    A few seconds, without network or privileges. Prints one page and writes one HTML report. Times are in u,
    the mean service time of a packet.

    \b
    Example:
      weir demo --out tour.html
    """
    from weir import demo as tour
    from weir.extras import has

    target = only(out) or (Path("weir-demo.html") if has("charts") else None)
    if target is not None:
        form_of(target, (".html",))
    result = tour.run(seed=seed, threads=threads, out=target)
    if as_json:
        typer.echo(result.to_json())
    if result.empty:
        return report_nothing()
    if as_json:
        return exit_code(result)
    from weir.results import terminal

    console = terminal.console()
    terminal.show_comparison(console, result)
    for line in tour.next_steps(result):
        terminal.say(console, line)
    typer.echo(_NO_REPORT if target is None else f"report: {target.absolute()}")
    return exit_code(result)


_NO_REPORT = "no report: an HTML report needs the extra `charts`; run `pip install 'weir[charts]'`"
_EVERY = "all"
if TYPE_CHECKING:
    Name = str
else:
    Name = StrEnum("Name", [(name, name) for name in (*DOCUMENTS, _EVERY)])


def _of_each(field: str) -> str:
    """Return what is said of each document, one after the other."""
    return " ".join(f"{name}: {getattr(document, field)}." for name, document in DOCUMENTS.items())


Quick = Annotated[
    bool, typer.Option("--quick", help=f"Shorter runs; times are of one processor. {_of_each('quick')}")
]
Full = Annotated[
    bool, typer.Option("--full", help=f"Longer runs; times are of one processor. {_of_each('full')}")
]
WithArtefacts = Annotated[
    bool,
    typer.Option(
        "--with-artefacts", help="alpha: also simulate the overflow of the original's 32-bit clock."
    ),
]
Brief = Annotated[
    bool, typer.Option("--brief", help="Print one line: how many checks are met, and how many are not.")
]
ReportFile = Annotated[
    OneOutFile,
    typer.Option(
        "--out",
        metavar="FILE",
        help="Also write the report: .html or .json; an existing one is replaced.",
    ),
]


def reproduce(
    name: Annotated[
        Name,
        typer.Argument(
            metavar="NAME",
            help=f"{_of_each('about')} {_EVERY}: one after the other.",
        ),
    ],
    quick: Quick = False,
    full: Full = False,
    with_artefacts: WithArtefacts = False,
    seed: Seed = None,
    threads: Threads = None,
    out: ReportFile = None,
    brief: Brief = False,
    as_json: Json = False,
) -> int:
    """Compare the simulation with the tables and claims of a published document.

    Each published value is checked within a tolerance: for alpha from the standard errors of both sides, for
    sfq, dtable, epoch and steer as their README.md under reproduce/ says. Exit code 1 if any is not met or
    could not be checked. After Ctrl-C what was finished is checked, and the exit code is 130.

    \b
    Example:
      weir reproduce alpha --quick --out alpha.html
      weir reproduce sfq --quick --out sfq.html
      weir reproduce dtable --quick --out dtable.html
      weir reproduce epoch --quick --out epoch.html
      weir reproduce steer --quick --out steer.html
    """
    fidelity, show = _fidelity(quick=quick, full=full), _shown(brief=brief, as_json=as_json)
    target = only(out)
    form = None if target is None else form_of(target, (".html", ".json"))
    if name == _EVERY:
        return _all(fidelity, seed, threads, target, show, with_artefacts=with_artefacts, as_json=as_json)
    found = _reproduced(name, fidelity, seed, threads, with_artefacts=with_artefacts)
    if found.empty:
        if as_json:
            typer.echo(found.to_json())
        return report_nothing()
    if target is not None:
        _write_reproduction(found, target, form)
    typer.echo(show(found))
    return _exit_code(found)


def _shown(*, brief: bool, as_json: bool) -> Callable[[Reproduction[Any, Any]], str]:
    """Return what shows a reproduction."""
    if as_json:
        return lambda found: found.to_json()
    return (lambda found: found.line()) if brief else (lambda found: found.text())


def _exit_code(found: Reproduction[Any, Any]) -> int:
    if found.interrupted:
        return INTERRUPTED
    return NOT_MET if found.not_met or found.not_checkable else 0


def _all(
    fidelity: str,
    seed: int | None,
    threads: int | None,
    target: Path | None,
    show: Callable[[Reproduction[Any, Any]], str],
    *,
    with_artefacts: bool,
    as_json: bool,
) -> int:
    """Run all of them, each as it is finished; the first that is interrupted ends it."""
    from weir.errors import ConfigError

    if target is not None:
        raise ConfigError(
            "--out writes one reproduction", "give it to each of them, as in `weir reproduce sfq`"
        )
    documents, codes = [], []
    for each, document in DOCUMENTS.items():
        own = with_artefacts and document.artefacts
        found = _reproduced(each, fidelity, seed, threads, with_artefacts=own)
        if found.empty:
            codes.append(report_nothing())
            break
        documents.append(found.to_dict())
        codes.append(_exit_code(found))
        if not as_json:
            typer.echo(show(found))
        if found.interrupted:
            break
    if as_json:
        echo_json(documents)
    return max(codes)


def _reproduced(
    name: str, fidelity: str, seed: int | None, threads: int | None, *, with_artefacts: bool
) -> Reproduction[Any, Any]:
    from weir.errors import ConfigError
    from weir.progress import Progress

    document = DOCUMENTS[name]
    if with_artefacts and not document.artefacts:
        raise ConfigError(
            "--with-artefacts belongs to alpha", "leave it out: the others always show what they know"
        )
    own = {"with_artefacts": with_artefacts} if document.artefacts else {}
    run = import_module(f"weir.reproduce.{name}").run
    with Progress(document.unit, name=f"weir reproduce {name}") as progress:
        found: Reproduction[Any, Any] = run(
            fidelity=fidelity, seed=seed, threads=threads, progress=progress, **own
        )
    return found


def _fidelity(*, quick: bool, full: bool) -> str:
    from weir.errors import ConfigError

    if quick and full:
        raise ConfigError("--quick and --full exclude each other", "give one of them, or none")
    return "quick" if quick else "full" if full else "default"


def _write_reproduction(found: Reproduction[Any, Any], out: Path, form: str | None) -> None:
    from weir.files import write_text

    if form == ".html":
        found.write_html(out)
    else:
        write_text(out, found.to_json())


def bench(
    prefix: Annotated[
        str, typer.Argument(metavar="[PREFIX]", help="Only benchmarks of this prefix, such as port/.")
    ] = "",
    as_json: Json = False,
) -> None:
    """Measure the engines and the disciplines on this machine; best of several, with the range.

    \b
    Example:
      weir bench port/alpha
    """
    from weir.bench import measure
    from weir.errors import ConfigError

    rows = list(measure(prefix))
    if not rows:
        raise ConfigError(f"no benchmark begins with `{prefix}`", "`weir bench` lists them all")
    if as_json:
        echo_json(rows)
        return
    from weir.results import terminal

    terminal.print_table(terminal.console(), _benchmarks(rows))


def _benchmarks(rows: Sequence[dict[str, object]]) -> list[Column]:
    """Return benchmarks: name, value with its range, unit."""
    from weir.results.tables import Column

    figures = [[float(str(row[key])) for row in rows] for key in ("value", "low", "high")]
    value, low, high = (tuple(number(each) for each in column) for column in figures)
    return [
        Column("benchmark", tuple(str(row["bench"]) for row in rows), numeric=False),
        Column("value", value),
        Column("low", low, rank=1),
        Column("high", high, rank=1),
        Column("unit", tuple(str(row["unit"]) for row in rows), numeric=False),
    ]
