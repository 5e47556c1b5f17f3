"""Daemons on kernels that lack what they would use, and on interfaces whose driver does."""

import socket
import subprocess
import time
from collections.abc import Callable

import pytest

import old_kernel
from live_bed import Bed, drain, wait_for
from steer_bed import SteerBed

pytestmark = pytest.mark.skipif(
    not old_kernel.KNOWN, reason="the numbers of this machine's system calls are not known"
)
Without = Callable[[], Callable[[], None]]


@pytest.mark.parametrize("without", [old_kernel.without_bpf, old_kernel.without_af_xdp])
def test_a_router_takes_other_sockets_and_says_so(bed: Bed, without: Without) -> None:
    bed.kernel = without()
    bed.start()
    assert "AF_PACKET" in bed.messages()
    receiver, sender = bed.receiver(), bed.sender()
    for number in range(10):
        bed.send(sender, number, 200)
    assert wait_for(receiver, 5.0)
    bed.idle()
    assert len(drain(receiver)) == bed.balance()["forwarded"] == 10


@pytest.mark.parametrize("without", [old_kernel.without_bpf, old_kernel.without_af_xdp])
def test_a_router_that_may_not_take_others_names_them(bed: Bed, without: Without) -> None:
    path = bed.write(bed.configuration(io="af_xdp"))
    command = [str(bed.weird), "route", str(path)]
    router = bed.site.start("r", command, stderr=subprocess.PIPE, preexec_fn=without())
    _, said = router.communicate(timeout=15)
    assert router.returncode == 3, said
    assert b"AF_PACKET" in said


def test_what_cannot_steer_says_which_kernel_can(steer: SteerBed) -> None:
    path = steer.folder / "steer.toml"
    path.write_text(steer.configuration())
    command = [str(steer.weird), "steer", str(path)]
    without = old_kernel.without_bpf()
    daemon = steer.site.start("s", command, stderr=subprocess.PIPE, preexec_fn=without)
    _, said = daemon.communicate(timeout=15)
    assert daemon.returncode == 3, said
    assert b"Linux 5." in said


def _handed(bed: Bed, listening: socket.socket) -> None:
    """Start a router that may open no socket of IP, as a supervisor does that hands it one."""
    path = bed.write(bed.configuration())
    number = listening.fileno()
    line = f"LISTEN_PID=$$ LISTEN_FDS=1 exec {bed.weird} route {path} 3<&{number}"
    with (bed.folder / "router.err").open("ab") as errors:
        bed.router = bed.site.start(
            "r", ["bash", "-c", line], stderr=errors, pass_fds=(number,), preexec_fn=old_kernel.without_ip()
        )
    deadline = time.monotonic() + 15
    while not bed.ready():
        assert time.monotonic() < deadline, bed.messages()
        time.sleep(0.02)


def test_metrics_come_by_a_socket_that_a_supervisor_keeps(bed: Bed) -> None:
    with bed.site.socket("r", socket.AF_INET, socket.SOCK_STREAM) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        for _ in range(2):  # the second process finds it as the first one did
            _handed(bed, listening)
            receiver, sender = bed.receiver(), bed.sender()
            bed.send(sender, 1, 200)
            assert wait_for(receiver, 5.0)
            receiver.close()
            with bed.site.socket("r", socket.AF_INET, socket.SOCK_STREAM) as asks:
                asks.settimeout(15)
                asks.connect(listening.getsockname())
                asks.sendall(b"GET /metrics HTTP/1.1\r\n\r\n")
                said = b""
                while more := asks.recv(1 << 16):
                    said += more
            assert said.startswith(b"HTTP/1.1 200 OK"), said
            assert b"\nweir_" in said
            assert bed.router is not None
            bed.router.terminate()
            assert bed.router.wait(15) == 0, bed.messages()


def test_metrics_without_sockets_of_ip_name_the_unit_that_has_them(bed: Bed) -> None:
    path = bed.write(bed.configuration(metrics="127.0.0.1:9477"))
    command = [str(bed.weird), "route", str(path)]
    router = bed.site.start("r", command, stderr=subprocess.PIPE, preexec_fn=old_kernel.without_ip())
    _, said = router.communicate(timeout=15)
    assert router.returncode == 3, said
    assert b"weird-route@.socket" in said
