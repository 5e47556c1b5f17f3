"""What a sweep costs over the engine: the figures of docs/performance.md, measured in release.

::

    make release && python tests/sweep_bench.py            # all, some ten minutes on two cores
    python tests/sweep_bench.py cells resume compact       # some of them

Each line is a measurement with its bound; a bound that is missed is marked, and fails nothing.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import weir
from weir import _weir, axes
from weir.settings import Setting
from weir.sweeping.plan import Asked, make_plan
from weir.sweeping.run import SET, _made, swept

if TYPE_CHECKING:
    from collections.abc import Callable

BASE = """weir = 1
model = "port"
disciplines = {disciplines}
[workload]
load = 0.8
lengths = "report"
[stop]
packets = {packets}
replications = {replications}
warm_up = "none"
[measure]
tails = {tails}
"""


def text(packets: int, disciplines: str, *, replications: int = 1, tails: bool = True) -> str:
    """Return a scenario of the port."""
    return BASE.format(
        packets=packets, disciplines=disciplines, replications=replications, tails=str(tails).lower()
    )


TWO = '["fifo", "sf"]'
THREE = '["fifo", "sf", "alpha:10"]'


def say(name: str, value: float, unit: str, bound: str, *, met: bool) -> None:
    """Print a measurement with its bound."""
    sys.stdout.write(f"{name:<58} {value:10.3f} {unit:<6} {bound}{'' if met else '  MISSED'}\n")
    sys.stdout.flush()


def took(work: Callable[[], object]) -> float:
    """Return the seconds that something takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def planned(scenario: str, *over: str, replications: int | None = None) -> Any:
    """Return the plan of a sweep."""
    asked = Asked(tuple(map(axes.read_axis, over)), replications=replications)
    return make_plan(scenario, "bench.toml", [Setting.read("title=bench")], asked)


def bare(packets: int, cells: int) -> float:
    """Return the seconds that the engine alone takes for so many replications, on two threads."""
    scenario = weir.Scenario.from_toml(text(packets * cells, TWO, replications=cells))
    return took(lambda: _weir.run(scenario.read, 2, None, None))


def overhead(folder: Path) -> None:
    """Compare cells of 10 ms in a sweep with as many replications of one run."""
    cells, packets = 2_000, 300_000
    one = bare(packets, 50) / 50 * 2
    packets = round(packets * 0.010 / one)
    plan = planned(text(packets, TWO), f"seed=1:{cells}")
    alone = bare(packets, cells)
    whole = took(lambda: swept(plan, folder / "overhead", threads=2))
    say(
        f"{cells:,} cells of {1e3 * alone * 2 / cells:.1f} ms, two threads: bare engine",
        alone,
        "s",
        "",
        met=True,
    )
    say("  the sweep, set included", whole, "s", "", met=True)
    share = 100 * (whole / alone - 1)
    say("  over the bare engine", share, "%", "at most 10 %", met=share <= 10)


