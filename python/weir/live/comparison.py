"""A scenario simulated and measured: each flow in each interval, under each discipline, and what differs.

Next to the figures stands what they can be judged by: whether every packet is accounted for, what each router
dropped and why, how late the generators were, and in what the testbed differs from the scenario.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weir.errors import ConfigError
from weir.live import run as testbed
from weir.live.figures import FIGURES, Value, difference, longest_of, measured
from weir.live.planner import check, plan
from weir.models.network.result import NetworkResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from weir.live.run import Outcome
    from weir.scenario import Scenario

__all__ = ["Comparison", "Flow", "Generator", "Ledger", "Row", "compare", "simulated"]

_LATE = 0.001
"""Seconds of real time: a generator whose last percent of packets is later is at fault for delays."""
_MISSED = 0.001
"""Of the packets of a run, those that kernels may miss before the run says little."""


@dataclass(frozen=True, slots=True)
class Row:
    """One figure of a flow in an interval under a discipline."""

    discipline: str
    flow: str
    interval: str
    metric: str
    statistic: str
    unit: str
    simulated: Value
    measured: Value
    difference: Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Generator:
    """How well a flow was sent in one run; times are real ones, in seconds."""

    discipline: str
    run: int
    flow: str
    sent: int
    late_p50: float
    late_p99: float
    late_max: float
    unsent: int
    """Packets that the sender's kernel refused."""
    no_room: int
    """Packets that found no room in the socket of the host they were for."""
    reordered: int

    @property
    def ok(self) -> bool:
        """Whether nothing that was measured is the generator's own doing."""
        return self.late_p99 <= _LATE and not self.unsent and not self.no_room


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """What became of all packets of one run."""

    discipline: str
    run: int
    sent: int
    received: int
    dropped: dict[str, int]
    """By router, interface and reason."""
    waiting: int
    no_room: int
    missed: int
    """Frames that the kernel dropped before a router, or did not take from one."""
    late_p999: float
    """How long after they were due routers sent 99.9 % of the packets at most, in seconds of real time."""
    late_max: float
    """The same of all of them."""
    clock_step: float = 0.0
    """By how much somebody has set the wall clock meanwhile, in seconds of real time: delays are false."""

    @property
    def missed_share(self) -> float:
        """Which part of the packets sent the kernels missed."""
        return self.missed / self.sent if self.sent else 0.0

    @property
    def is_overrun(self) -> bool:
        """Whether kernels missed so much that the run says little about the disciplines."""
        return self.missed_share > _MISSED

    @property
    def unaccounted(self) -> int:
        """Packets of which nothing is known."""
        known = self.received + sum(self.dropped.values()) + self.waiting + self.no_room + self.missed
        return self.sent - known


