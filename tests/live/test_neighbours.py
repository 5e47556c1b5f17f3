"""Neighbours whose devices change: packets reach them at once, and not when an old answer is forgotten."""

import struct
import time
from ipaddress import IPv4Address, IPv4Interface, IPv4Network

import pytest

from live_bed import Bed, wait_for

_MOVED = "02:77:99:00:00:09"
_SOON = 10.0
"""Seconds: more than a busy machine takes, and a third of the time for which an answer is believed."""


def _reaches(bed: Bed) -> bool:
    """Return whether a packet reaches the host within a time, if one is sent every now and then."""
    receiver, sender = bed.receiver(), bed.sender()
    deadline = time.monotonic() + _SOON
    while time.monotonic() < deadline:
        bed.send(sender, 0, 100)
        if wait_for(receiver, 0.1):
            receiver.close()
            return True
    return False


def _settle(bed: Bed) -> None:
    """Give the host its address again, which the kernel takes away with its interface, and the way back."""
    bed.site.route(bed.b, IPv4Network("10.79.0.0/16"), IPv4Address("10.79.2.1"))


def test_a_host_that_comes_back_with_another_device_is_reached(bed: Bed) -> None:
    bed.start(neighbours=False)
    assert _reaches(bed)
    for last in (7, 8):
        bed.set_link("b", bed.b.interface, state="down")
        bed.set_link("b", bed.b.interface, address=f"02:77:99:00:00:{last:02x}")
        bed.set_link("b", bed.b.interface, state="up")
        _settle(bed)
        assert _reaches(bed), bed.messages()


@pytest.mark.parametrize("io", ["auto", "af_packet"])
def test_an_interface_that_is_made_anew_has_new_neighbours(bed: Bed, io: str) -> None:
    """Several times: it may come up at any moment while its sockets are opened."""
    bed.start(neighbours=False, io=io)
    assert _reaches(bed)
    router = bed.site.netlink("r")
    for last in range(8):
        router.link("del", index=router.link_lookup(ifname=bed.right.interface)[0])
        address = f"02:77:98:00:00:{last:02x}"
        far = {"ifname": bed.b.interface, "net_ns_fd": bed.b.namespace, "address": address}
        router.link("add", ifname=bed.right.interface, kind="veth", peer=far)
        bed.set_link("r", bed.right.interface, state="up")
        bed.set_link("b", bed.b.interface, state="up")
        bed.site.address(bed.b, IPv4Interface("10.79.2.2/24"))
        assert _reaches(bed), bed.messages()


def test_a_gratuitous_message_moves_an_address(bed: Bed) -> None:
    """Behind a switch the line stays up when a host is replaced: all that says so is the new host."""
    bed.start(neighbours=False)
    assert _reaches(bed)
    near = bed.raw("b", bed.b)
    device, address = bytes.fromhex(_MOVED.replace(":", "")), bytes([10, 79, 2, 2])
    arp = struct.pack("!HHBBH", 1, 0x0800, 6, 4, 1) + device + address + bytes(6) + address
    near.send(b"\xff" * 6 + device + b"\x08\x06" + arp.ljust(46, b"\0"))
    sender = bed.sender()
    deadline = time.monotonic() + _SOON
    to = b""
    while to != device:
        assert time.monotonic() < deadline, to.hex(":")
        bed.send(sender, 0, 100)
        while wait_for(near, 0.1):
            frame = near.recv(2048)
            if frame[12:14] == b"\x08\x00":
                to = frame[:6]
