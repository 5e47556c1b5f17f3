"""Two hosts, a router between them, and the plain sockets with which a test sends and receives."""

import json
import selectors
import socket
import struct
import subprocess
import time
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from weir import toml
from weir.live import program
from weir.live.namespaces import End, Site

if TYPE_CHECKING:
    from collections.abc import Callable

_PORT, _ALL = 5001, 3
_SO_RCVBUFFORCE = 33
SO_TIMESTAMPNS = 35
"""Has what a socket receives stamped by the clock that is set."""
_READY = 15.0
_HEADERS = 28


class Bed:
    """Hosts ``a`` and ``b``, a router ``r`` between them: what is started ends with the block.

    ``kernel`` is called in the router's process first, and may take from it what another kernel lacks.
    """

    def __init__(self, folder: Path, *, queues: int = 1) -> None:
        self.folder = folder
        self.queues = queues
        self.weird = program.find()
        self.site = Site("test")
        self.router: subprocess.Popen[bytes] | None = None
        self.kernel: Callable[[], None] | None = None
        self._sockets: list[socket.socket] = []

    def __enter__(self) -> Self:
        self.site.__enter__()
        try:
            self._build()
        except BaseException:
            self.site.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        for each in self._sockets:
            each.close()
        self.site.__exit__(*error)

    def _build(self) -> None:
        for name in "arb":
            self.site.node(name, six=False)
        self.a, self.left = self.site.wire("a", "r", queues=self.queues)
        self.b, self.right = self.site.wire("b", "r", queues=self.queues)
        for number, end in ((1, self.a), (2, self.b)):
            self.site.address(end, IPv4Interface(f"10.79.{number}.2/24"))
            self.site.route(end, IPv4Network("10.79.0.0/16"), IPv4Address(f"10.79.{number}.1"))
        self.name = self.site.name(0)

    def configuration(
        self,
        *,
        discipline: str = "fifo:limit=1000pkt",
        rate: str | None = None,
        classes: dict[str, dict[str, Any]] | None = None,
        neighbours: bool = True,
        right: dict[str, Any] | None = None,
        nobody: dict[str, str] | None = None,
        **more: Any,
    ) -> str:
        """Return the router's configuration; ``more`` are keys of its ``[router]`` table.

        ``right`` are more keys of its interface to ``b``. Without ``neighbours`` the router has to ask for
        those that it has; ``nobody`` are further ones at its right that are not there.
        """
        limit = {} if rate is None else {"rate": rate}
        queue = {**limit, "discipline": discipline, **(right or {})}
        ends = ((1, self.left, {}, {}), (2, self.right, nobody or {}, queue))
        return toml.dumps(
            {
                "weir": 1,
                "router": {"name": self.name, **more},
                "interface": [
                    {
                        "name": end.interface,
                        "addresses": [f"10.79.{number}.1/24"],
                        "neighbours": away | ({f"10.79.{number}.2": end.other_mac} if neighbours else {}),
                        **keys,
                    }
                    for number, end, away, keys in ends
                ],
                "class": [{"name": name, **rule} for name, rule in (classes or {}).items()],
            }
        )

    def write(self, text: str, name: str = "router.toml") -> Path:
        """Write a configuration, and return its file."""
        path = self.folder / name
        path.write_text(text)
        return path

    def start(self, *options: str, priority: str = "40", **keys: Any) -> subprocess.Popen[bytes]:
        """Start the router, and return when it is ready; without a priority, where that is empty."""
        path = self.write(self.configuration(**keys))
        errors = (self.folder / "router.err").open("ab")
        command = [str(self.weird), "route", str(path), *options]
        if priority:
            command += ["--priority", priority]
        self.router = self.site.start(
            "r", command, stdin=subprocess.DEVNULL, stderr=errors, preexec_fn=self.kernel
        )
        errors.close()
        deadline = time.monotonic() + _READY
        while not self.ready():
            assert self.router.poll() is None, self.messages()
            assert time.monotonic() < deadline, self.messages()
            time.sleep(0.01)
        self._heard(f"running as process {self.router.pid}")
        return self.router

    def _heard(self, text: str) -> None:
        """Return when the router has said this, or does not in a second: it has a thread to write it."""
        deadline = time.monotonic() + 1
        while text not in self.messages() and time.monotonic() < deadline:
            time.sleep(0.005)

    def ready(self) -> bool:
        """Return whether the daemon that was started last answers, and both its lines are up.

        The kernel says so of a new interface within a second.
        """
        status = program.ask(self.weird, self.name, "status")
        if status is None or self.router is None or status["process"] != self.router.pid:
            return False
        return all(each["up"] for each in status["interfaces"])

    def memory(self) -> tuple[int, int]:
        """Return the memory of the router now, and the most that it ever had, in bytes."""
        assert self.router is not None
        status = Path(f"/proc/{self.router.pid}/status").read_text()
        fields = dict(line.split(":", 1) for line in status.splitlines())
        now, most = (int(fields[name].split()[0]) << 10 for name in ("VmRSS", "VmHWM"))
        return now, most

    def messages(self) -> str:
        """Return what the router has said."""
        return (self.folder / "router.err").read_text()

    def ctl(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run ``weird ctl`` on the router."""
        command = [self.weird, "ctl", self.name, *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)

    def stats(self) -> dict[str, dict[str, Any]]:
        """Return what each interface of the router has counted, by name."""
        told = json.loads(self.ctl("stats", "--json").stdout)
        return {each["name"]: each for each in told["interfaces"]}

    def balance(self) -> dict[str, int]:
        """Return what came in at the left, and what became of it."""
        stats = self.stats()
        left, right = stats[self.left.interface], stats[self.right.interface]
        classes = right["classes"]
        return {
            "received": left["received"]["packets"],
            "forwarded": right["forwarded"]["packets"],
            "to_router": left["to_router"]["packets"],
            "refused": sum(each["packets"] for each in left["refused"].values()),
            "dropped": sum(lost["packets"] for each in classes for lost in each["dropped"].values()),
            "waiting": sum(each["waiting"]["packets"] for each in classes),
            "missed": sum(left["kernel"].values()) + sum(right["kernel"].values()),
        }

    def set_link(self, node: str, interface: str, **what: object) -> None:
        """Change an interface of a node, as ``ip link set`` does."""
        netlink = self.site.netlink(node)
        netlink.link("set", index=netlink.link_lookup(ifname=interface)[0], **what)

    def idle(self) -> None:
        """Return when nothing waits any more."""
        deadline = time.monotonic() + _READY
        while self.balance()["waiting"]:
            assert time.monotonic() < deadline, self.balance()
            time.sleep(0.02)

    def _socket(self, node: str) -> socket.socket:
        made = self.site.socket(node, socket.AF_INET, socket.SOCK_DGRAM)
        self._sockets.append(made)
        return made

    def sender(self) -> socket.socket:
        """Return a socket at ``a``."""
        made = self._socket("a")
        made.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 22)
        return made

    def receiver(self, port: int = _PORT) -> socket.socket:
        """Return a socket at ``b`` with much room, which stamps what comes in."""
        made = self._socket("b")
        made.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, 1 << 26)
        made.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        made.bind(("10.79.2.2", port))
        made.setblocking(False)
        return made

    def raw(self, node: str, end: End) -> socket.socket:
        """Return a socket at an interface that sends and receives whole frames."""
        made = self.site.socket(node, socket.AF_PACKET, socket.SOCK_RAW)
        self._sockets.append(made)
        made.setblocking(False)
        made.bind((end.interface, _ALL))
        return made

    @staticmethod
    def send(made: socket.socket, number: int, size: int, port: int = _PORT) -> None:
        """Send a packet of so many bytes of IP, with its number."""
        made.sendto(struct.pack("!I", number).ljust(size - _HEADERS, b"\0"), ("10.79.2.2", port))


def drain(made: socket.socket) -> list[tuple[int, int, float]]:
    """Return what has come in: port it came from, number, and time in seconds."""
    found = []
    while True:
        try:
            data, extra, _, peer = made.recvmsg(2048, 64)
        except BlockingIOError:
            return found
        seconds, nanoseconds = struct.unpack("qq", extra[0][2][:16])
        found.append((peer[1], struct.unpack("!I", data[:4])[0], seconds + nanoseconds / 1e9))


def wall_clock() -> float:
    """Return how far the clock that is set is ahead of the one that never is, in seconds."""
    return time.clock_gettime(time.CLOCK_REALTIME) - time.clock_gettime(time.CLOCK_MONOTONIC)


def wait_for(made: socket.socket, seconds: float) -> bool:
    """Return whether something comes in within a time."""
    with selectors.DefaultSelector() as selector:
        selector.register(made, selectors.EVENT_READ)
        return bool(selector.select(seconds))
