"""What the kernel, weird and the simulation made of the same packets, next to each other.

A figure of a flow *agrees* if it is within 5 % of the kernel's. Drops also agree if they differ by at most
half a percent of what the flow sent: some packets more or less are large parts of a few. Of a pair with
several runs means are compared, and a figure differs if all of the 95 % interval of its difference is beyond
5 %; where the interval is neither within 5 % nor beyond, it is *not decided*.
"""

import json
import math
import statistics
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weir.reproduce.engine.thresholds import student_quantile

__all__ = ["CONTROL", "KERNEL", "OTHERS", "Row", "differing", "rows", "text"]

KERNEL, OTHERS = "kernel", ("weird", "simulation")
CONTROL = "fifo"
"""Of a queue without a discipline: whether the two routers and the simulation are comparable at all."""
_WITHIN, _FEW = 0.05, 0.005
_NAMES = {"share": "share (%)", "delay": "mean delay (ms)", "p99": "p99 delay (ms)", "loss": "dropped (%)"}
_SCALE = {"share": 100, "delay": 1000, "p99": 1000, "loss": 100}
Figures = dict[str, float]


@dataclass(frozen=True, slots=True)
class Row:
    """One figure of a flow under a discipline: shares of one, seconds."""

    pair: str
    flow: str
    figure: str
    runs: dict[str, list[float]]
    """By the kernel, weird, the simulation."""

    @property
    def values(self) -> dict[str, float]:
        """The means of the runs."""
        return {by: statistics.fmean(values) for by, values in self.runs.items()}

    def difference(self, other: str) -> float:
        """Return how far another is from the kernel, as a part of the kernel's."""
        kernel, value = self.values[KERNEL], self.values[other]
        return 0.0 if value == kernel else (value - kernel) / kernel if kernel else float("inf")

    def half(self, other: str) -> float:
        """Return half the 95 % interval of the difference, as a part of the kernel's; 0 of one run."""
        kernel, values = self.runs[KERNEL], self.runs[other]
        if min(len(kernel), len(values)) == 1 or not any(kernel):
            return 0.0
        error = math.sqrt(sum(statistics.variance(each) / len(each) for each in (kernel, values)))
        freedom = min(len(kernel), len(values)) - 1
        return student_quantile(0.05, freedom) * error / statistics.fmean(kernel)

    def agrees(self, other: str) -> bool:
        """Return whether another is as near as is asked for, or may be."""
        few = self.figure == "loss" and abs(self.values[other] - self.values[KERNEL]) <= _FEW
        return few or abs(self.difference(other)) - self.half(other) <= _WITHIN

    def is_decided(self, other: str) -> bool:
        """Return whether the runs tell if it is."""
        few = self.figure == "loss" and abs(self.values[other] - self.values[KERNEL]) <= _FEW
        apart = abs(self.difference(other))
        return few or apart + self.half(other) <= _WITHIN or apart - self.half(other) > _WITHIN


def rows(found: dict[str, Any]) -> list[Row]:
    """Return the rows of a comparison, as `compare` writes it."""
    runs: dict[tuple[str, str], list[dict[str, Figures]]] = {}
    for run in found["runs"]:
        runs.setdefault((run["pair"], run["by"]), []).append(_figures(run["flows"]))
    bys = (KERNEL, *OTHERS)
    return [
        Row(pair, flow, figure, {by: [run[flow][figure] for run in runs[pair, by]] for by in bys})
        for pair in dict.fromkeys(run["pair"] for run in found["runs"])
        for flow in runs[pair, KERNEL][0]
        for figure in _NAMES
    ]


def _figures(flows: dict[str, Figures]) -> dict[str, Figures]:
    total = sum(each["throughput"] for each in flows.values())
    return {name: {**each, "share": each["throughput"] / total} for name, each in flows.items()}


def differing(table: list[Row]) -> Iterator[tuple[Row, str]]:
    """Yield the figures that do not agree, each with whose it is."""
    yield from ((row, other) for row in table for other in OTHERS if not row.agrees(other))


def text(found: dict[str, Any]) -> str:
    """Return the tables as Markdown: the largest differences, what does not agree, then everything."""
    table = rows(found)
    apart = [
        f"{row.pair}, {row.flow}, {_NAMES[row.figure]}: {other} {row.difference(other):+.1%}"
        for row, other in differing(table)
    ]
    head = f"{found['date']}, Linux {found['kernel']} in QEMU, on {found['machine']}"
    of_kernel = {run["pair"]: run["busy"] for run in found["runs"] if run["by"] == KERNEL}
    busy = ", ".join(f"{pair} {share:.0%}" for pair, share in of_kernel.items())
    open_ = sum(not row.is_decided(other) for row in table for other in OTHERS)
    lines = [head, f"processor of the guest busy, kernel: {busy}", "", *_largest(table), ""]
    count = f"beyond {_WITHIN:.0%}: {len(apart)} of {len(table) * len(OTHERS)}; not decided: {open_}"
    lines += [count, *apart, "", *_all(table)]
    return "\n".join(lines) + "\n"


def _largest(table: list[Row]) -> Iterator[str]:
    """Yield a table with the flow in which each figure differs most."""
    yield "| discipline | " + " | ".join(f"{by}: {name}" for by in OTHERS for name in _SCALE) + " |"
    yield "|---" * (1 + len(OTHERS) * len(_SCALE)) + "|"
    for pair in dict.fromkeys(row.pair for row in table):
        cells = []
        for other in OTHERS:
            for figure in _SCALE:
                of = [row for row in table if (row.pair, row.figure) == (pair, figure)]
                row = max(of, key=_distance(other))
                cells.append(f"{row.difference(other):+.1%} ({row.flow})")
        yield f"| {pair} | " + " | ".join(cells) + " |"


def _distance(other: str) -> Callable[[Row], tuple[bool, float]]:
    """Return what orders rows by how far another is from the kernel; those that do not agree come last."""
    return lambda row: (not row.agrees(other), abs(row.difference(other)))


def _all(table: list[Row]) -> Iterator[str]:
    yield "| discipline | flow | figure | kernel | weird | simulation |"
    yield "|---" * 6 + "|"
    for row in table:
        cells = [f"{_SCALE[row.figure] * row.values[KERNEL]:.2f}"]
        for other in OTHERS:
            mark = "" if row.agrees(other) else " **differs**"
            mark = mark if row.is_decided(other) else " not decided"
            half = f" ± {row.half(other):.1%}" if row.half(other) else ""
            value = f"{_SCALE[row.figure] * row.values[other]:.2f}"
            cells.append(f"{value} ({row.difference(other):+.1%}{half}){mark}")
        yield f"| {row.pair} | {row.flow} | {_NAMES[row.figure]} | " + " | ".join(cells) + " |"


if __name__ == "__main__":
    sys.stdout.write(text(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))))
