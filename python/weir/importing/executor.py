"""Scenarios of the node from what an executor did: a recording that ``Builder::record`` of weir-exec wrote.

Each task becomes a process that replays its bursts: when it became ready, and how long it then ran until it
waited again. What the executor itself needed to come to a task is taken out of the run times, and stands in
the scenario as the costs of the scheduler. Tasks of one worker, one name and the same terms are one process
where none of them lived while another did; numbers after ``#`` in a name tell instances apart.

What is asked of a replay is how long the same work would have waited otherwise. Its wake-ups stay where they
were: where one task wakes another, an earlier end does not make for an earlier wake-up.

O(events) of time, 40 bytes a burst of memory, of which there are at most ten million.
"""

from __future__ import annotations

import heapq
import json
import math
import re
from array import array
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weir._weir import read_recording
from weir.errors import TraceError
from weir.files import replacing
from weir.importing.names import notes, renamed
from weir.importing.rtapp import DISCIPLINES
from weir.importing.targets import folder
from weir.text import plural
from weir.toml import dumps

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

__all__ = ["Imported", "Response", "write"]

MOST_BURSTS = 10_000_000
MOST_PROCESSES = 1000
_LONGEST = 10**15
"""Nanoseconds that the simulation may last."""
_EPOCH = 100_000_000
"""Nanoseconds over which needs are measured where the discipline has no epoch."""
_MOST_LETTERS = 90
_NUMBERS = 5
_INSTANCE = re.compile(r"#[0-9]+$")
_WORD = re.compile(r"[^A-Za-z0-9_.-]+")
_TERMS = ("priority", "need", "slice", "period", "weight")


@dataclass(frozen=True, kw_only=True)
class Response:
    """How long a process took from ready to done, as it was measured; times are in seconds."""

    process: str
    count: int
    mean: float
    p99: float
    longest: float
    longest_poll: float

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as a JSON object."""
        return dict(self.__dict__)


@dataclass(frozen=True, kw_only=True)
class Imported:
    """What an import has written, and what the recording holds."""

    scenario: Path
    replays: list[Path]
    bursts: int
    tasks: int
    seconds: float
    measured: list[Response]
    notes: list[str]

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as a JSON object."""
        return {
            "scenario": str(self.scenario),
            "replays": [str(path) for path in self.replays],
            "bursts": self.bursts,
            "tasks": self.tasks,
            "seconds": self.seconds,
            "measured": [response.to_dict() for response in self.measured],
            "notes": self.notes,
        }


@dataclass(slots=True)
class _Task:
    """A task as it was recorded; its bursts lie from ``first`` to ``last`` among all."""

    facts: dict[str, Any]
    first: int
    last: int


@dataclass(slots=True)
class _Process:
    """Tasks that become one process."""

    stem: str
    facts: dict[str, Any]
    tasks: list[_Task] = field(default_factory=list)
    name: str = ""
    file: str = ""

    @property
    def longest_poll(self) -> int:
        return max(int(task.facts["longest_poll"]) for task in self.tasks)


def write(file: str | os.PathLike[str], out: str | os.PathLike[str]) -> Imported:
    """Write a scenario that replays a recording, and a file of bursts for each process; all or nothing.

    Parameters
    ----------
    file : path
        The recording.
    out : path
        The scenario, if it ends in ``.toml``; the replays are then next to it, ``NAME.TASK.csv``. Else a
        folder, in which they are called ``scenario.toml`` and ``TASK.csv``. Existing files are
        replaced.

    Raises
    ------
    TraceError
        If the file is no recording, or holds nothing that could be replayed.
    ConfigError
        If a file cannot be written.
    """
    path, target = Path(file), Path(out)
    found = _Recording.read(path)
    scenario = target if target.suffix == ".toml" else target / "scenario.toml"
    _name(found, f"{target.stem}." if target.suffix == ".toml" else "")
    document = _document(found, path.name)
    said = list(_notes(found))
    with ExitStack() as parts:
        if scenario.parent == target:
            parts.enter_context(folder(target))
        # Renamed in the reverse order: the scenario last, once all that it names is there.
        part = parts.enter_context(replacing(scenario))
        for process in found.processes:
            replay = parts.enter_context(replacing(scenario.parent / process.file))
            with replay.open("w", encoding="utf-8") as text:
                text.write("wake_ns,run_ns\n")
                text.writelines(f"{wake},{run}\n" for wake, run in found.runs(process))
        head = [f"Made from {json.dumps(path.name)} by `weir import exec`.", *said]
        part.write_text("".join(f"# {line}\n" for line in head) + dumps(document), encoding="utf-8")
    return Imported(
        scenario=scenario,
        replays=[scenario.parent / process.file for process in found.processes],
        bursts=len(found.numbers) // _NUMBERS,
        tasks=len(found.facts["tasks"]),
        seconds=found.facts["until"] / 1e9,
        measured=[found.response(process) for process in found.processes],
        notes=said,
    )


