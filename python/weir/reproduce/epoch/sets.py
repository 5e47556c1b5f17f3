"""Random task sets: the same for every discipline, from a seed and a number.

A *mixed* set is what a real-time node holds: ``control`` tasks that stay within what they need, ``greedy``
ones that at times ask for more, and ``batch`` jobs that are always ready; names begin with these words. Needs
are whole milliseconds, all together 75 to 97 % of an epoch. A *busy* set is meant to be hard on a promise:
many processes, most of them ready for epochs on end, with needs that fill the epoch to a given part, all
priorities, and slices of all lengths. In a *ready* set all are always ready, and a need can be raised.

A number never depends on another set's: each has a generator of its own, seeded by a text.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

EPOCH = 100_000
"""Microseconds."""
PERIODS = (10_000, 20_000, 25_000, 50_000, 100_000)
"""Of control tasks, in microseconds; each divides the epoch."""
_SLICES = (1_000, 2_000, 5_000, 10_000, 20_000)
_READY = "loop {\n  compute 1ms\n}\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """A process of a set; times are in microseconds."""

    name: str
    priority: int
    need: int
    slice: int
    program: str
    period: int | None = None

    def document(self, *, own_period: bool = False) -> dict[str, Any]:
        """Return the process as the scenario file has it.

        With ``own_period`` a task that wakes periodically declares its own period; other disciplines than
        constant bandwidth servers have no use for that.
        """
        made: dict[str, Any] = {
            "name": self.name,
            "priority": self.priority,
            "need": f"{self.need}us",
            "slice": f"{self.slice}us",
            "program": self.program,
        }
        if self.period is not None:
            made["deadline"] = f"{self.period}us"
            if own_period:
                made["period"] = f"{self.period}us"
        return made


@dataclass(frozen=True, slots=True)
class TaskSet:
    """Some processes that share a node."""

    processes: tuple[Process, ...]

    @property
    def committed(self) -> int:
        """All needs together, in microseconds."""
        return sum(process.need for process in self.processes)

    def raised(self, by: int) -> TaskSet:
        """Return the set with a larger need of the first process."""
        first, *others = self.processes
        return TaskSet((replace(first, need=first.need + by), *others))


def mixed(seed: int, number: int) -> TaskSet:
    """Return a set of control tasks, greedy tasks and batch jobs."""
    draw = _drawn(seed, "mixed", number)
    roles = (
        ["control"] * draw.choice((1, 2, 3))
        + ["greedy"] * draw.choice((1, 2))
        + ["batch"] * draw.choice((2, 3))
    )
    committed = EPOCH * draw.uniform(0.75, 0.97)
    needs = _shared(committed, [draw.uniform(0.5, 2.0) for _ in roles], step=1_000)
    makers = {"control": _control, "greedy": _greedy, "batch": _batch}
    return TaskSet(
        tuple(
            makers[role](draw, f"{role}{place}", need)
            for place, (role, need) in enumerate(zip(roles, needs, strict=True))
        )
    )


def busy(seed: int, number: int, part: float) -> TaskSet:
    """Return many processes of all priorities whose needs are ``part`` of the epoch."""
    draw = _drawn(seed, "busy", number)
    needs = _shared(EPOCH * part, [draw.uniform(0.1, 2.0) for _ in range(draw.choice((4, 6, 8, 12)))])
    return TaskSet(tuple(_any(draw, f"p{place}", need) for place, need in enumerate(needs)))


def ready(seed: int, number: int) -> TaskSet:
    """Return some processes that are always ready, with needs that leave room to raise the first one's."""
    draw = _drawn(seed, "ready", number)
    needs = _shared(
        EPOCH * draw.uniform(0.3, 0.8), [draw.uniform(0.1, 2.0) for _ in range(draw.choice((3, 4, 5)))]
    )
    return TaskSet(
        tuple(
            Process(
                name=f"p{place}",
                priority=draw.choice((1, 1, 2)),
                need=need,
                slice=draw.choice(_SLICES),
                program=_READY,
            )
            for place, need in enumerate(needs)
        )
    )


def _drawn(seed: int, kind: str, number: int) -> Random:
    return Random(f"{seed} {kind} {number}")  # noqa: S311 - loads, not secrets


def _shared(total: float, weights: Sequence[float], step: int = 1) -> list[int]:
    """Return whole steps of microseconds in proportion to weights that are at most ``total`` together."""
    whole = sum(weights)
    return [int(total * weight / (whole * step)) * step for weight in weights]


def _control(draw: Random, name: str, need: int) -> Process:
    """Return a task that asks for all of its need at most, spread evenly over the epoch."""
    period = draw.choice(PERIODS)
    most = need * period // EPOCH
    offset = draw.randrange(0, period, 100)
    program = (
        f"loop {{\n  sleep until every {period}us offset {offset}us\n"
        f"  compute uniform({most // 2}us, {most}us)\n}}\n"
    )
    return Process(
        name=name, priority=draw.choice((1, 2)), need=need, slice=20_000, program=program, period=period
    )


def _greedy(draw: Random, name: str, need: int) -> Process:
    """Return a task that asks for more than its need as a mean, now for less and now for much more."""
    period = draw.choice(PERIODS[2:])
    mean = 2 * need * period // EPOCH
    program = _now_and_then(mean, period)
    return Process(name=name, priority=draw.choice((1, 2)), need=need, slice=10_000, program=program)


def _batch(draw: Random, name: str, need: int) -> Process:
    return Process(
        name=name, priority=draw.choice((0, 1)), need=need, slice=draw.choice(_SLICES), program=_READY
    )


def _now_and_then(busy: int, asleep: int) -> str:
    return f"loop {{\n  compute exponential({busy}us)\n  sleep exponential({asleep}us)\n}}\n"


def _any(draw: Random, name: str, need: int) -> Process:
    """Return a process that is always ready, or computes for long and sleeps for short, or the reverse."""
    programs = (
        _READY,
        _READY,
        _now_and_then(draw.randrange(50_000, 500_000), 20_000),
        _now_and_then(draw.randrange(500, 20_000), 30_000),
    )
    return Process(
        name=name,
        priority=draw.choice((0, 1, 1, 2, 3)),
        need=need,
        slice=draw.choice(_SLICES),
        program=draw.choice(programs),
    )
