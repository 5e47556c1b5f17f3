"""Scenarios of the node from what a scheduler was seen to do: a CSV file of wake-ups and run times.

A header names the columns; others are passed over. Either

- ``task``, ``wake``, ``run``: a row a wake-up; or
- ``task``, ``time``, ``run`` and perhaps ``delay``, as ``perf sched timehist`` prints them: ``time`` is when
  the processor was left, and the wake-up was the run time and the scheduling delay before.

Times are in seconds, or in the unit that a name ends in: ``run_ms``. The names that ``perf`` prints (``task
name``, ``run time (msec)``, ``sch delay (msec)``) and ``comm`` are known too. Rows of a task are in the order
of time.

Each task becomes a process that replays its wake-ups, and whose need is what it ran in an epoch on average,
and a margin more. The idle task is left out. O(rows) of memory, of which there are at most ten million.
"""

from __future__ import annotations

import csv
import json
import math
import re
from array import array
from contextlib import ExitStack
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weir.errors import TraceError
from weir.files import lines_of, replacing
from weir.importing.names import notes, renamed
from weir.importing.rtapp import DISCIPLINES, EPOCH, microseconds
from weir.importing.targets import folder
from weir.text import plural
from weir.toml import dumps

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

__all__ = ["MARGIN", "Imported", "write"]

MARGIN = 10.0
"""Per cent that a need is above the mean, where nothing is said."""
MOST_MARGIN = 1000.0
MOST_TASKS = 1000
MOST_ROWS = 10_000_000
_MOST_EPOCH = 10**9
_LATEST = 10**18
"""Nanoseconds that a time may be: more than thirty years, as clocks count them from their own beginning."""
_LONGEST = 10**15
"""Nanoseconds from the first wake-up to the last end: the longest run of a node."""
_MOST_DIGITS = 40
_UNITS = {
    "": 10**9,
    "s": 10**9,
    "sec": 10**9,
    "ms": 10**6,
    "msec": 10**6,
    "us": 10**3,
    "usec": 10**3,
    "ns": 1,
}
_NAMES = {
    "task": ("task", "task name", "comm", "name"),
    "wake": ("wake", "wakeup", "wake time", "wakeup time"),
    "time": ("time", "timestamp"),
    "run": ("run", "runtime", "run time"),
    "delay": ("delay", "sch delay", "scheduling delay"),
}
_HEADER = re.compile(r"(.*?)(?:[ _]*\((sec|s|msec|ms|usec|us|nsec|ns)\)|[ _](ms|us|ns|s))?")
_IDLE = re.compile(r"<idle>.*|swapper(/[0-9]+)?.*")
_WORD = re.compile(r"[^A-Za-z0-9_.-]+")
_COLUMNS = "name the columns `task`, `wake` and `run`, or `task`, `time`, `delay` and `run`"
_SHOWN, _MOST_LETTERS = 40, 100


