"""What ``make bench-peers`` rests on: that the peers simulate M/M/1, and that what they print is read."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING

import pytest

import peers

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def mm1(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the program in C."""
    return peers.build_c(tmp_path_factory.mktemp("peers"))


@pytest.mark.parametrize("engine", ["lindley", "events"])
@pytest.mark.parametrize("load", [0.3, 0.9])
def test_programs_in_c_agree_with_the_closed_form(engine: str, load: float, mm1: Path) -> None:
    run = peers.read_line(peers.printed([mm1, engine, "1000000", str(load), "7"]))
    assert run.messages == peers.MILLION
    assert abs(run.wait - load / (1 - load)) < 4 * peers.error(load, run.messages)


def test_standard_error_is_that_of_many_runs(mm1: Path) -> None:
    waits = [
        peers.read_line(peers.printed([mm1, "lindley", "100000", "0.5", str(seed)])).wait
        for seed in range(1, 101)
    ]
    # A standard deviation of 100 values is right within 7 %, three times that allowed.
    assert statistics.stdev(waits) == pytest.approx(peers.error(0.5, 100_000), rel=0.21)


@pytest.mark.parametrize("tails", [False, True])
def test_weir_agrees_with_the_closed_form(tails: bool) -> None:
    run = peers.weir_run(peers.MILLION, 3, tails=tails)
    assert run.messages == peers.MILLION
    assert peers.checked("weir", run).speed > 0


def test_programs_refuse_senseless_arguments(mm1: Path) -> None:
    for given in (["lindley", "10", "1.0", "1"], ["events", "0", "0.5", "1"], ["other", "10", "0.5", "1"]):
        with pytest.raises(SystemExit, match="failed with code 2"):
            peers.printed([mm1, *given])


def test_another_queue_is_not_measured() -> None:
    peers.checked("right", peers.Run(peers.MILLION, 9.3, 1.0))
    # The time in the system in place of the wait, or nothing at all.
    for wrong in (10.0, math.nan):
        with pytest.raises(SystemExit, match="it does not simulate this queue"):
            peers.checked("wrong", peers.Run(peers.MILLION, wrong, 1.0))


def test_output_of_cimba_is_read() -> None:
    run = peers.read_cimba("Average system time 10.238511 (expected 10.000000)\n", 0.25)
    assert (run.messages, run.seconds) == (peers.MILLION, 0.25)
    assert run.wait == pytest.approx(9.238511)
    assert run.speed == 4
    with pytest.raises(SystemExit, match="prints no average system time"):
        peers.read_cimba("", 0.25)


def test_ratios_are_those_within_a_turn() -> None:
    # The second turn is twice as fast for all: the ratio does not change.
    lines = peers.table({"ours": [10.0, 20.0, 12.0], "theirs": [2.0, 4.0, 3.0]})
    assert lines[1].split() == ["ours", "12.000", "10.000", "20.000", "1.00", "(1.00", "to", "1.00)"]
    assert lines[2].split() == ["theirs", "3.000", "2.000", "4.000", "5.00", "(4.00", "to", "5.00)"]
