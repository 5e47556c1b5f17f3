"""A run of a testbed: what a plan says is built, its packets are sent, its logs read, and all is taken down.

Routers are started first, then sinks, then sources, all with one start on the wall clock. When the sending
has ended the routers are given time to empty their queues. Then sinks are asked to end, so that they finish
their logs.

Units: nanoseconds and bytes, as measured.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from ipaddress import IPv4Interface
from itertools import count
from subprocess import DEVNULL
from typing import TYPE_CHECKING, Any, Self

from weir.errors import UnsupportedError
from weir.live import logs, program
from weir.live.clocks import Watch
from weir.live.namespaces import Site
from weir.live.routers import configuration

if TYPE_CHECKING:
    from collections.abc import Callable
    from ipaddress import IPv4Address
    from pathlib import Path
    from subprocess import Popen

    from weir.live.namespaces import End
    from weir.live.plan import Plan

__all__ = ["Outcome", "Testbed", "run"]

_SECOND = 10**9
_READY = 20.0
"""Seconds in which a router answers, or it does not start."""
_AHEAD = 2.0
"""Seconds from the start of the last process to that of the run."""
_STEP = 0.1
_SITES = count()
_MEMORY = "16MiB"
_ROUTERS, _GENERATORS = 40, 50
"""Real-time priorities: what is late in a generator is blamed on the network, so they come first."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run of a plan gave."""

    plan: Plan
    packets: tuple[logs.Packets, ...]
    """Of each stream."""
    routers: dict[str, dict[str, Any]]
    """The snapshot of each router at the end, as ``weird ctl stats`` has it."""
    clock_step: int = 0
    """By how much somebody has set the wall clock meanwhile, in nanoseconds."""


@dataclass(slots=True)
class _Process:
    what: str
    process: Popen[bytes]
    errors: Path


