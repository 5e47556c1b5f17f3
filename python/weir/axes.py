"""Axes of a sweep or a search: a key of the scenario, and the values that it takes.

========================================  ==============================================================
``workload.load=0.5:0.95:0.05``           from the first to the last, both included, in steps
``server.cores=1:64:*2``                  each a multiple of the one before
``link.0.delay=10ms:50ms:10ms``           with a unit, the same in all three
``discipline=alpha:{1,3,10,30}``          each of a list, in its place; several lists are combined
``disciplines=[["fifo"], ["sf", "rr"]]``  a TOML list, each element a value
``workload.load=0.9``                     one value
========================================  ==============================================================

Ranges are counted in decimals, so that what is written is what is reached: ``0.5:0.95:0.05`` ends with
0.95, and no value has a tail of nines. The key ``discipline`` stands for a scenario with that discipline
alone.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from typing import TYPE_CHECKING, Any, overload

from weir.errors import ConfigError
from weir.settings import Setting

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["ALONE", "Axis", "Cells", "Group", "csv_group", "grouped", "read_axis", "written"]

OPTION = "--over"
ALONE = "discipline"
"""The key of a scenario's only discipline."""
MOST = 1_000_000
"""Cells of a sweep."""
_NUMBER = r"[+-]?(?:\d[\d_]*)(?:\.\d+)?(?:[eE][+-]?\d+)?"
_RANGE = re.compile(rf"({_NUMBER})([A-Za-z%/]*):({_NUMBER})([A-Za-z%/]*)(?::(\*?)({_NUMBER})([A-Za-z%/]*))?")
_GIVEN_ELSEWHERE = {"stop.replications": "--replications", "stop.precision": "--precision"}


@dataclass(frozen=True, slots=True)
class Axis:
    """A key with its values; each value with the text by which cells are named."""

    key: str
    values: tuple[Any, ...]

    def setting(self, value: object) -> Setting:
        """Return the setting that gives the key this value."""
        key, value = ("disciplines", [value]) if self.key == ALONE else (self.key, value)
        read = Setting.read(f"{key}=0")
        return Setting(f"{self.key}={written(value)}", read.path, value)


@dataclass(frozen=True, slots=True)
class Group:
    """Axes that advance together: the values of each row belong together; a key without one is not set."""

    keys: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


def written(value: object) -> str:
    """Return a value as it is written in the name of a cell."""
    match value:
        case bool():
            return str(value).lower()
        case list():
            return ",".join(map(written, value))
    return str(value)


def read_axis(text: str, option: str = OPTION) -> Axis:
    """Read ``key=values``, given by an option.

    Raises
    ------
    ConfigError
        If it is not of that form, or has no values.
    """
    key, equals, values = text.partition("=")
    key = re.sub(r"\[(\d+)\]", r".\1", key.strip())
    if not equals or not values.strip():
        raise ConfigError(f"{option} is {text!r}, must be a key and its values", _example(option))
    return make_axis(key, values.strip(), text, option)


def make_axis(key: str, values: object, given: str, option: str = OPTION) -> Axis:
    """Return an axis from what stands in an option or in a table: a text, or a list of values.

    Raises
    ------
    ConfigError
        If the key is none, is given by an option of its own, or has no values, or one twice.
    """
    example, given = _example(option), f"{option} {given}"
    try:
        Setting.read(f"{key}=0")
    except ConfigError:
        raise ConfigError(f"{given}: `{key}` is no key", example) from None
    if key in _GIVEN_ELSEWHERE:
        remedy = f"leave it out, and write `{_GIVEN_ELSEWHERE[key]}`"
        raise ConfigError(f"{given}: `{key}` is the same for all cells", remedy)
    found = list(values) if isinstance(values, list | tuple) else _values(str(values), given)
    if not found:
        raise ConfigError(f"{given}: there is no value", example)
    if len(found) > MOST:
        raise ConfigError(f"{given}: {len(found):,} values, at most {MOST:,}", "take larger steps")
    seen = set()
    for value in found:
        name = (isinstance(value, bool | str), written(value))
        if name in seen:
            raise ConfigError(f"{given}: {written(value)} is there twice", "leave one of them")
        seen.add(name)
    return Axis(key, tuple(found))


def _example(option: str) -> str:
    return f"write `{option} 'workload.load=0.5:0.95:0.05'`, or `{option} 'discipline=alpha:{{1,3,10}}'`"


def _values(text: str, given: str) -> list[Any]:
    if text.startswith("["):
        value = Setting.read(f"x={text}").value
        if not isinstance(value, list):
            raise ConfigError(f"{given}: {text} is no list", "write one such as [1, 2, 3]")
        return value
    ranged = _RANGE.fullmatch(text)
    if ranged:
        return list(_ranged(ranged, given))
    return [Setting.read(f"x={each}").value for each in _combined(text, given)]


def _ranged(found: re.Match[str], given: str) -> Iterator[Any]:
    first, unit, last, last_unit, times, step, step_unit = found.groups()
    units = [unit, last_unit] + ([step_unit] if step is not None and not times else [])
    if len(set(units)) > 1:
        raise ConfigError(
            f"{given}: the units {', '.join(each or 'none' for each in units)} differ",
            "write all with the same unit, as in 10ms:50ms:10ms",
        )
    low, high, by = (Decimal((each or "1").replace("_", "")) for each in (first, last, step))
    if times and not (by > 1 and low > 0):
        raise ConfigError(f"{given}: *{by} from {low} never ends", "take a factor above 1, from above 0")
    if not times and by <= 0:
        raise ConfigError(f"{given}: the step is {by}, must be above 0", "write a positive step")
    if high < low:
        raise ConfigError(f"{given}: the last, {high}, is below the first, {low}", "exchange the two")
    if (high - low) / by > MOST and not times:
        raise ConfigError(f"{given}: more than {MOST:,} values", "take larger steps")
    value = low
    while value <= high:
        yield f"{_plain(value)}{unit}" if unit else _number(value)
        value = value * by if times else value + by