@dataclass(frozen=True, kw_only=True)
class Imported:
    """What an import has written, and what the file holds."""

    scenario: Path
    replays: list[Path]
    rows: int
    notes: list[str]

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as a JSON object."""
        return {
            "scenario": str(self.scenario),
            "replays": [str(path) for path in self.replays],
            "rows": self.rows,
            "notes": self.notes,
        }


def _times() -> array[int]:
    """Return an empty list of times, 8 bytes each."""
    return array("q")


@dataclass(slots=True)
class _Task:
    """What a task was seen to do, in nanoseconds."""

    name: str
    wakes: array[int] = field(default_factory=_times)
    runs: array[int] = field(default_factory=_times)


def write(
    file: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    epoch: str = EPOCH,
    margin: float = MARGIN,
) -> Imported:
    """Write a scenario that replays what a file tells, and a file of wake-ups for each task; all or nothing.

    Parameters
    ----------
    file : path
        CSV; the module says with which columns.
    out : path
        The scenario, if it ends in ``.toml``; the replays are then next to it, ``NAME.TASK.csv``. Else a
        folder, in which they are called ``scenario.toml`` and ``TASK.csv``. Existing files are
        replaced.
    epoch : str
        What needs are measured over, such as ``"100ms"``.
    margin : float
        By how many per cent a need is above what the task ran in an epoch on average.

    Raises
    ------
    TraceError
        With line and column of what is refused.
    ConfigError
        If a value is refused, or a file cannot be written.
    """
    length = microseconds("epoch", epoch, _MOST_EPOCH) * 1000
    if not 0 <= margin <= MOST_MARGIN:
        raise TraceError(f"margin is {margin:g} %, must be from 0 to {MOST_MARGIN:g}", "write `--margin 10`")
    found = _Reader(Path(file)).read()
    target = Path(out)
    scenario = target if target.suffix == ".toml" else target / "scenario.toml"
    names = _files(found.tasks, f"{target.stem}." if target.suffix == ".toml" else "")
    document, notes = _document(found, Path(file).name, epoch, length, margin, names)
    with ExitStack() as parts:
        if scenario.parent == target:
            parts.enter_context(folder(target))
        # Renamed in the reverse order: the scenario last, once all that it names is there.
        part = parts.enter_context(replacing(scenario))
        for task, name in zip(found.tasks, names, strict=True):
            replay = parts.enter_context(replacing(scenario.parent / name))
            rows = (f"{wake - found.begin},{run}\n" for wake, run in zip(task.wakes, task.runs, strict=True))
            with replay.open("w", encoding="utf-8") as text:
                text.write("wake_ns,run_ns\n")
                text.writelines(rows)
        head = [f"Made from {json.dumps(Path(file).name)} by `weir import perf`.", *notes]
        part.write_text("".join(f"# {line}\n" for line in head) + dumps(document), encoding="utf-8")
    paths = [scenario.parent / name for name in names]
    return Imported(scenario=scenario, replays=paths, rows=found.rows, notes=notes)


@dataclass(frozen=True, slots=True)
class _Found:
    """What a file holds."""

    tasks: list[_Task]
    rows: int
    idle: int

    @property
    def begin(self) -> int:
        """The first wake-up, which is the beginning of the simulation."""
        return min(task.wakes[0] for task in self.tasks)

    @property
    def end(self) -> int:
        """When the last is done, if it runs at once."""
        return max(task.wakes[-1] + task.runs[-1] for task in self.tasks)


# Reading.


class _Reader:
    """Reads one file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._line = 1
        self._span = (2 * _LATEST, 0)

    def read(self) -> _Found:
        try:
            with self._path.open(encoding="utf-8-sig", newline="") as text:
                return self._rows(text)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise TraceError(f"cannot be read: {reason}", "check the path", str(self._path)) from error
        except UnicodeDecodeError as error:
            raise self._error("is not UTF-8", "save the file as UTF-8 text") from error

    def _rows(self, text: Any) -> _Found:  # noqa: ANN401 - a text file
        lines = csv.reader(lines_of(text), strict=True)
        columns = None
        tasks: dict[str, _Task] = {}
        rows = idle = 0
        for fields in self._fields(lines):
            if not any(each.strip() for each in fields):
                continue
            if columns is None:
                columns = self._columns(fields)
                continue
            if len(fields) != columns.count:
                raise self._error(
                    f"has {plural(len(fields), 'field')}, must have {columns.count} as the header",
                    "repair the row, or leave it out",
                )
            rows += 1
            if rows > MOST_ROWS:
                raise self._error(f"is behind {MOST_ROWS:,} rows, and no more are read", "cut the file")
            idle += not self._row(columns, fields, tasks)
        if not tasks:
            raise TraceError("has no wake-ups", f"give at least one row; {_COLUMNS}", str(self._path))
        return _Found(list(tasks.values()), rows, idle)

    def _fields(self, lines: Any) -> Iterator[list[str]]:  # noqa: ANN401 - a reader of CSV
        """Yield the fields of each row, and keep the number of its last line."""
        while True:
            try:
                fields = next(lines, None)
            except (csv.Error, OverflowError) as error:  # the latter in a line that was not given on
                self._line = lines.line_num + isinstance(error, OverflowError)
                raise self._error(f"is no CSV: {error}", "save the file as CSV, with commas") from error
            if fields is None:
                return
            self._line = lines.line_num
            yield fields

    def _row(self, columns: _Columns, fields: Sequence[str], tasks: dict[str, _Task]) -> bool:
        """Take a row; False if it is of the idle task."""
        name = fields[columns.task].strip()
        if not 1 <= len(name) <= _MOST_LETTERS:
            raise self._error("the task's name must have 1 to 100 letters", "name it", columns.task, fields)
        if _IDLE.fullmatch(name):
            return False
        task = tasks.setdefault(name, _Task(name))
        if len(tasks) > MOST_TASKS:
            raise self._error(
                f"names task {name[:_SHOWN]!r}, one of more than {MOST_TASKS:,}",
                "leave tasks out",
                columns.task,
                fields,
            )
        run = self._time(columns, "run", fields)
        wake = self._wake(columns, fields, run)
        if task.wakes and wake < task.wakes[-1]:
            before = _seconds(task.wakes[-1])
            raise self._error(
                f"task {name[:_SHOWN]!r} wakes at {_seconds(wake)}, before it did in a row above, {before}",
                "sort the rows by time",
                columns.places["wake" if "wake" in columns.places else "time"][0],
                fields,
            )
        self._extend(wake, wake + run)
        task.wakes.append(wake)
        task.runs.append(run)
        return True

    def _extend(self, wake: int, end: int) -> None:
        """Take a row into the time that all of them span."""
        begin, end = self._span = min(self._span[0], wake), max(self._span[1], end)
        if end - begin > _LONGEST:
            said = f"the rows up to here span {_seconds(end - begin)}, must span at most {_seconds(_LONGEST)}"
            raise self._error(said, "check the unit of time, or cut the file")

    def _wake(self, columns: _Columns, fields: Sequence[str], run: int) -> int:
        if "wake" in columns.places:
            return self._time(columns, "wake", fields)
        delay = self._time(columns, "delay", fields) if "delay" in columns.places else 0
        left = self._time(columns, "time", fields)
        if left < run + delay:
            raise self._error(
                f"time is {_seconds(left)}, must be at least run time and delay, {_seconds(run + delay)}",
                "give the time at which the processor was left",
                columns.places["time"][0],
                fields,
            )
        return left - run - delay

    def _time(self, columns: _Columns, name: str, fields: Sequence[str]) -> int:
        """Return a time in nanoseconds."""
        place, factor = columns.places[name]
        text = fields[place].strip()
        try:
            value = Decimal(text) if len(text) <= _MOST_DIGITS else Decimal("nan")
        except InvalidOperation:
            value = Decimal("nan")
        if not value.is_finite() or not 0 <= value * factor <= _LATEST:
            said = f"{name} is {text[:_SHOWN]!r}, must be a number from 0 to {_LATEST // factor:,}"
            raise self._error(
                said, "write it as in `0.25`; the header may name the unit, as in `run_ms`", place, fields
            )
        return int((value * factor).to_integral_value())

    def _columns(self, header: list[str]) -> _Columns:
        places: dict[str, tuple[int, int]] = {}
        for place, text in enumerate(header):
            found = _HEADER.fullmatch(text.strip().lower())
            name = (found[1] if found else text).strip().replace("_", " ")
            unit = (found[2] or found[3] or "") if found else ""
            known = next((key for key, names in _NAMES.items() if name in names), None)
            if known is None:
                continue
            if known in places:
                raise self._error(f"the header names `{known}` twice", "leave one", place, header)
            places[known] = (place, _UNITS["ns" if unit == "nsec" else unit])
        if not {"task", "run"} <= set(places) or not {"wake", "time"} & set(places):
            missing = "task" if "task" not in places else "run" if "run" not in places else "wake"
            raise self._error(f"the header has no column `{missing}`", _COLUMNS)
        task, _ = places.pop("task")
        return _Columns(len(header), task, places)

    def _error(
        self, message: str, remedy: str, place: int | None = None, fields: Sequence[str] | None = None
    ) -> TraceError:
        """Return the error of a row; ``place`` is the field, given as a column counted from 1."""
        value = None if place is None or fields is None else fields[place][:_SHOWN]
        column = None if place is None else place + 1
        return TraceError(message, remedy, str(self._path), self._line, column, value=value)


