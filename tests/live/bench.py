"""TCP and idle round trips through the kernel's own forwarding and through ``weird route``, in turns.

``make bench-live`` prints a table: Mbit/s of one TCP connection without a rate, and round trips of UDP while
nothing else is sent, each as the median of the rounds with the least and the largest, and its ratio to the
kernel's in the same rounds. Hosts have no offloads, so that all forward packets of 1,500 bytes.
"""

import os
import platform
import socket
import statistics
import sys
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from ipaddress import IPv4Interface, IPv4Network
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from live_bed import Bed

_ROUNDS, _SECONDS, _TRIPS = 5, 3.0, 400
_PORT = 5002


def _kernel(bed: Bed) -> None:
    """Have the kernel of the router forward."""
    for number, end in ((1, bed.left), (2, bed.right)):
        bed.site.address(end, IPv4Interface(f"10.79.{number}.1/24"))
        bed.site.route(end, IPv4Network(f"10.79.{number}.2/32"), IPv4Interface(f"10.79.{number}.2/32").ip)
    with bed.site._inside("r"):
        Path("/proc/sys/net/ipv4/ip_forward").write_text("1")


def _weird(discipline: str, io: str = "auto") -> Callable[[Bed], None]:
    def begin(bed: Bed) -> None:
        bed.start(discipline=discipline, io=io, neighbours=False)

    return begin


_WAYS: dict[str, Callable[[Bed], None]] = {
    "the kernel": _kernel,
    "fifo": _weird("fifo"),
    "fifo, AF_PACKET": _weird("fifo", "af_packet"),
    "drr": _weird("drr"),
    "sfq": _weird("sfq"),
    "fq_codel": _weird("fq_codel"),
}


def _throughput(bed: Bed) -> float:
    """Return the Mbit/s that a TCP connection delivers."""
    listens = bed.site.socket("b", socket.AF_INET, socket.SOCK_STREAM)
    listens.bind(("10.79.2.2", _PORT))
    listens.listen()
    sends = bed.site.socket("a", socket.AF_INET, socket.SOCK_STREAM)
    sends.connect(("10.79.2.2", _PORT))
    receives, _ = listens.accept()
    over = threading.Event()

    def pour() -> None:
        block = bytes(1 << 18)
        while not over.is_set():
            try:
                sends.sendall(block)
            except OSError:
                return

    thread = threading.Thread(target=pour)
    thread.start()
    room = bytearray(1 << 20)
    began, got, marked = time.monotonic(), 0, None
    while (now := time.monotonic()) < began + 1 + _SECONDS:
        if marked is None and now > began + 1:
            marked, got = now, 0
        got += receives.recv_into(room)
    rate = 8 * got / (time.monotonic() - (marked or began)) / 1e6
    over.set()
    for each in (receives, sends, listens):
        each.close()
    thread.join()
    return rate


def _round_trip(bed: Bed) -> float:
    """Return the median round trip in microseconds while nothing else is sent."""
    echo = bed.receiver(_PORT + 1)
    echo.setblocking(True)
    over = threading.Event()

    def answer() -> None:
        while not over.is_set():
            data, peer = echo.recvfrom(2048)
            echo.sendto(data, peer)

    thread = threading.Thread(target=answer, daemon=True)
    thread.start()
    asks, trips = bed.sender(), []
    asks.settimeout(1)
    for number in range(_TRIPS):
        time.sleep(0.002)
        began = time.perf_counter()
        bed.send(asks, number, 100, port=_PORT + 1)
        asks.recv(2048)
        trips.append(1e6 * (time.perf_counter() - began))
    over.set()
    bed.send(asks, 0, 100, port=_PORT + 1)
    thread.join()
    return statistics.median(trips)


def _measure(begin: Callable[[Bed], None]) -> tuple[float, float]:
    with TemporaryDirectory() as folder, Bed(Path(folder)) as bed:
        begin(bed)
        bed.idle() if bed.router else None
        return _throughput(bed), _round_trip(bed)


def _told(values: list[float], beside: list[float]) -> str:
    ratio = statistics.median(mine / kernels for mine, kernels in zip(values, beside, strict=True))
    return f"{statistics.median(values):,.0f} ({min(values):,.0f} to {max(values):,.0f}) | {ratio:.2f}"


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> None:
    """Measure all ways in turns, and print the table."""
    when, machine = datetime.now(UTC).date(), f"Linux {platform.release()}, {os.cpu_count()} processors"
    _say(f"{when}, {machine}, veth without offloads, {_ROUNDS} rounds of {_SECONDS:.0f} s\n")
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in _WAYS}
    for _ in range(_ROUNDS):
        for name, begin in _WAYS.items():
            found[name].append(_measure(begin))
    _say("| forwarded by | TCP, Mbit/s | to the kernel's | idle round trip, us | to the kernel's |")
    _say("|---|---|---|---|---|")
    kernel = list(zip(*found["the kernel"], strict=True))
    for name, rows in found.items():
        rates, trips = (list(each) for each in zip(*rows, strict=True))
        _say(f"| {name} | {_told(rates, kernel[0])} | {_told(trips, kernel[1])} |")


if __name__ == "__main__":
    main()
