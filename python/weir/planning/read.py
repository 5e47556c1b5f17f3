"""The files that are planned from: there, plain and text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from weir.errors import ConfigError
from weir.files import read_text

if TYPE_CHECKING:
    import os

__all__ = ["exact_text_of", "text_of"]


def text_of(file: str | os.PathLike[str], kind: str) -> str:
    """Return the text of a file; ``kind`` is what it should be.

    Raises
    ------
    ConfigError
        If it is not there, no file, or no text.
    """
    path = Path(file)
    if not path.exists():
        raise ConfigError("does not exist", f"name {kind} that exists", str(path))
    if not path.is_file():
        raise ConfigError("is not a file", f"name {kind.rstrip(',')}", str(path))
    return read_text(path)


def exact_text_of(file: str | os.PathLike[str], kind: str) -> str:
    """Return the text of a file as `text_of` does, with its carriage returns.

    Raises
    ------
    ConfigError
        As of `text_of`.
    """
    text_of(file, kind)
    return Path(file).read_bytes().decode("utf-8")
