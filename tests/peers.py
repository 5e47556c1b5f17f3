"""The M/M/1 queue at 90 % load in weir and elsewhere, in turns: messages a second of processor time.

::

    make bench-peers                               # weir, plain C, and SimPy in an environment of its own
    make bench-peers CIMBA=cimba-3.0.0-rc1.tar.gz  # Cimba too: an archive or a folder of its source
    python tests/peers.py --rounds 3               # what is installed, three turns

========== ==========================================================================================
weir       ``weir.run`` of one replication in release, with means alone, and with tails by class
C          ``peers/mm1.c`` by ``cc -O3``: Lindley's recursion, and a loop of events
SimPy      ``peers/mm1_simpy.py``
Cimba      its own ``benchmark/MM1_single.c``: a million objects at 90 % load, the mean alone
========== ==========================================================================================

A mean wait is held against the closed form before a speed is printed: it may miss by five standard errors
(`error`). Ratios are those of two peers in the same turn, since the clock of a machine changes between turns.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import resource
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

PROGRAMS = Path(__file__).resolve().parent / "peers"
LOAD = 0.9
MILLION = 1_000_000
SERVICE = 8e-6
"""Seconds that a message of 10 kB, the mean, takes at 10 Gbit/s."""
SCENARIO = """weir = 1
model = "port"
disciplines = ["fifo"]
seed = {seed}
[workload]
load = {load}
lengths = {{ exponential = "10kB" }}
[service]
rate = "10Gbit"
[stop]
messages = {messages}
replications = 1
warm_up = "none"
[measure]
tails = {tails}
"""


@dataclass(frozen=True)
class Run:
    """One run of a peer: messages, their mean wait in mean service times, seconds of processor time."""

    messages: int
    wait: float
    seconds: float

    @property
    def speed(self) -> float:
        """Millions of messages a second of processor time."""
        return self.messages / self.seconds / MILLION


def wait(load: float) -> float:
    """Return the mean wait of M/M/1 in mean service times: Erlang (1917), ``load / (1 - load)``."""
    return load / (1 - load)


def error(load: float, messages: int) -> float:
    """Return the standard error of the mean of so many waits one after another, in mean service times.

    By Daley (1968): the waits of M/M/1 are correlated, so that their mean converges slowly near full load.
    """
    variance = load * (2 + 5 * load - 4 * load**2 + load**3) / (1 - load) ** 4
    return math.sqrt(variance / messages)


def checked(name: str, run: Run) -> Run:
    """Return the run.

    Raises
    ------
    SystemExit
        If its mean wait is further than five standard errors from the closed form.
    """
    expected, allowed = wait(LOAD), 5 * error(LOAD, run.messages)
    if not abs(run.wait - expected) <= allowed:
        raise SystemExit(
            f"error: {name}: the mean wait of {run.messages} messages is {run.wait:.3f} mean service times"
            f" and must be within {allowed:.3f} of {expected:.3f}: it does not simulate this queue"
        )
    return run


def read_line(line: str) -> Run:
    """Return what a program prints: messages, mean wait and seconds."""
    messages, mean, seconds = line.split()
    return Run(int(messages), float(mean), float(seconds))


def read_cimba(text: str, seconds: float) -> Run:
    """Return what Cimba's benchmark prints: a million objects, and their mean time in the system."""
    found = re.search(r"Average system time ([\d.]+)", text)
    if not found:
        raise SystemExit(f"error: Cimba's benchmark prints no average system time but: {text[:200]!r}")
    # The time in service is one on average.
    return Run(MILLION, float(found[1]) - 1, seconds)


def weir_run(messages: int, seed: int, *, tails: bool) -> Run:
    """Run weir on one thread."""
    import weir

    text = SCENARIO.format(seed=seed, load=LOAD, messages=messages, tails=str(tails).lower())
    scenario = weir.Scenario.from_toml(text)
    began = time.process_time()
    result: Any = weir.run(scenario, threads=1)
    seconds = time.process_time() - began
    mean = result.estimate("fifo", metric="wait")
    return Run(mean.count, mean.value / SERVICE, seconds)


def build_c(folder: Path) -> Path:
    """Compile the program in C into a folder, and return it."""
    program = folder / "mm1"
    compiler = os.environ.get("CC", "cc")
    subprocess.run([compiler, "-O3", "-o", program, PROGRAMS / "mm1.c", "-lm"], check=True)
    return program


