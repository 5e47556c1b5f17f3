"""Logs read and figures taken from them: made-up packets, whose figures are known."""

import json
import math
from dataclasses import replace
from fractions import Fraction
from ipaddress import IPv4Address
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from weir.errors import ConfigError
from weir.live import comparison, logs
from weir.live.clocks import Reading, Watch, read
from weir.live.comparison import Comparison, Ledger
from weir.live.figures import Value, difference, measured
from weir.live.logs import Packets
from weir.live.page import html
from weir.live.plan import Plan, Stream
from weir.live.sfq import Study
from weir.live.terminal import verdict

TRANSMIT, RECEIVE, ERROR, LEFT, END = 3, 4, 5, 7, 255


def log(path: Path, start: int, records: list[tuple[int, int, int, int]], *, whole: bool = True) -> Path:
    """Write a log of records of time, other, number and kind."""
    header = json.dumps({"start": start}).encode().ljust(24)
    if whole:
        records = [*records, (0, len(records), 0, END)]
    content = b"WEIRTGLG" + (1).to_bytes(4, "little") + len(header).to_bytes(4, "little") + header
    for time, other, number, kind in records:
        content += time.to_bytes(8, "little", signed=True) + other.to_bytes(8, "little", signed=True)
        content += number.to_bytes(4, "little") + (100).to_bytes(4, "little") + bytes(6)
        content += bytes([kind, 105 if kind == ERROR else 0])
    path.write_bytes(content)
    return path


def test_logs_are_paired(tmp_path: Path) -> None:
    sent = [(1010, 1000, 0, TRANSMIT), (2000, 2000, 1, TRANSMIT), (3050, 3000, 3, TRANSMIT)]
    # The sink began 500 ns before; packet 3 comes before packet 0, again, and one was never sent.
    got = [(4000, 0, 3, RECEIVE), (4500, 0, 0, RECEIVE), (4600, 0, 3, RECEIVE), (4700, 0, 9, RECEIVE)]
    packets = logs.pair(
        log(tmp_path / "a.log", 1500, sent), log(tmp_path / "b.log", 1000, [*got, (5000, 2, 0, ERROR)])
    )
    assert packets.due.tolist() == [1000, 2000, 3000]
    assert packets.late.tolist() == [10, 0, 50]
    assert packets.size.tolist() == [132] * 3
    assert packets.delay[0] == 4000 - 1010
    assert np.isnan(packets.delay[1])
    assert packets.delay[2] == 3500 - 3050
    assert (packets.reordered, packets.again, packets.unsent, packets.no_room) == (1, 1, 0, 2)


def test_a_packet_is_sent_when_the_kernel_takes_it(tmp_path: Path) -> None:
    sent = [(1010, 1000, 0, TRANSMIT), (2000, 2000, 1, TRANSMIT), (2300, 0, 1, LEFT), (2400, 0, 7, LEFT)]
    got = [(3000, 0, 0, RECEIVE), (3000, 0, 1, RECEIVE)]
    packets = logs.pair(log(tmp_path / "a.log", 0, sent), log(tmp_path / "b.log", 0, got))
    assert packets.delay.tolist() == [3000 - 1010, 3000 - 2300]
    assert packets.late.tolist() == [10, 0], "what the generator is to blame for is its own time"


def test_a_packet_that_was_tried_again_is_not_unsent(tmp_path: Path) -> None:
    sent = [
        (1000, 1, 0, ERROR),
        (1001, 1, 0, ERROR),
        (1002, 1000, 0, TRANSMIT),
        (2000, 1, 1, ERROR),
        (3000, 3000, 2, TRANSMIT),
    ]
    packets = logs.pair(log(tmp_path / "a.log", 0, sent), log(tmp_path / "b.log", 0, []))
    assert packets.unsent == 1


@pytest.mark.parametrize(
    ("ahead", "step"),
    [
        ([0, 0, 0], 0),
        ([0, 90_000, 0], 0),
        ([0, 300_000, 800_000], 0),  # a second each, slewed by less than one part in a thousand
        ([0, 2_000_000, 2_000_000], 2_000_000),
        ([0, -5_000_000, 0, 3_000_000], -5_000_000),
    ],
)
def test_a_step_of_the_clock_is_told_from_slewing(ahead: list[int], step: int) -> None:
    readings = iter([Reading(place * 10**9, each, 50) for place, each in enumerate(ahead)])
    watch = Watch(lambda: next(readings))
    for _ in ahead[1:]:
        watch.look()
    assert watch.step == step


WHOLE = Ledger(
    discipline="fifo",
    run=0,
    sent=9,
    received=9,
    dropped={},
    waiting=0,
    no_room=0,
    missed=0,
    late_p999=0.0,
    late_max=0.0,
)
TWO_RUNS = Comparison(
    title="t",
    file="t.toml",
    scale=20,
    repeat=2,
    disciplines=("fifo",),
    labels={"fifo": "FIFO"},
    flows=(),
    intervals={},
    rows=(),
    ledgers=(WHOLE, WHOLE),
    generators=(),
    means=(),
    departures=(),
    scenario="",
)


def test_a_run_whose_packets_kernels_missed_is_not_in_order() -> None:
    overrun = replace(WHOLE, run=1, sent=2000, received=200, missed=1800)
    made = replace(TWO_RUNS, ledgers=(WHOLE, overrun))
    assert verdict(made).endswith(
        "All 2,009 packets are accounted for; no generator was at fault. In 1 of 2 runs kernels missed "
        "packets before a router took them, up to 90.0% of those sent: this machine is too slow for "
        "--scale 20, lower it."
    )
    assert not made.ok
    hardly = replace(WHOLE, run=1, sent=2000, received=1998, missed=2)
    assert replace(made, ledgers=(WHOLE, hardly)).ok


