"""Packets that are larger than the next link takes: cut where they may be, and told of where they may not."""

import socket
import struct

import pytest

from live_bed import Bed, wait_for

_MTU = 600
_IP_MTU_DISCOVER, _IP_MTU = 10, 14
_DONT, _DO = 0, 2
_PORT = 5001


def _narrow(bed: Bed) -> None:
    for node, end in (("b", bed.b), ("r", bed.right)):
        netlink = bed.site.netlink(node)
        netlink.link("set", index=netlink.link_lookup(ifname=end.interface)[0], mtu=_MTU)


@pytest.mark.parametrize("io", ["af_xdp", "af_packet"])
def test_large_packets_arrive_in_fragments(bed: Bed, io: str) -> None:
    _narrow(bed)
    bed.start(io=io)
    receiver, sender = bed.receiver(), bed.sender()
    sender.setsockopt(socket.IPPROTO_IP, _IP_MTU_DISCOVER, _DONT)
    sent = [
        bytes((number + at) % 251 for at in range(size)) for number, size in enumerate(range(500, 1473, 12))
    ]
    for data in sent:
        sender.sendto(data, ("10.79.2.2", _PORT))
        assert wait_for(receiver, 5.0), bed.balance()
        assert receiver.recv(4096) == data
    stats = bed.stats()
    left, right = stats[bed.left.interface], stats[bed.right.interface]
    cut = sum(len(data) + 28 > _MTU for data in sent)
    assert left["fragmented"]["packets"] == cut
    made = left["fragments"]["packets"]
    assert made >= 2 * cut
    assert right["forwarded"]["packets"] == len(sent) - cut + made
    assert "fragmented" in bed.ctl("stats").stdout


def _echo(data: bytes) -> bytes:
    """Return a request for an echo, with its checksum."""
    words = struct.unpack(f"!{len(data) // 2}H", data)
    total = 0x0800 + 7 + sum(words)
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return struct.pack("!BBHHH", 8, 0, ~total & 0xFFFF, 7, 0) + data


def test_large_pings_are_answered(bed: Bed) -> None:
    """Requests are cut by the router, and answers by the host, whose fragments the router forwards."""
    _narrow(bed)
    bed.start()
    pinger = bed.site.socket("a", socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    pinger.setsockopt(socket.IPPROTO_IP, _IP_MTU_DISCOVER, _DONT)
    pinger.settimeout(5.0)
    data = bytes(at % 251 for at in range(1400))
    with pinger:
        for _ in range(5):
            pinger.sendto(_echo(data), ("10.79.2.2", 0))
            answer = pinger.recv(4096)
            assert (answer[20], answer[28:]) == (0, data)
    assert bed.stats()[bed.left.interface]["fragmented"]["packets"] == 5


def test_who_forbids_fragments_learns_what_fits(bed: Bed) -> None:
    _narrow(bed)
    bed.start()
    receiver, sender = bed.receiver(), bed.sender()
    sender.setsockopt(socket.IPPROTO_IP, _IP_MTU_DISCOVER, _DO)
    sender.connect(("10.79.2.2", _PORT))
    sender.settimeout(5.0)
    sender.send(bytes(1400))
    # The message of ICMP is the error of the next call, and what the kernel knows of the path from then on.
    with pytest.raises(OSError, match="Message too long"):
        sender.recv(1)
    assert sender.getsockopt(socket.IPPROTO_IP, _IP_MTU) == _MTU
    sender.send(bytes(_MTU - 28))
    assert wait_for(receiver, 5.0)
    left = bed.stats()[bed.left.interface]
    assert left["refused"]["too_large"]["packets"] == 1
    assert left["fragmented"]["packets"] == 0
