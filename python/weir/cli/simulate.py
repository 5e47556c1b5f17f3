"""Commands on a scenario or on its result: run, compare, theory, show, report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weir.cli import complain, queues
from weir.cli.exports import Exports
from weir.cli.shared import (
    Confirm,
    Disciplines,
    Json,
    OneOutFile,
    OutFiles,
    Records,
    Samples,
    ScenarioFile,
    Seed,
    Settings,
    Settle,
    Threads,
    Trace,
    check_out,
    echo_json,
    exit_code,
    form_of,
    only,
    report_nothing,
    save,
    scenario,
    with_disciplines,
)
from weir.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from weir.progress import Progress
    from weir.results.result import Result
    from weir.scenario import Scenario

__all__ = ["add_to"]


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command("run", short_help="Simulate a scenario.")(run)
    app.command("compare", short_help="Compare its disciplines.")(compare)
    app.command("theory", short_help="Show its closed forms.")(theory)
    app.command("show", short_help="Show a saved result.")(show)
    app.command("report", short_help="Write the HTML of a saved result.")(report)


def run(
    file: ScenarioFile,
    settings: Settings = None,
    discipline: Disciplines = None,
    seed: Seed = None,
    threads: Threads = None,
    records: Records = None,
    trace: Trace = None,
    samples: Samples = None,
    settle: Settle = False,
    confirm: Confirm = False,
    out: OutFiles = None,
    as_json: Json = False,
) -> int:
    """Simulate a scenario and show its disciplines: by class of message, flow and link, channel, or process.

    Means carry 95 % confidence intervals. Times are in the scenario's unit: u, one mean packet service, or
    seconds. Ctrl-C ends the run; what is finished is shown and saved, labelled interrupted (exit code 130).
    A run that is too short says first by how much, with exit code 1; `--settle` makes it long enough.

    \b
    Example:
      weir run scenario.toml --out result.json --records items.parquet
      weir run scenario.toml --set workload.load=0.95 --set seed=7
    """
    import weir
    from weir.results.terminal import show_run

    check_out(out)
    chosen = with_disciplines(file, settings, discipline)
    exports = Exports(trace, samples)
    exports.check(chosen, out)
    chosen = chosen.settling() if settle else chosen
    with _progress(chosen) as progress:
        result = weir.run(chosen, seed=seed, threads=threads, records=records, progress=progress)
        if confirm:
            result = weir.confirm(result, chosen, threads=threads, progress=progress)
    return finish(result, out, show_run, as_json=as_json, exports=exports)


def compare(
    file: ScenarioFile,
    settings: Settings = None,
    discipline: Disciplines = None,
    seed: Seed = None,
    threads: Threads = None,
    records: Records = None,
    trace: Trace = None,
    samples: Samples = None,
    settle: Settle = False,
    confirm: Confirm = False,
    out: OutFiles = None,
    as_json: Json = False,
) -> int:
    """Compare the disciplines of a scenario on the same arrivals and services.

    Shows the mean with its 95 % interval, the paired difference to the reference, the tail, and the closed
    form where there is one, with OK where the 99.9 % interval of the simulation covers it, !! where it does
    not, and "not judged" where the run is too short to tell. Of a network, also what each flow gets under
    each discipline; of a fabric, each virtual channel at each load; of a node, each process; of a server,
    delay, response and slowdown, and what the cores did.

    \b
    Example:
      weir compare scenario.toml --out report.html
    """
    import weir
    from weir.results.terminal import show_comparison

    check_out(out)
    chosen = with_disciplines(file, settings, discipline)
    exports = Exports(trace, samples)
    exports.check(chosen, out)
    chosen = chosen.settling() if settle else chosen
    with _progress(chosen) as progress:
        result = weir.compare(chosen, seed=seed, threads=threads, records=records, progress=progress)
        if confirm:
            result = weir.confirm(result, chosen, threads=threads, progress=progress)
    return finish(result, out, show_comparison, as_json=as_json, exports=exports)


def _progress(chosen: Scenario) -> Progress:
    """Return the progress of a run: a port counts packets, a network or a fabric its own nanoseconds."""
    from weir.models import MODELS
    from weir.progress import Progress

    return Progress() if MODELS[chosen.model].packets else Progress("simulated s", 1e9)


def finish(
    result: Result,
    out: list[Path] | None,
    show: Callable[[Console, Result], None],
    *,
    as_json: bool,
    exports: Exports | None = None,
) -> int:
    """Save and show a result; return the exit code."""
    if result.empty:
        if as_json:
            typer.echo(result.to_json())
        return report_nothing()
    save(result, out)
    written = [*(out or ()), *(exports or Exports()).write(result)]
    if as_json:
        typer.echo(result.to_json())
    elif not result.unstable:
        from weir.results.terminal import console

        show(console(), result)
        for path in written:
            typer.echo(f"wrote {path}")
    _report_unstable(result)
    return exit_code(result)


def _report_unstable(result: Result) -> None:
    """Say on the error output that there is no steady state, if so; the JSON of the result says it too."""
    if result.unstable:
        statement, _, remedy = result.unstable.rpartition("; ")
        file = result.document.get("file") or "scenario"
        complain(f"error: {file}: {statement or remedy}\n  remedy: {remedy}\n")


def theory(
    file: queues.FileOrQueue,
    settings: Settings = None,
    arrival: queues.Arrival = None,
    service: queues.Service = None,
    patience: queues.Patience = None,
    scv_arrival: queues.ScvArrival = None,
    scv_service: queues.ScvService = None,
    batch: queues.Batch = None,
    scv_batch: queues.ScvBatch = None,
    as_json: Json = False,
) -> int:
    """Show the closed forms of a scenario, or of a queue in Kendall's notation, without simulation.

    Of a scenario they are exact means. Of a queue each figure has its unit and its source, and is exact, an
    upper bound or an approximation; what is missing of its parameters is asked for.

    \b
    Example:
      weir theory scenario.toml
      weir theory M/M/3/10+M --arrival 2.4/s --service 1s --patience 2s
      weir theory G/G/2 --arrival 90/s --service 20ms --scv-arrival 1.5 --scv-service 0.5
    """
    import weir

    given = queues.Given(arrival, service, patience, scv_arrival, scv_service, batch, scv_batch)
    if queues.is_queue(file):
        if settings:
            raise ConfigError("--set is of a scenario, and this is a queue", "leave it out")
        return queues.show(file, given, as_json=as_json)
    given.refuse(file)
    result = weir.theory(scenario(Path(file), settings))
    if as_json:
        typer.echo(result.to_json())
    elif not result.unstable:
        from weir.results.terminal import console

        _show_theory(console(), result)
    _report_unstable(result)
    return exit_code(result)


def _show_theory(out: Console, result: Result) -> None:
    """Show a table for each metric, then the reasons where there is no closed form."""
    from weir.results.tables import theory_columns
    from weir.results.terminal import print_tables, say
    from weir.text import absent, scale_for

    known = [row for row in result.theory if row.value is not None]
    for metric in dict.fromkeys(row.metric for row in known):
        rows = [row for row in known if row.metric == metric]
        header = scale_for((row.value for row in rows), rows[0].unit).header
        say(out, f"mean {metric} {header} by class".replace("  ", " "), style="bold")
        first, *rest = theory_columns(result, metric)
        print_tables(out, first, [[column] for column in rest])
        out.print()
    missing = {
        row.discipline: row.formula for row in result.theory if row.value is None and row.class_ == "all"
    }
    for name, reason in missing.items():
        say(out, f"{name}: {absent(reason)}")


def show(
    run_file: Annotated[
        Path, typer.Argument(metavar="RUN", help="A result that --out FILE.json wrote.", show_default=False)
    ],
    out: OutFiles = None,
    as_json: Json = False,
) -> int:
    """Show a saved result, as `weir compare` does; nothing is computed again.

    It may be of a model that is not part of weir, if its figures have a kind and a name.

    \b
    Example:
      weir show result.json --out report.html
    """
    from weir.results.result import Result
    from weir.results.terminal import show_comparison

    check_out(out)
    return finish(Result.from_file(run_file), out, show_comparison, as_json=as_json)


def report(
    run_file: Annotated[
        Path,
        typer.Argument(
            metavar="RUN",
            help="A result that --out FILE.json wrote, or the folder of a sweep.",
            show_default=False,
        ),
    ],
    out: Annotated[
        OneOutFile,
        typer.Option(
            "--out",
            metavar="FILE",
            help="The HTML file; an existing one is replaced. Default: RUN with .html.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write the HTML report of a saved result, or of a sweep; nothing is computed again.

    \b
    Example:
      weir report result.json --out report.html
      weir report loads.sweep
    """
    chosen = only(out)
    if chosen is not None:
        form_of(chosen, (".html",))
    target = chosen or run_file.with_suffix(".html")
    if run_file.is_dir():
        from weir.sweeping import page as of_sweeps
        from weir.sweeping.run import read

        of_sweeps.write(read(run_file), target)
    else:
        from weir.results import page
        from weir.results.result import Result

        page.write(Result.from_file(run_file), target)
    if as_json:
        echo_json({"report": str(target)})
    else:
        typer.echo(f"wrote {target}")
