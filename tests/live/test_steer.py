"""Requests of an interface, steered to processors: where each goes, that none is lost, what faults leave.

One test takes the second processor of the machine offline for a second, which everything on it notices: it
runs where ``WEIR_OFFLINE`` is set in the environment.
"""

import json
import os
import signal
import socket
import subprocess
import threading
import time
from collections import defaultdict
from pathlib import Path
from random import Random

import pytest

from steer_bed import LONG, SteerBed, drain, send
from weir.live.namespaces import RUN

_PROCESSORS = os.cpu_count() or 1
_EXAMPLES = Path(__file__).parents[2] / "examples"

_SWITCH = Path("/sys/devices/system/cpu/cpu1/online")
"""Takes the second processor offline and back."""

several = pytest.mark.skipif(_PROCESSORS < 2, reason="one processor: there is nothing to spread over")


def _conserved(told: dict) -> None:
    for each in told["processors"]:
        assert each["steered"] == each["served"] + each["dropped"] + each["waiting"], each
    assert told["frames"]["steered"] == sum(each["steered"] for each in told["processors"])


@several
def test_rr_takes_the_processors_in_turn(steer: SteerBed) -> None:
    steer.start(policy="rr")
    receiver = steer.receiver()
    count = 500 * _PROCESSORS
    send(steer.sender(), range(count))
    told = steer.settled()
    # Each receiving processor has a turn of its own, and differs by one at most.
    counts = steer.steered().values()
    assert sum(counts) == count
    assert max(counts) - min(counts) <= _PROCESSORS
    _conserved(told)
    assert len(drain(receiver)) == count
    assert [each["requests"] for each in told["classes"]] == [count, 0]


@several
def test_classes_have_their_own_processors(steer: SteerBed) -> None:
    steer.start(policy="rr_separated:short=1")
    sender = steer.sender()
    send(sender, range(300))
    assert steer.steered() == {0: 300} | dict.fromkeys(range(1, _PROCESSORS), 0)
    send(sender, range(200), field=LONG)
    counts = steer.steered()
    assert counts.pop(0) == 300
    assert sum(counts.values()) == 200
    told = steer.settled()
    assert [each["requests"] for each in told["classes"]] == [300, 200]
    _conserved(told)


@several
def test_flows_keep_their_order_under_a_hash(steer: SteerBed) -> None:
    steer.start(policy="flow_hash")
    receiver = steer.receiver()
    senders = [steer.sender() for _ in range(8)]
    for first in range(0, 400, 50):
        for sender in senders:
            send(sender, range(first, first + 50))
    by_flow = defaultdict(list)
    for port, number in drain(receiver):
        by_flow[port].append(number)
    assert len(by_flow) == 8
    assert all(numbers == list(range(400)) for numbers in by_flow.values())
    assert sum(count > 0 for count in steer.steered().values()) > 1


@several
def test_nothing_is_lost_by_200_changes_under_load(steer: SteerBed) -> None:
    steer.start(policy="rr")
    receiver = steer.receiver()
    sender, stop, sent = steer.sender(), threading.Event(), 0

    def load() -> None:
        nonlocal sent
        while not stop.is_set():
            send(sender, range(sent, sent + 512), rate=8_000)
            sent += 512

    arrivals: list[tuple[int, int]] = []
    loader = threading.Thread(target=load)
    taker = threading.Thread(target=lambda: arrivals.extend(drain(receiver, 3.0)))
    loader.start()
    taker.start()
    last = _PROCESSORS - 1
    turns = ["policy jsq", f"cores {last}", "policy flow_hash", "cores 0", "policy dynamic:period=10ms"]
    turns += [f"cores 0-{last}", "policy rr_separated:short=1", "policy dynamic_separated:period=5ms"]
    turns += ["policy rr", "policy dynamic:add=1us,period=2ms"]
    try:
        for change in range(280):  # some of them decide as the one before
            done = steer.ctl(*turns[change % len(turns)].split())
            assert done.returncode == 0, done.stderr
    finally:
        stop.set()
        loader.join()
    told = steer.settled()
    taker.join()
    _conserved(told)
    assert told["changes"] >= 200
    assert sum(each["dropped"] for each in told["processors"]) == 0
    assert told["frames"]["steered"] == sent
    assert sorted(number for _, number in arrivals) == list(range(sent))


