"""A client, a server whose requests are steered, and the plain sockets by which a test sends and hears."""

import json
import os
import signal
import socket
import struct
import subprocess
import time
from ipaddress import IPv4Interface
from pathlib import Path
from typing import Any, Self

from weir import toml
from weir.live import program
from weir.live.namespaces import Site

PORT = 9000
_SO_RCVBUFFORCE = 33
_READY = 15.0
_REQUEST = struct.Struct(">IIQHH")
_CLIENT, _SERVER = "10.78.0.1", "10.78.0.2"
LONG = 10
"""The least field of a long request."""


class SteerBed:
    """A client ``c`` and a server ``s``, whose interface is steered: what is started ends with the block.

    With ``generic`` that interface is one whose driver runs no programs, on top of the server's end.
    """

    def __init__(self, folder: Path, *, generic: bool = False) -> None:
        self.folder = folder
        self.generic = generic
        self.weird = program.find()
        self.site = Site("steer")
        self.daemon: subprocess.Popen[bytes] | None = None
        self._sockets: list[socket.socket] = []

    def __enter__(self) -> Self:
        self.site.__enter__()
        try:
            self._build()
        except BaseException:
            self.site.__exit__()
            raise
        self.name = self.site.name(0)
        return self

    def __exit__(self, *error: object) -> None:
        for each in self._sockets:
            each.close()
        self.site.__exit__(*error)

    def _build(self) -> None:
        for name in "cs":
            self.site.node(name, six=False)
        self.client, self.server = self.site.wire("c", "s")
        self.site.address(self.client, IPv4Interface(f"{_CLIENT}/24"))
        if self.generic:
            self.interface = self._without_driver()
        else:
            self.interface = self.server.interface
            self.site.address(self.server, IPv4Interface(f"{_SERVER}/24"))

    def _without_driver(self) -> str:
        """Give the server's address to an interface whose driver runs no programs; return its name."""
        name = "macvlan0"
        server, client = self.site.netlink("s"), self.site.netlink("c")
        below = server.link_lookup(ifname=self.server.interface)[0]
        server.link("add", ifname=name, kind="macvlan", link=below, macvlan_mode="bridge")
        place = server.link_lookup(ifname=name)[0]
        server.addr("add", index=place, address=_SERVER, prefixlen=24)
        server.link("set", index=place, state="up")
        mac = server.link("get", index=place)[0].get_attr("IFLA_ADDRESS")
        # The interface below would answer for it as well.
        wire = client.link_lookup(ifname=self.client.interface)[0]
        client.neigh("add", dst=_SERVER, lladdr=mac, ifindex=wire, state="permanent")
        return name

    def configuration(self, **keys: Any) -> str:
        """Return a configuration; ``keys`` are of its ``[steer]`` table, None leaves one out."""
        steer = {
            "name": self.name,
            "interface": self.interface,
            "ports": [PORT],
            "processors": f"0-{os.cpu_count() - 1}",
            **keys,
        }
        steer = {name: value for name, value in steer.items() if value is not None}
        # The payload of requests that are not all UDP makes no classes.
        long = {"byte": 3, "at_least": LONG} if "ports" in steer else {"dscp": [46]}
        return toml.dumps({"weir": 1, "steer": steer, "classes": {"long": long}})

    def run(self, text: str, name: str = "steer.toml") -> subprocess.Popen[bytes]:
        """Start a daemon with a configuration."""
        path = self.folder / name
        path.write_text(text)
        with (self.folder / f"{name}.err").open("ab") as errors:
            command = [str(self.weird), "steer", str(path)]
            return self.site.start("s", command, stdin=subprocess.DEVNULL, stderr=errors)

    def start(self, **keys: Any) -> subprocess.Popen[bytes]:
        """Start the daemon, and return when it steers."""
        self.daemon = self.run(self.configuration(**keys))
        deadline = time.monotonic() + _READY
        while not self.ready():
            assert self.daemon.poll() is None, self.messages()
            assert time.monotonic() < deadline, self.messages()
            time.sleep(0.02)
        return self.daemon

    def ready(self) -> bool:
        """Return whether the daemon answers and its queues have their threads."""
        status = program.ask(self.weird, self.name, "status")
        if status is None or self.daemon is None or status["process"] != self.daemon.pid:
            return False
        return all(each["thread"] is not None for each in status["processors"])

    def kill(self) -> None:
        """End the daemon at once."""
        assert self.daemon is not None
        self.daemon.send_signal(signal.SIGKILL)
        self.daemon.wait(timeout=_READY)

    def messages(self, name: str = "steer.toml") -> str:
        """Return what a daemon has said."""
        return (self.folder / f"{name}.err").read_text()

    def ctl(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run ``weird ctl`` on the daemon."""
        command = [self.weird, "ctl", self.name, *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)

    def stats(self) -> dict[str, Any]:
        """Return what was counted."""
        told: dict[str, Any] = json.loads(self.ctl("stats", "--json").stdout)
        return told

    def steered(self) -> dict[int, int]:
        """Return how many requests went to each processor."""
        return {each["processor"]: each["steered"] for each in self.stats()["processors"]}

    def settled(self) -> dict[str, Any]:
        """Return what was counted once nothing waits any more."""
        deadline = time.monotonic() + _READY
        while True:
            told = self.stats()
            if not any(each["waiting"] for each in told["processors"]):
                return told
            assert time.monotonic() < deadline, told
            time.sleep(0.02)

    def _socket(self, node: str) -> socket.socket:
        made = self.site.socket(node, socket.AF_INET, socket.SOCK_DGRAM)
        self._sockets.append(made)
        return made

    def receiver(self) -> socket.socket:
        """Return a socket at the server with much room."""
        made = self._socket("s")
        made.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, 1 << 26)
        made.bind((_SERVER, PORT))
        made.setblocking(False)
        return made

    def sender(self) -> socket.socket:
        """Return a socket at the client: a flow."""
        return self._socket("c")


def send(sender: socket.socket, numbers: range, field: int = 1, rate: float = 20_000) -> None:
    """Send requests with these numbers at a rate per second, in small bursts."""
    began = time.monotonic()
    for sent, number in enumerate(numbers):
        sender.sendto(_REQUEST.pack(field, number, 0, 0, int(field >= LONG)), (_SERVER, PORT))
        if sent % 32 == 31:
            time.sleep(max(0.0, began + sent / rate - time.monotonic()))


def drain(receiver: socket.socket, seconds: float = 1.0, count: int | None = None) -> list[tuple[int, int]]:
    """Return port and number of what comes in, until there are so many or nothing has come for so long."""
    arrivals: list[tuple[int, int]] = []
    last = time.monotonic()
    while len(arrivals) != count and time.monotonic() - last < seconds:
        try:
            data, (_, port) = receiver.recvfrom(2048)
        except BlockingIOError:
            time.sleep(0.005)
            continue
        arrivals.append((port, _REQUEST.unpack_from(data)[1]))
        last = time.monotonic()
    return arrivals
