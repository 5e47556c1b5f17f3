"""Queues that nobody gave a bound: a heavy flow delays nobody for seconds, a light one loses nothing."""

import time

import pytest

from live_bed import Bed, drain

_RATE = 20_000_000
_HEAVY, _LIGHT = 1200, 100
_SECONDS = 3.0


def _load(bed: Bed) -> tuple[int, list[tuple[int, int, float]], dict[int, float]]:
    """Send a flow at twice the rate of the line, and one of a hundred packets a second.

    Return the port of the light one, what has arrived, and when each packet of the light one left.
    """
    receiver, heavy, light = bed.receiver(), bed.sender(), bed.sender()
    began, sent, left = time.monotonic(), 0, {}
    while (ahead := time.monotonic() - began) < _SECONDS:
        while sent * _HEAVY * 8 < ahead * 2 * _RATE:
            bed.send(heavy, sent, _HEAVY)
            sent += 1
        if len(left) < ahead * 100:
            left[len(left)] = time.time()
            bed.send(light, len(left) - 1, _LIGHT)
        time.sleep(0.001)
    bed.idle()
    return light.getsockname()[1], drain(receiver), left


@pytest.mark.parametrize("discipline", ["drr", "fq", "fq_codel", "sfq:queues=1024,depth=100pkt"])
def test_a_light_flow_loses_nothing_beside_a_heavy_one(bed: Bed, discipline: str) -> None:
    bed.start(rate="100Mbit", discipline="fifo")
    told = bed.ctl("set", bed.right.interface, "--rate", "20Mbit", "--discipline", discipline)
    assert told.returncode == 0, told.stderr
    assert f"{discipline.partition(':')[0]} holds " in told.stdout
    port, arrivals, left = _load(bed)
    assert sum(bed.balance()[key] for key in ("dropped", "waiting")) > 0, "no congestion"
    assert [number for source, number, _ in arrivals if source == port] == [*left]


def test_a_queue_of_all_holds_a_tenth_of_a_second(bed: Bed) -> None:
    bed.start(rate="20Mbit", discipline="fifo")
    assert "fifo holds 165 packets: 99ms at 20Mbit" in bed.messages()
    assert f"{bed.right.interface}: fifo holds 165 packets: 99ms at 20Mbit" in bed.ctl("status").stdout
    assert bed.stats()[bed.right.interface]["holds"] == "fifo holds 165 packets: 99ms at 20Mbit"
    receiver, sender = bed.receiver(), bed.sender()
    for number in range(2000):
        bed.send(sender, number, _HEAVY)
        if number % 20 == 19:
            time.sleep(0.001)
        if number % 400 == 399:
            # Those that wait, and one on the line.
            assert bed.balance()["waiting"] <= 166
    bed.idle()
    right = bed.stats()[bed.right.interface]
    assert right["classes"][0]["dropped"]["queue_full"]["packets"] > 0
    assert len(drain(receiver)) == right["forwarded"]["packets"]
