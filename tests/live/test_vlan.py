"""Interfaces that are VLANs of a device: routed between, classified, rewritten, added and taken away."""

import json
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from live_bed import drain, wait_for
from vlan_bed import CUSTOMER, ONE, PLAIN, SERVICE, TWO, VlanBed
from weir import toml

if TYPE_CHECKING:
    from vlan_bed import Tags

_IO = pytest.mark.parametrize("io", ["af_xdp", "af_packet"])


@pytest.fixture
def trunk(tmp_path: Path) -> Iterator[VlanBed]:
    """Return two hosts of several VLANs with a router between them."""
    with VlanBed(tmp_path) as made:
        yield made


@_IO
def test_packets_are_routed_between_vlans_and_frames_without_a_tag(trunk: VlanBed, io: str) -> None:
    trunk.start(io=io, neighbours=False)
    near, far = trunk.hosts()
    # So that the kernel there has nothing to complain of.
    trunk.receiver()
    ways: list[tuple[Tags, str, object, Tags]] = [
        (ONE, "10.79.107.2", near, TWO),
        (TWO, "10.79.100.2", near, ONE),
        (TWO, "10.79.200.2", far, ONE),
        (ONE, "10.79.200.2", far, ONE),
        (ONE, "10.79.2.2", far, PLAIN),
        (PLAIN, "10.79.107.2", near, TWO),
        (PLAIN, "10.79.200.2", far, ONE),
    ]
    for number, (tags, to, host, expected) in enumerate(ways):
        assert host in (near, far)
        words = f"way {number}.".encode()
        near.send(tags, to, words)
        heard = (near if host is near else far).hears(words)
        assert (heard.tags, heard.ttl, heard.source) == (expected, 63, near.addresses[tags])
    trunk.adds_up()
    # The counts are those of each VLAN, by its name.
    stats = trunk.stats()
    assert stats["one"]["forwarded"]["packets"] == 1
    assert stats["two"]["forwarded"]["packets"] == 2
    assert stats["far"]["forwarded"]["packets"] == 3
    status = trunk.ctl("status").stdout
    assert all(name in status for name in ("one", "two", "far", trunk.left.interface))


@_IO
def test_a_kernel_of_no_vlan_reaches_hosts_in_one(trunk: VlanBed, io: str) -> None:
    trunk.start(io=io, neighbours=False)
    near, _ = trunk.hosts()
    receiver = trunk.receiver()
    near.send(ONE, "10.79.2.2", b"\0\0\0\7")
    assert wait_for(receiver, 10)
    assert [number for _, number, _ in drain(receiver)] == [7]


@_IO
def test_classes_are_by_vlan_and_priority_which_are_rewritten(trunk: VlanBed, io: str) -> None:
    classes = {
        "voice": {"vlan": [100], "priority": [5], "set_priority": 6, "set_dscp": 46},
        "customers": {"vlan": [100]},
        "providers": {"outer": [200]},
    }
    trunk.start(io=io, neighbours=False, classes=classes)
    near, far = trunk.hosts()
    for words, tags, priority, expected, tos in [
        (b"voice", ONE, 5, 6, 46 << 2),
        (b"data", ONE, 3, 3, 8),
        (b"twice", TWO, 4, 4, 8),
        (b"plain", PLAIN, 0, 0, 8),
    ]:
        near.send(tags, "10.79.200.2", words, priority=priority, tos=8)
        heard = far.hears(words)
        assert (heard.priorities, heard.tos) == ((expected,), tos), words
    counted = {each["name"]: each["forwarded"]["packets"] for each in trunk.stats()["far"]["classes"]}
    assert counted == {"voice": 1, "customers": 1, "providers": 1, "default": 1}
    # From one tag to two, both have the priority.
    near.send(ONE, "10.79.107.2", b"inner", priority=3)
    assert near.hears(b"inner").priorities == (3, 3)
    # Into a VLAN whose priority follows the packet.
    path = trunk.write(
        trunk.configuration(
            io=io, neighbours=False, classes=classes, vlans=trunk.vlans(priority_from="dscp")
        ),
        "next.toml",
    )
    assert trunk.ctl("reload", str(path)).returncode == 0
    near.send(TWO, "10.79.200.2", b"follows", priority=1, tos=46 << 2)
    assert far.hears(b"follows").priorities == (5,)


