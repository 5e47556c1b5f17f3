"""The runs of the reproduction, their sizes at three fidelities, and the scenario of each.

``reproduce/dtable`` holds two scenarios: one link with the four channels of Figure 1, and the network of
section 3 with Table 1. Every run is one of the two with some of its keys replaced. Work is counted in link
traversals, packets over links; what is offered beyond the capacity is not carried.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from weir.reproduce.dtable import published
from weir.reproduce.engine import series
from weir.reproduce.engine.series import Fidelity, changed
from weir.reproduce.engine.series import scenario as scenario

if TYPE_CHECKING:
    from collections.abc import Iterator

SEED = 2007
DTABLE, DRR, BASIC, WEIGHTED, SCFQ, WFQ = "dtable", "drr", "basic", "weighted", "scfq", "wfq"
TABLES = (BASIC, WEIGHTED, DTABLE)
NETWORK = (DTABLE, DRR)
"""Roles, in the order of the disciplines of ``network.toml``."""

# How much is simulated: the one place to change it.

_EVERY = (0.1, 0.2, 0.3, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0, 1.1, 1.2, 1.3)
_MOST = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 1.0, 1.2)
_SOME = (0.1, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0, 1.2)
_FEW = (0.8, 0.9, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much of a fidelity is simulated."""

    loads: tuple[float, ...]
    """Of the main network, with Poisson gaps and equal shares."""
    variant_loads: tuple[float, ...]
    """Of the other three combinations of traffic and shares."""
    replications: int
    """Of the main network and its variants."""
    switches: int
    """Replications of each switch of the sensitivity table."""
    link: int
    """Replications on the single link."""
    others: int
    """Replications of the other runs in the network."""


SIZES = {
    Fidelity.QUICK: Size(loads=_SOME, variant_loads=_FEW, replications=3, switches=2, link=4, others=3),
    Fidelity.DEFAULT: Size(loads=_EVERY, variant_loads=_MOST, replications=10, switches=6, link=10, others=5),
    Fidelity.FULL: Size(loads=_EVERY, variant_loads=_EVERY, replications=30, switches=20, link=30, others=20),
}
_PER_LOAD, _LENGTH = 2.36e6, 5.0
"""Link traversals of a replication of the network at load 1, and its milliseconds."""

# The single link.

SATURATED = 4.0
"""The load at which every channel of Figure 1 offers what the link carries."""
SWEPT = (0.2, 0.4, 0.6, 0.8)
"""Loads of Figure 1 at which everything that is offered arrives."""
SIZE_SETS = {"a": (64, 256, 1024, 2048), "b": (128, 512, 1024, 2176)}
"""Packets of the four channels in bytes; the text does not have the sizes (open point O13)."""
BEYOND, OVERLOAD = 1.3, 2.0
"""Loads beyond saturation of the network: of some of its channels, and of all."""

_TABLE_1 = "distances=2/4/8/16/32/64/64"
_TABLE = f"dtable:{_TABLE_1},weights=32cr/64cr/128cr/128cr/128cr/128cr/128cr"
_QUANTA = "weights=8/8/8/4/2/1/1"
_ROUND_ROBIN = f"drr:quantum=2048B,{_QUANTA},stall=leave"
_FLUID = "2410Mbit"
"""What a link of 2 Gb/s serves in whole credits, which are 1.205 times the bytes of these packets."""
EXCHANGED = ("as printed", "exchanged")
FRAMES, FRAMES_PROPORTIONAL = "frames", "frames, shares in proportion to phi"
LARGER = (1, 2, 4)
"""What the quanta of DRR are multiplied by (claim C29)."""


@dataclass(frozen=True, slots=True)
class Variant:
    """Traffic and shares of a network run: P or S, equal or proportional to the reservation."""

    bursts: bool
    proportional: bool

    @property
    def name(self) -> str:
        """What names it, such as ``P, equal shares``."""
        return f"{'S' if self.bursts else 'P'}, {'proportional' if self.proportional else 'equal'} shares"


MAIN = Variant(bursts=False, proportional=False)
VARIANTS = (MAIN, Variant(False, True), Variant(True, False), Variant(True, True))
_BURSTS = {"bursts": {"shape": 1.5, "cap": 1000}}


@dataclass(frozen=True, slots=True)
class Plan(series.Plan):
    """One run, with what its disciplines stand for."""

    roles: tuple[str, ...]

    @property
    def work(self) -> float:
        """Link traversals, about."""
        stop = self.document["stop"]
        runs = len(self.document["disciplines"]) * int(stop["replications"])
        loads = self.document["traffic"].get("loads") or [self.document["traffic"]["load"]]
        carried = float(sum(min(load, 1.0) for load in loads))
        if "tree" not in self.document["fabric"]["topology"]:
            return runs * carried * 1e5
        slower = 5 if self.document["measure"].get("verify") else 1
        lengths = float(stop["duration"].removesuffix("ms")) / _LENGTH
        return runs * carried * _PER_LOAD * slower * lengths


