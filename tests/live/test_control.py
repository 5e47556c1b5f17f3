"""The control socket under pressure: who may only read costs no packet, and locks nobody out."""

import grp
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from live_bed import Bed, drain
from weir.live.namespaces import RUN

_NOBODY = 65534
_CLIENTS, _HELD = 8, 64
_CLASSES = {f"c{port}": {"protocol": "udp", "ports": [port]} for port in range(6000, 6030)}
"""So many that what is counted of them is long."""
_READS = '{"request":"stats"}\n'
_KEPT = {_NOBODY: 4 << 20, 0: (4 << 20) + _CLIENTS * (4 << 20)}
"""What clients of a user may cost in memory. A request of root may have a mebibyte, for which a buffer
doubles; and a client that is thrown out comes back before the memory of its last request does."""

_BECOME = """
import os, socket, sys, threading
user, group = int(sys.argv[3]), int(sys.argv[4])
os.setgroups([])
os.setgid(group)
os.setuid(user)
"""
"""Gives up root in the program itself: the user may not be permitted to start this Python."""

_FLOOD = """
made = socket.socket(socket.AF_UNIX)
made.connect(sys.argv[1])
def write():
    while True:
        made.sendall(sys.argv[2].encode() * 64)
threading.Thread(target=write, daemon=True).start()
print("connected", flush=True)
while made.recv(1 << 16):
    pass
"""
"""Writes requests without waiting for the answers, which it throws away."""

_SLOW = """
import time
made = socket.socket(socket.AF_UNIX)
made.connect(sys.argv[1])
print("connected", flush=True)
while True:
    for byte in sys.argv[2].encode():
        try:
            made.sendall(bytes([byte]))
        except OSError:
            made = socket.socket(socket.AF_UNIX)
            made.connect(sys.argv[1])
        time.sleep(0.005)
"""
"""Writes requests a byte at a time, and reads no answer; comes back when it is thrown out."""

_HUGE = """
print("connected", flush=True)
while True:
    made = socket.socket(socket.AF_UNIX)
    try:
        made.connect(sys.argv[1])
        while True:
            made.sendall(sys.argv[2].encode() * (1 << 16))
    except OSError:
        made.close()
"""
"""Writes a line without an end as fast as it is taken; comes back when it is thrown out."""

_MANY = """
print("connected", flush=True)
while True:
    made = socket.socket(socket.AF_UNIX)
    try:
        made.connect(sys.argv[1])
        made.sendall(sys.argv[2].encode())
    except OSError:
        pass
    made.close()
"""
"""Connects, asks and is gone, as fast as it can."""

_HOLD = """
held = []
for _ in range(int(sys.argv[2])):
    made = socket.socket(socket.AF_UNIX)
    made.connect(sys.argv[1])
    held.append(made)
print("connected", flush=True)
sys.stdin.read()
"""


def _group() -> str:
    """Return the name of a group in which root's user is not needed."""
    for number in (_NOBODY, os.getgid()):
        with suppress(KeyError):
            return grp.getgrgid(number).gr_name
    pytest.skip("this system has no group for nobody")


@contextmanager
def _as_member(bed: Bed, program: str, word: str, *, user: int, count: int = 1) -> Iterator[None]:
    """Run a program several times as a user of the router's group, until the block ends."""
    group = grp.getgrnam(_group()).gr_gid
    words = [str(RUN / bed.name / "control"), word, str(user), str(group)]
    command = [sys.executable, "-S", "-c", _BECOME + program, *words]
    started = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(count)]
    try:
        for each in started:
            assert each.stdout is not None
            assert each.stdout.readline() == b"connected\n"
        yield
    finally:
        for each in started:
            each.kill()
            each.communicate()


def _hears_root(bed: Bed, patience: float) -> None:
    """Have root ask: next to others a place is kept; next to its own clients it asks again, as told."""
    until = time.monotonic() + patience
    while (told := bed.ctl("status")).returncode:
        assert "ask again later" in told.stderr, told
        assert time.monotonic() < until, told
        time.sleep(0.05)


def _steady(bed: Bed, seconds: float) -> int:
    """Send some thousand packets a second, in bursts that no ring loses, and return how many."""
    sender = bed.sender()
    sent, until = 0, time.monotonic() + seconds
    while time.monotonic() < until:
        for _ in range(16):
            bed.send(sender, sent, 200)
            sent += 1
        time.sleep(0.002)
    return sent


@pytest.mark.parametrize("user", [_NOBODY, 0], ids=["member", "root"])
@pytest.mark.parametrize("io", ["af_xdp", "af_packet"])
def test_clients_that_flood_cost_no_packet(bed: Bed, io: str, user: int) -> None:
    bed.start(priority="", io=io, group=_group(), classes=_CLASSES)
    receiver = bed.receiver()
    with _as_member(bed, _FLOOD, _READS, user=user, count=_CLIENTS):
        sent = _steady(bed, 3.0)
        assert bed.ctl("status").returncode == 0
    bed.idle()
    balance = bed.balance()
    assert (balance["received"], balance["missed"], balance["forwarded"]) == (sent, 0, sent)
    assert len(drain(receiver)) == sent


