"""Commands that measure for real: ``weir live testbed``, ``sfq``, ``steer``, ``epoch`` and ``clean``."""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weir.cli.shared import (
    INTERRUPTED,
    NOT_MET,
    Json,
    OneOutFile,
    ScenarioFile,
    Seed,
    Settings,
    echo_json,
    form_of,
    only,
    scenario,
)
from weir.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, Protocol, TypeVar

    from rich.console import Console

    from weir.live.steer.study import Study

    class _Made(Protocol):
        """What a measurement came to."""

        @property
        def ok(self) -> bool:
            """Whether it came to what was asked for."""

        def to_dict(self) -> dict[str, Any]:
            """Return all of it as a JSON object."""

    _M = TypeVar("_M", bound=_Made)

__all__ = ["add_to"]

_HIGHEST_SCALE, _MOST_TOGETHER, _MOST_REPEATS = 1000, 16, 100
_HIGHEST_PRIORITY = 98
_PROGRESS = 40
"""Characters of a line of progress."""
_WINDOWS, _SERVICES = ("100ms", "60s"), ("20us", "1ms")
"""Bounds of `weir live steer`: windows with some bursts, services that leave the client time to send."""

Scale = Annotated[
    int, typer.Option("--scale", metavar="N", help="Multiply rates by N, and divide times by it.")
]
Repeat = Annotated[
    int,
    typer.Option(
        "--repeat", metavar="N", help="Measure each discipline N times; intervals are then over runs."
    ),
]
Together = Annotated[
    int,
    typer.Option(
        "--together",
        metavar="N",
        help="Measure N runs at a time, each in its own namespaces; needs the cores.",
    ),
]
Keep = Annotated[
    Path | None,
    typer.Option("--keep", metavar="DIR", help="Keep configurations, scripts, logs and messages there."),
]
Out = Annotated[
    OneOutFile,
    typer.Option("--out", metavar="FILE", help="Also write the report, .html, or all of it, .json."),
]


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    live = typer.Typer(
        help="Measure for real: packets in namespaces, and tasks on processors.", no_args_is_help=True
    )
    live.command("testbed", short_help="Measure a scenario and compare with its simulation.")(measure)
    live.command("sfq", short_help="The SFQ experiments: published, simulated, measured.")(sfq)
    live.command("steer", short_help="Packets steered to processors: the lab, simulated and measured.")(steer)
    live.command("epoch", short_help="The programs of a node: simulated and measured.")(epoch)
    live.command("clean", short_help="Take down what a run left behind.")(clean)
    app.add_typer(live, name="live", short_help="Measure with real packets and tasks.")


def measure(
    file: ScenarioFile,
    scale: Scale = 1,
    discipline: Annotated[
        list[str] | None,
        typer.Option(
            "--discipline",
            metavar="SPEC",
            help="A discipline to use instead of the scenario's. May be repeated.",
        ),
    ] = None,
    repeat: Repeat = 1,
    together: Together = 1,
    keep: Keep = None,
    out: Out = None,
    as_json: Json = False,
) -> int:
    """Build the network of a scenario out of namespaces, send its packets, and compare with the simulation.

    Every router runs `weird route`, every flow `weird tg` at both ends. Needs root, and `make weird`.
    Nothing is touched that the command did not create, and nothing stays, whatever happens to it.
    The exit code is 1 if packets are not accounted for, generators were late, or somebody set the clock.

    \b
    Example:
      weir live testbed scenario.toml --scale 10 --out report.html
    """
    from weir.live import comparison, page, program, terminal

    path = _checked(scale, repeat, together, out)
    chosen = scenario(file)
    program.find()
    with _progress(as_json) as progress:
        made = comparison.compare(
            chosen,
            scale=scale,
            repeat=repeat,
            together=together,
            disciplines=discipline or (),
            keep=keep,
            progress=progress,
        )
    return _end(made, path, as_json, page.html, terminal.show)


