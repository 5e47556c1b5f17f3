"""What a testbed is made of, from a scenario: nodes, wires, addresses, routers, scripts.

Nothing is done here: a `Plan` is a value, the same for the same scenario. Which links a flow takes is what
the simulation of the scenario says, so that both send packets the same way.

Every direction of a link that leaves a router is an interface of ``weird route``: rate, framing,
propagation and discipline. A link that leaves a host and whose queue the compared disciplines order begins
at a router of its own, the gateway of the host. One that has its own discipline has nothing to delay
packets: what they take on it without a queue, and what hosts take to process them, is added to the measured
delays (`Stream.before`, `Stream.after`). What routers take to forward is added to the propagation behind
them. Times with jitter count with their mean. What that leaves out stands in `Plan.departures`, in words.

Units: nanoseconds, bits a second, bytes; all as in the scenario. Only routers are scaled: rates times
`Plan.scale`, times divided by it. Generators get the scale, and divide the times of their scripts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fractions import Fraction
    from ipaddress import IPv4Address, IPv4Interface

    from weir.live.routers import Router

__all__ = ["Plan", "Stream", "Wire"]


@dataclass(frozen=True, slots=True)
class Wire:
    """A wire between two nodes, with the addresses of its ends."""

    one: str
    other: str
    one_address: IPv4Interface
    other_address: IPv4Interface


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """A flow as it is sent and received."""

    name: str
    class_: str
    source: str
    sink: str
    source_address: IPv4Address
    sink_address: IPv4Address
    port: int
    path: tuple[str, ...]
    """The links that it takes."""
    start: int
    """When its script starts, after the run has, in nanoseconds of the scenario."""
    stop: int
    """When nothing of it is sent any more, likewise."""
    tick: int
    """Departures wait for a multiple of this; 0: they do not."""
    compatible: bool
    """Whether random numbers are those of TG, as in the simulation."""
    script: str
    sink_script: str
    size: Fraction
    """The mean size of its packets, in bytes with headers."""
    before: int
    """What a packet takes before its first router and has not taken in the testbed, without a queue."""
    after: int
    """What it takes in the host that receives it, and has not taken in the testbed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A testbed for one discipline of a scenario."""

    title: str
    discipline: str
    scale: int
    duration: int
    """When the sending ends, in nanoseconds of the scenario."""
    hosts: tuple[str, ...]
    wires: tuple[Wire, ...]
    addresses: dict[str, IPv4Address]
    host_routes: tuple[tuple[str, IPv4Address, IPv4Address], ...]
    """Host, destination, and the router's address of the wire that leads there."""
    routers: tuple[Router, ...]
    streams: tuple[Stream, ...]
    drain: int
    """How long packets may be on their way after the sending has ended, in nanoseconds of the scenario."""
    departures: tuple[str, ...]
    """In what it differs from the scenario."""
