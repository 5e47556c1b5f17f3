"""The counts of the gate of speed, held against the table: ``make test-gate``, a test for each run.

They take both cores for half a minute and need Valgrind, so that they are asked for by ``WEIR_GATE=1`` and
skipped otherwise, as they are where the counts would differ anyhow (`gate.hindrance`).
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import gate

if os.environ.get("WEIR_GATE") != "1":
    pytest.skip("counts instructions for half a minute: make test-gate", allow_module_level=True)

CHOSEN = """
import ctypes
c = ctypes.CDLL("libc.so.6")
where = lambda function: ctypes.cast(function, ctypes.c_void_p).value
print([where(each) - where(c.qsort) for each in (c.memcpy, c.memmove, c.memset, c.memcmp, c.memchr)])
"""
"""Prints which functions the C library has chosen: their distances from one that it has once."""


@pytest.fixture(scope="module")
def table() -> dict[str, float]:
    """Return the recorded counts, if those of here can be held against them."""
    recorded = gate.read_table()
    if reason := gate.hindrance(recorded):
        pytest.skip(reason)
    counts: dict[str, float] = recorded["counts"]
    return counts


@pytest.fixture(scope="module")
def now(table: dict[str, float]) -> dict[str, float]:
    """Return what is counted now."""
    return gate.counts(list(table))


@pytest.mark.parametrize("name", gate.NAMES)
def test_run_costs_no_more_than_recorded(name: str, table: dict[str, float], now: dict[str, float]) -> None:
    for change in gate.changes(table, {name: now[name]}):
        assert not change.fails, str(change)


@pytest.mark.usefixtures("table")
def test_processor_does_not_choose_copies() -> None:
    tuned = {**os.environ, "GLIBC_TUNABLES": gate.TUNABLES}
    command = [sys.executable, "-S", "-c", CHOSEN]
    here, of_valgrind = (
        subprocess.run([*prefix, *command], capture_output=True, text=True, check=True, env=tuned).stdout
        for prefix in ((), ("valgrind", "-q", "--tool=none"))
    )
    assert here == of_valgrind
