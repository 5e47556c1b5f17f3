"""XDP programs of others next to ours, behind a dispatcher: put there by ``xdp-loader`` of libxdp."""

import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from live_bed import Bed, drain
from steer_bed import SteerBed, send
from steer_bed import drain as drain_requests
from weir.live import program

_COUNT = 50
_COUNTER = """
#include <linux/bpf.h>
#define SECTION(name) __attribute__((section(name), used))
struct {
    int (*type)[BPF_MAP_TYPE_ARRAY];
    int (*max_entries)[1];
    __u32 *key;
    __u64 *value;
} NAME_seen SECTION(".maps");
struct {
    int (*priority)[PRIORITY];
    int (*XDP_PASS)[1];
} _NAME SECTION(".xdp_run_config");
static void *(*lookup)(void *, const void *) = (void *)1;
SECTION("xdp") int NAME(struct xdp_md *context)
{
    __u32 first = 0;
    __u64 *seen = lookup(&NAME_seen, &first);
    if (seen)
        __sync_fetch_and_add(seen, 1);
    return XDP_PASS;
}
char LICENSE[] SECTION("license") = "GPL";
"""
_LINE = re.compile(r"^\s*=>\s+(\d+)\s+(\S+)\s+(\d+)\s", re.MULTILINE)


@pytest.fixture(scope="module", autouse=True)
def _can() -> None:
    """Skip where programs cannot be put behind a dispatcher, or nobody else does so."""
    if missing := [name for name in ("xdp-loader", "bpftool", "clang") if shutil.which(name) is None]:
        pytest.skip(f"not installed: {', '.join(missing)}")
    done = subprocess.run([program.find(), "doctor", "--json"], capture_output=True, check=False)
    found = [each for each in json.loads(done.stdout)["findings"] if each["what"] == "dispatcher"]
    if found[0]["state"] != "ok":
        pytest.skip(found[0]["found"])


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a file system for pins, which goes with the test."""
    path = tmp_path / "pins"
    path.mkdir()
    subprocess.run(["mount", "-t", "bpf", "bpf", path], check=True)
    monkeypatch.setenv("LIBXDP_BPFFS", str(path))
    yield path
    subprocess.run(["umount", path], check=True)


class _Others:
    """Programs of others on an interface, which count frames and pass them."""

    def __init__(self, folder: Path, namespace: str, interface: str) -> None:
        self.interface = interface
        self._folder = folder
        self._enter = ["nsenter", f"--net=/run/netns/{namespace}"]

    def run(self, *command: str | Path) -> str:
        """Run a command in the namespace of the interface."""
        done = subprocess.run([*self._enter, *command], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def compile(self, name: str, priority: int) -> Path:
        """Return the object of a program that counts."""
        source, made = self._folder / f"{name}.c", self._folder / f"{name}.o"
        source.write_text(_COUNTER.replace("NAME", name).replace("PRIORITY", str(priority)))
        machine = f"-idirafter/usr/include/{os.uname().machine}-linux-gnu"
        line = ["clang", "-target", "bpf", "-O2", "-g", machine, "-c", str(source), "-o", str(made)]
        subprocess.run(line, check=True)
        return made

    def load(self, name: str, priority: int) -> None:
        """Have a program put there."""
        self.run("xdp-loader", "load", self.interface, self.compile(name, priority))

    def unload(self, name: str) -> None:
        """Have a program taken away."""
        number = next(number for _, found, number in self.programs() if found == name)
        self.run("xdp-loader", "unload", self.interface, "--id", str(number))

    def programs(self) -> list[tuple[int, str, int]]:
        """Return priority, name and number of each program behind the dispatcher, as ``xdp-loader`` tells."""
        told = self.run("xdp-loader", "status", self.interface)
        return [(int(priority), name, int(number)) for priority, name, number in _LINE.findall(told)]

    def names(self) -> list[str]:
        """Return the names of the programs in the order in which they are called."""
        return [name for _, name, _ in self.programs()]

    def seen(self, name: str) -> int:
        """Return how many frames a program has counted."""
        told = subprocess.run(
            ["bpftool", "-j", "map", "dump", "name", f"{name}_seen"], capture_output=True, check=True
        )
        entry = json.loads(told.stdout)[0]
        return int(entry["formatted"]["value"] if "formatted" in entry else entry["value"])


def _on(bed: Bed) -> _Others:
    return _Others(bed.folder, bed.left.namespace, bed.left.interface)


def _forwards(bed: Bed) -> None:
    receiver, sender = bed.receiver(), bed.sender()
    for number in range(_COUNT):
        bed.send(sender, number, 200)
    bed.idle()
    deadline, numbers = time.monotonic() + 5, []
    while len(numbers) < _COUNT and time.monotonic() < deadline:
        numbers += [number for _, number, _ in drain(receiver)]
    assert numbers == list(range(_COUNT))
    receiver.close()


def _end(bed: Bed) -> None:
    assert bed.router is not None
    bed.router.terminate()
    assert bed.router.wait(30) == 0, bed.messages()


def _kill(bed: Bed) -> None:
    assert bed.router is not None
    bed.router.kill()
    assert bed.router.wait(30) == -signal.SIGKILL


def test_ours_joins_theirs_and_leaves_them_as_they_were(bed: Bed, files: Path) -> None:
    others = _on(bed)
    others.load("early", 10)
    others.load("late", 90)
    for _ in range(2):
        before = {name: others.seen(name) for name in ("early", "late")}
        bed.start(io="af_xdp")
        assert others.names() == ["early", "route", "late"]
        assert [priority for priority, _, _ in others.programs()] == [10, 50, 90]
        _forwards(bed)
        # What is routed goes to the socket; what is left to the kernel is seen by all.
        assert others.seen("early") - before["early"] >= _COUNT
        assert others.seen("late") - before["late"] < _COUNT
        _end(bed)
        assert others.names() == ["early", "late"]
        assert len(list(files.glob("xdp/dispatch-*"))) == 1
        assert len(list(files.glob("xdp/dispatch-*/*"))) == 4
    assert not list(Path("/sys/fs/bpf/weir").glob(f"{bed.name}*"))


def test_theirs_joins_ours(bed: Bed, files: Path) -> None:
    others = _on(bed)
    bed.start(io="af_xdp", xdp="dispatcher", xdp_priority=60)
    assert [(priority, name) for priority, name, _ in others.programs()] == [(60, "route")]
    _forwards(bed)
    others.load("late", 90)
    others.load("early", 10)
    assert others.names() == ["early", "route", "late"]
    _forwards(bed)
    assert others.seen("early") >= _COUNT > others.seen("late")
    others.unload("early")
    others.unload("late")
    assert others.names() == ["route"]
    _forwards(bed)
    assert bed.ctl("reload", str(bed.folder / "router.toml")).returncode == 0
    _end(bed)
    assert "No XDP program loaded" in others.run("xdp-loader", "status", bed.left.interface)
    assert not list(files.glob("xdp/dispatch-*"))


def test_a_killed_router_stays_until_the_next_or_until_it_is_cleaned(bed: Bed) -> None:
    others = _on(bed)
    others.load("late", 90)
    bed.start(io="af_xdp")
    _kill(bed)
    assert others.names() == ["route", "late"]
    before = others.seen("late")
    sender = bed.sender()
    for number in range(_COUNT):
        bed.send(sender, number, 200)
    assert others.seen("late") - before >= _COUNT  # nobody takes it: it goes on
    bed.start(io="af_xdp")
    assert others.names() == ["route", "late"]
    _forwards(bed)
    _kill(bed)
    said = others.run(bed.weird, "doctor")
    assert f"the program behind the dispatcher of {bed.left.interface}, whose daemon is gone" in said
    said = others.run(bed.weird, "doctor", "--clean")
    assert f"removed /sys/fs/bpf/weir/{bed.name}/{bed.left.interface}%slot" in said
    assert others.names() == ["late"]


def test_a_killed_router_that_is_to_stop_all_stops_it(bed: Bed) -> None:
    others = _on(bed)
    others.load("early", 10)
    others.load("late", 90)
    bed.start(io="af_xdp", on_failure="stop")
    _kill(bed)
    before = {name: others.seen(name) for name in ("early", "late")}
    sender = bed.sender()
    for number in range(_COUNT):
        bed.send(sender, number, 200)
    assert others.seen("early") - before["early"] >= _COUNT
    assert others.seen("late") - before["late"] < _COUNT
    bed.start(io="af_xdp", on_failure="stop")
    _forwards(bed)
    _end(bed)
    assert others.names() == ["early", "late"]


@pytest.mark.parametrize("keys", [{}, {"on_failure": "stop"}], ids=["pass", "stop"])
def test_a_router_is_taken_over_behind_a_dispatcher(bed: Bed, keys: dict[str, str]) -> None:
    others = _on(bed)
    others.load("early", 10)
    old = bed.start(rate="20Mbit", io="af_xdp", **keys)
    number = others.programs()[1][2]
    _forwards(bed)
    bed.start("--take-over", rate="20Mbit", io="af_xdp", **keys)
    assert old.wait(timeout=30) == 0, bed.messages()
    assert others.names() == ["early", "route"]
    assert others.programs()[1][2] != number
    deadline = time.monotonic() + 10
    while bed.messages().count("taken over, by AF_XDP") < 2:
        assert time.monotonic() < deadline, bed.messages()
        time.sleep(0.01)
    _forwards(bed)
    _end(bed)
    assert others.names() == ["early"]


def test_several_queues_and_workers_are_served_behind_a_dispatcher(tmp_path: Path) -> None:
    with Bed(tmp_path, queues=4) as bed:
        others = _on(bed)
        others.load("early", 10)
        bed.start(io="af_xdp", workers=2)
        _forwards(bed)
        assert others.seen("early") >= _COUNT


def test_a_program_that_is_no_dispatcher_is_named(bed: Bed, files: Path) -> None:
    others = _on(bed)
    pin = files / "counter"
    others.run("bpftool", "prog", "load", others.compile("lonely", 10), pin)
    others.run("bpftool", "net", "attach", "xdp", "pinned", pin, "dev", bed.left.interface)
    path = bed.write(bed.configuration(io="af_xdp", xdp="dispatcher"))
    started = bed.site.start("r", [str(bed.weird), "route", str(path)], stderr=subprocess.PIPE)
    _, told = started.communicate(timeout=30)
    assert started.returncode == 3
    number = json.loads(others.run("bpftool", "-j", "prog", "show", "pinned", pin))["id"]
    assert f"another XDP program, number {number}, is attached" in told.decode()
    assert "ip link set dev" in told.decode()
    doctor = others.run(bed.weird, "doctor")
    assert f"XDP program `lonely`, number {number}: it is no dispatcher of libxdp" in doctor
    others.run("bpftool", "net", "detach", "xdp", "dev", bed.left.interface)


@pytest.mark.parametrize("asked", [True, False], ids=["asked", "there"])
def test_a_user_cannot_leave_a_dispatcher(bed: Bed, asked: bool) -> None:
    if not asked:
        _on(bed).load("early", 10)
    path = bed.write(bed.configuration(user="nobody", **({"xdp": "dispatcher"} if asked else {})))
    started = bed.site.start("r", [str(bed.weird), "route", str(path)], stderr=subprocess.PIPE)
    _, told = started.communicate(timeout=30)
    assert started.returncode == 2
    assert "which root alone can remove" in told.decode()


def test_requests_are_steered_behind_a_dispatcher(steer: SteerBed) -> None:
    others = _Others(steer.folder, steer.server.namespace, steer.server.interface)
    others.load("early", 10)
    steer.start(policy="rr")
    assert others.names() == ["early", "steer"]
    receiver = steer.receiver()
    send(steer.sender(), range(_COUNT))
    assert sum(steer.steered().values()) == _COUNT
    assert len(drain_requests(receiver)) == _COUNT
    assert others.seen("early") >= _COUNT
    told = steer.settled()
    assert sum(each["requests"] for each in told["classes"]) == _COUNT
    assert steer.daemon is not None
    steer.daemon.terminate()
    assert steer.daemon.wait(30) == 0
    assert others.names() == ["early"]
