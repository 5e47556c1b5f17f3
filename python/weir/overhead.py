"""What a message takes of a process, and what a scheduling costs besides: from counters alone.

A process that runs for ``t`` seconds of every second, handles ``M`` messages in it and is scheduled ``n``
times spends ``t = M B + n s``: ``B`` on each message, ``s`` on each scheduling. Two settings that differ in
how often it is scheduled for each message, such as two lengths of its slice, tell both; more do so better.
The counters may come from a simulation, or from a process that is watched at work. (Rettberg, BBN Report
5285, 1983, section 4.2.)
"""

from __future__ import annotations

import csv
import json
import math
import re
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weir import _weir
from weir.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from os import PathLike

__all__ = ["Counters", "Duration", "Overhead", "SettingOverhead", "estimate_overhead", "read", "seconds"]

_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_SPAN = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(s|ms|us|µs|ns)")
_MOST_ROWS = 1_000_000
_MILLI = 1e3
"""Milliseconds in a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counters:
    """What was counted of a process at one setting.

    ``run_time`` is in seconds a second, so 0.961 where it ran for 961 ms of each; ``messages`` and
    ``schedulings`` are a second. The standard errors have the units of what they are of; all 0 where they
    are not known.
    """

    run_time: float
    messages: float
    schedulings: float
    run_time_error: float = 0.0
    messages_error: float = 0.0
    schedulings_error: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Duration:
    """A time in seconds, with its 95 % interval and standard error where there are any."""

    value: float
    low: float | None
    high: float | None
    standard_error: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingOverhead:
    """What one setting tells.

    ``overhead`` is ``(t - M B) / n``, None where nothing was scheduled; ``sensitivity`` is what it moves by
    when the time of a message does, ``-M / n``, in seconds by second; ``residual`` is what is left over of
    the run time, in seconds a second.
    """

    overhead: Duration | None
    sensitivity: float | None
    residual: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Overhead:
    """What a message takes, and what a scheduling costs.

    ``correlation`` says how the errors of both go together, from -1 to 1. ``misfit`` is about 1 where the
    standard errors that were given explain what the settings leave over. ``method`` says where the intervals
    come from; where there are none, ``reason`` says why.
    """

    message_time: Duration
    overhead: Duration
    correlation: float | None
    misfit: float | None
    settings: tuple[SettingOverhead, ...]
    method: str | None
    reason: str | None

    def to_dict(self) -> dict[str, Any]:
        """Return it as a JSON object; times are in seconds."""
        return {"unit": "s", **asdict(self)}


def estimate_overhead(
    settings: Iterable[Counters | Mapping[str, float]], message_time: float | None = None
) -> Overhead:
    """Estimate what a message takes and what a scheduling costs, from the counters of a process.

    Two settings give the equations of the report; more are fitted by least squares through the origin,
    weighted where standard errors are given. Errors are propagated with their correlation. Without standard
    errors the intervals come from what more than two settings leave over; two settings then have none.

    Parameters
    ----------
    settings : iterable of Counters or of mappings with the same keys
        Settings at which the process is scheduled more and less often for each message; at least two, or one
        where ``message_time`` is given.
    message_time : float, optional
        What a message takes, in seconds, where it is known from elsewhere. Then only the overhead is
        estimated.

    Returns
    -------
    Overhead
        Times in seconds.

    Raises
    ------
    ConfigError
        If there are too few settings, a value is not a finite number of at least 0, a run time is above 1
        (as one in ms of each second is), some settings have
        standard errors and others have none, or all settings have the same number of schedulings for each
        message.

    Examples
    --------
    >>> slow = Counters(run_time=0.961, messages=1738.0, schedulings=10.0)
    >>> fast = Counters(run_time=0.961, messages=1516.0, schedulings=960.0)
    >>> found = estimate_overhead([slow, fast])
    >>> round(found.overhead.value * 1e6)
    129
    """
    rows = [each if isinstance(each, Counters) else _counters(each) for each in settings]
    for place, row in enumerate(rows, 1):
        _check_run_time(f"run_time of setting {place}", row.run_time)
    known = None if message_time is None else _number(message_time)
    told = json.loads(_weir.estimate_overhead([_numbers(row) for row in rows], known))
    return Overhead(
        message_time=Duration(**told["message_time"]),
        overhead=Duration(**told["overhead"]),
        correlation=told["correlation"],
        misfit=told["misfit"],
        settings=tuple(map(_setting, told["settings"])),
        method=told["method"],
        reason=told["reason"],
    )


def _setting(row: Mapping[str, Any]) -> SettingOverhead:
    overhead = row["overhead"] and Duration(**row["overhead"])
    return SettingOverhead(overhead=overhead, sensitivity=row["sensitivity"], residual=row["residual"])


def _counters(row: Mapping[str, float]) -> Counters:
    known = [field.name for field in fields(Counters)]
    unknown = [key for key in row if key not in known]
    missing = [name for name in known[:3] if name not in row]
    if unknown or missing:
        what = f"setting has no {missing[0]}" if missing else f"setting has {unknown[0]}, which is unknown"
        raise ConfigError(what, f"give {', '.join(known[:3])}, and {', '.join(known[3:])} where known")
    return Counters(**row)


def _numbers(row: Counters) -> tuple[float, float, float, float, float, float]:
    return (
        _number(row.run_time),
        _number(row.messages),
        _number(row.schedulings),
        _number(row.run_time_error),
        _number(row.messages_error),
        _number(row.schedulings_error),
    )


def _check_run_time(what: str, value: object, *place: Any) -> None:  # noqa: ANN401 - file and line of an error
    """Refuse more than a second of each second: it was counted in another unit."""
    if isinstance(value, int | float) and 1 < value < math.inf:
        told = f"{what} is {value:g}, must be at most 1: seconds of run time in each second"
        remedy = (
            f"write {value / 1e3:g} for {value:g} ms/s" if value <= _MILLI else "write it in seconds a second"
        )
        raise ConfigError(told, remedy, *place)


def _number(value: float) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise ConfigError(
            f"value is {value!r:.40}, must be a number", "give it in seconds, or a second"
        ) from None


def seconds(text: str) -> float:
    """Return a time that is written with its unit, such as ``552.2us``, in seconds.

    Raises
    ------
    ConfigError
        If it is not written so.
    """
    found = _SPAN.fullmatch(text.strip())
    if found is None:
        raise ConfigError(
            f"time is {text!r:.40}, must be a number with s, ms, us or ns", "write it as in 552.2us"
        )
    return float(found[1]) * _UNITS[found[2]]


def read(file: str | PathLike[str]) -> list[Counters]:
    """Read settings from a CSV file, one a row.

    Its columns are ``run_time`` (seconds a second), ``messages`` and ``schedulings`` (a second), and, where
    they are known, ``run_time_error``, ``messages_error`` and ``schedulings_error``; in any order.

    Raises
    ------
    ConfigError
        If the file cannot be read, or is not such a table.
    """
    path = Path(file)
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            return _rows(csv.reader(lines, strict=True), str(path))
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", "check the path", str(path)) from error
    except UnicodeDecodeError as error:
        raise ConfigError("is not text in UTF-8", "save it as UTF-8", str(path)) from error
    except csv.Error as error:
        raise ConfigError(f"is not CSV: {error}", "check its quotes and line ends", str(path)) from error


def _rows(lines: Any, name: str) -> list[Counters]:  # noqa: ANN401 - a reader of csv has no public type
    columns = [cell.strip() for cell in next(lines, [])]
    _check_columns(columns, name)
    rows: list[Counters] = []
    for cells in lines:
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) != len(columns):
            what = f"row has {len(cells)} cells, must have {len(columns)}"
            raise ConfigError(what, "give every column a value", name, lines.line_num)
        if len(rows) == _MOST_ROWS:
            raise ConfigError(f"has more than {_MOST_ROWS} rows", "give fewer settings", name, lines.line_num)
        values = {
            column: _cell(column, cell, (name, lines.line_num))
            for column, cell in zip(columns, cells, strict=True)
        }
        rows.append(Counters(**values))
    return rows


def _check_columns(columns: list[str], name: str) -> None:
    known = [field.name for field in fields(Counters)]
    remedy = f"name the columns {', '.join(known[:3])}, and {', '.join(known[3:])} where known"
    for column in columns:
        if column not in known:
            raise ConfigError(f"column {column!r:.40} is unknown", remedy, name, 1)
        if columns.count(column) > 1:
            raise ConfigError(f"column {column} appears {columns.count(column)} times", remedy, name, 1)
    missing = [column for column in known[:3] if column not in columns]
    if missing:
        raise ConfigError(f"column {missing[0]} is missing", remedy, name, 1)


def _cell(column: str, cell: str, place: tuple[str, int]) -> float:
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 0):
        what = f"{column} is {cell.strip()!r:.40}, must be a finite number of at least 0"
        raise ConfigError(what, "give run times in seconds a second, and events a second", *place)
    if column == "run_time":
        _check_run_time(column, value, *place)
    return value
