"""A router between two hosts: what comes in goes out or is counted, in order, at its rate."""

import shutil
import signal
import socket
import subprocess
import time
from collections import defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from live_bed import Bed, drain, wait_for, wall_clock
from weir.live.namespaces import Site

_KEPT = {"NET_ADMIN": 12, "NET_RAW": 13, "IPC_LOCK": 14, "BPF": 39}
"""Capabilities that a router may keep, by their bits."""


def _blast(bed: Bed, count: int, size: int, flows: int = 1) -> None:
    """Send packets of several flows in turn, in small bursts that no ring loses."""
    senders = [bed.sender() for _ in range(flows)]
    for number in range(count):
        bed.send(senders[number % flows], number, size)
        if number % 32 == 31:
            time.sleep(0.001)


def _in_order(arrivals: list[tuple[int, int, float]]) -> bool:
    by_flow = defaultdict(list)
    for port, number, _ in arrivals:
        by_flow[port].append(number)
    return all(numbers == sorted(numbers) for numbers in by_flow.values())


def test_packets_in_are_packets_out_and_drops_by_reason(bed: Bed) -> None:
    bed.start(rate="10Mbit", discipline="fifo:limit=50pkt")
    receiver = bed.receiver()
    _blast(bed, 3000, 500)
    bed.idle()
    balance = bed.balance()
    assert balance["received"] + balance["missed"] == 3000
    assert balance["dropped"] > 0
    assert balance["received"] == sum(
        balance[key] for key in ("forwarded", "refused", "dropped", "to_router")
    )
    assert len(drain(receiver)) == balance["forwarded"]


@pytest.mark.parametrize(
    "discipline", ["fifo:limit=1000pkt", "sfq:queues=64,depth=500pkt", "drr:quantum=1514B"]
)
def test_flows_keep_their_order(bed: Bed, discipline: str) -> None:
    bed.start(rate="20Mbit", discipline=discipline)
    receiver = bed.receiver()
    _blast(bed, 800, 300, flows=8)
    bed.idle()
    arrivals = drain(receiver)
    assert len(arrivals) == bed.balance()["forwarded"] > 0
    assert _in_order(arrivals)


@pytest.mark.parametrize(
    ("rate", "bits", "count", "size"),
    [("100kbit", 1e5, 25, 500), ("10Mbit", 1e7, 1000, 1000), ("100Mbit", 1e8, 6000, 1400)],
)
def test_the_rate_is_kept_within_one_per_cent(
    bed: Bed, rate: str, bits: float, count: int, size: int
) -> None:
    bed.start(rate=rate, discipline="fifo:limit=8000pkt")
    receiver = bed.receiver()
    for _ in range(5):
        before = wall_clock()
        times = _train(bed, receiver, bits, (count, size))
        if abs(wall_clock() - before) < 1e-3:
            break  # the kernel stamps by a clock that somebody may set
    assert len(times) == count
    sent = (count - 1) * (size + 14) * 8
    assert sent / (times[-1] - times[0]) == pytest.approx(bits, rel=0.01)


def _train(bed: Bed, receiver: socket.socket, bits: float, packets: tuple[int, int]) -> list[float]:
    """Send packets of a size at three times a rate, and return when they came in."""
    sender = bed.sender()
    count, size = packets
    began = time.monotonic()
    for number in range(count):
        bed.send(sender, number, size)
        ahead = number * size * 8 / (3 * bits) - (time.monotonic() - began)
        if ahead > 0.001 and bits > 1e6:
            time.sleep(ahead)  # a queue, and no burst that a ring would lose
    bed.idle()
    return [when for _, _, when in drain(receiver)]


def test_two_hundred_reloads_under_load_lose_and_reorder_nothing(bed: Bed) -> None:
    bed.start(rate="20Mbit", discipline="fifo:limit=4000pkt")
    specs = ("drr:quantum=1514B,depth=4000pkt", "sfq:queues=64,depth=4000pkt", "fifo:limit=4000pkt")
    files = [
        bed.write(bed.configuration(rate="20Mbit", discipline=spec), f"{place}.toml")
        for place, spec in enumerate(specs)
    ]
    receiver = bed.receiver()
    senders = [bed.sender() for _ in range(4)]
    sent = 0
    for turn in range(200):
        for _ in range(20):
            bed.send(senders[sent % 4], sent, 400)
            sent += 1
        told = bed.ctl("reload", str(files[turn % 3]))
        assert told.returncode == 0, told.stderr
    bed.idle()
    balance, arrivals = bed.balance(), drain(receiver)
    assert (balance["dropped"], balance["refused"], balance["missed"]) == (0, 0, 0)
    assert len(arrivals) == sent
    assert _in_order(arrivals)


def test_a_broken_configuration_changes_nothing(bed: Bed) -> None:
    bed.start(rate="20Mbit")
    path = bed.write(bed.configuration(rate="20Mbit", discipline="nothing:like=it"), "broken.toml")
    told = bed.ctl("reload", str(path))
    assert told.returncode == 2
    assert "interface.discipline" in told.stderr
    receiver = bed.receiver()
    _blast(bed, 10, 200)
    bed.idle()
    assert len(drain(receiver)) == 10