@dataclass(frozen=True, slots=True)
class Switch:
    """An open point with another choice than the default: what is replaced in the network at load 0.9."""

    point: str
    choice: str
    changes: dict[str, Any] = field(compare=False)
    often: int = 1
    """How many times as many replications as another: more where they are far apart."""

    @property
    def name(self) -> str:
        """What names its run."""
        return f"switch {self.point}: {self.choice}"

    def change(self, document: dict[str, Any]) -> dict[str, Any]:
        """Return the network with the other choice."""
        return changed(document, self.changes)


_template = published.FILES.template


def _sized(document: dict[str, Any], seed: int, replications: int) -> dict[str, Any]:
    return changed(document, {"seed": seed, "stop.replications": replications})


def _specs(*specs: str) -> dict[str, Any]:
    """Return other disciplines as changes of a scenario."""
    return {"disciplines": list(specs), "reference": specs[-1]}


def _tree(levels: int) -> dict[str, Any]:
    return {"tree": {"arity": 4, "levels": levels}}


# Scenarios of the network.


def _network(variant: Variant, loads: tuple[float, ...]) -> dict[str, Any]:
    made = changed(_template("network.toml"), {"traffic.loads": list(loads)})
    if variant.bursts:
        made = changed(made, {"traffic.arrivals": _BURSTS})
    if variant.proportional:
        shares = [{**each, "share": 100 * published.phi(each["name"])} for each in made["channel"]]
        made = {**made, "channel": shares}
    return made


def _unloaded(levels: int) -> dict[str, Any]:
    """Return packets of 64 bytes that meet hardly any other, in a tree of a number of stages."""
    few = {"traffic.size": {"constant": "56B"}, "traffic.flow_rate": "10kbit"}
    stop = {"stop.warm_up": "0ms", "stop.duration": "4ms"}
    return changed(_network(MAIN, (0.0005,)), {"fabric.topology": _tree(levels), **few, **stop})


def _overloaded() -> dict[str, Any]:
    """Return the network beyond saturation, with time for its buffers to fill before anything counts."""
    stop = {"stop.warm_up": "5ms", "stop.duration": "10ms"}
    return changed(_network(MAIN, (BEYOND, OVERLOAD)), stop)


_PRINTED_AND_EXCHANGED = (
    f"dtable:{_TABLE_1},weights=64cr/128cr/256cr/256cr/256cr/256cr/256cr",
    "dtable:distances=16/4/8/2/32/64/64,weights=512cr/128cr/256cr/32cr/256cr/256cr/256cr",
)
"""Table 1 with all weights doubled, and the same with D2 and D16 in each other's places."""


def _in_network(size: Size) -> Iterator[tuple[str, tuple[str, ...], dict[str, Any], int]]:
    """Yield name, roles, document and replications of the runs in the network."""
    for variant in VARIANTS:
        loads = size.loads if variant == MAIN else size.variant_loads
        yield variant.name, NETWORK, _network(variant, loads), size.replications
    yield "overload", NETWORK, _overloaded(), size.others
    alone = partial(changed, _network(MAIN, (0.9,)))
    yield "verified", NETWORK, alone({"measure.verify": True, "stop.duration": "2ms"}), 1
    frames = [f"drr:quantum={2048 * factor}B,{_QUANTA},stall=leave" for factor in LARGER]
    roles = tuple(map(str, LARGER))
    yield FRAMES, roles, alone(_specs(*frames)), size.others
    proportional = _network(Variant(bursts=False, proportional=True), (0.9,))
    yield FRAMES_PROPORTIONAL, roles, changed(proportional, _specs(*frames)), size.others
    yield "exchanged", EXCHANGED, alone(_specs(*_PRINTED_AND_EXCHANGED)), size.others
    reads = [f"{_TABLE},read_ahead={reads}" for reads in (1, 4, 8)]
    yield "read ahead", ("1", "4", "8"), alone({"stop.duration": "2ms", **_specs(*reads)}), 1
    for levels in (1, 2, 3):
        yield f"unloaded {levels}", NETWORK, _unloaded(levels), 1


# Scenarios of the single link.


def packet_sizes(name: str) -> tuple[int, ...]:
    """Return the packets of a set of Figure 1, in bytes."""
    return SIZE_SETS[name]


def _constant(sizes: tuple[int, ...]) -> list[dict[str, Any]]:
    """Return a channel for each size of packets."""
    return [{"name": f"{size} B", "size": {"constant": f"{size}B"}} for size in sizes]


