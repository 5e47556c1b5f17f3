"""Requests whose senders leave the checksum to a device, as every veth does by default: each is answered."""

import os
import socket
import time
from pathlib import Path

import pytest

from steer_bed import SteerBed, drain, send

_COUNT = 400
_TUNNEL = {"kind": "vxlan", "vxlan_id": 42, "vxlan_port": 4789}
_INNER = {"c": "10.79.0.1", "s": "10.79.0.2"}
_PORT = 9100
_TOLD = "left the checksum to a device"

pytestmark = pytest.mark.skipif(os.cpu_count() == 1, reason="one processor: there is nothing to spread over")


def _udp_errors(bed: SteerBed) -> int:
    """Return how many datagrams the server's kernel has refused for their checksum."""
    done = bed.site.start("s", ["cat", "/proc/net/snmp"], stdout=-1).communicate(timeout=10)[0].decode()
    names, counts = (line.split() for line in done.splitlines() if line.startswith("Udp:"))
    return int(counts[names.index("InCsumErrors")])


@pytest.mark.parametrize("generic", [False, True], ids=["driver", "generic"])
def test_requests_with_partial_checksums_arrive(tmp_path: Path, generic: bool) -> None:
    with SteerBed(tmp_path, generic=generic) as bed:
        bed.site.leave_checksums(bed.client)
        bed.start(policy="rr")
        receiver = bed.receiver()
        send(bed.sender(), range(_COUNT))
        assert sorted(number for _, number in drain(receiver, count=_COUNT)) == list(range(_COUNT))
        assert _udp_errors(bed) == 0
        frames = bed.settled()["frames"]
        assert (frames["steered"], frames["left_out"]) == (_COUNT, 0)
        # In the generic path the kernel does not forget what is left to a device.
        assert frames["completed"] == (0 if generic else _COUNT)
        # The log is written by a thread of its own.
        deadline = time.monotonic() + 10
        while not generic and _TOLD not in bed.messages():
            assert time.monotonic() < deadline, bed.messages()
            time.sleep(0.01)
        assert (_TOLD in bed.messages()) is not generic


def _tunnel(bed: SteerBed, *, checksum: bool) -> None:
    """Put a VXLAN over the wire, whose own header has a checksum or none."""
    for node, end, other in (("c", bed.client, "10.78.0.2"), ("s", bed.server, "10.78.0.1")):
        netlink = bed.site.netlink(node)
        below = netlink.link_lookup(ifname=end.interface)[0]
        more = {"vxlan_link": below, "vxlan_group": other, "vxlan_udp_csum": int(checksum)}
        netlink.link("add", ifname="tunnel0", **_TUNNEL, **more)
        place = netlink.link_lookup(ifname="tunnel0")[0]
        netlink.addr("add", index=place, address=_INNER[node], prefixlen=24)
        netlink.link("set", index=place, state="up")


@pytest.mark.parametrize("checksum", [False, True], ids=["bare", "checked"])
def test_what_a_tunnel_carries_arrives(steer: SteerBed, checksum: bool) -> None:
    steer.site.leave_checksums(steer.client)
    _tunnel(steer, checksum=checksum)
    steer.start(policy="rr", traffic="encapsulated", ports=None)
    with (
        steer.site.socket("s", socket.AF_INET, socket.SOCK_STREAM) as listener,
        steer.site.socket("c", socket.AF_INET, socket.SOCK_STREAM) as client,
    ):
        listener.bind((_INNER["s"], _PORT))
        listener.listen()
        client.settimeout(10.0)
        client.connect((_INNER["s"], _PORT))
        server, _ = listener.accept()
        with server:
            server.settimeout(10.0)
            client.sendall(bytes(200_000))
            left = 200_000
            while left and (data := server.recv(65_536)):
                left -= len(data)
    assert left == 0
    assert _udp_errors(steer) == 0
    frames = steer.settled()["frames"]
    assert frames["completed"] > 100
    assert frames["completed"] <= frames["steered"]
