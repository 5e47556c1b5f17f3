"""Where the time of a benchmark goes: instructions, cache misses, mispredicted branches of a unit of work.

::

    make bench-counts                         # every benchmark
    make bench-counts PREFIX="packet/ node/"  # those whose names begin so

Valgrind runs one round of each, in release, and counts what its model of a processor does: caches of the
sizes below, without prefetching, and a predictor of branches that knows less than those of today, so that
misses and mispredictions are more than a processor has. It shows programs AVX2 and no AVX-512, so that
where a loop has a form for that, fewer instructions are executed than counted. Next to them stand the time
of a unit, measured without Valgrind (the least of seven repetitions), the cycles in that time, by the clock
rate measured before and after, and instructions a cycle. The bound is the least that these
instructions can take on a processor which takes in six a cycle, as Intel's do since 2021: what they wait for
is left out.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import gate

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLES = Path(os.environ.get("CARGO_TARGET_DIR", "target")) / "release" / "examples"
CACHES = ("--I1=32768,8,64", "--D1=49152,12,64", "--LL=2097152,16,64")
"""First level: 32 kB for code, 48 kB for data; the last level of the model is a processor's second, 2 MB."""
EVENTS = ("Ir", "Dr", "Dw", "D1mr", "D1mw", "DLmr", "DLmw", "Bcm", "Bim")
HEAD = (
    "| benchmark | ns | cycles | instructions | a cycle | loads and stores | misses, level 1 | level 2 |"
    " mispredictions | bound, ns |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n"
)
WIDTH = 6
"""Instructions a cycle, at most."""


@dataclass(frozen=True)
class Cost:
    """What a unit of work takes."""

    name: str
    nanoseconds: float
    rate: float
    """Cycles in a nanosecond."""
    events: dict[str, float]

    @property
    def bound(self) -> float:
        """The fewest nanoseconds that these instructions can take."""
        return self.events["Ir"] / WIDTH / self.rate

    def __str__(self) -> str:
        """Return a row of the table."""
        event = self.events
        cycles = self.nanoseconds * self.rate
        cells = (
            f"{self.nanoseconds:.1f}",
            f"{cycles:.0f}",
            f"{event['Ir']:.0f}",
            f"{event['Ir'] / cycles:.1f}",
            f"{event['Dr'] + event['Dw']:.0f}",
            f"{event['D1mr'] + event['D1mw']:.1f}",
            f"{event['DLmr'] + event['DLmw']:.1f}",
            f"{event['Bcm'] + event['Bim']:.1f}",
            f"{self.bound:.1f}",
        )
        return f"| `{self.name}` | {' | '.join(cells)} |"


def read_events(report: str) -> dict[str, int]:
    """Return the counts of a run by the names of `EVENTS`, from what Valgrind reports.

    Raises
    ------
    SystemExit
        If the report has none.
    """
    names, counts = (re.search(rf"{title}\s*: (.+)", report) for title in ("Events", "Collected"))
    if not names or not counts:
        raise SystemExit(f"error: no counts in the report of valgrind: {report[-500:]}")
    found = dict(zip(names[1].split(), map(int, counts[1].split()), strict=True))
    return {name: found[name] for name in EVENTS}


def counted(name: str) -> dict[str, float]:
    """Return the events of a unit of work of a benchmark.

    Raises
    ------
    SystemExit
        If the run fails.
    """
    simulated = ("--cache-sim=yes", "--branch-sim=yes", *CACHES)
    command = ("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *simulated)
    program = (f"--toggle-collect={gate.ROUND}", str(EXAMPLES / "gate"), name)
    done = subprocess.run([*command, *program], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"error: {name} failed with code {done.returncode}: {done.stderr[-500:]}")
    return {event: count / float(done.stdout) for event, count in read_events(done.stderr).items()}


def costs(prefix: str) -> Iterator[Cost]:
    """Return what a unit of work takes of each benchmark whose name begins with ``prefix``.

    Raises
    ------
    SystemExit
        If there is none.
    """
    done = subprocess.run([str(EXAMPLES / "cost"), prefix], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr.rstrip())
    for line in done.stdout.splitlines():
        name, nanoseconds, rate = line.split()
        yield Cost(name, float(nanoseconds), float(rate), counted(name))


def main() -> int:
    """Print the table; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "prefixes", nargs="*", default=[""], help="how the names of benchmarks begin; default: all"
    )
    sys.stdout.write(HEAD)
    for prefix in parser.parse_args().prefixes:
        for each in costs(prefix):
            sys.stdout.write(f"{each}\n")
            sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
