"""A server and a client in namespaces, a wire between them: ``weird steer`` here, ``weird load`` there.

The programs of ``weird steer`` serve requests in the kernel of the server and send them back through the
interface that they came by. While requests are sent, this process has a real-time priority above the
client's, so that it asks in time however busy the processors are; so has the daemon that it starts.

Source: Linux, sched(7), veth(4). Units: nanoseconds of the monotonic clock, unless a name says otherwise.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import contextmanager, suppress
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from pathlib import Path
from subprocess import DEVNULL, TimeoutExpired
from typing import TYPE_CHECKING, Any, Self

from weir import toml
from weir.errors import WeirError
from weir.live import program
from weir.live.namespaces import Site
from weir.live.steer.counts import poll
from weir.live.steer.plan import AT_LEAST, QUEUE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from subprocess import Popen

    from weir.live.steer.counts import Poll

__all__ = ["FLOWS", "Bed", "Client", "Steering", "configuration", "ran"]

PORT = 9000
FLOWS = 4
"""Source ports of the client; the fewer, the less a burst takes it."""
SERVE, LOAD, WATCH = 50, 60, 61
"""Real-time priorities of the threads that serve, of the client, and of who watches both."""
_SERVER, _CLIENT = IPv4Interface("10.78.1.1/24"), IPv4Interface("10.78.0.2/24")
_GATEWAY_CLIENT, _GATEWAY_SERVER = IPv4Address("10.78.0.1"), IPv4Address("10.78.1.2")
_READY, _FIRST, _DRAINED = 15.0, 10.0, 5.0
"""Seconds for the daemon to answer, for the first request to come, for the last to be served."""
_AFTER = 20
"""The first request comes this part of a period after a decision."""
_LATEST = 20.0
"""Seconds that a client may take longer than it sends."""


def configuration(
    name: str, interface: str, processors: Sequence[int], policy: str, iterations: int
) -> dict[str, Any]:
    """Return the configuration of ``weird steer``."""
    return {
        "weir": 1,
        "steer": {
            "name": name,
            "interface": interface,
            "traffic": "udp",
            "ports": [PORT],
            "policy": policy,
            "processors": [*processors],
            "queue": f"{QUEUE}pkt",
            "priority": SERVE,
        },
        "classes": {"names": ["short", "long"], "long": {"byte": 3, "at_least": AT_LEAST}},
        "service": {"field": 0, "iterations": iterations, "reflect": True},
    }


class Bed:
    """The namespaces, in a ``with`` block; what is started in them ends with it.

    Parameters
    ----------
    spare : int, optional
        The processor that the client stays on; any where not given.
    keep : path, optional
        Where configurations, answers and messages stay.
    """

    def __init__(self, spare: int | None = None, keep: Path | None = None) -> None:
        self._spare = spare
        self._weird = str(program.find())
        self._site = Site("steer")
        self._keep = keep
        self._runs = 0
        self.start_up = 0
        """How long the client took last from its start to its first request."""

    def __enter__(self) -> Self:
        self._site.__enter__()
        try:
            self._build()
        except BaseException:
            self._site.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self._site.__exit__(*error)

    def _build(self) -> None:
        for name in ("server", "client"):
            self._site.node(name, six=False)
        client, self._server = self._site.wire("client", "server")
        self._site.take_frames(client)
        self._site.address(client, _CLIENT)
        self._site.address(self._server, _SERVER)
        self._site.route(client, _SERVER.network, _GATEWAY_CLIENT)
        self._site.route(self._server, IPv4Network(_CLIENT.network), _GATEWAY_SERVER)
        if self._keep is None:
            self._folder = self._site.folder()
        else:
            self._folder = self._keep
            self._folder.mkdir(parents=True, exist_ok=True)

    @contextmanager
    def steering(
        self, label: str, processors: Sequence[int], policy: str, iterations: int
    ) -> Iterator[Steering]:
        """Start ``weird steer`` with one policy, yield it when it answers, and end it."""
        self._runs += 1
        folder = self._folder / f"{self._runs:02}-{label}"
        folder.mkdir(parents=True, exist_ok=True)
        name = self._site.name(self._runs)
        document = configuration(name, self._server.interface, processors, policy, iterations)
        file = folder / "steer.toml"
        file.write_text(toml.dumps(document), encoding="utf-8")
        with _watching(), (folder / "steer.said").open("wb") as said:
            command = [self._weird, "steer", str(file)]
            process = self._site.start("server", command, stdin=DEVNULL, stdout=said, stderr=said)
            made = Steering(self, self._weird, name, process, folder)
            try:
                made.wait_until_it_answers()
                yield made
            finally:
                made.stop()

    def load(self, words: Sequence[str], folder: Path, label: str) -> Client:
        """Start ``weird load`` at the client."""
        target = f"{_SERVER.ip}:{PORT}"
        command = [self._weird, "load", target, *words, "--priority", f"FIFO:{LOAD}", "--json"]
        if self._spare is not None:
            command += ["--cpu", str(self._spare)]
        file = folder / f"{label}.json"
        with file.open("wb") as out, (folder / f"{label}.said").open("wb") as said:
            process = self._site.start("client", command, stdin=DEVNULL, stdout=out, stderr=said)
        return Client(process, file)


class Client:
    """A client that sends."""

    def __init__(self, process: Popen[bytes], file: Path) -> None:
        self._process = process
        self._file = file

    @property
    def running(self) -> bool:
        """Whether it is not done yet."""
        return self._process.poll() is None

    def result(self, seconds: float) -> dict[str, Any]:
        """Wait until it is done, at most so long, and return what it wrote.

        Raises
        ------
        WeirError
            If it fails, or does not end.
        """
        try:
            code = self._process.wait(seconds + _LATEST)
        except TimeoutExpired:
            self._process.kill()
            raise WeirError(
                f"weird load has not ended {_LATEST:g} s after its last request", "run it again"
            ) from None
        if code:
            raise WeirError(f"weird load has ended with {code}{_last(self._file.with_suffix('.said'))}")
        found: dict[str, Any] = json.loads(self._file.read_text(encoding="utf-8"))
        return found


class Steering:
    """A daemon that steers."""

    def __init__(self, bed: Bed, weird: str, name: str, process: Popen[bytes], folder: Path) -> None:
        self._bed = bed
        self._weird = Path(weird)
        self._name = name
        self._process = process
        self._folder = folder
        self._sent_at = 0

    def wait_until_it_answers(self) -> None:
        """Return when it answers.

        Raises
        ------
        WeirError
            If it ends before, or takes too long.
        """
        deadline = time.monotonic() + _READY
        while self._ask() is None:
            if self._process.poll() is not None:
                raise WeirError(
                    f"weird steer has ended with {self._process.returncode}{self._said}",
                    "`weird doctor` says what this machine can do",
                )
            if time.monotonic() > deadline:
                raise WeirError(f"weird steer does not answer within {_READY:g} s{self._said}")
            time.sleep(0.01)

    @property
    def _said(self) -> str:
        return _last(self._folder / "steer.said")

    def _ask(self) -> dict[str, Any] | None:
        with suppress(TimeoutExpired):
            return program.ask(self._weird, self._name, "stats")
        return None

    def answer(self) -> dict[str, Any]:
        """Return what it has counted.

        Raises
        ------
        WeirError
            If it does not answer.
        """
        found = self._ask()
        if found is None:
            raise WeirError(f"weird steer does not answer any more{self._said}")
        return found

    def wait_for_a_decision(self, period: int) -> None:
        """Wait so that, if the client is started then, requests begin to come shortly after a decision.

        The daemon decides every period since its start; the client takes as long as it did the last time.
        """
        asked = time.monotonic_ns()
        at = self.answer()["at_ns"] + (time.monotonic_ns() - asked) // 2
        time.sleep((period // _AFTER - self._bed.start_up - at) % period / 1e9)

    def send(self, label: str, words: Sequence[str]) -> Client:
        """Let the client send."""
        self._sent_at = time.monotonic_ns()
        return self._bed.load(words, self._folder, label)

    def wait_for_requests(self, before: Poll, client: Client) -> int:
        """Return about when the first request came after a poll, between two that are made at once.

        Raises
        ------
        WeirError
            If none comes.
        """
        asked = time.monotonic_ns()
        deadline = time.monotonic() + _FIRST
        while True:
            over = not client.running
            again = time.monotonic_ns()
            if poll(self.answer()).steered > before.steered:
                begin = (asked + again) // 2
                self._bed.start_up = begin - self._sent_at
                return begin
            if time.monotonic() > deadline or over:
                client.result(0.0)
                raise WeirError("no request has come to the server", "`weird doctor` says what is in the way")
            asked = again

    def wait_until_all_are_served(self) -> Poll:
        """Return the last counts, when nothing waits any more, or at least for some seconds."""
        deadline = time.monotonic() + _DRAINED
        while (found := poll(self.answer())).waiting and time.monotonic() < deadline:
            time.sleep(0.02)
        return found

    def stop(self) -> None:
        """End it."""
        with suppress(OSError, ValueError, TimeoutExpired):
            program.ask(self._weird, self._name, "stop")
        with suppress(TimeoutExpired):
            self._process.wait(5.0)
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()


def ran(answer: dict[str, Any]) -> int | None:
    """Return the nanoseconds that the threads of the queues have run by now, or None if unknown."""
    try:
        return sum(
            int(Path(f"/proc/{each['thread']}/schedstat").read_text(encoding="ascii").split()[0])
            for each in answer["processors"]
        )
    except (OSError, ValueError, IndexError):
        return None


def _last(file: Path) -> str:
    """Return the last line of a file of messages, as the end of a message."""
    with suppress(OSError):
        lines = file.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return f": {lines[-1]}" if lines else ""
    return ""


@contextmanager
def _watching() -> Iterator[None]:
    """Let this thread, and what it starts, go before the client and those that serve."""
    before, parameter = os.sched_getscheduler(0), os.sched_getparam(0)
    with suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(WATCH))
    try:
        yield
    finally:
        os.sched_setscheduler(0, before, parameter)
