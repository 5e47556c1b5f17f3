"""Which column of a log is what: by an option, by the scenario made before, by name or format, or by asking.

What is found is written into the scenario as a comment, one line of TOML: `remembered` reads it again, so
that a second import of the same log into the same place asks nothing.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weir.errors import ConfigError
from weir.toml import value

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

__all__ = ["STAMPS", "TIMES_OF", "UNITS", "Asked", "chosen", "is_total", "remark", "remembered"]

STAMPS = ("common", "iso", "s", "ms", "us", "ns")
"""How points in time are written: as in access logs, by ISO 8601, as numbers."""
TIMES_OF = ("arrival", "end")
"""What the times of a log are of."""
UNITS = ("s", "ms", "us", "ns", "written")
"""Units of durations; ``written`` is a unit behind each number."""

_REMARK = "columns: "
_WRITTEN = {"format", "time", "stamp", "time_of", "service"}
"""What the line always has."""
_ENDING = re.compile(r"[_ .(-](s|sec|secs|seconds|ms|msec|millis|us|usec|micros|ns|nsec|nanos)\)?$")
_OF_ARRIVAL = (
    *("arrival", "arrived", "arrival_time", "start", "started", "start_time", "started_at", "begin"),
    *("received", "received_at", "request_start", "request_time_start"),
)
_OF_END = ("end", "ended", "end_time", "finished", "finished_at", "completed", "completed_at", "done")
_TIMES = ("time", "timestamp", "ts", "@timestamp", "date", "datetime", "time_local", "time_iso8601", "msec")
_SERVICES = (
    *(
        "upstream_response_time",
        "urt",
        "upstream_service_time",
        "service_time",
        "service",
        "service_duration",
    ),
    *(
        "processing_time",
        "processing",
        "handler_time",
        "handler",
        "runtime",
        "run_time",
        "exec_time",
        "backend_time",
    ),
)
_TOTALS = (
    *("request_time", "rt", "duration", "latency", "response_time", "response", "elapsed", "elapsed_time"),
    *("took", "total_time", "total", "time_taken", "request_duration", "responsetime"),
)
_STATUSES = ("status", "status_code", "statuscode", "http_status", "code", "response_code", "http.status")


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What the caller says of the columns; what is ``None`` is found, or asked for."""

    time: str | None = None
    time_unit: str | None = None
    time_of: str | None = None
    service: str | None = None
    unit: str | None = None
    duration: str | None = None
    duration_unit: str | None = None
    klass: str | None = None
    status: str | None = None


def chosen(
    survey: Mapping[str, Any],
    file: str,
    asked: Asked,
    before: Mapping[str, Any] | None,
    ask: Callable[[str, Sequence[str]], str] | None,
) -> dict[str, Any]:
    """Return which column is what, as `weir._weir.import_log` takes it, without the disorder.

    Parameters
    ----------
    survey : mapping
        What `weir._weir.survey_log` says.
    file : str
        The log, for errors.
    asked : Asked
        What the caller says; it goes first.
    before : mapping, optional
        What `remembered` gave.
    ask : callable, optional
        Called with a question and the answers there are where nothing else knows; none off a terminal.

    Raises
    ------
    ConfigError
        If a column or a unit is not known, with the columns there are, or an option is not one of its words.
    """
    return _Choice(survey, file, asked, before or {}, ask).reading()


def remark(reading: Mapping[str, Any]) -> str:
    """Return the columns as a line of a comment."""
    return f"{_REMARK}{value({key: each for key, each in reading.items() if each is not None})}"


def remembered(scenario: Path) -> dict[str, Any] | None:
    """Return the columns that the comment of a scenario names; None without scenario or line.

    Raises
    ------
    ConfigError
        If the line is not one that an import wrote.
    """
    try:
        lines = scenario.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    start = f"# {_REMARK}"
    for number, line in enumerate(lines, 1):
        if not line.startswith(start):
            continue
        try:
            found = tomllib.loads(f"x = {line.removeprefix(start)}")["x"]
        except ValueError:
            found = None
        if isinstance(found, dict) and set(found) >= _WRITTEN:
            return found
        remedy = "remove the line, and name the columns by options"
        message = "the columns of the import before are not understood"
        raise ConfigError(message, remedy, str(scenario), number)
    return None


def is_total(name: str) -> bool | None:
    """Return whether a column is of the time from request to answer, not of the service; None if unknown."""
    plain = _plain(name)
    return True if plain in _TOTALS else False if plain in _SERVICES else None


def _plain(name: str) -> str:
    """Return a name without its unit, in small letters, and of nested objects the last part."""
    return _ENDING.sub("", name.rsplit(".", 1)[-1].strip()).lower().replace("-", "_").replace(" ", "_")


