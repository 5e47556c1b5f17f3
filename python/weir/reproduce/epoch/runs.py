"""The runs of the reproduction, their sizes at three fidelities, and the scenario of each.

``reproduce/epoch`` holds the scenarios; every run is one of them with some of its keys replaced. What has
nothing random in it is run once at every fidelity; fidelities differ in the random task sets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weir.reproduce.engine import series
from weir.reproduce.engine.series import Fidelity, changed
from weir.reproduce.engine.series import scenario as scenario
from weir.reproduce.epoch import published, sets

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weir.reproduce.epoch.sets import TaskSet

SEED = 1983
EPOCH, AT_DISPATCH = "epoch", "epoch:allocate=at_dispatch"
EXACT = ("epoch:min_slice=1ns", "epoch:allocate=at_dispatch,min_slice=1ns")
"""Without a rest of need that is too small to be useful."""
READINGS = (EPOCH, "epoch:leftover=keep", "epoch:returning=ahead")
"""The report's own, and other readings of open points 3 and 2."""
COMPARED = (
    EPOCH,
    EXACT[0],
    AT_DISPATCH,
    "cbs",
    "cbs:reclaim=grub",
    "cbs:surplus=background",
    "eevdf",
    "share",
    "stride",
    "priority_rr",
)
"""On the random task sets."""
PERIODIC = ("cbs", "cbs:reclaim=grub", "cbs:surplus=background")
"""Those that know periods, run once more with the tasks' own."""
WHOLE = "100ms"
"""A need of all of an epoch: who has it never goes to a low queue."""

# Settings of the experiments, from the fewest schedulings to the most.

LENGTHS = (96, 48, 24, 12, 6, 3, 2, 1)
"""Slices of the restart experiment, in ms."""
ROUNDS = (40, 20, 10, 5, 3, 2)
"""Slices of generator and sink in turn."""
SWAPS = (40, 2)
"""Slices of two generators in turn, where nobody posts."""
DEMANDS = (90, 70, 50, 30, 10)
"""Needs of a generator next to a sink that has what is left of the epoch, in ms."""
CHAIN = (300, 350, 400)
"""What a message may cost the complex sink, in microseconds."""
_MESSAGES, _DELIVERED = "messages", "delivered"
_INSTANCES: dict[str, dict[str, Any]] = {
    "generator": {"template": "generator", "set": {"to": _MESSAGES}},
    "remote": {"template": "generator", "set": {"to": "remote"}},
    "sink": {"template": "sink", "set": {"from": _MESSAGES, "cost": "152us"}},
    "delivery": {"template": "delivery", "set": {"from": _MESSAGES, "to": _DELIVERED}},
}
"""The programs of Table 2, as instances of the templates of ``node.toml``."""
MODULES = ("remote", "sink", "delivery")
"""Those that are measured alone, next to the generator."""
_PREPARED = 150_000
"""Messages that lie ready for those who take them."""
SYSTEM = 4
"""What the system processes need, in ms."""
UNDECLARED = {
    "epoch_scheduler": {"run": "300us", "need": "0ms"},
    "remote_demon": {"run": "2560us", "need": "0ms"},
    "uncharged": "800us",
}
RAISED = 10_000
"""By how much a need is raised, in microseconds."""
THRESHOLDS = ("100us", "300us", "1ms")
"""Both of the thresholds of the report (open point 8)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How many random task sets a fidelity has."""

    mixed: int
    """Of the comparison."""
    busy: int
    """That try the promise, without costs and with."""
    ready: int
    """In which a need is raised."""


SIZES = {
    Fidelity.QUICK: Size(mixed=30, busy=24, ready=20),
    Fidelity.DEFAULT: Size(mixed=100, busy=80, ready=100),
    Fidelity.FULL: Size(mixed=1000, busy=800, ready=400),
}


@dataclass(frozen=True, slots=True)
class Plan(series.Plan):
    """One run."""

    @property
    def work(self) -> float:
        """Simulated seconds, of all disciplines and replications."""
        stop = self.document["stop"]
        seconds = float(stop["duration"].removesuffix("s"))
        return seconds * len(self.document["disciplines"]) * int(stop.get("replications", 1))


