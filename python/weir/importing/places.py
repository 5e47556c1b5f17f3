"""JSON with places: values that know where they stand, so that an error can say line and column.

What json-c reads beyond JSON, and files for rt-app have, is read too: comments (``/* */`` and ``//``), a
comma before a closing bracket, and keys that stand several times, which are all kept. O(length of the text).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn, cast

from weir.errors import ConfigError
from weir.files import read_text

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Document", "Value"]

_MOST_BYTES = 16 * 1024 * 1024
_DEEPEST = 32
_SHOWN = 40
_TOKEN = re.compile(
    r"""(?P<skip>\s+|/\*.*?\*/|//[^\n]*)
    |(?P<mark>[{}\[\],:])
    |(?P<string>"(?:[^"\\\x00-\x1f]|\\.)*")
    |(?P<number>-?[0-9]{1,40}(?:\.[0-9]{1,40})?(?:[eE][+-]?[0-9]{1,4})?(?![0-9.eE]))
    |(?P<word>[A-Za-z_]+)""",
    re.DOTALL | re.VERBOSE,
)
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None}


@dataclass(frozen=True, slots=True)
class Value:
    """A value of a document.

    Attributes
    ----------
    held : str, int, float, bool, None, list
        The value; of an object the pairs of keys and values in their order, of an array its values.
    at : int
        Where it begins, in characters of the text.
    text : str
        As it is written; of objects and arrays the first bracket.
    """

    held: str | int | float | bool | list[Value] | list[tuple[Value, Value]] | None
    at: int
    text: str

    @property
    def pairs(self) -> list[tuple[Value, Value]] | None:
        """The keys and values, if it is an object."""
        return cast("list[tuple[Value, Value]]", self.held) if self.text == "{" else None

    @property
    def values(self) -> list[Value] | None:
        """The values, if it is an array."""
        return cast("list[Value]", self.held) if self.text == "[" else None


class Document:
    """A document: its root, and errors with the place of a value in it."""

    def __init__(self, path: Path, remedy: str) -> None:
        self.name = str(path)
        self._remedy = remedy
        self._text = _read(path, remedy)
        self._tokens = _TOKEN.finditer(self._text)
        self._end = 0
        self._next = self._token()
        self.root = self._value(0)
        if self._next is not None:
            self._unexpected("the end of the file")

    def refuse(self, value: Value, message: str, remedy: str, key: str | None = None) -> NoReturn:
        """Raise the error of a value.

        Raises
        ------
        ConfigError
            With the place in the file.
        """
        line = self._text.count("\n", 0, value.at) + 1
        column = value.at - self._text.rfind("\n", 0, value.at)
        raise ConfigError(message, remedy, self.name, line, column, key, shown(value))

    # Reading.

    def _token(self) -> re.Match[str] | None:
        """Return the next token that is none to pass over; None at the end."""
        for found in self._tokens:
            if found.start() != self._end:
                break
            self._end = found.end()
            if found.lastgroup != "skip":
                return found
        if self._end < len(self._text):
            self._wrong("is no part of JSON")
        return None

    def _wrong(self, what: str) -> NoReturn:
        rest = self._text[self._end :].split(maxsplit=1)
        value = Value(None, self._end, rest[0] if rest else "")
        self.refuse(value, f"{shown(value)!r} {what}", self._remedy)

    def _unexpected(self, wanted: str) -> NoReturn:
        found = self._next
        at, text = (len(self._text), "the end of the file") if found is None else (found.start(), found[0])
        value = Value(None, at, text)
        self.refuse(value, f"found {shown(value)} where {wanted} must be", self._remedy)

    def _take(self, mark: str) -> bool:
        """Pass over a mark, if it is the next."""
        if self._next is None or self._next[0] != mark:
            return False
        self._next = self._token()
        return True

    def _value(self, depth: int) -> Value:
        found = self._next
        if found is None or (found.lastgroup == "mark" and found[0] not in "{["):
            self._unexpected("a value")
        if depth == _DEEPEST:
            self._unexpected(f"nothing deeper, after {_DEEPEST} brackets,")
        at, text = found.start(), found[0]
        if found.lastgroup == "string":
            return self._string(found)
        self._next = self._token()
        if text == "{":
            return Value(self._pairs(depth + 1), at, text)
        if text == "[":
            return Value(self._values(depth + 1), at, text)
        if found.lastgroup == "number":
            return Value(int(text) if text.lstrip("-").isdigit() else float(text), at, text)
        value = Value(_WORDS.get(text.lower()), at, text)
        if text.lower() not in _WORDS:
            self.refuse(value, f"`{shown(value)}` is no value of JSON", "put text into quotation marks")
        return value

    def _string(self, found: re.Match[str]) -> Value:
        try:
            held = json.loads(found[0])
        except json.JSONDecodeError as error:
            value = Value(None, found.start() + error.pos, found[0])
            self.refuse(value, f"text is refused: {error.msg.lower()}", self._remedy)
        self._next = self._token()
        return Value(held, found.start(), found[0])

    def _pairs(self, depth: int) -> list[tuple[Value, Value]]:
        made: list[tuple[Value, Value]] = []
        while not self._take("}"):
            if made and not self._take(","):
                self._unexpected("a comma or `}`")
            if self._take("}"):
                break
            if self._next is None or self._next.lastgroup != "string":
                self._unexpected("a key in quotation marks")
            key = self._string(self._next)
            if not self._take(":"):
                self._unexpected("a colon")
            made.append((key, self._value(depth)))
        return made

    def _values(self, depth: int) -> list[Value]:
        made: list[Value] = []
        while not self._take("]"):
            if made and not self._take(","):
                self._unexpected("a comma or `]`")
            if self._take("]"):
                break
            made.append(self._value(depth))
        return made


def shown(value: Value) -> str:
    """Return a value as it is written, cut where it is long."""
    return value.text if len(value.text) <= _SHOWN else f"{value.text[:_SHOWN]} ..."


def _read(path: Path, remedy: str) -> str:
    if path.is_file() and path.stat().st_size > _MOST_BYTES:
        size = path.stat().st_size
        raise ConfigError(f"has {size:,} bytes, may have {_MOST_BYTES:,}", remedy, str(path))
    return read_text(path)
