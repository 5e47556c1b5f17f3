"""The four SFQ experiments with real packets: published, simulated and measured for the same cells.

Source: *A Report on Stochastic Fairness Queueing (SFQ) Experiments*, SRI, March 1993, Tables 1 to 11, as
read by `weir.reproduce.sfq`. Of each experiment those disciplines are run that stand in the tables; what
was perturbed is run with the maps that its delays show.

The measured cells where streams have queues of their own are held against the simulation: throughput within
3 points of 1.344 Mb/s, delay within 15 %.

Units: throughput in per cent of 1.344 Mb/s, delay in seconds.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from weir.errors import ConfigError
from weir.live.comparison import compare
from weir.live.figures import Value
from weir.live.terminal import clock_steps
from weir.reproduce.sfq import published, runs
from weir.reproduce.sfq.cells import collides
from weir.reproduce.sfq.runs import EXPERIMENTS, RUNS, Measured, Plan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from weir.live.comparison import Comparison, Ledger
    from weir.reproduce.sfq.published import Row

__all__ = ["DELAY_SHARE", "KINDS", "THROUGHPUT_POINTS", "Cell", "Study", "parts", "run"]

THROUGHPUT_POINTS = 3.0
"""Points of per cent by which a measured throughput may differ from the simulated one."""
DELAY_SHARE = 0.15
"""Share of the simulated delay by which the measured one may differ."""
KINDS = ("fifo", "sfq", "frozen")
"""What `--disciplines` takes: FIFO, SFQ with the same map everywhere, SFQ with the maps of sfq41."""
_REPLICATIONS = 8
_POINT = 100 / published.CAPACITY


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One scenario of the study, and the runs of the report that it stands for."""

    experiment: str
    scenario: str
    name: str
    disciplines: tuple[str, ...]
    labels: dict[str, str]
    """The discipline of each run, by the report's label."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One quantity of one row of a table: published, simulated, measured."""

    table: int
    run: str
    stream: str
    start: float
    end: float
    quantity: str
    alone: bool
    """Whether the stream has a queue of its own under SFQ."""
    misprint: bool
    published: float
    simulated: Value
    measured: Value
    difference: Value
    tolerance: float | None
    """How far measured may lie from simulated; of collision-free SFQ alone."""

    @property
    def met(self) -> bool | None:
        """Whether it is within the tolerance; None where there is none."""
        if self.tolerance is None or self.difference.value is None:
            return None
        return abs(self.difference.value) <= self.tolerance


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """What was found out."""

    scale: int
    repeat: int
    cells: tuple[Cell, ...]
    comparisons: dict[str, Comparison]
    """By experiment; ``degrade, frozen`` is that with the maps of sfq41."""

    @property
    def ledgers(self) -> list[Ledger]:
        """What became of the packets of all runs."""
        return [each for part in self.comparisons.values() for each in part.ledgers]

    @property
    def checked(self) -> tuple[Cell, ...]:
        """The cells that are held against the simulation."""
        return tuple(cell for cell in self.cells if cell.met is not None)

    @property
    def ok(self) -> bool:
        """Whether all of them are met, every packet is accounted for, and nobody has set the clock."""
        accounted = all(not each.unaccounted and not each.clock_step for each in self.ledgers)
        return accounted and bool(self.checked) and all(cell.met for cell in self.checked)

    def verdicts(self) -> tuple[str, ...]:
        """Return one line for throughput, delay, packets, generators, routers, and each step of the clock."""
        made = [_line(self.checked, quantity) for quantity in published.QUANTITIES]
        ledgers = self.ledgers
        sent, lost = sum(each.sent for each in ledgers), sum(each.unaccounted for each in ledgers)
        made.append(f"{'MET' if not lost else 'NOT MET'}: of {sent:,} packets {lost:,} are not accounted for")
        generators = [each for part in self.comparisons.values() for each in part.generators]
        late = [each for each in generators if not each.ok]
        worst = max((each.late_p99 for each in generators), default=0.0)
        made.append(
            f"generators: 99 % of the packets at most {worst * 1e3:.2f} ms late in the worst flow, "
            f"{len(late)} of {len(generators)} flows at fault"
        )
        usual = max((each.late_p999 for each in ledgers), default=0.0)
        longest = max((each.late_max for each in ledgers), default=0.0)
        made.append(
            f"routers: 99.9 % of the packets at most {usual * 1e3:.2f} ms late in the worst run, all at most "
            f"{longest * 1e3:.2f} ms; on the clock of the experiment {self.scale} times that"
        )
        steps = [line for part in self.comparisons.values() for line in clock_steps(part)]
        return (*made, *(f"NOT MET: {line[0].lower()}{line[1:]}" for line in steps))

    def to_dict(self) -> dict[str, Any]:
        """Return the whole as a JSON object."""
        return {
            "study": "sfq",
            "scale": self.scale,
            "repeat": self.repeat,
            "ok": self.ok,
            "verdicts": [*self.verdicts()],
            "cells": [{**asdict(cell), "met": cell.met} for cell in self.cells],
            "comparisons": {name: each.to_dict() for name, each in self.comparisons.items()},
        }


