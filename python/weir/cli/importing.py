"""Commands that make scenarios of what others have written: `weir import` with its kinds of files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weir.cli import complain
from weir.cli.plan import Capacity, HighCapacity, Lanes, Mtu
from weir.cli.shared import INTERRUPTED, STANDARD_INPUT, Json, OneOutFile, echo_json, given, is_streamed, only
from weir.errors import ConfigError
from weir.importing import pcap, perf, rtapp, tg
from weir.importing.targets import default_out
from weir.planning import opensm
from weir.text import plural

if TYPE_CHECKING:
    from weir.importing.pcap import Imported

__all__ = ["add_to"]

_app = typer.Typer(name="import", rich_markup_mode=None)


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    from weir.cli.import_exec import import_exec
    from weir.cli.import_log import import_log

    _app.command("exec", short_help="From a recording of weir-exec.")(import_exec)
    _app.command("log", short_help="From a log of a service: CSV, JSON lines, nginx, Apache, Envoy.")(
        import_log
    )
    app.add_typer(_app, short_help="Make a scenario of a script, a capture, options or tasks.")


@_app.callback()
def _group() -> None:
    """Make a scenario of what others have written.

    \b
    Example:
      weir import tg stream.tg --out scenario.toml
      weir import pcap uplink.pcapng --rate 10Mbit --out uplink
      weir import opensm opensm.conf --out request.toml
      weir import rtapp tasks.json --out node.toml
      weir import perf timehist.csv --out node
      weir import exec run.weirexec --out node
      weir import log access.log.gz --out replay
    """


@_app.command("tg", short_help="From a TG script.")
def import_tg(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The TG script.", show_default=False)],
    out: Annotated[
        OneOutFile,
        typer.Option(
            "--out",
            metavar="FILE",
            help="The scenario to write; an existing one is replaced. Default: standard output.",
        ),
    ] = None,
    rate: Annotated[str, typer.Option("--rate", metavar="RATE", help="Rate of the slow link.")] = tg.RATE,
    random: Annotated[
        str,
        typer.Option(
            "--random",
            metavar="MODE",
            help="Random numbers: `independent` draws from the scenario's seed, `compatible` as TG does, the "
            "same for every stream.",
        ),
    ] = tg.RANDOM[0],
    duration: Annotated[
        str | None,
        typer.Option("--duration", metavar="TIME", help="When the sending ends; default: with the script."),
    ] = None,
) -> None:
    """Make a scenario of a script in the TG traffic language.

    The stream crosses one router with a slow link behind it, under fifo and sfq. The scenario names the
    script and does not copy it.

    \b
    Example:
      weir import tg stream.tg --rate 1344kbit --out scenario.toml
    """
    if str(file) == STANDARD_INPUT:
        raise ConfigError(
            "FILE is `-`, and a scenario names its script", "save the script, and give the name of that file"
        )
    target = only(out)
    folder = Path() if target is None or is_streamed(target) else target.parent
    text = tg.scenario(file, folder=folder, rate=rate, random=random, duration=duration)
    if target is None:
        typer.echo(text, nl=False)
        return
    from weir.files import write_text

    write_text(target, text)
    typer.echo(f"wrote {target}")


LinkRate = Annotated[
    str | None,
    typer.Option("--rate", metavar="RATE", help="Rate of the link, such as 10Mbit. Default: a load of 80 %."),
]
Flows = Annotated[
    int,
    typer.Option("--flows", metavar="N", help="Replay the N largest flows on their own, the rest as one."),
]


@_app.command("pcap", short_help="From a packet capture, pcap or pcapng.")
def import_pcap(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="The capture; may be compressed by gzip. `-` reads standard input.",
            show_default=False,
        ),
    ],
    out: Annotated[
        OneOutFile,
        typer.Option(
            "--out",
            metavar="PATH",
            help="A folder for scenario.toml and packets.csv, or the scenario itself, NAME.toml; existing "
            "files are replaced. Default: a folder called as the capture, of standard input `capture`.",
        ),
    ] = None,
    rate: LinkRate = None,
    flows: Flows = pcap.FLOWS,
    keep_addresses: Annotated[
        bool, typer.Option("--keep-addresses", help="Write addresses and ports into the schedule too.")
    ] = False,
    as_json: Json = False,
) -> int:
    """Make a schedule and a scenario of a packet capture.

    The schedule has time, size, flow, direction, protocol and code point of each IP packet. The scenario
    replays what went in the direction of each flow's first packet over one link, and compares disciplines
    there. Files appear whole or not at all.

    \b
    Example:
      weir import pcap uplink.pcapng --rate 10Mbit --out uplink
    """
    from weir.progress import Progress

    piped = str(file) == STANDARD_INPUT
    target = only(out) or default_out(Path("capture") if piped else file)
    try:
        with Progress("bytes") as progress:
            imported = pcap.write(
                given(file), target, rate=rate, flows=flows, addresses=keep_addresses, progress=progress
            )
    except KeyboardInterrupt:
        complain("interrupted: nothing was written\n")
        return INTERRUPTED
    if as_json:
        echo_json(imported.to_dict())
    else:
        _show(imported)
    return 0


def _show(imported: Imported) -> None:
    """Say what the capture holds, what to know of it, and what was written."""
    facts = imported.facts
    span = f"{facts['span_ns'] / 1e9:,.6f}".rstrip("0").rstrip(".")
    counts = ", ".join(plural(facts[f"{noun}s"], noun) for noun in ("packet", "byte", "flow"))
    typer.echo(f"{facts['format']}: {counts}, {span} s")
    for note in imported.notes:
        typer.echo(f"note: {note}")
    for path in (imported.scenario, imported.schedule, imported.rest):
        if path is not None:
            typer.echo(f"wrote {path}")
    typer.echo(f"next: weir compare {imported.scenario}")


@_app.command("opensm", short_help="From an options file of OpenSM.")
def import_opensm(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="The options file; `-` reads standard input.", show_default=False
        ),
    ],
    out: Annotated[
        OneOutFile,
        typer.Option(
            "--out",
            metavar="FILE",
            help="The file to write; an existing one is replaced. Default: standard output.",
        ),
    ] = None,
    form: Annotated[
        str,
        typer.Option(
            "--as",
            metavar="FORM",
            help="`plan`: a request for `weir plan`; `scenario`: a scenario of the fabric with these tables.",
        ),
    ] = opensm.FORMS[0],
    prefix: Annotated[
        str | None,
        typer.Option(
            "--prefix",
            metavar="PREFIX",
            help=f"Of which ports: {', '.join(opensm.PREFIXES)}. Default: the first that the file sets.",
        ),
    ] = None,
    rate: Annotated[str, typer.Option("--rate", metavar="RATE", help="Rate of the links.")] = "10Gbit",
    coding: Annotated[
        str, typer.Option("--coding", metavar="CODING", help=f"Of the links: {', '.join(opensm.CODINGS)}.")
    ] = "8b/10b",
    mtu: Mtu = "2048B",
    capacity: Capacity = 8,
    high_capacity: HighCapacity = None,
    lanes: Lanes = 8,
) -> None:
    """Make a request for a plan, or a scenario, of the QoS options of OpenSM.

    What a port would be programmed with is taken, wrapped and cut as `weir lint` explains.

    \b
    Example:
      weir import opensm opensm.conf --capacity 8 --out request.toml
    """
    port = opensm.Port(mtu=mtu, capacity=capacity, high_capacity=high_capacity, lanes=lanes)
    target = only(out)
    text = opensm.convert(given(file), form, port=port, prefix=prefix, rate=rate, coding=coding)
    if target is None:
        typer.echo(text, nl=False)
        return
    from weir.files import write_text

    write_text(target, text)
    typer.echo(f"wrote {target}")


Epoch = Annotated[
    str, typer.Option("--epoch", metavar="TIME", help="What needs are measured over, such as 100ms.")
]


@_app.command("rtapp", short_help="From a task set of rt-app.")
def import_rtapp(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="The task set, JSON; `-` reads standard input.", show_default=False
        ),
    ],
    out: Annotated[
        OneOutFile,
        typer.Option(
            "--out",
            metavar="FILE",
            help="The scenario to write; an existing one is replaced. Default: standard output.",
        ),
    ] = None,
    epoch: Epoch = rtapp.EPOCH,
) -> None:
    """Make a scenario of the node of a task set of rt-app.

    Threads become processes with programs: run, sleep, timer, suspend and resume, wait, signal and broad. A
    need is the runtime in an epoch. What a node cannot do is refused, and what does not matter noted.

    \b
    Example:
      weir import rtapp tasks.json --epoch 100ms --out node.toml
    """
    target = only(out)
    imported = rtapp.scenario(given(file), epoch=epoch)
    if target is None:
        typer.echo(imported.text, nl=False)
        return
    from weir.files import write_text

    write_text(target, imported.text)
    for note in imported.notes:
        typer.echo(f"note: {note}")
    typer.echo(f"wrote {target}")


@_app.command("perf", short_help="From wake-ups and run times, as of perf sched.")
def import_perf(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="The CSV file; `-` reads standard input.", show_default=False),
    ],
    out: Annotated[
        OneOutFile,
        typer.Option(
            "--out",
            metavar="PATH",
            help="A folder for scenario.toml and a replay of each task, or the scenario itself, NAME.toml; "
            "existing files are replaced. Default: a folder called as the file, of standard input `tasks`.",
        ),
    ] = None,
    epoch: Epoch = rtapp.EPOCH,
    margin: Annotated[
        float,
        typer.Option(
            "--margin", metavar="PERCENT", help="By how much needs are above what was run on average."
        ),
    ] = perf.MARGIN,
    as_json: Json = False,
) -> None:
    """Make a scenario of the node of wake-ups and run times.

    Columns, by their names in the header: task, wake and run; or task, time, delay and run, as perf sched
    timehist prints them. Seconds, or the unit that a name ends in, as run_ms. Each task replays its wake-ups.

    \b
    Example:
      weir import perf timehist.csv --epoch 100ms --out node
    """
    target = only(out) or default_out(Path("tasks") if str(file) == STANDARD_INPUT else file)
    imported = perf.write(given(file), target, epoch=epoch, margin=margin)
    if as_json:
        echo_json(imported.to_dict())
        return
    typer.echo(f"{plural(imported.rows, 'row')} of {plural(len(imported.replays), 'task')}")
    for note in imported.notes:
        typer.echo(f"note: {note}")
    for path in (imported.scenario, *imported.replays):
        typer.echo(f"wrote {path}")
    typer.echo(f"next: weir compare {imported.scenario}")
