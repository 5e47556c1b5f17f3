"""Routers of a testbed: what they join, and the configuration for ``weird route``.

The configuration is that of ``crates/weir-plane/src/config/document.rs``. Neighbours are listed beforehand:
nothing is asked for and nothing is answered while packets are measured.

Units: bits a second, bytes, nanoseconds, all as the daemon is to have them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weir import toml
from weir.live import quantities

if TYPE_CHECKING:
    from collections.abc import Mapping
    from ipaddress import IPv4Address, IPv4Interface

    from weir.live.namespaces import End

__all__ = ["Interface", "Router", "Rule", "Via", "configuration"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Interface:
    """One direction of a link, where it leaves a router."""

    link: str
    to: str
    """The node at the other end."""
    address: IPv4Interface
    neighbour: IPv4Address
    """The address of the node at the other end, on the wire."""
    rate: int | None
    """None: as fast as the device takes packets."""
    framing: int
    propagation: int
    discipline: str
    mtu: int


@dataclass(frozen=True, slots=True)
class Via:
    """A route to a destination: by which node, and the address of that one on its wire."""

    destination: IPv4Address
    to: str
    via: IPv4Address


@dataclass(frozen=True, slots=True)
class Rule:
    """A class: packets to one of these addresses and ports."""

    name: str
    to: tuple[IPv4Address, ...]
    ports: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Router:
    """A router."""

    name: str
    interfaces: tuple[Interface, ...]
    routes: tuple[Via, ...]
    rules: tuple[Rule, ...]
    flows: str
    """What packets of one flow have in common, as ``weird`` names it."""


def configuration(router: Router, name: str, ends: Mapping[str, End], **more: Any) -> str:  # noqa: ANN401 - keys of TOML
    """Return the configuration of a router, as TOML.

    Parameters
    ----------
    router : Router
        The router.
    name : str
        The name that it is run under.
    ends : mapping
        Its end of the wire to each node.
    more
        Further keys of its ``[router]`` table, such as ``memory="8MiB"``.
    """
    document = {
        "weir": 1,
        # What is measured is to be what is simulated, also where a queue has no bound.
        "router": {"name": name, "flows": router.flows, "defaults": "simulation", **more},
        "interface": [_interface(each, ends[each.to]) for each in router.interfaces],
        "route": [_route(each, ends[each.to]) for each in router.routes],
        "class": [_class(each) for each in router.rules],
    }
    return toml.dumps(document)


def _interface(interface: Interface, end: End) -> dict[str, Any]:
    limit = {} if interface.rate is None else {"rate": f"{interface.rate}bit"}
    return {
        "name": end.interface,
        "addresses": [str(interface.address)],
        **limit,
        "framing": f"{interface.framing}B",
        "propagation": quantities.time(interface.propagation),
        "discipline": interface.discipline,
        "mtu": f"{interface.mtu}B",
        "neighbours": {str(interface.neighbour): end.other_mac},
    }


def _route(route: Via, end: End) -> dict[str, Any]:
    return {"to": f"{route.destination}/32", "via": str(route.via), "interface": end.interface}


def _class(rule: Rule) -> dict[str, Any]:
    to = [f"{address}/32" for address in rule.to]
    return {"name": rule.name, "to": to, "protocol": "udp", "ports": list(rule.ports)}
