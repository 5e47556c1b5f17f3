"""The runs of the reproduction, their sizes at three fidelities, and the scenario of each.

``reproduce/steer`` holds the scenarios; every run is one of them with some of its keys replaced. Fidelities
differ in requests and replications, and the sweep in its grid. The lab's runs are shorter in ``quick``:
windows, levels and control periods together, so that a level has five of each and bursts are what they are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from weir.reproduce.engine import series
from weir.reproduce.engine.series import Fidelity, changed
from weir.reproduce.engine.series import scenario as scenario
from weir.reproduce.steer import published

if TYPE_CHECKING:
    from collections.abc import Iterator

SEED = 477
CORES = 7
LAB = ("RR", "RRCS", "DCA", "COMBINED", "COMBINED 100 ms")
"""The policies of the lab, by their places in ``unimodal.toml`` and ``bimodal.toml``."""
TRAFFICS = ("unimodal", "bimodal")
THRESHOLDS = ("RR", "DCA 50 us", "DCA 345 us", "DCA 690 us")
"""By their places in ``thresholds.toml``."""
POLICIES = ("random", "rr", "power_of_two", "jsq", "cfcfs", "short_first", "preemptive", "separated", "darc")
"""By their places in ``high.toml`` and its like."""
WORKLOADS = ("high", "extreme", "rocksdb")
LOADS = ("0.50", "0.70", "0.85")
EQUAL = ("cfcfs", "jsq", "rr", "random")
"""By their places in ``equal.toml`` and ``exponential.toml``, in the order that property S6 has."""
ONE = ("equal", "exponential")
EQUAL_LOADS = ("0.01", "0.50", "0.80")
PAYS = ("rr", "rr_separated", "dynamic", "dynamic_separated")
"""By their places in ``pays.toml``."""
_SETTLED = 25
"""Control periods before anything counts: counts of cores begin at their least, and a backlog with them."""
_LEVELS = 6
WINDOWS = 5 * _LEVELS
"""Of the lab's runs, five of each rate."""
_LAB_REQUESTS = 57_500 * (2**_LEVELS - 1)
"""In levels of a second each."""
_AS_IT_IS, _FIFTH, _SHORT = 1000, 230, 46
"""Milliseconds of a window, and of DCA's period: the lab's, and 100 or 20 bursts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much a fidelity simulates."""

    window: int
    """Milliseconds of the lab's windows and periods; the levels go with it."""
    thresholds: int
    """The same for other thresholds."""
    requests: int
    """Of each replication of the slowdowns; the numbers next to them have a million."""
    replications: int
    sweep_requests: int
    sweep_replications: int
    shares: tuple[float, ...]
    ratios: tuple[int, ...]
    loads: tuple[float, ...]


_SIZES: dict[str, tuple[Any, Any, Any]] = {
    "window": (_SHORT, _AS_IT_IS, _AS_IT_IS),
    "thresholds": (_SHORT, _FIFTH, _AS_IT_IS),
    "requests": (250_000, 1_000_000, 1_000_000),
    "replications": (4, 5, 32),
    "sweep_requests": (100_000, 200_000, 400_000),
    "sweep_replications": (3, 4, 8),
    "shares": ((0.005, 0.1), (0.005, 0.1, 0.5), (0.005, 0.02, 0.05, 0.1, 0.25, 0.5)),
    "ratios": ((2, 100), (2, 10, 100), (2, 5, 10, 30, 100)),
    "loads": ((0.3, 0.7), (0.3, 0.5, 0.7, 0.85), (0.3, 0.5, 0.7, 0.85)),
}
"""Quick, default and full."""
SIZES = {
    fidelity: Size(**{name: values[place] for name, values in _SIZES.items()})
    for place, fidelity in enumerate(Fidelity)
}


@dataclass(frozen=True, slots=True)
class Cell:
    """A workload of the sweep."""

    share: float
    """Of long requests."""
    ratio: int
    """Service of a long request over that of a short one."""
    bursts: bool
    load: float

    @property
    def name(self) -> str:
        """Names its run."""
        arrivals = "bursts" if self.bursts else "poisson"
        return f"pays/{self.share:g}/{self.ratio}/{arrivals}/{self.load:g}"

    @property
    def mean(self) -> float:
        """The mean service, in ns; a short request takes 1 us."""
        return 1e3 * (1 + self.share * (self.ratio - 1))


