"""The plan of a sweep: a scenario, and the cells that are made of it.

It comes from the table ``[sweep]`` of a scenario file and from options, which add to it; an axis that both
have is that of the option. What a plan says depends on these alone, so that every process, shard and
machine makes the same cells.
"""

from __future__ import annotations

import copy
import json
import tomllib
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weir import axes, toml
from weir.axes import ALONE, Axis, Cells, Group, written
from weir.errors import ConfigError, ScenarioError
from weir.files import read_text
from weir.scenario import Scenario
from weir.sweeping.conditions import Condition
from weir.sweeping.texts import engine_cells

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from weir import _weir
    from weir.settings import Setting

__all__ = ["Asked", "Plan", "make_plan", "share_of"]

_KEYS = ("over", "zip", "cells", "except", "replications", "precision")
_FORMAT = 2
_NOT_A_KEY = "is not a key here"
_TRIED = 3
"""Values of an axis that are tried before its key is said to be none."""
_FINEST, _WIDEST = 0.0001, 0.5


@dataclass(frozen=True)
class Asked:
    """What is asked for besides the file: axes, zipped axes, a CSV, conditions, and how much of each cell."""

    over: Sequence[Axis] = ()
    zipped: Sequence[Sequence[str]] = ()
    cells: Group | None = None
    left_out: Sequence[str] = ()
    replications: int | None = None
    precision: float | None = None


@dataclass(frozen=True)
class Plan:
    """A scenario and the cells that are made of it.

    Attributes
    ----------
    base : str
        The scenario without its table ``[sweep]``.
    name : str
        The file it came from; data files are relative to it.
    keys : tuple of str
        The axes.
    cells : sequence of dict
        The values of the axes in each cell.
    replications : int or None
        Of each cell; if None, as many as its scenario has.
    precision : float or None
        How wide the interval of a mean may be, as a share of it.
    """

    base: str
    name: str
    keys: tuple[str, ...]
    cells: Cells
    replications: int | None = None
    precision: float | None = None
    _document: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._document.update(tomllib.loads(self.base))

    @property
    def has_needs(self) -> bool:
        """Whether the scenario says what must hold."""
        return bool(self._document.get("need"))

    def text(self, place: int) -> str:
        """Return the scenario of a cell."""
        return self.engine.text(place)[0]

    @cached_property
    def engine(self) -> _weir.Cells:
        """The cells as the engine takes them."""
        return engine_cells(self)

    def document(self, cell: Mapping[str, Any]) -> dict[str, Any]:
        """Return the scenario with the values of a cell, as nested mappings."""
        document = copy.deepcopy(self._document)
        for key, value in cell.items():
            _axis(key).setting(value).put(document)
        if ALONE in cell:
            document.pop("reference", None)  # of a list that is no more
        return document

    def label(self, place: int) -> str:
        """Return the name of a cell: its values by their keys."""
        return " ".join(f"{key}={written(value)}" for key, value in self.cells[place].items())

    def to_json(self) -> str:
        """Return the plan as it is kept in the folder of its sweep."""
        kept = {
            "weir_sweep": _FORMAT,
            "name": self.name,
            "base": self.base,
            "keys": self.keys,
            "groups": [{"keys": group.keys, "rows": group.rows} for group in self.cells.groups],
            "kept": self.cells.kept,
            "replications": self.replications,
            "precision": self.precision,
        }
        return json.dumps(kept, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str, path: str) -> Plan:
        """Return a plan that was kept.

        Raises
        ------
        ConfigError
            If it is none.
        """
        try:
            kept = json.loads(text)
            if kept["weir_sweep"] != _FORMAT:
                raise ConfigError(
                    f"is a plan of format {kept['weir_sweep']}, this reads {_FORMAT}", "sweep again", path
                )
            groups = tuple(
                Group(tuple(each["keys"]), tuple(map(tuple, each["rows"]))) for each in kept["groups"]
            )
            return cls(
                kept["base"],
                kept["name"],
                tuple(kept["keys"]),
                Cells(groups, None if kept["kept"] is None else tuple(kept["kept"])),
                kept["replications"],
                kept["precision"],
            )
        except (ValueError, KeyError, TypeError) as error:
            if isinstance(error, ConfigError):
                raise
            raise ConfigError(
                "is no plan of a sweep", "name a folder that `weir sweep` has made", path
            ) from None


def _axis(key: str) -> Axis:
    return Axis(key, ())


