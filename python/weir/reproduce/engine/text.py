"""Plain text of at most 100 columns, as everything that is piped."""

from __future__ import annotations

from textwrap import fill

from weir.reproduce.engine.checks import Status
from weir.text import number

__all__ = ["MARKS", "WIDTH", "cut", "filled", "limited", "marked", "told"]

WIDTH = 100
MARKS = {Status.MET: "OK", Status.NOT_MET: "!!", Status.ARTEFACT: "artefact", Status.NOT_CHECKABLE: "n/a"}


def marked(status: Status, words: str, width: int = 3) -> str:
    """Return words after the mark of a status."""
    return f"{MARKS[status]:<{width}}{words}"


def told(value: float | str | None) -> str:
    """Return a value of a check in words."""
    return number(value) if isinstance(value, float) else str(value or "n/a")


def cut(line: str) -> str:
    """Return a line that is cut where it is too long."""
    return line if len(line) <= WIDTH else line[: WIDTH - 4] + " ..."


def filled(words: str, indent: int = 0) -> str:
    """Return words in lines, all but the first indented."""
    return fill(words, WIDTH, subsequent_indent=" " * indent)


def limited(title: str, lines: list[str], most: int | None = None) -> list[str]:
    """Return a title and lines below it, nothing where there are none; of too many the first."""
    if most is None or len(lines) <= most:
        return [title, *lines] if lines else []
    return [title, *lines[:most], f"and {len(lines) - most} more"]
