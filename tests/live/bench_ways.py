"""Ways of forwarding that ``make bench-live`` compares: the kernel's, bare sockets, and ``weird route``.

All stand between the hosts of a `Bed`, whose addresses, routes and neighbours are fixed. Packets to `NOBODY`
leave the router as others do, for a device that is not there: the kernel of host b drops them first of all.
"""

import subprocess
import time
from collections.abc import Callable
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from pathlib import Path

from live_bed import Bed
from weir.live.namespaces import End

NOBODY = "10.79.2.3"
_NOBODYS = "02:77:ff:ff:ff:ff"
_PERMANENT = 0x80
_SETTLED = 1.0
"""Seconds after which the bare forwarder is there, which cannot be asked."""
_HUGE = "30gbit"
"""A rate that no queue of the kernel waits for."""

Way = Callable[["BenchBed"], None]


class BenchBed(Bed):
    """Two hosts and a router whose way of forwarding is chosen."""

    def _build(self) -> None:
        super()._build()
        self.nobody = {NOBODY: _NOBODYS}

    def neighbour(self, end: End, address: str, mac: str) -> None:
        """Say where an address is, seen from an end of a wire."""
        netlink = self.site.netlink(end.node)
        place = netlink.link_lookup(ifname=end.interface)[0]
        netlink.neigh("replace", dst=address, lladdr=mac, ifindex=place, state=_PERMANENT)

    def run(self, node: str, *command: str) -> None:
        """Run a program in the namespace of a node.

        Raises
        ------
        OSError
            If it fails, with what it said.
        """
        began = self.site.start(node, command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        said = began.communicate()[0].decode(errors="replace").strip()
        if began.returncode:
            raise OSError(f"`{' '.join(command)}`: {said}")


def kernel(bed: BenchBed) -> None:
    """Have the kernel of the router forward."""
    for number, end in ((1, bed.left), (2, bed.right)):
        bed.site.address(end, IPv4Interface(f"10.79.{number}.1/24"))
        bed.site.route(end, IPv4Network(f"10.79.{number}.2/32"), IPv4Address(f"10.79.{number}.2"))
    bed.neighbour(bed.right, NOBODY, _NOBODYS)
    with bed.site._inside("r"):
        Path("/proc/sys/net/ipv4/ip_forward").write_text("1")


def kernel_tbf(rate: str = _HUGE) -> Way:
    """Have the kernel forward through a token bucket of a rate, with 1,000 packets behind it."""

    def begin(bed: BenchBed) -> None:
        kernel(bed)
        burst = "64kb" if rate == _HUGE else "3028"
        add = ("tc", "qdisc", "add", "dev", bed.right.interface, "root")
        bed.run("r", *add, "tbf", "rate", rate, "burst", burst, "limit", "1514000")

    return begin


def kernel_htb(rate: str = _HUGE) -> Way:
    """Have the kernel forward through one class of a hierarchy of token buckets, with 1,000 packets."""

    def begin(bed: BenchBed) -> None:
        kernel(bed)
        on = ("dev", bed.right.interface)
        bed.run("r", "tc", "qdisc", "add", *on, "root", "handle", "1:", "htb", "default", "1")
        of = ("parent", "1:", "classid", "1:1", "htb", "rate", rate)
        bed.run("r", "tc", "class", "add", *on, *of, "quantum", "1514")
        bed.run("r", "tc", "qdisc", "add", *on, "parent", "1:1", "pfifo", "limit", "1000")

    return begin


def bare(bed: BenchBed) -> None:
    """Move frames by the same sockets as the router, without plane and discipline, and as they came in."""
    bed.neighbour(bed.a, "10.79.1.1", bed.right.other_mac)
    bed.neighbour(bed.b, "10.79.2.1", bed.left.other_mac)
    bed.neighbour(bed.a, "10.79.1.3", _NOBODYS)
    netlink, to = bed.site.netlink("a"), f"{NOBODY}/32"
    place = netlink.link_lookup(ifname=bed.a.interface)[0]
    netlink.route("add", dst=to, gateway="10.79.1.3", oif=place, flags=4)
    command = [str(bed.weird), "bench-forward", bed.left.interface, bed.right.interface]
    bed.site.start("r", command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(_SETTLED)


def weird(discipline: str, **keys: object) -> Way:
    """Have ``weird route`` forward under a discipline; ``keys`` are those of `Bed.start`."""

    def begin(bed: BenchBed) -> None:
        bed.start(discipline=discipline, **{"nobody": bed.nobody, **keys})
        bed.idle()

    return begin
