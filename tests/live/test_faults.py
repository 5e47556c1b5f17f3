"""What a router withstands: floods, frames that cannot be, want of memory, a neighbour that vanishes.

The flood takes five seconds, in which as many flows come as the machine can send; ``WEIR_FLOOD=30`` in the
environment makes it half a minute. ``--log-cli-level=INFO`` tells what it came to.
"""

import json
import logging
import os
import socket
import struct
import subprocess
import time
from collections.abc import Callable

import pytest

from live_bed import Bed, drain, wait_for
from weir.live.namespaces import RUN

_SECONDS = int(os.environ.get("WEIR_FLOOD", "5"))
_FLOWS = 10_000_000
_EVERY = 8
_QUEUES = 256
_STEADY = {"steady": {"from": ["10.79.1.0/24"]}}
_FIXED = 24 << 20
"""What a daemon has beside the memory of its frames: program, queues, tables, rings."""
_SCAN = 4.0
"""Seconds, by which the frames of a router would be gone if each silent address kept sixty."""
_FRAMES = 250
"""More frames than a memory of 1 MiB has."""


def _flood(bed: Bed) -> subprocess.Popen[bytes]:
    command = [str(bed.weird), "bench-flood", bed.a.interface, "--router", bed.a.other_mac]
    ends = ["--from", "10.79.1.2", "--to", "10.79.2.2", "--every", str(_EVERY)]
    more = ["--seconds", str(_SECONDS), "--flows", str(_FLOWS)]
    return bed.site.start("a", [*command, *ends, *more], stdout=subprocess.PIPE)


def _forwarded(bed: Bed) -> tuple[int, int]:
    """Return how many packets of the flow that stays were forwarded, and how many of all."""
    right = bed.stats()[bed.right.interface]
    steady = next(each for each in right["classes"] if each["name"] == "steady")
    return steady["forwarded"]["packets"], right["forwarded"]["packets"]


@pytest.mark.parametrize(
    "discipline", [f"sfq:queues={_QUEUES},depth=32pkt", "drr:quantum=100B,depth=32pkt"], ids=["sfq", "drr"]
)
def test_a_flood_of_new_flows_takes_no_memory_and_no_share(bed: Bed, discipline: str) -> None:
    bed.start(rate="5Mbit", discipline=discipline, flow_buckets=_QUEUES, classes=_STEADY)
    before, _ = bed.memory()
    flood = _flood(bed)
    deadline = time.monotonic() + 10
    while bed.balance()["dropped"] < 40 * _QUEUES:  # until all queues are full
        assert time.monotonic() < deadline, bed.balance()
    one = _forwarded(bed)
    while flood.poll() is None and _forwarded(bed)[1] - one[1] < (_SECONDS - 2) * 10_000:
        time.sleep(0.05)
    other = _forwarded(bed)
    steady, everything = (late - early for early, late in zip(one, other, strict=True))
    assert steady >= 0.9 * everything / _QUEUES, (steady, everything)
    sent = json.loads(flood.communicate()[0])
    bed.idle()
    balance, (_, most) = bed.balance(), bed.memory()
    assert balance["received"] + balance["missed"] == sent["frames"], (balance, sent)
    assert balance["received"] == sum(
        balance[key] for key in ("forwarded", "refused", "dropped", "to_router")
    )
    assert most <= (64 << 20) + _FIXED
    assert most - before <= 1 << 20, "it grew with the flows"
    share = steady * _QUEUES / everything
    logging.getLogger(__name__).info("%s: share %.3f, %d B, %s, %s", discipline, share, most, sent, balance)


def _ethernet(bed: Bed, ethertype: int, payload: bytes, to: str | None = None) -> bytes:
    macs = (to or bed.a.other_mac, bed.a.mac)
    return (
        b"".join(bytes.fromhex(each.replace(":", "")) for each in macs)
        + struct.pack("!H", ethertype)
        + payload
    )


def _packet(
    source: str = "10.79.1.2",
    to: str = "10.79.2.2",
    *,
    ttl: int = 64,
    size: int = 100,
    fragment: int = 0,
    broken: int = 0,
) -> bytes:
    """Return an IPv4 packet of UDP; ``broken`` is added to its header checksum."""
    ends = socket.inet_aton(source) + socket.inet_aton(to)
    head = struct.pack("!BBHHHBB", 0x45, 0, size, 1, fragment, ttl, 17)
    total = sum(struct.unpack("!10H", head + b"\0\0" + ends))
    total = (total & 0xFFFF) + (total >> 16)
    checksum = (~((total & 0xFFFF) + (total >> 16)) + broken) & 0xFFFF
    udp = struct.pack("!HHHHI", 5000, 5001, max(8, size - 20), 0, 0)
    return (head + struct.pack("!H", checksum) + ends + udp).ljust(size, b"\0")[:size]


