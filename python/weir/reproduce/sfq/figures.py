"""The report's graphs, drawn anew: offer and throughput over time, by stream, under each discipline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.models.network.figures import time_chart, time_points
from weir.reproduce.sfq.runs import EXPERIMENTS, FIFO, FREE, FROZEN, PERTURBED, STATED, STRICT, Reading
from weir.results.marks import styles_of
from weir.results.style import Figure
from weir.text import scale_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weir.models.network.result import NetworkResult
    from weir.reproduce.sfq.evidence import Evidence
    from weir.reproduce.sfq.runs import Experiment

__all__ = ["drawings"]

_TITLES = {
    FIFO: "FIFO",
    STATED: "SFQ, the stated collision",
    FREE: "SFQ without collision",
    FROZEN: "SFQ, the maps frozen in sfq41",
    PERTURBED: "SFQ, random maps (mean)",
    STRICT: "strict FQ",
}


def drawings(evidence: Evidence) -> list[Figure]:
    """Return one figure an experiment, of those that were run."""
    made = (_figure(evidence, name, experiment) for name, experiment in EXPERIMENTS.items())
    return [figure for figure in made if figure is not None]


def _figure(evidence: Evidence, name: str, experiment: Experiment) -> Figure | None:
    shown = list(_shown(evidence, name, experiment))
    series = [row for _, result, _ in shown for row in result.series if row.metric == "throughput"]
    if not series:
        return None
    streams = list(experiment.starts)
    scale = scale_for((value for row in series for value in row.values), "bit/s")
    panels = [(title, time_points(result, discipline, streams, scale)) for title, result, discipline in shown]
    every = [point for _, points in panels for point in points]
    styles = styles_of(streams)
    charts = tuple((title, time_chart(points, every, styles, scale)) for title, points in panels if points)
    key = tuple((stream, shade, " ".join(map(str, marks))) for stream, (shade, marks) in styles.items())
    caption = (
        f"Throughput of the packets sent in each {series[0].step:g} s, one colour a stream; the thin line "
        "is the offer. Means over the seeds: where chance decides, a single run lies to one side."
    )
    title = f"{experiment.section} {experiment.title}: offer and throughput over time"
    return Figure(title, caption, charts, key)


def _shown(evidence: Evidence, name: str, experiment: Experiment) -> Iterator[tuple[str, NetworkResult, str]]:
    """Yield title, result and discipline of each panel."""
    roles = (*experiment.roles, *((FROZEN,) if name == "degrade" else ()))
    for role in sorted(roles, key=list(_TITLES).index):
        try:
            result, discipline = evidence.result(Reading(name, role))
        except LookupError:
            continue
        yield _TITLES[role], result, discipline
