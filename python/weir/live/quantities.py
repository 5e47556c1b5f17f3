"""Quantities of scenarios, as the engine writes them, as whole numbers; and back, as ``weird`` reads them.

Source: ``crates/weir-document/src/quantity.rs``. Times are whole nanoseconds, rates bits a second, sizes
bytes. What stands here was checked by the engine before.
"""

from __future__ import annotations

import re
from fractions import Fraction

__all__ = ["is_size", "nanoseconds", "rate", "scaled", "seconds", "size", "time"]

_TIMES = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
_RATES = {"bit": 1, "kbit": 10**3, "Mbit": 10**6, "Gbit": 10**9}
_SIZES = {
    "B": 1,
    "kB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
    "TiB": 2**40,
}
_PARTS = re.compile(r"([0-9]+(?:\.[0-9]+)?)([A-Za-z]+)")


def _read(text: str, units: dict[str, int]) -> Fraction:
    parts = _PARTS.fullmatch(text)
    if parts is None or parts[2] not in units:
        raise ValueError(f"`{text}` is not a quantity in {', '.join(units)}")
    return Fraction(parts[1]) * units[parts[2]]


def nanoseconds(text: str) -> int:
    """Return a time in nanoseconds, rounded to the nearest."""
    return round(_read(text, _TIMES))


def rate(text: str) -> int:
    """Return a rate in bits a second."""
    return round(_read(text, _RATES))


def size(text: str) -> int:
    """Return a size in bytes."""
    return round(_read(text, _SIZES))


def is_size(text: str) -> bool:
    """Return whether a text is a size, where a time may stand too."""
    parts = _PARTS.fullmatch(text)
    return parts is not None and parts[2] in _SIZES


def scaled(span: int, scale: int) -> int:
    """Return a time divided by the scale, rounded to the nearest nanosecond."""
    return round(Fraction(span, scale))


def time(span: int) -> str:
    """Return a time in nanoseconds as ``weird`` reads it."""
    return f"{span}ns"


def seconds(span: int) -> str:
    """Return a time in nanoseconds as seconds, exactly, as a TG script has it."""
    text = f"{span // 10**9}.{span % 10**9:09}".rstrip("0")
    return text.removesuffix(".")
