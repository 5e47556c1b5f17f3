"""Commands about plans, of arbitration tables and of nodes, and about options of OpenSM: plan, lint."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weir.cli import complain
from weir.cli.shared import INTERRUPTED, NOT_MET, Json, OneOutFile, Threads, echo_json, only
from weir.errors import ConfigError
from weir.planning import opensm, request

if TYPE_CHECKING:
    from collections.abc import Mapping

    from weir.planning.check import Check
    from weir.planning.nodes import NodeCheck
    from weir.planning.request import Emission

__all__ = ["Capacity", "HighCapacity", "Lanes", "Mtu", "add_to"]

Mtu = Annotated[str, typer.Option("--mtu", metavar="SIZE", help="The largest packet.")]
Capacity = Annotated[
    int,
    typer.Option(
        "--capacity", metavar="N", help="Entries of the port's low table, and of its high one (VLArbLowCap)."
    ),
]
HighCapacity = Annotated[
    int | None,
    typer.Option("--high-capacity", metavar="N", help="Entries of the high table, where they differ."),
]
Lanes = Annotated[int, typer.Option("--lanes", metavar="N", help="Data lanes of the port: 1, 2, 4, 8 or 15.")]
_Target = Annotated[
    str | None,
    typer.Option(
        "--target",
        metavar="FORM",
        help=f"Also write the plan for a target: {', '.join(request.TARGETS)}; a placement: "
        f"{', '.join(request.NODE_TARGETS)}. Default: target.form of the request.",
    ),
]
_Written = Annotated[
    OneOutFile,
    typer.Option(
        "--out",
        metavar="FILE",
        help="Where to write it; an existing file is replaced. Default: standard output.",
    ),
]
_IsChecked = Annotated[
    bool,
    typer.Option(
        "--check",
        help="Also simulate the plan: each share and each bound under the scheduler of the target, each "
        "need under epoch scheduling.",
    ),
]
_Load = Annotated[
    float | None,
    typer.Option(
        "--load",
        metavar="SHARE",
        help="With --check of a table: the usual load, below 1. Default: 0.95.",
    ),
]
_CheckSeed = Annotated[
    int | None,
    typer.Option("--seed", metavar="N", help="With --check: the seed of all random streams. Default: 1."),
]
_DEFAULT = opensm.Port()
_FITTED = {"table": "class", "nodes": "process"}


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command("plan", short_help="Plan an arbitration table, or place processes on nodes.")(plan)
    app.command("lint", short_help="Check an options file of OpenSM.")(lint)


def plan(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="The request, a TOML file.", show_default=False)
    ],
    target: _Target = None,
    out: _Written = None,
    is_checked: _IsChecked = False,
    load: _Load = None,
    seed: _CheckSeed = None,
    threads: Threads = None,
    as_json: Json = False,
) -> int:
    """Plan an arbitration table, or place processes on nodes.

    A table: shares and latencies in, entries, weights and bounds out. Latencies are kept under the scheduler
    that the target has. Classes that do not fit are refused with the nearest request that does (exit code 1).
    With a target the plan is also written as the target takes it, with what the target cannot keep. With
    --check the plan is simulated; the exit code is 1 if a class has less than its share or waits longer than
    its bound.

    A placement, where the request has a table [nodes]: needs in, the node of each process out, with bounds of
    how few nodes suffice and how even they can be. The exit code is 1 if a process has no place, or with
    --check if a need is not met; with --target rebalance, if rebalancing never meets all of them.
    What would be missed under plain epoch scheduling is reported, and does not change the exit code.

    \b
    Example:
      weir plan request.toml --target opensm --out qos.conf
      weir plan request.toml --check
      weir plan nodes.toml --target scenario --out node.toml
    """
    place = only(out)
    _check_place(file, place)
    _check_options(is_checked, {"--load": load, "--seed": seed, "--threads": threads})
    planned = request.plan(file, target)
    _check_kind(planned, place, load)
    form = planned["form"]
    is_met = not planned["refused"]
    emission = request.emit(file, form) if form is not None and is_met else None
    found: Check | NodeCheck | None = None
    if is_checked and is_met:
        found = _checked(file, planned["kind"], form, load, seed, threads)
    if emission is not None and place is not None:
        from weir.files import write_text

        write_text(place, emission.text)
    if as_json:
        made = None if emission is None else {"form": form, "text": emission.text, "lost": emission.lost}
        document = {"plan": planned, "target": made}
        echo_json(document | {"check": found and found.to_dict()} if is_checked else document)
    else:
        _show(planned, form, emission, place)
        if is_checked:
            _show_check(found, planned["kind"])
    if found is not None and found.interrupted:
        return INTERRUPTED
    return 0 if is_met and (found is None or found.is_met) else NOT_MET


def _check_place(file: Path, place: Path | None) -> None:
    """Refuse to replace the request by what is written of it, under whatever name it goes."""
    if place is not None and place.exists() and file.exists() and place.samefile(file):
        raise ConfigError(f"--out is {place}, the request itself", "name another file")


def _check_options(is_checked: bool, options: Mapping[str, object]) -> None:
    for name, value in options.items():
        if value is not None and not is_checked:
            raise ConfigError(f"{name} is {value}, and nothing is simulated", "add `--check`")


def _check_kind(planned: Mapping[str, Any], place: Path | None, load: float | None) -> None:
    is_of_nodes = planned["kind"] == "nodes"
    if is_of_nodes and load is not None:
        raise ConfigError(f"--load is {load}, and a placement is checked without a load", "remove it")
    if place is not None and planned["form"] is None:
        example = "scenario" if is_of_nodes else "opensm"
        raise ConfigError(f"--out is {place}, and its form is not given", f"add `--target {example}`")


def _checked(
    file: Path, kind: str, target: str | None, load: float | None, seed: int | None, threads: int | None
) -> Check | NodeCheck:
    from weir.planning import check, nodes
    from weir.progress import Progress

    seed = 1 if seed is None else seed
    with Progress("simulated s", 1e9) as progress:
        if kind == "nodes":
            return nodes.check(file, target=target, seed=seed, threads=threads, progress=progress)
        return check.check(
            file,
            target=target,
            load=check.LOAD if load is None else load,
            seed=seed,
            threads=threads,
            progress=progress,
        )


def _show_check(found: Check | NodeCheck | None, kind: str) -> None:
    from weir.planning import nodes, nodes_terminal, terminal
    from weir.results.terminal import console

    if found is None:
        typer.echo(f"\nnot checked: not every {_FITTED[kind]} fits")
    elif found.interrupted:
        complain("interrupted: the check was not finished\n")
    elif isinstance(found, nodes.NodeCheck):
        nodes_terminal.show_check(console(), found)
    else:
        terminal.show_check(console(), found)


def _show(planned: dict[str, Any], form: str | None, emission: Emission | None, out: Path | None) -> None:
    from weir.planning import nodes_terminal, terminal
    from weir.results.terminal import console

    show = nodes_terminal.show_placement if planned["kind"] == "nodes" else terminal.show_plan
    show(console(), planned)
    if form is not None and emission is None:
        typer.echo(f"\nnot written for {form}: not every {_FITTED[planned['kind']]} fits")
    if emission is None:
        return
    typer.echo(f"\nwhat {form} does not keep of the plan:")
    for lost in emission.lost:
        typer.echo(f"- {lost}")
    typer.echo(f"\nwrote {out}" if out is not None else f"\n{emission.text}", nl=out is not None)


def lint(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The options file.", show_default=False)],
    mtu: Mtu = _DEFAULT.mtu,
    capacity: Capacity = _DEFAULT.capacity,
    high_capacity: HighCapacity = None,
    lanes: Lanes = _DEFAULT.lanes,
    as_json: Json = False,
) -> int:
    """Check the QoS options of an options file of OpenSM, as a port would be programmed with them.

    A finding says where, what, why and what to do. Errors: traffic stops, or the file does not do what it
    says. Warnings: shares or latencies are not what it says. With either of them the exit code is 1.

    \b
    Example:
      weir lint opensm.conf --mtu 4096B --capacity 8 --lanes 8
    """
    port = opensm.Port(mtu=mtu, capacity=capacity, high_capacity=high_capacity, lanes=lanes)
    findings = opensm.lint(file, port)
    if as_json:
        echo_json({"file": str(file), "port": port.to_dict(), "findings": findings})
    else:
        from weir.planning import terminal

        for finding in findings:
            for line in terminal.finding_lines(finding, str(file)):
                typer.echo(line)
        typer.echo(terminal.summary(findings))
    return NOT_MET if any(finding["severity"] != "note" for finding in findings) else 0
