"""Scenarios of the node from task sets of rt-app.

Each thread becomes a process whose program does what its phases do, in order:

- ``run``, ``runtime``: ``compute``; a ``run`` is taken as the time on the processor that was calibrated
- ``sleep``: ``sleep``
- ``timer``: ``sleep until every PERIOD``, counted from the beginning of the task
- ``suspend``, ``wait``: ``wait`` for an event of its own
- ``resume``, ``broad``: a ``post`` to everybody who waits for that name
- ``signal``: a ``post`` to the only other one who waits for that name; refused where there are more
- ``sync``: ``signal``, then ``wait``
- ``lock``, ``unlock``: left out where the mutex guards a condition, refused otherwise
- ``yield``: left out
- ``mem``, ``iorun``, ``barrier``, ``fork``: refused

The need of a process is its runtime in an epoch: ``dl-runtime`` over ``dl-period`` of the deadline class; of
other threads what they run over how long a turn of their loop takes, if timers and sleeps say that. A task
that is called ``idle`` or ``all``, which results have for something else, has an underscore behind its name.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from weir.errors import ConfigError
from weir.importing import names, rtapp_tasks
from weir.importing.places import shown
from weir.importing.rtapp_tasks import MOST_LETTERS
from weir.text import plural
from weir.toml import dumps

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    from weir.importing.rtapp_tasks import Event, Phase, Task, TaskSet

__all__ = ["DISCIPLINES", "EPOCH", "Imported", "microseconds", "scenario"]

EPOCH = "100ms"
"""What needs are measured over, where nothing is said."""
DISCIPLINES = ("epoch", "cbs:reclaim=grub", "eevdf", "priority_rr")
_PRIORITIES = {
    "SCHED_IDLE": 0,
    "SCHED_OTHER": 1,
    "SCHED_RR": 2,
    "SCHED_FIFO": 2,
    "SCHED_DEADLINE": 2,
}
"""Of the four that a node has: nothing is vital, and real time goes before the rest."""
_OF_NICE_0 = 1024
_STEP_OF_NICE = 1.25
"""One step of nice is about a tenth of the processor: the kernel's weights."""
_LASTING = 11_000_000
"""Microseconds, where a task set has no end."""
_WARM_UP = 1_000_000
_SPAN = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,9})?)(ns|us|ms|s)")
_UNITS = {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6}
_LONGEST_EPOCH = 10**9
_NAME = re.compile(r"[^A-Za-z0-9_.@-]+")
_MOST_EVENTS = 65_536
_LONGEST_EVENT = 90
"""Characters of an event before its number: a name has 100."""
_WAITS = ("suspend", "wait", "sync")


@dataclass(frozen=True, slots=True)
class Imported:
    """A scenario as TOML, and what is to be known before it is relied on."""

    text: str
    notes: list[str]


def scenario(file: str | os.PathLike[str], *, epoch: str = EPOCH) -> Imported:
    """Return a scenario of the node that does what a task set of rt-app does.

    Parameters
    ----------
    file : path
        The task set, JSON as rt-app reads it.
    epoch : str
        What needs are measured over, such as ``"100ms"``.

    Raises
    ------
    ConfigError
        With line, column and key of what is refused.
    """
    length = microseconds("epoch", epoch, _LONGEST_EPOCH)
    made = _Scenario(rtapp_tasks.read(Path(file)), length)
    processes = made.processes()
    name = Path(file).name
    document: dict[str, Any] = {
        "weir": 1,
        "model": "node",
        "title": f"Tasks of {name}",
        "seed": 1,
        "disciplines": list(DISCIPLINES),
        "node": {"epoch": epoch, "names": made.nodes},
        "event": made.events,
        "process": processes,
        "stop": made.stop(),
    }
    notes = list(made.all_notes())
    head = [f"Made from {json.dumps(name)} by `weir import rtapp`.", *notes]
    if not made.events:
        del document["event"]
    return Imported("".join(f"# {line}\n" for line in head) + dumps(document), notes)


