"""Task sets of rt-app: what the JSON says, checked and without defaults left open.

Source: the grammar of rt-app as its tutorial tells it (``doc/tutorial.txt``) and its parser reads it: a key
that begins like an event is one (``run1`` is a ``run``), and events happen in the order in which they stand.
Times are in microseconds there and here.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING

from weir.importing.places import Document, shown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from weir.importing.places import Value

__all__ = ["POLICIES", "Event", "Phase", "Task", "TaskSet", "read"]

POLICIES = ("SCHED_OTHER", "SCHED_IDLE", "SCHED_RR", "SCHED_FIFO", "SCHED_DEADLINE")
REMEDY = "give a task set of rt-app, as its tutorial describes it"
MOST_LETTERS = 100
"""Of a name, as in a scenario."""
LONGEST = 10**12
"""Microseconds: more than a week."""
MOST_PROCESSES = 10_000
_EVENTS = (
    "lock", "unlock", "wait", "signal", "broad", "sync", "sleep", "runtime", "run", "timer", "suspend",
    "resume", "mem", "iorun", "yield", "barrier", "fork",
)  # fmt: skip
_REFUSED = {
    "mem": "replace it by a `run` of the time that it takes",
    "iorun": "replace it by a `run` of the time that it takes, and a `sleep` for the device",
    "barrier": "replace it by `suspend` and `resume`",
    "fork": "leave it out, and let the task begin after a `delay`",
}
"""Events that a node cannot do, and what to do instead."""
_OPTIONS = (
    "instance", "delay", "loop", "phases", "policy", "priority", "dl-runtime", "dl-period", "dl-deadline",
    "period", "deadline", "cpus",
)  # fmt: skip
_LEFT_OUT = ("util_min", "util_max", "membind_nodes", "nodes_membind", "taskgroup", "lock_pages", "calib")
_NICE = (-20, 19)
_REAL_TIME = (0, 99)
_MOST_CPUS = 4096


@dataclass(frozen=True, slots=True)
class Event:
    """An event of a phase: its kind, what it is about, and how long it takes."""

    kind: str
    key: Value
    name: str = ""
    time: int = 0


@dataclass(frozen=True, slots=True)
class Phase:
    """Events, done ``loop`` times (-1: for ever)."""

    loop: int
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A kind of threads, all its keys with their defaults."""

    name: Value
    instances: int
    delay: int
    loop: int
    phases: tuple[Phase, ...]
    policy: str
    priority: int | None
    budget: int
    period: int
    deadline: int
    cpu: int | None
    """The only one on which it may run, where it is one."""

    @property
    def events(self) -> Iterator[Event]:
        """Its events, phase by phase."""
        return (event for phase in self.phases for event in phase.events)


@dataclass(frozen=True, slots=True)
class TaskSet:
    """All tasks, when the use case ends (None: never), and what was passed over."""

    document: Document
    tasks: tuple[Task, ...]
    duration: int | None
    left_out: dict[str, list[str]] = field(default_factory=dict)
    """Keys that mean nothing here, with the tasks that have them."""


def read(path: Path) -> TaskSet:
    """Read a task set.

    Raises
    ------
    ConfigError
        With line, column and key of what is refused.
    """
    return _Reader(Document(path, REMEDY)).read()


