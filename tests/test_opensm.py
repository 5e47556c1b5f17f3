"""What `weir plan` writes, and what `weir lint` foresees, against OpenSM itself on a simulated subnet."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import simulated_subnet
from simulated_subnet import PORTS, Subnet
from weir import cli
from weir.planning import opensm

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(
    simulated_subnet.missing() is not None, reason=simulated_subnet.missing() or "nothing is missing"
)

CONFIGS = Path(__file__).resolve().parent.parent / "data" / "configs"
ROOM = 8
"""Entries of a simulated port's table, and data lanes that it has."""
LARGE = (
    ("control", 25, 2),
    ("storage", 25, 4),
    ("all-to-all", 25, 8),
    ("bulk", 12.5, 16),
    ("rest", 12.5, 32),
)
SMALL = (("control", 25, 2), ("storage", 37.5, 4), ("bulk", 12.5, 8), ("rest", 25, 8))


def request(entries: int, classes: tuple[tuple[str, float, int], ...]) -> str:
    """Return a request for a table of so many entries."""
    head = (
        f'weir = 1\n[table]\nentries = {entries}\nmtu = "2048B"\nk = 2\nw = 4\n'
        '[link]\nrate = "2.5Gbit"\ncoding = "8b/10b"\n'
    )
    each = (
        f'[[class]]\nname = "{name}"\nshare = "{share}%"\ndistance = {distance}\n'
        for name, share, distance in classes
    )
    return head + "".join(each)


@pytest.fixture
def subnet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Subnet]:
    monkeypatch.chdir(tmp_path)
    with Subnet(tmp_path) as running:
        yield running


def planned(entries: int, classes: tuple[tuple[str, float, int], ...]) -> list[tuple[int, int]]:
    """Write ``qos.conf`` by `weir plan`; return the low table that it asks for."""
    Path("request.toml").write_text(request(entries, classes))
    assert cli.run(["plan", "request.toml", "--target", "opensm", "--out", "qos.conf"]) == 0
    return pairs_of("qos.conf", "qos", "low")


def pairs_of(file: str, prefix: str, table: str) -> list[tuple[int, int]]:
    return [(lane, weight) for lane, weight in opensm.tables(file)[prefix][table]]


def filled(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return what a port of the simulator holds of a table: its first entries, the rest empty."""
    return (pairs + [(0, 0)] * ROOM)[:ROOM]


def test_a_plan_that_fits_is_what_every_port_holds(subnet: Subnet):
    low = planned(ROOM, SMALL)
    assert len(low) == ROOM
    assert opensm.lint("qos.conf", opensm.Port(capacity=ROOM, lanes=ROOM)) == []
    subnet.program(Path("qos.conf"))
    for port in PORTS:
        held = subnet.arbitration(port)
        assert (held.low_capacity, held.high_capacity) == (ROOM, ROOM), port
        assert held.low == low, port
        assert held.high == filled([(0, 0)]), port


def test_a_longer_plan_is_cut_as_the_findings_say(subnet: Subnet):
    low = planned(32, LARGE)
    findings = opensm.lint("qos.conf", opensm.Port(capacity=ROOM, lanes=ROOM))
    cut = next(finding for finding in findings if finding["rule"] == "over-capacity")
    foreseen = {int(lane) for lane in re.findall(r"\d+", cut["why"].split("without any entry:")[1])}
    subnet.program(Path("qos.conf"))
    for port in PORTS:
        held = subnet.arbitration(port).low
        assert held == low[:ROOM], port
        lost = {lane for lane, _ in low} - {lane for lane, weight in held if weight > 0}
        assert lost == foreseen, port
    assert lost == {4}


def test_lanes_wrap_as_the_findings_say(subnet: Subnet):
    Path("wrong.conf").write_text(
        "qos TRUE\nqos_max_vls 8\nqos_high_limit 3\nqos_vlarb_high 1:64\n"
        "qos_vlarb_low 15:32,9:64,2:32\nqos_sl2vl 0,1,2,3,4,5,6,7,0,0,0,0,0,0,0,15\n"
    )
    findings = opensm.lint("wrong.conf", opensm.Port(capacity=ROOM, lanes=ROOM))
    assert {"lane-range", "lane-masked"} <= {finding["rule"] for finding in findings}
    subnet.program(Path("wrong.conf"))
    for port in PORTS:
        held = subnet.arbitration(port)
        # 15 is taken modulo 15, and 9 loses the bit that 8 lanes have not.
        assert held.low == filled([(0, 32), (1, 64), (2, 32)]), port
        assert held.high == filled([(1, 64)]), port
        assert subnet.lanes(port)["OperVLs"] == "VL0-7", port


@pytest.mark.parametrize("name", ["opensm-qos-defaults.conf", "opensm-qos-example.conf"])
def test_shipped_options_raise_findings_and_are_read_as_opensm_reads_them(subnet: Subnet, name: str):
    shutil.copy(CONFIGS / name, name)
    with Path(name).open("a") as options:
        options.write("\nqos TRUE\n")
    assert opensm.lint(name, opensm.Port(mtu="4096B", capacity=ROOM, lanes=ROOM))
    subnet.program(Path(name))
    for port in PORTS:
        prefix = "qos_ca" if port.startswith("interface") else "qos_swe"
        held = subnet.arbitration(port)
        low = [(lane % 15 & (ROOM - 1), weight) for lane, weight in pairs_of(name, prefix, "low")]
        assert held.low == filled(low), port
