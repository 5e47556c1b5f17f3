"""Benchmarks of steering on this machine: what a policy costs over a bare redirect.

A source and a server stand in two namespaces. The source sends requests of 64 bytes as fast as one processor
can; the server spreads them over two processors by ``weird bench-redirect``, which sends each to the next
queue and does nothing else, or by ``weird steer``. To tell what the kernel takes for any program at the
queues, which ``weird steer`` cannot do without, a second redirect has one that passes all requests. What is
counted is what comes out of the queues: packets that the network stack of the server's namespace receives,
which has no address like theirs and drops them at once. Half of the requests are short and half long, over
many flows, so that every policy gives both processors the same work; the threads of the queues have the same
priority as those of the baseline. Each turn of a policy lies between two of the baseline; what counts is its
ratio to the mean of these two, and their median.

The time that programs take is the kernel's own count of it, in a part of the turn of its own, since counting
costs time. The share of the control loop is what the daemon has counted while it runs a hundred times a
second.

Source: ``weird``; Linux, bpf(2), /proc/pid/fdinfo, /proc/pid/net/snmp. Units: requests a second; nanoseconds
a request; parts of one processor.
"""

from __future__ import annotations

import ctypes
import os
import platform
import time
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import ip_interface
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weir.errors import UnsupportedError, WeirError
from weir.live import program
from weir.live.bench import SETTLED, figure, start, towards, written
from weir.live.namespaces import Site

if TYPE_CHECKING:
    from collections.abc import Iterator
    from subprocess import Popen

    from weir.live.namespaces import End

__all__ = ["POLICIES", "measure"]

_LOOP = "add=1us,remove=0us,period=10ms"
"""Takes all processors at once and keeps them, and looks a hundred times a second."""
POLICIES = {
    "rr": "rr",
    "rr_separated": "rr_separated",
    "dynamic": f"dynamic:{_LOOP}",
    "dynamic_separated": f"dynamic_separated:{_LOOP}",
    "flow_hash": "flow_hash",
    "jsq": "jsq",
}
"""What is compared with the bare redirect."""
_BARE, _SERVED = "bare", "bare_served"
"""A redirect and nothing else; the same with a program at the queues that passes all requests."""
_STEERING = """weir = 1
[steer]
name = "{name}"
interface = "{interface}"
traffic = "udp"
ports = [9000]
policy = "{policy}"
processors = {processors}
queue = "4096pkt"
priority = {priority}
window = "10ms"
[classes]
long = {{ byte = 3, at_least = 10 }}
shares = [0.5, 0.5]
services = ["1us", "1us"]
"""
_PRIORITY = 50
"""Of the threads of the queues, under SCHED_FIFO, as `weird steer` has it where nothing else is said."""
_REQUESTS = [
    *("--rate", "2M/s", "--arrivals", "constant", "--window", "600s", "--patience", "1ms"),
    *("--class", "short:data=1,share=0.5", "--class", "long:data=10,share=0.5"),
    *("--flows", "64", "--size", "22B"),
]
"""More than any processor sends; with the headers of UDP, IP and Ethernet a frame of 64 bytes."""
_COUNTED = 0.5
"""Seconds in which the kernel counts the time of programs."""
_BPF = {"x86_64": 321, "aarch64": 280}
"""The number of bpf(2)."""
_ENABLE_STATS = 32


@dataclass(frozen=True, slots=True)
class _Turn:
    """What was done in one turn."""

    rate: float
    programs: float | None
    """Nanoseconds in programs a request, where the kernel counts them."""
    loop: float | None
    """The control loop's part of one processor, of a policy that has one."""


def measure(prefix: str = "", *, rounds: int = 7, seconds: float = 1.5) -> Iterator[dict[str, Any]]:
    """Measure policies whose name begins with ``prefix``, and the bare redirect.

    Yields
    ------
    dict
        ``bench``, ``unit``, ``value`` (the median over rounds), ``low`` and ``high``.

    Raises
    ------
    UnsupportedError
        Without root or the program.
    """
    chosen = [name for name in (_SERVED, *POLICIES) if _name(name).startswith(prefix)]
    if not chosen:
        return
    bare: list[_Turn] = []
    turns: dict[str, list[_Turn]] = {name: [] for name in chosen}
    ratios: dict[str, list[float]] = {name: [] for name in chosen}
    for _ in range(rounds):
        bare.append(_turn(_BARE, seconds))
        for name in chosen:
            turn, base = _turn(name, seconds), bare[-1]
            bare.append(_turn(_BARE, seconds))
            turns[name].append(turn)
            ratios[name].append(2 * turn.rate / (base.rate + bare[-1].rate))
    yield from _figures(_BARE, bare)
    for name in chosen:
        yield from _figures(name, turns[name])
        yield figure(_name(name, "/rate vs bare"), "1", ratios[name])


def _name(policy: str, of: str = "") -> str:
    return f"live/steer/{policy}{of}"