@dataclass(slots=True)
class Testbed:
    """A plan that is built, in a ``with`` block: at its end all of it is gone."""

    plan: Plan
    weird: Path
    keep: Path | None = None
    """Where configurations, scripts, logs and messages stay; by default they go with the testbed."""
    _stack: ExitStack = field(default_factory=ExitStack)
    _site: Site = field(init=False)
    _folder: Path = field(init=False)
    _ends: dict[tuple[str, str], End] = field(default_factory=dict)
    _names: dict[str, str] = field(default_factory=dict)
    _routers: list[_Process] = field(default_factory=list)
    _sinks: list[_Process] = field(default_factory=list)
    _sources: list[_Process] = field(default_factory=list)
    _start: int = 0
    _clock: Watch = field(default_factory=Watch)

    def __enter__(self) -> Self:
        self._site = self._stack.enter_context(Site(f"s{next(_SITES)}"))
        try:
            self._folder = self.keep or self._site.folder()
            self._folder.mkdir(parents=True, exist_ok=True)
            self._build()
            self._start_routers()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _build(self) -> None:
        for name in (*self.plan.hosts, *(router.name for router in self.plan.routers)):
            self._site.node(name, six=False)
        for wire in self.plan.wires:
            ends = self._site.wire(wire.one, wire.other)
            self._ends[wire.one, wire.other] = ends[0]
            self._ends[wire.other, wire.one] = ends[1]
        by_gateway = {}
        for wire in self.plan.wires:
            by_gateway[wire.one_address.ip] = wire.one
            by_gateway[wire.other_address.ip] = wire.other
        addressed = set()
        for host, destination, gateway in self.plan.host_routes:
            end = self._ends[host, by_gateway[gateway]]
            if end not in addressed:
                self._site.address(end, _single(self.plan.addresses[host]))
                addressed.add(end)
            self._site.route(end, _single(destination).network, gateway)
        for (one, _), end in self._ends.items():
            if one in self.plan.hosts and not any(each.node == one for each in addressed):
                self._site.address(end, _single(self.plan.addresses[one]))
                addressed.add(end)

    def _start_routers(self) -> None:
        for number, router in enumerate(self.plan.routers):
            name = self._names[router.name] = self._site.name(number)
            ends = {each.to: self._ends[router.name, each.to] for each in router.interfaces}
            path = self._folder / f"router{number}.toml"
            path.write_text(configuration(router, name, ends, memory=_MEMORY), encoding="utf-8")
            command = [str(self.weird), "route", str(path), "--priority", str(_ROUTERS)]
            self._routers.append(self._process(f"router{number}", router.name, command))
        deadline = time.monotonic() + _READY
        for process, router in zip(self._routers, self.plan.routers, strict=True):
            while program.ask(self.weird, self._names[router.name], "status") is None:
                self._check([process])
                if time.monotonic() > deadline:
                    raise self._failed(process, f"it did not answer within {_READY:g} s")
                time.sleep(_STEP)

    def start(self) -> None:
        """Start sinks and sources, all with one start."""
        self._clock = Watch()
        self._start = time.time_ns() + int((_AHEAD + 0.02 * len(self.plan.streams)) * _SECOND)
        for number, stream in enumerate(self.plan.streams):
            before = self._start - _SECOND
            self._sinks.append(self._generator(number, "sink", stream.sink, stream.sink_script, before))
        for number, stream in enumerate(self.plan.streams):
            own = self._start + stream.start // self.plan.scale
            self._sources.append(self._generator(number, "source", stream.source, stream.script, own))

    def _generator(self, number: int, role: str, node: str, script: str, start: int) -> _Process:
        stream = self.plan.streams[number]
        path = self._folder / f"{role}{number}.tg"
        path.write_text(script, encoding="ascii")
        more = []
        if role == "source":
            random = "compatible" if stream.compatible else "independent"
            more = ["--random", random, "--seed", str(number), "--scale", str(self.plan.scale)]
            if stream.tick:
                more += ["--tick", f"{stream.tick}ns"]
        command = [
            *(str(self.weird), "tg", str(path), "--log", str(path.with_suffix(".log"))),
            *("--start", f"{start // _SECOND}.{start % _SECOND:09}", "--priority", f"FIFO:{_GENERATORS}"),
        ]
        return self._process(f"{role}{number}", node, [*command, *more])

    def _process(self, name: str, node: str, command: list[str]) -> _Process:
        errors = self._folder / f"{name}.err"
        with errors.open("wb") as file:
            process = self._site.start(node, command, stdin=DEVNULL, stdout=DEVNULL, stderr=file)
        return _Process(f"{name} at {node}", process, errors)

    @property
    def seconds(self) -> float:
        """How long the sending takes."""
        return self.plan.duration / self.plan.scale / _SECOND

    def progress(self) -> float:
        """Return which share of the sending is over; check that nothing has ended that should not."""
        self._clock.look()
        self._check([*self._routers, *self._sinks])
        for process in self._sources:
            if process.process.poll():
                raise self._failed(process, f"it ended with code {process.process.returncode}")
        now = time.time_ns() - self._start
        for process, stream in zip(self._sources, self.plan.streams, strict=True):
            if now > stream.stop / self.plan.scale and process.process.poll() is None:
                process.process.send_signal(signal.SIGTERM)
        return min(1.0, max(0.0, now / _SECOND / self.seconds))

    def finish(self) -> Outcome:
        """Wait until queues are empty, end all generators, and read what they have logged."""
        deadline = time.monotonic() + self.plan.drain / self.plan.scale / _SECOND + 1.0
        while self._waiting() and time.monotonic() < deadline:
            time.sleep(_STEP)
            self._clock.look()
        time.sleep(_STEP)
        self._clock.look()
        stats = {name: self._stats(name) for name in self._names}
        for process in (*self._sources, *self._sinks):
            if process.process.poll() is None:
                process.process.send_signal(signal.SIGTERM)
        for process in (*self._sources, *self._sinks):
            if code := process.process.wait(_READY):
                raise self._failed(process, f"it ended with code {code}")
        paths = [
            (self._folder / f"source{number}.log", self._folder / f"sink{number}.log")
            for number in range(len(self.plan.streams))
        ]
        return Outcome(self.plan, tuple(logs.pair(*each) for each in paths), stats, self._clock.step)

    def _stats(self, router: str) -> dict[str, Any]:
        return program.ask(self.weird, self._names[router], "stats") or {}

    def _waiting(self) -> bool:
        return any(
            each["waiting"]["packets"]
            for name in self._names
            for interface in self._stats(name).get("interfaces", ())
            for each in interface["classes"]
        )

    def _check(self, processes: list[_Process]) -> None:
        for process in processes:
            if process.process.poll() is not None:
                raise self._failed(process, f"it ended with code {process.process.returncode}")

    def _failed(self, process: _Process, reason: str) -> UnsupportedError:
        told = process.errors.read_text(encoding="utf-8", errors="replace").strip()
        last = told.splitlines()[-1] if told else "it said nothing"
        remedy = f"the last it said: {last}; `weird doctor` says what this machine can do"
        return UnsupportedError(f"{process.what} failed: {reason}", remedy)


def _single(address: IPv4Address) -> IPv4Interface:
    return IPv4Interface(f"{address}/32")


def run(
    plans: list[Plan],
    *,
    keep: Path | None = None,
    progress: Callable[[float], None] | None = None,
) -> list[Outcome]:
    """Run plans at the same time, each in a testbed of its own.

    Parameters
    ----------
    plans : list of Plan
        What to run.
    keep : path, optional
        The folder under which files of the runs stay.
    progress : callable, optional
        Called some times a second with the share that is over, from 0 to 1.

    Raises
    ------
    UnsupportedError
        If a testbed cannot be built here, or a program of it fails.
    """
    weird = program.find()
    folders = [None if keep is None else keep / f"{place}-{_plain(each)}" for place, each in enumerate(plans)]
    with ExitStack() as stack:
        beds = [
            stack.enter_context(Testbed(plan, weird, folder))
            for plan, folder in zip(plans, folders, strict=True)
        ]
        for bed in beds:
            bed.start()
        while (share := min(bed.progress() for bed in beds)) < 1.0:
            if progress is not None:
                progress(share)
            time.sleep(_STEP)
        return [bed.finish() for bed in beds]


def _plain(plan: Plan) -> str:
    text = f"{plan.title}-{plan.discipline}"
    return "".join(each if each.isalnum() or each in "-=." else "-" for each in text)[:80] + f"-{os.getpid()}"