def make_plan(
    text: str, name: str, settings: Iterable[Setting], asked: Asked, seed: int | None = None
) -> Plan:
    """Return the plan of a scenario file and what is asked for besides it.

    Raises
    ------
    ScenarioError
        If the scenario or its table ``[sweep]`` is refused.
    ConfigError
        If an axis names no key, or a condition no axis; or if no cell is left.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        Scenario.from_toml(text, name)  # which says where
        raise
    asked = _both(document.pop("sweep", {}), asked, name)
    for each in settings:
        each.put(document)
    if seed is not None:
        document["seed"] = seed
    groups = axes.grouped(asked.over, asked.zipped)
    groups += [asked.cells] if asked.cells else []
    keys = tuple(key for group in groups for key in group.keys)
    if not keys:
        raise ConfigError("no axis is given", "write one, as in `--over 'workload.load=0.5:0.95:0.05'`", name)
    twice = next((key for place, key in enumerate(keys) if key in keys[:place]), None)
    if twice:
        raise ConfigError(f"{twice} is an axis and a column of the cells", "leave one of the two", name)
    _check_files(groups, name)
    conditions = [Condition(each, keys) for each in asked.left_out]
    cells = _kept(groups, conditions, name)
    plan = Plan(toml.dumps(document), name, keys, cells, asked.replications, asked.precision)
    _check_keys(plan, groups)
    return plan


def _kept(groups: Sequence[Group], conditions: Sequence[Condition], name: str) -> Cells:
    every = Cells(tuple(groups))
    if every.combinations > axes.MOST:
        count = f"the axes make {every.combinations:,} cells, at most {axes.MOST:,}"
        raise ConfigError(count, "take larger steps", name)
    if not conditions:
        return every
    kept = tuple(place for place, cell in enumerate(every) if not any(holds(cell) for holds in conditions))
    if not kept:
        raise ConfigError("the conditions leave no cell", "leave one of them out", name)
    return Cells(every.groups, kept)


def _both(table: object, asked: Asked, name: str) -> Asked:
    """Return what the table ``[sweep]`` and the options ask for together."""
    if not isinstance(table, dict):
        raise ScenarioError("sweep must be a table", "write `[sweep]`", name, key="sweep")
    for key in table:
        if key not in _KEYS:
            raise ScenarioError(
                f"sweep.{key} is not a key here",
                f"choose one of `{'`, `'.join(_KEYS)}`",
                name,
                key=f"sweep.{key}",
            )
    over = table.get("over", {})
    if not isinstance(over, dict):
        raise ScenarioError(
            "sweep.over must be a table of keys and their values",
            'write `[sweep.over]`, and below it `"workload.load" = "0.5:0.9:0.1"`',
            name,
            key="sweep.over",
        )
    own = {key: axes.make_axis(key, values, f"{key}={values}") for key, values in _flat(over)}
    own |= {axis.key: axis for axis in asked.over}
    if len({axis.key for axis in asked.over}) < len(asked.over):
        axes.grouped(asked.over, ())  # which says what is given twice
    cells = asked.cells
    if cells is None and "cells" in table:
        path = Path(name).parent / str(table["cells"])
        cells = axes.csv_group(read_text(path), str(path))
    return Asked(
        tuple(own.values()),
        (*(tuple(map(str, each)) for each in _list(table, "zip", name)), *asked.zipped),
        cells,
        (*map(str, _list(table, "except", name)), *asked.left_out),
        asked.replications if asked.replications is not None else _whole(table, name),
        asked.precision if asked.precision is not None else _share(table, name),
    )


def _flat(over: Mapping[str, Any], before: str = "") -> list[tuple[str, Any]]:
    """Return keys with their values; ``workload.load = ...`` without quotes makes a table of a table."""
    found: list[tuple[str, Any]] = []
    for key, value in over.items():
        whole = f"{before}.{key}" if before else key
        found += _flat(value, whole) if isinstance(value, dict) else [(whole, value)]
    return found


def _list(table: Mapping[str, Any], key: str, name: str) -> list[Any]:
    value = table.get(key, [])
    if not isinstance(value, list):
        raise ScenarioError(
            f"sweep.{key} must be a list", "write brackets around it", name, key=f"sweep.{key}"
        )
    return value


def _whole(table: Mapping[str, Any], name: str) -> int | None:
    value = table.get("replications")
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
        raise ScenarioError(
            f"sweep.replications is {value!r}, must be 1 or more",
            "write a whole number",
            name,
            key="sweep.replications",
        )
    return value


def _share(table: Mapping[str, Any], name: str) -> float | None:
    value = table.get("precision")
    return None if value is None else share_of(value, "sweep.precision", name)


def share_of(value: object, what: str, name: str | None = None) -> float:
    """Return a share such as ``"1%"`` or 0.01.

    Raises
    ------
    ConfigError
        If it is none, or not from 0.01 % to 50 %.
    """
    text = str(value).strip()
    try:
        share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = -1.0
    if not _FINEST <= share <= _WIDEST:
        raise ConfigError(f"{what} is {text}, must be from 0.01% to 50%", 'write one such as "1%"', name)
    return share


def _check_files(groups: Sequence[Group], name: str) -> None:
    """Refuse disciplines from files of Python, which a plan cannot carry to other processes."""
    for group in groups:
        for row in group.rows:
            file = next((value for value in row if isinstance(value, str) and ".py:" in value), None)
            if file is not None:
                raise ConfigError(
                    f"`{file}` is a class of Python, and what is kept of a sweep would not tell what it does",
                    "sweep it in Python, by `weir.sweep` with the class in `over` and without `out`",
                    name,
                )


def _check_keys(plan: Plan, groups: Sequence[Group]) -> None:
    """Refuse axes whose keys the scenario does not have, before anything is run."""
    for group in groups:
        for place, key in enumerate(group.keys):
            values = [row[place] for row in group.rows if row[place] is not None][:_TRIED]
            refusals = [_refusal(plan, {**plan.cells[0], key: value}, key) for value in values]
            if refusals and all(refusals) and (first := refusals[0]):
                reason = f"axis {key} names no key of the scenario: {first.message}"
                raise ConfigError(reason, first.remedy, plan.name, key=key)


def _refusal(plan: Plan, cell: Mapping[str, Any], key: str) -> ConfigError | None:
    """Return why a cell has no such key, if that is what is wrong with it."""
    setting = _axis(key).setting(0)
    try:
        document = plan.document(cell)
    except ConfigError as error:
        return error
    try:
        Scenario.from_dict(document, plan.name)
    except ConfigError as error:
        own = error.key is not None and (
            setting.keys == error.key or setting.keys.startswith(f"{error.key}.")
        )
        return error if own and _NOT_A_KEY in error.message else None
    return None