def _figure(name: str) -> dict[str, Any]:
    return changed(_template("figure1.toml"), {"channel": _constant(packet_sizes(name))})


def _figure_in_network() -> dict[str, Any]:
    """Return Figure 1 in the network, swept and saturated."""
    stop = {"stop.warm_up": "1ms", "stop.duration": "4ms"}
    return changed(_figure("a"), {"fabric.topology": _tree(3), "traffic.loads": [0.4, 3.0], **stop})


def _one_entry() -> dict[str, Any]:
    """Return four saturated flows of mixed sizes, an entry each."""
    changes = {
        **_specs("dtable:0@32cr/1@64cr/2@32cr/3@96cr", "drr:quantum=2048B,weights=1/2/1/3,stall=leave"),
        "fabric.mtu": "2048B",
        "channel": [{"name": f"{number}"} for number in range(4)],
        "traffic": {"loads": [SATURATED], "header": "8B"},
    }
    return changed(_template("figure1.toml"), changes)


def _visits() -> dict[str, Any]:
    """Return two saturated flows with entries of 34 credits, and packets of 32 and 34."""
    changes = {
        **_specs("table_weighted:0@34cr/1@34cr", "dtable:0@34cr/1@34cr,mtu=2176B"),
        "traffic.loads": [SATURATED],
        "channel": _constant((2048, 2176)),
    }
    return changed(_template("figure1.toml"), changes)


def _fair() -> dict[str, Any]:
    """Return the channels of Table 1 on a link, under disciplines that stamp packets, and under DTable."""
    changes = {
        **_specs(f"scfq:{_QUANTA}", f"wfq:rate={_FLUID},{_QUANTA}", _TABLE),
        "fabric.topology": {"single": {"ports": 2}},
        "stop.warm_up": "2ms",
        "stop.duration": "42ms",
    }
    return changed(_network(MAIN, (0.9, SATURATED)), changes)


def _on_link(size: Size) -> Iterator[tuple[str, tuple[str, ...], dict[str, Any], int]]:
    for name in SIZE_SETS:
        yield f"figure 1{name}", TABLES, _figure(name), size.link
    yield "figure 1 in the network", TABLES, _figure_in_network(), min(size.others, 3)
    yield "visits", (WEIGHTED, DTABLE), _visits(), size.link
    yield "one entry", NETWORK, _one_entry(), size.link
    yield "fair", (SCFQ, WFQ, DTABLE), _fair(), size.link


# The switches of the sensitivity table.


SWITCHES = (
    Switch("O3", "sizes above the largest moved to it", {"traffic.size.pareto.bound": "capped"}),
    Switch("O5", "flows of 10 Mb/s, a tenth of the destinations", {"traffic.flow_rate": "10Mbit"}, often=2),
    Switch("O6", "random way up, by flow", {"fabric.routing": "random_per_flow"}),
    Switch("O6", "adaptive way up", {"fabric.routing": "adaptive_up"}),
    Switch("O7", "crossbar at the speed of a link", {"fabric.switch.speed_up": 1.0}, often=4),
    Switch("O7", "crossbar at twice the speed", {"fabric.switch.speed_up": 2.0}),
    Switch(
        "O8",
        "propagation 100 ns, credit return 250 ns",
        {"fabric.link.propagation": "100ns", "fabric.link.credit_return": "250ns"},
    ),
    Switch("O9", "credits of 16 bytes; entries of tables weigh 64", {"fabric.credit": "16B"}),
    Switch("O10", "deficit kept on a credit stall", _specs(f"{_TABLE},stall=keep", _ROUND_ROBIN)),
    Switch(
        "O11",
        "a stalled flow of DRR keeps its turn",
        _specs(_TABLE, _ROUND_ROBIN.removesuffix(",stall=leave")),
    ),
    Switch("O15", "1 ms and 9 ms", {"stop.duration": "10ms"}),
)
"""Open points that the engine has as parameters; the others are read off the main runs (`sensitivity`)."""


def plans(fidelity: Fidelity, seed: int = SEED) -> list[Plan]:
    """Return all runs: the single link, the network and its variants, the switches."""
    size = SIZES[fidelity]
    made = [
        Plan(
            name, "figure1.toml" if "figure" in name else "network.toml", _sized(document, seed, often), roles
        )
        for name, roles, document, often in (*_on_link(size), *_in_network(size))
    ]
    base = _network(MAIN, (0.9,))
    for switch in SWITCHES:
        document = _sized(switch.change(base), seed, size.switches * switch.often)
        made.append(Plan(switch.name, "network.toml", document, NETWORK))
    return made