def _figures(name: str, turns: list[_Turn]) -> Iterator[dict[str, Any]]:
    yield figure(_name(name, "/rate"), "requests/s", [turn.rate for turn in turns])
    if programs := [turn.programs for turn in turns if turn.programs is not None]:
        yield figure(_name(name, "/programs"), "ns/request", programs)
    if loops := [turn.loop for turn in turns if turn.loop is not None]:
        yield figure(_name(name, "/control loop"), "1", loops)


def _turn(spread: str, seconds: float) -> _Turn:
    """Let a baseline or a policy, by its name, spread requests for some seconds."""
    with Site("steer") as site:
        site.node("source")
        site.node("server")
        server = towards(site, "server")
        site.address(server, ip_interface("10.0.1.1/24"))
        folder, name = site.folder(), site.name(0)
        spreader = start(site, "server", _spreader(server, spread, folder, name), folder)
        time.sleep(SETTLED)
        command = [str(program.find()), "load", "10.0.2.2:9000", *_REQUESTS, "--cpu", str(_processors()[0])]
        sender = start(site, "source", command, folder)
        time.sleep(0.5)
        before, loop = _served(spreader), _loop(spread, name)
        time.sleep(seconds)
        after, later = _served(spreader), _loop(spread, name)
        programs = _programs(spreader)
        if spreader.poll() is not None or sender.poll() is not None:
            said = (folder / "said").read_text(encoding="utf-8", errors="replace").strip()
            message = f"the server or the source ended before the measurement: {said[-300:]}"
            raise WeirError(message, "`weird doctor` says what this machine can do")
    if after[1] == before[1]:
        raise WeirError("no request came through", "`weird doctor` says what this machine can do")
    share = (later[1] - loop[1]) / (later[0] - loop[0]) if loop and later else None
    return _Turn((after[1] - before[1]) / (after[0] - before[0]), programs, share)


def _processors() -> list[int]:
    """Return the first two processors that may be used; the source has the first of them."""
    return sorted(os.sched_getaffinity(0))[:2]


def _spreader(server: End, spread: str, folder: Path, name: str) -> list[str]:
    """Return the command that spreads requests."""
    weird, processors = str(program.find()), _processors()
    if spread not in POLICIES:
        queues = ("--processors", ",".join(map(str, processors)), "--priority", str(_PRIORITY))
        serves = ("--serves",) if spread == _SERVED else ()
        return [weird, "bench-redirect", server.interface, *queues, *serves]
    text = _STEERING.format(
        name=name,
        interface=server.interface,
        policy=POLICIES[spread],
        processors=processors,
        priority=_PRIORITY,
    )
    return [weird, "steer", str(written(folder, "steer.toml", text))]


def _served(spreader: Popen[bytes]) -> tuple[float, int]:
    """Return seconds, and how many packets the network stack of the server has received by then."""
    lines = Path(f"/proc/{spreader.pid}/net/snmp").read_text(encoding="ascii").splitlines()
    names, counts = (line.split() for line in lines if line.startswith("Ip:"))
    return time.monotonic(), int(counts[names.index("InReceives")])


def _loop(spread: str, name: str) -> tuple[int, int] | None:
    """Return the age of the daemon and how long its loop was busy, in nanoseconds, where it has one."""
    if _LOOP not in POLICIES.get(spread, ""):
        return None
    answer = program.ask(program.find(), name, "stats")
    if answer is None:
        raise WeirError("the daemon does not answer", "`weird doctor` says what this machine can do")
    return answer["at_ns"], answer["control"]["busy_ns"]


def _programs(spreader: Popen[bytes]) -> float | None:
    """Return the time in all programs of a process, in nanoseconds a request, where the kernel counts it."""
    with _counting() as counts:
        before, begin = _run_time(spreader.pid), _served(spreader)
        time.sleep(_COUNTED)
        after, end = _run_time(spreader.pid), _served(spreader)
    return (after - before) / (end[1] - begin[1]) if counts and end[1] > begin[1] else None


@contextmanager
def _counting() -> Iterator[bool]:
    """Let the kernel count the time of programs; it ends with the process at the latest."""
    number = _BPF.get(platform.machine())
    if number is None:
        yield False
        return
    what = (ctypes.c_uint32 * 1)(0)
    counter = ctypes.CDLL(None, use_errno=True).syscall(number, _ENABLE_STATS, what, ctypes.sizeof(what))
    if counter < 0:
        raise UnsupportedError(f"bpf: {os.strerror(ctypes.get_errno())}", "run as root")
    try:
        yield True
    finally:
        os.close(counter)


def _run_time(process: int) -> int:
    """Return how long all programs of a process have run while it was counted, in nanoseconds."""
    total = {}
    for file in Path(f"/proc/{process}/fdinfo").iterdir():
        fields = dict(line.split(":\t", 1) for line in file.read_text().splitlines() if ":\t" in line)
        if "run_time_ns" in fields:
            total[fields["prog_id"]] = int(fields["run_time_ns"])
    return sum(total.values())
