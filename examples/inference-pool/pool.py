"""Say how to spread the requests of an inference service over its workers.

Runs a scenario of this folder, prints what each discipline does to short and to long requests and how many
workers it uses, and names the discipline that is best to short requests among those whose long requests stay
within a limit.
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
class Served:
    """What one discipline does: responses in seconds, slowdowns, and workers in use."""

    mean: float
    p99: float
    short: float
    long: float
    workers: float


def served(result: ServerResult, discipline: str) -> Served:
    """Return what a discipline does."""

    def figure(metric: str, statistic: str = "mean", name: str = "all", kind: str = "class") -> float:
        row = result.estimate(discipline, kind=kind, name=name, metric=metric, statistic=statistic)
        if row is None or row.value is None:
            raise SystemExit(f"{discipline} has no {statistic} {metric} of {name}")
        return row.value

    return Served(
        mean=figure("response"),
        p99=figure("response", "p99"),
        short=figure("slowdown", "p99", "short"),
        long=figure("slowdown", "p99", "long"),
        workers=figure("in_use", kind="core"),
    )


def table(rows: dict[str, Served]) -> str:
    """Return a line a discipline."""
    head = (
        f"{'':<37}{'response (s)':>16}{'p99 slowdown':>16}",
        f"{'discipline':<37}{'mean':>8}{'p99':>8}{'short':>8}{'long':>8}{'workers':>9}",
    )
    lines = (
        f"{name:<37}{row.mean:>8.1f}{row.p99:>8.1f}{row.short:>8.1f}{row.long:>8.1f}{row.workers:>9.1f}"
        for name, row in rows.items()
    )
    return "\n".join((*head, *lines))


def advice(rows: dict[str, Served], most: float) -> str:
    """Return which discipline to take, or that there is none."""
    asked = f"99 % of long requests done within {most:g} times their service"
    fitting = sorted(
        (name for name, row in rows.items() if row.long <= most), key=lambda name: rows[name].short
    )
    if not fitting:
        return f"{asked}: none of these."
    others = ", ".join(fitting[1:3]) or "none"
    return f"{asked}:\ntake {fitting[0]} (next: {others})."


def main() -> None:
    """Run the scenario, print table and advice."""
    parser = argparse.ArgumentParser(description="Say how to spread requests over workers.")
    parser.add_argument("scenario", type=Path, help="conv.toml or code.toml")
    parser.add_argument("--long", type=float, required=True, help="p99 slowdown that long requests may have")
    arguments = parser.parse_args()
    result = weir.run(arguments.scenario)
    rows = {discipline: served(result, discipline) for discipline in result.disciplines}
    print(table(rows), advice(rows, arguments.long), sep="\n\n")


if __name__ == "__main__":
    main()