def sfq(
    scale: Scale = 10,
    experiment: Annotated[
        list[str] | None,
        typer.Option(
            "--experiment",
            metavar="NAME",
            help="fair, starve, degrade or resource; may be repeated. Default: all.",
        ),
    ] = None,
    disciplines: Annotated[
        list[str] | None,
        typer.Option(
            "--disciplines",
            metavar="KIND",
            help="fifo, sfq or frozen; may be repeated. Default: all published.",
        ),
    ] = None,
    repeat: Repeat = 1,
    together: Together = 1,
    keep: Keep = None,
    out: Out = None,
    as_json: Json = False,
) -> int:
    """Run the four SFQ experiments of 1993 with real packets: published, simulated and measured side by side.

    At scale 10 lines have 13.44 Mb/s and a run lasts 25 to 34 s; there are ten. Times are multiplied back.
    The exit code is 1 if, where no stream shares a queue, a measured throughput is more than 3 points from
    the simulated one or a delay more than 15 %, or if somebody set the clock.

    \b
    Example:
      weir live sfq --scale 10 --out sfq.html
    """
    from weir.live import program, sfq_page
    from weir.live import sfq as study

    path = _checked(scale, repeat, together, out)
    study.parts(experiment or (), disciplines or ())
    program.find()
    with _progress(as_json) as progress:
        made = study.run(
            experiment or (),
            disciplines or (),
            scale=scale,
            repeat=repeat,
            together=together,
            keep=keep,
            progress=progress,
        )
    return _end(made, path, as_json, sfq_page.html, sfq_page.show)


def steer(
    window: Annotated[
        str, typer.Option("--window", metavar="TIME", help="How long each of the six rates lasts.")
    ] = "1s",
    service: Annotated[
        str, typer.Option("--service", metavar="TIME", help="How long a long request keeps a processor busy.")
    ] = "50us",
    repeat: Annotated[
        int, typer.Option("--repeat", metavar="N", help="Measure each run N times; intervals are over them.")
    ] = 3,
    seed: Seed = None,
    keep: Keep = None,
    out: Out = None,
    as_json: Json = False,
) -> int:
    """Run the lab of packet-to-CPU steering with real packets: report, simulation, measurement side by side.

    Six runs, RR, RRCS and DCA on unimodal and bimodal traffic, and the combined policy twice, on all
    processors where there are at most two, else on up to seven that leave out the first. The cost of a
    request is measured first and given to the simulation. Takes three minutes; while it does, its packets go
    before everything else on the machine. The exit code is 1 if requests are not accounted for, or an
    ordering of delays that the simulation of this machine has is clearly reversed in what was measured.

    \b
    Example:
      weir live steer --out steer.html
    """
    from weir.live import program
    from weir.live.steer import run, text
    from weir.reproduce.steer.runs import SEED

    spans = _span("--window", window, *_WINDOWS), _span("--service", service, *_SERVICES)
    path = _checked(repeat=repeat, out=out)
    program.find()
    with _progress(as_json) as progress:
        made = run.run(
            sorted(os.sched_getaffinity(0)),
            window=spans[0],
            service=spans[1],
            repeat=repeat,
            seed=SEED if seed is None else seed,
            keep=keep,
            told=progress,
        )
    code = _end(made, path, as_json, _steered, text.show)
    return INTERRUPTED if made.interrupted else code


def _steered(study: Study) -> str:
    """Return the report; the library of charts is loaded with it."""
    from weir.live.steer import page

    return page.html(study)


def epoch(
    file: ScenarioFile,
    settings: Settings = None,
    repeat: Repeat = 1,
    share: Annotated[
        bool, typer.Option("--share", help="Let nodes share processors; otherwise each has its own.")
    ] = False,
    real_time: Annotated[
        int | None,
        typer.Option(
            "--real-time",
            metavar="N",
            help="Run under SCHED_FIFO with this priority, 1 to 98; takes root, or CAP_SYS_NICE.",
        ),
    ] = None,
    out: Out = None,
    as_json: Json = False,
) -> int:
    """Run the programs of a node scenario for real, under its disciplines, and compare with the simulation.

    Each process becomes a task of weir-exec, and computes on a processor of this machine for as long as its
    program says. The simulation has the costs that were measured. Lasts stop.duration a discipline and run.
    The exit code is 1 if a response differs from the simulation by more than 10 % and 200 us.

    \b
    Example:
      weir live epoch control.toml --set stop.duration=10s
    """
    from weir.live import epoch as study
    from weir.live import epoch_page

    path = _asked(repeat=repeat, out=out)
    if real_time is not None and not 1 <= real_time <= _HIGHEST_PRIORITY:
        raise ConfigError(
            f"--real-time is {real_time}, must be from 1 to {_HIGHEST_PRIORITY}", "write `--real-time 50`"
        )
    chosen = scenario(file, settings)
    with _progress(as_json) as progress:
        made = study.run(chosen, repeat=repeat, pinned=not share, real_time=real_time, progress=progress)
    return _end(made, path, as_json, epoch_page.html, epoch_page.show)


