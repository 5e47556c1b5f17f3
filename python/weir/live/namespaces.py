"""Network namespaces with wires between them: made, and taken down, even after a crash.

A `Site` makes namespaces and pairs of virtual Ethernet interfaces. Before it makes a namespace it writes
its name to a journal, a file in ``/run/weir/testbed``; whatever happens afterwards, `clean` finds there
what is left. Names begin with ``weir-`` and the number of the process that made them, and nothing else is
ever touched: a namespace that was there before is not used, a journal whose process lives is left alone.

Processes that were started in a namespace are ended before it is removed. With a namespace go its
interfaces, addresses and routes. Folders below ``/run/weir`` that the site made are removed with it. Next to
the process a guard waits for its end: a small process that cleans where the other could not, as after ``kill
-9``.

Units: none. Source: Linux, network_namespaces(7), veth(4).
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import socket
import struct
import sys
import time
from array import array
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fcntl import ioctl
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Interface, IPv6Network
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen, TimeoutExpired
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from weir.errors import UnsupportedError
from weir.extras import need
from weir.files import write_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["JOURNALS", "RUN", "End", "Left", "Site", "clean", "guard", "left_behind", "why_not"]

Address: TypeAlias = IPv4Address | IPv6Address
AddressIn: TypeAlias = IPv4Interface | IPv6Interface
Prefix: TypeAlias = IPv4Network | IPv6Network

RUN = Path("/run/weir")
"""Where daemons have their folders, one a router."""
JOURNALS = RUN / "testbed"
"""Where the journals are, and folders of sites."""
_GUARD = "import sys, pyroute2; from weir.live.namespaces import guard; guard(int(sys.argv[1]))"
_NAMES = Path("/run/netns")
_PREFIX = "weir-"
_PERMANENT = 0x80
_NET_ADMIN, _SYS_ADMIN = 12, 21
_SIOCETHTOOL = 0x8946
_GRO = 0x2C
_TX_CHECKSUMS = 0x17
_OFFLOADS = (_TX_CHECKSUMS, 0x1F, 0x24, _GRO)
"""ETHTOOL_STXCSUM, ETHTOOL_STSO, ETHTOOL_SGSO, ETHTOOL_SGRO."""
_GRACE = 5.0
"""Seconds that processes are given to end by themselves."""


def why_not() -> str | None:
    """Return why no namespaces can be made here, or None where they can."""
    with suppress(OSError, StopIteration, ValueError):
        status = Path("/proc/self/status").read_text(encoding="ascii")
        line = next(line for line in status.splitlines() if line.startswith("CapEff:"))
        capabilities = int(line.split()[1], 16)
        for bit, name in ((_NET_ADMIN, "CAP_NET_ADMIN"), (_SYS_ADMIN, "CAP_SYS_ADMIN")):
            if not capabilities & 1 << bit:
                return f"network namespaces need {name}, which this process has not"
        return None
    return "network namespaces are a feature of Linux"


@dataclass(frozen=True, slots=True)
class End:
    """One end of a wire: an interface in a namespace."""

    node: str
    """The node, as it was named to the site."""
    namespace: str
    """The namespace, as the kernel has it."""
    interface: str
    mac: str
    other_mac: str
    """The address of the interface at the other end."""


@dataclass(frozen=True, slots=True)
class Left:
    """What a site of a process that is gone has left behind."""

    journal: Path
    namespaces: tuple[str, ...]
    folders: tuple[Path, ...] = ()


class Site:
    """Namespaces and wires, in a ``with`` block: at its end all of it is gone.

    Parameters
    ----------
    name : str
        What it is for, as it stands in the names of the namespaces; letters and digits.

    Raises
    ------
    UnsupportedError
        On entering, if namespaces cannot be made here.
    """

    def __init__(self, name: str) -> None:
        self._prefix = f"{_PREFIX}{os.getpid()}-{name}-"
        self._journal = JOURNALS / f"{os.getpid()}-{name}.json"
        self._namespaces: dict[str, str] = {}
        self._folders: list[Path] = []
        self._guard: Popen[bytes] | None = None
        self._wires = 0
        self._started: list[Popen[bytes]] = []
        self._sockets: dict[str, Any] = {}

    def __enter__(self) -> Self:
        if reason := why_not():
            raise UnsupportedError(reason, "run as root, on Linux, outside a container without privileges")
        clean()
        self._guard = Popen(  # noqa: S603 - its own program
            [sys.executable, "-c", _GUARD, str(os.getpid())],
            stdin=DEVNULL,
            start_new_session=True,
            env={**os.environ, **_path()},
        )
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        for route in self._sockets.values():
            route.close()
        _remove(self._namespaces.values(), self._folders)
        self._journal.unlink(missing_ok=True)
        if self._guard is not None:
            self._guard.kill()
            self._guard.wait()

    def folder(self) -> Path:
        """Make a folder for files of this site, and return it."""
        path = self._journal.with_suffix("")
        self._folders.append(path)
        self._write_journal()
        path.mkdir(parents=True)
        return path

    def name(self, number: int) -> str:
        """Return a name for the ``number``-th router of this site, whose folder is removed with it."""
        name = self._prefix.replace(_PREFIX, "t", 1) + str(number)
        self._folders.append(RUN / name)
        self._write_journal()
        return name

    def node(self, name: str, *, six: bool = True) -> str:
        """Make a namespace for a node, with its loopback up, and return its name in the kernel.

        Without IPv6 (``six=False``) its kernel sends nothing of its own.
        """
        from pyroute2 import NetNS, netns

        namespace = f"{self._prefix}{len(self._namespaces)}"
        if (_NAMES / namespace).exists():
            message = f"the namespace {namespace} exists already, and does not belong to this run"
            raise UnsupportedError(
                message, f"remove it with `ip netns delete {namespace}` if nobody needs it"
            )
        self._namespaces[name] = namespace
        self._write_journal()
        netns.create(namespace)
        route = self._sockets[name] = NetNS(namespace)
        route.link("set", index=1, state="up")
        for setting in ("all", "default"):
            self._set(name, f"ipv6/conf/{setting}/disable_ipv6", str(int(not six)))
            self._set(name, f"ipv6/conf/{setting}/accept_dad", "0")
            self._set(name, f"ipv6/conf/{setting}/accept_ra", "0")
        return namespace

    def wire(self, one: str, other: str, *, queues: int = 1) -> tuple[End, End]:
        """Join two nodes, and return the ends; both are up, and leave no checksum to the device.

        Each end has the given number of queues, each way.
        """
        number, self._wires = self._wires, self._wires + 1
        ends = []
        macs = [f"02:77:{number >> 8:02x}:{number & 255:02x}:00:{side:02x}" for side in (1, 2)]
        names = [f"w{number}{side}" for side in "ab"]
        here, there = self._sockets[one], self._sockets[other]
        both = {"num_tx_queues": queues, "num_rx_queues": queues}
        far = {"ifname": names[1], "net_ns_fd": self._namespaces[other], "address": macs[1], **both}
        here.link("add", ifname=names[0], kind="veth", address=macs[0], peer=far, **both)
        for node, route, name, mac, other_mac in (
            (one, here, names[0], macs[0], macs[1]),
            (other, there, names[1], macs[1], macs[0]),
        ):
            self._no_offloads(node, name)
            route.link("set", index=self._index(node, name), state="up")
            ends.append(End(node, self._namespaces[node], name, mac, other_mac))
        return ends[0], ends[1]

    def take_frames(self, end: End) -> None:
        """Let an interface take frames that a program at the other end of its wire sends.

        A veth does so where it polls, which it does while it may put received packets together.
        """
        self._offload(end.node, end.interface, _GRO, 1)

    def leave_checksums(self, end: End) -> None:
        """Let an interface leave checksums to a device, as a veth does by default."""
        self._offload(end.node, end.interface, _TX_CHECKSUMS, 1)

    def address(self, end: End, address: AddressIn) -> None:
        """Give the interface of a host an address in the kernel."""
        place = self._index(end.node, end.interface)
        self._sockets[end.node].addr(
            "add", index=place, address=str(address.ip), prefixlen=address.network.prefixlen
        )

    def route(self, end: End, to: Prefix, via: Address) -> None:
        """Send what a host has for a prefix to the router at the other end of its wire."""
        route = self._sockets[end.node]
        place = self._index(end.node, end.interface)
        route.neigh("replace", dst=str(via), lladdr=end.other_mac, ifindex=place, state=_PERMANENT)
        on_link = 4
        route.route("add", dst=str(to), gateway=str(via), oif=place, flags=on_link)

    def remove(self, node: str) -> None:
        """Remove a node, and return when its namespace is gone, and with it the wires that end there.

        Sockets that `socket` has returned keep a namespace: close them before.
        """
        namespace = self._namespaces.pop(node)
        self._sockets.pop(node).close()
        _remove([namespace], [])
        self._write_journal()

    def start(self, node: str, command: Sequence[str], **more: Any) -> Popen[bytes]:  # noqa: ANN401 - as Popen has it
        """Start a process in the namespace of a node; it ends with the site at the latest."""
        within = ["nsenter", f"--net={_NAMES / self._namespaces[node]}", "--", *command]
        process = Popen(within, **{"stdin": PIPE, **more})  # noqa: S603 - its own program
        self._started.append(process)
        return process

    def stop(self) -> None:
        """End all processes: asked first, then forced."""
        for process in self._started:
            if process.poll() is None:
                process.terminate()
        deadline = time.monotonic() + _GRACE
        for process in self._started:
            with suppress(TimeoutExpired):
                process.wait(max(0.0, deadline - time.monotonic()))
            if process.poll() is None:
                process.kill()
                process.wait()
            for pipe in (process.stdin, process.stdout, process.stderr):
                if pipe is not None:
                    with suppress(BrokenPipeError):
                        pipe.close()
        self._started.clear()

    def socket(self, node: str, *kind: int) -> socket.socket:
        """Return a socket in the namespace of a node, of the kind that `socket.socket` is given."""
        with self._inside(node):
            return socket.socket(*kind)

    def netlink(self, node: str) -> Any:  # noqa: ANN401 - pyroute2 has no types
        """Return the netlink socket of a node, of pyroute2."""
        return self._sockets[node]

    def _index(self, node: str, interface: str) -> int:
        found: int = self._sockets[node].link_lookup(ifname=interface)[0]
        return found

    def _no_offloads(self, node: str, interface: str) -> None:
        """Let it send whole checksums and no aggregates, so that a router gets packets as on a line."""
        for offload in _OFFLOADS:
            self._offload(node, interface, offload, 0)

    def _offload(self, node: str, interface: str, offload: int, on: int) -> None:
        with self._inside(node), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
            value = array("I", [offload, on])
            address, _ = value.buffer_info()
            ioctl(asked, _SIOCETHTOOL, struct.pack("16sP16x", interface.encode(), address))

    def _set(self, node: str, setting: str, value: str) -> None:
        """Set what a kernel may lack, as one without IPv6 does."""
        with self._inside(node), suppress(FileNotFoundError):
            Path("/proc/sys/net", setting).write_text(value, encoding="ascii")

    @contextmanager
    def _inside(self, node: str) -> Iterator[None]:
        """Let this thread be in the namespace of a node."""
        from pyroute2 import netns

        netns.pushns(self._namespaces[node])
        try:
            yield
        finally:
            netns.popns()

    def _write_journal(self) -> None:
        JOURNALS.mkdir(parents=True, exist_ok=True)
        content = {
            "process": os.getpid(),
            "began": _began(os.getpid()),
            "namespaces": [*self._namespaces.values()],
            "folders": [str(path) for path in self._folders],
        }
        write_text(self._journal, json.dumps(content))


def left_behind() -> list[Left]:
    """Return what sites have left behind whose process is gone."""
    found = []
    for journal in sorted(JOURNALS.glob("*.json")):
        try:
            content = json.loads(journal.read_text(encoding="utf-8"))
            process, began, names = content["process"], content["began"], content["namespaces"]
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if _began(process) != began:
            folders = tuple(map(Path, content.get("folders", ())))
            kept = tuple(name for name in names if str(name).startswith(_PREFIX))
            found.append(Left(journal, kept, tuple(path for path in folders if RUN in path.parents)))
    return found


def clean() -> list[Left]:
    """Take down what was left behind, and return it."""
    left = left_behind()
    for each in left:
        _remove(each.namespaces, each.folders)
        each.journal.unlink(missing_ok=True)
    return left


def guard(process: int) -> None:
    """Wait until a process has ended, and take down what it left behind.

    What it held open is closed a moment before it has ended, and its children may hold it longer: only the
    process itself tells.
    """
    with suppress(ProcessLookupError):
        select.select([os.pidfd_open(process)], [], [])
    clean()


def _path() -> dict[str, str]:
    """Return the environment in which another Python finds this package."""
    return {"PYTHONPATH": os.pathsep.join(part for part in sys.path if part)}


def _remove(namespaces: Iterable[str], folders: Iterable[Path]) -> None:
    need("live", "the removal of a namespace")
    from pyroute2 import netns

    for namespace in namespaces:
        if not (_NAMES / namespace).exists():
            continue
        for process in _within(namespace):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        with suppress(OSError):
            netns.remove(namespace)
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def _within(namespace: str) -> Iterator[int]:
    """Yield the processes of a namespace."""
    wanted = (_NAMES / namespace).stat().st_ino
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            with suppress(OSError):
                if (folder / "ns" / "net").stat().st_ino == wanted:
                    yield int(folder.name)


def _began(process: int) -> str | None:
    """Return when a process began, in ticks since the machine did, or None if it has ended."""
    with suppress(OSError):
        text = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace")
        fields = text.rpartition(")")[2].split()
        return None if fields[0] in {"Z", "X"} else fields[19]
    return None
