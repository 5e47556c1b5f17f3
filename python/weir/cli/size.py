"""The command that searches what meets a need: size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from weir.cli.shared import (
    INTERRUPTED,
    NOT_MET,
    Json,
    ScenarioFile,
    Seed,
    Settings,
    Threads,
    echo_json,
    given,
)

if TYPE_CHECKING:
    from weir.progress import Progress

__all__ = ["add_to"]

Vary = Annotated[
    str,
    typer.Option(
        "--vary",
        metavar="KEY=VALUES",
        help="What is varied: a key, and a range such as 1..64, 0.5..0.99 or 0.5..0.99:0.01 (both ends "
        "included), or values as of `weir sweep --over`, in the order of preference. The key `discipline` is "
        "a scenario's only one.",
        show_default=False,
    ),
]
Needed = Annotated[
    list[str] | None,
    typer.Option(
        "--need",
        metavar="NEED",
        help="What must hold, besides the `[[need]]` of the file: a figure and its bound, as `p99 response < "
        "200ms`, `loss of call < 0.1%` or `throughput of call > 5Mbit under sfq`. May be repeated.",
    ),
]
Monotonic = Annotated[
    str | None,
    typer.Option(
        "--monotonic",
        metavar="WAY",
        help="`better` if needs are met more easily as the value grows: the least is searched; `worse` if "
        "less easily: the highest; `no` for a race of all values. Default: what is known of the key.",
    ),
]
Confidence = Annotated[
    float,
    typer.Option("--confidence", metavar="P", help="Of all that is said, from 0.5 to below 1."),
]
Limit = Annotated[
    int,
    typer.Option(
        "--limit", metavar="N", help="How many times as much as its first run a value may take to be decided."
    ),
]


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("size", short_help="Search the value that meets a need.")(size)


def size(
    file: ScenarioFile,
    vary: Vary,
    need: Needed = None,
    settings: Settings = None,
    monotonic: Monotonic = None,
    confidence: Confidence = 0.95,
    limit: Limit = 64,
    seed: Seed = None,
    threads: Threads = None,
    as_json: Json = False,
) -> int:
    """Search the least, or the highest, value of something at which a scenario meets what is needed.

    Every value that is tried is a run that grows until its needs are met or missed beyond chance, all on the
    same arrivals. Where more of what is varied is known to help, or to hurt, the answer is found by
    bisection; elsewhere all values race, in the order given. With several disciplines there is an answer for
    each. All that is said is right with the stated probability. What cannot be decided is left as the values
    among which the answer is, with exit code 1. Ctrl-C shows what is known (exit code 130).

    \b
    Example:
      weir size api.toml --vary server.cores=1..64 --need 'p99 response < 200ms'
      weir size port.toml --vary workload.load=0.5..0.99 --need 'mean latency < 20u'
    """
    from weir.files import read_text
    from weir.settings import Setting
    from weir.sizing.run import sized
    from weir.sizing.terminal import show
    from weir.sizing.vary import read_vary

    text = read_text(given(file))
    with _progress(text, str(file)) as progress:
        result = sized(
            text,
            str(file),
            read_vary(vary),
            needs=need or (),
            settings=[Setting.read(each) for each in settings or ()],
            monotonic=monotonic,
            confidence=confidence,
            limit=limit,
            seed=seed,
            threads=threads,
            progress=progress,
        )
    if as_json:
        echo_json({**result.to_dict(), "verdict": result.verdict})
    else:
        show(result)
    if result.interrupted:
        return INTERRUPTED
    return 0 if result.ok else NOT_MET


def _progress(text: str, name: str) -> Progress:
    """Return the progress of all runs together: of how many there are nobody knows the end."""
    from weir.models import MODELS
    from weir.progress import Progress
    from weir.scenario import Scenario

    packets = MODELS[Scenario.from_toml(text, name).model].packets
    return Progress() if packets else Progress("simulated s", 1e9)
