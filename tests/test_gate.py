"""The gate of speed: its table, and what it lets pass; the counting itself is ``make bench-gate``."""

from __future__ import annotations

import json

import gate


def test_every_run_is_recorded():
    recorded = json.loads(gate.TABLE.read_text(encoding="utf-8"))
    assert set(recorded["counts"]) == set(gate.NAMES)
    assert all(count > 0 for count in recorded["counts"].values())


def test_three_per_cent_more_do_not_pass_and_one_does():
    table = {"same": 100.0, "little": 100.0, "more": 100.0, "less": 100.0}
    now = {"same": 100.0, "little": 101.0, "more": 103.0, "less": 90.0, "new": 5.0}
    found = {change.name: change.fails for change in gate.changes(table, now)}
    assert found == {"more": True, "less": False, "new": True}
    (more,) = (change for change in gate.changes(table, now) if change.name == "more")
    assert str(more) == "more: 100.0 to 103.0 instructions, +3.0%"
