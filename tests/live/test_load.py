"""`weird load` to a server that steers requests and sends them back in the kernel: both count the same."""

import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from steer_bed import LONG, PORT, SteerBed


def _serve(bed: SteerBed, policy: str, iterations: int = 10, **keys: Any) -> None:
    """Start a daemon that sends requests back, and return when it does."""
    bed.site.take_frames(bed.client)
    service = f"[service]\nfield = 0\niterations = {iterations}\nreflect = true\n"
    bed.daemon = bed.run(bed.configuration(policy=policy, **keys) + service)
    while not bed.ready():
        assert bed.daemon.poll() is None, bed.messages()
        time.sleep(0.02)


def _command(bed: SteerBed, *words: str) -> list[str]:
    return [str(bed.weird), "load", f"10.78.0.2:{PORT}", *words, "--json"]


def _load(bed: SteerBed, *words: str) -> dict[str, Any]:
    classes = ["--class", "short:data=1,share=0.9", "--class", f"long:data={LONG},share=0.1"]
    client = bed.site.start("c", _command(bed, *classes, *words), stdout=subprocess.PIPE)
    out, _ = client.communicate(timeout=30)
    assert client.returncode == 0
    report: dict[str, Any] = json.loads(out)
    return report


def _median(distribution: dict[str, Any]) -> float:
    """The bucket that holds the middle of a distribution, in seconds; one long pause does not move it."""
    left = sum(count for _, count in distribution["buckets"]) / 2
    for value, count in distribution["buckets"]:
        left -= count
        if left <= 0:
            return float(value) / 1e9
    raise ValueError("no value was recorded")


@pytest.mark.parametrize("generic", [False, True], ids=["driver", "generic"])
def test_both_ends_count_the_same_and_flows_stay_in_order(tmp_path: Path, generic: bool) -> None:
    with SteerBed(tmp_path, generic=generic) as bed:
        _serve(bed, "flow_hash")
        assert ("XDP, generic" in bed.messages()) is generic
        report = _load(bed, "--rate", "2k/s", "--windows", "2", "--window", "500ms", "--growth", "2")
        told = bed.settled()
    classes = report["totals"]["classes"]
    sent = {each["name"]: each["sent"] for each in classes}
    assert sum(sent.values()) > 2000
    assert {each["name"]: each["requests"] for each in told["classes"]} == sent
    for each in classes:
        assert (each["lost"], each["reordered"], each["duplicates"]) == (0, 0, 0)
        for kind in ("rtt", "rtt_from_kernel"):
            assert sum(count for _, count in each[kind]["buckets"]) == each["sent"]
        # Within the round trip lies what the server has counted as delay.
        delay = next(other for other in told["classes"] if other["name"] == each["name"])
        assert each["rtt"]["sum_ns"] >= each["rtt_from_kernel"]["sum_ns"] > delay["sum_ns"]


def test_bursts_come_back_whole(tmp_path: Path) -> None:
    with SteerBed(tmp_path) as bed:
        _serve(bed, "rr")
        report = _load(
            bed, "--rate", "5k/s", "--arrivals", "bursts:20ms", "--window", "500ms", "--flows", "4"
        )
    classes = report["totals"]["classes"]
    assert sum(each["sent"] for each in classes) == 2500
    assert [each["lost"] for each in classes] == [0, 0]


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one processor: there is none to add")
def test_the_count_of_processors_follows_a_step_of_the_rate(tmp_path: Path) -> None:
    def load(rate: float, *words: str) -> tuple[dict[str, Any], set[int]]:
        """Send for a second and a half; return the report, and how many processors were in use meanwhile."""
        words = ("--rate", f"{rate:.0f}/s", "--window", "1500ms", "--class", "one:data=500,share=1", *words)
        client = bed.site.start("c", _command(bed, *words), stdout=subprocess.PIPE)
        counts = {bed.stats()["in_use"]}
        while client.poll() is None:
            counts.add(bed.stats()["in_use"])
            time.sleep(0.02)
        assert client.stdout is not None
        return json.loads(client.stdout.read()), counts

    with SteerBed(tmp_path) as bed:
        policy = "dynamic:add=60ms,remove=10ms,min=1,period=50ms"
        _serve(bed, policy, 1000, processors="0-1", window="50ms")
        report, counts = load(20, "--arrivals", "constant")
        assert counts == {1}
        # A lone request takes its service and little else; the step is to 1.3 times what one serves. Where
        # the machine was slower alone than it is under load that is no overload yet, and the step is higher.
        service = _median(report["totals"]["classes"][0]["rtt_from_kernel"])
        for overload in (1.3, 1.7, 2.2):
            _, counts = load(overload / service)
            if counts != {1}:
                break
        assert counts == {1, 2}
        load(20, "--arrivals", "constant")
        told = bed.settled()
    assert told["in_use"] == 1
    assert sum(each["dropped"] for each in told["processors"]) == 0
