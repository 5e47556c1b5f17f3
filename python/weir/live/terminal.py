"""Comparisons in the terminal: simulated, measured and their difference, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.results.tables import Column
from weir.results.terminal import print_table, say
from weir.text import number, plural, scale_for, share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from weir.live.comparison import Comparison, Row
    from weir.live.figures import Value

__all__ = ["clock_steps", "generator_columns", "ledger_columns", "row_columns", "show", "verdict"]

_SHOWN = (
    ("offer", "mean", 4),
    ("throughput", "mean", 0),
    ("delay", "mean", 0),
    ("delay", "p99", 2),
    ("loss", "mean", 1),
)


def verdict(comparison: Comparison) -> str:
    """Return what it comes to, in two sentences, and one more for each run whose delays are false."""
    lost = sum(each.unaccounted for each in comparison.ledgers)
    sent = sum(each.sent for each in comparison.ledgers)
    accounted = (
        f"All {sent:,} packets are accounted for"
        if not lost
        else f"Of {sent:,} packets {lost:,} are not accounted for"
    )
    late = [each for each in comparison.generators if not each.ok]
    faults = (
        "no generator was at fault"
        if not late
        else f"the generators were late or lost packets in {plural(len(late), 'flow')}, see below"
    )
    worst = _worst(comparison)
    return " ".join((worst, f"{accounted}; {faults}.", *_overruns(comparison), *clock_steps(comparison)))


def _overruns(comparison: Comparison) -> tuple[str, ...]:
    """Return a sentence where kernels missed packets, which then met no discipline."""
    overrun = [each for each in comparison.ledgers if each.is_overrun]
    if not overrun:
        return ()
    runs = f"{len(overrun)} of {plural(len(comparison.ledgers), 'run')}"
    most = max(each.missed_share for each in overrun)
    told = (
        f"In {runs} kernels missed packets before a router took them, up to {most:.1%} of those sent: this "
        f"machine is too slow for --scale {comparison.scale}, lower it."
    )
    return (told,)


def clock_steps(comparison: Comparison) -> tuple[str, ...]:
    """Return one sentence for each run in which somebody has set the wall clock."""
    return tuple(
        f"The wall clock was set by {each.clock_step * 1e3:+.3g} ms during run {each.run + 1} under "
        f"{comparison.labels[each.discipline]}: its delays are false, measure again."
        for each in comparison.ledgers
        if each.clock_step
    )


def _worst(comparison: Comparison) -> str:
    """Return the largest differences of throughput, in shares of the offer, and of the mean delay."""
    found: dict[str, tuple[float, Row]] = {}
    for row in comparison.rows:
        if (
            row.interval != "all"
            or row.difference.value is None
            or (row.metric, row.statistic)
            not in (
                ("throughput", "mean"),
                ("delay", "mean"),
            )
        ):
            continue
        of = row.simulated.value or 0.0
        if of:
            size = abs(row.difference.value) / of
            if size >= found.get(row.metric, (-1.0, row))[0]:
                found[row.metric] = (size, row)
    told = [
        f"{metric} differs by at most {share(size)} (flow {row.flow}, {comparison.labels[row.discipline]})"
        for metric, (size, row) in found.items()
    ]
    return f"Measured and simulated: {', '.join(told)}." if told else "Nothing can be compared."


def show(out: Console, comparison: Comparison) -> None:
    """Print a comparison."""
    say(out, f"{comparison.title}: measured with real packets", style="bold")
    say(out, verdict(comparison))
    say(
        out,
        f"scale {comparison.scale}, {plural(comparison.repeat, 'run')} a discipline, frames by "
        f"{' and '.join(comparison.means) or 'nothing'}; times and rates are those of the scenario",
    )
    for interval in comparison.intervals:
        columns = row_columns(comparison, interval)
        if columns[0].cells:
            out.print()
            say(out, "the whole run" if interval == "all" else f"sent in {interval}", style="bold")
            print_table(out, columns)
    out.print()
    say(out, "What became of the packets", style="bold")
    print_table(out, ledger_columns(comparison))
    out.print()
    say(out, "How late generators sent, in real time", style="bold")
    print_table(out, generator_columns(comparison))
    out.print()
    say(out, "How the testbed differs from the scenario", style="bold")
    for each in comparison.departures:
        say(out, f"- {each}")


def row_columns(comparison: Comparison, interval: str) -> list[Column]:
    """Return flows and disciplines x simulated, measured and difference of each figure, in one interval."""
    pairs = [
        (flow.name, name)
        for flow in comparison.flows
        for name in comparison.disciplines
        if comparison.row(name, flow.name, "offer", interval=interval)
    ]
    columns = [
        Column("flow", tuple(flow for flow, _ in pairs), numeric=False),
        Column("discipline", tuple(comparison.labels[name] for _, name in pairs), numeric=False),
    ]
    for metric, statistic, rank in _SHOWN:
        rows = [comparison.row(name, flow, metric, statistic, interval) for flow, name in pairs]
        columns += _columns(metric if statistic == "mean" else statistic, rows, rank)
    return columns


def _columns(title: str, rows: Sequence[Row | None], rank: int) -> list[Column]:
    known = [row for row in rows if row is not None]
    unit = known[0].unit if known else "1"
    values = [value.value for row in known for value in (row.simulated, row.measured)]
    scale = scale_for(values, unit)
    factor = 0.01 if unit == "1" else scale.factor
    header = "(%)" if unit == "1" else scale.header

    def cells(name: str, sign: str = "") -> tuple[str, ...]:
        return tuple("–" if row is None else _cell(getattr(row, name), factor, sign) for row in rows)

    return [
        Column(f"{title} {header}\nsimulated", cells("simulated"), rank),
        Column("\nmeasured", cells("measured"), rank),
        Column("\ndifference", cells("difference", "+"), rank + 1),
    ]


def _cell(value: Value, factor: float, sign: str = "") -> str:
    if value.value is None:
        return "–"
    scaled = value.value / factor
    before = (sign if scaled > 0 else "−" if scaled < 0 else "") if sign else ""
    text = f"{before}{number(abs(scaled) if sign else scaled, 4)}"
    return f"{text} ±{number(value.half / factor, 2)}" if value.low is not None else text


def ledger_columns(comparison: Comparison) -> list[Column]:
    """Return runs x what became of their packets."""
    rows = comparison.ledgers
    scale = scale_for([row.late_max for row in rows], "s")
    late = {
        name: tuple(number(getattr(row, name) / scale.factor, 3) for row in rows)
        for name in ("late_p999", "late_max")
    }
    return [
        Column("discipline", tuple(comparison.labels[row.discipline] for row in rows), numeric=False),
        Column("run", tuple(str(row.run + 1) for row in rows)),
        Column("sent", tuple(f"{row.sent:,}" for row in rows)),
        Column("received", tuple(f"{row.received:,}" for row in rows)),
        Column("dropped by routers", tuple(f"{sum(row.dropped.values()):,}" for row in rows)),
        Column("waiting", tuple(f"{row.waiting:,}" for row in rows), 3),
        Column("no room at the sink", tuple(f"{row.no_room:,}" for row in rows), 2),
        Column("missed by kernels", tuple(f"{row.missed:,}" for row in rows), 2),
        Column(f"routers late, 99.9 % {scale.header}", late["late_p999"], 2),
        Column(f"longest {scale.header}", late["late_max"], 2),
        Column("unaccounted", tuple(f"{row.unaccounted:,}" for row in rows)),
        Column("", tuple("!!" if row.unaccounted else "OK" for row in rows)),
    ]


def generator_columns(comparison: Comparison) -> list[Column]:
    """Return flows and runs x how late they were sent."""
    rows = comparison.generators
    scale = scale_for([row.late_p99 for row in rows], "s")

    def late(name: str) -> tuple[str, ...]:
        return tuple(number(getattr(row, name) / scale.factor, 3) for row in rows)

    return [
        Column("flow", tuple(row.flow for row in rows), numeric=False),
        Column("discipline", tuple(comparison.labels[row.discipline] for row in rows), numeric=False),
        Column("run", tuple(str(row.run + 1) for row in rows), 3),
        Column("sent", tuple(f"{row.sent:,}" for row in rows)),
        Column(f"median {scale.header}", late("late_p50")),
        Column(f"99 % {scale.header}", late("late_p99")),
        Column(f"longest {scale.header}", late("late_max"), 1),
        Column("refused by the kernel", tuple(f"{row.unsent:,}" for row in rows), 2),
        Column("out of order", tuple(f"{row.reordered:,}" for row in rows), 1),
        Column("", tuple("OK" if row.ok else "!!" for row in rows)),
    ]
