"""Python values as TOML text: the direction that the standard library leaves out."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any

from weir.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["dumps", "value"]

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def dumps(document: Mapping[str, Any]) -> str:
    """Return a mapping as TOML: plain keys first, then one section a table, or a table of a list of them.

    Raises
    ------
    ConfigError
        If a value has no TOML form.
    """
    return "\n".join(_table((), document)) + "\n"


def value(of: object) -> str:
    """Return a value as it stands behind a key.

    Raises
    ------
    ConfigError
        If it has no TOML form.
    """
    return _value(("value",), of)


def _table(path: tuple[str, ...], table: Mapping[str, Any]) -> Iterator[str]:
    plain = {
        key: value for key, value in table.items() if not isinstance(value, dict) and not _are_tables(value)
    }
    if path and (plain or not table):
        yield ""
        yield f"[{'.'.join(map(_key, path))}]"
    for key, value in plain.items():
        yield f"{_key(key)} = {_value((*path, key), value)}"
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _table((*path, key), value)
        elif _are_tables(value):
            yield from _tables((*path, key), value)


def _are_tables(value: object) -> bool:
    """Return whether a value is a list of tables, each of which becomes a section."""
    return isinstance(value, list) and bool(value) and all(isinstance(each, dict) for each in value)


def _tables(path: tuple[str, ...], tables: list[dict[str, Any]]) -> Iterator[str]:
    for table in tables:
        yield ""
        yield f"[[{'.'.join(map(_key, path))}]]"
        for key, value in table.items():
            yield f"{_key(key)} = {_value((*path, key), value)}"


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else f'"{_escaped(key)}"'


def _quoted(text: str) -> str:
    """Return text in quotation marks; on lines of its own where it ends in a line break, as programs do."""
    if text.endswith("\n"):
        return '"""\n' + "\n".join(_escaped(line) for line in text.split("\n")) + '"""'
    return f'"{_escaped(text)}"'


def _escaped(text: str) -> str:
    # JSON's escapes are TOML's, but for one control character that JSON leaves as it is.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")[1:-1]


def _value(path: tuple[str, ...], value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float() if not math.isnan(value):
            return repr(value)  # an infinite one is `inf` in both languages
        case str():
            return _quoted(value)
        case list() | tuple():
            return f"[{', '.join(_value(path, each) for each in value)}]"
        case dict():
            pairs = (f"{_key(key)} = {_value((*path, key), each)}" for key, each in value.items())
            return f"{{{', '.join(pairs)}}}"
    where = ".".join(path)
    raise ConfigError(
        f"{where} is {value!r}, which TOML cannot hold", "use text, numbers, lists and mappings"
    )
