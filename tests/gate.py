"""The gate of speed: the instructions of short runs, held against a recorded table.

::

    make bench-gate                # prints what has changed; exit code 1 where a run costs more; where the
                                   # counts would be others anyhow, nothing is counted and the reason printed
    python tests/gate.py --write   # records what is counted now; say in the commit why

A run is one round of a benchmark of ``weir bench``, by the example ``gate`` of weir-sim, built as for
editing. Valgrind counts the instructions between the beginning and the end of the round; they do not depend
on what else the machine does. Three things that they do depend on are settled so:

========== ==========================================================================================
compiler   its version stands in the table; with another, nothing is counted
C library  its version too; its copies and searches are the baseline ones of x86-64, by `TUNABLES`,
           not those that it would choose by the processor
processor  Valgrind shows every program the same one, which has AVX2 and no AVX-512, if the machine
           has AVX2; without it nothing is counted
========== ==========================================================================================
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "tests" / "gate.json"
PROGRAM = ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "editing" / "examples" / "gate"
TUNABLES = "glibc.cpu.hwcaps=" + ",".join(
    f"-{name}"
    for name in (
        *("AVX2", "AVX512F", "AVX512VL", "ERMS", "FSRM", "SSSE3", "SSE4_1", "SSE4_2", "BMI2", "MOVBE"),
        "AVX_Fast_Unaligned_Load",
    )
)
"""What the C library is not to choose its functions by (glibc manual, "Hardware Capability
Tunables")."""
ROUND = "weir_sim::bench::counted"
"""The function that is a round."""
MORE, LESS = 0.02, 0.02
"""By how much a run may cost more, and from which part less a table is out of date."""
NAMES = (
    *("port/fifo", "port/alpha", "port/sf", "port/rr", "port/accelerated/fifo", "port/accelerated/alpha"),
    *("port/accelerated/sf", "port/accelerated/13", "port/whole/fifo", "port/whole/sf", "port/fluid/ps"),
    *("source/services", "source/arrivals", "core/alpha/100", "core/sf/100", "core/psjf/100", "core/las/100"),
    *("packet/fifo/1000", "packet/drr/1000", "packet/sfq/1000", "packet/sfq_linux/1000", "packet/wfq/1000"),
    *("packet/wf2q_plus/1000", "packet/fq/1000", "packet/fq_codel/1000", "packet/cake/1000", "packet/tbf/7"),
    *("packet/htb/7", "packet/dtable/64x8", "network/line/fifo", "network/line/sfq", "fabric/64/dtable"),
    *("fabric/64/drr", "node/epoch", "node/eevdf", "node/cbs", "server/8/cfcfs", "server/8/jsq"),
    *("server/8/work_stealing", "server/16/random/fan_out", "core/task/epoch/10", "core/task/stride/10"),
)
_COUNT = re.compile(r"refs:\s+([\d,]+)")


@dataclass(frozen=True)
class Change:
    """What a run costs now, and what it did."""

    name: str
    before: float | None
    now: float

    @property
    def part(self) -> float:
        """By which part it costs more; 0 where nothing is recorded."""
        return self.now / self.before - 1 if self.before else 0.0

    @property
    def fails(self) -> bool:
        """Whether the gate does not let it pass: it costs more, or it was never recorded."""
        return self.before is None or self.part > MORE

    def __str__(self) -> str:
        if self.before is None:
            return f"{self.name}: {self.now:.1f} instructions, not in the table"
        return f"{self.name}: {self.before:.1f} to {self.now:.1f} instructions, {self.part:+.1%}"


def counted(name: str) -> float:
    """Return the instructions of a unit of work of a benchmark.

    Raises
    ------
    SystemExit
        If the run fails.
    """
    valgrind = ("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", f"--toggle-collect={ROUND}")
    command, tuned = [*valgrind, str(PROGRAM), name], {**os.environ, "GLIBC_TUNABLES": TUNABLES}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=tuned)
    found = _COUNT.search(done.stderr)
    if done.returncode or not found:
        raise SystemExit(f"error: {name} failed with code {done.returncode}: {done.stderr[-500:]}")
    return float(found[1].replace(",", "")) / float(done.stdout)


def compiler() -> str:
    """Return the version of the compiler, or "none" where there is none."""
    if not shutil.which("rustc"):
        return "none"
    printed = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True, cwd=ROOT)
    return printed.stdout.split()[1]


def versions() -> dict[str, str]:
    """Return the versions that counts depend on, as in the table."""
    return {"rustc": compiler(), "glibc": platform.libc_ver()[1] or "none"}


def hindrance(recorded: dict[str, Any]) -> str | None:
    """Return why counts of here and now cannot be held against those recorded; None where they can."""
    if not shutil.which("valgrind"):
        return "valgrind is missing: apt-get install valgrind"
    if "avx2" not in Path("/proc/cpuinfo").read_text(encoding="utf-8").split():
        return "the counts recorded are of code for AVX2, which this processor does not have"
    for name, here in versions().items():
        if recorded[name] != here:
            return (
                f"the table is of {name} {recorded[name]}, here is {here}: check out what it was recorded on,"
                f" and write it anew with this {name}: python tests/gate.py --write"
            )
    if not PROGRAM.exists():
        return f"{PROGRAM} is not built: cargo build --locked --profile editing -p weir-sim --example gate"
    return None


def counts(names: Sequence[str]) -> dict[str, float]:
    """Return what is counted of each benchmark, two at a time.

    Raises
    ------
    SystemExit
        If a run fails.
    """
    with ThreadPoolExecutor(2) as pool:
        return dict(zip(names, pool.map(counted, names), strict=True))


def read_table() -> dict[str, Any]:
    """Return the table: the versions ``rustc`` and ``glibc``, and ``counts`` by benchmark."""
    table: dict[str, Any] = json.loads(TABLE.read_text(encoding="utf-8"))
    return table


def write_table(now: dict[str, float]) -> None:
    """Put what is counted now into the table, without counts of other versions or names."""
    before = read_table()
    kept = before["counts"] if before == {**before, **versions()} else {}
    merged = {**kept, **{name: float(f"{cost:.6g}") for name, cost in now.items()}}
    table = {**versions(), "counts": {name: merged[name] for name in sorted(NAMES) if name in merged}}
    TABLE.write_text(f"{json.dumps(table, indent=1)}\n", encoding="utf-8")


def changes(table: dict[str, float], now: dict[str, float]) -> list[Change]:
    """Return what has changed by more than is let pass, or is new."""
    found = [Change(name, table.get(name), cost) for name, cost in now.items()]
    return [change for change in found if change.fails or change.part < -LESS]


def main() -> int:
    """Count, then compare or write; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--write", action="store_true", help="record what is counted now")
    parser.add_argument("names", nargs="*", help="benchmarks; all of the gate if none is named")
    asked = parser.parse_args()
    recorded = read_table()
    if not asked.write and (reason := hindrance(recorded)):
        sys.stdout.write(f"skipped: {reason}\n")
        return 0
    now = counts(asked.names or NAMES)
    if asked.write:
        write_table(now)
        return 0
    found = changes(recorded["counts"], now)
    sys.stdout.writelines(f"{change}{'' if change.fails else '; record it'}\n" for change in found)
    worse = sum(change.fails for change in found)
    sys.stdout.write(f"{len(now)} runs, {worse} beyond {MORE:.0%}\n")
    return int(worse > 0)


if __name__ == "__main__":
    sys.exit(main())