def printed(command: Sequence[str | Path]) -> str:
    """Return what a command prints.

    Raises
    ------
    SystemExit
        If it fails.
    """
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"error: {command[0]} failed with code {done.returncode}: {done.stderr[-500:]}")
    return done.stdout


def build_cimba(source: Path, folder: Path) -> Path:
    """Build Cimba's benchmark from a folder of its source or an archive, and return the program.

    The flags are what gcc 12, of Debian 12, needs over the default, since it has no ``static_assert``.
    """
    if source.is_file():
        with tarfile.open(source) as archive:
            archive.extractall(folder / "cimba", filter="data")
        (source,) = (found.parent for found in (folder / "cimba").glob("*/meson.build"))
    build = folder / "build"
    flags = {**os.environ, "CFLAGS": "-Dstatic_assert=_Static_assert -include stdbool.h"}
    commands: list[list[str | Path]] = [
        ["meson", "setup", build, source, "--buildtype=release"],
        ["ninja", "-C", build, "benchmark/MM1_single"],
    ]
    for command in commands:
        subprocess.run(command, check=True, env=flags, stdout=subprocess.DEVNULL)
    return build / "benchmark" / "MM1_single"


def cimba_run(program: Path) -> Run:
    """Run Cimba's benchmark; it seeds itself."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    text = printed([program])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return read_cimba(text, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def has_simpy(python: str) -> bool:
    """Return whether an interpreter can import SimPy."""
    return subprocess.run([python, "-c", "import simpy"], capture_output=True, check=False).returncode == 0


def peers(folder: Path, python: str, cimba: Path | None) -> dict[str, Callable[[int], Run]]:
    """Return what there is to measure, by name: a function of the seed."""
    c = build_c(folder)

    def program(*command: str | Path, messages: int) -> Callable[[int], Run]:
        return lambda seed: read_line(printed([*command, str(messages), str(LOAD), str(seed)]))

    found: dict[str, Callable[[int], Run]] = {
        "weir, means": lambda seed: weir_run(10 * MILLION, seed, tails=False),
        "weir, tails": lambda seed: weir_run(10 * MILLION, seed, tails=True),
        "C, Lindley's recursion": program(c, "lindley", messages=10 * MILLION),
        "C, loop of events": program(c, "events", messages=10 * MILLION),
    }
    if has_simpy(python):
        found["SimPy"] = program(python, PROGRAMS / "mm1_simpy.py", messages=300_000)
    else:
        sys.stdout.write(f"left out: SimPy, which {python} cannot import\n")
    if cimba:
        built = build_cimba(cimba, folder)
        found["Cimba"] = lambda _: cimba_run(built)
    else:
        sys.stdout.write("left out: Cimba, since its source is not named (CIMBA=)\n")
    return found


def table(speeds: dict[str, list[float]]) -> list[str]:
    """Return the lines of the table: speeds, and ratios to the first peer, turn by turn.

    Parameters
    ----------
    speeds
        Millions of messages a second of every turn, by peer.
    """
    first, reference = next(iter(speeds.items()))
    width = max(map(len, speeds))
    head = " ".join(f"{name:>8}" for name in ("median", "lowest", "highest"))
    lines = [f"{'':<{width}} {head}   ratio of {first}, to it"]
    for name, values in speeds.items():
        ratios = [ours / theirs for ours, theirs in zip(reference, values, strict=True)]
        figures = " ".join(f"{pick(values):8.3f}" for pick in (statistics.median, min, max))
        ratio = f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        lines.append(f"{name:<{width}} {figures}   {ratio}")
    return lines


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9, help="turns of every peer; 9")
    parser.add_argument("--simpy", default=sys.executable, help="the interpreter that has SimPy; this one")
    parser.add_argument(
        "--cimba", type=Path, help="archive or folder of Cimba's source; without it, left out"
    )
    asked = parser.parse_args()
    if asked.rounds < 1:
        parser.error(f"--rounds is {asked.rounds}, must be at least 1")
    if asked.cimba and not asked.cimba.exists():
        parser.error(f"--cimba is {asked.cimba}, which does not exist")
    with tempfile.TemporaryDirectory(prefix="weir-peers-") as name:
        found = peers(Path(name), asked.simpy, asked.cimba)
        speeds: dict[str, list[float]] = {peer: [] for peer in found}
        for turn in range(asked.rounds):
            for peer, run in found.items():
                speeds[peer].append(checked(peer, run(turn + 1)).speed)
    sys.stdout.writelines(f"{line}\n" for line in table(speeds))


if __name__ == "__main__":
    main()