def microseconds(name: str, text: str, most: int) -> int:
    """Return a time with its unit in whole microseconds.

    Raises
    ------
    ConfigError
        If it is none, or out of bounds.
    """
    parts = _SPAN.fullmatch(text)
    length = float(parts[1]) * _UNITS[parts[2]] if parts else 0.0
    if not 1 <= length <= most or length != int(length):
        raise ConfigError(
            f"{name} is {text!r}, must be a time of whole microseconds, from 1us to {most // 10**6}s",
            "write it as in `100ms`",
        )
    return int(length)


@dataclass(slots=True)
class _Scenario:
    """What becomes of a task set."""

    tasks: TaskSet
    epoch: int
    notes: dict[str, list[str]] = field(default_factory=dict)
    """What is to be known, with the tasks that it is about."""
    waiters: dict[str, list[str]] = field(default_factory=dict)
    """The processes that wait for a name."""
    waited: dict[tuple[str, str], str] = field(default_factory=dict)
    """The event for which a process waits by a name."""
    numbers: dict[str, int] = field(default_factory=dict)
    """The events, with the last number that was put behind each to tell it from others."""
    changed: dict[str, str] = field(default_factory=dict)
    """What tasks are called here whose names mean something else."""

    def __post_init__(self) -> None:
        self.changed = names.renamed(str(task.name.held) for task in self.tasks.tasks)
        self._check_names()
        for task in self.tasks.tasks:
            for event in task.events:
                if event.kind in _WAITS:
                    for process in self._instances(task):
                        self._wait_for(_resource(event, task), process, task)

    def _check_names(self) -> None:
        """Refuse names that a scenario cannot have once instances are numbered."""
        known: set[str] = set()
        for task in self.tasks.tasks:
            for process in self._instances(task):
                if len(process) > MOST_LETTERS:
                    said = f"makes a process {process[:40]}..., whose name may have {MOST_LETTERS} characters"
                    self._refuse(task, said, "shorten the name, or lower `instance`")
                if process in known:
                    said = f"makes a process {json.dumps(process)}, as another task does"
                    self._refuse(task, said, "give each its own name")
                known.add(process)

    def _refuse(self, task: Task, said: str, remedy: str) -> NoReturn:
        self.tasks.document.refuse(task.name, f"task {shown(task.name)} {said}", remedy)

    def _called(self, task: Task) -> str:
        """Return the name of the process of a task."""
        name = str(task.name.held)
        return self.changed.get(name, name)

    def _instances(self, task: Task) -> list[str]:
        """Return the names of the processes of a task, as a node with `count` names them."""
        name = self._called(task)
        return [name] if task.instances == 1 else [f"{name}.{place + 1}" for place in range(task.instances)]

    def _wait_for(self, name: str, process: str, task: Task) -> None:
        if (name, process) in self.waited:
            return
        if len(self.waited) == _MOST_EVENTS:
            self._refuse(task, f"waits for one of more than {_MOST_EVENTS:,} events", "lower `instance`")
        self.waiters.setdefault(name, []).append(process)
        event = called = f"{_word(name)}@{_word(process)}"[:_LONGEST_EVENT]
        while event in self.numbers:
            self.numbers[called] += 1
            event = f"{called}.{self.numbers[called]}"
        self.numbers[event] = 1
        self.waited[name, process] = event

    @property
    def nodes(self) -> list[str]:
        """The processors to which anything is tied; one, where nothing is."""
        tied = sorted({task.cpu for task in self.tasks.tasks if task.cpu is not None and task.instances})
        return [f"cpu{cpu}" for cpu in tied] or ["node"]

    @property
    def events(self) -> list[dict[str, Any]]:
        """The events, as tables of the scenario."""
        return [{"name": event, "owner": process} for (_, process), event in self.waited.items()]

    def stop(self) -> dict[str, Any]:
        """Return when the run ends: as the task set says, after whole epochs to warm up."""
        end = self.tasks.duration * 1_000_000 if self.tasks.duration else _LASTING
        if end <= self.epoch:
            end = 2 * self.epoch
            self._note("The run was lengthened to two epochs.", "")
        warm_up = min(_WARM_UP, end // 10) // self.epoch * self.epoch
        return {"warm_up": _span(warm_up), "duration": _span(end)}

    def _note(self, words: str, task: str) -> None:
        about = self.notes.setdefault(words, [])
        if task and task not in about:
            about.append(task)

    def all_notes(self) -> Iterator[str]:
        """Yield what a reader has to know, a line each."""
        left_out = {f"Not simulated: {key}.": tasks for key, tasks in self.tasks.left_out.items()}
        if self.tasks.duration is None:
            self._note("The task set has no end: stop.duration ends it.", "")
        yield from names.notes(self.changed)
        for words, tasks in (self.notes | left_out).items():
            yield f"{words} ({', '.join(dict.fromkeys(tasks))})" if tasks else words

    # Processes.

    def processes(self) -> list[dict[str, Any]]:
        """Return the processes, as tables; instances that wait for events each have their own."""
        made = []
        for task in self.tasks.tasks:
            name = str(task.name.held)
            if not task.instances:
                self._note("Left out, without an instance:", name)
                continue
            common = self._common(task)
            alone = any(event.kind in _WAITS for event in task.events)
            if task.instances == 1 or alone:
                made += [
                    {"name": process, **common, "program": self._program(task, process)}
                    for process in self._instances(task)
                ]
            else:
                count = {"name": self._called(task), "count": task.instances}
                made.append({**count, **common, "program": self._program(task, self._called(task))})
        return made

    def _common(self, task: Task) -> dict[str, Any]:
        name = str(task.name.held)
        made: dict[str, Any] = {"priority": _PRIORITIES[task.policy]}
        if len(self.nodes) > 1:
            made["node"] = f"cpu{task.cpu}" if task.cpu is not None else self.nodes[0]
            if task.cpu is None:
                self._note(f"Put on {self.nodes[0]}, as it is tied to no processor:", name)
        need = self._need(task)
        if need:
            made["need"] = _span(need)
        if task.policy == "SCHED_DEADLINE":
            made |= {"period": _span(task.period), "deadline": _span(task.deadline)}
        if task.policy == "SCHED_OTHER" and task.priority is not None:
            made["weight"] = max(1, round(_OF_NICE_0 / _STEP_OF_NICE**task.priority))
        if task.delay:
            made["starts"] = _span(task.delay)
        return made

    def _need(self, task: Task) -> int:
        """Return the need in an epoch, in microseconds, rounded up."""
        name = str(task.name.held)
        if task.policy == "SCHED_DEADLINE":
            run, turn = task.budget, task.period
        else:
            parts = [_turn(phase) for phase in task.phases]
            run, turn = (sum(part[place] for part in parts) for place in (0, 1))
            if any(event.kind in _WAITS for event in task.events) or not run < turn:
                self._note("No need: how often it runs is not known beforehand, or it runs always.", name)
                return 0
        return min(-(-run * self.epoch // turn), self.epoch)

    # Programs.

    def _program(self, task: Task, process: str) -> str:
        """Return what a process does."""
        phases = [self._phase(task, phase, process) for phase in task.phases]
        lines = _looped(task.loop, [line for phase in phases for line in phase])
        if not any(line.strip().startswith(("compute", "sleep", "wait")) for line in lines):
            self.tasks.document.refuse(
                task.name,
                f"task {shown(task.name)} never runs, sleeps or waits",
                "give it a `run`, or leave it out",
            )
        return "\n".join(lines) + "\n"

    def _phase(self, task: Task, phase: Phase, process: str) -> list[str]:
        lines = [line for event in phase.events for line in self._statements(task, event, process)]
        return _looped(phase.loop, lines)

    def _statements(self, task: Task, event: Event, process: str) -> list[str]:
        name = str(task.name.held)
        match event.kind:
            case "run" | "runtime":
                return [f"compute {_span(event.time)}"] if event.time else []
            case "sleep":
                return [f"sleep {_span(event.time)}"] if event.time else []
            case "timer":
                return [self._timer(task, event)]
            case "suspend" | "wait":
                return [f"wait {self.waited[_resource(event, task), process]}"]
            case "resume" | "broad":
                return self._posts(task, event, self.waiters.get(_resource(event, task), []))
            case "signal":
                return self._posts(task, event, self._only(task, event, process))
            case "sync":
                others = self._posts(task, event, self._only(task, event, process))
                return [*others, f"wait {self.waited[_resource(event, task), process]}"]
            case "lock" | "unlock":
                self._note("Mutexes are not simulated; these guard a condition:", event.name)
            case _:
                self._note(f"Left out: {event.kind}.", name)
        return []

    def _timer(self, task: Task, event: Event) -> str:
        """Return a wait for the next turn of a timer, which counts from the beginning of the task."""
        periods = {each.time for each in task.events if (each.kind, each.name) == ("timer", event.name)}
        if len(periods) > 1:
            told = " and ".join(f"{period} us" for period in sorted(periods))
            self.tasks.document.refuse(
                event.key,
                f"timer {json.dumps(event.name)} has the periods {told}, may have one here",
                "give each period a timer with its own `ref`",
                "period",
            )
        offset = task.delay % event.time
        return f"sleep until every {_span(event.time)}" + (f" offset {_span(offset)}" if offset else "")

    def _posts(self, task: Task, event: Event, whom: Sequence[str]) -> list[str]:
        resource = _resource(event, task)
        if not whom:
            self._note(f"Left out: {event.kind} {json.dumps(resource)}, for which nobody waits.", "")
        else:
            self._note("Who is resumed before it waits does not wait; in rt-app the wake-up is lost.", "")
        return [f"post {self.waited[resource, process]}" for process in whom]

    def _only(self, task: Task, event: Event, process: str) -> list[str]:
        """Return the only other one who waits for a name."""
        others = [each for each in self.waiters.get(_resource(event, task), []) if each != process]
        if len(others) > 1:
            waiting = f"{plural(len(others), 'thread')} wait for it"
            self.tasks.document.refuse(
                event.key,
                f"{event.kind} {json.dumps(event.name)}: {waiting}, and who is first is not simulated",
                "use `broad`, or let one wait for each name",
                event.kind,
            )
        return others


def _resource(event: Event, task: Task) -> str:
    """Return the name by which a thread waits, or is woken; an empty one is the thread's own."""
    return event.name or str(task.name.held)


def _word(name: str) -> str:
    """Return a name as a word that a program can say."""
    return _NAME.sub("_", name) or "_"


def _turn(phase: Phase) -> tuple[int, int]:
    """Return what a phase runs, and how long it takes if nothing holds it up, in microseconds."""
    run, sleep, timer = (
        sum(event.time for event in phase.events if event.kind in kinds)
        for kinds in (("run", "runtime"), ("sleep",), ("timer",))
    )
    loop = max(1, phase.loop)
    return loop * run, loop * (timer or run + sleep)


def _looped(times: int, lines: list[str]) -> list[str]:
    """Return statements that are done so often (-1: for ever)."""
    if times == 1:
        return lines
    head = "loop {" if times < 0 else f"loop {times} {{"
    return [head, *(f"  {line}" for line in lines), "}"]


def _span(time: int) -> str:
    """Return microseconds as text, in the largest unit that keeps them whole."""
    for factor, unit in ((10**6, "s"), (10**3, "ms")):
        if time and time % factor == 0:
            return f"{time // factor}{unit}"
    return f"{time}us"
