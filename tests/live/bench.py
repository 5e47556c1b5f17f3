"""Packets, TCP and round trips through the kernel, bare sockets and ``weird route``, in turns.

``make bench-live`` prints tables, each figure as the median of the rounds with the least and the largest,
and its ratio to that of the kernel's own forwarding in the same rounds, and writes a page with round trips
over time to ``out/bench-live.html``. Hosts have no offloads, so that all forward packets as they are on a
line. Names of ways as arguments measure those, next to the kernel's. ``--rounds N`` and ``--seconds S``
change how often and how long.
"""

import argparse
import os
import platform
import statistics
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import bench_loads as loads
import bench_page
import bench_ways as ways
from bench_loads import Loaded
from bench_ways import BenchBed, Way

KERNEL = "the kernel"
_PAGE = Path("out/bench-live.html")
_RATE = 50
"""Mbit/s of the line that discipline and load meet at."""
_FIFO = "fifo:limit=1000pkt"
_BURST = 1000
"""Packets that wait at each side before the workers go on: a receive ring has room for them."""

UNSHAPED: dict[str, Way] = {
    KERNEL: ways.kernel,
    "the kernel, tbf": ways.kernel_tbf(),
    "the kernel, htb": ways.kernel_htb(),
    "bare AF_XDP": ways.bare,
    "fifo": ways.weird(_FIFO),
    "fifo, without a priority": ways.weird(_FIFO, priority=""),
    "fifo, AF_PACKET": ways.weird(_FIFO, io="af_packet"),
    "fifo, two workers": ways.weird(_FIFO, workers=2),
    "drr": ways.weird("drr"),
    "sfq": ways.weird("sfq"),
    "fq_codel": ways.weird("fq_codel"),
    "cake": ways.weird("cake:rate=unlimited"),
}
SHAPED: dict[str, Way] = {
    "the kernel, tbf": ways.kernel_tbf(f"{_RATE}mbit"),
    "the kernel, htb": ways.kernel_htb(f"{_RATE}mbit"),
    **{
        name: ways.weird(spec, rate=f"{_RATE}Mbit")
        for name, spec in {"fifo": _FIFO, "drr": "drr", "sfq": "sfq", "fq_codel": "fq_codel"}.items()
    },
    "cake": ways.weird(f"cake:rate={_RATE}Mbit"),
}
WORKERS: dict[str, Way] = {
    f"{count} workers, {io}": ways.weird(_FIFO, workers=count, io=io)
    for io in ("af_xdp", "af_packet")
    for count in (1, 2)
}


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured of one way of forwarding in one round."""

    small: float
    large: float
    tcp: float
    idle: float
    loaded: float

    COLUMNS = (
        ("small", "64 bytes, packets/s"),
        ("large", "1,500 bytes, packets/s"),
        ("tcp", "TCP, Mbit/s"),
        ("idle", "idle round trip, us"),
        ("loaded", "beside TCP, us"),
    )


def measure(way: Way, seconds: float) -> Row:
    """Measure one way of forwarding without a rate."""
    with TemporaryDirectory() as folder, BenchBed(Path(folder)) as bed:
        way(bed)
        return Row(
            loads.packets(bed, 50, seconds),
            loads.packets(bed, 1500, seconds),
            loads.throughput(bed, seconds),
            loads.round_trip(bed, int(100 * seconds)),
            loads.loaded(bed, 0.1, seconds, flows=1).median(),
        )


def over_time(way: Way, idle: float, seconds: float) -> Loaded:
    """Measure round trips before, while and after four connections fill a slow line."""
    with TemporaryDirectory() as folder, BenchBed(Path(folder)) as bed:
        way(bed)
        return loads.loaded(bed, idle, seconds, flows=4)


def capacity(way: Way, bursts: int) -> float:
    """Return how many packets a second the workers move while nobody else runs, as the median over bursts."""
    with TemporaryDirectory() as folder, BenchBed(Path(folder)) as bed:
        way(bed)
        return statistics.median(loads.capacity(bed, _BURST) for _ in range(bursts))


def table(found: dict[str, list[Row]]) -> Iterable[str]:
    """Yield the lines of the table of what was measured without a rate."""
    yield "| forwarded by | " + " | ".join(f"{title} | ratio" for _, title in Row.COLUMNS) + " |"
    yield "|---" * (1 + 2 * len(Row.COLUMNS)) + "|"
    for name, rows in found.items():
        cells = (
            _cell([getattr(row, key) for row in rows], [getattr(row, key) for row in found[KERNEL]])
            for key, _ in Row.COLUMNS
        )
        yield f"| {name} | {' | '.join(cells)} |"


def _cell(values: Sequence[float], kernels: Sequence[float]) -> str:
    ratio = statistics.median(mine / other for mine, other in zip(values, kernels, strict=True))
    return f"{_spread(values)} | {ratio:.2f}"


def _spread(values: Sequence[float]) -> str:
    middle, low, high = statistics.median(values), min(values), max(values)
    return f"{middle:,.0f} ({low:,.0f} to {high:,.0f})"


def _shaped(found: dict[str, list[Loaded]]) -> Iterable[str]:
    yield f"| at {_RATE} Mbit/s | round trip beside four connections, us | their Mbit/s |"
    yield "|---|---|---|"
    for name, rows in found.items():
        trips, rates = [row.median() for row in rows], [row.rate for row in rows]
        yield f"| {name} | {_spread(trips)} | {statistics.median(rates):.1f} |"


def _workers(found: dict[str, list[float]]) -> Iterable[str]:
    yield "| sender and receiver stand still | packets/s |"
    yield "|---|---|"
    for name, rates in found.items():
        yield f"| {name} | {_spread(rates)} |"


def _say(lines: Iterable[str]) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines) + "\n")
    sys.stdout.flush()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("ways", nargs="*", help=f"of {', '.join(UNSHAPED)}; by default all")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3.0)
    told = parser.parse_args()
    if unknown := set(told.ways) - set(UNSHAPED):
        parser.error(f"no way of forwarding is {min(unknown)!r}: {', '.join(UNSHAPED)}")
    return told


def main() -> None:
    """Measure all ways in turns, print the tables and write the page."""
    told = _arguments()
    rounds, seconds = range(told.rounds), told.seconds
    chosen = {name: way for name, way in UNSHAPED.items() if name in (KERNEL, *(told.ways or UNSHAPED))}
    machine = f"Linux {platform.release()}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}"
    _say([f"{datetime.now(UTC).date()}, {machine}, {told.rounds} rounds of {seconds:g} s"])
    found: dict[str, list[Row]] = {name: [] for name in chosen}
    for _ in rounds:
        for name, way in chosen.items():
            found[name].append(measure(way, seconds))
    _say(table(found))
    if told.ways:
        return
    _say(_workers({name: [capacity(way, 9) for _ in rounds] for name, way in WORKERS.items()}))
    shaped = {name: [over_time(way, seconds, 2 * seconds) for _ in rounds] for name, way in SHAPED.items()}
    _say(_shaped(shaped))
    _PAGE.parent.mkdir(exist_ok=True)
    _PAGE.write_text(bench_page.html({name: rows[-1] for name, rows in shaped.items()}, _RATE))
    _say([f"page: {_PAGE.resolve()}"])


if __name__ == "__main__":
    main()