def _plain(value: Decimal) -> str:
    """Return a decimal without exponent and without zeros that say nothing."""
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _number(value: Decimal) -> int | float:
    text = _plain(value)
    return float(text) if "." in text else int(text)


def _combined(text: str, given: str) -> list[str]:
    """Return all texts that lists in braces make, the first list slowest."""
    parts: list[list[str]] = []
    rest = text
    while "{" in rest:
        before, _, after = rest.partition("{")
        inside, closed, rest = _closing(after)
        if not closed:
            raise ConfigError(f"{given}: a brace is not closed", "add `}`")
        parts += [[before], [text for each in inside for text in _combined(each, given)]]
    parts.append([rest])
    return ["".join(each) for each in product(*parts)]


def _closing(text: str) -> tuple[list[str], bool, str]:
    """Return the elements up to the closing brace, whether there is one, and what follows it."""
    elements, depth, begin = [], 0, 0
    for place, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]" or (letter == "}" and depth > 0))
        if letter == "," and depth == 0:
            elements.append(text[begin:place].strip())
            begin = place + 1
        elif letter == "}" and depth == 0:
            return [*elements, text[begin:place].strip()], True, text[place + 1 :]
    return [], False, ""


def grouped(axes: Sequence[Axis], zipped: Iterable[Sequence[str]]) -> list[Group]:
    """Return the axes, those that are zipped as one, in the order of the first of each.

    Raises
    ------
    ConfigError
        If a key is given twice, or zipped keys are no axes or differ in length.
    """
    of = {axis.key: axis for axis in axes}
    if len(of) < len(axes):
        twice = next(axis.key for place, axis in enumerate(axes) if axis.key in [a.key for a in axes[:place]])
        raise ConfigError(f"{OPTION} {twice} is given twice", "write all its values in one")
    together = {}
    for keys in zipped:
        for key in keys:
            if key not in of or key in together:
                reason = "is in two groups" if key in together else "is no axis"
                raise ConfigError(f"--zip {','.join(keys)}: `{key}` {reason}", f"name axes: {', '.join(of)}")
            together[key] = tuple(keys)
        lengths = {key: len(of[key].values) for key in keys}
        if len(set(lengths.values())) > 1:
            counted = ", ".join(f"{key} has {count}" for key, count in lengths.items())
            raise ConfigError(f"--zip {','.join(keys)}: {counted} values", "give all of them as many values")
    order = dict.fromkeys(together.get(key, (key,)) for key in of)
    return [Group(keys, tuple(zip(*(of[key].values for key in keys), strict=True))) for keys in order]


def csv_group(text: str, name: str) -> Group:
    """Return the cells of a CSV: keys in its first line, a cell in each other; an empty field sets nothing.

    Raises
    ------
    ConfigError
        If it has no cells, or a line has not as many fields as the first.
    """
    lines = [line for line in csv.reader(io.StringIO(text)) if any(field.strip() for field in line)]
    if len(lines) < 2:
        raise ConfigError(
            f"--cells {name}: there are no cells", "write keys in the first line, a cell in each other"
        )
    keys = tuple(make_axis(key.strip(), [0], f"{name}: {key}").key for key in lines[0])
    if len(set(keys)) < len(keys):
        raise ConfigError(f"--cells {name}: a key is there twice", "leave one of its columns")
    rows = []
    for number, line in enumerate(lines[1:], 2):
        if len(line) != len(keys):
            raise ConfigError(
                f"--cells {name}: line {number} has {len(line)} fields, must have {len(keys)}",
                "write a field for each key; an empty one sets nothing",
            )
        rows.append(tuple(_field(field.strip()) for field in line))
    return Group(keys, tuple(rows))


def _field(text: str) -> Any:  # noqa: ANN401 - whatever TOML can hold
    return Setting.read(f"x={text}").value if text else None


@dataclass(frozen=True, slots=True)
class Cells(Sequence[dict[str, Any]]):
    """All combinations of the groups, the first slowest; or those of them that are kept, by their places.

    A cell is made when it is asked for: memory grows with the values of the axes and not with their
    combinations.
    """

    groups: tuple[Group, ...]
    kept: tuple[int, ...] | None = None

    @property
    def combinations(self) -> int:
        """How many there are, kept or not."""
        return math.prod(len(group.rows) for group in self.groups)

    def __len__(self) -> int:
        return self.combinations if self.kept is None else len(self.kept)

    @overload
    def __getitem__(self, place: int) -> dict[str, Any]: ...

    @overload
    def __getitem__(self, place: slice) -> list[dict[str, Any]]: ...

    def __getitem__(self, place: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        if isinstance(place, slice):
            return [self._cell(each) for each in range(len(self))[place]]
        return self._cell(range(len(self))[place])

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return map(self._cell, range(len(self)))

    def _cell(self, place: int) -> dict[str, Any]:
        left, rows = place if self.kept is None else self.kept[place], []
        for group in reversed(self.groups):
            left, row = divmod(left, len(group.rows))
            rows.append(row)
        cell: dict[str, Any] = {}
        for group, row in zip(self.groups, reversed(rows), strict=True):
            values = zip(group.keys, group.rows[row], strict=True)
            cell |= {key: value for key, value in values if value is not None}
        return cell
