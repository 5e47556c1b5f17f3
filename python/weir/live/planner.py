"""From a scenario to a `Plan`: who is there, what is sent, how it gets there, what is left out.

Units: those of the plan. Addresses: hosts have those of the scenario, else of 10.77.0.0/16; wires of
10.78.0.0/16, four each.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import TYPE_CHECKING, Any

from weir.errors import ConfigError
from weir.live import quantities, scripts
from weir.live.lines import lines, mean
from weir.live.plan import Plan, Stream, Wire
from weir.live.routers import Interface, Router, Rule, Via

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from weir.live.lines import Line
    from weir.models.network.rows import FlowRow

__all__ = ["MOST_FLOWS", "check", "plan"]

MOST_FLOWS = 64
"""Flows of a testbed: each is two processes."""
_FIRST_PORT = 4001
_HOSTS = IPv4Network("10.77.0.0/16")
_LINKS = IPv4Network("10.78.0.0/16")
_MTU = 1500


def check(scenario: dict[str, Any], name: str) -> None:
    """Refuse a scenario that no testbed can be built of.

    Parameters
    ----------
    scenario : dict
        As the engine understood it.
    name : str
        The file it came from.

    Raises
    ------
    ConfigError
        If it is of another model, or a flow is one that generators cannot send.
    """
    if scenario["model"] != "network":
        message = f"the scenario is of a {scenario['model']}, a testbed is built of a network"
        raise ConfigError(message, 'write `model = "network"`, with hosts, routers and links', name)
    count = sum(int(flow.get("count", 1)) for flow in scenario["flow"])
    if count > MOST_FLOWS:
        message = f"there are {count:,} flows, a testbed has at most {MOST_FLOWS}: each is two processes"
        raise ConfigError(message, "leave out flows, or lower `count`", name)
    for flow in scenario["flow"]:
        scripts.check(flow, name)
    hosts = set(scenario["network"]["hosts"])
    for line in lines(scenario):
        if line.source in hosts and line.target in hosts:
            message = f"the link {line.name} joins two hosts, and no router would hold its queue"
            raise ConfigError(message, "put a router between them", name)


def plan(
    scenario: dict[str, Any], flows: Sequence[FlowRow], folder: Path, *, discipline: str, scale: int = 1
) -> Plan:
    """Plan the testbed of a scenario under one discipline.

    Parameters
    ----------
    scenario : dict
        As the engine understood it.
    flows : sequence of FlowRow
        Its flows with the links they take, as the simulation has them.
    folder : path
        What files of the scenario are relative to.
    discipline : str
        That of all links that have none of their own.
    scale : int
        Rates are multiplied, times divided by it.

    Raises
    ------
    ConfigError
        If two flows to one host part at a router, which a router with routes by destination cannot do.
    """
    made = _Planner(scenario, discipline, scale)
    streams = made.streams(flows, folder)
    used = made.used(streams)
    return Plan(
        title=str(scenario.get("title") or "scenario"),
        discipline=discipline,
        scale=scale,
        duration=quantities.nanoseconds(scenario["stop"]["duration"]),
        hosts=tuple(name for name in scenario["network"]["hosts"] if name in used),
        wires=tuple(wire for wire in made.wires if {wire.one, wire.other} <= used),
        addresses=made.addresses,
        host_routes=tuple(made.host_routes(streams)),
        routers=tuple(made.routers(streams, used)),
        streams=streams,
        drain=made.drain(streams),
        departures=tuple(made.departures(streams)),
    )


@dataclass(frozen=True, slots=True)
class _Hop:
    """From one node of the testbed to the next: where there is a line, its queue is there."""

    source: str
    target: str
    line: Line | None = None


class _Planner:
    """What parts of a plan are made from."""

    def __init__(self, scenario: dict[str, Any], discipline: str, scale: int) -> None:
        self.scenario, self.discipline, self.scale = scenario, discipline, scale
        self.network = scenario["network"]
        self.hosts = set(self.network["hosts"])
        self.lines = {line.name: line for line in lines(scenario)}
        self.gateways: dict[tuple[str, str], str] = {}
        self.hops = {name: tuple(self._hops(line)) for name, line in self.lines.items()}
        self.wires = tuple(self._wires())
        self.addresses = self._host_addresses()

    # Who is there.

    def _gateway(self, host: str, other: str) -> str | None:
        """Return the gateway of a host to a node, if the compared disciplines order that queue."""
        if host not in self.hosts:
            return None
        ends = (host, other)
        line = next((line for line in self.lines.values() if (line.source, line.target) == ends), None)
        if line is None or "discipline" in line.table:
            return None
        return self.gateways.setdefault(ends, f"{host} (gateway to {other})")

    def _hops(self, line: Line) -> Iterator[_Hop]:
        """Yield what becomes of one direction of a link."""
        source, target = line.source, line.target
        if gateway := self._gateway(source, target):
            yield _Hop(source, gateway)
            source = gateway
        if gateway := self._gateway(target, line.source):
            yield _Hop(source, gateway, line)
            yield _Hop(gateway, target)
        else:
            yield _Hop(source, target, line)

    def _all_hops(self) -> Iterator[_Hop]:
        for hops in self.hops.values():
            yield from hops

    def _wires(self) -> Iterator[Wire]:
        pairs = dict.fromkeys(tuple(sorted((hop.source, hop.target))) for hop in self._all_hops())
        for place, (one, other) in enumerate(pairs):
            first = int(_LINKS.network_address) + 4 * place
            ends = [IPv4Interface((first + side, 30)) for side in (1, 2)]
            yield Wire(one, other, *ends)

    def _host_addresses(self) -> dict[str, IPv4Address]:
        given = {
            name: IPv4Address(text)
            for name, text in self.network.get("addresses", {}).items()
            if "." in text and not IPv4Address(text).is_loopback
        }
        free = (each for each in _HOSTS.hosts() if each not in given.values())
        return {name: given.get(name) or next(free) for name in self.network["hosts"]}

    def used(self, streams: Sequence[Stream]) -> set[str]:
        """Return the nodes that some flow goes through."""
        hops = (hop for stream in streams for name in stream.path for hop in self.hops[name])
        return {node for hop in hops for node in (hop.source, hop.target)}

    # What is sent.

    def streams(self, flows: Sequence[FlowRow], folder: Path) -> tuple[Stream, ...]:
        tables = [
            (flow, place) for flow in self.scenario["flow"] for place in range(int(flow.get("count", 1)))
        ]
        return tuple(
            self._stream(table, place, row, _FIRST_PORT + number, folder)
            for number, ((table, place), row) in enumerate(zip(tables, flows, strict=True))
        )

    def _stream(self, table: dict[str, Any], place: int, row: FlowRow, port: int, folder: Path) -> Stream:
        duration = quantities.nanoseconds(self.scenario["stop"]["duration"])
        start = quantities.nanoseconds(table.get("start", "0ns"))
        start += place * quantities.nanoseconds(table.get("stagger", "0ns"))
        stop = min(duration, quantities.nanoseconds(table["stop"]) if "stop" in table else duration)
        sink = self.addresses[row.to]
        sending = scripts.Sending(
            table=table, start=start, stop=stop, address=f"{sink}.{port}", folder=folder, name=row.name
        )
        return Stream(
            name=row.name,
            class_=row.class_,
            source=row.from_,
            sink=row.to,
            source_address=self.addresses[row.from_],
            sink_address=sink,
            port=port,
            path=row.path,
            start=start,
            stop=stop,
            tick=_tick(table.get("tick", "0ns")),
            compatible=table.get("tg", {}).get("random") == "compatible",
            script=scripts.source(sending),
            sink_script=scripts.sink(sending),
            size=scripts.mean_size(sending),
            before=self._host_time() + self._first_link(row, scripts.mean_size(sending)),
            after=self._host_time(),
        )

    def _host_time(self) -> int:
        return mean(self.network.get("host_processing"))

    def _first_link(self, row: FlowRow, size: Fraction) -> int:
        """Return what a packet takes on the link of its host, without a queue."""
        line = self.lines[row.path[0]]
        if "discipline" not in line.table:
            return 0
        transmission = round(size * 8 * 10**9 / line.rate) + line.overhead_time(self.discipline)
        return transmission + line.propagation

    # How it gets there.

    def _peer(self, node: str, other: str) -> IPv4Address:
        """Return the address of ``other`` on its wire to ``node``."""
        for wire in self.wires:
            if (wire.one, wire.other) == (node, other):
                return wire.other_address.ip
            if (wire.other, wire.one) == (node, other):
                return wire.one_address.ip
        raise KeyError((node, other))

    def _own(self, node: str, other: str) -> IPv4Interface:
        return next(
            wire.one_address if wire.one == node else wire.other_address
            for wire in self.wires
            if {wire.one, wire.other} == {node, other}
        )

    def _next(self, streams: Sequence[Stream]) -> dict[tuple[str, IPv4Address], str]:
        """Return, for each node and destination, which node is next."""
        found: dict[tuple[str, IPv4Address], str] = {}
        for stream in streams:
            for hop in (hop for name in stream.path for hop in self.hops[name]):
                key = (hop.source, stream.sink_address)
                if found.setdefault(key, hop.target) != hop.target:
                    message = (
                        f"flows to {stream.sink} separate at {hop.source}, to {found[key]} and {hop.target}, "
                        "and routes are by destination"
                    )
                    raise ConfigError(message, "send them to two hosts, or over the same nodes")
        return found

    def host_routes(self, streams: Sequence[Stream]) -> Iterator[tuple[str, IPv4Address, IPv4Address]]:
        for (node, destination), target in self._next(streams).items():
            if node in self.hosts:
                yield node, destination, self._peer(node, target)

    def routers(self, streams: Sequence[Stream], used: set[str]) -> Iterator[Router]:
        following = self._next(streams)
        rules = tuple(self._rules(streams))
        by_flow = self._by_flow()
        for name in (*self.network.get("routers", ()), *self.gateways.values()):
            if name not in used:
                continue
            hops = {hop.target: hop for hop in self._all_hops() if hop.source == name}
            for hop in self._all_hops():
                if hop.target == name:  # what comes in by a link of one direction
                    hops.setdefault(hop.source, _Hop(name, hop.source))
            interfaces = tuple(self._interface(hop, streams) for to, hop in hops.items() if to in used)
            routes = tuple(
                Via(destination, target, self._peer(name, target))
                for (node, destination), target in following.items()
                if node == name
            )
            yield Router(name, interfaces, routes, rules, "class" if by_flow else "5-tuple")

    def _by_flow(self) -> bool:
        """Return whether each flow is a class of its own: where the scenario tells no classes apart."""
        return len({flow.get("class", "default") for flow in self.scenario["flow"]}) == 1

    def _rules(self, streams: Sequence[Stream]) -> Iterator[Rule]:
        if self._by_flow():
            for stream in streams:
                yield Rule(_class_name(stream.name), (stream.sink_address,), (stream.port,))
            return
        named = list(dict.fromkeys(stream.class_ for stream in streams))
        for name in self.network.get("classes", named):
            mine = [stream for stream in streams if stream.class_ == name]
            if mine:
                addresses = tuple(dict.fromkeys(stream.sink_address for stream in mine))
                yield Rule(_class_name(name), addresses, tuple(stream.port for stream in mine))

    def _rate(self, line: Line, streams: Sequence[Stream]) -> int:
        """Return a rate at which a packet of the mean size takes its time on the line, framing rounded."""
        sizes = [stream.size for stream in streams if line.name in stream.path]
        if not sizes:
            return line.rate * self.scale
        size = sum(sizes, Fraction()) / len(sizes)
        own = size + line.exact_framing(self.discipline)
        return round(line.rate * self.scale * (size + line.framing(self.discipline)) / own)

    def _interface(self, hop: _Hop, streams: Sequence[Stream]) -> Interface:
        line = hop.line
        table = line.table if line else {}
        propagation = line.propagation if line else 0
        if line and line.source not in self.hosts:
            propagation += mean(self.network.get("forwarding"))
        mtu = quantities.size(table["mtu"]) if "mtu" in table else _MTU
        return Interface(
            link=line.name if line else f"{hop.source}-{hop.target}",
            to=hop.target,
            address=self._own(hop.source, hop.target),
            neighbour=self._peer(hop.source, hop.target),
            rate=self._rate(line, streams) if line else None,
            framing=line.framing(self.discipline) if line else 0,
            propagation=quantities.scaled(propagation, self.scale),
            discipline=line.discipline(self.discipline) if line else "fifo:limit=1000pkt",
            mtu=min(mtu, _MTU),
        )

    def drain(self, streams: Sequence[Stream]) -> int:
        """Return a time in which queues empty: of each link's fullest, at 1,000 packets, and its way."""
        slowest = 0
        for stream in streams:
            lines = [self.lines[name] for name in stream.path]
            way = sum(line.propagation for line in lines)
            slowest = max(slowest, way, *(1000 * 8 * _MTU * 10**9 // line.rate for line in lines[1:]))
        return slowest

    # What it cannot have.

    def departures(self, streams: Sequence[Stream]) -> Iterator[str]:
        if any("discipline" in self.lines[stream.path[0]].table for stream in streams):
            yield (
                "hosts whose link has a discipline of its own send at once: what a packet takes there "
                "without a queue is added to its delay, and bursts of a tick leave back to back"
            )
        if mean(self.network.get("forwarding")) or mean(self.network.get("host_processing")):
            yield "forwarding adds its mean to propagation, processing in hosts its mean to delays"
        lines = {name for stream in streams for name in stream.path}
        if any("jitter" in self.lines[name].table for name in lines):
            yield "the mean of jitter, and overhead given as a time, are bytes of framing"
        if any(int(self.lines[name].table.get("ring", 1)) > 1 for name in lines):
            yield "an interface holds one packet next to its queue, not `ring`"
        if not all(stream.compatible for stream in streams):
            yield "generators draw other random numbers than the simulation, of the same laws"
        if self._by_flow() and any(flow.get("class") for flow in self.scenario["flow"]):
            yield "each flow is a class of its own"
        if any(isinstance(flow.get("tick"), dict) for flow in self.scenario["flow"]):
            yield "the ticks of generators have the phase of the clock they run on, not `phase`"
        yield "forwarding by the routers of the testbed itself adds to delays, times the scale"


def _tick(written: str | dict[str, str]) -> int:
    """Return the time between two ticks of a host, in nanoseconds; 0 for none."""
    return quantities.nanoseconds(written["every"] if isinstance(written, dict) else written)


def _class_name(name: str) -> str:
    """Return a name that ``weird`` takes as that of a class."""
    plain = "".join(each if each.isprintable() and each not in '"\\`' else "-" for each in name)[:64].strip()
    return "flow default" if plain in {"default", ""} else plain
