"""Commands on what was measured elsewhere: overhead."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weir.cli.shared import Json, echo_json
from weir.text import number, plural, value_with_margin

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weir.overhead import Counters, Duration, Overhead
    from weir.results.tables import Column

__all__ = ["add_to"]

_MICRO = 1e-6
_NANO = 1e-9


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command("overhead", short_help="Estimate what a scheduling costs.")(overhead)


def overhead(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Counters of a process, a CSV file with one row a setting: run_time (s/s), messages (1/s), "
            "schedulings (1/s); their standard errors, where known: run_time_error, messages_error, "
            "schedulings_error.",
            show_default=False,
        ),
    ],
    message_time: Annotated[
        str | None,
        typer.Option(
            "--message-time",
            metavar="TIME",
            help="The time of a message, if it is known, such as 552.2us. Default: estimated too.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Estimate from the counters of a process what a message and each scheduling cost.

    The process is watched at two settings or more that differ in how often it is scheduled for each message,
    such as two lengths of its slice. Intervals are at 95 %.

    \b
    Example:
      weir overhead counters.csv
      weir overhead counters.csv --message-time 552.2us
    """
    from weir.overhead import estimate_overhead, read, seconds

    known = None if message_time is None else seconds(message_time)
    settings = read(file)
    found = estimate_overhead(settings, known)
    if as_json:
        echo_json(found.to_dict())
        return
    from weir.results import terminal

    out = terminal.console()
    for line in _facts(found, is_known=known is not None):
        terminal.say(out, line)
    out.print()
    terminal.print_table(out, _columns(settings, found))


def _micros(span: Duration | None) -> str:
    if span is None:
        return "-"
    low, high = (None if end is None else end / _MICRO for end in (span.low, span.high))
    return value_with_margin(span.value / _MICRO, low, high)


def _facts(found: Overhead, *, is_known: bool) -> Iterator[str]:
    yield f"overhead of a scheduling: {_micros(found.overhead)} µs"
    yield f"time of a message:        {_micros(found.message_time)} µs{' (given)' if is_known else ''}"
    if found.correlation is not None and not is_known:
        yield f"correlation of both:      {number(found.correlation, 2)}"
    if found.misfit is not None:
        words = "about 1 where the given errors explain it"
        yield f"misfit:                   {number(found.misfit, 2)} ({words})"
    if found.method is not None:
        yield f"intervals:                95 %, from {found.method}, {plural(len(found.settings), 'setting')}"
    else:
        yield f"intervals:                none, since {found.reason}"


def _left_over(residual: float) -> str:
    """Return what is left over in microseconds a second; less than a nanosecond is rounding."""
    return number(residual / _MICRO, 3) if abs(residual) >= _NANO else "0"


def _columns(settings: Sequence[Counters], found: Overhead) -> list[Column]:
    from weir.results.tables import Column

    def sensitivity(value: float | None) -> str:
        return "-" if value is None else number(value, 3)

    return [
        Column("setting", tuple(str(place) for place, _ in enumerate(settings, 1))),
        Column("run time\n(ms/s)", tuple(number(row.run_time * 1e3) for row in settings)),
        Column("messages\n(1/s)", tuple(number(row.messages) for row in settings)),
        Column("schedulings\n(1/s)", tuple(number(row.schedulings) for row in settings)),
        Column("overhead\n(µs)", tuple(_micros(row.overhead) for row in found.settings)),
        Column(
            "for 1 µs more\na message (µs)",
            tuple(sensitivity(row.sensitivity) for row in found.settings),
            rank=1,
        ),
        Column("left over\n(µs/s)", tuple(_left_over(row.residual) for row in found.settings), rank=2),
    ]
