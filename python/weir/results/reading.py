"""Checks of a result that is read: every field is of the type that its row declares, and every number finite.

A result file may come from another version, be cut off or be edited. Whatever is wrong with it is an error
with its place, such as ``estimates[3].value``, and never shows as a number or as a failure further on.
"""

from __future__ import annotations

import json
import math
from dataclasses import MISSING, fields
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NoReturn

from weir.errors import ResultError
from weir.results.rows import Confirmed

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping, Sequence

ALL = "all"
"""The name of all of a kind together."""
REMEDY = "give a file that `weir run --out FILE.json` wrote"
_LARGEST_INTEGER = 2**64
_LARGEST = 1e100
"""Above all that is measured, and its square is a number still."""
_SHOWN = 40


def parse(text: str, name: str) -> dict[str, Any]:
    """Return a JSON object.

    Raises
    ------
    ResultError
        If the text is not JSON, or not an object.
    """
    try:
        document = json.loads(text, parse_constant=_constant)
        if "\\ud" in text.lower():
            json.dumps(document, ensure_ascii=False).encode()  # half a character cannot be written
    except json.JSONDecodeError as error:
        message = f"is not JSON: {error.msg.lower()}"
        raise ResultError(message, REMEDY, name, error.lineno, error.colno) from error
    except RecursionError as error:
        raise ResultError("is not a result of weir: it nests too deep", REMEDY, name) from error
    except ValueError as error:
        raise ResultError(f"is not JSON: {str(error).lower()}", REMEDY, name) from error
    if not isinstance(document, dict):
        raise ResultError("is not a result of weir: it is no JSON object", REMEDY, name)
    return document


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def refuse(where: str, value: object, must: str) -> NoReturn:
    """Raise the error of a value at a place; the caller of `check_rows` names the file."""
    try:
        shown = json.dumps(value, ensure_ascii=False)
    except (RecursionError, ValueError):
        shown = type(value).__name__
    shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]} ..."
    raise ResultError(f"{where} is {shown}, must be {must}", REMEDY, key=where, value=shown)


def check_document(
    document: Mapping[str, Any], kinds: Mapping[str, str], sections: Mapping[str, type]
) -> None:
    """Check a whole document: its fields, its rows by section, and the disciplines that these are about."""
    check_fields(document, kinds)
    for name, kind in sections.items():
        if name in document:
            check_rows(kind, document[name], name)
    names = document["disciplines"]
    if not names or len(set(names)) < len(names):
        refuse("disciplines", names, "one or more, each once")
    if len(document.get("canonical", names)) != len(names):
        refuse("canonical", document["canonical"], "as many as `disciplines`")
    if document["reference"] not in names:
        refuse("reference", document["reference"], "one of `disciplines`")
    for name in sections:
        for place, row in enumerate(document.get(name, ())):
            _check_row(row, names, f"{name}[{place}]")


def _check_row(row: Mapping[str, Any], disciplines: list[str], where: str) -> None:
    """Check that a row is about disciplines of the result, and that each bin or window has its parts."""
    for key in ("discipline", "reference"):
        if row.get(key) is not None and row[key] not in disciplines:
            refuse(f"{where}.{key}", row[key], "one of `disciplines`")
    if isinstance(row.get("low"), list):
        key = "count" if "count" in row else "values"
        if not len(row["low"]) == len(row["high"]) == len(row[key]):
            refuse(f"{where}.{key}", row[key], "as many as `low` and `high`")


def check_fields(
    document: Mapping[str, Any],
    kinds: Mapping[str, str],
    where: str = "",
    *,
    required: bool = False,
    optional: Container[str] = (),
) -> None:
    """Check the fields of an object against kinds such as ``"float | None"``; the absent only if required."""
    for name, kind in kinds.items():
        if name in document:
            if not _fits(kind)(document[name]):
                refuse(where + name, document[name], _words(kind))
        elif required and name not in optional and "None" not in kind.split(" | "):
            raise ResultError(f"is not a result of weir: `{where}{name}` is missing", REMEDY)


def check_rows(kind: type, value: object, where: str) -> None:
    """Check a list of objects against the dataclass of its rows."""
    if not isinstance(value, list):
        refuse(where, value, "a list")
    kinds, optional = kinds_of(kind), _optional(kind)
    for place, row in enumerate(value):
        if not isinstance(row, dict):
            refuse(f"{where}[{place}]", row, "an object")
        check_fields(row, kinds, f"{where}[{place}].", required=True, optional=optional)


def check_object(kind: type, value: object, where: str) -> None:
    """Check an object against its dataclass."""
    check_rows(kind, [value], where)


@cache
def kinds_of(kind: type) -> dict[str, str]:
    """Return the fields of a dataclass of rows, by their names in JSON, with their kinds."""
    return {field.name.rstrip("_"): str(field.type) for field in fields(kind)}


@cache
def _optional(kind: type) -> frozenset[str]:
    """Return the fields that have a default, by their names in JSON."""
    return frozenset(field.name.rstrip("_") for field in fields(kind) if field.default is not MISSING)


@cache
def _fits(kind: str) -> Callable[[Any], bool]:
    """Return what tells whether a value from JSON is of a kind, as annotations write it."""
    if kind.startswith("tuple["):
        inner = _fits(_inner(kind))
        return lambda value: isinstance(value, list) and all(map(inner, value))
    if " | " in kind:
        options = [_fits(each) for each in kind.split(" | ")]
        return lambda value: any(option(value) for option in options)
    return _SIMPLE[kind][1]


