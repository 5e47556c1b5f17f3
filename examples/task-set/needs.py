"""Say whether a control loop, video and a batch job each get what they need of one core, and at what cost.

Runs the scenario of this folder twice, with the costs of switches and without, prints what each discipline
does, and names the ones that meet every need and keep the control loop in time: first the one that is late
with the fewest frames.
"""

from __future__ import annotations

import argparse
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import weir

if TYPE_CHECKING:
    from weir.node import NodeResult


@dataclass(frozen=True, kw_only=True)
class Served:
    """What one discipline does: responses in ms, shares in per cent, times in ms an epoch."""

    response: float
    late: float
    frames: float
    missed: float
    batch: float
    idle: float
    overhead: float


def served(result: NodeResult, free: NodeResult, discipline: str) -> Served:
    """Return what a discipline does; ``free`` is the same without costs."""
    response = result.estimate(discipline, name="control", statistic="max")
    control, video, batch = (result.totals(discipline, name) for name in ("control", "video", "batch"))
    if response is None or response.value is None or not (control and video and batch):
        raise SystemExit(f"{discipline} has not run all of the tasks")
    return Served(
        response=1e3 * response.value,
        late=100 * (control.late or 0) / control.waits,
        frames=100 * (video.late or 0) / video.waits,
        missed=100 * batch.needs_missed / batch.epochs_ready,
        batch=1e3 * batch.run_time / epochs(result),
        idle=idle(result, discipline),
        overhead=left(free, discipline) - left(result, discipline),
    )


def epochs(result: NodeResult) -> float:
    """Return how many epochs were measured."""
    return result.measured * result.replications / result.epoch


def idle(result: NodeResult, discipline: str) -> float:
    """Return the idle time, in ms an epoch."""
    row = next(row for row in result.node_totals if row.discipline == discipline)
    return 1e3 * row.idle_time / epochs(result)


def left(result: NodeResult, discipline: str) -> float:
    """Return what control and video leave, in ms an epoch: what the batch job runs, and idle time."""
    batch = result.totals(discipline, "batch")
    return idle(result, discipline) + (1e3 * batch.run_time / epochs(result) if batch else 0.0)


_COLUMNS = (
    ("control (ms)", "at most", 13),
    ("frames", "late", 8),
    ("batch: epochs", "below need", 15),
    ("batch (ms", "an epoch)", 11),
    ("idle (ms", "an epoch)", 10),
    ("cost (ms", "an epoch)", 10),
)


def table(rows: dict[str, Served]) -> str:
    """Return a line a discipline."""
    names = ("", "discipline")
    head = (
        f"{name:<24}" + "".join(f"{column[place]:>{column[2]}}" for column in _COLUMNS)
        for place, name in enumerate(names)
    )
    lines = (
        f"{name:<24}{row.response:>13.1f}{row.frames:>7.1f}%{row.missed:>14.1f}%{row.batch:>11.1f}"
        f"{row.idle:>10.1f}{row.overhead:>10.2f}"
        for name, row in rows.items()
    )
    return "\n".join((*head, *lines))


def advice(rows: dict[str, Served]) -> str:
    """Return which discipline to take, or that none does."""
    asked = "control in time, and no epoch in which batch gets less than its need"
    fitting = sorted(
        (name for name, row in rows.items() if row.late == 0 and row.missed == 0),
        key=lambda name: rows[name].frames,
    )
    if not fitting:
        return f"{asked}: none of these."
    others = ", ".join(fitting[1:]) or "none"
    late = f"{rows[fitting[0]].frames:.1f} % of frames late"
    return f"{asked}: take {fitting[0]}, {late} (also possible: {others})."


def main() -> None:
    """Run the scenario with costs and without, print table and advice."""
    parser = argparse.ArgumentParser(description="Say who gets what it needs of one core.")
    parser.add_argument("scenario", type=Path, help="tasks.toml")
    path = parser.parse_args().scenario
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    result = weir.run(document)
    free = weir.run({**document, "node": {**document["node"], "costs": "none"}})
    rows = {name: served(result, free, name) for name in result.disciplines}
    print(table(rows), advice(rows), sep="\n\n")


if __name__ == "__main__":
    main()
