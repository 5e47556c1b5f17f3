"""What a daemon does about other users: names them, and trusts nothing that they may write to."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from live_bed import Bed, drain, wait_for
from weir.live.namespaces import RUN

_NOBODY = 65534
_BIND = f"""
import os, socket, sys
os.setuid({_NOBODY})
made = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
made.bind("\\0weir/interface/" + sys.argv[1])
print("bound", flush=True)
sys.stdin.read()
"""


def _refused(bed: Bed, **more: dict[str, str]) -> str:
    """Return what a router says that does not start."""
    path = bed.write(bed.configuration())
    command = [str(bed.weird), "route", str(path)]
    started = bed.site.start("r", command, stderr=subprocess.PIPE, **more)
    _, told = started.communicate(timeout=15)
    assert started.returncode == 3, told
    return told.decode()


def test_who_keeps_an_interface_is_named(bed: Bed) -> None:
    interface = bed.left.interface
    command = [sys.executable, "-S", "-c", _BIND, interface]
    holder = bed.site.start("r", command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"bound\n"
    named = f"process {holder.pid} of user {_NOBODY} (`"
    assert f"interface {interface}: another process has it, {named}" in _refused(bed)
    doctor = bed.site.start("r", [str(bed.weird), "doctor", "--json"], stdout=subprocess.PIPE)
    findings = json.loads(doctor.communicate(timeout=60)[0])["findings"]
    found = [each for each in findings if each["area"] == "interfaces in use"]
    assert [(each["what"], each["state"]) for each in found] == [(interface, "warn")]
    assert named in found[0]["found"]
    assert f"`kill {holder.pid}`" in found[0]["remedy"]
    holder.kill()
    holder.wait()
    bed.start()


@pytest.mark.parametrize("where", ["base", "own"])
def test_a_run_directory_that_others_may_write_to_is_refused(bed: Bed, where: str) -> None:
    with TemporaryDirectory() as base:
        Path(base).chmod(0o777 if where == "base" else 0o755)
        path = Path(base)
        if where == "own":
            path = path / bed.name
            path.mkdir()
            path.chmod(0o777)
        told = _refused(bed, env={**os.environ, "WEIR_RUN_DIRECTORY": base})
    assert f"{path} is of mode 0777: whoever may write there" in told
    assert f"`chmod go-w {path}`" in told


def _status(thread: Path) -> dict[str, str]:
    text = (thread / "status").read_text()
    return dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)


def _capabilities(text: str) -> set[int]:
    return {bit for bit in range(64) if int(text, 16) >> bit & 1}


_KEPT = {12, 13, 39}
"""NET_ADMIN, NET_RAW and BPF, which open an interface again; IPC_LOCK (14) where memory has a limit."""


def _is_restricted(task: Path, first: int) -> bool:
    """Return whether a thread has given up what it is to: a new one does so before anything else."""
    try:
        status = _status(task)
    except (FileNotFoundError, ProcessLookupError):
        return True  # that of a connection that is closed
    assert set(status["Uid"].split()) == set(status["Gid"].split()) == {str(_NOBODY)}
    assert status["Groups"].split() == []
    assert status["NoNewPrivs"] == "1"
    assert status["Seccomp"] == "2"
    assert _capabilities(status["CapInh"]) | _capabilities(status["CapAmb"]) == set()
    kept = _KEPT | {14} if task.name == str(first) else {14}
    return _capabilities(status["CapPrm"]) | _capabilities(status["CapEff"]) <= kept


def _as_nobody(bed: Bed, *options: str, **keys: str) -> subprocess.Popen[bytes]:
    router = bed.start(*options, **keys)
    tasks = list(Path(f"/proc/{router.pid}/task").iterdir())
    assert len(tasks) >= 3
    deadline = time.monotonic() + 5
    while not all(_is_restricted(task, router.pid) for task in tasks):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return router


@pytest.mark.parametrize("boxed", [True, False])
def test_what_a_router_may_still_do_is_said(bed: Bed, boxed: bool) -> None:
    router = bed.start(*[] if boxed else ["--no-sandbox"])
    assert _status(Path(f"/proc/{router.pid}"))["Seccomp"] == ("2" if boxed else "0")
    said = bed.messages()
    assert ("are let through (seccomp)" in said) is boxed
    assert (f"files: only {RUN / bed.name} may be written to (Landlock)" in said) <= boxed
    router.send_signal(signal.SIGHUP)
    deadline = time.monotonic() + 10
    while "SIGHUP: " not in bed.messages():
        assert time.monotonic() < deadline, bed.messages()
        time.sleep(0.01)
    assert "is in force" in bed.messages()
    assert bed.ctl("stop").returncode == 0
    assert router.wait(15) == 0
    assert not (RUN / bed.name).exists()


def test_what_is_pinned_is_removed_at_the_end(bed: Bed) -> None:
    pins = Path("/sys/fs/bpf/weir")
    mounts = not pins.parent.is_mount()
    router = bed.start(io="af_xdp", on_failure="stop")
    assert not mounts or pins.parent.stat().st_mode & 0o777 == 0o700
    assert any(bed.name in str(pin) for pin in pins.rglob("*")), list(pins.rglob("*"))
    router.terminate()
    assert router.wait(15) == 0, bed.messages()
    assert not any(bed.name in str(pin) for pin in pins.rglob("*"))


@pytest.mark.parametrize("io", ["af_xdp", "af_packet"])
def test_a_router_of_another_user_forwards_and_ends(bed: Bed, io: str) -> None:
    for _ in range(2):  # the second takes over what the first could not remove
        router = _as_nobody(bed, "--user", "nobody", io=io)
        receiver, sender = bed.receiver(), bed.sender()
        for number in range(50):
            bed.send(sender, number, 200)
        bed.idle()
        assert len(drain(receiver)) == 50
        receiver.close()
        assert bed.ctl("set", bed.right.interface, "--rate", "20Mbit").returncode == 0
        directory = RUN / bed.name
        assert directory.stat().st_uid == _NOBODY
        assert directory.stat().st_mode & 0o7777 == 0o750
        router.terminate()
        assert router.wait(15) == 0, bed.messages()
        assert list(directory.iterdir()) == []
    router = _as_nobody(bed, io=io, user="nobody")
    router.kill()
    router.wait()
    _as_nobody(bed, io=io, user="nobody")


def test_a_router_of_another_user_opens_an_interface_again(tmp_path: Path) -> None:
    with Bed(tmp_path, queues=2) as bed:
        path = f"/run/netns/{bed.left.namespace}"
        line = ["nsenter", f"--net={path}", "ethtool", "-L", bed.left.interface, "rx"]
        if shutil.which("ethtool") is None or subprocess.run([*line, "1"], check=False).returncode:
            pytest.skip("nothing here changes the queues of veth")
        _as_nobody(bed, io="af_xdp", user="nobody")
        subprocess.run([*line, "2"], check=True)
        deadline = time.monotonic() + 10
        while "back, by AF_XDP" not in bed.messages():
            assert time.monotonic() < deadline, bed.messages()
            time.sleep(0.01)
        receiver = bed.receiver()
        bed.send(bed.sender(), 1, 200)
        assert wait_for(receiver, 5.0)


@pytest.mark.parametrize(
    ("name", "keys", "code", "word"),
    [
        ("root", {}, 2, "which is root"),
        ("no-such-user", {}, 2, "see `getent passwd`"),
        ("nobody", {"on_failure": "stop"}, 2, "pins programs, which root alone can remove"),
    ],
)
def test_a_user_that_cannot_be_is_refused(
    bed: Bed, name: str, keys: dict[str, str], code: int, word: str
) -> None:
    path = bed.write(bed.configuration(**keys))
    command = [str(bed.weird), "route", str(path), "--user", name]
    started = bed.site.start("r", command, stderr=subprocess.PIPE)
    _, told = started.communicate(timeout=15)
    assert started.returncode == code
    assert word in told.decode()
