"""Name the discipline that keeps control traffic under a delay, and say what the others pay for it.

Runs a scenario of this folder, prints what each discipline does to control, web and bulk, and names the ones
that lose no packet of control and deliver each in time: first the one that costs web the least loss, and at
the same loss the least delay.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import weir

_CLASSES = ("control", "web", "bulk")


@dataclass(frozen=True, kw_only=True)
class Served:
    """How one discipline serves one class: delays in seconds, loss as a share of the packets."""

    p99: float
    largest: float
    loss: float


def served(result: weir.Result, discipline: str, name: str) -> Served:
    """Return how a discipline serves a class."""

    def value(metric: str, statistic: str) -> float:
        estimate = result.estimate(discipline, metric=metric, statistic=statistic, class_=name)
        if estimate is None or estimate.value is None:
            raise SystemExit(f"{discipline} has no {statistic} of the {metric} of {name}")
        return estimate.value

    return Served(p99=value("delay", "p99"), largest=value("delay", "max"), loss=value("loss", "mean"))


def table(rows: dict[str, dict[str, Served]]) -> str:
    """Return delays in milliseconds and losses, a line a discipline."""
    cells = [f"{name} {what}" for name in _CLASSES for what in ("p99", "max", "loss")]
    head = f"{'discipline':<10}" + "".join(f"{cell.split()[1]:>8}" for cell in cells)
    groups = " " * 10 + "".join(f"{name:>24}" for name in _CLASSES)
    lines = [
        f"{label:<10}"
        + "".join(
            f"{row[name].p99 * 1e3:>8.1f}{row[name].largest * 1e3:>8.1f}{row[name].loss:>8.2%}"
            for name in _CLASSES
        )
        for label, row in rows.items()
    ]
    return "\n".join(("delay in milliseconds", groups, head, *lines))


def advice(rows: dict[str, dict[str, Served]], most: float) -> str:
    """Return which discipline to take, or which comes nearest."""
    asked = f"every packet of control within {most * 1e3:g} ms"
    fitting = [
        label for label, row in rows.items() if row["control"].loss == 0 and row["control"].largest <= most
    ]
    if not fitting:
        nearest = min(rows, key=lambda label: (rows[label]["control"].loss, rows[label]["control"].largest))
        found = rows[nearest]["control"]
        delay = f"{found.largest * 1e3:.1f} ms, {found.loss:.2%} lost"
        return f"{asked}: none of these. Nearest is {nearest}, {delay}."
    fitting.sort(key=lambda label: (rows[label]["web"].loss, rows[label]["web"].p99))
    others = ", ".join(fitting[1:]) or "none"
    return f"{asked}: take {fitting[0]} (also possible: {others})."


def main() -> None:
    """Read the requirement, run the scenario, print table and advice."""
    parser = argparse.ArgumentParser(description="Name the discipline that keeps control under a delay.")
    parser.add_argument("scenario", type=Path, help="uplink.toml")
    parser.add_argument(
        "--max", type=float, required=True, help="milliseconds that no packet of control may exceed"
    )
    arguments = parser.parse_args()
    result = weir.run(arguments.scenario)
    rows = {
        discipline.partition("(")[0].partition(":")[0]: {
            name: served(result, discipline, name) for name in _CLASSES
        }
        for discipline in result.disciplines
    }
    print(table(rows), advice(rows, arguments.max / 1e3), sep="\n\n")


if __name__ == "__main__":
    main()
