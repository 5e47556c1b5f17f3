"""The SFQ experiments with real packets, as text and as one HTML file: published, simulated, measured."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from weir.live import page as pages
from weir.live.sfq import DELAY_SHARE, THROUGHPUT_POINTS
from weir.live.terminal import verdict
from weir.reproduce.engine.page import headline
from weir.reproduce.sfq.published import TABLES
from weir.results.page import details, note, page, section, table
from weir.results.tables import Column
from weir.results.terminal import print_table, say
from weir.text import plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from weir.live.sfq import Cell, Study

__all__ = ["columns", "html", "show"]

_TITLE = "The SFQ experiments with real packets"


def show(out: Console, study: Study) -> None:
    """Print the study."""
    say(out, _TITLE, style="bold")
    for line in study.verdicts():
        say(out, line)
    for number, title in (("throughput", "Throughput, % of 1.344 Mb/s"), ("delay", "Mean delay, s")):
        cells = [cell for cell in study.cells if cell.quantity == number]
        if cells:
            out.print()
            say(out, title, style="bold")
            print_table(out, columns(cells))
    for name, comparison in study.comparisons.items():
        out.print()
        say(out, f"{name}: {verdict(comparison)}")
    out.print()
    say(out, "How the testbed differs from the scenarios", style="bold")
    for each in next(iter(study.comparisons.values())).departures:
        say(out, f"- {each}")


def columns(cells: Sequence[Cell]) -> list[Column]:
    """Return cells of one quantity x published, simulated, measured and what differs."""
    digits = 2 if cells[0].quantity == "throughput" else 4

    def text(value: float | None, half: float | None = None, sign: str = "") -> str:
        if value is None:
            return "–"
        margin = "" if half is None else f" ±{half:.{digits}f}"
        return f"{value:{sign}.{digits}f}{margin}".replace("-", "−")

    marks = {True: "OK", False: "!!", None: ""}
    return [
        Column("T", tuple(str(cell.table) for cell in cells)),
        Column("run", tuple(cell.run for cell in cells), numeric=False),
        Column("stream", tuple(_stream(cell) for cell in cells), numeric=False),
        Column("sent (s)", tuple(f"{cell.start:g}–{cell.end:g}" for cell in cells), 2, numeric=False),
        Column("published", tuple(text(cell.published) + ("~" if cell.misprint else "") for cell in cells)),
        Column("simulated", tuple(text(cell.simulated.value, cell.simulated.half) for cell in cells)),
        Column("measured", tuple(text(cell.measured.value, cell.measured.half) for cell in cells)),
        Column("measured −\nsimulated", tuple(text(cell.difference.value, sign="+") for cell in cells)),
        Column("in %", tuple(_share(cell) for cell in cells), 1),
        Column(
            "measured −\npublished",
            tuple(
                text(None if cell.measured.value is None else cell.measured.value - cell.published, sign="+")
                for cell in cells
            ),
            3,
        ),
        Column("", tuple(marks[cell.met] for cell in cells)),
    ]


def _stream(cell: Cell) -> str:
    return cell.stream + ("" if cell.alone or cell.run.startswith("fifo") else " ‡")


def _share(cell: Cell) -> str:
    if cell.difference.value is None or not cell.simulated.value:
        return "–"
    return f"{cell.difference.value / cell.simulated.value:+.1%}".replace("-", "−")


def html(study: Study) -> str:
    """Return the report."""
    facts = (
        plural(len(study.comparisons), "scenario"),
        plural(len(study.ledgers), "run"),
        f"{sum(each.sent for each in study.ledgers):,} packets",
        f"scale {study.scale}",
    )
    head = headline("weir live sfq", _TITLE, " ".join(f"{line}." for line in study.verdicts()), facts)
    sections = [head, section("Published, simulated, measured", _tables(study))]
    for name, comparison in study.comparisons.items():
        inside = note(verdict(comparison)) + pages.parts(comparison)
        sections.append(section(f"{comparison.title} ({name})", details("All figures", inside)))
    return page(_TITLE, "".join(sections), {})


def _tables(study: Study) -> str:
    words = note(
        "Simulated and measured with 95 % intervals. OK and !! mark what is held against the simulation: SFQ "
        f"where no stream shares a queue, throughput within {THROUGHPUT_POINTS:g} points, delay within "
        f"{DELAY_SHARE:.0%}. ‡: the stream shares a queue; ~: known to be printed wrong in the report."
    )
    made = [words]
    for number in TABLES:
        listed = ""
        for quantity, title in (("throughput", "Throughput, % of 1.344 Mb/s"), ("delay", "Mean delay, s")):
            cells = [cell for cell in study.cells if (cell.table, cell.quantity) == (number, quantity)]
            if cells:
                listed += f"<h3>{escape(title)}</h3>\n{table(columns(cells)[1:])}"
        made.append(details(f"Table {number}", listed, shown=number in {1, 2, 11}))
    return "".join(made)
