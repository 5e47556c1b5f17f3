"""A port's result as it is shown: disciplines beside each other, and the classes of messages under each."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from weir.models.port import tables
from weir.models.port.result import PortResult
from weir.models.port.verdict import ranking
from weir.results.page import details, section, table
from weir.results.terminal import print_table, say
from weir.results.verdict import verdict
from weir.results.view import View
from weir.text import absent, number, percent, plural, quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from weir.results.style import Figure

__all__ = ["PortView"]


class PortView(View[PortResult]):
    """What a port shows."""

    capitals = False

    def statements(self) -> Sequence[str | None]:
        """Return who has the lowest mean, unless nothing is steady."""
        return () if self.result.unstable else (ranking(self.result),)

    def show_run(self, out: Console) -> None:
        """Show the classes of messages under each discipline."""
        result = self.result
        say(out, verdict(result))
        for name in result.disciplines:
            say(out, f"\n{name}: {result.metric} by class", style="bold")
            print_table(out, tables.class_columns(result, name))

    def show_comparison(self, out: Console) -> None:
        """Show mean, difference, tail and closed form of the disciplines."""
        result = self.result
        say(out, verdict(result))
        say(out, f"\n{result.title}: {result.metric}", style="bold")
        print_table(out, tables.comparison_columns(result))

    def facts(self) -> Sequence[str]:
        """Return how much was simulated, at which load."""
        result, document = self.result, self.result.document
        facts = [
            plural(len(result.disciplines), "discipline"),
            plural(int(document.get("messages", 0)), "message"),
        ]
        if result.time_unit == "u":
            facts.append(plural(int(document["ticks"]), "packet"))
        if result.load is not None:
            facts.append(f"load {percent(result.load)}")
        if result.time_unit == "u":
            facts.append("times in u, mean packet services")
        return facts

    def figures(self) -> Sequence[Figure]:
        """Return distributions, means by length, trade-offs, and the simulation beside theory."""
        from weir.models.port.figures import figures

        return figures(self.result)

    def sections(self, charts: Sequence[str]) -> Sequence[str]:
        """Return comparison, charts and classes."""
        return [
            section("The comparison", _comparison(self.result)),
            *charts,
            section("By class of message", _classes(self.result)),
        ]

    def origin(self) -> dict[str, object]:
        """Return how long was simulated, and what was left over."""
        document = self.result.document
        duration = document.get("duration")
        return {
            "simulated time": absent("not recorded")
            if duration is None
            else quantity(duration, self.result.time_unit),
            "messages unfinished at the end": f"{document.get('unfinished', 0):,}",
            "warm-up": (document.get("warm_up") or {}).get("rule", "none"),
        }


def _comparison(result: PortResult) -> str:
    words = "Means with 95 % confidence intervals."
    if len(result.disciplines) > 1:
        words += f" Differences to {result.reference} are paired: all saw the same arrivals and services."
    listed = table(tables.comparison_columns(result))
    return f'{listed}<p class="note">{escape(words)}{_queue(result)}</p>\n'


def _queue(result: PortResult) -> str:
    row = result.estimate(None, metric="queue")
    if row is None or row.value is None:
        return ""
    return escape(f" The queue holds {number(row.value)} {row.unit} on average, under each of them.")


def _classes(result: PortResult) -> str:
    if len(result.classes) < 2:
        return ""
    return "".join(details(name, table(tables.class_columns(result, name))) for name in result.disciplines)
