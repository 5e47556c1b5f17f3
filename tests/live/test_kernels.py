"""Daemons on kernels that lack what they would use, and on interfaces whose driver does."""

import subprocess
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
