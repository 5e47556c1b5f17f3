"""Tests with real packets, in namespaces that they make: skipped, with the reason, where that fails."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from live_bed import Bed
from weir.errors import UnsupportedError
from weir.live import program
from weir.live.namespaces import why_not


def _missing() -> str | None:
    """Return why no real packets can be sent here."""
    if reason := why_not():
        return reason
    try:
        weird = program.find()
    except UnsupportedError as error:
        return f"{error}; {error.remedy}"
    probe = subprocess.run(
        ["ip", "link", "add", "weir-probe", "type", "veth"], capture_output=True, check=False
    )
    subprocess.run(["ip", "link", "del", "weir-probe"], capture_output=True, check=False)
    if probe.returncode:
        return f"no veth can be made: {probe.stderr.decode().strip()}"
    return None if weird.is_file() else f"{weird} is no file"


MISSING = _missing()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if MISSING and here in item.path.parents:
            item.add_marker(pytest.mark.skip(reason=MISSING))


@pytest.fixture
def bed(tmp_path: Path) -> Iterator[Bed]:
    """Return two hosts with a router between them."""
    with Bed(tmp_path) as made:
        yield made
