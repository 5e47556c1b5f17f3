"""The first root of the virtual machine: an archive with busybox, modules of its kernel, and a script.

Source: Linux, Documentation/driver-api/early-userspace/buffer-format.rst ("newc" archives); the section
``.modinfo`` of a module names those that it needs.
"""

import lzma
from collections.abc import Iterator
from pathlib import Path

__all__ = ["archive", "modules"]

_DIRECTORY, _FILE, _PROGRAM = 0o040755, 0o100644, 0o100755


def archive(busybox: Path, kernel_modules: list[tuple[str, bytes]], init: str) -> bytes:
    """Return the archive: ``init`` is its script, and the modules are loaded in their order by it."""
    entries = [(name, _DIRECTORY, b"") for name in ("bin", "modules", "host", "proc", "sys", "dev")]
    entries += [("bin/busybox", _PROGRAM, busybox.read_bytes()), ("init", _PROGRAM, init.encode())]
    entries += [
        (f"modules/{place:02}-{name}.ko", _FILE, code) for place, (name, code) in enumerate(kernel_modules)
    ]
    made = bytearray()
    for inode, (name, mode, content) in enumerate([*entries, ("TRAILER!!!", 0, b"")], start=1):
        fields = (inode, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0)
        made += b"070701" + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0"
        made += bytes(-len(made) % 4) + content
        made += bytes(-len(made) % 4)
    return bytes(made)


def modules(folder: Path, wanted: tuple[str, ...]) -> list[tuple[str, bytes]]:
    """Return modules of a kernel and those that they need, each after what it needs.

    One that is not in the folder is part of the kernel itself, or of another kernel: what needs it says so.
    """
    files = {path.name.partition(".")[0].replace("-", "_"): path for path in folder.rglob("*.ko*")}
    found: dict[str, bytes] = {}

    def take(name: str) -> None:
        if name in found or name not in files:
            return
        code = files[name].read_bytes()
        code = lzma.decompress(code) if files[name].suffix == ".xz" else code
        for needed in _needed(code):
            take(needed)
        found[name] = code

    for name in wanted:
        take(name)
    return list(found.items())


def _needed(code: bytes) -> Iterator[str]:
    """Yield what a module needs, by its section .modinfo."""
    _, _, after = code.partition(b"\0depends=")
    yield from (name.replace("-", "_") for name in after.partition(b"\0")[0].decode().split(",") if name)
