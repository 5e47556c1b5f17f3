"""A router on trunks: hosts that speak in VLANs by themselves, as no kernel module has to be there for it."""

import socket
import struct
import threading
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from live_bed import Bed
from weir import toml
from weir.live.namespaces import End

CUSTOMER, SERVICE = 0x8100, 0x88A8
_ARP, _IPV4 = 0x0806, 0x0800
_SOL_PACKET, _AUXDATA, _IGNORE_OUTGOING = 263, 8, 23
_VLAN_VALID, _TPID_VALID = 1 << 4, 1 << 6
_ALL = 3

Tags = tuple[tuple[int, int], ...]
"""Type and VLAN of each tag, the outer one first."""

PLAIN: Tags = ()
ONE: Tags = ((CUSTOMER, 100),)
TWO: Tags = ((SERVICE, 200), (CUSTOMER, 7))


@dataclass(frozen=True, slots=True)
class Heard:
    """A packet of IPv4 that a host has received."""

    tags: Tags
    priorities: tuple[int, ...]
    """The priority code point of each tag."""
    source: str
    tos: int
    ttl: int
    protocol: int
    payload: bytes
    """What is behind the IP header."""
    size: int


class TaggedHost:
    """A host of several VLANs at one interface: it answers ARP, and keeps what it receives.

    ``addresses`` has the address of each VLAN that it is in.
    """

    def __init__(self, bed: Bed, end: End, addresses: dict[Tags, str], mac: str | None = None) -> None:
        self.addresses = addresses
        self.heard: list[Heard] = []
        self._mac = _octets(mac or end.mac)
        self._router = _octets(end.other_mac)
        self._socket = bed.site.socket(end.node, socket.AF_PACKET, socket.SOCK_RAW)
        self._socket.setsockopt(_SOL_PACKET, _AUXDATA, 1)
        self._socket.setsockopt(_SOL_PACKET, _IGNORE_OUTGOING, 1)
        self._socket.bind((end.interface, _ALL))
        self._socket.settimeout(0.05)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def close(self) -> None:
        """End it."""
        self._ended.set()
        self._thread.join()
        self._socket.close()

    def _run(self) -> None:
        while not self._ended.is_set():
            try:
                data, extra, _, _ = self._socket.recvmsg(4096, 64)
            except (TimeoutError, OSError):
                continue
            self._take(_with_tag(data, extra))

    def _take(self, frame: bytes) -> None:
        tags, priorities, at = [], [], 12
        while (kind := int.from_bytes(frame[at : at + 2])) in (CUSTOMER, SERVICE):
            control = int.from_bytes(frame[at + 2 : at + 4])
            tags.append((kind, control & 0xFFF))
            priorities.append(control >> 13)
            at += 4
        packet = frame[at + 2 :]
        if kind == _ARP:
            self._answer(tuple(tags), packet)
        elif kind == _IPV4 and frame[:6] == self._mac:
            size = int.from_bytes(packet[2:4])
            head = 4 * (packet[0] & 15)
            source = socket.inet_ntoa(packet[12:16])
            heard = (packet[1], packet[8], packet[9], packet[head:size], size)
            self.heard.append(Heard(tuple(tags), tuple(priorities), source, *heard))

    def _answer(self, tags: Tags, arp: bytes) -> None:
        own = self.addresses.get(tags)
        if own is None or arp[6:8] != b"\0\1" or arp[24:28] != socket.inet_aton(own):
            return
        said = arp[:6] + b"\0\2" + self._mac + arp[24:28] + arp[8:18]
        self._socket.send(arp[8:14] + self._mac + _written(tags, 0) + struct.pack("!H", _ARP) + said)

    def send(
        self,
        tags: Tags,
        to: str,
        payload: bytes = b"",
        *,
        priority: int = 0,
        tos: int = 0,
        ttl: int = 64,
        fragment: int = 0x4000,
    ) -> None:
        """Send a datagram to port 5001 by the router, in a VLAN."""
        ends = socket.inet_aton(self.addresses.get(tags, "10.79.9.9")) + socket.inet_aton(to)
        size = 28 + len(payload)
        head = struct.pack("!BBHHHBB", 0x45, tos, size, 1, fragment, ttl, 17)
        total = sum(struct.unpack("!10H", head + b"\0\0" + ends))
        total = (total & 0xFFFF) + (total >> 16)
        head += struct.pack("!H", ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF) + ends
        udp = struct.pack("!HHHH", 5000, 5001, size - 20, 0) + payload
        frame = self._router + self._mac + _written(tags, priority) + struct.pack("!H", _IPV4) + head + udp
        self._socket.send(frame)

    def hears(self, payload: bytes, seconds: float = 10.0) -> Heard:
        """Return the packet with this in it, once it is there."""
        deadline = time.monotonic() + seconds
        while True:
            for heard in self.heard:
                if payload in heard.payload:
                    return heard
            assert time.monotonic() < deadline, (payload, self.heard[-5:])
            time.sleep(0.005)