_template = published.FILES.template


def _process(name: str, **keys: object) -> dict[str, Any]:
    return {"name": name, **keys}


# Experiments on the report's node.


def _node(*processes: dict[str, Any]) -> dict[str, Any]:
    return {**_template("node.toml"), "process": list(processes)}


def _promised(name: str, length: int, **keys: object) -> dict[str, Any]:
    """Return an instance that is promised the whole epoch, with a slice in ms."""
    return _process(name, **{**_INSTANCES.get(name, {}), "need": WHOLE, "slice": f"{length}ms", **keys})


def _alone(module: str, length: int) -> dict[str, Any]:
    """Return a program of Table 2 by itself; another prepares what it takes, before anything counts."""
    one = _promised(module, length)
    if module == "remote":
        there = {"node.names": ["here", "there"], "queue": [{"name": "remote", "node": "there"}]}
        return changed(_node(one), there)
    fill = f"loop {_PREPARED} {{\n  compute 1us\n  enqueue {_MESSAGES}\n}}\nexit\n"
    filler = _process("filler", priority=3, need=WHOLE, slice=WHOLE, program=fill)
    return {**_node(one, filler), "queue": [{"name": _MESSAGES}, {"name": _DELIVERED}]}


def _two_generators(length: int) -> dict[str, Any]:
    other = _promised("other", length, **_INSTANCES["generator"])
    return _node(_promised("generator", length), other)


def _rounds(length: int) -> dict[str, Any]:
    return _node(_promised("generator", length), _promised("sink", length))


def _demand(need: int) -> dict[str, Any]:
    """Return a generator that is promised part of an epoch, and a sink with all the rest; no slice ends."""
    rest = 100 - SYSTEM - need
    return _node(_promised("generator", 100, need=f"{need}ms"), _promised("sink", 20, need=f"{rest}ms"))


def _priority() -> dict[str, Any]:
    return _node(_promised("generator", 20), _promised("sink", 20, priority=2))


def _chain(cost: int) -> dict[str, Any]:
    """Return generator, local delivery and a complex sink that takes a number of microseconds a message."""
    complex_sink = _promised("sink", 20, set={"from": _DELIVERED, "cost": f"{cost}us"})
    made = _node(_promised("generator", 20), _promised("delivery", 20), complex_sink)
    return {**made, "queue": [{"name": _MESSAGES}, {"name": _DELIVERED}]}


def _experiments() -> Iterator[tuple[str, dict[str, Any]]]:
    for length in LENGTHS:
        yield f"restart/{length}", _node(_promised("generator", length))
    for module in MODULES:
        for length in (LENGTHS[0], LENGTHS[-1]):
            yield f"{module}/{length}", _alone(module, length)
    for length in SWAPS:
        yield f"swap/{length}", _two_generators(length)
    for length in ROUNDS:
        yield f"rounds/{length}", _rounds(length)
    for need in DEMANDS:
        yield f"demand/{need}", _demand(need)
    yield "priority", _priority()
    for cost in CHAIN:
        yield f"chain/{cost}", _chain(cost)


# Behaviour.


def _sharing(*processes: dict[str, Any]) -> dict[str, Any]:
    return {**_template("sharing.toml"), "process": list(processes)}


def _busy(name: str, need: int, length: int, **keys: object) -> dict[str, Any]:
    """Return a process that is always ready, with need and slice in ms."""
    return _process(name, template="busy", need=f"{need}ms", slice=f"{length}ms", **keys)