_ODD: dict[str, tuple[str, Callable[[Bed], bytes]]] = {
    "a checksum that is wrong": ("malformed", lambda bed: _ethernet(bed, 0x0800, _packet(broken=1))),
    "shorter than it says": ("malformed", lambda bed: _ethernet(bed, 0x0800, _packet(size=600)[:90])),
    "another version": ("malformed", lambda bed: _ethernet(bed, 0x86DD, _packet())),
    "a time to live of zero": ("expired", lambda bed: _ethernet(bed, 0x0800, _packet(ttl=0))),
    "a time to live of one": ("expired", lambda bed: _ethernet(bed, 0x0800, _packet(ttl=1))),
    "from loopback": ("martian", lambda bed: _ethernet(bed, 0x0800, _packet("127.0.0.1"))),
    "from a group": ("martian", lambda bed: _ethernet(bed, 0x0800, _packet("224.0.0.5"))),
    "to a network's broadcast": ("martian", lambda bed: _ethernet(bed, 0x0800, _packet(to="10.79.2.255"))),
    "to nowhere": ("no_route", lambda bed: _ethernet(bed, 0x0800, _packet(to="192.0.2.1"))),
    "for another device": (
        "not_for_us",
        lambda bed: _ethernet(bed, 0x0800, _packet(), "02:00:00:00:00:77"),
    ),
    "with a VLAN tag": (
        "vlan",
        lambda bed: _ethernet(bed, 0x8100, struct.pack("!HH", 5, 0x0800) + _packet()),
    ),
    "of another protocol": ("not_ip", lambda bed: _ethernet(bed, 0x88CC, bytes(50))),
    "shorter than an IP header": ("short", lambda bed: _ethernet(bed, 0x0800, _packet()[:12])),
}
"""Frames that no router forwards, and the reason under which each is counted."""


def _reasons(bed: Bed) -> dict[str, int]:
    left = bed.stats()[bed.left.interface]
    counts = {reason: each["packets"] for reason, each in left["refused"].items()}
    return counts | left["left_to_kernel"]


def _until(done: Callable[[], bool], bed: Bed) -> None:
    deadline = time.monotonic() + 10
    while not done():
        assert time.monotonic() < deadline, (bed.balance(), _reasons(bed))
        time.sleep(0.01)


@pytest.mark.parametrize("io", ["af_xdp", "af_packet"])
def test_a_frame_that_cannot_be_forwarded_is_counted_by_its_reason(bed: Bed, io: str) -> None:
    router = bed.start(io=io)
    receiver, near = bed.receiver(), bed.raw("a", bed.a)
    # By AF_PACKET the router itself sees what the XDP program leaves to the kernel.
    seen = {"short": "malformed"} if io == "af_packet" else {}
    for what, (expected, make) in _ODD.items():
        reason = seen.get(expected, expected)
        before = _reasons(bed).get(reason, 0)
        for _ in range(3):
            near.send(make(bed))
        _until(lambda reason=reason, before=before: _reasons(bed).get(reason, 0) == before + 3, bed)
        assert router.poll() is None, (what, bed.messages())
    fragments = [_packet(fragment=0x2000), _packet(fragment=0x000B)]
    for frame in [*fragments, _packet()]:
        near.send(_ethernet(bed, 0x0800, frame))
    _until(lambda: bed.balance()["forwarded"] == 3, bed)
    assert wait_for(receiver, 5.0)
    balance = bed.balance()
    assert balance["received"] == sum(
        balance[key] for key in ("forwarded", "refused", "dropped", "to_router")
    )


