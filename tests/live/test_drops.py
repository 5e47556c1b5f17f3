"""What a router dropped last: who may see it, and that another program reads the capture."""

import json
import time
from pathlib import Path

from live_bed import Bed


def _lose(bed: Bed, count: int) -> None:
    """Have a queue of ten packets overflow."""
    bed.start(rate="1Mbit", discipline="fifo:limit=10pkt")
    sender = bed.sender()
    for number in range(count):
        bed.send(sender, number, 500)
    deadline = time.monotonic() + 10
    while bed.balance()["received"] < count:
        assert time.monotonic() < deadline, bed.balance()
        time.sleep(0.01)


def test_what_is_dropped_is_shown_and_captured(bed: Bed, tmp_path: Path) -> None:
    _lose(bed, 700)
    bed.idle()
    lost = bed.balance()["dropped"]
    place = tmp_path / "lost.pcapng"
    told = bed.ctl("drops", "--pcap", str(place))
    assert told.returncode == 0, told.stderr
    assert f"dropped so far: {lost}pkt" in told.stdout
    for part in (bed.right.interface, "queue_full", "10.79.1.2", "10.79.2.2"):
        assert part in told.stdout
    drops = json.loads(bed.ctl("drops", "--json").stdout)
    assert (drops["dropped"], len(drops["packets"])) == (lost, min(lost, 512))
    last = drops["packets"][-1]
    assert (last["reason"], last["interface"], last["bytes"]) == ("queue_full", bed.right.interface, 514)
    assert abs(last["at_ns"] / 1e9 - time.time()) < 60
    data = place.read_bytes()
    assert data[:4] == b"\x0a\x0d\x0d\x0a"
    assert data.count(b"queue_full") == len(drops["packets"])
    assert not list(tmp_path.glob(".lost*"))