def _octets(mac: str) -> bytes:
    return bytes.fromhex(mac.replace(":", ""))


def _written(tags: Tags, priority: int) -> bytes:
    return b"".join(struct.pack("!HH", kind, vlan | priority << 13) for kind, vlan in tags)


def _with_tag(frame: bytes, extra: list[tuple[int, int, bytes]]) -> bytes:
    """Put back the tag that the kernel took off."""
    for level, kind, data in extra:
        if (level, kind) == (_SOL_PACKET, _AUXDATA):
            status, _, _, _, _, control, type_ = struct.unpack("IIIHHHH", data[:20])
            if status & _VLAN_VALID:
                type_ = type_ if status & _TPID_VALID else CUSTOMER
                return frame[:12] + struct.pack("!HH", type_, control) + frame[12:]
    return frame


class VlanBed(Bed):
    """The bed with VLANs at both interfaces of the router, next to frames without a tag.

    ``one`` and ``two`` of ``a`` are VLAN 100, and VLAN 7 within 200; ``far`` of ``b`` is VLAN 100 there.
    """

    def __init__(self, folder: Path, *, queues: int = 1) -> None:
        super().__init__(folder, queues=queues)
        self._hosts: list[TaggedHost] = []

    def __exit__(self, *error: object) -> None:
        for host in self._hosts:
            host.close()
        super().__exit__(*error)

    def hosts(self) -> tuple[TaggedHost, TaggedHost]:
        """Return hosts of these VLANs at ``a`` and at ``b``."""
        near = TaggedHost(self, self.a, {PLAIN: "10.79.1.2", ONE: "10.79.100.2", TWO: "10.79.107.2"})
        far = TaggedHost(self, self.b, {PLAIN: "10.79.2.2", ONE: "10.79.200.2"})
        # The kernels answer for the addresses that they have, without a tag.
        self._hosts += [near, far]
        return near, far

    def vlans(self, **far: Any) -> list[dict[str, Any]]:
        """Return the tables of the VLANs; ``far`` are keys of the one at ``b``."""
        left, right = self.left.interface, self.right.interface
        one = {"name": "one", "device": left, "vlan": 100, "addresses": ["10.79.100.1/24"]}
        two = {"name": "two", "device": left, "vlan": 7, "outer": 200, "addresses": ["10.79.107.1/24"]}
        end = {"name": "far", "device": right, "vlan": 100, "addresses": ["10.79.200.1/24"], **far}
        return [one, two, end]

    def configuration(self, *, vlans: list[dict[str, Any]] | None = None, **keys: Any) -> str:
        document = tomllib.loads(super().configuration(**keys))
        document["interface"] += self.vlans() if vlans is None else vlans
        return toml.dumps(document)

    def adds_up(self) -> None:
        """Check that what came in is all accounted for."""
        stats = self.stats().values()
        sums = {key: sum(each[key]["packets"] for each in stats) for key in _COUNTS}
        refused = sum(count["packets"] for each in stats for count in each["refused"].values())
        classes = [one for each in stats for one in each["classes"]]
        dropped = sum(count["packets"] for one in classes for count in one["dropped"].values())
        waiting = sum(one["waiting"]["packets"] for one in classes)
        came = sums["received"] + sums["fragments"]
        gone = sums["fragmented"] + sums["forwarded"] + sums["to_router"] + refused + dropped + waiting
        assert came == gone, (sums, refused, dropped, waiting)


_COUNTS = {"received", "to_router", "forwarded", "fragmented", "fragments"}
