"""What `weir plan` writes, and what `weir lint` reads and foresees, against OpenSM itself.

Finding B8: hundreds of mutated files in the normal run, 10,000 in the slow one. OpenSM's own parser reads
each of them; of every thirtieth a simulated subnet shows what ports are programmed with.
"""

from __future__ import annotations

import random
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import opensm_files
import simulated_subnet
from simulated_subnet import PORTS, Subnet
from weir import cli
from weir.errors import PlanError
from weir.planning import opensm

if TYPE_CHECKING:
    from collections.abc import Iterator

    from opensm_files import Reading

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


Held = list[tuple[int, int]]
KNOWN_BY = 30
"""Characters of an unknown name that are compared: findings and OpenSM's log shorten what is long."""
LANES = {0: 15, 1: 1, 2: 2, 3: 4, 4: 8}
"""Data lanes of a code of `max_op_vls`; 0 limits nothing, nor does one above 4."""


def read_as_opensm_reads(file: Path) -> tuple[Reading, dict[str, dict[str, Any]] | None]:
    """Hold what is read of a file and found in it against OpenSM's reading; return both readings."""
    said = opensm_files.reading(file)
    try:
        tables = opensm.tables(file)
    except PlanError:
        # The one reason to refuse a file: OpenSM knows none of its words.
        assert not said.warned
        return said, None
    again = file.with_name("again.conf")
    again.write_text(opensm_files.rewritten(said.values), encoding="utf-8", newline="")
    rewritten = opensm.tables(again)
    for prefix, table in tables.items():
        kept = ("max_vls", "high_limit", "high", "low", "sl2vl", "lanes")
        assert [table[key] for key in kept] == [rewritten[prefix][key] for key in kept], prefix
    assert tables["qos"]["lanes"] == LANES.get(int(said.values["max_op_vls"]), 15)
    findings = opensm.lint(file, opensm.Port(capacity=ROOM, lanes=ROOM))
    has_own = any(table["own"] for table in tables.values())
    assert ("qos-off" in rules_of(findings)) == (has_own and said.values["qos"] != "TRUE")
    found = {finding["option"] for finding in findings if finding["severity"] in {"error", "warning"}}
    assert said.warned <= found, said.warned - found
    unknown = {unescaped(finding["option"]) for finding in findings if finding["rule"] == "unknown-option"}
    assert {name[:KNOWN_BY] for name in unknown} == {name[:KNOWN_BY] for name in said.unknown}
    return said, tables


def unescaped(name: str) -> str:
    """Return a name of a finding as it stands in the file."""
    name = re.sub(r"\\u\{(\w+)\}", lambda code: chr(int(code[1], 16)), name)
    return re.sub(r"\\(.)", lambda escape: {"r": "\r", "t": "\t", "n": "\n"}.get(escape[1], escape[1]), name)


def rules_of(findings: list[dict[str, Any]]) -> set[str]:
    return {finding["rule"] for finding in findings}


def held_by(table: dict[str, Any], lanes: int) -> Held:
    """Return the pairs of a low table as a port of so many lanes in operation is to hold them."""
    mask = lanes - 1
    return filled([(lane % 15 & mask, weight % 256) for lane, weight in table["low"]])


def hold_against_opensm(subnet: Subnet, seed: int, files: int, every: int) -> None:
    numbers = random.Random(seed)  # noqa: S311 - no secret
    file = Path("mutated.conf").absolute()
    programmed = 0
    for place in range(files):
        text = opensm_files.mutated(numbers)
        file.write_text(text, encoding="utf-8", newline="")
        try:
            said, tables = read_as_opensm_reads(file)
            # Code 0 leaves a port the lanes that it had.
            is_told = said.values["qos"] == "TRUE" and said.values["max_op_vls"] != "0"
            if place % every or tables is None or not is_told:
                continue
            programmed += 1
            subnet.program(file)
            lanes = min(ROOM, tables["qos"]["lanes"])
            for port, prefix in (("interface of Host1", "qos_ca"), ("Switch1 to Host2", "qos_swe")):
                assert subnet.arbitration(port).low == held_by(tables[prefix], lanes), port
            held = [lane if lane == 15 else lane & (lanes - 1) for lane in levels_of(tables["qos_ca"])]
            assert subnet.service_levels("interface of Host1") == held
        except AssertionError as failed:
            raise AssertionError(f"file {place} of seed {seed}:\n{text!r}\n{failed}") from failed
    assert programmed > files // every // 2


def levels_of(table: dict[str, Any]) -> list[int]:
    return [lane % 16 for lane in table["sl2vl"]]


def test_b8_mutated_files_are_read_as_opensm_reads_them(subnet: Subnet):
    hold_against_opensm(subnet, seed=8, files=400, every=30)


@pytest.mark.slow
def test_b8_ten_thousand_mutated_files_are_read_as_opensm_reads_them(subnet: Subnet):
    hold_against_opensm(subnet, seed=88, files=10_000, every=30)


@pytest.mark.parametrize(
    ("text", "low", "levels"),
    [
        ("qos_vlarb_low 0:64,1:64 # two\n", [(0, 64), (1, 64)], None),
        ("qos_vlarb_low 0:64 ,1:64,2:64\n", [(0, 64), (0, 1), (4, 2), (4, 0)], None),
        ("qos_vlarb_low 0:64,1-64,2:300\n", [(0, 64), (1, 64), (2, 44)], None),
        ("qos_sl2vl 0 ,1,2,3\n", None, [0, 0, 1, 2, 3]),
        ("max_op_vls 3\nqos_max_vls 8\nqos_vlarb_low 5:32,0:32\n", [(1, 32), (0, 32)], None),
        ("qos_max_vls 4\nqos_vlarb_low 5:32,0:32\n", [(5, 32), (0, 32)], None),
    ],
    ids=["comment", "space", "malformed", "levels", "max_op_vls", "max_vls"],
)
def test_b8_what_ports_hold(subnet: Subnet, text: str, low: Held | None, levels: list[int] | None):
    file = Path("case.conf")
    file.write_text(f"qos TRUE # on\n{text}")
    _, tables = read_as_opensm_reads(file.absolute())
    assert tables is not None
    subnet.program(file)
    port = "interface of Host1"
    if low is not None:
        assert subnet.arbitration(port).low == filled(low)
        assert held_by(tables["qos_ca"], min(ROOM, tables["qos_ca"]["lanes"])) == filled(low)
    if levels is not None:
        assert subnet.service_levels(port)[: len(levels)] == levels
        assert levels_of(tables["qos_ca"])[: len(levels)] == levels


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