@pytest.mark.parametrize("user", [_NOBODY, 0], ids=["member", "root"])
@pytest.mark.parametrize(
    ("program", "word"),
    [(_SLOW, _READS), (_HUGE, "x"), (_MANY, _READS)],
    ids=["slow", "huge", "many"],
)
def test_slow_huge_and_many_clients_cost_no_packet(bed: Bed, program: str, word: str, user: int) -> None:
    router = bed.start(priority="", group=_group(), classes=_CLASSES)
    receiver = bed.receiver()
    before, _ = bed.memory()
    with _as_member(bed, program, word, user=user, count=_CLIENTS):
        sent = _steady(bed, 2.0)
    assert router.poll() is None, bed.messages()
    _hears_root(bed, patience=0.0 if user else 10.0)
    bed.idle()
    balance = bed.balance()
    assert (balance["received"], balance["missed"], balance["forwarded"]) == (sent, 0, sent)
    assert len(drain(receiver)) == sent
    _, most = bed.memory()
    assert most - before <= _KEPT[user], "it keeps what clients write"


def test_refused_requests_are_paced_too(bed: Bed) -> None:
    bed.start(group=_group())
    receiver = bed.receiver()
    with _as_member(bed, _FLOOD, '{"request":"stop"}\n', user=_NOBODY, count=_CLIENTS):
        sent = _steady(bed, 2.0)
    bed.idle()
    assert bed.balance()["missed"] == 0
    assert len(drain(receiver)) == sent


def test_held_connections_of_one_user_lock_nobody_out(bed: Bed) -> None:
    bed.start(group=_group())
    with _as_member(bed, _HOLD, str(_HELD), user=_NOBODY):
        for _ in range(20):
            told = bed.ctl("stats", "--json")
            assert told.returncode == 0, told.stderr
        path = str(RUN / bed.name / "control")
        with _as_member(bed, _HOLD, "1", user=_NOBODY - 1):
            pass  # another user is heard as well
        assert Path(path).exists()


def test_a_stopped_daemon_is_said_to_be_stopped(bed: Bed) -> None:
    router = bed.start()
    router.send_signal(signal.SIGSTOP)
    try:
        told = bed.ctl("stats")
        assert told.returncode == 3
        assert f"process {router.pid} is stopped (state T)" in told.stderr
        assert f"kill -CONT {router.pid}" in told.stderr
        told = bed.ctl("stop")
        assert "whether it does what was asked is not known" in told.stderr
    finally:
        router.send_signal(signal.SIGCONT)
    assert router.wait(15) == 0  # it was asked to stop, and does so late


def _said(bed: Bed, count: int) -> str:
    """Return what was said once a signal was answered so many times."""
    deadline = time.monotonic() + 15
    while (said := bed.messages()).count("SIGHUP: ") < count:
        assert time.monotonic() < deadline, said
        time.sleep(0.01)
    return said


def test_a_hangup_reloads_the_file_and_loses_nothing(bed: Bed) -> None:
    router = bed.start(rate="20Mbit", memory="64MiB")
    receiver, sender = bed.receiver(), bed.sender()
    for turn, rate in enumerate(("10Mbit", "nothing", "30Mbit"), 1):
        bed.write(bed.configuration(rate=rate, memory="64MiB"))
        for number in range(50):
            bed.send(sender, 50 * turn + number, 400)
        router.send_signal(signal.SIGHUP)
        said = _said(bed, turn)
        assert router.poll() is None, said
    assert "error: SIGHUP: nothing is changed: " in said
    assert 'interface.rate is "nothing"' in said
    assert said.count("is in force") == 2
    assert bed.stats()[bed.right.interface]["rate"] == "30Mbit"
    bed.idle()
    assert [number for _, number, _ in drain(receiver)] == list(range(50, 200))


def _without(*capabilities: str) -> list[str]:
    """Return words that run a program without capabilities, under a limit of locked memory."""
    gone = ",".join(f"-{each}" for each in capabilities)
    return ["prlimit", "--memlock=8388608:8388608", "setpriv", f"--bounding-set={gone}", "--inh-caps=-all"]


def test_locked_memory_under_a_limit_leaves_room_for_connections(bed: Bed) -> None:
    path = bed.write(bed.configuration(memory="16MiB"))
    command = [*_without("sys_resource"), str(bed.weird), "route", str(path), "--lock-memory"]
    with (bed.folder / "router.err").open("wb") as errors:
        bed.router = bed.site.start("r", command, stdin=subprocess.DEVNULL, stderr=errors)
    deadline = time.monotonic() + 15
    while not bed.ready():
        assert time.monotonic() < deadline, bed.messages()
        assert bed.router.poll() is None, bed.messages()
        time.sleep(0.01)
    with _as_member(bed, _HOLD, "30", user=0):
        for _ in range(10):
            told = bed.ctl("stats", "--json")
            assert told.returncode == 0, told.stderr


def test_locked_memory_without_means_is_refused_at_the_start(bed: Bed) -> None:
    path = bed.write(bed.configuration(memory="1MiB"))
    command = [*_without("sys_resource", "ipc_lock"), str(bed.weird), "route", str(path), "--lock-memory"]
    started = bed.site.start("r", command, stderr=subprocess.PIPE)
    _, told = started.communicate(timeout=15)
    assert started.returncode == 3, told
    assert "--lock-memory: RLIMIT_MEMLOCK is 8388608B" in told.decode(), told


def test_a_connection_that_is_silent_is_closed(bed: Bed) -> None:
    bed.start()
    with socket.socket(socket.AF_UNIX) as made:
        made.connect(str(RUN / bed.name / "control"))
        made.sendall(b'{"request":"status"}\n{"requ')
        made.settimeout(20)
        told = made.makefile("rb")
        assert json.loads(told.readline())["answer"] == "status"
        assert told.readline() == b""
