"""What ``make bench-live`` has two hosts do, whatever forwards between them, and what it measures of it.

The hosts are processes of their own: what one of them does costs the other nothing but the processor.
Units: packets a second, Mbit/s of data, microseconds.
"""

import multiprocessing
import os
import select
import signal
import socket
import statistics
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import Self

from bench_ways import NOBODY, BenchBed

from live_bed import SO_TIMESTAMPNS, drain
from weir.live.bench import start, written
from weir.live.program import find

_PORT = 5002
_WARM = 0.5
_PROBE = 0.01
_HEADERS = 28
_SO_RCVBUFFORCE = 33
_FORK = multiprocessing.get_context("fork")
_FLOOD = "on 1 udp {to}.4000\narrival constant 1e-6 length {data} time {seconds}\n"
"""A gap that no machine keeps up with: whatever is due is sent at once, in batches."""
_NUMBER = 4
"""Bytes of a packet's number, which the generator writes before its data."""


@contextmanager
def _beside(act: Callable[..., None], *given: object) -> Iterator[None]:
    """Let a process of its own do something, until the block ends."""
    process = _FORK.Process(target=act, args=given, daemon=True)
    process.start()
    try:
        yield
    finally:
        process.kill()
        process.join()


def packets(bed: BenchBed, size: int, seconds: float) -> float:
    """Return how many IP packets of a size arrive in a second of those sent as fast as one core can."""
    script = _FLOOD.format(to=NOBODY, data=size - _HEADERS - _NUMBER, seconds=seconds + 2 * _WARM)
    path = written(bed.folder, "flood.tg", script)
    flood = start(bed.site, "a", [str(find()), "tg", str(path), "--start", "now"], bed.folder)
    time.sleep(_WARM)
    before, began = _arrived(bed), time.monotonic()
    time.sleep(seconds)
    rate = (_arrived(bed) - before) / (time.monotonic() - began)
    assert flood.poll() is None, (bed.folder / "said").read_text()
    # It is behind, and would send the rest.
    flood.kill()
    flood.wait()
    return rate


def _arrived(bed: BenchBed) -> int:
    link = bed.site.netlink("b").get_links(ifname=bed.b.interface)[0]
    count: int = link.get_attr("IFLA_STATS64")["rx_packets"]
    return count


def _pour(sends: socket.socket) -> None:
    block = bytes(1 << 18)
    while True:
        sends.sendall(block)


@contextmanager
def _connections(bed: BenchBed, flows: int) -> Iterator[list[socket.socket]]:
    """Have TCP connections from a to b full of data, and yield the ends that receive."""
    with ExitStack() as stack:
        listens = stack.enter_context(bed.site.socket("b", socket.AF_INET, socket.SOCK_STREAM))
        listens.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listens.bind(("10.79.2.2", _PORT))
        listens.listen()
        receive = []
        for _ in range(flows):
            sends = stack.enter_context(bed.site.socket("a", socket.AF_INET, socket.SOCK_STREAM))
            sends.connect(("10.79.2.2", _PORT))
            receive.append(stack.enter_context(listens.accept()[0]))
            stack.enter_context(_beside(_pour, sends))
        yield receive


def throughput(bed: BenchBed, seconds: float) -> float:
    """Return the Mbit/s that a TCP connection delivers."""
    room = bytearray(1 << 20)
    with _connections(bed, 1) as (receives,):
        _take(receives, room, _WARM)
        got, passed = _take(receives, room, seconds)
    return 8 * got / passed / 1e6


def _take(receives: socket.socket, room: bytearray, seconds: float) -> tuple[int, float]:
    """Receive for some seconds; bytes, and how long it took."""
    began, got = time.monotonic(), 0
    while (passed := time.monotonic() - began) < seconds:
        got += receives.recv_into(room)
    return got, passed


@contextmanager
def _echo(bed: BenchBed) -> Iterator[None]:
    """Have b send back what comes to its port."""
    with bed.receiver(_PORT + 1) as made:
        made.setblocking(True)
        with _beside(_answer, made):
            yield


def _answer(echo: socket.socket) -> None:
    while True:
        data, peer = echo.recvfrom(2048)
        echo.sendto(data, peer)


def round_trip(bed: BenchBed, trips: int) -> float:
    """Return the median round trip while nothing else is sent."""
    asks, measured = bed.sender(), []
    asks.settimeout(1)
    with _echo(bed):
        for number in range(trips + 1):
            time.sleep(0.002)
            began = time.perf_counter()
            bed.send(asks, number, 100, port=_PORT + 1)
            asks.recv(2048)
            measured.append(1e6 * (time.perf_counter() - began))
    return statistics.median(measured[1:])


