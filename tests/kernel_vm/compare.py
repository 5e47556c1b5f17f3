"""The kernel's disciplines next to weird's and the simulation's: the same packets through each.

``make compare-kernel`` boots a kernel of the distribution in a virtual machine (`machine`), sends six flows
through each discipline of `pairs`, first by the kernel and then by ``weird route``, simulates the same
scenario, and prints the tables of `table`. All three see the same packets: those of the TG scripts in
``traffic``. `guest` is what runs in the machine; its root has the files of this one (`initramfs`).
``KERNEL=FILE.deb`` names another kernel. Exit code 1: a figure is not as near the kernel's as is asked for;
those of the control do not count, since which packets find a full queue depends on microseconds.
"""

import itertools
import json
import pickle
import platform
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import weir
from kernel_vm import machine
from kernel_vm.guest import FIGURES
from kernel_vm.pairs import PAIRS, Pair
from kernel_vm.table import CONTROL, differing, rows, text
from weir.live.comparison import simulated
from weir.live.planner import plan
from weir.models.network.result import NetworkResult

_HERE = Path(__file__).resolve().parent
_FOLDER = Path("target/kernel-vm").resolve()
_PATIENCE = 7200
_START = 3000
"""Microseconds: when the flows of the scenario begin."""
_BUSY = 0.5
"""A processor that is busy for a larger part of a run may be what delays packets."""


def _simulated(result: NetworkResult, pair: Pair) -> dict[str, Any]:
    """Return the figures of the simulation, as the guest writes those of a run."""
    flows: dict[str, dict[str, float | None]] = {}
    for flow in result.flows:
        found = {
            name: result.estimate(pair.spec, metric=metric, statistic=statistic, flow=flow.name)
            for name, (metric, statistic) in FIGURES.items()
        }
        flows[flow.name] = {name: None if each is None else each.value for name, each in found.items()}
    return {"pair": pair.name, "by": "simulation", "flows": flows}


def _processor() -> str:
    shown = subprocess.run(["lscpu"], capture_output=True, text=True, check=True).stdout
    model = re.search(r"^Model name:\s*(.+)", shown, re.MULTILINE)
    return f"{model[1] if model else platform.machine()}, Linux {platform.release()}"


def _rounded(figures: Any) -> Any:
    """Return what is kept of figures: seven digits."""
    if isinstance(figures, dict):
        return {key: _rounded(value) for key, value in figures.items()}
    return float(f"{figures:.7g}") if isinstance(figures, float) else figures


def _measured(
    result: NetworkResult, scenario: weir.Scenario, pairs: list[Pair], files: Path
) -> list[dict[str, Any]]:
    """Run pairs in the machine, and return what the guest wrote of each run."""
    plans = {
        pair.name: plan(scenario.normalised, result.flows, _HERE, discipline=pair.spec) for pair in pairs
    }
    (interval,) = result.intervals
    work = _FOLDER / "work.pickle"
    work.write_bytes(pickle.dumps({"plans": plans, "interval": (interval.from_, interval.to)}))
    command = f"{sys.executable} {_HERE / 'guest.py'} {work}"
    told = machine.boot(files, _FOLDER, command, patience=_PATIENCE)
    return [json.loads(line) for line in told.splitlines()]


def _simulations(text: str, path: Path, pairs: list[Pair]) -> Iterator[dict[str, Any]]:
    """Simulate each pair as often as it is run; in later runs flows begin some microseconds apart."""
    for run in range(max(pair.runs for pair in pairs)):
        starts = itertools.count(_START, 10 * run)
        apart = re.sub(f'start = "{_START}us"', lambda _: f'start = "{next(starts)}us"', text)  # noqa: B023
        again = [pair for pair in pairs if pair.runs > run]
        scenario = weir.Scenario.from_toml(apart, str(path))
        result = simulated(scenario, [pair.spec for pair in again])
        yield from (_simulated(result, pair) for pair in again)


def main() -> int:
    """Run all, print the tables, and return the exit code."""
    machine.programs()
    _FOLDER.mkdir(parents=True, exist_ok=True)
    files = machine.kernel(_FOLDER)
    path = _HERE / "mix.toml"
    text_of = path.read_text(encoding="utf-8")
    scenario = weir.Scenario.from_toml(text_of, str(path))
    # A row may be ready before its discipline is.
    known = {each["name"] for each in weir.disciplines()}
    pairs = [pair for pair in PAIRS if pair.discipline in known]
    result = simulated(scenario, [pair.spec for pair in pairs])
    measured = _measured(result, scenario, pairs, files)
    if hurried := [run for run in measured if run["busy"] > _BUSY]:
        names = ", ".join(f"{run['pair']} by {run['by']}" for run in hurried)
        raise machine.MachineError(f"the processor of the guest was busy for more than {_BUSY:.0%}: {names}")
    runs = [*measured, *_simulations(text_of, path, pairs)]
    found = {
        "date": str(datetime.now(UTC).date()),
        "kernel": machine.release(files),
        "machine": _processor(),
        "runs": [_rounded(run) for run in runs],
    }
    (_FOLDER / "comparison.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(text(found))
    return int(any(row.pair != CONTROL for row, _ in differing(rows(found))))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (machine.MachineError, subprocess.CalledProcessError) as error:
        sys.exit(f"error: {error}")