def _behaviour() -> Iterator[tuple[str, dict[str, Any]]]:
    yield "committed/equal slices", _template("sharing.toml")
    yield "committed/other slices", _sharing(_busy("a", 15, 50), _busy("b", 25, 1), _busy("c", 60, 7))
    yield (
        "committed/other priorities",
        _sharing(
            _busy("a", 15, 20, priority=0), _busy("b", 25, 20, priority=3), _busy("c", 60, 20, priority=1)
        ),
    )
    yield "committed/example", _sharing(_busy("a", 20, 20), _busy("b", 30, 20), _busy("c", 50, 20))
    yield "uncommitted", _sharing(_busy("high", 20, 10, priority=2), _busy("low", 20, 10))
    yield (
        "ratio",
        _sharing(
            _process("absent", need="90ms", program="loop {\n  sleep 1s\n  compute 1us\n}\n"),
            _busy("one", 0, 1),
            _busy("two", 0, 2),
            _busy("four", 0, 4),
        ),
    )
    yield "overcommitted/slices", _sharing(_busy("a", 40, 5), _busy("b", 50, 15), _busy("c", 70, 30))
    yield "overcommitted/met", _sharing(_busy("a", 20, 5), _busy("b", 90, 5), _busy("c", 90, 5))
    late = "loop {\n  sleep until every 200ms offset 90ms\n  compute 40ms\n}\n"
    yield (
        "too late",
        _sharing(_process("late", need="40ms", slice="50ms", program=late), _busy("other", 60, 10)),
    )
    for name in ("windfall", "anomaly"):
        yield name, _template(f"{name}.toml")
    made = _node(_promised("generator", 20, need="98ms"))
    yield "undeclared", changed(made, {"node.system": UNDECLARED})
    yield "declared", made


# Random task sets.


def _set(drawn: TaskSet, seed: int, specs: Sequence[str], **changes: object) -> dict[str, Any]:
    """Return a task set under some disciplines, the first of which the others are held against."""
    processes = [process.document() for process in drawn.processes]
    own = {"disciplines": list(specs), "reference": specs[0], "seed": seed, "process": processes}
    return changed(_template("sets.toml"), {**own, **changes})


def _own_periods(drawn: TaskSet) -> list[dict[str, Any]]:
    return [process.document(own_period=True) for process in drawn.processes]


_VERIFIED = {"measure.tails": False, "measure.verify": True}
_TRIED = {**_VERIFIED, "stop.duration": "51s"}


def _loads(size: Size, seed: int) -> Iterator[tuple[str, dict[str, Any]]]:
    for number in range(size.mixed):
        drawn = sets.mixed(seed, number)
        yield f"mixed/{number}", _set(drawn, seed + number, COMPARED)
        yield f"periods/{number}", _set(drawn, seed + number, PERIODIC, process=_own_periods(drawn))
        specs = [f"epoch:min_slice={span},preempt_left={span}" for span in THRESHOLDS]
        if number < size.ready:
            yield f"thresholds/{number}", _set(drawn, seed + number, specs, **{"node.costs": "chrysalis"})
    for number in range(size.busy):
        drawn = sets.busy(seed, number, 1.0)
        yield f"promise/{number}", _set(drawn, seed + number, (*EXACT, EPOCH, AT_DISPATCH), **_TRIED)
        untold = {**_TRIED, "measure.verify": False}
        yield f"readings/{number}", _set(drawn, seed + number, READINGS, **untold)
        drawn = sets.busy(seed, number, 0.95 - SYSTEM / 100)
        dear = {"node.costs": "chrysalis", "node.system": "chrysalis", **_VERIFIED}
        yield f"costs/{number}", _set(drawn, seed + number, (*EXACT, EPOCH), **dear)
    for number in range(size.ready):
        drawn = sets.ready(seed, number)
        for name, each in (("before", drawn), ("after", drawn.raised(RAISED))):
            yield f"raised/{number}/{name}", _set(each, seed + number, (EPOCH,), **_VERIFIED)


def plans(fidelity: Fidelity, seed: int = SEED) -> list[Plan]:
    """Return all runs: the experiments, what shows behaviour, the random task sets."""
    files = {"mixed": "sets.toml", "windfall": "windfall.toml", "anomaly": "anomaly.toml"}
    made = [Plan(name, "node.toml", {**each, "seed": seed}) for name, each in _experiments()]
    for name, each in _behaviour():
        file = files.get(name, "node.toml" if "declared" in name else "sharing.toml")
        made.append(Plan(name, file, {**each, "seed": seed}))
    made.extend(Plan(name, "sets.toml", each) for name, each in _loads(SIZES[fidelity], seed))
    return made
