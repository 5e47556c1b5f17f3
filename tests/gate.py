"""The gate of speed: the instructions of short runs, held against a recorded table.

::

    make bench-gate                # prints what has changed; exit code 1 where a run costs more, 2 where it
                                   # cannot be told
    python tests/gate.py --write   # records what is counted now; say in the commit why

A run is one round of a benchmark of ``weir bench``, by the example ``gate`` of weir-sim, built as for
editing. Valgrind counts the instructions between the beginning and the end of the round; they do not depend
on what else the machine does. Valgrind has no AVX-512, so that the code counted is that for AVX2. A changed
compiler changes the counts: its version stands in the table, and one of another is refused.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "tests" / "gate.json"
PROGRAM = "target/editing/examples/gate"
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
    *("server/8/work_stealing", "core/task/epoch/10", "core/task/stride/10"),
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
    done = subprocess.run([*valgrind, str(ROOT / PROGRAM), name], capture_output=True, text=True, check=False)
    found = _COUNT.search(done.stderr)
    if done.returncode or not found:
        raise SystemExit(f"error: {name} failed with code {done.returncode}: {done.stderr[-500:]}")
    return float(found[1].replace(",", "")) / float(done.stdout)


def compiler() -> str:
    """Return the version of the compiler."""
    told = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True, cwd=ROOT)
    return told.stdout.split()[1]


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
    recorded = (
        json.loads(TABLE.read_text(encoding="utf-8")) if TABLE.exists() else {"rustc": "", "counts": {}}
    )
    if not asked.write and recorded["rustc"] != compiler():
        sys.stderr.write(
            f"error: the table is of rustc {recorded['rustc']}, this is {compiler()}: check out what it was"
            " recorded on, and write it anew with this compiler: python tests/gate.py --write\n"
        )
        return 2
    names = asked.names or NAMES
    with ThreadPoolExecutor(2) as pool:
        now = dict(zip(names, pool.map(counted, names), strict=True))
    if asked.write:
        counts = {**recorded["counts"], **{name: float(f"{cost:.6g}") for name, cost in now.items()}}
        text = json.dumps(
            {"rustc": compiler(), "counts": {name: counts[name] for name in sorted(counts)}}, indent=1
        )
        TABLE.write_text(f"{text}\n", encoding="utf-8")
        return 0
    found = changes(recorded["counts"], now)
    sys.stdout.writelines(f"{change}{'' if change.fails else '; record it'}\n" for change in found)
    worse = sum(change.fails for change in found)
    sys.stdout.write(f"{len(now)} runs, {worse} beyond {MORE:.0%}\n")
    return int(worse > 0)


if __name__ == "__main__":
    sys.exit(main())
