"""The gate of speed: its table, and what it lets pass; the counting itself is ``test_gate_counts``."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

import pytest

import gate


def test_every_run_is_recorded() -> None:
    recorded = gate.read_table()
    assert all(recorded[name] for name in gate.versions())
    assert set(recorded["counts"]) == set(gate.NAMES)
    assert all(count > 0 for count in recorded["counts"].values())


def test_three_per_cent_more_do_not_pass_and_one_does() -> None:
    table = {"same": 100.0, "little": 100.0, "more": 100.0, "less": 100.0}
    now = {"same": 100.0, "little": 101.0, "more": 103.0, "less": 90.0, "new": 5.0}
    found = {change.name: change.fails for change in gate.changes(table, now)}
    assert found == {"more": True, "less": False, "new": True}
    (more,) = (change for change in gate.changes(table, now) if change.name == "more")
    assert str(more) == "more: 100.0 to 103.0 instructions, +3.0%"


@pytest.mark.parametrize("name", ["rustc", "glibc"])
def test_table_of_another_version_is_not_held_against(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    here = {"rustc": "1.95.0", "glibc": "2.36"}
    monkeypatch.setattr(gate, "versions", lambda: here)
    monkeypatch.setattr(shutil, "which", lambda _: "/usr/bin/valgrind")
    reason = gate.hindrance({**here, name: "0.1"})
    assert reason is not None
    assert "AVX2" in reason or reason.startswith(f"the table is of {name} 0.1, here is {here[name]}")


def test_nothing_is_counted_without_valgrind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert gate.hindrance(gate.read_table()) == "valgrind is missing: apt-get install valgrind"


def test_nothing_is_counted_without_the_program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    recorded = gate.read_table()
    monkeypatch.setattr(gate, "versions", lambda: recorded)
    monkeypatch.setattr(shutil, "which", lambda _: "/usr/bin/valgrind")
    monkeypatch.setattr(gate, "PROGRAM", tmp_path / "gate")
    reason = gate.hindrance(recorded)
    assert reason is not None
    assert "AVX2" in reason or "is not built: cargo build" in reason
