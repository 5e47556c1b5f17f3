"""A fabric's result as it is shown: channels under the disciplines, load by load, and where they saturate."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from weir.models.fabric import tables
from weir.models.fabric.result import FabricResult
from weir.models.fabric.verdict import latency, price, saturation, telling_load
from weir.results.page import by_discipline, details, headed, in_full, noted, section, table
from weir.results.tables import others
from weir.results.terminal import closed_forms, say, titled
from weir.results.view import View
from weir.text import plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from weir.results.tables import Column

_MOST_LOADS = 6
"""Loads shown one by one on a terminal; files have all."""
_INDENT = 4
_SATURATION = "The least load of the scenario at which less than 99 % of what a channel offers arrives."
_WORK = (
    "Entries of tables, or flows, that a decision examines, and reads of several of them at once; over all "
    "schedulers, loads and replications, warm-up included."
)


class FabricView(View[FabricResult]):
    """What a fabric shows."""

    charts = "weir.models.fabric.figures:figures"

    def statements(self) -> Sequence[str | None]:
        """Return who is best for which channel, which channel pays most, and where channels saturate."""
        return latency(self.result), price(self.result), saturation(self.result)

    def show(self, out: Console, *, compared: bool) -> None:
        """Show the channels at each load, compared with the improvements, then saturation and scheduling."""
        (_show_comparison if compared else _show_disciplines)(out, self.result)
        _end(out, self.result)

    def spec_lines(self, spec: str, width: int) -> Sequence[str]:
        """Return a spec in lines that end behind a comma, a slash or a space, the later ones indented."""
        lines = [""]
        for part in re.findall(r"[^,/ ]*[,/ ]?", spec):
            if len(lines[-1]) > _INDENT and len((lines[-1] + part).rstrip()) > width:
                lines.append(" " * _INDENT)
            lines[-1] += part
        return lines

    def size(self) -> Sequence[str]:
        """Return how many channels, end-points, switches and loads there were."""
        size = self.result.size
        return [
            plural(len(self.result.channels), "channel"),
            plural(size.hosts, "end-point"),
            f"{size.switches:,} {'switch' if size.switches == 1 else 'switches'}",
            plural(len(self.result.loads), "load"),
        ]

    def sections(self, charts: Sequence[str]) -> Sequence[str]:
        """Return comparison, charts, loads, disciplines, saturation, work and closed forms."""
        result = self.result
        work = table(tables.work_columns(result)) if result.totals else ""
        return [
            section("The comparison", _comparison(result)),
            *charts,
            section("Load by load", _loads(result), folded=True),
            section("Each discipline", _disciplines(result), folded=True),
            section("Saturation", noted(table(tables.saturation_columns(result)), _SATURATION), folded=True),
            section("Work of the schedulers", noted(work, _WORK), folded=True),
            section("Closed forms", table(tables.theory_columns(result)), folded=True),
        ]

    def origin(self) -> dict[str, object]:
        """Return how many links there are, and packets were."""
        totals = self.result.totals
        return {
            "links, one for each direction": f"{self.result.size.links:,}",
            "packets generated": f"{sum(row.generated for row in totals):,}",
            "packets delivered": f"{sum(row.delivered for row in totals):,}",
            "packets over links": f"{sum(row.traversals for row in totals):,}",
        }


def _improvement(result: FabricResult, name: str, word: str) -> str:
    reference = result.labels[result.reference]
    return f"{result.labels[name]}: improvement of the {word} latency over {reference} (%)"


# The terminal.


def _show_disciplines(out: Console, result: FabricResult) -> None:
    for name in result.disciplines:
        for load in _shown(result):
            groups = tables.discipline_groups(result, name, load)
            titled(out, f"{result.labels[name]} at load {load:g}", tables.channel_column(result), groups)


def _show_comparison(out: Console, result: FabricResult) -> None:
    first, against = tables.channel_column(result), ""
    for name in others(result):
        against = f"; improvement over {result.labels[result.reference]}"
        if len(result.loads) > 1:
            columns = tables.improvement_columns(result, name)
            titled(out, _improvement(result, name, "mean"), first, [[column] for column in columns])
    for load in _shown(result):
        title = f"load {load:g}: mean and max of the latency from the interface{against}"
        titled(out, title, first, tables.load_groups(result, load))


def _shown(result: FabricResult) -> list[float]:
    """Return the loads shown: all, or some from the lowest to the highest."""
    loads = sorted(result.loads)
    if len(loads) <= _MOST_LOADS:
        return loads
    return [loads[round(place * (len(loads) - 1) / (_MOST_LOADS - 1))] for place in range(_MOST_LOADS)]


def _end(out: Console, result: FabricResult) -> None:
    """Show saturation, the work of scheduling and closed forms that the simulation disagrees with."""
    missing = [f"{load:g}" for load in sorted(result.loads) if load not in _shown(result)]
    if missing:
        say(out, f"\nloads not shown: {', '.join(missing)}; --out FILE.html has all", style="dim")
    if any(row.load is not None for row in result.saturation):
        title = "least load at which less than 99 % of what is offered arrives"
        _apart(out, title, tables.saturation_columns(result))
    if result.totals:
        _apart(out, "entries or flows examined for a decision", tables.work_columns(result))
    if any(row.agrees is False for row in result.theory):
        closed_forms(out, tables.theory_columns(result))


def _apart(out: Console, title: str, columns: Sequence[Column]) -> None:
    """Show columns behind the first of them, in as many tables as it takes."""
    titled(out, title, columns[0], [[column] for column in columns[1:]])


# The page.


def _listed(result: FabricResult, groups: Sequence[Sequence[Column]]) -> str:
    """Return one table a group of columns."""
    return "".join(table([tables.channel_column(result), *group]) for group in groups)


def _comparison(result: FabricResult) -> str:
    load = telling_load(result)
    words = (
        f"At load {load:g}. Latency is from the entry into the buffer of the interface to the last byte at "
        "the other end; throughput is in per cent of what a link carries. 95 % confidence intervals over the "
        "replications."
    )
    if others(result):
        reference = result.labels[result.reference]
        words += f" Improvements over {reference} are paired: all saw the same traffic."
    groups = tables.load_groups(result, load)
    more = details("Maxima, messages and throughput", _listed(result, groups[1:]))
    return noted(_listed(result, groups[:1]), words, more + in_full(result, shown=False))


def _loads(result: FabricResult) -> str:
    if len(result.loads) == 1:
        return ""
    improved = [
        headed(_improvement(result, name, word), _listed(result, [columns]))
        for name in others(result)
        for statistic, word in (("mean", "mean"), ("max", "maximum"))
        if (columns := tables.improvement_columns(result, name, statistic))
    ]
    loads = {load: tables.load_groups(result, load) for load in sorted(result.loads)}
    each = (details(f"load {load:g}", _listed(result, groups)) for load, groups in loads.items())
    return "".join([*improved, *each])


def _disciplines(result: FabricResult) -> str:
    def at_each_load(name: str) -> str:
        loads = {load: tables.discipline_groups(result, name, load) for load in sorted(result.loads)}
        return "".join(headed(f"load {load:g}", _listed(result, groups)) for load, groups in loads.items())

    return by_discipline(result, at_each_load)
