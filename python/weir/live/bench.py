"""Benchmarks of the daemon on this machine: what a discipline costs a forwarder.

A source, a router and a sink stand in three namespaces. The source sends packets of 64 bytes as fast as it
can, or at a rate; the router is ``weird bench-forward``, which moves frames by the same sockets without
plane and discipline, or ``weird route``. The sink is an interface with another address than the packets
have, so that its kernel drops them first of all. Baseline and routers take turns; what counts are the
ratios of a turn, and their median.

Source: ``weird``; Linux, /proc/pid/stat. Units: packets a second, nanoseconds of processor time a packet.
"""

from __future__ import annotations

import os
import statistics
import time
from dataclasses import dataclass
from ipaddress import ip_address, ip_interface, ip_network
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weir.errors import WeirError
from weir.live import program
from weir.live.namespaces import Site

if TYPE_CHECKING:
    from collections.abc import Iterator
    from subprocess import Popen

    from weir.live.namespaces import End

__all__ = ["DISCIPLINES", "SETTLED", "figure", "measure", "start", "towards", "written"]

DISCIPLINES = {
    "fifo": "fifo:limit=1000pkt",
    "drr": "drr:quantum=1514B",
    "sfq": "sfq:queues=1024,depth=100pkt",
}
"""What is compared with the bare forwarder."""
_BARE = "bare"
_DATA = 18
"""Bytes of user data; with its number and the headers of UDP, IP and Ethernet that is a frame of 64."""
_NEIGHBOUR = "02:77:ff:ff:ff:ff"
"""Nobody's address."""
_ROUTER = """weir = 1
[router]
name = "{name}"
discipline = "{discipline}"
[[interface]]
name = "{west}"
addresses = ["10.0.1.1/24"]
[[interface]]
name = "{east}"
addresses = ["10.0.2.1/24"]
neighbours = {{ "10.0.2.2" = "{neighbour}" }}
"""
_SOURCE = "on 1 udp 10.0.2.2.4000\narrival constant {gap} length {data} time {seconds}\n"
SETTLED = 1.0
"""Seconds between the start of a forwarder and its first packet."""


@dataclass(frozen=True, slots=True)
class _Turn:
    """What a forwarder did in one turn."""

    rate: float
    processor: float
    """Nanoseconds of processor time a packet."""


def measure(prefix: str = "", *, rounds: int = 5, seconds: float = 3.0) -> Iterator[dict[str, Any]]:
    """Measure forwarders whose name begins with ``prefix``, and the bare one.

    Yields
    ------
    dict
        ``bench``, ``unit``, ``value`` (the median over rounds), ``low`` and ``high``.

    Raises
    ------
    UnsupportedError
        Without root or the program.
    """
    chosen = {name: spec for name, spec in DISCIPLINES.items() if f"live/{name}".startswith(prefix)}
    if not chosen and not f"live/{_BARE}".startswith(prefix):
        return
    turns: dict[str, list[_Turn]] = {name: [] for name in (_BARE, *chosen)}
    for _ in range(rounds):
        for name in turns:
            turns[name].append(_turn(DISCIPLINES.get(name), seconds))
    yield from _figures(_BARE, turns[_BARE])
    for name in chosen:
        yield from _figures(name, turns[name])
        pairs = list(zip(turns[name], turns[_BARE], strict=True))
        yield figure(f"live/{name}/rate vs bare", "1", [one.rate / bare.rate for one, bare in pairs])
        more = [one.processor - bare.processor for one, bare in pairs]
        yield figure(f"live/{name}/processor over bare", "ns/packet", more)


def _figures(name: str, turns: list[_Turn]) -> Iterator[dict[str, Any]]:
    yield figure(f"live/{name}/rate", "packets/s", [turn.rate for turn in turns])
    yield figure(f"live/{name}/processor", "ns/packet", [turn.processor for turn in turns])


def figure(bench: str, unit: str, values: list[float]) -> dict[str, Any]:
    """Return what a benchmark has measured, once a round."""
    middle = statistics.median(values)
    return {"bench": bench, "unit": unit, "value": middle, "low": min(values), "high": max(values)}


def _turn(discipline: str | None, seconds: float) -> _Turn:
    """Let one forwarder forward for some seconds."""
    with Site("bench") as site:
        for node in ("source", "router", "sink"):
            site.node(node)
        west = towards(site, "router")
        east, sink = site.wire("router", "sink")
        folder = site.folder()
        forwarder = _forwarder(site, (west, east), discipline, folder)
        time.sleep(SETTLED)
        sender = _sender(site, seconds + 1.0, folder)
        time.sleep(0.5)
        before = _state(site, sink, forwarder)
        time.sleep(seconds)
        after = _state(site, sink, forwarder)
        if forwarder.poll() is not None or sender.poll() is not None:
            message = "the forwarder or the source ended before the measurement"
            raise WeirError(
                message, "look at its messages above; `weird doctor` says what this machine can do"
            )
        sender.wait()
    packets = after[1] - before[1]
    if packets == 0:
        raise WeirError("no packet came through", "`weird doctor` says what this machine can do")
    return _Turn(packets / (after[0] - before[0]), (after[2] - before[2]) / packets)


def _forwarder(site: Site, ends: tuple[End, End], discipline: str | None, folder: Path) -> Popen[bytes]:
    weird, (west, east) = str(program.find()), ends
    if discipline is None:
        return start(site, "router", [weird, "bench-forward", west.interface, east.interface], folder)
    text = _ROUTER.format(
        name=site.name(0),
        discipline=discipline,
        west=west.interface,
        east=east.interface,
        neighbour=_NEIGHBOUR,
    )
    return start(site, "router", [weird, "route", str(written(folder, "router.toml", text))], folder)


def _sender(site: Site, seconds: float, folder: Path) -> Popen[bytes]:
    # A gap that no machine keeps up with: whatever is due is sent at once, in batches.
    text = _SOURCE.format(gap=1e-6, data=_DATA, seconds=seconds)
    command = [str(program.find()), "tg", str(written(folder, "source.tg", text)), "--start", "now"]
    return start(site, "source", command, folder)


def towards(site: Site, node: str) -> End:
    """Join the source to a node that has its packets to 10.0.2.0/24, and return the end there."""
    source, end = site.wire("source", node)
    site.address(source, ip_interface("10.0.1.2/24"))
    site.route(source, ip_network("10.0.2.0/24"), ip_address("10.0.1.1"))
    return end


def start(site: Site, node: str, command: list[str], folder: Path) -> Popen[bytes]:
    """Start a program whose messages are kept."""
    with (folder / "said").open("ab") as said:
        return site.start(node, command, stdout=said, stderr=said)


def written(folder: Path, name: str, text: str) -> Path:
    """Write a file for a program, and return its path."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def _state(site: Site, sink: End, forwarder: Popen[bytes]) -> tuple[float, int, float]:
    """Return seconds, packets that have arrived, and the forwarder's processor time in nanoseconds."""
    link = site.netlink(sink.node).get_links(ifname=sink.interface)[0]
    arrived = link.get_attr("IFLA_STATS64")["rx_packets"]
    fields = Path(f"/proc/{forwarder.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    ticks = int(fields[11]) + int(fields[12])
    return time.monotonic(), arrived, ticks * 1e9 / os.sysconf("SC_CLK_TCK")