@pytest.mark.parametrize("io", ["auto", "af_packet"])
def test_a_frame_larger_than_memory_holds_is_dropped_and_counted(bed: Bed, io: str) -> None:
    for node, end in (("a", bed.a), ("r", bed.left)):
        netlink = bed.site.netlink(node)
        netlink.link("set", index=netlink.link_lookup(ifname=end.interface)[0], mtu=9000)
    bed.start(io=io)
    assert f"ip link set {bed.left.interface} mtu 3826" in bed.messages()
    receiver, near = bed.receiver(), bed.raw("a", bed.a)
    for _ in range(5):
        near.send(_ethernet(bed, 0x0800, _packet(size=8000)))
    _until(lambda: bed.balance()["missed"] == 5, bed)
    near.send(_ethernet(bed, 0x0800, _packet(size=3000, fragment=0x4000)))
    _until(lambda: _reasons(bed).get("too_large") == 1, bed)
    bed.send(bed.sender(), 1, 1400)
    assert wait_for(receiver, 5.0)
    assert bed.balance()["forwarded"] == 1


@pytest.mark.parametrize("io", ["af_xdp", "af_packet"])
def test_want_of_memory_costs_packets_and_passes(bed: Bed, io: str) -> None:
    bed.start(io=io, memory="1MiB", rate="4Mbit", discipline="fifo:limit=10000pkt")
    receiver, sender = bed.receiver(), bed.sender()
    began = time.monotonic()
    for number in range(1000):
        bed.send(sender, number, 500)
        if number % 32 == 31:
            time.sleep(0.001)
    left = (time.monotonic() - began) * 4e6 / (8 * 500)  # what the line has carried meanwhile, at most
    balance = bed.balance()
    assert balance["waiting"] < _FRAMES
    bed.idle()
    balance = bed.balance()
    assert balance["received"] + balance["missed"] == 1000
    assert balance["missed"] + balance["dropped"] > 1000 - 2 * _FRAMES - left
    assert balance["received"] == balance["forwarded"] + balance["dropped"]
    assert len(drain(receiver)) == balance["forwarded"]
    for number in range(10):  # one by one: so small a memory has small rings
        bed.send(sender, number, 500)
        due = balance["forwarded"] + number + 1
        _until(lambda due=due: bed.balance()["forwarded"] == due, bed)
    assert len(drain(receiver)) == 10


def test_packets_to_silent_addresses_cost_others_none(bed: Bed) -> None:
    bed.start(classes={"steady": {"to": ["10.79.2.2/32"]}})
    receiver, steady, silent = bed.receiver(), bed.sender(), bed.sender()
    began, sent, scanned = time.monotonic(), 0, 0
    while (ahead := time.monotonic() - began) < _SCAN:
        for _ in range(scanned, int(ahead * 8_000)):
            silent.sendto(bytes(20), (f"10.79.2.{3 + scanned % 250}", 5001))
            scanned += 1
        if sent < ahead * 200:
            bed.send(steady, sent, 100)
            sent += 1
        time.sleep(0.001)
    # Those that wait are given up after three seconds.
    _until(lambda: bed.balance()["waiting"] == 0, bed)
    classes = {each["name"]: each for each in bed.stats()[bed.right.interface]["classes"]}
    assert classes["steady"]["dropped"] == {}
    assert len(drain(receiver)) == sent, bed.balance()
    assert {"neighbour_queue_full", "no_neighbour"} <= classes["default"]["dropped"].keys()


def _arrived(bed: Bed) -> int:
    left = bed.stats()[bed.left.interface]
    arrived: int = left["received"]["packets"] + left["kernel"]["receive_dropped"]
    return arrived


def test_a_host_that_vanishes_takes_nothing_with_it(bed: Bed) -> None:
    router = bed.start(rate="10Mbit")
    sender = bed.sender()
    for number in range(200):
        bed.send(sender, number, 500)
    bed.site.remove("b")
    _until(lambda: not bed.stats()[bed.right.interface]["up"], bed)
    for number in range(50):
        bed.send(sender, number, 500)
    _until(lambda: _arrived(bed) == 250, bed)
    bed.idle()
    balance = bed.balance()
    assert balance["received"] == balance["forwarded"] + balance["refused"] + balance["dropped"]
    assert balance["refused"] + balance["dropped"] >= 50
    assert router.poll() is None, bed.messages()
    bed.raw("a", bed.a).send(_ethernet(bed, 0x0800, _packet(ttl=1)))
    _until(lambda: bed.stats()[bed.left.interface]["originated"]["packets"] > 0, bed)
    assert bed.ctl("stop").returncode == 0
    assert router.wait(10) == 0, bed.messages()
    there = {link.get_attr("IFLA_IFNAME") for link in bed.site.netlink("r").get_links()}
    assert bed.right.interface not in there
    assert not (RUN / bed.name).exists()
