"""The program ``weird``: where it is, and what it says of a running router.

It is searched for where ``WEIRD`` says, then next to this Python, then on the path.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from weir.errors import UnsupportedError

__all__ = ["ask", "find"]

_BUILD = "run `make weird`, or name the program in the environment: WEIRD=target/release/weird"


def find() -> Path:
    """Return the program.

    Raises
    ------
    UnsupportedError
        If it is not there.
    """
    if named := os.environ.get("WEIRD"):
        path = Path(named)
        if not os.access(path, os.X_OK) or path.is_dir():
            raise UnsupportedError(f"WEIRD is {named}, which is not a program", _BUILD)
        return path.resolve()
    beside = Path(sys.executable).with_name("weird")
    found = str(beside) if os.access(beside, os.X_OK) else shutil.which("weird")
    if found is None:
        raise UnsupportedError("the program weird, which moves packets, is not built", _BUILD)
    return Path(found)


def ask(program: Path, router: str, *words: str) -> dict[str, Any] | None:
    """Return what a running router answers to ``weird ctl``, or None if it does not."""
    command = [str(program), "ctl", router, *words, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)  # noqa: S603 - its own
    if done.returncode:
        return None
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer
