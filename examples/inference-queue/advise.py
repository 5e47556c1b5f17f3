"""Name the discipline that keeps 90 % of the requests under one wait and everybody under another.

Runs a scenario of this folder, prints what each discipline does to the wait, and names the one to take: of
those that meet both requirements, the one with the lowest mean. What to paste into the server follows.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import weir

_UNSUITED = ("fifo",)
"""Needs no advice: a server that has no discipline is FIFO already."""


@dataclass(frozen=True, kw_only=True)
class Wait:
    """What one discipline does to the wait of requests, in seconds; the slowdown is response over service."""

    discipline: str
    mean: float
    p90: float
    p99: float
    largest: float
    slowdown: float

    def meets(self, p90: float, largest: float) -> bool:
        """Return whether 90 % wait at most ``p90`` and nobody longer than ``largest``."""
        return self.p90 <= p90 and self.largest <= largest


def waits(result: weir.Result) -> list[Wait]:
    """Return the waits under every discipline of a result."""

    def value(discipline: str, metric: str, statistic: str) -> float:
        estimate = result.estimate(discipline, metric=metric, statistic=statistic)
        if estimate is None or estimate.value is None:
            raise SystemExit(
                f"{discipline} has no {statistic} of the {metric}: {estimate and estimate.reason}"
            )
        return estimate.value

    return [
        Wait(
            discipline=name,
            mean=value(name, "wait", "mean"),
            p90=value(name, "wait", "p90"),
            p99=value(name, "wait", "p99"),
            largest=value(name, "wait", "max"),
            slowdown=value(name, "slowdown", "mean"),
        )
        for name in result.disciplines
    ]


def table(rows: list[Wait]) -> str:
    """Return the waits as a table."""
    head = f"{'discipline':<12}{'mean':>9}{'p90':>9}{'p99':>9}{'max':>9}  {'mean slowdown':>13}"
    lines = (
        f"{row.discipline:<12}{row.mean:>9.1f}{row.p90:>9.1f}{row.p99:>9.1f}{row.largest:>9.1f}"
        f"  {row.slowdown:>13.1f}"
        for row in rows
    )
    return "\n".join(("wait in seconds", head, *lines))


def advice(rows: list[Wait], p90: float, largest: float) -> str:
    """Return which discipline to take, or what stands in the way."""
    asked = f"90 % under {p90:g} s and nobody over {largest:g} s"
    fitting = [row for row in rows if row.meets(p90, largest)]
    if not fitting:
        nearest = min(rows, key=lambda row: max(row.p90 / p90, row.largest / largest))
        found = f"90 % under {nearest.p90:.1f} s and nobody over {nearest.largest:.1f} s"
        return f"{asked}: none of these. Nearest is {nearest.discipline}, {found}."
    best = min(fitting, key=lambda row: row.mean)
    others = ", ".join(row.discipline for row in fitting if row != best) or "none"
    words = f"{asked}: take {best.discipline} (also possible: {others})."
    return words if best.discipline in _UNSUITED else f"{words}\n\n    {paste(best.discipline)}"


def paste(discipline: str) -> str:
    """Return the line that puts a discipline into a server; sizes are prompt tokens."""
    return f'queue = weir.Queue("{discipline}")  # queue.put(request, size=prompt_tokens)'


def main() -> None:
    """Read the requirement, run the scenario, print table and advice."""
    parser = argparse.ArgumentParser(description="Name the discipline that meets a requirement on the wait.")
    parser.add_argument("scenario", type=Path, help="conv.toml or code.toml")
    parser.add_argument(
        "--p90", type=float, required=True, help="seconds that 90 %% of the requests wait at most"
    )
    parser.add_argument("--max", type=float, required=True, help="seconds that nobody may exceed")
    arguments = parser.parse_args()
    rows = waits(weir.run(arguments.scenario))
    print(table(rows), advice(rows, arguments.p90, arguments.max), sep="\n\n")


if __name__ == "__main__":
    main()