class _Reader:
    """Reads one document."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.left_out: dict[str, list[str]] = {}
        self._mutexes: set[str] = set()
        self._processes = 0

    def read(self) -> TaskSet:
        top = self._object(self.document.root, "the file")
        found = self._once(top, "the file")
        if "tasks" not in found:
            self.document.refuse(self.document.root, "`tasks` is missing", REMEDY, "tasks")
        general = self._object(found["global"][1], "global") if "global" in found else []
        keys = self._once(general, "global")
        policy = self._policy(keys, "default_policy", POLICIES[0])
        seconds = self._whole(keys, "duration", -1, -1, LONGEST // 10**6)
        tasks = self._object(found["tasks"][1], "tasks")
        self._mutexes = set(_mutexes(tasks))
        made = tuple(self._task(name, value, policy) for name, value in tasks)
        if not any(task.instances for task in made):
            self.document.refuse(found["tasks"][1], "`tasks` has none that runs", "add a task", "tasks")
        names = [str(name.held) for name, _ in tasks]
        for place, (name, _) in enumerate(tasks):
            if names[place] in names[:place]:
                self.document.refuse(name, f"task {shown(name)} stands twice", "give each its own name")
        return TaskSet(self.document, made, None if seconds < 0 else seconds, self.left_out)

    # Tasks.

    def _task(self, name: Value, value: Value, policy: str) -> Task:
        self._plain(name, f"the name of task {shown(name)}", 1)
        pairs = self._object(value, f"task {shown(name)}")
        keys = self._once([pair for pair in pairs if _event(pair[0]) is None], f"task {shown(name)}")
        self._known(keys, name, _OPTIONS)
        own = self._policy(keys, "policy", policy)
        instances = self._whole(keys, "instance", 1, 0, MOST_PROCESSES)
        self._processes += instances
        if self._processes > MOST_PROCESSES:
            said = f"makes more than {MOST_PROCESSES:,} processes of all tasks"
            self.document.refuse(name, f"task {shown(name)} {said}", "lower `instance`", "instance")
        budget, period, deadline = self._budget(keys, pairs, own, name)
        return Task(
            name=name,
            instances=instances,
            delay=self._whole(keys, "delay", 0, 0, LONGEST),
            loop=self._loop(keys, -1),
            phases=self._phases(keys, pairs, name),
            policy=own,
            priority=self._priority(keys, own),
            budget=budget,
            period=period,
            deadline=deadline,
            cpu=self._cpu(keys, name),
        )

    def _budget(
        self, keys: dict[str, tuple[Value, Value]], pairs: list[tuple[Value, Value]], policy: str, name: Value
    ) -> tuple[int, int, int]:
        """Return runtime, period and deadline of the deadline class; old keys count where new ones miss."""
        old = dict(keys)
        for key, value in pairs:
            if key.held == "runtime" and policy == "SCHED_DEADLINE":
                old.setdefault("dl-runtime", (key, value))
        for short in ("period", "deadline"):
            if short in keys:
                old.setdefault(f"dl-{short}", keys[short])
        budget = self._whole(old, "dl-runtime", 0, 0, LONGEST)
        period = self._whole(old, "dl-period", budget, 0, LONGEST)
        deadline = self._whole(old, "dl-deadline", period, 0, LONGEST)
        if policy == "SCHED_DEADLINE" and not 0 < budget <= deadline <= period:
            said = f"has dl-runtime {budget} us, dl-deadline {deadline} us and dl-period {period} us"
            self.document.refuse(
                name,
                f"task {shown(name)} is SCHED_DEADLINE and {said}, must be above 0 and in that order",
                "set `dl-runtime` and `dl-period`",
                "dl-runtime",
            )
        return budget, period, deadline

    def _phases(
        self, keys: dict[str, tuple[Value, Value]], pairs: list[tuple[Value, Value]], task: Value
    ) -> tuple[Phase, ...]:
        if "phases" not in keys:
            return (Phase(1, self._events(pairs, task, task)),)
        made = []
        for name, value in self._object(keys["phases"][1], f"phases of task {shown(task)}"):
            inner = self._object(value, f"phase {shown(name)}")
            own = self._once([pair for pair in inner if _event(pair[0]) is None], f"phase {shown(name)}")
            changed = [key for key in own if key not in {"loop", "cpus"}]
            self._known(own, task, ("loop", "cpus", *_OPTIONS))
            for key in (*changed, *(["cpus"] if "cpus" in own else [])):
                self.left_out.setdefault(f"{key} of a phase", []).append(str(task.held))
            made.append(Phase(self._loop(own, 1), self._events(inner, name, task)))
        if not made:
            self.document.refuse(keys["phases"][1], f"task {shown(task)} has no phases", "add one", "phases")
        return tuple(made)

    def _events(self, pairs: list[tuple[Value, Value]], where: Value, task: Value) -> tuple[Event, ...]:
        made = [self._event(kind, key, value, task) for key, value in pairs if (kind := _event(key))]
        if not made:
            self.document.refuse(where, f"{shown(where)} has no events", "add one, such as `run`")
        return tuple(made)

    def _event(self, kind: str, key: Value, value: Value, task: Value) -> Event:
        if kind in _REFUSED:
            self.document.refuse(
                key, f"{shown(key)}: the event `{kind}` is not simulated", _REFUSED[kind], str(key.held)
            )
        if kind in {"run", "runtime", "sleep"}:
            return Event(kind, key, time=self._time(key, value))
        if kind == "timer":
            inner = self._once(self._object(value, shown(key)), shown(key))
            self._known(inner, task, ("ref", "period", "mode"))
            return Event(kind, key, self._ref(inner), self._period(key, inner))
        if kind in {"wait", "sync"}:
            inner = self._once(self._object(value, shown(key)), shown(key))
            self._known(inner, task, ("ref", "mutex"))
            return Event(kind, key, self._ref(inner))
        if not isinstance(value.held, str):
            self.document.refuse(
                value, f"{shown(key)} is {shown(value)}, must be text", REMEDY, str(key.held)
            )
        if kind in {"lock", "unlock"} and value.held not in self._mutexes:
            self.document.refuse(
                key,
                f"{shown(key)}: the mutex {shown(value)} guards no condition, and mutexes are not simulated",
                "leave it out, where nothing hangs on who holds it",
                str(key.held),
            )
        self._plain(value, f"the name {shown(value)} of {shown(key)}")
        return Event(kind, key, value.held)

    def _period(self, key: Value, inner: dict[str, tuple[Value, Value]]) -> int:
        if "period" not in inner:
            self.document.refuse(key, f"{shown(key)} has no `period`", "give it, in microseconds", "period")
        time = self._time(*inner["period"])
        if time == 0:
            self.document.refuse(inner["period"][1], "period is 0, must be from 1", "raise it", "period")
        return time

    # Values.

    def _plain(self, value: Value, what: str, least: int = 0) -> None:
        """Refuse a name that a scenario cannot have."""
        name = str(value.held)
        is_plain = name.strip() == name and all(map(_is_plain, name))
        if not is_plain or not least <= len(name) <= MOST_LETTERS:
            said = (
                f"must have {least} to {MOST_LETTERS} characters, no control characters and no outer blanks"
            )
            self.document.refuse(value, f"{what} {said}", "give it another name")

    def _object(self, value: Value, what: str) -> list[tuple[Value, Value]]:
        if value.pairs is None:
            self.document.refuse(value, f"{what} is {shown(value)}, must be an object", REMEDY)
        return value.pairs

    def _once(self, pairs: list[tuple[Value, Value]], where: str) -> dict[str, tuple[Value, Value]]:
        found: dict[str, tuple[Value, Value]] = {}
        for key, value in pairs:
            if str(key.held) in found:
                self.document.refuse(key, f"{shown(key)} of {where} stands twice", "leave one", str(key.held))
            found[str(key.held)] = (key, value)
        return found

    def _known(self, keys: dict[str, tuple[Value, Value]], task: Value, known: tuple[str, ...]) -> None:
        """Refuse keys that rt-app does not know either, and note those that mean nothing here."""
        for name, (key, _) in keys.items():
            if name in known:
                continue
            if name in _LEFT_OUT:
                self.left_out.setdefault(name, []).append(str(task.held))
                continue
            near = get_close_matches(name, (*known, *_EVENTS), 1)
            remedy = f"did you mean `{near[0]}`?" if near else f"known are {', '.join(known)} and the events"
            self.document.refuse(key, f"{shown(key)} is unknown", remedy, name)

    def _whole(
        self, keys: dict[str, tuple[Value, Value]], name: str, default: int, least: int, most: int
    ) -> int:
        if name not in keys:
            return default
        key, value = keys[name]
        held = value.held
        if type(held) is not int or not least <= held <= most:
            said = f"{key.held} is {shown(value)}, must be a whole number from {least} to {most}"
            self.document.refuse(value, said, "write a number in these bounds", str(key.held))
        return held

    def _time(self, key: Value, value: Value) -> int:
        return self._whole({str(key.held): (key, value)}, str(key.held), 0, 0, LONGEST)

    def _loop(self, keys: dict[str, tuple[Value, Value]], default: int) -> int:
        loop = self._whole(keys, "loop", default, -1, LONGEST)
        if loop == 0:
            self.document.refuse(
                keys["loop"][1],
                "loop is 0, must be -1 (for ever) or from 1",
                "leave out what is never done",
                "loop",
            )
        return loop

    def _text(self, keys: dict[str, tuple[Value, Value]], name: str, default: str) -> str:
        if name not in keys:
            return default
        _, value = keys[name]
        if not isinstance(value.held, str):
            self.document.refuse(value, f"{name} is {shown(value)}, must be text", REMEDY, name)
        return value.held

    def _ref(self, keys: dict[str, tuple[Value, Value]]) -> str:
        if "ref" in keys:
            self._plain(keys["ref"][1], f"ref {shown(keys['ref'][1])}")
        return self._text(keys, "ref", "unknown")

    def _policy(self, keys: dict[str, tuple[Value, Value]], name: str, default: str) -> str:
        found = self._text(keys, name, default)
        if found not in POLICIES:
            said = f"{name} is {shown(keys[name][1])}, must be one of {', '.join(POLICIES)}"
            self.document.refuse(keys[name][1], said, "use one of them", name)
        return found

    def _priority(self, keys: dict[str, tuple[Value, Value]], policy: str) -> int | None:
        if "priority" not in keys:
            return None
        bounds = _NICE if policy in {"SCHED_OTHER", "SCHED_IDLE"} else _REAL_TIME
        return self._whole(keys, "priority", 0, *bounds)

    def _cpu(self, keys: dict[str, tuple[Value, Value]], task: Value) -> int | None:
        if "cpus" not in keys:
            return None
        key, value = keys["cpus"]
        if not value.values:
            said = f"cpus is {shown(value)}, must be an array of one or more numbers"
            self.document.refuse(value, said, "list the processors, as in [0]", "cpus")
        numbers = {self._whole({"cpus": (key, each)}, "cpus", 0, 0, _MOST_CPUS) for each in value.values}
        if len(numbers) > 1:
            self.left_out.setdefault("cpus of several processors", []).append(str(task.held))
            return None
        return numbers.pop()


def _event(key: Value) -> str | None:
    """Return the kind of an event; the longest that the key begins with. An option is none."""
    name = str(key.held)
    if name in _OPTIONS:
        return None
    return max((each for each in _EVENTS if name.startswith(each)), key=len, default=None)


def _is_plain(letter: str) -> bool:
    """Return whether it is no control character, and no half of a pair."""
    return unicodedata.category(letter) not in {"Cc", "Cs"}


def _mutexes(tasks: list[tuple[Value, Value]]) -> Iterator[str]:
    """Yield the mutexes that guard a condition, wherever they are named so."""
    waiting = [value for _, value in tasks]
    while waiting:
        for key, value in waiting.pop().pairs or ():
            if key.held == "mutex" and isinstance(value.held, str):
                yield value.held
            waiting.append(value)
