"""What is varied: a key of the scenario, and its values in the order in which they are preferred.

=============================  =====================================================================
``server.cores=1..64``         whole numbers, both ends included
``workload.load=0.1..2``       in steps of about a hundredth of the last: 1, 2 or 5 of some decimal
``workload.load=0.1..2:0.05``  in steps of one's own
``link.0.rate=1Mbit..20Mbit``  with a unit, the same in all
=============================  =====================================================================

Anything else is read as an axis of a sweep (`weir.axes`): lists, factors, texts with braces.
"""

from __future__ import annotations

import re
from decimal import Decimal

from weir.axes import Axis, make_axis, read_axis
from weir.errors import ConfigError

__all__ = ["OPTION", "numbers", "read_vary", "varied"]

OPTION = "--vary"
_NUMBER = r"[+-]?\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?"
_SPAN = re.compile(rf"({_NUMBER})([A-Za-z%/]*)\.\.({_NUMBER})([A-Za-z%/]*)(:\*?{_NUMBER}[A-Za-z%/]*)?")
_QUANTITY = re.compile(rf"({_NUMBER})([A-Za-z%/]*)")
_WHOLE = 1_000
"""Whole numbers between two ends are all tried up to this many, else in steps."""
_STEPS = 100
_EXAMPLE = f"write `{OPTION} server.cores=1..64`, or `{OPTION} 'discipline=alpha:{{1,3,10}}'`"


def read_vary(text: str) -> Axis:
    """Read ``key=values``.

    Raises
    ------
    ConfigError
        If it is not of that form, or varies how long a run is.
    """
    key, equals, values = text.partition("=")
    if not equals or not values.strip():
        raise ConfigError(f"{OPTION} is {text!r}, must be a key and its values", _EXAMPLE)
    return varied(key.strip(), values.strip())


def varied(key: str, values: object) -> Axis:
    """Return what is varied, of a key and a text or a list of values.

    Raises
    ------
    ConfigError
        As `read_vary`.
    """
    if key.partition(".")[0] in {"stop", "need", "seed"}:
        raise ConfigError(
            f"{OPTION} is {key}={values}, and {key} decides how a run is measured, not what it is of",
            f"vary another key; {_EXAMPLE}",
        )
    if not isinstance(values, str):
        return make_axis(key, values, f"{key}={values}", OPTION)
    span = _SPAN.fullmatch(values)
    if not span:
        return read_axis(f"{key}={values}", OPTION)
    first, unit, last, last_unit, step = span.groups()
    step = step or f":{_step(first, last)}{last_unit}"
    axis = read_axis(f"{key}={first}{unit}:{last}{last_unit}{step}", OPTION)
    end = read_axis(f"{key}={last}{last_unit}", OPTION).values
    return axis if numbers(axis.values)[-1:] == numbers(end) else Axis(axis.key, (*axis.values, *end))


def _step(first: str, last: str) -> str:
    """Return the step from one number to another: 1 of a few whole numbers, else a round part of the last."""
    low, high = (Decimal(each.replace("_", "")) for each in (first, last))
    if "." not in first + last and high - low < _WHOLE:
        return "1"
    part = max(abs(low), abs(high)) / _STEPS
    if part == 0:
        return "1"
    power = Decimal(10) ** part.adjusted()
    return f"{max(each for each in (1, 2, 5) if each * power <= part) * power:f}"


def numbers(values: tuple[object, ...]) -> list[Decimal]:
    """Return values as numbers, without the unit that all have; an empty list where they are none."""
    found = []
    units = set()
    for value in values:
        matched = None if isinstance(value, bool) else _QUANTITY.fullmatch(str(value))
        if matched is None:
            return []
        found.append(Decimal(matched[1].replace("_", "")))
        units.add(matched[2])
    return found if len(units) == 1 else []