@dataclass(frozen=True, slots=True)
class Loaded:
    """Round trips over time, before, while and after a TCP connection is full of data."""

    trips: tuple[tuple[float, float], ...]
    """When a probe was sent, in seconds, and its round trip; those that were lost are missing."""
    begins: float
    ends: float
    rate: float
    """Mbit/s of the connection."""

    def median(self) -> float:
        """Return the median round trip while the connection is full, less its first second."""
        settled = self.begins + min(1.0, (self.ends - self.begins) / 2)
        return statistics.median(trip for at, trip in self.trips if settled <= at < self.ends)


def loaded(bed: BenchBed, idle: float, seconds: float, flows: int) -> Loaded:
    """Send a probe every 10 ms for ``idle + seconds + idle``, in whose middle connections are full."""
    asks = bed.sender()
    with _echo(bed), Probes(bed, asks) as probes:
        probes.go_on(idle)
        begins = probes.now()
        with _connections(bed, flows) as receive, _counted(receive) as got:
            probes.go_on(seconds)
            ends, received = probes.now(), got()
        probes.go_on(idle)
        return Loaded(tuple(probes.trips), begins, ends, 8 * received / (ends - begins) / 1e6)


@contextmanager
def _counted(receive: list[socket.socket]) -> Iterator[Callable[[], int]]:
    """Let processes receive, and yield what says how many bytes they have."""
    counts = [_FORK.Value("Q", 0) for _ in receive]

    def sink(receives: socket.socket, place: int) -> None:
        room = bytearray(1 << 20)
        while True:
            counts[place].value += receives.recv_into(room)

    with ExitStack() as stack:
        for place, receives in enumerate(receive):
            stack.enter_context(_beside(sink, receives, place))
        yield lambda: sum(int(count.value) for count in counts)


class Probes:
    """Packets to an echo, at fixed times, whether or not those before are back."""

    def __init__(self, bed: BenchBed, asks: socket.socket) -> None:
        self._bed, self._asks = bed, asks
        self._sent: list[float] = []
        self.trips: list[tuple[float, float]] = []

    def __enter__(self) -> Self:
        self._asks.setblocking(False)
        self._began = time.perf_counter()
        self._poll = select.poll()
        self._poll.register(self._asks, select.POLLIN)
        return self

    def __exit__(self, *_: object) -> None:
        self._asks.setblocking(True)

    def now(self) -> float:
        """Return the seconds since it began."""
        return time.perf_counter() - self._began

    def go_on(self, seconds: float) -> None:
        """Send and receive for some seconds."""
        until = self.now() + seconds
        while (now := self.now()) < until:
            due = len(self._sent) * _PROBE
            if now >= due:
                self._sent.append(now)
                with suppress(OSError):  # a full queue of the host: that probe is lost
                    self._bed.send(self._asks, len(self._sent) - 1, 100, port=_PORT + 1)
                continue
            if self._poll.poll(1e3 * (due - now)):
                self._receive()

    def _receive(self) -> None:
        number = struct.unpack("!I", self._asks.recv(2048)[:_NUMBER])[0]
        at = self._sent[number]
        self.trips.append((at, 1e6 * (self.now() - at)))


def capacity(bed: BenchBed, count: int) -> float:
    """Return how many packets a second a router moves whose sender and receiver do not run meanwhile.

    The router stands still while its receive rings fill from both sides, and goes on when nobody sends any
    more: what counts is the time from the first packet that arrives to the last. That the kernel of a host
    takes a packet is work of whoever sends it to its interface, and so in it.
    """
    assert bed.router is not None
    ends = [_end(bed, node, number) for number, node in ((1, "a"), (2, "b"))]
    for made in ends:
        made.settimeout(0)
    os.kill(bed.router.pid, signal.SIGSTOP)
    for made, to in zip(ends, ("10.79.2.2", "10.79.1.2"), strict=True):
        for number in range(count):
            made.sendto(struct.pack("!I", number).ljust(22, b"\0"), (to, _PORT + 2))
    os.kill(bed.router.pid, signal.SIGCONT)
    time.sleep(0.1)
    found = [when for made in ends for _, _, when in drain(made)]
    for made in ends:
        made.close()
    assert len(found) == 2 * count, f"{len(found)} of {2 * count} arrived"
    return len(found) / (max(found) - min(found))


def _end(bed: BenchBed, node: str, number: int) -> socket.socket:
    made = bed.site.socket(node, socket.AF_INET, socket.SOCK_DGRAM)
    for option in (_SO_RCVBUFFORCE, _SO_RCVBUFFORCE - 1):  # and SO_SNDBUFFORCE
        made.setsockopt(socket.SOL_SOCKET, option, 1 << 24)
    made.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    made.bind((f"10.79.{number}.2", _PORT + 2))
    return made
