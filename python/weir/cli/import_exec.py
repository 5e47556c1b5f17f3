"""The command ``weir import exec``: a scenario, and a trace, of a recorded run of weir-exec."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weir.cli.shared import STANDARD_INPUT, Json, OneOutFile, echo_json, given, only
from weir.importing.targets import default_out
from weir.text import plural

if TYPE_CHECKING:
    from weir.importing.executor import Response

__all__ = ["import_exec"]

_SHOWN = 20
"""Processes that are listed."""


def import_exec(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="The recording, as `Builder::record` writes it; `-` reads standard input.",
            show_default=False,
        ),
    ],
    out: Annotated[
        OneOutFile,
        typer.Option(
            "--out",
            metavar="PATH",
            help="A folder for scenario.toml and a replay of each task, or the scenario itself, NAME.toml; "
            "existing files are replaced. Default: a folder called as the recording.",
        ),
    ] = None,
    trace: Annotated[
        OneOutFile,
        typer.Option(
            "--trace",
            metavar="FILE",
            help="Also write the run as a Perfetto trace, .pftrace, for ui.perfetto.dev.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Make a scenario of the node of a recorded run of weir-exec, and say what was measured in it.

    Each task replays when it was ready and how long it ran, under the discipline of the run and others, with
    what the executor itself needed as the costs of the scheduler. Then `weir compare --set` answers what
    another need, slice or discipline would have done.

    \b
    Example:
      weir import exec run.weirexec --out node
    """
    from weir.importing import executor, executor_trace

    target = only(out) or default_out(Path("tasks") if str(file) == STANDARD_INPUT else file)
    traced = only(trace)
    source = given(file)
    if traced is not None:
        executor_trace.check(traced)
    imported = executor.write(source, target)
    if traced is not None:
        executor_trace.write(source, traced)
    if as_json:
        echo_json(imported.to_dict())
        return
    bursts, tasks = plural(imported.bursts, "burst"), plural(imported.tasks, "task")
    typer.echo(f"{imported.seconds:,.3f} s: {bursts} of {tasks}")
    _show_measured(imported.measured)
    for note in imported.notes:
        typer.echo(f"note: {note}")
    typer.echo(f"wrote {imported.scenario} and {plural(len(imported.replays), 'replay')}")
    if traced is not None:
        typer.echo(f"wrote {traced}")
    typer.echo(f"next: weir compare {imported.scenario}")


def _show_measured(responses: list[Response]) -> None:
    """Show how long processes took from ready to done, those first that took longest."""
    from weir.results.tables import Column
    from weir.results.terminal import console, print_table, say
    from weir.text import quantity

    shown = sorted(responses, key=lambda response: -response.p99)[:_SHOWN]
    names = {"mean": "mean", "p99": "p99", "longest": "longest", "longest_poll": "longest poll"}
    out = console()
    say(out, "Measured, from ready to done", style="bold")
    columns = [
        Column("process", tuple(one.process for one in shown), numeric=False),
        Column("bursts", tuple(f"{one.count:,}" for one in shown), 1),
        *(
            Column(title, tuple(quantity(getattr(one, key), "s") for one in shown))
            for key, title in names.items()
        ),
    ]
    print_table(out, columns)
    if len(responses) > _SHOWN:
        typer.echo(f"{len(responses) - _SHOWN:,} more processes took less; `--json` has them all.")