@_IO
def test_tags_of_no_interface_are_left_to_the_kernel(trunk: VlanBed, io: str) -> None:
    trunk.start(io=io, neighbours=False)
    near, far = trunk.hosts()
    unknown: list[Tags] = [
        ((CUSTOMER, 101),),
        ((CUSTOMER, 0),),
        ((SERVICE, 100),),
        ((CUSTOMER, 200), (CUSTOMER, 7)),
        ((SERVICE, 200), (CUSTOMER, 8)),
        (*TWO, (CUSTOMER, 1)),
    ]
    for tags in unknown:
        near.send(tags, "10.79.2.2", b"nobody")
    near.send(ONE, "10.79.200.2", b"last")
    far.hears(b"last")
    left = trunk.stats()[trunk.left.interface]
    counted = (
        left["left_to_kernel"]
        if io == "af_xdp"
        else {reason: count["packets"] for reason, count in left["refused"].items()}
    )
    assert counted["vlan"] == len(unknown)
    assert not any(b"nobody" in heard.payload for heard in far.heard)
    trunk.adds_up()


@_IO
def test_errors_come_back_in_their_vlan(trunk: VlanBed, io: str) -> None:
    trunk.start(io=io, neighbours=False)
    near, _ = trunk.hosts()
    for tags in (ONE, TWO):
        near.send(tags, "10.79.2.2", b"too far", ttl=1, priority=2)
        error = near.hears(b"\x0b\0")
        assert (error.tags, error.protocol, error.priorities) == (tags, 1, (2,) * len(tags))
        near.heard.clear()


@_IO
def test_one_tag_does_not_count_in_the_mtu_and_two_do(trunk: VlanBed, io: str) -> None:
    trunk.start(io=io, neighbours=False)
    near, far = trunk.hosts()
    near.send(PLAIN, "10.79.200.2", b"whole".ljust(1472, b"."))
    assert far.hears(b"whole").size == 1500
    near.send(ONE, "10.79.107.2", b"fits".ljust(1464, b"."))
    assert near.hears(b"fits").size == 1492
    near.send(ONE, "10.79.107.2", b"cut".ljust(1472, b"."), fragment=0)
    assert near.hears(b"cut").size == 1492
    near.send(ONE, "10.79.107.2", b"not to be cut".ljust(1472, b"."))
    error = near.hears(b"\x03\x04")
    assert (error.tags, error.payload[6:8]) == (ONE, (1492).to_bytes(2))
    trunk.adds_up()
    assert not any(sum(each["kernel"].values()) for each in trunk.stats().values())


@_IO
def test_a_reload_adds_and_takes_away_vlans_without_loss(trunk: VlanBed, io: str) -> None:
    keys = {"io": io, "neighbours": False, "rate": "50Mbit"}
    trunk.start(vlans=[], **keys)
    near, far = trunk.hosts()
    without = trunk.write(trunk.configuration(vlans=[], **keys), "without.toml")
    all_of_them = trunk.write(trunk.configuration(**keys), "all.toml")
    receiver, sender = trunk.receiver(), trunk.sender()
    sent = 0
    for turn in range(20):
        path = without if turn % 2 else all_of_them
        for _ in range(50):
            trunk.send(sender, sent, 300)
            sent += 1
        said = trunk.ctl("reload", str(path))
        assert said.returncode == 0, said.stderr
        if turn % 2 == 0:
            words = f"turn {turn}.".encode()
            near.send(TWO, "10.79.200.2", words)
            assert far.hears(words).tags == ONE
        time.sleep(0.01)
    trunk.idle()
    time.sleep(0.1)
    assert [number for _, number, _ in drain(receiver)] == list(range(sent))
    trunk.adds_up()
    assert sum(len(each["classes"][0]["dropped"]) for each in trunk.stats().values()) == 0
    # What is no more is neither shown nor to be changed, and what it counted stays.
    names = {each["name"] for each in json.loads(trunk.ctl("status", "--json").stdout)["interfaces"]}
    assert names == {trunk.left.interface, trunk.right.interface}
    assert trunk.stats()["far"]["forwarded"]["packets"] == 10
    refused = trunk.ctl("set", "far", "--rate", "1Mbit")
    assert refused.returncode != 0
    assert "not one here" in refused.stderr
    moved = trunk.vlans()
    moved[0]["vlan"] = 101
    path = trunk.write(trunk.configuration(vlans=moved, **keys), "moved.toml")
    refused = trunk.ctl("reload", str(path))
    assert refused.returncode != 0
    assert "interface `one` cannot become VLAN 101 of" in refused.stderr