def _inner(kind: str) -> str:
    return kind.removeprefix("tuple[").removesuffix(", ...]")


def _words(kind: str) -> str:
    if kind.startswith("tuple["):
        return f"a list, each of it {_words(_inner(kind))}"
    return " or ".join(_SIMPLE[each][0] for each in kind.split(" | "))


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < _LARGEST_INTEGER


def _is_number(value: object) -> bool:
    if isinstance(value, float):
        return math.isfinite(value) and abs(value) <= _LARGEST
    return _is_integer(value)


_SIMPLE: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "str": ("text", lambda value: isinstance(value, str)),
    "int": ("a whole number", _is_integer),
    "float": ("a finite number", _is_number),
    "bool": ("true or false", lambda value: isinstance(value, bool)),
    "None": ("null", lambda value: value is None),
}
"""By the name of a kind: what it is in words, and what tells whether a value is of it."""


# What a document must be beyond the types of its fields.


def check_positive(where: str, value: float) -> None:
    """Refuse a time that is none."""
    if value <= 0:
        refuse(where, value, "above 0")


def check_texts(document: Mapping[str, Any], key: str) -> None:
    """Refuse what is no list of texts, where it is there."""
    texts = document.get(key, [])
    if not (isinstance(texts, list) and all(isinstance(text, str) for text in texts)):
        refuse(key, texts, "a list of texts")


def check_names(where: str, names: Sequence[str], *, empty: bool = False) -> None:
    """Refuse subjects that cannot be distinguished, or none unless it may be empty."""
    if len(set(names)) < len(names) or ALL in names or not (names or empty):
        refuse(where, names, f"by different names, none of them `{ALL}`")


def check_listed(
    document: Mapping[str, Any], sections: Iterable[str], key: str, known: Container[object]
) -> None:
    """Refuse rows about what the result does not list."""
    for section in sections:
        for place, row in enumerate(document[section]):
            if row[key] not in known:
                refuse(f"{section}[{place}].{key}", row[key], "one that the result lists")


def check_counts(document: Mapping[str, Any], sections: Iterable[str]) -> None:
    """Refuse counts and times below zero."""
    for section in sections:
        for place, row in enumerate(document[section]):
            for key, value in row.items():
                least = min(value, default=0) if isinstance(value, list) else value
                if isinstance(least, int | float) and least < 0:
                    refuse(f"{section}[{place}].{key}", value, "0 or more")


def check_figures(document: Mapping[str, Any], *ends: tuple[str, str]) -> None:
    """Refuse intervals that end before they begin or are half, and bins out of order."""
    for section in ("estimates", "differences"):
        for place, row in enumerate(document[section]):
            for low, high in ends or (("low", "high"),):
                _check_interval(f"{section}[{place}]", row, low, high)
    for place, row in enumerate(document["distributions"]):
        _check_bins(f"distributions[{place}]", row)


def _check_interval(place: str, row: Mapping[str, Any], low: str, high: str) -> None:
    """Refuse an interval that ends before it begins, half of one, or one without a value."""
    begin, end = row.get(low), row.get(high)  # what is absent is null
    if begin is None or end is None:
        if begin is not end:
            refuse(f"{place}.{low}", begin, f"null like `{high}`, or neither")
    elif row.get("value") is None:
        refuse(f"{place}.{low}", begin, "null, as there is no value")
    elif begin > end:
        refuse(f"{place}.{low}", begin, f"at most `{high}`")


def _check_bins(place: str, row: Mapping[str, Any]) -> None:
    """Refuse bins out of order, and counts below zero."""
    edges = [edge for ends in zip(row["low"], row["high"], strict=True) for edge in ends]
    if any(after < before for before, after in pairwise(edges)):
        refuse(f"{place}.low", row["low"], "in order, no bin over another")
    if any(count < 0 for count in row["count"]):
        refuse(f"{place}.count", row["count"], "0 or more")


def check_delays(document: Mapping[str, Any], classes: Container[object]) -> None:
    """Refuse delays over time of unknown classes, of no step, below zero, or in unequal columns."""
    if "delay_over_time" not in document:  # results of before have none
        return
    check_listed(document, ("delay_over_time",), "class", classes)
    for place, row in enumerate(document["delay_over_time"]):
        where = f"delay_over_time[{place}]"
        check_positive(f"{where}.step", row["step"])
        if len(row["mean"]) != len(row["longest"]):
            refuse(f"{where}.mean", row["mean"], "as many as `longest`")
        for key in ("mean", "longest"):
            if min((value for value in row[key] if value is not None), default=0) < 0:
                refuse(f"{where}.{key}", row[key], "0 or more")


def check_confirmation(document: dict[str, Any]) -> None:
    """Check what a second seed said of self-checks."""
    found = document.get("confirmation")
    if found is None:
        return
    if not isinstance(found, dict):
        refuse("confirmation", found, "an object")
    check_fields(found, {"seed": "int"}, "confirmation.", required=True)
    check_rows(Confirmed, found.get("checks"), "confirmation.checks")


def is_plain(document: Mapping[str, Any]) -> bool:
    """Return whether a result of a model that is not listed says itself what its figures are about."""
    estimates = document.get("estimates")
    first = estimates[0] if isinstance(estimates, list) and estimates else None
    return (
        isinstance(document.get("model"), str) and isinstance(first, dict) and {"kind", "name"} <= set(first)
    )
