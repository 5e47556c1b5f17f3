"""Say what each policy does to the packets of a capture: delay, loss, reordering, moves between caches.

Runs the scenarios of this folder and names, of the policies that keep the order of a flow to within a limit,
the one with the lowest p90 of the queueing delay.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import weir

if TYPE_CHECKING:
    from weir import ServerResult


@dataclass(frozen=True, kw_only=True)
class Steered:
    """What one policy does: delays in microseconds, parts of all packets, the load of the busiest core."""

    mean: float
    p90: float
    dropped: float
    reordered: float
    cold: float
    busiest: float


def steered(result: ServerResult, discipline: str) -> Steered:
    """Return what a policy does."""

    def figure(metric: str, statistic: str = "mean") -> float:
        row = result.estimate(discipline, metric=metric, statistic=statistic)
        if row is None or row.value is None:
            raise SystemExit(f"{discipline} has no {statistic} {metric}")
        return row.value

    busy = [row.busy for row in result.core_totals if row.discipline == discipline]
    return Steered(
        mean=1e6 * figure("delay"),
        p90=1e6 * figure("delay", "p90"),
        dropped=figure("dropped"),
        reordered=figure("reordered"),
        cold=figure("cold"),
        busiest=max(busy) / (result.measured * result.replications),
    )


def table(title: str, rows: dict[str, Steered]) -> str:
    """Return a line a policy."""
    head = (
        title,
        f"{'':<14}{'delay (us)':>18}",
        f"{'policy':<14}{'mean':>9}{'p90':>9}{'dropped':>9}{'reordered':>11}{'cold':>8}{'busiest':>9}",
    )
    lines = (
        f"{name:<14}{row.mean:>9.1f}{row.p90:>9.1f}{row.dropped:>9.2%}{row.reordered:>11.2%}{row.cold:>8.1%}"
        f"{row.busiest:>9.0%}"
        for name, row in rows.items()
    )
    return "\n".join((*head, *lines))


def advice(rows: dict[str, Steered], most: float) -> str:
    """Return which policy to take, or that there is none."""
    asked = f"at most {most:g} % of the packets behind a later one of their flow"
    fitting = sorted(
        (name for name, row in rows.items() if 100 * row.reordered <= most), key=lambda name: rows[name].p90
    )
    if not fitting:
        return f"{asked}: none of these."
    return f"{asked}: take {fitting[0]} (also possible: {', '.join(fitting[1:]) or 'none'})."


def main() -> None:
    """Run the scenarios, print tables and advice."""
    parser = argparse.ArgumentParser(description="Say what each policy does to the packets of a capture.")
    parser.add_argument("scenario", type=Path, nargs="+", help="web.toml modbus.toml")
    parser.add_argument("--reordered", type=float, required=True, help="per cent of packets out of order")
    arguments = parser.parse_args()
    for place, result in enumerate(map(weir.run, arguments.scenario)):
        rows = {discipline: steered(result, discipline) for discipline in result.disciplines}
        print(*[""] * bool(place), table(result.title, rows), "", advice(rows, arguments.reordered), sep="\n")


if __name__ == "__main__":
    main()