def _line(cells: Sequence[Cell], quantity: str) -> str:
    mine = [cell for cell in cells if cell.quantity == quantity]
    met = [cell for cell in mine if cell.met]
    bar = f"{THROUGHPUT_POINTS:g} points" if quantity == "throughput" else f"{DELAY_SHARE:.0%}"
    if not mine:
        return f"NOT CHECKED: {quantity} of collision-free SFQ within {bar} of the simulation: not measured"
    worst = max(mine, key=lambda cell: abs(cell.difference.value or 0.0) / (cell.tolerance or 1.0))
    size = abs(worst.difference.value or 0.0)
    told = f"{size:.2f} points" if quantity == "throughput" else f"{size / (worst.simulated.value or 1):.1%}"
    state = "MET" if len(met) == len(mine) else "NOT MET"
    return (
        f"{state}: {quantity} of collision-free SFQ within {bar} of the simulation in {len(met)} of "
        f"{len(mine)} cells; at most {told}, {worst.stream} in {worst.run}, {worst.start:g} to "
        f"{worst.end:g} s"
    )


def parts(experiments: Sequence[str] = (), kinds: Sequence[str] = ()) -> list[Part]:
    """Return what is to be run.

    Parameters
    ----------
    experiments : sequence of str
        Names such as ``fair``; all of them if there is none.
    kinds : sequence of str
        Of `KINDS`; all of them if there is none.

    Raises
    ------
    ConfigError
        If there is no such experiment or kind.
    """
    _check(experiments, EXPERIMENTS, "--experiment")
    _check(kinds, KINDS, "--disciplines")
    made = []
    for name in experiments or EXPERIMENTS:
        for measured in (Measured.COMPARED, Measured.FROZEN):
            part = _part(name, measured, kinds or KINDS)
            if part is not None:
                made.append(part)
    return made


def _check(given: Sequence[str], known: Sequence[str] | dict[str, Any], option: str) -> None:
    for each in given:
        if each not in known:
            raise ConfigError(f"{option} is {each}, must be one of {', '.join(known)}", "name one of them")


def _part(experiment: str, measured: Measured, kinds: Sequence[str]) -> Part | None:
    frozen = measured == Measured.FROZEN
    found = {
        label: reading.role
        for label, reading in RUNS.items()
        if reading.experiment == experiment and (reading.role == runs.FROZEN) == frozen
    }
    kept = {label: role for label, role in found.items() if _kind(role) in kinds}
    if not kept:
        return None
    plan = Plan(experiment=experiment, measured=measured, replications=_REPLICATIONS, seed=runs.SEED)
    text, name = runs.scenario(plan), str(published.folder() / f"{experiment}.toml")
    specs = _disciplines(text, name)
    roles = (runs.FROZEN,) if frozen else EXPERIMENTS[experiment].roles
    labels = {label: specs[roles.index(role)] for label, role in kept.items()}
    return Part(
        experiment=f"{experiment}, frozen" if frozen else experiment,
        scenario=text,
        name=name,
        disciplines=tuple(dict.fromkeys(labels.values())),
        labels=labels,
    )


def _kind(role: str) -> str:
    return role if role in {"fifo", runs.FROZEN} else "sfq"


def _disciplines(text: str, name: str) -> tuple[str, ...]:
    import weir

    return weir.Scenario.from_toml(text, name).disciplines


def run(
    experiments: Sequence[str] = (),
    kinds: Sequence[str] = (),
    *,
    scale: int = 10,
    repeat: int = 1,
    together: int = 1,
    keep: Path | None = None,
    progress: Callable[[float], None] | None = None,
) -> Study:
    """Run the experiments; the parameters are those of `parts` and of `weir.live.comparison.compare`."""
    import weir

    chosen = parts(experiments, kinds)
    comparisons = {}
    for place, part in enumerate(chosen):

        def told(share: float, place: int = place) -> None:
            if progress is not None:
                progress((place + share) / len(chosen))

        comparisons[part.experiment] = compare(
            weir.Scenario.from_toml(part.scenario, part.name),
            scale=scale,
            repeat=repeat,
            together=together,
            disciplines=part.disciplines,
            keep=None if keep is None else keep / part.experiment.replace(", ", "-"),
            progress=told,
        )
    cells = tuple(cell for part in chosen for cell in _cells(part, comparisons[part.experiment]))
    ordered = sorted(cells, key=lambda cell: (cell.table, cell.quantity != "throughput"))
    return Study(scale=scale, repeat=repeat, cells=tuple(ordered), comparisons=comparisons)


def _cells(part: Part, comparison: Comparison) -> Iterator[Cell]:
    for row in published.rows():
        if row.run in part.labels:
            for quantity in published.QUANTITIES:
                cell = _cell(row, quantity, comparison, part.labels[row.run])
                if cell is not None:
                    yield cell


def _cell(row: Row, quantity: str, comparison: Comparison, discipline: str) -> Cell | None:
    span = (row.start, row.end)
    interval = next((name for name, each in comparison.intervals.items() if each == span), None)
    if interval is None:
        return None
    found = comparison.row(discipline, row.stream, quantity, interval=interval)
    if found is None:
        return None
    unit = _POINT if quantity == "throughput" else 1.0
    alone = row.discipline != "fifo" and not collides(row)
    simulated = _in(found.simulated, unit)
    bar = THROUGHPUT_POINTS if quantity == "throughput" else DELAY_SHARE * (simulated.value or 0.0)
    return Cell(
        table=row.table,
        run=row.run,
        stream=row.stream,
        start=row.start,
        end=row.end,
        quantity=quantity,
        alone=alone,
        misprint=(row.table, row.run, row.stream, quantity) in published.ARTEFACTS,
        published=row.throughput if quantity == "throughput" else row.delay,
        simulated=simulated,
        measured=_in(found.measured, unit),
        difference=_in(found.difference, unit),
        tolerance=bar if alone else None,
    )


def _in(value: Value, unit: float) -> Value:
    parts = (value.value, value.low, value.high)
    return Value(*(None if part is None else part * unit for part in parts))
