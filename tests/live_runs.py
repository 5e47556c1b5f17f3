"""Runs of `weir live` as processes of their own, and what they have on the machine."""

import os
import subprocess
import sys
import time
from pathlib import Path

from weir.live.namespaces import JOURNALS, RUN

_PATIENCE = 60.0


def start(*words: str) -> subprocess.Popen[str]:
    """Start ``weir live`` with these words."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(part for part in sys.path if part)}
    command = [sys.executable, "-m", "weir", "live", *words]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )


def left(process: int) -> list[str]:
    """Return what a run has in namespaces, folders and journals."""
    namespaces = [each.name for each in Path("/run/netns").glob(f"weir-{process}-*")]
    folders = [str(each) for each in RUN.glob(f"t{process}-*")]
    return [*namespaces, *folders, *(str(each) for each in JOURNALS.glob(f"{process}-*"))]


def until(there: bool, process: int) -> list[str]:
    """Wait until a run has something on the machine, or nothing any more; return what it has."""
    deadline = time.monotonic() + _PATIENCE
    while bool(found := left(process)) != there and time.monotonic() < deadline:
        time.sleep(0.05)
    return found
