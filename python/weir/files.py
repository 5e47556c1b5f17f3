"""Files that are either whole or absent: written next to the target, then renamed over it.

A symbolic link stays, and the file it leads to is replaced. What is no regular file, such as a pipe or
``/dev/stdout``, cannot be replaced: it is sent the whole content once that is complete.
"""

from __future__ import annotations

import errno
import io
import os
import re
import shutil
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from stat import S_ISBLK, S_ISDIR, S_ISREG
from typing import TYPE_CHECKING, BinaryIO, TextIO

from weir.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["is_stream", "lines_of", "place", "read_text", "replacing", "same_file", "write_text"]

_MOST_LINKS = 40
_MOST_BYTES = 2**28
"""Of a text that is read: far more than any that weir writes, and less than a machine has memory."""
_MOST_CHARACTERS = 2**20
"""Of a line of a text that is read line by line."""
_OF_THE_SYSTEM = re.compile(r"/dev/[^/]+|(/dev/fd|/proc)/.*")
_DESCRIPTOR = re.compile(r"/(?:dev|proc/(?:self|[0-9]+))/fd/([0-9]{1,9})")
_STANDARD = {"/dev/stdout": 1, "/dev/stderr": 2}


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path that becomes ``path`` on success and is removed otherwise.

    Raises
    ------
    ConfigError
        If the folder does not exist, or ``path`` cannot be written.
    """
    part = None
    try:
        target = _target(path)
        folder = Path(tempfile.gettempdir()) if is_stream(target) else target.parent
        # Named before it is made: a signal between the two leaves nothing.
        part = folder / f".{target.name}.{os.urandom(8).hex()}.part"
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600))
        yield part
        place(part, target)
    except OSError as error:
        raise _refused(path, "written", error) from error
    finally:
        if part is not None:
            part.unlink(missing_ok=True)


def place(part: Path, path: Path) -> None:
    """Make a complete file the content of ``path``: by renaming, or by copying where that is a stream."""
    target = _target(path)
    if not is_stream(target):
        part.chmod(0o666 & ~_umask())
        part.replace(target)
        return
    sys.stdout.flush()
    with part.open("rb") as source, _opened(target) as stream:
        shutil.copyfileobj(source, stream)


def is_stream(path: Path) -> bool:
    """Return whether a path leads to what is written to and not replaced: a pipe, a device, a descriptor.

    Raises
    ------
    OSError
        If it is a folder or a disk.
    """
    target = _target(path)
    if _descriptor(target) is not None:
        return True
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return False
    if S_ISDIR(mode):
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
    if S_ISBLK(mode):
        raise OSError(errno.EINVAL, "it is a disk")
    return not S_ISREG(mode)


def same_file(one: Path, other: Path) -> bool:
    """Return whether two paths, there or not, lead to the same file."""
    return os.path.realpath(one) == os.path.realpath(other)


def _target(path: Path) -> Path:
    """Return where the links of a path lead; those of the system, as ``/dev/stdout``, are not followed."""
    target = path
    for _ in range(_MOST_LINKS):
        if _OF_THE_SYSTEM.fullmatch(os.path.abspath(target)) or not target.is_symlink():  # noqa: PTH100
            return target
        target = target.parent / target.readlink()
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def _descriptor(target: Path) -> int | None:
    """Return the number of the open descriptor that a path stands for."""
    name = os.path.abspath(target)  # noqa: PTH100 - resolving would follow the link of the system
    found = _DESCRIPTOR.fullmatch(name)
    return int(found[1]) if found else _STANDARD.get(name)


def _opened(target: Path) -> BinaryIO:
    """Open a stream for writing; one that is open already is not opened again, which would restart it."""
    descriptor = _descriptor(target)
    return target.open("wb") if descriptor is None else os.fdopen(os.dup(descriptor), "wb")


def write_text(path: Path, text: str) -> None:
    """Write ``text`` as UTF-8; the file is never half-written."""
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8")


def read_text(path: Path) -> str:
    """Return the text of a file.

    Raises
    ------
    ConfigError
        If it cannot be read, is too long, or is not UTF-8.
    """
    try:
        with path.open("rb") as source:
            content = _beginning(source)
    except OSError as error:
        raise _refused(path, "read", error) from error
    if len(content) > _MOST_BYTES:
        reason = f"has more than {_MOST_BYTES // 2**20} MiB, the most that is read of a text"
        raise ConfigError(reason, "name the file that is meant, or cut it", str(path))
    try:
        return io.TextIOWrapper(io.BytesIO(content), encoding="utf-8").read()
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"byte {error.start} is not UTF-8", "save the file as UTF-8 text", str(path)
        ) from error


def lines_of(text: TextIO) -> Iterator[str]:
    """Yield the lines of a text as they are read.

    Raises
    ------
    OverflowError
        At a line that is far too long to be one, as of a file that has none.
    """
    while line := text.readline(_MOST_CHARACTERS + 1):
        if len(line) > _MOST_CHARACTERS:
            raise OverflowError(f"a line has more than {_MOST_CHARACTERS:,} characters")
        yield line


def _beginning(source: BinaryIO) -> bytes:
    """Return what a file holds, or some more than the most that is read of one."""
    content = bytearray()
    while len(content) <= _MOST_BYTES and (chunk := source.read(2**20)):
        content += chunk
    return bytes(content)


def _refused(path: Path, done: str, error: OSError) -> ConfigError:
    reason = (error.strerror or str(error)).lower()
    full = error.errno in {errno.ENOSPC, errno.EDQUOT}
    remedy = "make room, or write elsewhere" if full else "check the path and its permissions"
    return ConfigError(f"cannot be {done}: {reason}", remedy, str(path))


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
