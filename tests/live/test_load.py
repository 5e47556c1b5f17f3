"""`weird load` to a server that steers requests and sends them back in the kernel: both count the same."""

import json
import subprocess
import time
from pathlib import Path
from typing import Any

from steer_bed import LONG, PORT, SteerBed

_SERVICE = "[service]\nfield = 0\niterations = 10\nreflect = true\n"


def _serve(bed: SteerBed, policy: str) -> None:
    """Start a daemon that sends requests back, and return when it does."""
    bed.site.take_frames(bed.client)
    bed.daemon = bed.run(bed.configuration(policy=policy) + _SERVICE)
    while not bed.ready():
        assert bed.daemon.poll() is None, bed.messages()
        time.sleep(0.02)


def _load(bed: SteerBed, *words: str) -> dict[str, Any]:
    classes = ["--class", "short:data=1,share=0.9", "--class", f"long:data={LONG},share=0.1"]
    command = [str(bed.weird), "load", f"10.78.0.2:{PORT}", *classes, *words, "--json"]
    client = bed.site.start("c", command, stdout=subprocess.PIPE)
    out, _ = client.communicate(timeout=30)
    assert client.returncode == 0
    report: dict[str, Any] = json.loads(out)
    return report


def test_both_ends_count_the_same_and_flows_stay_in_order(tmp_path: Path) -> None:
    with SteerBed(tmp_path) as bed:
        _serve(bed, "flow_hash")
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
