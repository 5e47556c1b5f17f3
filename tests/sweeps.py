"""Sweeps for the tests: a short scenario, the command, and one that is killed again and again."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

SHORT = """weir = 1
model = "port"
disciplines = ["fifo", "sf"]
[workload]
load = 0.5
lengths = "report"
[stop]
packets = 2_000
replications = 2
warm_up = "none"
"""
"""Some milliseconds a replication."""
SET = "sweep.parquet"
CELLS = ("--over", "workload.load=0.5:0.8:0.1", "--over", "discipline={fifo,sf,alpha:10}")


def command(*arguments: str | Path) -> list[str]:
    """Return the command line of a sweep."""
    return [sys.executable, "-m", "weir", "sweep", *map(str, arguments)]


def weir_sweep(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a sweep to its end."""
    return subprocess.run(command(*arguments), capture_output=True, text=True, check=False, timeout=600)


def killed(arguments: Sequence[str | Path], kills: int, seed: int, longest: float) -> None:
    """Run a sweep, killed at so many random instants, and then to its end."""
    draw = random.Random(seed)  # noqa: S311 - instants of deaths
    for _ in range(kills):
        quiet = subprocess.DEVNULL
        process = subprocess.Popen(command(*arguments), stdout=quiet, stderr=quiet)
        time.sleep(draw.uniform(0.0, longest))
        process.kill()
        process.wait()
    ended = weir_sweep(*arguments)
    assert ended.returncode == 0, ended.stderr


def main() -> None:
    """Kill a sweep of 10,000 short cells at 1,000 instants; hold its set against an undisturbed one."""
    import tempfile

    kills, cells = (int(each) for each in (sys.argv[1:] or ("1000", "10000")))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = folder / "scenario.toml"
        file.write_text(SHORT, encoding="utf-8")
        step = f"{0.8 / (cells // 10):.7f}"
        over = ("--over", f"workload.load={step}:0.8:{step}", "--over", "seed=1:10")
        asked = (file, *over, "--replications", "1")
        began = time.monotonic()
        whole = weir_sweep(*asked, "--out", folder / "whole")
        assert whole.returncode == 0, whole.stderr
        undisturbed = time.monotonic() - began
        longest = 2.0 + 2 * undisturbed / kills
        killed((*asked, "--out", folder / "killed"), kills, seed=1, longest=longest)
        same = (folder / "whole" / SET).read_bytes() == (folder / "killed" / SET).read_bytes()
        logs = len(list((folder / "killed" / "log").iterdir()))
        what = "the same" if same else "ANOTHER"
        sys.stdout.write(f"{cells:,} cells, {kills:,} kills, {logs:,} logs: the set is {what}\n")
        sys.exit(0 if same else 1)


if __name__ == "__main__":
    main()