@dataclass(frozen=True, slots=True)
class _Columns:
    """Which field holds what; of times with what one unit is, in nanoseconds."""

    count: int
    task: int
    places: dict[str, tuple[int, int]]


# Writing.


def _files(tasks: Sequence[_Task], before: str) -> list[str]:
    """Return a file name for each task, no two alike even where letters' case does not count."""
    made: list[str] = []
    for task in tasks:
        stem = before + (_WORD.sub("_", task.name).strip("._") or "task")[:64]
        name, number = f"{stem}.csv", 2
        while name.lower() in {each.lower() for each in made}:
            name, number = f"{stem}.{number}.csv", number + 1
        made.append(name)
    return made


def _document(
    found: _Found, name: str, epoch: str, length: int, margin: float, files: Sequence[str]
) -> tuple[dict[str, Any], list[str]]:
    """Return the scenario, and what is to be known."""
    epochs = max(1, math.ceil((found.end - found.begin) / length))
    needs = [min(length, math.ceil(sum(task.runs) / epochs * (1 + margin / 100))) for task in found.tasks]
    changed = renamed(task.name for task in found.tasks)
    processes = [
        {"name": changed.get(task.name, task.name), **({"need": f"{need}ns"} if need else {}), "replay": file}
        for task, need, file in zip(found.tasks, needs, files, strict=True)
    ]
    document = {
        "weir": 1,
        "model": "node",
        "title": f"Replay of {name}",
        "seed": 1,
        "disciplines": list(DISCIPLINES),
        "node": {"epoch": epoch},
        "process": processes,
        "stop": {"warm_up": "0s", "duration": f"{min((epochs + 1) * length, _LONGEST)}ns"},
    }
    return document, [*_notes(found, sum(needs), length, margin), *notes(changed)]


def _notes(found: _Found, promised: int, length: int, margin: float) -> Iterator[str]:
    yield (
        f"Needs are what each task ran in an epoch on average, and {margin:g} % more. All tasks run on one "
        "node; a wake-up that comes while the one before is worked on waits for it."
    )
    if promised > length:
        yield (
            f"The needs are {promised / 1e6:.6g} ms in an epoch of {length / 1e6:.6g} ms: more than one "
            "processor has."
        )
    if found.idle:
        yield f"Left out: {plural(found.idle, 'row')} of the idle task."


def _seconds(time: int) -> str:
    return f"{time / 1e9:.9f}".rstrip("0").rstrip(".") + " s"
