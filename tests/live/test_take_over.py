"""A router goes from one process to the next under traffic: nothing is lost, flows keep their order."""

import socket
import subprocess
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from live_bed import Bed, drain

_FLOWS, _RATE = 8, 2000
_SPECS = ("drr:quantum=1514B,limit=1000pkt", "fifo:limit=1000pkt")


class _Traffic:
    """Packets of several flows at a rate, and what of them arrived."""

    def __init__(self, bed: Bed) -> None:
        self.sent, self.arrivals = 0, list[tuple[int, int, float]]()
        self._bed, self._receiver = bed, bed.receiver()
        self._senders = [bed.sender() for _ in range(_FLOWS)]
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        began = time.monotonic()
        while not self._stopped.is_set():
            self._bed.send(self._senders[self.sent % _FLOWS], self.sent, 200)
            self.sent += 1
            ahead = self.sent / _RATE - (time.monotonic() - began)
            if ahead > 0:
                time.sleep(ahead)
            self.arrivals += drain(self._receiver)

    @contextmanager
    def flowing(self) -> Iterator[None]:
        """Send during the block, then return when all that was sent has arrived or is lost."""
        self._thread.start()
        try:
            yield
        finally:
            self._stopped.set()
            self._thread.join()
        self._bed.idle()
        time.sleep(0.1)
        self.arrivals += drain(self._receiver)

    def is_in_order(self) -> bool:
        by_flow = defaultdict(list)
        for port, number, _ in self.arrivals:
            by_flow[port].append(number)
        return all(numbers == sorted(numbers) for numbers in by_flow.values())


@pytest.mark.parametrize(
    ("queues", "keys"),
    [(1, {}), (4, {"workers": 2}), (1, {"on_failure": "stop", "metrics": "127.0.0.1:9478"})],
    ids=["one", "two workers", "stop"],
)
def test_no_packet_is_lost_by_a_new_process(tmp_path: Path, queues: int, keys: dict[str, object]) -> None:
    with Bed(tmp_path, queues=queues) as bed:
        bed.start(rate="20Mbit", discipline=_SPECS[1], neighbours=False, **keys)
        traffic = _Traffic(bed)
        with traffic.flowing():
            for turn in range(4):
                time.sleep(0.2)
                old = bed.router
                assert old is not None
                bed.start("--take-over", rate="20Mbit", discipline=_SPECS[turn % 2], neighbours=False, **keys)
                assert old.wait(timeout=10) == 0, bed.messages()
                time.sleep(0.2)
        balance = bed.balance()
        assert (balance["missed"], balance["dropped"], balance["refused"]) == (0, 0, 0), balance
        assert len(traffic.arrivals) == traffic.sent == balance["forwarded"] == balance["received"]
        assert traffic.is_in_order()
        assert bed.messages().count("taken over, by AF_XDP") == 8
        assert "cannot" not in bed.messages()


def test_what_waits_goes_to_the_next(bed: Bed) -> None:
    bed.start(rate="1Mbit", discipline="fifo:limit=1000pkt")
    receiver, sender = bed.receiver(), bed.sender()
    for number in range(200):
        bed.send(sender, number, 500)
    old = bed.router
    assert old is not None
    bed.start("--take-over", rate="20Mbit", discipline="fifo:limit=1000pkt")
    assert old.wait(timeout=10) == 0
    bed.idle()
    time.sleep(0.1)
    numbers = [number for _, number, _ in drain(receiver)]
    assert numbers == list(range(200))
    assert bed.balance()["forwarded"] == 200


def test_who_asks_and_does_not_come_leaves_all_as_it_was(bed: Bed) -> None:
    bed.start(rate="20Mbit", discipline=_SPECS[1])
    asked = '{"request":"take_over"}\n{"request":"hand_over"}\n'
    path = f"/run/weir/{bed.name}/control"
    line = ["python3", "-c", _ASK, path, asked]
    said = subprocess.run(line, capture_output=True, text=True, check=True, timeout=20).stdout
    assert '"answer":"links"' in said
    assert '"answer":"estate"' in said
    deadline = time.monotonic() + 10
    while "this one goes on" not in bed.messages():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    receiver, sender = bed.receiver(), bed.sender()
    for number in range(50):
        bed.send(sender, number, 200)
    bed.idle()
    time.sleep(0.1)
    assert len(drain(receiver)) == 50


_ASK = """
import socket, sys
made = socket.socket(socket.AF_UNIX)
made.settimeout(10)
made.connect(sys.argv[1])
made.sendall(sys.argv[2].encode())
said = b""
while said.count(b"\\n") < 2:
    said += made.recv(1 << 20)
print(said.decode())
"""


def test_a_router_of_another_user_is_not_stopped(bed: Bed) -> None:
    """Its run directory would be of somebody else."""
    router = bed.start("--user", "nobody")
    path = bed.write(bed.configuration())
    line = [str(bed.weird), "route", str(path), "--take-over"]
    made = bed.site.start("r", line, stderr=subprocess.PIPE)
    _, told = made.communicate(timeout=15)
    assert made.returncode != 0
    assert "not a directory of this user" in told.decode()
    assert router.poll() is None
    bed.start("--take-over", "--user", "nobody")
    assert router.wait(timeout=10) == 0


def test_metrics_that_cannot_be_had_do_not_stop_packets(bed: Bed) -> None:
    with bed.site.socket("r", socket.AF_INET, socket.SOCK_STREAM) as other:
        old = bed.start()
        other.bind(("127.0.0.1", 9479))
        other.listen()
        bed.start("--take-over", metrics="127.0.0.1:9479")
        assert old.wait(timeout=10) == 0
    assert "goes on without them" in bed.messages()
    assert bed.ctl("status").returncode == 0


@pytest.mark.parametrize("keys", [{"group": "no-such-group"}, {"io": "af_packet"}], ids=["group", "io"])
def test_what_cannot_take_over_leaves_the_other_alone(bed: Bed, keys: dict[str, str]) -> None:
    router = bed.start()
    path = bed.write(bed.configuration(**keys), "next.toml")
    line = [str(bed.weird), "route", str(path), "--take-over"]
    made = bed.site.start("r", line, stderr=subprocess.PIPE)
    _, told = made.communicate(timeout=15)
    assert made.returncode != 0
    assert next(iter(keys.values())) in told.decode()
    assert router.poll() is None


def test_without_a_router_there_is_nothing_to_take_over(bed: Bed) -> None:
    path = bed.write(bed.configuration())
    line = [str(bed.weird), "route", str(path), "--take-over"]
    made = bed.site.start("r", line, stderr=subprocess.PIPE)
    _, told = made.communicate(timeout=15)
    assert made.returncode != 0
    assert bed.name in told.decode()