@several
def test_the_count_of_processors_follows_the_delay(steer: SteerBed) -> None:
    # Every delay is above 1 ns, and none is above a second: the bounds of what a policy can do.
    steer.start(policy="dynamic:add=1ns,remove=0ns,min=1,period=10ms", window="10ms")
    assert steer.stats()["in_use"] == 1
    sender = steer.sender()
    send(sender, range(2_000), rate=4_000)
    assert steer.stats()["in_use"] == _PROCESSORS
    assert steer.ctl("policy", "dynamic:add=10s,remove=10s,min=1,period=10ms").returncode == 0
    send(sender, range(500), rate=4_000)
    assert steer.stats()["in_use"] == 1
    _conserved(steer.settled())


@several
def test_a_processor_that_is_taken_away_gets_no_requests(steer: SteerBed) -> None:
    steer.start(policy="rr")
    sender = steer.sender()
    send(sender, range(200))
    assert steer.ctl("cores", "0").returncode == 0
    before = steer.steered()
    send(sender, range(300))
    after = steer.steered()
    assert after[0] - before[0] == 300
    assert all(after[other] == before[other] for other in after if other)
    deadline = time.monotonic() + 5
    while steer.stats()["processors"][1]["draining"]:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    told = json.loads(steer.ctl("status", "--json").stdout)
    states = {each["processor"]: each["state"] for each in told["processors"]}
    assert states[0] == "in_use"
    assert states[1] == "closed"


@several
@pytest.mark.skipif("WEIR_OFFLINE" not in os.environ, reason="WEIR_OFFLINE is not set")
def test_a_processor_that_goes_offline_is_passed_over_and_comes_back(steer: SteerBed) -> None:
    def wait_for(*states: str) -> int:
        """Return the thread of the second processor, once its state is one of these."""
        deadline = time.monotonic() + 20
        while True:
            second = json.loads(steer.ctl("status", "--json").stdout)["processors"][1]
            if second["state"] in states:
                return second["thread"]
            assert time.monotonic() < deadline, second
            time.sleep(0.05)

    steer.start(policy="rr")
    before = wait_for("in_use")
    receiver, count = steer.receiver(), 15_000
    source = threading.Thread(target=send, args=(steer.sender(), range(count)), kwargs={"rate": 5_000})
    source.start()
    try:
        _SWITCH.write_text("0")
    except OSError as error:
        source.join()
        pytest.skip(f"no processor can be taken offline here: {error}")
    try:
        wait_for("offline", "draining")
    finally:
        _SWITCH.write_text("1")
    after = wait_for("in_use")
    source.join()
    told = steer.settled()
    # The kernel has moved the thread of the queue, and leaves it there.
    assert after != before
    assert all(each["steered"] == each["served"] for each in told["processors"]), told["processors"]
    assert sum(steer.steered().values()) == count == len(drain(receiver))


def test_other_traffic_passes_untouched(steer: SteerBed) -> None:
    steer.start(policy="rr")
    receiver = steer.site.socket("s", socket.AF_INET, socket.SOCK_DGRAM)
    receiver.bind(("10.78.0.2", 9001))
    receiver.settimeout(5)
    sender = steer.site.socket("c", socket.AF_INET, socket.SOCK_DGRAM)
    with receiver, sender:
        sender.sendto(b"x" * 4000, ("10.78.0.2", 9001))
        assert receiver.recv(8192) == b"x" * 4000
    frames = steer.stats()["frames"]
    assert frames["steered"] == 0
    assert frames["passed"] + frames["fragment"] >= 3


def test_a_killed_daemon_leaves_the_traffic_untouched(steer: SteerBed) -> None:
    receiver, sender = steer.receiver(), steer.sender()
    random = Random(1)  # noqa: S311 - moments, no secrets
    for trial in range(100):
        daemon = steer.run(steer.configuration(policy="dynamic:period=1ms"))
        time.sleep(random.uniform(0, 0.15))
        daemon.send_signal(signal.SIGKILL)
        daemon.wait(timeout=15)
        send(sender, range(50))
        assert len(drain(receiver, count=50)) == 50, trial
    steer.start(policy="rr")


def test_a_pinned_program_outlives_its_daemon_and_is_taken_over(steer: SteerBed) -> None:
    receiver, sender = steer.receiver(), steer.sender()
    steer.start(policy="rr", pin=True)
    pin = Path("/sys/fs/bpf/weir") / steer.name.replace(".", "%2e") / steer.server.interface
    send(sender, range(50))
    steer.kill()
    assert pin.exists()
    send(sender, range(50, 100))
    assert len(drain(receiver, count=100)) == 100
    steer.start(policy="jsq", pin=True)
    send(sender, range(50))
    assert sum(steer.steered().values()) == 50
    assert len(drain(receiver, count=50)) == 50
    steer.kill()
    removed = subprocess.run([steer.weird, "doctor", "--clean"], capture_output=True, text=True, check=False)
    assert f"removed {pin}" in removed.stdout
    assert not pin.exists()


