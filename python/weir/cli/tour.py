"""Commands that need no scenario: demo, reproduce, bench."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
from weir.text import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weir.reproduce.common import Reproduced
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
            help="The HTML file; one that is there is replaced. Default: weir-demo.html.",
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

    target = only(out) or Path("weir-demo.html")
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
    typer.echo(f"report: {target.absolute()}")
    return exit_code(result)


class Reproduction(StrEnum):
    """The documents that can be reproduced."""

    alpha = "alpha"
    sfq = "sfq"
    dtable = "dtable"
    epoch = "epoch"
    steer = "steer"
    all = "all"


Quick = Annotated[
    bool,
    typer.Option(
        "--quick",
        help="Shorter runs, on two cores. alpha: 3e8 packets a strategy, about 20 s. sfq: 8 seeds, about "
        "6 s. dtable: fewer loads and 3 replications, under a minute. epoch: 30 random task sets, some "
        "seconds. steer: shorter tails and 16 workloads, under half a minute.",
    ),
]
Full = Annotated[
    bool,
    typer.Option(
        "--full",
        help="Longer runs, on two cores. alpha: the published number of packets, 4.1e9 a strategy, about "
        "80 s. sfq: 64 seeds and 256 draws of random maps, about a minute. dtable: 30 replications, some "
        "15 minutes. epoch: 1,000 random task sets, some 2 minutes. steer: 32 million requests "
        "for each slowdown and 240 workloads.",
    ),
]
WithArtefacts = Annotated[
    bool,
    typer.Option(
        "--with-artefacts", help="alpha: also simulate the overflow of the original's 32-bit clock."
    ),
]
ReportFile = Annotated[
    OneOutFile,
    typer.Option(
        "--out",
        metavar="FILE",
        help="Also write the report: .html or .json; one that is there is replaced.",
    ),
]


def reproduce(
    name: Annotated[
        Reproduction,
        typer.Argument(
            metavar="NAME",
            help="alpha: the alpha report, sections 8 to 15. sfq: the SFQ report, Tables 1 to 11. dtable: "
            "DTable and DRR in a fabric, Table 1 and Figures 1 to 5. epoch: epoch scheduling of processes, "
            "Tables 1 and 2. steer: steering of packets to CPUs, and later policies. all: one after the "
            "other.",
        ),
    ],
    quick: Quick = False,
    full: Full = False,
    with_artefacts: WithArtefacts = False,
    seed: Seed = None,
    threads: Threads = None,
    out: ReportFile = None,
    as_json: Json = False,
) -> int:
    """Hold the simulation against the tables and claims of a published document.

    Each published value is checked within a tolerance: of alpha from the standard errors of both sides, of
    sfq, dtable, epoch and steer by the bars in their README.md under reproduce/. Exit code 1 if any is not
    met or could not be checked. After Ctrl-C what was finished is checked, and the exit code is 130.

    \b
    Example:
      weir reproduce alpha --quick --out alpha.html
      weir reproduce sfq --quick --out sfq.html
      weir reproduce dtable --quick --out dtable.html
      weir reproduce epoch --quick --out epoch.html
      weir reproduce steer --quick --out steer.html
    """
    fidelity = _fidelity(quick=quick, full=full)
    target = only(out)
    form = None if target is None else form_of(target, (".html", ".json"))
    if name is Reproduction.all:
        return _all(fidelity, seed, threads, target, with_artefacts=with_artefacts, as_json=as_json)
    found = _reproduced(name, fidelity, seed, threads, with_artefacts=with_artefacts)
    if found.empty:
        if as_json:
            typer.echo(found.to_json())
        return report_nothing()
    if target is not None:
        _write_reproduction(found, target, form)
    typer.echo(found.to_json() if as_json else found.text())
    return _exit_code(found)


def _exit_code(found: Reproduced) -> int:
    if found.interrupted:
        return INTERRUPTED
    return NOT_MET if found.not_met or found.not_checkable else 0


def _all(
    fidelity: str,
    seed: int | None,
    threads: int | None,
    target: Path | None,
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
    for each in (name for name in Reproduction if name is not Reproduction.all):
        own = with_artefacts and each is Reproduction.alpha
        found = _reproduced(each, fidelity, seed, threads, with_artefacts=own)
        if found.empty:
            codes.append(report_nothing())
            break
        documents.append(found.to_dict())
        codes.append(_exit_code(found))
        if not as_json:
            typer.echo(found.text())
        if found.interrupted:
            break
    if as_json:
        echo_json(documents)
    return max(codes)


def _reproduced(
    name: Reproduction, fidelity: str, seed: int | None, threads: int | None, *, with_artefacts: bool
) -> Reproduced:
    from weir.progress import Progress

    if name is Reproduction.alpha:
        from weir.reproduce import alpha

        with Progress() as progress:
            return alpha.run(
                fidelity=fidelity,
                seed=seed,
                threads=threads,
                with_artefacts=with_artefacts,
                progress=progress,
            )
    from weir.errors import ConfigError

    if with_artefacts:
        raise ConfigError(
            "--with-artefacts belongs to alpha", "leave it out: the others always show what they know"
        )
    if name is Reproduction.dtable:
        from weir.reproduce import dtable

        with Progress("link traversals") as progress:
            return dtable.run(fidelity=fidelity, seed=seed, threads=threads, progress=progress)
    if name is Reproduction.epoch:
        from weir.reproduce import epoch

        with Progress("simulated seconds") as progress:
            return epoch.run(fidelity=fidelity, seed=seed, threads=threads, progress=progress)
    if name is Reproduction.steer:
        from weir.reproduce import steer

        with Progress("requests") as progress:
            return steer.run(fidelity=fidelity, seed=seed, threads=threads, progress=progress)
    from weir.reproduce import sfq

    with Progress("streams") as progress:
        return sfq.run(fidelity=fidelity, seed=seed, threads=threads, progress=progress)


def _fidelity(*, quick: bool, full: bool) -> str:
    from weir.errors import ConfigError

    if quick and full:
        raise ConfigError("--quick and --full exclude each other", "give one of them, or none")
    return "quick" if quick else "full" if full else "default"


def _write_reproduction(found: Reproduced, out: Path, form: str | None) -> None:
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
        raise ConfigError(f"no benchmark begins with `{prefix}`", "`weir bench` names them all")
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
