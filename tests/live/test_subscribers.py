"""Subscribers share an interface: each gets its rate and its ceiling, and 10,000 are exchanged under load."""

import json
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from ipaddress import IPv4Interface
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from live_bed import Bed, drain

if TYPE_CHECKING:
    from collections.abc import Callable

_HEADER = "name,address,rate,ceiling,group\n"
_MANY = 10_000
_SIZE = 1000


def _file(bed: Bed, lines: str) -> Path:
    """Write the file of subscribers whole, as a script of an operator does."""
    new = bed.folder / "new.csv"
    new.write_text(_HEADER + lines)
    return new.rename(bed.folder / "subscribers.csv")


def _start(bed: Bed, rate: str, **right: Any) -> None:
    """Start a router whose interface to ``b`` is shared."""
    bed.start(rate=rate, discipline="fq_codel", right={"subscribers": "subscribers.csv", **right})


def _counts(bed: Bed) -> dict[str, dict[str, Any]]:
    """Return what was counted of each subscriber."""
    done = bed.ctl("stats", "--subscribers", "--json")
    assert done.returncode == 0, done.stderr
    (interface,) = json.loads(done.stdout)["interfaces"]
    return {each["name"]: each for each in interface["subscribers"]}


def _each_millisecond(send: "Callable[[int], None]", ends: "Callable[[int], bool]") -> int:
    """Send so often, late or not, until it ends; return how often that was."""
    began, sent = time.monotonic(), 0
    while not ends(sent):
        while sent <= 1000 * (time.monotonic() - began):
            send(sent)
            sent += 1
        time.sleep(0.0005)
    return sent


def _many(count: int, rate: str = "10kbit") -> str:
    groups = "".join(f"mast-{mast},,10Mbit,50Mbit,\n" for mast in range(40))
    each = "".join(
        f"s{at},100.{64 + (at >> 16)}.{at >> 8 & 255}.{at & 255},{rate},20Mbit,mast-{at % 40}\n"
        for at in range(count)
    )
    return groups + each + "host,10.79.2.2,1Mbit,50Mbit,mast-1\n"


def test_two_subscribers_get_their_rates_and_ceilings(bed: Bed) -> None:
    """Of 8 Mbit/s one is promised 6; the other is promised 1 and goes up to 3."""
    addresses = {"gold": "10.79.2.2", "silver": "10.79.2.3"}
    bed.site.address(bed.b, IPv4Interface("10.79.2.3/24"))
    _file(bed, "gold,10.79.2.2,6Mbit,,\nsilver,10.79.2.3,1Mbit,3Mbit,\nothers,,100kbit,,\n")
    _start(bed, "8Mbit", neighbours=dict.fromkeys(addresses.values(), bed.right.other_mac))
    sender = bed.sender()

    def rates(*names: str) -> dict[str, float]:
        """Return what each got in Mbit/s, while twice as much as the line takes went to each of these."""

        def send(_: int) -> None:
            for name in names:
                for _ in range(2):
                    sender.sendto(bytes(_SIZE - 28), (addresses[name], 5001))

        def sent() -> dict[str, int]:
            return {name: each["forwarded"]["bytes"] for name, each in _counts(bed).items()}

        _each_millisecond(send, lambda count: count >= 500)
        before, began = sent(), time.monotonic()
        _each_millisecond(send, lambda count: count >= 2000)
        after, span = sent(), time.monotonic() - began
        return {name: 8e-6 * (after[name] - before[name]) / span for name in addresses}

    alone = rates("silver")
    assert alone["silver"] == pytest.approx(3.0, rel=0.1), alone
    both = rates("gold", "silver")
    # The line takes 14 bytes of framing with each packet.
    assert sum(both.values()) == pytest.approx(8.0 * _SIZE / (_SIZE + 14), rel=0.1), both
    assert both["gold"] >= 5.4, both
    assert 0.9 <= both["silver"] <= 3.2, both


def test_ten_thousand_are_exchanged_under_a_flow_without_a_loss(bed: Bed) -> None:
    """A packet a millisecond, and meanwhile other files of 10,000, by the command and by SIGHUP."""
    _file(bed, _many(_MANY))
    _start(bed, "1Gbit")
    assert len(_counts(bed)) == _MANY + 2
    receiver, sender = bed.receiver(), bed.sender()
    spans: list[float] = []

    def change() -> None:
        for turn in range(1, 6):
            _file(bed, _many(_MANY - 100 * turn, rate=f"{10 + turn}kbit"))
            began = time.monotonic()
            if turn % 2:
                done = bed.ctl("reload", str(bed.folder / "router.toml"))
                assert done.returncode == 0, done.stderr
            else:
                assert bed.router is not None
                bed.router.send_signal(signal.SIGHUP)
                while bed.ctl("stats", "--subscriber", f"s{_MANY - 100 * turn}").returncode == 0:
                    assert time.monotonic() < began + 20, bed.messages()
            spans.append(time.monotonic() - began)
            time.sleep(0.2)

    with ThreadPoolExecutor(1) as pool:
        changed = pool.submit(change)
        sent = _each_millisecond(lambda number: bed.send(sender, number, 200), lambda _: changed.done())
        changed.result()
    bed.idle()
    assert [number for _, number, _ in drain(receiver)] == list(range(sent)), bed.balance()
    assert len(_counts(bed)) == _MANY - 500 + 2
    assert _counts(bed)["host"]["forwarded"]["packets"] == sent
    assert max(spans) < 20, spans


def test_a_broken_file_changes_nothing(bed: Bed) -> None:
    """One line that is wrong is named, and those before stay in force."""
    _file(bed, _many(100))
    _start(bed, "100Mbit")
    _file(bed, _many(100) + "x,10.79.2.9,2Mbit,1Mbit,mast-1\n")
    done = bed.ctl("reload", str(bed.folder / "router.toml"))
    assert done.returncode == 2
    assert "subscribers.csv:143:4: ceiling is 1Mbit, must be at least the rate, 2Mbit: " in done.stderr
    assert set(_counts(bed)) == {f"s{at}" for at in range(100)} | {"host", "others"}
    done = bed.ctl("stats", "--subscriber", "s101")
    assert done.returncode == 2
    assert "there is no subscriber `s101`: did you mean" in done.stderr
    top = subprocess.run(
        [str(bed.weird), "top", bed.name, "--subscribers", "--once", "--filter", "s9", "--interval", "100ms"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert top.stdout.startswith("102 subscribers, 11 with `s9`, by rate, the last 1"), top.stdout
