"""Say whether a control loop, video and a batch job each get what they need of one core, and at what cost.

Runs the scenarios of this folder, prints what each discipline does, and names the ones that keep the
control loop in time and give the batch job its need in every epoch: first the one that is late with the
fewest frames.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import weir

if TYPE_CHECKING:
    from weir import NodeResult

SWITCHES = (1.0, 4.0, 2.5, 1.0, 2.5, 1.0)
"""Microseconds of each path of the scheduler, as the scenarios have them."""


@dataclass(frozen=True, kw_only=True)
class Served:
    """What one discipline does: the slowest response of control, late parts, and times in ms an epoch."""

    response: float
    late: float
    frames: float
    lacks: float
    batch: float
    idle: float
    switching: float


def served(result: NodeResult, discipline: str) -> Served:
    """Return what a discipline does."""
    response = result.estimate(discipline, name="control", statistic="max")
    late, frames = (result.estimate(discipline, name=name, metric="late") for name in ("control", "video"))
    batch = result.totals(discipline, "batch")
    if not (response and late and frames and batch) or None in (response.value, late.value, frames.value):
        raise SystemExit(f"{discipline} has not run all of the tasks")
    node = next(row for row in result.node_totals if row.discipline == discipline)
    epochs = result.measured * result.replications / result.epoch
    return Served(
        response=1e3 * response.value,
        late=late.value,
        frames=frames.value,
        lacks=1e3 * batch.worst_shortfall,
        batch=1e3 * batch.run_time / epochs,
        idle=1e3 * node.idle_time / epochs,
        switching=1e-3 * sum(map(float.__mul__, SWITCHES, map(float, node.paths))) / epochs,
    )


COLUMNS = (
    ("control", "slowest", 10),
    ("video", "late", 8),
    ("batch", "lacks", 8),
    ("batch", "gets", 8),
    ("", "idle", 8),
    ("", "switching", 11),
)


def table(rows: dict[str, Served]) -> str:
    """Return a line a discipline."""
    head = (
        (f"{name:<24}" + "".join(f"{column[place]:>{column[2]}}" for column in COLUMNS)).rstrip()
        for place, name in enumerate(("", "discipline"))
    )
    lines = (
        f"{name:<24}{row.response:>10.1f}{row.frames:>8.1%}{row.lacks:>8.2f}{row.batch:>8.1f}{row.idle:>8.1f}"
        f"{row.switching:>11.2f}"
        for name, row in rows.items()
    )
    return "\n".join(
        ("ms, but for the part of the frames that is late; of 100 ms from `batch gets` on", *head, *lines)
    )


def advice(rows: dict[str, Served], most: float) -> str:
    """Return which discipline to take, or that there is none."""
    asked = f"control always in time, and batch never short by more than {most:g} ms"
    fitting = sorted(
        (name for name, row in rows.items() if row.late == 0 and row.lacks <= most),
        key=lambda name: rows[name].frames,
    )
    if not fitting:
        return f"{asked}: none of these."
    others = ", ".join(fitting[1:]) or "none"
    late = f"{rows[fitting[0]].frames:.1%} of frames late"
    return f"{asked}:\ntake {fitting[0]}, {late} (also possible: {others})."


def main() -> None:
    """Run the scenarios, print table and advice."""
    parser = argparse.ArgumentParser(description="Say who gets what it needs of one core.")
    parser.add_argument("scenario", type=Path, nargs="+", help="tasks.toml servers.toml")
    parser.add_argument(
        "--lack", type=float, required=True, help="ms of its need that batch may lack in an epoch"
    )
    arguments = parser.parse_args()
    rows = {
        discipline.partition(":min")[0]: served(result, discipline)
        for result in map(weir.run, arguments.scenario)
        for discipline in result.disciplines
    }
    print(table(rows), advice(rows, arguments.lack), sep="\n\n")


if __name__ == "__main__":
    main()
