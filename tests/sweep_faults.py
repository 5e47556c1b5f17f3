"""Faults around a sweep, for its tests: a full disk, a folder that is closed, a system without locks."""

from __future__ import annotations

import os
import platform
import shutil
import struct
import subprocess
import sys
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sweeps import command

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HEAD = 24
"""Bytes at the beginning of a log: mark, layout, numbers, states, check sum."""
WITHOUT_LOCKS = """
import ctypes, runpy, struct, sys
# A filter of system calls under which flock says that there are no locks (ENOLCK).
number, enolck = {number}, 37
code = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x00050000 | enolck), (0x06, 0, 0, 0x7FFF0000)]
filters = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *each) for each in code))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(code), ctypes.addressof(filters)))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, program, 0, 0) == 0
sys.argv = ["weir", *sys.argv[1:]]
runpy.run_module("weir", run_name="__main__")
"""


def flock_number() -> int | None:
    """Return the number of the system call flock on this machine, where it is known."""
    return {"x86_64": 73, "aarch64": 32}.get(platform.machine())


def without_locks(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a sweep on a system that has no locks."""
    program = WITHOUT_LOCKS.format(number=flock_number())
    line = [sys.executable, "-c", program, "sweep", *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, check=False, timeout=600)


def without_privilege(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a sweep by somebody who may not write into a folder that is closed to all."""
    line = command(*arguments)
    if os.geteuid() == 0:
        line = [shutil.which("setpriv") or "setpriv", "--bounding-set=-dac_override", *line]
    return subprocess.run(line, capture_output=True, text=True, check=False, timeout=600)


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[None]:
    """Make a folder a file system of its own, of a certain size."""
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", folder], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", folder], check=True)


def can_mount(folder: Path) -> bool:
    """Return whether this process may mount: root may, but not in every container."""
    if os.geteuid() != 0:
        return False
    folder.mkdir(exist_ok=True)
    tried = subprocess.run(["mount", "-t", "tmpfs", "none", folder], capture_output=True, check=False)
    if tried.returncode == 0:
        subprocess.run(["umount", folder], check=True)
    return tried.returncode == 0


def of_another_version(log: bytes) -> bytes:
    """Return a log as another version of weir would have written it."""
    head = bytearray(log[: HEAD - 4])
    head[12:16] = struct.pack("<I", 99)
    return bytes(head) + struct.pack("<I", zlib.crc32(head)) + log[HEAD:]
