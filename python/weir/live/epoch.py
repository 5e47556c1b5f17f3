"""Programs of a node run for real, by the executor, and compared with their simulation.

Each process of the scenario becomes a task of `weir-exec` on this machine, computes there for as long as its
program says, and is scheduled by the same discipline. The simulation then runs the same programs with the
costs that were measured: what the executor needs to come to another task, and to the same one. A response is
the time from ready to done. What the report of 1983 gives for the Chrysalis scheduler on its 68000 stands
next to the costs.

Held against each other are the mean response and its 99 % quantile of each process that responds often
enough: measured and simulated agree if they differ by at most ``SHARE`` or by ``NOISE``, whichever is more.

Units: seconds.
"""

from __future__ import annotations

import json
import math
import tempfile
from array import array
from bisect import bisect_left
from dataclasses import asdict, dataclass
from operator import itemgetter
from pathlib import Path
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

import weir
from weir import _weir
from weir.errors import ConfigError
from weir.live.figures import Value, around, difference
from weir.scenario import Scenario
from weir.text import plural

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["NOISE", "PUBLISHED", "SHARE", "Cost", "Response", "Study", "run"]

SHARE = 0.10
"""Share of the simulated response by which the measured one may differ."""
NOISE = 200e-6
"""Seconds by which it may differ in any case: what other programs of the machine take at a time."""
PUBLISHED = {"restart": 29e-6, "swap": 119e-6}
"""BBN Report 5285, Table 1: what the scheduler of Chrysalis took."""
FEWEST = 100
"""Responses of a process in a run, from which its 99 % quantile is held against the simulation."""
_MOST_BURSTS = 10_000_000
_NUMBERS = 5
_STATISTICS = ("mean", "p99")


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """One figure of the responses of a process under a discipline: simulated and measured."""

    discipline: str
    process: str
    statistic: str
    count: int
    simulated: Value
    measured: Value
    difference: Value

    @property
    def met(self) -> bool | None:
        """Whether the two agree; None where one of them is missing, or there were too few responses."""
        gap, expected = self.difference.value, self.simulated.value
        if gap is None or expected is None or (self.statistic == "p99" and self.count < FEWEST):
            return None
        return abs(gap) <= max(SHARE * expected, NOISE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a path of the scheduler costs: published of 1983, and measured here."""

    path: str
    published: float
    measured: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """What was found out."""

    scenario: str
    span: float
    repeat: int
    responses: tuple[Response, ...]
    costs: tuple[Cost, ...]
    longest_polls: dict[str, tuple[float, str]]
    """By discipline: the longest poll of all runs, and whose it was."""
    reports: tuple[str, ...]
    """What the executor reported, the first of each run."""

    @property
    def checked(self) -> tuple[Response, ...]:
        """Those that are held against the simulation."""
        return tuple(each for each in self.responses if each.met is not None)

    @property
    def ok(self) -> bool:
        """Whether all of them agree, and there are any."""
        return bool(self.checked) and all(each.met for each in self.checked)

    def verdicts(self) -> tuple[str, ...]:
        """Return a line on the responses, and one on the longest poll under each discipline."""
        checked = self.checked
        missed = [each for each in checked if not each.met]
        if not checked:
            return ("NOT MET: no process responded, so nothing could be compared",)
        first = (
            f"{'MET' if not missed else 'NOT MET'}: {len(checked) - len(missed)} of {len(checked)} figures "
            f"are within {SHARE:.0%} or {NOISE * 1e6:g} us of the simulation"
        )
        if missed:
            worst = max(missed, key=lambda each: abs(each.difference.value or 0.0))
            first += (
                f"; furthest off: {worst.statistic} of {worst.process} under {worst.discipline}, "
                f"{(worst.difference.value or 0.0) * 1e3:+.3f} ms"
            )
        polls = (
            f"{discipline}: the longest poll, of {whose}, took {longest * 1e3:.3f} ms; no other task of its "
            "worker ran meanwhile"
            for discipline, (longest, whose) in self.longest_polls.items()
        )
        return (first, *polls)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as a JSON object."""
        responses = [{**asdict(each), "met": each.met} for each in self.responses]
        return {
            "study": "epoch",
            "scenario": self.scenario,
            "span": self.span,
            "repeat": self.repeat,
            "ok": self.ok,
            "verdicts": [*self.verdicts()],
            "responses": responses,
            "costs": [asdict(each) for each in self.costs],
            "longest_polls": {name: list(poll) for name, poll in self.longest_polls.items()},
            "reports": [*self.reports],
        }


@dataclass(slots=True)
class _Run:
    """What one run under one discipline came to."""

    responses: dict[str, list[float]]
    swap: int | None
    restart: int | None
    longest_poll: tuple[float, str]
    reports: list[str]


def run(
    scenario: Scenario,
    *,
    repeat: int = 1,
    pinned: bool = True,
    real_time: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Study:
    """Run a scenario of the node for real, under each of its disciplines in turn, and simulate it.

    Parameters
    ----------
    scenario : Scenario
        Of the model ``node``. It is run for `stop.duration`; what lies in the warm-up does not count.
    repeat : int
        How often; intervals of what was measured are over the runs.
    pinned : bool
        Whether each node has a processor of its own.
    real_time : int or None
        The priority of the workers under SCHED_FIFO.
    progress : callable or None
        Called with the share that is done.

    Raises
    ------
    ConfigError
        If the scenario is of another model, or cannot be run for real.
    """
    if scenario.model != "node":
        raise ConfigError(
            f"the programs of a node are run for real, and this scenario is of the model `{scenario.model}`",
            "give a scenario of the node, as `weir new node` writes one",
            scenario.name,
        )
    stop = scenario.normalised["stop"]
    warm_up, duration = (_nanoseconds(stop[key]) for key in ("warm_up", "duration"))
    rounds = [
        (number, discipline) for number in range(repeat) for discipline in range(len(scenario.disciplines))
    ]
    runs: list[list[_Run]] = [[] for _ in scenario.disciplines]
    for place, (_, discipline) in enumerate(rounds):

        def told(state: dict[str, int], place: int = place) -> None:
            if progress is not None:
                share = state["done"] / max(state["total"], 1)
                progress(min((place + share) / len(rounds), 1.0))

        runs[discipline].append(_measured(scenario, discipline, warm_up, duration, pinned, real_time, told))
    every = [one for of in runs for one in of]
    costs = tuple(
        Cost(path=path, published=published, measured=_middle([getattr(one, path) for one in every]))
        for path, published in PUBLISHED.items()
    )
    simulated = weir.run(_with_costs(scenario, costs))
    responses = _responses(scenario.disciplines, runs, simulated)
    return Study(
        scenario=scenario.name,
        span=duration / 1e9,
        repeat=repeat,
        responses=tuple(responses),
        costs=costs,
        longest_polls={
            name: max(one.longest_poll for one in of)
            for name, of in zip(scenario.disciplines, runs, strict=True)
        },
        reports=(*_kept_back(real_time), *(report for one in every for report in one.reports)),
    )


def _measured(
    scenario: Scenario,
    discipline: int,
    warm_up: int,
    duration: int,
    pinned: bool,
    real_time: int | None,
    told: Callable[[dict[str, int]], None],
) -> _Run:
    """Run one discipline once."""
    with tempfile.TemporaryDirectory(prefix="weir-") as made:
        path = Path(made) / "run.weirexec"
        counts = json.loads(_weir.enact(scenario.read, discipline, duration, path, pinned, real_time, told))
        text, held = _weir.read_recording(path, _MOST_BURSTS)
    facts, numbers = json.loads(text), array("q")
    numbers.frombytes(held)
    late: dict[str, list[tuple[int, int]]] = {}
    for name, due, at in counts["late"]:
        late.setdefault(name, []).append((due, at))
    responses: dict[str, list[float]] = {}
    place = 0
    for task in facts["tasks"]:
        end = place + task["bursts"] * _NUMBERS
        of = responses.setdefault(task["name"], [])
        for at in range(place, end, _NUMBERS):
            parts = _split(numbers[at], numbers[at + 2], late.get(task["name"], []))
            of.extend((done - begun) / 1e9 for begun, done in parts if warm_up <= begun and done <= duration)
        place = end
    longest = max((each["longest_poll"], each["longest_poll_of"]) for each in counts["workers"])
    return _Run(responses, facts["swap"], facts["restart"], longest, counts["reports"])


def _split(begun: int, done: int, late: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the responses of a burst: a process that comes late to its grid goes on without a wait."""
    for due, at in late[bisect_left(late, begun, key=itemgetter(1)) :]:
        if at > done:
            break
        yield begun, at
        begun = due
    yield begun, done


def _responses(
    disciplines: Sequence[str],
    runs: Sequence[Sequence[_Run]],
    simulated: Any,  # noqa: ANN401 - a result
) -> list[Response]:
    made = []
    for discipline, of in zip(disciplines, runs, strict=True):
        for process in (row.name for row in simulated.processes if not row.system):
            lists = [each for one in of if (each := one.responses.get(process))]
            for statistic in _STATISTICS:
                figures = [_statistic(each, statistic) for each in lists]
                found = around(fmean(figures), figures) if figures else Value(None)
                expected = _simulated(simulated, discipline, process, statistic)
                made.append(
                    Response(
                        discipline=discipline,
                        process=process,
                        statistic=statistic,
                        count=min((len(each) for each in lists), default=0),
                        simulated=expected,
                        measured=found,
                        difference=difference(found, expected),
                    )
                )
    return made


def _simulated(result: Any, discipline: str, process: str, statistic: str) -> Value:  # noqa: ANN401
    row = result.estimate(discipline, name=process, metric="response", statistic=statistic)
    return Value(None) if row is None or row.value is None else Value(row.value, row.low, row.high)


def _statistic(responses: Sequence[float], statistic: str) -> float:
    if statistic == "mean":
        return fmean(responses)
    return sorted(responses)[math.ceil(0.99 * len(responses)) - 1]


def _kept_back(real_time: int | None) -> Iterator[str]:
    """Yield what the kernel keeps from threads under SCHED_FIFO: by default 50 ms of each second."""
    if real_time is None:
        return
    folder = Path("/proc/sys/kernel")
    try:
        used, period = (int((folder / f"sched_rt_{each}_us").read_text()) for each in ("runtime", "period"))
    except (OSError, ValueError):
        return
    if 0 <= used < period:
        yield (
            f"the kernel keeps {(period - used) / 1000:g} ms of each {period / 1000:g} ms from threads under "
            "SCHED_FIFO, where they would take all: a response meanwhile is longer by that. "
            "`sysctl kernel.sched_rt_runtime_us=-1` lets them have it"
        )


def _middle(found: Sequence[int | None]) -> float | None:
    """Return the median of costs in nanoseconds as seconds."""
    known = [each for each in found if each is not None]
    return median(known) / 1e9 if known else None


def _with_costs(scenario: Scenario, costs: Sequence[Cost]) -> Scenario:
    """Return the scenario with what was measured as its costs, and without the system of 1983."""
    document = scenario.normalised
    known = {each.path: f"{round(each.measured * 1e9)}ns" for each in costs if each.measured is not None}
    node = {key: value for key, value in document.get("node", {}).items() if key not in ("costs", "system")}
    return Scenario.from_dict({**document, "node": {**node, "costs": known or "none"}}, scenario.name)


def _nanoseconds(text: str) -> int:
    from weir.live.quantities import nanoseconds

    return nanoseconds(text)


def summary(study: Study) -> str:
    """Return what the study is about, in one line."""
    disciplines = {each.discipline for each in study.responses}
    return f"{plural(len(disciplines), 'discipline')}, {study.span:g} s each, {plural(study.repeat, 'time')}"
