"""The comparison with a kernel's disciplines: its tables of a recorded run, and the machine's first root.

The run itself, in a virtual machine, is ``make compare-kernel``.
"""

import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from kernel_vm.dispatcher import all_passed
from kernel_vm.initramfs import archive, modules
from kernel_vm.pairs import PAIRS
from kernel_vm.table import differing, rows, text

_RECORDED = Path(__file__).parent / "kernel_vm" / "recorded.json"


@pytest.fixture
def recorded() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(_RECORDED.read_text(encoding="utf-8"))
    return found


def _flow(found: dict[str, Any], pair: str, by: str, flow: str) -> dict[str, float]:
    (run,) = (each for each in found["runs"] if (each["pair"], each["by"]) == (pair, by))
    figures: dict[str, float] = run["flows"][flow]
    return figures


def test_shares_are_of_what_all_flows_got(recorded: dict[str, Any]) -> None:
    shares = [row for row in rows(recorded) if (row.pair, row.figure) == ("sfq", "share")]
    assert len(shares) == 6
    for by in ("kernel", "weird", "simulation"):
        assert sum(row.values[by] for row in shares) == pytest.approx(1)


def test_what_is_six_percent_off_differs(recorded: dict[str, Any]) -> None:
    before = list(differing(rows(recorded)))
    kernel = _flow(recorded, "sfq", "kernel", "call")["delay"]
    for factor, apart in ((1.04, 0), (0.94, 1), (1.06, 1)):
        _flow(recorded, "sfq", "weird", "call")["delay"] = factor * kernel
        after = [each for each in differing(rows(recorded)) if each not in before]
        assert [(row.pair, row.flow, row.figure, other) for row, other in after] == (
            [("sfq", "call", "delay", "weird")] * apart
        )


def test_some_drops_more_are_no_difference(recorded: dict[str, Any]) -> None:
    for loss, agrees in ((0.004, True), (0.006, False)):
        _flow(recorded, "sfq", "kernel", "call")["loss"] = 0.0
        _flow(recorded, "sfq", "weird", "call")["loss"] = loss
        (row,) = (
            each for each in rows(recorded) if (each.pair, each.flow, each.figure) == ("sfq", "call", "loss")
        )
        assert row.agrees("weird") == agrees


def test_of_several_runs_means_are_compared_and_what_they_do_not_tell_is_not_decided(
    recorded: dict[str, Any],
) -> None:
    shown = []
    for spread in (0.0, 0.005, 0.2):
        runs = [run for run in recorded["runs"] if run["pair"] == "sfq"]
        again = []
        for factor in (1 - spread, 1.0, 1 + spread):
            for run in json.loads(json.dumps(runs)):
                run["flows"]["call"]["delay"] = 0.01 * factor * (1.08 if run["by"] == "weird" else 1.0)
                again.append(run)
        (row,) = (each for each in rows({"runs": again}) if (each.flow, each.figure) == ("call", "delay"))
        assert row.difference("weird") == pytest.approx(0.08)
        shown.append((row.agrees("weird"), row.is_decided("weird")))
        assert row.is_decided("simulation") == (spread < 0.1)
    # Apart by 8 %, by 8 ± 2 %, by 8 ± 72 %.
    assert shown == [(False, True), (False, True), (True, False)]


def test_the_tables_say_what_differs(recorded: dict[str, Any]) -> None:
    kernel = _flow(recorded, "sfq", "kernel", "call")["delay"]
    _flow(recorded, "sfq", "simulation", "call")["delay"] = 1.5 * kernel
    told = text(recorded)
    assert "sfq, call, mean delay (ms): simulation +50.0%" in told.splitlines()
    assert f"| sfq | call | mean delay (ms) | {1000 * kernel:.2f} |" in told
    assert "+50.0%) **differs**" in told


def test_the_kernel_tells_flows_apart_by_class_where_it_must() -> None:
    (drr,) = (pair for pair in PAIRS if pair.name == "drr")
    commands = list(drr.commands("w0", [4001, 4002]))
    assert sum(each.startswith("class add") for each in commands) == 2
    assert commands[-1].endswith("match ip dport 4002 0xffff flowid 2:2")


@pytest.mark.parametrize(
    ("last", "code", "passed"),
    [
        ("=== \x1b[1m11 passed\x1b[0m in 39.74s ===", 0, True),
        ("=== 3 failed, 8 passed in 39.74s ===", 1, False),
        ("=== 8 passed, 3 skipped in 39.74s ===", 0, False),
        ("=== 11 skipped in 1.00s ===", 0, False),
        ("=== 11 passed in 39.74s ===", 1, False),
        ("INTERNALERROR> in pytest_sessionstart", 3, False),
    ],
)
def test_the_dispatcher_is_tested_only_where_all_tests_pass(last: str, code: int, passed: bool) -> None:
    assert all_passed(f"collected 11 items\r\n{last}\r\nended with code {code}\r\n") == passed


def test_a_module_comes_after_those_that_it_needs(tmp_path: Path) -> None:
    (tmp_path / "net").mkdir()
    needs = {"top": b"middle,base-one", "middle": b"base-one", "base_one": b""}
    for name, others in needs.items():
        code = b"\x7fELF\0license=GPL\0depends=" + others + b"\0name=x\0"
        file = tmp_path / "net" / f"{name.replace('_', '-')}.ko.xz"
        file.write_bytes(lzma.compress(code))
    assert [name for name, _ in modules(tmp_path, ("top", "not_there"))] == ["base_one", "middle", "top"]


def test_an_archive_holds_what_it_is_given(tmp_path: Path) -> None:
    busybox = tmp_path / "busybox"
    busybox.write_bytes(b"a program")
    made = archive(busybox, [("one", b"first"), ("two", b"second!")], "the script\n")
    assert _entries(made) == {
        **dict.fromkeys(("bin", "modules", "host", "proc", "sys", "dev"), b""),
        "bin/busybox": b"a program",
        "init": b"the script\n",
        "modules/00-one.ko": b"first",
        "modules/01-two.ko": b"second!",
    }


def _entries(made: bytes) -> dict[str, bytes]:
    """Read a "newc" archive: thirteen fields of eight hexadecimal digits, name, content, padded to four."""
    entries, at = {}, 0
    while True:
        assert made[at : at + 6] == b"070701"
        fields = [int(made[at + 6 + 8 * place : at + 14 + 8 * place], 16) for place in range(13)]
        name = made[at + 110 : at + 110 + fields[11] - 1].decode()
        begin = (at + 110 + fields[11] + 3) & ~3
        if name == "TRAILER!!!":
            return entries
        entries[name] = made[begin : begin + fields[6]]
        at = (begin + fields[6] + 3) & ~3