@several
def test_a_full_queue_drops_and_what_it_drops_is_counted(steer: SteerBed) -> None:
    # Each request takes a while, and few may wait. The thread that serves goes before the sender, which needs
    # another processor: on the same one it would wait for the queue.
    service = "\n[service]\niterations = 1000\n"
    one = str(_PROCESSORS - 1)
    steer.daemon = steer.run(steer.configuration(policy="rr", queue="8pkt", processors=one) + service)
    deadline = time.monotonic() + 15
    while not steer.ready():
        assert time.monotonic() < deadline, steer.messages()
        time.sleep(0.02)
    receiver = steer.receiver()
    send(steer.sender(), range(2_000), field=200, rate=1e9)
    told = steer.settled()
    dropped = sum(each["dropped"] for each in told["processors"])
    assert dropped > 0
    _conserved(told)
    assert len(drain(receiver)) == 2_000 - dropped


def test_an_interface_that_goes_away_ends_the_daemon(steer: SteerBed) -> None:
    daemon = steer.start(policy="rr")
    client = steer.site.netlink("c")
    client.link("del", index=client.link_lookup(ifname=steer.client.interface)[0])
    assert daemon.wait(timeout=15) == 3
    assert f"interface {steer.server.interface}: gone" in steer.messages()


def test_two_daemons_are_refused(steer: SteerBed) -> None:
    daemon = steer.start(policy="rr")
    other = steer.run(steer.configuration(name=f"{steer.name}-2"), "other.toml")
    assert other.wait(timeout=15) == 3
    assert f"another process has it, process {daemon.pid} of user 0" in steer.messages("other.toml")
    same = steer.run(steer.configuration(), "same.toml")
    assert same.wait(timeout=15) == 3
    assert "is running as process" in steer.messages("same.toml")
    assert steer.ready()


def test_garbage_on_the_socket_harms_nothing(steer: SteerBed) -> None:
    steer.start(policy="rr")
    path = str(RUN / steer.name / "control")
    for garbage in (b"\n", b"\xff\xfe\x00\n", b"null\n", b'{"request":"policy"}\n', b"[" * 70_000, b""):
        with socket.socket(socket.AF_UNIX) as peer:
            peer.settimeout(5)
            peer.connect(path)
            try:
                peer.sendall(garbage)
                peer.shutdown(socket.SHUT_WR)
                peer.recv(4096)
            except (ConnectionResetError, BrokenPipeError):
                pass
    for words, error in (
        (("policy", "random"), "cannot run in the kernel as `random`"),
        (("policy", "rr:"), "cannot be read at byte"),
        (("cores", "1000"), "none of which is in this machine"),
        (("cores", "x"), "must have numbers from 0 to 1023"),
        (("drain",), "steers and has no interfaces to change"),
    ):
        done = steer.ctl(*words)
        assert done.returncode == 2
        assert error in done.stderr
    assert steer.ready()


def test_an_end_in_order_serves_what_waits(steer: SteerBed) -> None:
    daemon = steer.start(policy="rr")
    receiver, sender = steer.receiver(), steer.sender()
    send(sender, range(300))
    assert steer.ctl("stop").returncode == 0
    assert daemon.wait(timeout=15) == 0
    assert len(drain(receiver, 0.5)) == 300
    daemon = steer.start(policy="jsq")
    daemon.send_signal(signal.SIGTERM)
    assert daemon.wait(timeout=15) == 0


def test_processors_that_are_not_there_are_left_out(steer: SteerBed) -> None:
    steer.start(processors=f"0-{_PROCESSORS + 3}")
    assert "not in this machine" in steer.messages()
    none = steer.run(steer.configuration(name=f"{steer.name}-2", processors="900-901"), "none.toml")
    assert none.wait(timeout=15) == 2
    assert "none of which is in this machine" in steer.messages("none.toml")


@pytest.mark.parametrize("path", sorted(_EXAMPLES.glob("steer-*/*.toml")), ids=lambda path: path.stem)
def test_examples_are_accepted(steer: SteerBed, path: Path) -> None:
    text = path.read_text()
    machine = steer.folder / path.name
    machine.write_text(text.replace('"1-7"', '"0-7"'))
    command = [steer.weird, "steer", machine, "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
