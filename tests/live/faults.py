"""A router under a steady flow, and what goes wrong around it: what each costs, and how soon it is over.

``make faults`` prints the table of docs/operate.md. A fault is survived if the daemon runs on, or, where the
daemon is what ends, if the next one starts. A packet is lost *meanwhile* if it was sent before the cause was
gone, and *after* otherwise; the recovery is the time from then until the last packet that was lost was sent.
Exit code 1: a fault was not survived, or took longer than a second.
"""

import os
import platform
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from live_bed import Bed, drain
from weir.live.namespaces import RUN

_LEAD, _TAIL = 0.5, 4.0
"""Seconds of the steady flow before a fault and after it."""
_GAP = 0.001
_BAR = 1.0
_ROUTES = IPv4Network("10.79.0.0/16")


class Flow:
    """A packet in every millisecond from host a to host b, until it is told to end."""

    def __init__(self, bed: Bed) -> None:
        self.receiver, self._sender, self._bed = bed.receiver(), bed.sender(), bed
        self.sent: list[float] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._send)

    def _send(self) -> None:
        began = time.monotonic()
        while not self._over.is_set():
            due = began + len(self.sent) * _GAP
            if (wait := due - time.monotonic()) > 0:
                time.sleep(wait)
            with suppress(OSError):  # the host's own interface may be down: such a packet is lost
                self._bed.send(self._sender, len(self.sent), 100)
            self.sent.append(time.monotonic())

    def begin(self) -> None:
        """Send from now on."""
        self._thread.start()

    def lost(self) -> list[float]:
        """End, and return when the packets were sent that did not arrive."""
        self._over.set()
        self._thread.join()
        time.sleep(0.3)
        arrived = {number for _, number, _ in drain(self.receiver)}
        return [at for number, at in enumerate(self.sent) if number not in arrived]


@dataclass
class Fault:
    """What goes wrong, and how the router is configured meanwhile."""

    name: str
    happens: Callable[[Bed], None]
    keys: dict[str, object] = field(default_factory=dict)
    queues: int = 1


def _nothing(_: Bed) -> None:
    time.sleep(1.0)


def _killed(number: signal.Signals) -> Callable[[Bed], None]:
    def happens(bed: Bed) -> None:
        assert bed.router is not None
        bed.router.send_signal(number)
        bed.router.wait(20)
        bed.start(neighbours=False)

    return happens


def _stopped(bed: Bed) -> None:
    assert bed.router is not None
    bed.router.send_signal(signal.SIGSTOP)
    time.sleep(1.0)
    bed.router.send_signal(signal.SIGCONT)


def _reloads(bed: Bed) -> None:
    specs = ("drr:quantum=1514B", "sfq:queues=64,depth=4000pkt", "fifo:limit=4000pkt")
    for turn in range(1_000):
        text = bed.configuration(rate="20Mbit", discipline=specs[turn % 3], neighbours=False)
        assert bed.ctl("reload", str(bed.write(text, "next.toml"))).returncode == 0


def _taken_over(**keys: object) -> Callable[[Bed], None]:
    def happens(bed: Bed) -> None:
        for _ in range(100):
            old = bed.router
            assert old is not None
            bed.start("--take-over", neighbours=False, **keys)
            assert old.wait(20) == 0

    return happens


def _broken_reload(bed: Bed) -> None:
    path = bed.write(bed.configuration(discipline="nothing:like=it"), "broken.toml")
    for _ in range(20):
        assert bed.ctl("reload", str(path)).returncode == 2