def test_who_sets_the_clock_is_told_and_the_run_is_not_in_order() -> None:
    made = replace(TWO_RUNS, ledgers=(WHOLE, replace(WHOLE, run=1, clock_step=-0.0025)))
    assert verdict(made).endswith(
        "The wall clock was set by -2.5 ms during run 2 under FIFO: its delays are false, measure again."
    )
    assert verdict(made) in html(made)
    assert made.to_dict()["ledgers"][1]["clock_step"] == -0.0025
    assert not made.ok
    assert TWO_RUNS.ok
    study = Study(scale=1, repeat=2, cells=(), comparisons={"fair": made})
    assert study.verdicts()[-1].startswith("NOT MET: the wall clock was set by -2.5 ms during run 2")


def test_the_clocks_are_read_close_together() -> None:
    one, other = read(), read()
    assert other.at > one.at
    assert other.doubt >= 0


def test_damaged_logs_are_refused(tmp_path: Path) -> None:
    good = log(tmp_path / "a.log", 0, [])
    cut = log(tmp_path / "b.log", 0, [(1, 1, 0, RECEIVE)], whole=False)
    (tmp_path / "c.log").write_text("nothing of the kind")
    with pytest.raises(ConfigError, match="it was cut"):
        logs.pair(good, cut)
    with pytest.raises(ConfigError, match="it is not a log"):
        logs.pair(tmp_path / "c.log", good)


def plan(scale: int) -> Plan:
    stream = Stream(
        name="f",
        class_="default",
        source="a",
        sink="b",
        source_address=IPv4Address("10.0.0.1"),
        sink_address=IPv4Address("10.0.0.2"),
        port=4001,
        path=(),
        start=10**9,
        stop=11 * 10**9,
        tick=0,
        compatible=False,
        script="",
        sink_script="",
        size=Fraction(125),
        before=2_000_000,
        after=1_000_000,
    )
    return Plan(
        title="t",
        discipline="fifo",
        scale=scale,
        duration=11 * 10**9,
        hosts=("a", "b"),
        wires=(),
        addresses={},
        host_routes=(),
        routers=(),
        streams=(stream,),
        drain=0,
        departures=(),
    )


def packets(delays: list[float], scale: int) -> Packets:
    """Return packets of 125 bytes, ten a second of the scenario, with these delays in seconds of it."""
    count = len(delays)
    due = (np.arange(count) * 10**8 // scale).astype(np.int64)
    delay = np.array([(each - 0.003) * 1e9 / scale for each in delays])
    return Packets(due, np.zeros(count), np.full(count, 125), delay, 0, 0, 0, 0)


@pytest.mark.parametrize("scale", [1, 10])
def test_figures_of_a_flow(scale: int) -> None:
    delays = [0.1 if place % 4 else math.nan for place in range(100)]
    found = measured(plan(scale), [[packets(delays, scale)]], 0, (1.0, 11.0))
    assert found["offer", "mean"].value == pytest.approx(10_000)
    assert found["throughput", "mean"].value == pytest.approx(7_500)
    assert found["loss", "mean"].value == pytest.approx(0.25)
    assert found["delay", "mean"].value == pytest.approx(0.1)
    assert found["delay", "p99"].value == pytest.approx(0.1)
    assert found["delay_variance", "mean"].value == pytest.approx(0, abs=1e-12)
    assert found["offer", "mean"].half == pytest.approx(0)


def test_intervals_are_over_runs_where_there_are_some() -> None:
    runs = [[packets([delay] * 100, 1)] for delay in (0.1, 0.2, 0.3)]
    found = measured(plan(1), runs, 0, (1.0, 11.0))["delay", "mean"]
    assert found.value == pytest.approx(0.2)
    assert found.half == pytest.approx(4.3027 * 0.1 / math.sqrt(3), rel=1e-3)


def test_packets_belong_to_where_they_were_due() -> None:
    found = measured(plan(1), [[packets([0.1] * 100, 1)]], 0, (1.0, 2.0))
    assert found["offer", "mean"].value == pytest.approx(10_000)
    nothing = measured(plan(1), [[packets([0.1] * 100, 1)]], 0, (20.0, 21.0))
    assert nothing["delay", "mean"].value is None


def test_differences_have_intervals() -> None:
    found = difference(Value(5.0, 2.0, 8.0), Value(1.0, -3.0, 5.0))
    assert (found.value, found.half) == (4.0, 5.0)
    assert difference(Value(None), Value(1.0)).value is None


def test_lateness_of_routers_is_that_of_all_their_interfaces() -> None:
    def interface(*buckets: tuple[int, int], longest: int) -> dict[str, object]:
        return {"lateness": {"sum_ns": 0, "longest_ns": longest, "buckets": [*buckets]}}

    routers = {
        "A": {
            "interfaces": [interface((1000, 990), longest=900), interface((1000, 5), (8000, 4), longest=7000)]
        },
        "B": {"interfaces": [interface((9_000_000, 1), longest=8_500_000), interface(longest=0)]},
        "C": {},
    }
    outcome = SimpleNamespace(routers=routers)
    found = [comparison.routers_late(outcome, level) for level in (0.5, 0.999, 1.0)]
    assert found == [1e-6, 8e-6, 8.5e-3]
    assert comparison.routers_late(SimpleNamespace(routers={}), 0.999) == 0.0
