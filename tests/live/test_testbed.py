"""Testbeds of scenarios: shares of the model, every packet accounted for, nothing left behind."""

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest

import weir
from live_runs import left, start, until
from weir.live.comparison import Comparison, compare

SHARES = """\
weir = 1
model = "network"
seed = 1
disciplines = ["sfq:queues=9,depth=50pkt,map=0/1/2", "drr:quantum=1000B,depth=50pkt"]
[network]
hosts = ["a", "b"]
routers = ["r"]
[[link]]
between = ["a", "r"]
rate = "1Gbit"
discipline = "fifo:limit=1000pkt"
[[link]]
between = ["r", "b"]
rate = "4Mbit"
[[flow]]
name = "large"
from = "a"
to = "b"
gap = "2.1ms"
size = "1000B"
[[flow]]
name = "middle"
from = "a"
to = "b"
gap = "1.3ms"
size = "500B"
[[flow]]
name = "small"
from = "a"
to = "b"
gap = "0.7ms"
size = "250B"
[stop]
duration = "6s"
warm_up = "1s"
replications = 2
"""


@pytest.fixture(scope="module")
def shares() -> Comparison:
    return compare(weir.Scenario.from_toml(SHARES, "shares.toml"), together=2)


@pytest.mark.parametrize("place", [0, 1])
def test_shares_are_those_of_the_model(shares: Comparison, place: int) -> None:
    for flow in ("large", "middle", "small"):
        row = shares.row(shares.disciplines[place], flow, "throughput")
        assert row is not None
        assert row.measured.value == pytest.approx(row.simulated.value, rel=0.03), row


def test_every_packet_of_a_testbed_is_accounted_for(shares: Comparison) -> None:
    for ledger in shares.ledgers:
        assert ledger.unaccounted == 0, ledger
        assert sum(ledger.dropped.values()) > 0
    assert not any(each.reordered for each in shares.generators)


def _run(folder: Path, *more: str, lasts: str = "60s") -> subprocess.Popen[str]:
    file = folder / "shares.toml"
    file.write_text(SHARES.replace('"6s"', f'"{lasts}"'))
    return start("testbed", str(file), *more)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_nothing_is_left_behind(tmp_path: Path, how: signal.Signals) -> None:
    run = _run(tmp_path)
    assert until(True, run.pid), run.communicate()
    time.sleep(1)
    assert run.poll() is None, run.communicate()
    run.send_signal(how)
    told = run.communicate(timeout=30)
    assert until(False, run.pid) == [], told
    processes = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert f"t{run.pid}-" not in processes


def test_what_was_there_before_is_not_touched(tmp_path: Path) -> None:
    subprocess.run(["ip", "netns", "add", "weir-0-bystander"], check=True)
    try:
        # Some 16,000 packets a second: ten times as many are more than a busy machine can always account for.
        run = _run(tmp_path, "--scale", "6", "--json", lasts="6s")
        told, errors = run.communicate(timeout=60)
        assert run.returncode in {0, 1}, errors
        assert [each for each in json.loads(told)["ledgers"] if each["unaccounted"]] == []
        assert Path("/run/netns/weir-0-bystander").exists()
    finally:
        subprocess.run(["ip", "netns", "delete", "weir-0-bystander"], check=True)
    assert left(run.pid) == []
