"""The benchmarks with real packets, as short as they go: that they measure, and not what."""

import os

import bench
import bench_page
import pytest
from bench import KERNEL, Row

from weir.live import bench_steer
from weir.live.namespaces import JOURNALS

pytestmark = pytest.mark.skipif(
    (os.cpu_count() or 1) < 2, reason="one processor: there is nothing to spread over"
)


def test_a_policy_is_measured_beside_the_bare_redirect() -> None:
    rows = {row["bench"]: row for row in bench_steer.measure("live/steer/dynamic_s", rounds=1, seconds=0.3)}
    names = [f"live/steer/bare/{what}" for what in ("rate", "programs")]
    whats = ("rate", "programs", "control loop", "rate vs bare")
    names += [f"live/steer/dynamic_separated/{what}" for what in whats]
    assert list(rows) == names
    assert all(0 < row["low"] <= row["value"] <= row["high"] for row in rows.values())
    assert rows["live/steer/dynamic_separated/control loop"]["value"] < 1
    assert not list(JOURNALS.glob(f"{os.getpid()}-steer*"))


def test_other_names_measure_nothing() -> None:
    assert list(bench_steer.measure("live/sfq")) == []


def test_what_a_way_of_forwarding_does_is_measured_and_held_against_the_kernels() -> None:
    names = (KERNEL, "bare AF_XDP", "fifo")
    found = {name: [bench.measure(bench.UNSHAPED[name], 0.2)] for name in names}
    rows = [row for rows in found.values() for row in rows]
    assert all(getattr(row, key) > 0 for row in rows for key, _ in Row.COLUMNS)
    head, _, first, *rest = bench.table(found)
    cells = [each.split("|") for each in (head, first, *rest)]
    assert {len(each) for each in cells} == {3 + 2 * len(Row.COLUMNS)}
    assert [each[1].strip() for each in cells[1:]] == list(names)
    assert {each.strip() for each in cells[1][3::2] if each} == {"1.00"}


def test_round_trips_over_time_are_drawn() -> None:
    measured = bench.over_time(bench.SHAPED["fifo"], 0.3, 0.6)
    assert 0 < measured.rate < 50
    before = [trip for at, trip in measured.trips if at < measured.begins]
    assert len(before) > 10
    assert "a way" in bench_page.html({"a way": measured}, 50)


def test_workers_are_measured_while_nobody_else_runs() -> None:
    assert bench.capacity(bench.WORKERS["2 workers, af_xdp"], 1) > 0
