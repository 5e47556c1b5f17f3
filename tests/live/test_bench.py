"""The benchmarks with real packets, as short as they go: that they measure, and not what."""

import os

import pytest

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
