"""The command on the highest load of a server: slo."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from weir.cli.shared import INTERRUPTED, Json, ScenarioFile, Seed, Settings, Threads, echo_json, scenario
from weir.errors import ConfigError
from weir.text import number, plural, share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weir.models.server.slo import LoadSearch, Probe
    from weir.results.tables import Column

__all__ = ["add_to"]

_PER_CENT = 100
_FINEST, _COARSEST = 0.01, 50.0


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("slo", short_help="Search the highest load within a bound.")(slo)


def slo(
    file: ScenarioFile,
    settings: Settings = None,
    bound: Annotated[
        float,
        typer.Option("--bound", metavar="X", help="The slowdown that is not to be exceeded, 1.001 or more."),
    ] = 10.0,
    quantile: Annotated[
        str, typer.Option("--quantile", metavar="Q", help="p50, p90, p99, p99.9 or p99.99 of the slowdown.")
    ] = "p99.9",
    class_: Annotated[
        str | None,
        typer.Option(
            "--class", metavar="NAME", help="A class, or `all` together. Default: each class by itself."
        ),
    ] = None,
    precision: Annotated[
        float, typer.Option("--precision", metavar="P", help="How precisely to find the load, in percent.")
    ] = 1.0,
    seed: Seed = None,
    threads: Threads = None,
    as_json: Json = False,
) -> int:
    """Search the highest load of a server at which the slowdown stays within a bound, for each discipline.

    Each load that is tried is a run of the scenario, with as many requests. Of all requests that are offered,
    no more than the quantile leaves out may be beyond the bound: slower, or dropped. It is met if the whole
    95 % interval of their share is within that. Ctrl-C ends the search (exit code 130).

    \b
    Example:
      weir slo server.toml --bound 10 --quantile p99.9
    """
    from weir.models.server.slo import highest_loads
    from weir.progress import Progress

    part = _part(precision)
    with Progress("simulated s", 1e9) as progress:
        try:
            found = highest_loads(
                scenario(file, settings),
                bound=bound,
                quantile=quantile,
                class_=class_,
                precision=part,
                seed=seed,
                threads=threads,
                progress=progress,
            )
        except ConfigError as error:
            if type(error) is ConfigError and error.key:  # an option, and not a key of the scenario
                error.message = f"--{error.message}"
            raise
    interrupted = any(each.interrupted for each in found)
    if as_json:
        echo_json([_plain(asdict(each)) for each in found])
    else:
        who = "each class" if class_ is None else f"{class_} requests" if class_ == "all" else class_
        _show(found, f"the highest load at which {quantile} of the slowdown of {who} is within {bound:g}")
    return INTERRUPTED if interrupted else 0


def _part(precision: float) -> float:
    """Return a precision as a part of 1."""
    if not _FINEST <= precision <= _COARSEST:
        raise ConfigError(
            f"--precision is {precision:g} %, must be from {_FINEST:g} % to {_COARSEST:g} %",
            "write one such as 1",
        )
    return precision / _PER_CENT


def _show(found: Sequence[LoadSearch], headline: str) -> None:
    from weir.results import terminal

    out = terminal.console()
    terminal.say(out, headline)
    terminal.print_table(out, _columns(found))
    if any(each.interrupted for each in found):
        unsearched = [each.discipline for each in found if not each.probes]
        rest = f"; not searched: {', '.join(unsearched)}" if unsearched else ""
        terminal.say(out, f"interrupted: what was searched by then{rest}")


def _plain(value: object) -> object:
    """Return nested rows with their keys as the engine names them."""
    if isinstance(value, dict):
        return {key.rstrip("_"): _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


def _columns(found: Sequence[LoadSearch]) -> list[Column]:
    from weir.results.tables import Column

    return [
        Column("discipline", tuple(each.discipline for each in found), numeric=False),
        Column("meets it at load", tuple(_load(each.met) for each in found)),
        Column("no more at load", tuple(_load(each.not_met) for each in found)),
        Column("beyond it then", tuple(_beyond(each.not_met) for each in found), rank=2),
        Column(f"{found[0].quantile} then", tuple(_value(each.not_met) for each in found), rank=3),
        Column("of class", tuple(_class(each) for each in found), rank=1, numeric=False),
        Column("tried", tuple(plural(each.probes, "load") for each in found), rank=3),
        Column(
            "",
            tuple(map(_ending, found)),
            rank=1,
            numeric=False,
        ),
    ]


def _ending(found: LoadSearch) -> str:
    """Return why a search ended without two loads as near as asked for, if it did."""
    if found.interrupted:
        return "broken off" if found.probes else "not searched"
    if not found.reached:
        return "undecided between: run more requests"
    if found.met is None:
        return f"none found from {found.from_:g} up"
    return "" if found.not_met else f"none found up to {found.to:g}"


def _load(probe: Probe | None) -> str:
    return "–" if probe is None else number(probe.load, 3)


def _beyond(probe: Probe | None) -> str:
    """Return the share of requests beyond the bound at a load, with its interval, and that of drops."""
    if probe is None or probe.beyond is None:
        return "–"
    dropped = f", {share(probe.dropped)} dropped" if probe.dropped else ""
    if probe.low is None or probe.high is None:
        return f"{share(probe.beyond)}{dropped}"
    return f"{share(probe.beyond)} ({share(probe.low)} to {share(probe.high)}){dropped}"


def _value(probe: Probe | None) -> str:
    """Return the quantile at a load."""
    if probe is None:
        return "–"
    return "dropped" if probe.value is None else number(probe.value)


def _class(found: LoadSearch) -> str:
    probe = found.not_met or found.met
    return "–" if probe is None else probe.class_
