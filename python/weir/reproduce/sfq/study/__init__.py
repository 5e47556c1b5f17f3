"""The study that the SFQ report recommends and did not make: flows against queues, hashes, perturbation.

One scenario, ``reproduce/sfq/study.toml``, with other disciplines, flows and times in each run::

    python -m weir.reproduce.sfq.study --out study.html
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from weir.extras import need
from weir.files import write_text
from weir.reproduce.engine.series import run_all
from weir.reproduce.sfq import simulate
from weir.reproduce.sfq.study import parts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from weir.models.network.result import NetworkResult
    from weir.reproduce.engine.series import Runner
    from weir.reproduce.sfq.study.parts import Run

__all__ = ["Study", "run"]


@dataclass(frozen=True, eq=False)
class Study:
    """What every run of the study gave, by part and label."""

    results: Mapping[Run, NetworkResult]

    def of(self, part: str) -> dict[Run, NetworkResult]:
        """Return the runs of one part, in order."""
        return {run: result for run, result in self.results.items() if run.part == part}

    def text(self) -> str:
        """Return the tables of the study as Markdown."""
        from weir.reproduce.sfq.study.tables import text

        return text(self)

    def html(self) -> str:
        """Return the study as one HTML document that needs nothing else."""
        need("charts", "an HTML report")
        from weir.reproduce.sfq.study.page import html

        return html(self)

    def write_html(self, path: Path) -> None:
        """Write the HTML document; the file is never half-written."""
        write_text(path, self.html())


def run(
    *,
    quick: bool = False,
    threads: int | None = None,
    progress: Callable[[dict[str, float]], None] | None = None,
    runner: Runner[NetworkResult] | None = None,
) -> Study:
    """Run the study, or with ``quick`` at most 256 flows and two replications of each run.

    The others are those of `weir.reproduce.engine.series.run_all`; progress is in packets offered.
    """
    planned = parts.runs(quick=quick)
    results, _ = run_all(planned, parts.source, runner or simulate, threads=threads, progress=progress)
    return Study(results)
