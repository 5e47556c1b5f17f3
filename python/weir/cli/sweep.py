"""The command on many scenarios made of one: sweep."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weir.cli import complain
from weir.cli.shared import INTERRUPTED, NOT_MET, Json, Seed, Settings, Threads, echo_json, given
from weir.errors import ConfigError
from weir.text import number, plural

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from weir.sweeping.plan import Plan
    from weir.sweeping.selection import Best, Frontier
    from weir.sweeping.table import SweepResult

__all__ = ["add_to"]

MERGE = "merge"


Arguments = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE",
        help="The scenario, a TOML file; or `merge` and the folders of shards.",
        show_default=False,
    ),
]
Over = Annotated[
    list[str] | None,
    typer.Option(
        "--over",
        metavar="KEY=VALUES",
        help="An axis: a key, and a range 0.5:0.95:0.05 (both ends included), a text with lists in "
        "braces as alpha:{1,3,10}, or a TOML list. The key `discipline` is a scenario's only one. May be "
        "repeated: all combinations are cells.",
    ),
]
Zipped = Annotated[
    list[str] | None,
    typer.Option("--zip", metavar="KEY,KEY", help="Axes that advance together. May be repeated."),
]
CellsFile = Annotated[
    Path | None,
    typer.Option("--cells", metavar="FILE.csv", help="Keys in the first line, a cell in each other."),
]
LeftOut = Annotated[
    list[str] | None,
    typer.Option(
        "--except",
        metavar="CONDITION",
        help="Leave out cells in which it holds, as workload.load > 0.9 and discipline == 'fifo'. May "
        "be repeated.",
    ),
]
Replications = Annotated[
    int | None,
    typer.Option(
        "--replications",
        metavar="N",
        min=1,
        help="Of each cell, each as long as one of the scenario's own. Default: as many as it has.",
    ),
]
Precision = Annotated[
    str | None,
    typer.Option(
        "--precision",
        metavar="P",
        help="Give cells twice as many replications, up to 64 times, until the interval of every mean "
        "time is at "
        "most this share of it, as 1%.",
    ),
]
BestIn = Annotated[
    list[str] | None,
    typer.Option(
        "--best",
        metavar="FIGURE",
        help="Name the best cell in a figure such as `p99 response`, `mean delay of call` or `most mean "
        "throughput`, and "
        "the cells that cannot be told from it. Given twice, the frontier of the two.",
    ),
]
Confidence = Annotated[
    float,
    typer.Option("--confidence", metavar="P", help="Of what is said of the best, from 0.5 to below 1."),
]
Folder = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="FOLDER",
        help="Where replications and the set are kept. Default: the scenario's name with .sweep, here.",
    ),
]
Shard = Annotated[
    str | None,
    typer.Option(
        "--shard", metavar="K/N", help="Play the K-th of N parts only; `weir sweep merge` joins them."
    ),
]
Alone = Annotated[
    bool,
    typer.Option("--alone", help="Ask no other process what it plays, as on a file system without locks."),
]
OnCluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="local|tcp://HOST:PORT",
        help="Let the workers of a Dask cluster play: one that is started here, or that of a scheduler.",
    ),
]


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("sweep", short_help="Simulate a scenario over ranges of its keys.")(sweep)


def sweep(
    arguments: Arguments,
    over: Over = None,
    zipped: Zipped = None,
    cells: CellsFile = None,
    left_out: LeftOut = None,
    settings: Settings = None,
    replications: Replications = None,
    precision: Precision = None,
    best: BestIn = None,
    confidence: Confidence = 0.95,
    out: Folder = None,
    shard: Shard = None,
    alone: Alone = False,
    cluster: OnCluster = None,
    seed: Seed = None,
    threads: Threads = None,
    as_json: Json = False,
) -> int:
    """Simulate a scenario over ranges of its keys, and keep every replication.

    What was finished is not played again: a sweep that was broken off goes on where it stood, more
    replications or a tighter precision extend what is there, and a changed axis keeps the cells that stand.
    Several processes may work in one folder. The figures of all cells are written to sweep.parquet there.
    In each replication all cells see the same arrivals, so that cells are compared replication by
    replication.

    \b
    Example:
      weir sweep scenario.toml --over workload.load=0.5:0.95:0.05 --over 'discipline=alpha:{1,3,10,30}'
      weir sweep scenario.toml --over 'server.cores={8,16,32}' --best 'p99 response'
    """
    from weir.sweeping.run import merge

    if arguments[0] == MERGE and len(arguments) > 1:
        if out is None:
            raise ConfigError(
                "sweep merge has no --out", "name the folder in which to put the shards together"
            )
        result = merge([Path(each) for each in arguments[1:]], out, threads=threads, warn=_warn)
        return (
            _interrupted(result) if result.interrupted else _finish(result, best, confidence, as_json=as_json)
        )
    if len(arguments) > 1:
        raise ConfigError(
            f"sweep takes one FILE, not {len(arguments)}", "give values of its keys with `--over`"
        )
    file = Path(arguments[0])
    plan = _plan(file, over, zipped, cells, left_out, settings, replications, precision, seed)
    folder = out or Path(f"{file.stem}.sweep")
    return _run(plan, folder, best, confidence, shard, alone, cluster, threads, as_json=as_json)


def _plan(
    file: Path,
    over: Sequence[str] | None,
    zipped: Sequence[str] | None,
    cells: Path | None,
    left_out: Sequence[str] | None,
    settings: Sequence[str] | None,
    replications: int | None,
    precision: str | None,
    seed: int | None,
) -> Plan:
    """Return the cells that are asked for."""
    from weir import axes
    from weir.files import read_text
    from weir.settings import Setting
    from weir.sweeping.plan import Asked, make_plan, share_of

    asked = Asked(
        tuple(axes.read_axis(each) for each in over or ()),
        tuple(tuple(part.strip() for part in each.split(",")) for each in zipped or ()),
        None if cells is None else axes.csv_group(read_text(cells), str(cells)),
        tuple(left_out or ()),
        replications,
        None if precision is None else share_of(precision, "--precision"),
    )
    text = read_text(given(file))
    return make_plan(text, str(file), [Setting.read(each) for each in settings or ()], asked, seed)


def _run(
    plan: Plan,
    folder: Path,
    best: Sequence[str] | None,
    confidence: float,
    shard: str | None,
    alone: bool,
    cluster: str | None,
    threads: int | None,
    *,
    as_json: bool,
) -> int:
    from weir.sweeping.run import swept

    part = None if shard is None else _shard(shard)
    with _progress(plan) as progress:
        result = swept(
            plan, folder,
            threads=threads, alone=alone, shard=part, cluster=cluster, progress=progress, warn=_warn,
        )  # fmt: skip
    if result.interrupted:
        return _interrupted(result)
    if part is not None:
        if as_json:
            echo_json({"folder": str(folder), "shard": shard, **_state(result)})
        else:
            complain(f"shard {shard} is kept in {folder}: `weir sweep merge` puts the shards together\n")
        return 0
    return _finish(result, best, confidence, as_json=as_json)


def _interrupted(result: SweepResult) -> int:
    """Say what is kept of a sweep that was broken off; return the exit code."""
    state = result.state
    count = plural(state["kept"] + state["played"] + state["elsewhere"], "replication")
    complain(f"interrupted: {count} are kept in {result.folder}; the same command goes on from there\n")
    return INTERRUPTED


def _shard(written: str) -> tuple[int, int]:
    """Return the number of a shard and how many there are."""
    own, slash, all_ = written.partition("/")
    if slash and own.isdecimal() and all_.isdecimal() and 1 <= int(own) <= int(all_):
        return int(own), int(all_)
    raise ConfigError(
        f"--shard is {written!r}, must be a number from 1 and how many there are", "write `--shard 3/100`"
    )


def _warn(text: str) -> None:
    complain(f"warning: {text}\n")


class _Shown:
    """Progress of a sweep: cells, replications, rate, time left and the widest interval so far."""

    def __init__(self, cells: int) -> None:
        from weir.progress import Progress

        self._cells = cells
        self._line = Progress("cells")

    def __enter__(self) -> Callable[[dict[str, Any]], None]:
        self._line.__enter__()
        return self._show

    def __exit__(self, *error: object) -> None:
        self._line.__exit__(*error)

    def _show(self, state: dict[str, Any]) -> None:
        widest = state["widest"]
        note = f"widest ±{number(100 * widest[0], 2)} %" if widest else ""
        done = state["kept"] + state["played"] + state["elsewhere"]
        parts = [f"{plural(done, 'replication')}", note]
        self._line({"done": state["cells"], "total": self._cells, "note": "  ".join(filter(None, parts))})


def _progress(plan: Plan) -> _Shown:
    return _Shown(len(plan.cells))


def _state(result: SweepResult) -> dict[str, Any]:
    return {
        "cells": len(result.plan.cells),
        "kept": result.state["kept"],
        "played": result.state["played"] + result.state["elsewhere"],
        "failed": result.state["failed"],
        "widest": result.widest,
    }


def _finish(result: SweepResult, best: Sequence[str] | None, confidence: float, *, as_json: bool) -> int:
    """Show a sweep; return the exit code."""
    asked = [_direction(each) for each in best or ()]
    from weir.sweeping.terminal import show

    selected: Best | Frontier | None = None
    if len(asked) == 1:
        selected = result.best(asked[0][0], most=asked[0][1], confidence=confidence)
    elif len(asked) == 2:
        most = (asked[0][1], asked[1][1])
        selected = result.frontier(asked[0][0], asked[1][0], most=most, confidence=confidence)
    elif asked:
        raise ConfigError(
            f"--best is given {len(asked)} times, may be given once or twice", "name fewer figures"
        )
    reasons = result.reasons()
    if as_json:
        echo_json(_document(result, selected, reasons))
    else:
        show(result, selected)
    precise = result.plan.precision is None or result.widest is None or result.widest <= result.plan.precision
    return 0 if precise else NOT_MET


def _direction(written: str) -> tuple[str, bool]:
    """Return a figure, and whether more of it is better."""
    first, _, rest = written.strip().partition(" ")
    return (rest, True) if first == "most" else (rest, False) if first == "least" else (written, False)


def _document(
    result: SweepResult, selected: Best | Frontier | None, reasons: dict[int, str]
) -> dict[str, Any]:
    from weir.sweeping.needs import judged
    from weir.sweeping.run import SET

    document = {"folder": str(result.folder), "set": str(result.folder / SET), **_state(result)}
    needs, found = judged(result)
    if needs:
        document["needs"] = [asdict(each) for each in needs]
        document["judged"] = [asdict(each) for each in found]
    document["axes"] = list(result.plan.keys)
    document["values"] = list(result.plan.cells)
    document["reasons"] = [{"cell": cell, "reason": reason} for cell, reason in reasons.items()]
    if selected is not None:
        document["frontier" if hasattr(selected, "figures") else "best"] = asdict(selected)
    return document