@dataclass(frozen=True, slots=True)
class Flow:
    """A flow, with the times that are added to its measured delays, in seconds of the scenario."""

    name: str
    path: tuple[str, ...]
    added: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What was found out."""

    title: str
    file: str
    scale: int
    repeat: int
    disciplines: tuple[str, ...]
    labels: dict[str, str]
    flows: tuple[Flow, ...]
    intervals: dict[str, tuple[float, float]]
    rows: tuple[Row, ...]
    ledgers: tuple[Ledger, ...]
    generators: tuple[Generator, ...]
    means: tuple[str, ...]
    """By which means routers took frames."""
    departures: tuple[str, ...]
    scenario: str

    @property
    def ok(self) -> bool:
        """Whether packets are accounted for, hardly any missed, no generator at fault and no clock set."""
        faults = (each.unaccounted or each.clock_step or each.is_overrun for each in self.ledgers)
        return not any(faults) and all(each.ok for each in self.generators)

    def row(
        self, discipline: str, flow: str, metric: str, statistic: str = "mean", interval: str = "all"
    ) -> Row | None:
        """Return one figure, if there is one."""
        wanted = (discipline, flow, interval, metric, statistic)
        found = (
            row
            for row in self.rows
            if (row.discipline, row.flow, row.interval, row.metric, row.statistic) == wanted
        )
        return next(found, None)

    def to_dict(self) -> dict[str, Any]:
        """Return the whole as a JSON object."""
        made = asdict(self)
        ledgers = [
            {**each, "unaccounted": ledger.unaccounted}
            for each, ledger in zip(made["ledgers"], self.ledgers, strict=True)
        ]
        return {**made, "ledgers": ledgers, "ok": self.ok}


def simulated(scenario: Scenario, disciplines: Sequence[str] = ()) -> NetworkResult:
    """Simulate a scenario, under the given ones of its disciplines or others.

    Raises
    ------
    ConfigError
        If no testbed can be built of it, or a discipline is refused.
    """
    import weir

    check(scenario.normalised, scenario.name)
    narrowed = _narrowed(scenario, disciplines) if disciplines else scenario
    result = weir.run(narrowed)
    if not isinstance(result, NetworkResult):
        raise TypeError(result.model)
    if not result.flows_measured:
        message = "its flows have no figures of their own"
        raise ConfigError(message, "remove `flows = false` from `[measure]`", scenario.name)
    return result


def _narrowed(scenario: Scenario, disciplines: Sequence[str]) -> Scenario:
    import tomllib

    import weir
    from weir import toml

    document = tomllib.loads(scenario.text)
    chosen = {"disciplines": [*disciplines], "reference": disciplines[0]}
    return weir.Scenario.from_toml(toml.dumps({**document, **chosen}), scenario.name)


def compare(
    scenario: Scenario,
    *,
    scale: int = 1,
    repeat: int = 1,
    together: int = 1,
    disciplines: Sequence[str] = (),
    keep: Path | None = None,
    progress: Callable[[float], None] | None = None,
) -> Comparison:
    """Simulate and measure a scenario.

    Parameters
    ----------
    scenario : Scenario
        Of a network.
    scale : int
        Rates are multiplied, times divided by it.
    repeat : int
        How often each discipline is measured.
    together : int
        How many runs are measured at the same time, each in a testbed of its own.
    disciplines : sequence of str
        In place of the scenario's.
    keep : path, optional
        Where files of the runs stay.
    progress : callable, optional
        Called with the share of the measuring that is over.

    Raises
    ------
    ConfigError
        If no testbed can be built of the scenario.
    UnsupportedError
        If it cannot be built here.
    """
    result = simulated(scenario, disciplines)
    folder = Path(scenario.name).parent
    plans = {
        name: plan(scenario.normalised, result.flows, folder, discipline=name, scale=scale)
        for name in result.disciplines
    }
    queue = [each for _ in range(repeat) for each in plans.values()]
    outcomes: list[Outcome] = []
    for first in range(0, len(queue), together):
        batch = queue[first : first + together]

        def told(share: float, first: int = first, count: int = len(batch)) -> None:
            if progress is not None:
                progress((first + share * count) / len(queue))

        outcomes += testbed.run(batch, keep=keep, progress=told)
    return _compared(scenario, result, outcomes, scale, repeat)


def _compared(
    scenario: Scenario, result: NetworkResult, outcomes: Sequence[Outcome], scale: int, repeat: int
) -> Comparison:
    by_discipline = {
        name: [each for each in outcomes if each.plan.discipline == name] for name in result.disciplines
    }
    first = outcomes[0].plan
    numbered = [(place, each) for runs in by_discipline.values() for place, each in enumerate(runs)]
    return Comparison(
        title=result.title,
        file=scenario.name,
        scale=scale,
        repeat=repeat,
        disciplines=result.disciplines,
        labels=result.labels,
        flows=tuple(Flow(each.name, each.path, (each.before + each.after) / 1e9) for each in first.streams),
        intervals={row.name: (row.from_, row.to) for row in result.intervals},
        rows=tuple(row for name, runs in by_discipline.items() for row in _rows(result, name, runs)),
        ledgers=tuple(_ledger(place, each) for place, each in numbered),
        generators=tuple(row for place, each in numbered for row in _generators(place, each)),
        means=tuple(sorted({used["means"] for each in outcomes for _, used in _interfaces(each)})),
        departures=first.departures,
        scenario=str(result.document["scenario"]),
    )


def _rows(result: NetworkResult, discipline: str, runs: Sequence[Outcome]) -> list[Row]:
    made = []
    for interval in result.intervals:
        span = (interval.from_, interval.to)
        for place, flow in enumerate(result.flows):
            figures = measured(runs[0].plan, [each.packets for each in runs], place, span)
            if not figures["offer", "mean"].value:
                continue
            for metric, statistic, unit in FIGURES:
                found = result.estimate(
                    discipline, metric=metric, statistic=statistic, flow=flow.name, interval=interval.name
                )
                of_model = Value(None) if found is None else Value(found.value, found.low, found.high)
                of_packets = figures[metric, statistic]
                key = (discipline, flow.name, interval.name, metric, statistic, unit)
                made.append(Row(*key, of_model, of_packets, difference(of_packets, of_model)))
    return made


def _ledger(run: int, outcome: Outcome) -> Ledger:
    import numpy as np

    dropped: Counter[str] = Counter()
    waiting = missed = 0
    for router, interface in _interfaces(outcome):
        missed += sum(interface["kernel"].values())
        waiting += sum(each["waiting"]["packets"] for each in interface["classes"])
        for reasons in (interface["refused"], *(each["dropped"] for each in interface["classes"])):
            for reason, lost in reasons.items():
                dropped[f"{router}, {interface['name']}: {reason}"] += lost["packets"]
    return Ledger(
        discipline=outcome.plan.discipline,
        run=run,
        sent=sum(len(each.due) for each in outcome.packets),
        received=sum(int((~np.isnan(each.delay)).sum()) for each in outcome.packets),
        dropped=dict(dropped),
        waiting=waiting,
        no_room=sum(each.no_room for each in outcome.packets),
        missed=missed,
        late_p999=routers_late(outcome, 0.999),
        late_max=routers_late(outcome, 1.0),
        clock_step=outcome.clock_step / 1e9,
    )


def routers_late(outcome: Outcome, level: float) -> float:
    """Return what so large a share of the packets was not sent later than by the routers, in seconds."""
    return (longest_of((each["lateness"] for _, each in _interfaces(outcome)), level) or 0) / 1e9


def _interfaces(outcome: Outcome) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the interfaces of all routers, as they were at the end, each with its router."""
    for router, stats in outcome.routers.items():
        yield from ((router, interface) for interface in stats.get("interfaces", ()))


def _generators(run: int, outcome: Outcome) -> list[Generator]:
    import numpy as np

    def late(values: Any, level: float) -> float:  # noqa: ANN401 - an array
        return float(np.quantile(values, level)) / 1e9 if len(values) else 0.0

    return [
        Generator(
            discipline=outcome.plan.discipline,
            run=run,
            flow=stream.name,
            sent=len(each.due),
            late_p50=late(each.late, 0.5),
            late_p99=late(each.late, 0.99),
            late_max=late(each.late, 1.0),
            unsent=each.unsent,
            no_room=each.no_room,
            reordered=each.reordered,
        )
        for stream, each in zip(outcome.plan.streams, outcome.packets, strict=True)
    ]
