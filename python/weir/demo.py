"""The tour: the alpha report's port at 95 % load, under eight disciplines."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from weir.models.port.result import PortResult
from weir.models.port.verdict import best
from weir.progress import Progress
from weir.results import page
from weir.scenario import Scenario
from weir.simulation import run as simulate

if TYPE_CHECKING:
    from weir.results.result import Result

__all__ = ["next_steps", "run", "scenario"]


def scenario() -> Scenario:
    """Return the scenario of the tour."""
    file = resources.files("weir") / "assets" / "demo.toml"
    return Scenario.from_toml(file.read_text(encoding="utf-8"), "demo.toml")


def run(*, seed: int | None = None, threads: int | None = None, out: str | Path | None = None) -> Result:
    """Run the tour and write its report.

    Parameters
    ----------
    seed, threads : int, optional
        As in `weir.run`.
    out : path, optional
        The HTML file; none is written if not given, or if nothing was finished.
    """
    with Progress() as progress:
        result = simulate(scenario(), seed=seed, threads=threads, progress=progress)
    if out is not None and not result.empty:
        page.write(result, Path(out))
    return result


def next_steps(result: Result) -> tuple[str, ...]:
    """Return what to try next, as lines of text; the queue is of the discipline that the verdict names."""
    chosen = best(result) if isinstance(result, PortResult) else None
    chosen = chosen or result.disciplines[-1]
    return (
        "",
        "u is the mean service time of a packet; theory is exact, OK where the 99.9 % interval covers it.",
        f'in your server: queue = weir.Queue("{chosen}"); queue.put(request, size=3); queue.get()',
        "next: weir explain alpha | weir theory FILE | weir compare FILE | weir reproduce alpha --quick",
    )