def _span(option: str, text: str, least: str, most: str) -> int:
    """Return a time of an option in nanoseconds."""
    from weir.live.quantities import nanoseconds

    try:
        span = nanoseconds(text)
    except ValueError as error:
        raise ConfigError(f"{option} is {text!r:.40}: {error}", f"write `{option} {least}`") from None
    if not nanoseconds(least) <= span <= nanoseconds(most):
        raise ConfigError(f"{option} is {text}, must be from {least} to {most}", f"write `{option} {least}`")
    return span


def clean(as_json: Json = False) -> int:
    """Take down namespaces, processes and folders of runs whose process is gone.

    Nothing else is touched: the journals of the runs, in /run/weir/testbed, list what to undo.
    """
    from weir.live.namespaces import clean as cleaned

    left = cleaned()
    if as_json:
        echo_json([{"journal": str(each.journal), "namespaces": [*each.namespaces]} for each in left])
        return 0
    for each in left:
        typer.echo(f"{each.journal.stem}: {', '.join(each.namespaces) or 'no namespaces'}")
    if not left:
        typer.echo("nothing was left behind")
    return 0


def _checked(
    scale: int = 1, repeat: int = 1, together: int = 1, out: list[Path] | None = None
) -> Path | None:
    """Refuse options out of their bounds, and what could not be done here, before anything is simulated."""
    from weir.errors import UnsupportedError
    from weir.extras import need
    from weir.live.namespaces import why_not

    path = _asked(scale, repeat, together, out)
    if reason := why_not():
        raise UnsupportedError(reason, "run as root, on Linux, outside a container without privileges")
    need("live", "a measurement with packets")
    return path


def _asked(scale: int = 1, repeat: int = 1, together: int = 1, out: list[Path] | None = None) -> Path | None:
    """Refuse options out of their bounds; return where the report goes."""
    for name, value, most in (
        ("--scale", scale, _HIGHEST_SCALE),
        ("--repeat", repeat, _MOST_REPEATS),
        ("--together", together, _MOST_TOGETHER),
    ):
        if not 1 <= value <= most:
            raise ConfigError(
                f"{name} is {value}, must be from 1 to {most}", f"write `{name} {min(10, most)}`"
            )
    path = only(out)
    if path is not None:
        form_of(path, (".html", ".json"))
    return path


def _end(
    made: _M,
    path: Path | None,
    as_json: bool,
    html: Callable[[_M], str],
    show: Callable[[Console, _M], None],
) -> int:
    """Write the report where that is wanted, show what was measured, and return the exit code."""
    import json

    from weir.files import write_text
    from weir.results.terminal import console

    if path is not None and form_of(path, (".html", ".json")) == ".html":
        write_text(path, html(made))
    elif path is not None:
        write_text(path, json.dumps(made.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n")
    if as_json:
        echo_json(made.to_dict())
    else:
        show(console(), made)
    return 0 if made.ok else NOT_MET


@contextmanager
def _progress(as_json: bool) -> Iterator[Callable[[float], None] | None]:
    """Yield what shows progress on a terminal, and how long it still takes."""
    from weir.progress import span

    if as_json or not sys.stderr.isatty():
        yield None
        return

    began = time.monotonic()

    def show(share: float) -> None:
        rest = (time.monotonic() - began) * (1 - share) / share if share else 0.0
        left = f"  {span(rest)} left" if rest else ""
        sys.stderr.write(f"\rmeasuring: {share:4.0%}{left}".ljust(_PROGRESS))
        sys.stderr.flush()

    yield show
    sys.stderr.write("\r" + " " * _PROGRESS + "\r")