# Reading.


@dataclass(slots=True)
class _Recording:
    """What a recording holds."""

    facts: dict[str, Any]
    numbers: array[int]
    processes: list[_Process]
    idle: int

    @classmethod
    def read(cls, path: Path) -> _Recording:
        text, held = read_recording(path, MOST_BURSTS)
        facts, numbers = json.loads(text), array("q")
        numbers.frombytes(held)
        tasks, first = [], 0
        for each in facts["tasks"]:
            last = first + each["bursts"]
            tasks.append(_Task(each, first, last))
            first = last
        ran = [task for task in tasks if task.first < task.last]
        if not ran:
            raise TraceError("holds no task that ran", "record a run in which tasks run", str(path))
        processes = list(_processes(ran, numbers))
        if len(processes) > MOST_PROCESSES:
            raise TraceError(
                f"{len(processes):,} tasks lived at once or had terms of their own, must be at most "
                f"{MOST_PROCESSES:,}",
                "record a shorter run",
                str(path),
            )
        return cls(facts, numbers, processes, len(tasks) - len(ran))

    @property
    def costs(self) -> tuple[int, int]:
        """What the executor needs to come to another task, and to the same one, in nanoseconds."""
        return self.facts["swap"] or 0, self.facts["restart"] or 0

    def runs(self, process: _Process) -> Iterator[tuple[int, int]]:
        """Yield when each burst was ready, and how long it ran without what the executor needed."""
        swap, restart = self.costs
        for task in process.tasks:
            for place in range(task.first * _NUMBERS, task.last * _NUMBERS, _NUMBERS):
                wake, run, _, other, same = self.numbers[place : place + _NUMBERS]
                yield wake, max(0, run - other * swap - same * restart)

    def response(self, process: _Process) -> Response:
        """Return how long the bursts of a process took."""
        took = sorted(
            self.numbers[place + 2] - self.numbers[place]
            for task in process.tasks
            for place in range(task.first * _NUMBERS, task.last * _NUMBERS, _NUMBERS)
        )
        return Response(
            process=process.name,
            count=len(took),
            mean=sum(took) / len(took) / 1e9,
            p99=took[math.ceil(0.99 * len(took)) - 1] / 1e9,
            longest=took[-1] / 1e9,
            longest_poll=process.longest_poll / 1e9,
        )


def _processes(tasks: Sequence[_Task], numbers: array[int]) -> Iterator[_Process]:
    """Yield processes: tasks that ended go where one like them has ended before they were ready."""

    def kind(task: _Task) -> tuple[Any, ...]:
        facts = task.facts
        terms = tuple(-1 if facts[key] is None else facts[key] for key in _TERMS)
        return (facts["worker"], _INSTANCE.sub("", facts["name"]), *terms)

    for (_, stem, *_rest), alike in groupby(sorted(tasks, key=kind), key=kind):
        free: list[tuple[int, int]] = []
        made: list[_Process] = []
        for task in sorted(alike, key=lambda task: numbers[task.first * _NUMBERS]):
            begin, end = numbers[task.first * _NUMBERS], task.facts["ended"]
            if free and free[0][0] <= begin:
                _, place = heapq.heappop(free)
            else:
                place = len(made)
                made.append(_Process(stem or "task", task.facts))
            made[place].tasks.append(task)
            heapq.heappush(free, (_LONGEST**2 if end is None else end, place))
        yield from made


# Writing.


