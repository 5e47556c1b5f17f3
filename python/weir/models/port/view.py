"""A port's result as it is shown: disciplines side by side, and the classes of messages under each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.models.port import tables
from weir.models.port.result import PortResult
from weir.models.port.verdict import gentler, price, ranking
from weir.results.page import by_discipline, note, section, table
from weir.results.terminal import print_titled
from weir.results.view import View
from weir.text import absent, number, percent, plural, quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console


_NO_STEADY_STATE = "found no steady state"
"""What the rule of the warm-up says where it is only the length of the pilot."""


class PortView(View[PortResult]):
    """What a port shows."""

    charts = "weir.models.port.figures:figures"

    def statements(self) -> Sequence[str | None]:
        """Return who has the lowest mean, what that costs, and who is nearly as good and gentler."""
        return ranking(self.result), price(self.result), gentler(self.result)

    def warnings(self) -> Sequence[str]:
        """Return what is to be known of all figures: no warm-up was found, or no steady state can be."""
        return [*self.result.notes, *(words for words in (self._warm_up(), self._burst()) if words)]

    def _warm_up(self) -> str | None:
        rule = str((self.result.document.get("warm_up") or {}).get("rule", ""))
        if _NO_STEADY_STATE not in rule:
            return None
        return (
            f"no warm-up was found: {rule.removeprefix('none: ')}. The queue may not have forgotten that it "
            "began empty, and then means are too low: run longer (stop.packets, stop.messages), or give "
            "stop.warm_up"
        )

    def _burst(self) -> str | None:
        load = self.result.load
        if self.result.unstable or load is None or load < 1:
            return None
        source = "curve" if self.result.notes else "trace"
        words = f"the {source} brings {percent(load)} of the work that the server can do in its time: "
        return f"{words}these are the figures of this burst, and a longer one has longer delays"

    def show(self, out: Console, *, compared: bool) -> None:
        """Show the classes of messages under each discipline; compared, mean, difference, tail and theory."""
        result = self.result
        if compared:
            print_titled(out, f"{result.title}: {result.metric}", tables.comparison_columns(result))
            return
        for name in result.disciplines:
            print_titled(out, f"{name}: {result.metric} by class", tables.class_columns(result, name))

    def facts(self) -> Sequence[str]:
        """Return how much was simulated, at which load."""
        result, in_packets = self.result, self.result.time_unit == "u"
        return [
            plural(len(result.disciplines), "discipline"),
            plural(result.messages, "message"),
            *([plural(result.ticks, "packet")] if in_packets else []),
            *([] if result.load is None else [f"load {percent(result.load)}"]),
            *(["times in u, mean packet services"] if in_packets else []),
        ]

    def sections(self, charts: Sequence[str]) -> Sequence[str]:
        """Return comparison, charts and classes."""
        result = self.result
        classes = by_discipline(result, lambda name: table(tables.class_columns(result, name)))
        return [
            section("The comparison", _comparison(result)),
            *charts,
            section("By class of message", classes if len(result.classes) > 1 else "", folded=True),
        ]

    def origin(self) -> dict[str, object]:
        """Return how long was simulated, and what was left over."""
        result = self.result
        time = result.duration
        return {
            "simulated time": absent("not recorded") if time is None else quantity(time, result.time_unit),
            "messages unfinished at the end": f"{result.unfinished:,}",
            "warm-up": (result.document.get("warm_up") or {}).get("rule", "none"),
        }


def _comparison(result: PortResult) -> str:
    words = "Means with 95 % confidence intervals."
    if len(result.disciplines) > 1:
        words += f" Differences to {result.reference} are paired: all saw the same arrivals and services."
    queue = result.estimate(None, metric="queue")
    if queue is not None and queue.value is not None:
        words += f" The queue holds {number(queue.value)} {queue.unit} on average, under each of them."
    return table(tables.comparison_columns(result)) + note(words)