def test_what_is_dropped_is_captured_with_its_tags(trunk: VlanBed, tmp_path: Path) -> None:
    trunk.start(neighbours=False)
    near, far = trunk.hosts()
    near.send(TWO, "192.0.2.1", b"nowhere", priority=5)
    near.send(ONE, "10.79.200.2", b"last")
    far.hears(b"last")
    last = json.loads(trunk.ctl("drops", "--json").stdout)["packets"][-1]
    assert (last["interface"], last["reason"], last["head"][24:44]) == (
        "two",
        "no_route",
        "88a8a0c88100a0070800",
    )
    place = tmp_path / "lost.pcapng"
    assert trunk.ctl("drops", "--pcap", str(place)).returncode == 0
    assert bytes.fromhex("88a8a0c88100a0070800") in place.read_bytes()
    shown = trunk.ctl("drops").stdout
    assert "10.79.107.2" in shown
    assert "192.0.2.1" in shown


def test_another_process_takes_vlans_over(trunk: VlanBed) -> None:
    keys = {
        "neighbours": False,
        "rate": "2Mbit",
        "vlans": trunk.vlans(rate="2Mbit", discipline="fifo:limit=1000pkt"),
    }
    trunk.start(**keys)
    near, far = trunk.hosts()
    near.send(ONE, "10.79.200.2", b"before")
    far.hears(b"before")
    for turn in range(3):
        for number in range(100):
            near.send(TWO, "10.79.200.2", f"turn {turn} {number}.".encode().ljust(500, b"."), priority=5)
        old = trunk.router
        assert old is not None
        trunk.start("--take-over", **keys)
        assert old.wait(timeout=10) == 0, trunk.messages()
    for turn in range(3):
        for number in range(100):
            assert far.hears(f"turn {turn} {number}.".encode()).priorities == (5,)
    assert len(far.heard) == 301
    trunk.adds_up()


@pytest.mark.parametrize("queues", [1, 4])
def test_workers_serve_the_vlans_of_their_devices(tmp_path: Path, queues: int) -> None:
    with VlanBed(tmp_path, queues=queues) as bed:
        bed.start(neighbours=False, workers=2, io="af_xdp")
        near, far = bed.hosts()
        for number in range(200):
            words = f"packet {number}.".encode()
            near.send((PLAIN, ONE, TWO)[number % 3], "10.79.200.2", words)
            if number % 20 == 0:
                far.hears(words)
        far.hears(b"packet 199.")
        deadline = time.monotonic() + 10
        while len(far.heard) < 200 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert len(far.heard) == 200
        bed.adds_up()


def test_without_an_interface_for_them_frames_without_a_tag_are_left_to_the_kernel(trunk: VlanBed) -> None:
    document = tomllib.loads(trunk.configuration(neighbours=False, io="af_xdp"))
    document["interface"] = document["interface"][2:]
    trunk.configuration = lambda **_keys: toml.dumps(document)  # type: ignore[method-assign]
    trunk.start()
    near, far = trunk.hosts()
    near.send(PLAIN, "10.79.200.2", b"plain")
    near.send(ONE, "10.79.200.2", b"tagged")
    far.hears(b"tagged")
    assert trunk.stats()["one"]["left_to_kernel"]["vlan"] >= 1
    assert not any(b"plain" in heard.payload for heard in far.heard)