def _broken_hangup(bed: Bed) -> None:
    assert bed.router is not None
    path = bed.folder / "router.toml"
    good = path.read_text()
    path.write_text(good[: len(good) // 2])
    for _ in range(5):
        bed.router.send_signal(signal.SIGHUP)
        time.sleep(0.1)
    path.write_text(good)


def _changed(bed: Bed) -> None:
    for rate in range(20, 40):
        line = ["set", bed.right.interface, "--rate", f"{rate}Mbit", "--discipline", "drr"]
        assert bed.ctl(*line).returncode == 0


def _way_back(bed: Bed) -> None:
    """Give the host its way back again, which the kernel takes away with its interface."""
    bed.site.route(bed.b, _ROUTES, IPv4Address("10.79.2.1"))


def _host_down(bed: Bed) -> None:
    bed.set_link("b", bed.b.interface, state="down")
    time.sleep(0.5)
    bed.set_link("b", bed.b.interface, state="up")
    _way_back(bed)


def _near_down(bed: Bed) -> None:
    bed.set_link("a", bed.a.interface, state="down")
    time.sleep(0.5)
    bed.set_link("a", bed.a.interface, state="up")
    bed.site.route(bed.a, _ROUTES, IPv4Address("10.79.1.1"))


def _router_down(bed: Bed) -> None:
    bed.set_link("r", bed.right.interface, state="down")
    time.sleep(0.5)
    bed.set_link("r", bed.right.interface, state="up")


def _flapping(bed: Bed) -> None:
    for _ in range(10):
        bed.set_link("r", bed.right.interface, state="down")
        time.sleep(0.05)
        bed.set_link("r", bed.right.interface, state="up")
        time.sleep(0.05)


def _other_device(bed: Bed) -> None:
    bed.set_link("b", bed.b.interface, state="down")
    bed.set_link("b", bed.b.interface, address="02:77:99:00:00:07")
    bed.set_link("b", bed.b.interface, state="up")
    _way_back(bed)


def _made_anew(bed: Bed) -> None:
    router = bed.site.netlink("r")
    router.link("del", index=router.link_lookup(ifname=bed.right.interface)[0])
    time.sleep(0.3)
    far = {"ifname": bed.b.interface, "net_ns_fd": bed.b.namespace, "address": "02:77:99:00:00:09"}
    router.link("add", ifname=bed.right.interface, kind="veth", peer=far)
    bed.set_link("r", bed.right.interface, state="up")
    bed.set_link("b", bed.b.interface, state="up")
    bed.site.address(bed.b, IPv4Interface("10.79.2.2/24"))
    _way_back(bed)


def _small(bed: Bed) -> None:
    bed.set_link("r", bed.right.interface, mtu=576)
    time.sleep(0.5)
    bed.set_link("r", bed.right.interface, mtu=1500)


def _queues(bed: Bed) -> None:
    path = f"/run/netns/{bed.left.namespace}"
    for count in ("3", "4"):
        line = ["nsenter", f"--net={path}", "ethtool", "-L", bed.left.interface, "rx", count]
        subprocess.run(line, check=False, stderr=subprocess.DEVNULL)
        time.sleep(0.3)


def _silent(bed: Bed) -> None:
    made, began, sent = bed.sender(), time.monotonic(), 0
    while (ahead := time.monotonic() - began) < 2.0:
        for _ in range(sent, int(ahead * 8_000)):
            made.sendto(bytes(20), (f"10.79.2.{3 + sent % 250}", 5001))
            sent += 1
        time.sleep(0.001)


def _flood(bed: Bed) -> None:
    command = [str(bed.weird), "bench-flood", bed.a.interface, "--router", bed.a.other_mac, "--every", "8"]
    ends = ["--from", "10.79.1.2", "--to", "10.79.2.2", "--seconds", "2", "--flows", "10000000"]
    bed.site.start("a", [*command, *ends], stdout=subprocess.DEVNULL).wait(20)


def _frames(bed: Bed, frames: list[bytes], seconds: float) -> None:
    near, until = bed.raw("a", bed.a), time.monotonic() + seconds
    head = bytes.fromhex(bed.a.other_mac.replace(":", "") + "020000000011")
    while time.monotonic() < until:
        for frame in frames:
            with suppress(OSError):
                near.send(head + frame)
        time.sleep(0.001)


def _malformed(bed: Bed) -> None:
    chance = os.urandom(1400)
    tags = [b"\x08\x00", b"\x86\xdd", b"\x08\x06", b"\x81\x00", b"\x88\xcc"]
    frames = [
        tag + version + chance[:size]
        for tag in tags
        for version in (b"\x45", b"\x60")
        for size in (8, 70, 1300)
    ]
    _frames(bed, frames, 2.0)


def _spoofed(bed: Bed) -> None:
    """Answers to questions that nobody asked, for addresses that nobody has."""
    device = bytes.fromhex("0277aabbccdd")
    frames = []
    for last in range(3, 43):
        address = bytes([10, 79, 1, last])
        arp = struct.pack("!HHBBH", 1, 0x0800, 6, 4, 2) + device + address + device + address
        frames.append(b"\x08\x06" + arp)
    _frames(bed, frames, 2.0)


def _burst(bed: Bed) -> None:
    made = bed.sender()
    for number in range(20_000):
        with suppress(OSError):
            bed.send(made, number, 1400, port=5002)


def _clients(bed: Bed) -> None:
    held = []
    for _ in range(8):
        made = socket.socket(socket.AF_UNIX)
        made.connect(str(RUN / bed.name / "control"))
        made.setblocking(False)
        held.append(made)
    until = time.monotonic() + 2.0
    while time.monotonic() < until:
        for made in held:
            with suppress(OSError):
                made.send(b'{"request":"stats"}\n' * 64)
            with suppress(OSError):
                made.recv(1 << 20)
        time.sleep(0.0005)
    for made in held:
        made.close()


def _connections(bed: Bed) -> None:
    held = []
    for _ in range(200):
        made = socket.socket(socket.AF_UNIX)
        made.settimeout(1)
        with suppress(OSError):
            made.connect(str(RUN / bed.name / "control"))
        held.append(made)
    time.sleep(1.0)
    for made in held:
        made.close()


def _second(bed: Bed) -> None:
    path = bed.write(bed.configuration(neighbours=False).replace(bed.name, bed.name + "x"), "second.toml")
    for _ in range(5):
        command = [str(bed.weird), "route", str(path)]
        assert bed.site.start("r", command, stderr=subprocess.DEVNULL).wait(20) != 0


def _program(bed: Bed) -> None:
    path = f"/run/netns/{bed.left.namespace}"
    for mode in ("xdp", "xdpgeneric", "xdpdrv"):
        line = ["nsenter", f"--net={path}", "ip", "link", "set", bed.left.interface, mode, "off"]
        subprocess.run(line, check=False, stderr=subprocess.DEVNULL)
        time.sleep(0.2)


def _busy(_: Bed) -> None:
    count = 4 * (os.cpu_count() or 1)
    spin = [subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"]) for _ in range(count)]
    time.sleep(2.0)
    for each in spin:
        each.kill()
        each.wait()


def _folder(bed: Bed) -> None:
    """Its control socket is gone; packets must not be."""
    (RUN / bed.name / "control").unlink()
    time.sleep(0.5)


_FAIR: dict[str, object] = {"rate": "20Mbit", "discipline": "drr:quantum=1514B"}
FAULTS = (
    Fault("none", _nothing),
    Fault("the daemon is killed (SIGKILL) and started again", _killed(signal.SIGKILL)),
    Fault("the daemon is ended (SIGTERM) and started again", _killed(signal.SIGTERM)),
    Fault("the daemon is stopped (SIGSTOP) for a second", _stopped),
    Fault("1,000 reloads, each with another discipline", _reloads, {"rate": "20Mbit"}),
    Fault("a new process takes over 100 times", _taken_over()),
    Fault("the same with two workers and four queues", _taken_over(workers=2), {"workers": 2}, queues=4),
    Fault("20 reloads of a broken file", _broken_reload),
    Fault("SIGHUP with half a file", _broken_hangup),
    Fault("20 changes of rate and discipline", _changed, {"rate": "20Mbit"}),
    Fault("the next host is down for half a second", _host_down),
    Fault("the sender's host is down for half a second", _near_down),
    Fault("the router's interface is down for half a second", _router_down),
    Fault("the router's interface goes down and up ten times", _flapping),
    Fault("the next host comes back with another MAC address", _other_device),
    Fault("the router's interface is deleted and made anew", _made_anew),
    Fault("its MTU is 576 for half a second", _small),
    Fault("somebody changes the number of receive queues", _queues, queues=4),
    Fault("8,000 packets/s to 250 addresses that nobody has", _silent),
    Fault("a flood of ever new flows", _flood, _FAIR),
    Fault("malformed frames of 30 kinds, 30,000/s", _malformed),
    Fault("40,000 answers/s of ARP that nobody asked for", _spoofed),
    Fault("20,000 packets of one other flow at once", _burst, _FAIR),
    Fault("eight clients that ask without reading", _clients),
    Fault("200 connections that are held", _connections),
    Fault("a second daemon on the same interfaces", _second),
    Fault("somebody else takes XDP programs off the interface", _program),
    Fault("four busy processes on every processor", _busy),
    Fault("its control socket is removed", _folder),
)


def _try(fault: Fault) -> tuple[bool, int, int, int, float]:
    """Return whether it was survived, packets sent, lost meanwhile and after, and the recovery in seconds."""
    with TemporaryDirectory() as folder, Bed(Path(folder), queues=fault.queues) as bed:
        bed.start(neighbours=False, **fault.keys)
        flow = Flow(bed)
        flow.begin()
        time.sleep(_LEAD)
        fault.happens(bed)
        gone = time.monotonic()
        time.sleep(_TAIL)
        lost = flow.lost()
        survived = bed.router is not None and bed.router.poll() is None and max(flow.sent) > gone
        after = [at for at in lost if at > gone]
        recovery = max(after, default=gone) - gone
        survived &= recovery < _TAIL - 0.2
        return survived, len(flow.sent), len(lost) - len(after), len(after), recovery


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main(names: list[str]) -> int:
    """Try all of them, or those whose name has one of these words, and print the table."""
    when, machine = datetime.now(UTC).date(), f"Linux {platform.release()}, {os.cpu_count()} processors"
    _say(f"{when}, {machine}, veth; a packet of 100 B in every ms\n")
    _say("| what happens | survived | lost meanwhile | lost after | recovery |")
    _say("|---|---|---|---|---|")
    worst = 0
    for fault in FAULTS:
        if names and not any(name in fault.name for name in names):
            continue
        survived, sent, meanwhile, after, recovery = _try(fault)
        worst |= not survived or recovery > _BAR
        shown = f"{meanwhile:,} of {sent:,} | {after:,} | {recovery:.2f} s |"
        _say(f"| {fault.name} | {'yes' if survived else '**no**'} | {shown}")
    return int(worst)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