def _name(found: _Recording, before: str) -> None:
    """Give processes names and files that no other has, even where the case of letters does not count."""
    workers = found.facts["workers"] > 1
    names: set[str] = set()
    files: set[str] = set()
    stems = [_letters(process.stem) for process in found.processes]
    changed = renamed(stems)
    for process, stem in zip(found.processes, stems, strict=True):
        base = changed.get(stem, stem) + (f"@{process.facts['worker']}" if workers else "")
        process.name = _unused(base, "", names)
        stem = before + (_WORD.sub("_", process.name).strip("._") or "task")[:64]
        process.file = _unused(stem, ".csv", files)


def _letters(name: str) -> str:
    """Return as much of a name as a scenario may have, with marks for what does not print."""
    said = "".join(letter if letter.isprintable() else "?" for letter in name).strip()
    return said[:_MOST_LETTERS] or "task"


def _unused(stem: str, ending: str, taken: set[str]) -> str:
    name, number = f"{stem}{ending}", 2
    while name.lower() in taken:
        name, number = f"{stem}.{number}{ending}", number + 1
    taken.add(name.lower())
    return name


def _document(found: _Recording, name: str) -> dict[str, Any]:
    """Return the scenario."""
    facts = found.facts
    epoch = facts["epoch"] or _EPOCH
    swap, restart = found.costs
    recorded = facts["discipline"]
    kind = re.split(r"[:(]", recorded)[0]
    others = [each for each in DISCIPLINES if re.split(r"[:(]", each)[0] != kind]
    node: dict[str, Any] = {"epoch": _time(epoch)}
    if facts["workers"] > 1:
        node["names"] = [_node(worker) for worker in range(facts["workers"])]
    if swap:
        node["costs"] = {"restart": _time(restart), "swap": _time(swap)}
    epochs = max(1, math.ceil(facts["until"] / epoch))
    return {
        "weir": 1,
        "model": "node",
        "title": f"Replay of {name}",
        "seed": 1,
        "disciplines": [recorded, *others],
        "node": node,
        "process": [_process(process, facts["workers"] > 1) for process in found.processes],
        "stop": {"warm_up": "0s", "duration": _time(min((epochs + 1) * epoch, _LONGEST))},
    }


def _time(span: int) -> str:
    """Return a span of nanoseconds in the largest unit in which it is whole."""
    units = (("s", 10**9), ("ms", 10**6), ("us", 10**3), ("ns", 1))
    return next(f"{span // size}{unit}" for unit, size in units if span % size == 0)


def _node(worker: int) -> str:
    return f"worker{worker}"


def _process(process: _Process, names_node: bool) -> dict[str, Any]:
    facts = process.facts
    table: dict[str, Any] = {"name": process.name}
    if names_node:
        table["node"] = _node(facts["worker"])
    if facts["priority"] != 1:
        table["priority"] = facts["priority"]
    for key in ("need", "slice", "period"):
        if facts[key]:
            table[key] = _time(facts[key])
    if facts["weight"] is not None:
        table["weight"] = facts["weight"]
    return {**table, "replay": process.file}


def _notes(found: _Recording) -> Iterator[str]:
    facts = found.facts
    yield (
        "Wake-ups stay where they were: where a task wakes another, an earlier end does not make for an "
        "earlier wake-up. A burst that is ready while the one before it is worked on waits for it."
    )
    tasks = sum(len(process.tasks) for process in found.processes)
    if tasks > len(found.processes):
        yield (
            f"{plural(tasks, 'task')} are {plural(len(found.processes), 'process')}: those of one name, one "
            "worker and the same terms that did not live at the same time are one."
        )
    if found.idle:
        yield f"Left out: {plural(found.idle, 'task')} that never ran."
    if facts["lost"]:
        yield (
            f"The recording lost {plural(facts['lost'], 'event')} in {plural(facts['gaps'], 'place')}, where "
            "the disk was too slow: bursts there are cut, and responses measured there are wrong."
        )
    if facts["is_cut"]:
        yield f"Only the first {MOST_BURSTS:,} bursts are replayed."
    if facts["damage"]:
        yield f"The recording is damaged, and read up to there: {facts['damage']}."
    elif not facts["is_whole"]:
        yield "The recording has no end: the program was killed, or still runs."
    if not facts["swap"]:
        yield "What the executor itself needed was not measured, in so short a run, and counts as run time."
    changed = renamed(_letters(process.stem) for process in found.processes)
    yield from notes(changed)
