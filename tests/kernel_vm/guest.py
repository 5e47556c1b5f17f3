"""In the virtual machine: the plans of all pairs are run; each run is a line of JSON on the second line."""

import json
import pickle
import shutil
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

from kernel_vm.bed import KernelBed
from kernel_vm.pairs import PAIRS
from weir.live import program
from weir.live.figures import measured
from weir.live.run import Outcome, Testbed

_LINES, _MEMORY = Path("/dev/ttyS1"), Path("/run")
FIGURES = {
    "throughput": ("throughput", "mean"),
    "delay": ("delay", "mean"),
    "p99": ("delay", "p99"),
    "loss": ("loss", "mean"),
}


def _run(bed: Testbed) -> tuple[Outcome, float]:
    """Run a testbed, and return what share of its processor's time was spent too."""
    bed.start()
    before = _processor()
    while bed.progress() < 1.0:
        time.sleep(0.5)
    after = _processor()
    return bed.finish(), 1 - (after[0] - before[0]) / (after[1] - before[1])


def _processor() -> tuple[int, int]:
    """Return how long the processor was idle, and how long it was there, in ticks."""
    ticks = [int(each) for each in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
    return ticks[3] + ticks[4], sum(ticks)


def _flows(outcome: Outcome, interval: tuple[float, float]) -> dict[str, dict[str, float | None]]:
    """Return the figures of each flow, and by how much 99 % of its packets left late at most."""
    made = {}
    for place, stream in enumerate(outcome.plan.streams):
        packets = outcome.packets[place]
        if packets.no_room or packets.unsent:
            raise SystemExit(f"{stream.name}: {packets.no_room} had no room, {packets.unsent} were not sent")
        figures = measured(outcome.plan, [outcome.packets], place, interval)
        made[stream.name] = {name: figures[key].value for name, key in FIGURES.items()}
        made[stream.name]["late"] = float(np.quantile(packets.late, 0.99)) / 1e9
    return made


def main() -> None:
    """Run all plans of the file that the host has written."""
    work: dict[str, Any] = pickle.loads(Path(sys.argv[1]).read_bytes())  # noqa: S301 - its own
    # From memory: the clock of the machine does not stand still while it waits for files.
    weird = Path(shutil.copy(program.find(), _MEMORY))
    with _LINES.open("w") as lines:
        named = (each for each in PAIRS if each.name in work["plans"])
        for pair in (each for each in named for _ in range(each.runs)):
            plan = work["plans"][pair.name]
            for by, bed in (("kernel", KernelBed(plan, weird, pair=pair)), ("weird", Testbed(plan, weird))):
                with bed:
                    outcome, busy = _run(bed)
                run = {"pair": pair.name, "by": by, "busy": busy, "flows": _flows(outcome, work["interval"])}
                lines.write(json.dumps(run) + "\n")
                lines.flush()
                sys.stdout.write(f"{pair.name} by {by}: processor busy for {busy:.0%}\n")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