@dataclass(frozen=True, slots=True)
class Plan(series.Plan):
    """One run, and its requests under all disciplines."""

    work: float = field(compare=False)


_template = published.FILES.template


def _lab(size: Size, seed: int) -> Iterator[Plan]:
    for file in (*TRAFFICS, "thresholds"):
        window = size.thresholds if file == "thresholds" else size.window
        document = _scaled(_template(f"{file}.toml"), window)
        work = 5e-3 * window * _LAB_REQUESTS * len(document["disciplines"])
        yield Plan(f"lab/{file}", f"{file}.toml", {**document, "seed": seed}, work)


def _scaled(document: dict[str, Any], window: int) -> dict[str, Any]:
    """Return the lab's scenario with other windows: levels and periods go with them, bursts do not."""
    if window == _AS_IT_IS:
        return document
    periods = {"1s": f"{window}ms", "100ms": f"{100 * window}us"}

    def spec(written: str) -> str:
        head, found, period = written.partition("period=")
        return f"{head}{found}{periods[period]}" if found else head

    changes = {
        "disciplines": [spec(each) for each in document["disciplines"]],
        "workload.levels.every": f"{5 * window}ms",
        "stop.duration": f"{WINDOWS * window}ms",
        "measure.window": f"{window}ms",
    }
    return changed(document, changes)


def _loaded(kind: str, file: str, load: str, size: Size, seed: int) -> Plan:
    document = _template(f"{file}.toml")
    requests = size.requests * size.replications
    stop = {"stop.requests": requests, "stop.replications": size.replications}
    made = changed(document, {"seed": seed, "workload.load": float(load), **stop})
    return Plan(f"{kind}/{file}/{load}", f"{file}.toml", made, float(requests * len(made["disciplines"])))


def cells(fidelity: Fidelity) -> tuple[Cell, ...]:
    """Return the workloads of the sweep."""
    size = SIZES[fidelity]
    return tuple(
        Cell(share, ratio, bursts, load)
        for bursts in (False, True)
        for load in size.loads
        for share in size.shares
        for ratio in size.ratios
    )


def _pays(cell: Cell, size: Size, seed: int) -> Plan:
    """Return the run of a cell; thresholds and periods go with the mean service."""
    mean = cell.mean
    gap = 50 * mean
    add = 0.22 * gap if cell.bursts else 2 * mean
    loop = f"add={add:.0f}ns,remove={0.4 * add:.0f}ns"
    period = f"period={250 * mean:.0f}ns"
    specs = [PAYS[0], PAYS[1], f"{PAYS[2]}:{loop},min=2,{period}", f"{PAYS[3]}:{loop},{period}"]
    document = _template("pays.toml")
    short, long = document["class"]
    requests = size.sweep_requests * size.sweep_replications
    trains = {"trains": {"every": f"{gap:.0f}ns", "spacing": "1ns"}}
    changes = {
        "seed": seed,
        "disciplines": specs,
        "reference": specs[-1],
        "workload.load": cell.load,
        "workload.arrivals": trains if cell.bursts else "poisson",
        "stop.requests": requests,
        "stop.warm_up": f"{_SETTLED * 250 * mean:.0f}ns",
        "stop.replications": size.sweep_replications,
        "class": [
            {**short, "share": 1 - cell.share},
            {**long, "share": cell.share, "service": f"{cell.ratio}us"},
        ],
    }
    return Plan(cell.name, "pays.toml", changed(document, changes), float(requests * len(specs)))


def plans(fidelity: Fidelity, seed: int = SEED) -> list[Plan]:
    """Return all runs: the lab's, slowdowns, requests of one class, the sweep."""
    size = SIZES[fidelity]
    made = list(_lab(size, seed))
    made += [_loaded("slowdown", file, load, size, seed) for file in WORKLOADS for load in LOADS]
    made += [_loaded("one", file, load, size, seed) for file in ONE for load in EQUAL_LOADS]
    made += [_pays(cell, size, seed) for cell in cells(fidelity)]
    return made
