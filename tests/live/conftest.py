"""Tests with real packets, in namespaces that they make: skipped, with the reason, where that fails."""

import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyroute2 import NetlinkError

from live_bed import SO_TIMESTAMPNS, Bed
from steer_bed import SteerBed
from weir.errors import UnsupportedError
from weir.live import program
from weir.live.namespaces import Site, why_not

_PINS = Path("/sys/fs/bpf")
_OF_THE_KERNEL = {"maps.debug", "progs.debug"}


def _missing() -> str | None:
    """Return why no real packets can be sent here: privileges, or veth in the kernel, are missing."""
    if reason := why_not():
        return reason
    try:
        with Site("probe") as site:
            site.node("one")
            site.node("other")
            site.wire("one", "other")
    except (NetlinkError, OSError) as error:
        return f"no namespaces with veth can be made: {error}"
    return None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what the machine cannot do; a program that is not built is no reason to."""
    here = Path(__file__).parent
    mine = [item for item in items if here in item.path.parents]
    if not mine:
        return
    if reason := _missing():
        for item in mine:
            item.add_marker(pytest.mark.skip(reason=reason))
        return
    try:
        program.find()
    except UnsupportedError as error:
        raise pytest.UsageError(f"{error}: {error.remedy}") from error


@pytest.fixture(scope="session", autouse=True)
def stamps() -> Iterator[None]:
    """Have the kernel stamp what comes in from now on.

    It begins a moment after the first socket asks, and what comes before is stamped when it is read.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asks:
        asks.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        time.sleep(0.1)
        yield


@pytest.fixture(scope="session", autouse=True)
def no_file_system_stays() -> Iterator[None]:
    """Unmount the file system for pins, if a daemon of these tests mounted it and nobody has pins there."""
    was = _PINS.is_mount()
    yield
    if not was and _PINS.is_mount() and {each.name for each in _PINS.iterdir()} <= _OF_THE_KERNEL:
        subprocess.run(["umount", str(_PINS)], check=False)


@pytest.fixture
def bed(tmp_path: Path) -> Iterator[Bed]:
    """Return two hosts with a router between them."""
    with Bed(tmp_path) as made:
        yield made


@pytest.fixture
def steer(tmp_path: Path) -> Iterator[SteerBed]:
    """Return a client and a server whose requests can be steered."""
    with SteerBed(tmp_path) as made:
        yield made