class _Choice:
    """One choice."""

    def __init__(
        self,
        survey: Mapping[str, Any],
        file: str,
        asked: Asked,
        before: Mapping[str, Any],
        ask: Callable[[str, Sequence[str]], str] | None,
    ) -> None:
        self._format = survey["format"]
        self._columns: dict[str, dict[str, Any]] = {each["name"]: each for each in survey["columns"]}
        self._file = file
        self._asked = asked
        self._before = before if self._is_of_this_log(before) else {}
        self._ask = ask

    def _is_of_this_log(self, before: Mapping[str, Any]) -> bool:
        """Whether the columns of an import before are there; it may have been of another log."""
        if not before or before["format"] != self._format:
            return False
        named = [before["time"], before["service"][0], before.get("class"), before.get("status")]
        named += (before.get("duration") or [])[:1]
        return all(name is None or name in self._columns for name in named)

    def reading(self) -> dict[str, Any]:
        time = self._time()
        stamp = self._stamp(time)
        service = self._service(time)
        time_of = self._time_of(time, service)
        return {
            "format": self._format,
            "time": time,
            "stamp": stamp,
            "time_of": time_of,
            "service": self._with_unit(service, self._asked.unit, "service", "--unit"),
            "duration": self._duration(service, time_of),
            "class": self._named(self._asked.klass, "class", "--class"),
            "status": self._status(),
        }

    # Columns.

    def _named(self, asked: str | None, key: str, option: str) -> str | None:
        """Return the column that an option names, or the scenario made before."""
        name = asked if asked is not None else self._before.get(key)
        if name is not None and name not in self._columns and self._format != "json_lines":
            raise self._refused(f"{option} is `{name}`, which is not a column of the log", option)
        return name

    def _time(self) -> str:
        named = self._named(self._asked.time, "time", "--time")
        if named is not None:
            return named
        known = (*_TIMES, *_OF_ARRIVAL, *_OF_END)
        found = [name for name in self._columns if _plain(name) in known]
        if len(found) != 1:
            found = [name for name in found or self._columns if self._columns[name]["stamp"] is not None]
        if len(found) == 1:
            return found[0]
        return self._question("time", "which column has the time of a request", list(self._columns), "--time")

    def _service(self, time: str) -> str:
        before = self._before.get("service")
        named = self._named(self._asked.service, "", "--service") or (before[0] if before else None)
        if named is not None:
            return named
        for known in (_SERVICES, _TOTALS):
            for plain in known:
                found = [name for name in self._columns if _plain(name) == plain and name != time]
                if found:
                    return found[0]
        with_unit = [
            name for name, each in self._columns.items() if each["unit"] is not None and name != time
        ]
        if len(with_unit) == 1:
            return with_unit[0]
        others = [name for name in self._columns if name != time]
        question = "which column has the service time of a request, or the time that it took"
        return self._question("service time", question, others, "--service")

    def _duration(self, service: str, time_of: str) -> list[str] | None:
        """Return the column of the time from arrival to end, where needed and not the service."""
        before = self._before.get("duration")
        named = self._named(self._asked.duration, "", "--duration") or (before[0] if before else None)
        if named is None and time_of == "end" and not is_total(service):
            named = next(
                (name for name in self._columns if _plain(name) in _TOTALS and name != service), None
            )
        if named is None or named == service:
            return None
        return self._with_unit(named, self._asked.duration_unit, "duration", "--duration-unit")

    def _status(self) -> str | None:
        named = self._named(self._asked.status, "status", "--status")
        return named or next((name for name in self._columns if name.lower() in _STATUSES), None)

    # How they are written.

    def _stamp(self, time: str) -> str:
        asked = self._word(self._asked.time_unit, STAMPS, "--time-unit")
        if asked is not None:
            return asked
        if self._before.get("time") == time:
            return str(self._before["stamp"])
        column = self._columns.get(time, {"stamp": None, "unit": None})
        found = column["stamp"] or (column["unit"] if column["unit"] != "written" else None)
        if found is not None:
            return str(found)
        return self._question(
            "unit of the times", f"how are times written in `{time}`", STAMPS, "--time-unit"
        )

    def _time_of(self, time: str, service: str) -> str:
        asked = self._word(self._asked.time_of, TIMES_OF, "--time-of")
        if asked is not None:
            return asked
        if self._before.get("time") == time:
            return str(self._before["time_of"])
        if self._format == "envoy":  # %START_TIME%
            return "arrival"
        if self._format == "access":
            # nginx: $time_local, the end, and times with a fraction; Apache: %t, the arrival, and %D or %T.
            return "arrival" if service == "duration" else "end"
        plain = _plain(time)
        if plain in _OF_ARRIVAL or plain in _OF_END:
            return "arrival" if plain in _OF_ARRIVAL else "end"
        question = f"is `{time}` when a request arrived, or when it ended, as mostly in logs"
        return self._question("meaning of the times", question, TIMES_OF, "--time-of")

    def _with_unit(self, name: str, asked: str | None, key: str, option: str) -> list[str]:
        given = self._word(asked, UNITS, option)
        before = self._before.get(key)
        if given is None and before and before[0] == name:
            given = before[1]
        if given is None:
            given = self._columns.get(name, {"unit": None})["unit"]
        if given is None:
            hint = ": %D of Apache is in us, %T in s" if self._format == "access" else ""
            question = f"which unit have the durations in `{name}`{hint}"
            given = self._question(f"unit of `{name}`", question, UNITS, option)
        return [name, given]

    # Asking and refusing.

    def _word(self, given: str | None, words: Sequence[str], option: str) -> str | None:
        if given is not None and given not in words:
            raise ConfigError(f"{option} is `{given}`, must be one of {', '.join(words)}", "use one of them")
        return given

    def _question(self, what: str, question: str, answers: Sequence[str], option: str) -> str:
        if self._ask is None:
            raise self._refused(f"the {what} is not known: {question}?", option, answers)
        return self._ask(question, answers)

    def _refused(self, message: str, option: str, answers: Sequence[str] | None = None) -> ConfigError:
        words = list(self._columns) if answers is None else answers
        kind = "columns" if words and words[0] in self._columns else "words"
        return ConfigError(message, f"say {option} with one of the {kind} {', '.join(words)}", self._file)
