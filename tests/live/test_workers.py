"""A router of several threads does what one of a single thread does, in order, counts and reloads."""

import re
import shutil
import subprocess
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from live_bed import Bed, drain

_FLOWS = 12


@pytest.fixture(params=[1, 4], ids=["one queue", "four queues"])
def two(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bed]:
    """Hosts beside a router whose interfaces have so many receive queues."""
    with Bed(tmp_path, queues=request.param) as bed:
        yield bed


def _send(bed: Bed, count: int, size: int = 300) -> None:
    """Send packets of several flows in turn, in bursts that no ring loses."""
    senders = [bed.sender() for _ in range(_FLOWS)]
    for number in range(count):
        bed.send(senders[number % _FLOWS], number, size)
        if number % 32 == 31:
            time.sleep(0.001)


def _check(bed: Bed, arrivals: list[tuple[int, int, float]], sent: int) -> None:
    """All that was sent is counted once, what arrived is what left, and each flow is in its order."""
    balance = bed.balance()
    assert balance["received"] + balance["missed"] == sent
    assert balance["received"] == sum(
        balance[key] for key in ("forwarded", "to_router", "refused", "dropped")
    )
    assert len(arrivals) == balance["forwarded"]
    by_flow = defaultdict(list)
    for port, number, _ in arrivals:
        by_flow[port].append(number)
    assert all(numbers == sorted(numbers) for numbers in by_flow.values())


@pytest.mark.parametrize("priority", ["", "40"], ids=["usual", "real time"])
def test_what_comes_in_leaves_in_order_or_is_counted(two: Bed, priority: str) -> None:
    router = two.start(
        priority=priority, workers=2, rate="20Mbit", discipline="drr:quantum=1514B,limit=200pkt"
    )
    receiver = two.receiver()
    _send(two, 3_000)
    two.idle()
    _check(two, drain(receiver), 3_000)
    assert "with 2 workers" in two.messages()
    threads = [path.read_text() for path in Path(f"/proc/{router.pid}/task").glob("*/stat")]
    mates = [each.rsplit(")", 1)[1].split() for each in threads if "(worker 2)" in each]
    # Field 40 of proc(5), the real-time priority: the first here is field 3.
    assert [each[37] for each in mates] == [priority or "0"]


def test_reloads_lose_and_reorder_nothing(two: Bed) -> None:
    two.start(workers=2, rate="20Mbit", discipline="fifo:limit=4000pkt")
    specs = ("drr:quantum=1514B,limit=4000pkt", "sfq:queues=64,depth=4000pkt", "fifo:limit=4000pkt")
    files = [
        two.write(two.configuration(workers=2, rate="20Mbit", discipline=spec), f"{place}.toml")
        for place, spec in enumerate(specs)
    ]
    receiver = two.receiver()
    senders = [two.sender() for _ in range(_FLOWS)]
    for turn in range(60):
        for number in range(24):
            two.send(senders[number % _FLOWS], turn * 24 + number, 400)
        told = two.ctl("reload", str(files[turn % 3]))
        assert told.returncode == 0, told.stderr
    two.idle()
    balance = two.balance()
    assert (balance["dropped"], balance["refused"], balance["missed"]) == (0, 0, 0)
    _check(two, drain(receiver), 60 * 24)


def test_neighbours_are_found_by_whoever_hears_them(two: Bed) -> None:
    two.start(workers=2, neighbours=False)
    receiver = two.receiver()
    _send(two, 200)
    two.idle()
    arrivals = drain(receiver)
    assert len(arrivals) > 150
    assert not re.search("partial|error", two.messages())


def test_queues_that_are_added_are_shared_too(tmp_path: Path) -> None:
    with Bed(tmp_path, queues=4) as bed:
        path = f"/run/netns/{bed.left.namespace}"
        line = ["nsenter", f"--net={path}", "ethtool", "-L", bed.left.interface, "rx"]
        if shutil.which("ethtool") is None or subprocess.run([*line, "1"], check=False).returncode:
            pytest.skip("nothing here changes the queues of veth")
        bed.start(workers=2)
        subprocess.run([*line, "4"], check=True)
        receiver = bed.receiver()
        deadline = time.monotonic() + 10
        while "back, by AF_XDP" not in bed.messages():
            assert time.monotonic() < deadline, bed.messages()
            time.sleep(0.01)
        _send(bed, 600)
        bed.idle()
        _check(bed, drain(receiver), 600)


def test_what_waits_leaves_before_the_end(two: Bed) -> None:
    router = two.start(workers=2, rate="2Mbit", discipline="fifo:limit=2000pkt")
    receiver = two.receiver()
    _send(two, 400, 1000)
    # What has come to the interface but not to the router is not the router's yet.
    deadline = time.monotonic() + 10
    while two.balance()["received"] < 400:
        assert time.monotonic() < deadline, two.balance()
        time.sleep(0.01)
    router.terminate()
    assert router.wait(timeout=20) == 0
    assert len(drain(receiver)) == 400
