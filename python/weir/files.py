"""Files that are either whole or absent: written beside the target, then renamed over it."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from weir.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["read_text", "replacing", "write_text"]


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path that replaces ``path`` on success and is removed otherwise.

    Raises
    ------
    ConfigError
        If the folder does not exist or cannot be written.
    """
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
        os.close(handle)
    except OSError as error:
        raise _refused(path, "written", error) from error
    part = Path(name)
    try:
        yield part
        part.chmod(0o666 & ~_umask())
        part.replace(path)
    except OSError as error:
        raise _refused(path, "written", error) from error
    finally:
        part.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write ``text`` as UTF-8; the file is never half-written."""
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8")


def read_text(path: Path) -> str:
    """Return the text of a file.

    Raises
    ------
    ConfigError
        If it cannot be read, or is not UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise _refused(path, "read", error) from error
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"byte {error.start} is not UTF-8", "save the file as UTF-8 text", str(path)
        ) from error


def _refused(path: Path, done: str, error: OSError) -> ConfigError:
    reason = (error.strerror or str(error)).lower()
    remedy = "check the path and its permissions"
    return ConfigError(f"cannot be {done}: {reason}", remedy, str(path))


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
