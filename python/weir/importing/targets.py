"""Where an import of several files goes: a folder, or a scenario with its data next to it."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from weir.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["default_out", "folder"]


def default_out(capture: Path) -> Path:
    """Return where to write if nothing is said: a folder here called as the capture.

    Where that name is a file's, as it is of a capture without an ending, ``.replay`` is added.
    """
    made = Path(capture.name.split(".")[0] or "capture")
    return made.with_name(f"{made.name}.replay") if made.exists() and not made.is_dir() else made


@contextmanager
def folder(path: Path) -> Iterator[None]:
    """Make a folder, if it is not there; on failure it is as it was."""
    is_there = path.is_dir()
    try:
        path.mkdir(exist_ok=True)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ConfigError(
            f"--out is {path}, which cannot be made: {reason}",
            "name the folder of an existing one, or a .toml",
        ) from error
    try:
        yield
    except BaseException:
        if not is_there:
            path.rmdir()
        raise