def resume(folder: Path) -> None:
    """Resume a sweep of 100,000 replications that are all there."""
    scenario = folder / "resume.toml"
    scenario.write_text(text(400, '["fifo"]', tails=False), encoding="utf-8")
    for cells in (10_000, 100_000):
        out = folder / f"resume-{cells}"
        line = [
            *(sys.executable, "-m", "weir", "sweep", str(scenario), "--out", str(out), "--over"),
            *(f"seed=1:{cells}", "--replications", str(100_000 // cells)),
        ]
        run = lambda: subprocess.run(line, check=True, capture_output=True)  # noqa: E731, B023
        first = took(run)
        say(f"100,000 replications of {cells:,} cells: played", first, "s", "", met=True)
        again = min(took(run) for _ in range(3))
        say("  the same command again", again, "s", "under 2 s", met=again < 2)


def compact(folder: Path) -> None:
    """Make a set of 10^6 rows of replications that are kept."""
    plan = planned(text(400, '["fifo", "sf"]', tails=False), "seed=1:10")
    rows = swept(plan, folder / "few").to_arrow().num_rows / 10
    cells = round(1_000_000 / rows)
    plan = planned(text(400, '["fifo", "sf"]', tails=False), f"seed=1:{cells}")
    out = folder / "compact"
    swept(plan, out)
    kept, state = _weir.Sweep(str(out)), {"cells": cells}
    spent = min(took(lambda: _made(kept, plan, out, state, plan.engine, 2)) for _ in range(3))
    size = (out / SET).stat().st_size / 1e6
    say(
        f"a set of {cells * rows:,.0f} rows ({size:.1f} MB) of {cells:,} cells",
        spent,
        "s",
        "under 2 s",
        met=spent < 2,
    )


def cells(folder: Path) -> None:
    """Take the time of one cell among many: read, played, kept, and its figures."""
    for packets, disciplines, count, bound in ((20_000, TWO, 1_000, 4.0), (1_000, THREE, 10_000, 1.0)):
        plan = planned(text(packets, disciplines), f"seed=1:{count}")
        spent = took(lambda: swept(plan, folder / f"cells-{packets}", threads=1))  # noqa: B023
        each = 1e3 * spent / count
        name = f"a cell of {packets:,} packets under {disciplines}, tails"
        say(name, each, "ms", f"under {bound:g} ms", met=each < bound)


def memory(folder: Path) -> None:
    """Show the largest resident size of sweeps of more and more cells."""
    scenario = folder / "memory.toml"
    scenario.write_text(text(400, '["fifo"]', tails=False), encoding="utf-8")
    for count in (1_000, 10_000, 100_000):
        # Of this program alone: what `getrusage` says begins with the size of whoever started it.
        program = (
            "import sys; from pathlib import Path; from weir.cli import main\n"
            "try: main()\n"
            "finally:\n"
            "    told = Path('/proc/self/status').read_text().partition('VmHWM:')[2]\n"
            "    sys.stderr.write(f'RSS {told.split()[0]}')"
        )
        line = [
            *(sys.executable, "-c", program, "sweep", str(scenario), "--over", f"seed=1:{count}"),
            *("--shard", "1/1", "--out", str(folder / f"memory-{count}")),
        ]
        done = subprocess.run(line, check=True, capture_output=True, text=True)
        size = int(done.stderr.rsplit("RSS ", 1)[1]) / 1024
        say(f"largest resident size of {count:,} cells, played and kept", size, "MiB", "", met=True)


def calls(_: Path) -> None:
    """Take the time of a call of `weir.run`, and of two threads that call it."""
    short = weir.Scenario.from_toml(text(100, '["fifo"]', tails=False))
    weir.run(short, threads=1)
    times = [took(lambda: weir.run(short, threads=1)) for _ in range(500)]
    value = 1e3 * statistics.median(times)
    say("weir.run of 100 packets, a scenario that is read", value, "ms", "under 1 ms", met=value < 1)
    document = {"weir": 1, "model": "port", "disciplines": ["fifo"]}
    document |= {"workload": {"load": 0.5, "lengths": "report"}}
    document |= {"stop": {"packets": 100, "replications": 1, "warm_up": "none"}}
    times = [took(lambda: weir.run(document, threads=1)) for _ in range(500)]
    value = 1e3 * statistics.median(times)
    say("weir.run of 100 packets, a mapping", value, "ms", "under 1 ms", met=value < 1)
    long = weir.Scenario.from_toml(text(300_000, TWO))

    def several(count: int) -> None:
        for _ in range(count):
            weir.run(long, threads=1)

    def twice() -> None:
        both = [threading.Thread(target=several, args=(100,)) for _ in range(2)]
        for each in both:
            each.start()
        for each in both:
            each.join()

    gain = statistics.median(took(lambda: several(200)) / took(twice) for _ in range(3))
    say("weir.run from two threads, against one", gain, "times", "at least 1.8", met=gain >= 1.8)


ALL = {each.__name__: each for each in (calls, cells, overhead, resume, compact, memory)}


def main() -> None:
    """Measure what is named, or everything."""
    with tempfile.TemporaryDirectory(prefix="weir-bench-") as name:
        for each in sys.argv[1:] or ALL:
            ALL[each](Path(name))


if __name__ == "__main__":
    main()