@pytest.mark.parametrize("mode", ["pass", "stop"])
def test_a_killed_router_can_always_be_restarted(bed: Bed, mode: str) -> None:
    receiver = bed.receiver()
    for _ in range(25):
        router = bed.start(on_failure=mode)
        router.kill()
        router.wait()
    bed.start(on_failure=mode)
    _blast(bed, 10, 200)
    assert wait_for(receiver, 5.0)
    bed.idle()
    assert len(drain(receiver)) == 10


def test_an_interface_that_goes_down_comes_back(bed: Bed) -> None:
    router = bed.start()
    netlink = bed.site.netlink("b")
    place = netlink.link_lookup(ifname=bed.b.interface)[0]
    netlink.link("set", index=place, state="down")
    _blast(bed, 10, 200)
    assert router.poll() is None, bed.messages()
    netlink.link("set", index=place, state="up")
    # The kernel of the host forgets its routes with the interface.
    receiver = bed.receiver()
    deadline = time.monotonic() + 10
    sender = bed.sender()
    while not wait_for(receiver, 0.1):
        assert time.monotonic() < deadline, bed.messages()
        bed.send(sender, 0, 200)
    assert router.poll() is None


def test_an_interface_that_is_removed_takes_nothing_with_it(bed: Bed) -> None:
    router = bed.start()
    netlink = bed.site.netlink("b")
    netlink.link("del", index=netlink.link_lookup(ifname=bed.b.interface)[0])
    _blast(bed, 50, 200)
    time.sleep(0.2)
    assert router.poll() is None, bed.messages()
    balance = bed.balance()
    assert balance["received"] + balance["missed"] == 50
    assert balance["forwarded"] < 50
    assert bed.ctl("stop").returncode == 0
    assert router.wait(10) == 0


@pytest.mark.parametrize("io", ["af_xdp", "af_packet"])
def test_packets_of_all_queues_are_forwarded_in_order(tmp_path: Path, io: str) -> None:
    with Bed(tmp_path, queues=4) as bed:
        bed.start(io=io, rate="20Mbit")
        receiver = bed.receiver()
        _blast(bed, 640, 200, flows=32)  # the kernel spreads flows over queues
        bed.idle()
        arrivals = drain(receiver)
        assert len(arrivals) == bed.balance()["forwarded"] == 640
        assert _in_order(arrivals)


def test_a_queue_that_is_added_is_read_too(tmp_path: Path) -> None:
    with Bed(tmp_path, queues=2) as bed:
        path = f"/run/netns/{bed.left.namespace}"
        line = ["nsenter", f"--net={path}", "ethtool", "-L", bed.left.interface, "rx"]
        if shutil.which("ethtool") is None or subprocess.run([*line, "1"], check=False).returncode:
            pytest.skip("nothing here changes the queues of veth")
        bed.start(io="af_xdp")
        subprocess.run([*line, "2"], check=True)
        receiver = bed.receiver()
        deadline = time.monotonic() + 10
        while "back, by AF_XDP" not in bed.messages():
            assert time.monotonic() < deadline, bed.messages()
            time.sleep(0.01)
        _blast(bed, 320, 200, flows=32)
        bed.idle()
        assert len(drain(receiver)) == bed.balance()["forwarded"] == 320


def test_an_interface_has_one_router(bed: Bed) -> None:
    bed.start()
    other = bed.site.name(1)
    path = bed.write(bed.configuration(name=other), "other.toml")
    second = bed.site.start("r", [str(bed.weird), "route", str(path)], stderr=subprocess.PIPE)
    _, told = second.communicate(timeout=15)
    assert second.returncode == 3, told
    assert bed.left.interface in told.decode()
    assert bed.ready()


def test_without_privileges_the_capability_is_named(bed: Bed) -> None:
    nobody = ["setpriv", "--reuid=65534", "--clear-groups", "--bounding-set=-all", "--inh-caps=-all"]
    with TemporaryDirectory() as folder:  # the folder of the test itself is for its owner alone
        Path(folder).chmod(0o755)
        path = Path(folder) / "router.toml"
        path.write_text(bed.configuration())
        weird = Path(shutil.copy2(bed.weird, folder))
        command = [*nobody, str(weird), "route", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 3, done.stderr
    assert "CAP_" in done.stderr


def test_privileges_are_given_up(bed: Bed) -> None:
    router = bed.start()
    status = Path(f"/proc/{router.pid}/status").read_text()
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    effective = int(fields["CapEff"], 16)
    allowed = sum(1 << bit for bit in _KEPT.values())
    assert effective & ~allowed == 0, f"{effective:x}"
    assert int(fields["CapPrm"], 16) & ~allowed == 0
    assert int(fields["CapBnd"], 16) & ~allowed == 0
    assert fields["NoNewPrivs"].strip() == "1"


def test_a_site_goes_with_its_process(bed: Bed) -> None:
    """The bed itself: what it made is there, and another site takes nothing of it away."""
    with Site("other"):
        pass
    router = bed.start()
    assert router.poll() is None
    router.send_signal(signal.SIGTERM)
    assert router.wait(10) == 0
