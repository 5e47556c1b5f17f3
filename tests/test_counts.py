"""What ``make bench-counts`` reads of Valgrind, and the row it prints."""

from __future__ import annotations

import pytest

import counts

REPORT = """==7== Events    : Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw Bc Bcm Bi Bim
==7== Collected : 1000 200 100 1 30 10 1 3 1 90 7 4 3
"""


def test_events_are_read_by_their_names() -> None:
    found = counts.read_events(REPORT)
    cached = {"D1mr": 30, "D1mw": 10, "DLmr": 3, "DLmw": 1}
    assert found == {"Ir": 1000, "Dr": 200, "Dw": 100, "Bcm": 7, "Bim": 3, **cached}


def test_a_row_has_cycles_and_what_was_done_in_them() -> None:
    events = {name: count / 10 for name, count in counts.read_events(REPORT).items()}
    row = str(counts.Cost("packet/one", 10.0, 2.5, events))
    assert row == "| `packet/one` | 10.0 | 25 | 100 | 4.0 | 30 | 4.0 | 0.4 | 1.0 | 6.7 |"
    assert row.count("|") == counts.HEAD.splitlines()[0].count("|")


def test_a_report_without_counts_is_refused() -> None:
    with pytest.raises(SystemExit, match="no counts in the report of valgrind: nothing"):
        counts.read_events("nothing")
