"""Plans of testbeds: what a scenario becomes, and what is refused; nothing is built."""

import tomllib
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest

import weir
from weir import cli
from weir.errors import ConfigError
from weir.live import planner as planning
from weir.live import quantities, scripts
from weir.live.comparison import simulated
from weir.live.namespaces import End
from weir.live.plan import Plan
from weir.live.routers import configuration
from weir.live.sfq import parts

REPRODUCTIONS = Path(__file__).parent.parent / "reproduce" / "sfq"
SMALL = """\
weir = 1
model = "network"
seed = 1
disciplines = ["fifo:limit=100pkt", "drr:quantum=1514B"]
[network]
hosts = ["a", "b", "c"]
routers = ["r", "q", "unused"]
forwarding = { constant = "1ms", exponential = "2ms" }
host_processing = "3ms"
addresses = { b = "192.0.2.7" }
[[link]]
between = ["a", "r"]
rate = "1Mbit"
propagation = "5ms"
discipline = "fifo:limit=1000pkt"
[[link]]
between = ["c", "r"]
rate = "2Mbit"
[[link]]
from = "r"
to = "q"
rate = "1344kbit"
propagation = "10ms"
overhead = { fifo = "43us", default = "152us" }
jitter = "200us"
mtu = "1400B"
[[link]]
from = "q"
to = "r"
rate = "1344kbit"
overhead = "38B"
[[link]]
between = ["q", "b"]
rate = "10Mbit"
discipline = "fifo:limit=1000pkt"
[[link]]
between = ["q", "unused"]
rate = "10Mbit"
[[flow]]
from = "a"
to = "b"
count = 2
stagger = "1s"
gap = { exponential = "4ms" }
size = { uniform = ["64B", "1000B"] }
packets = 9
[[flow]]
from = "c"
to = "b"
start = "2s"
rate = "80kbit"
size = "500B"
tick = "10ms"
[stop]
duration = "8s"
replications = 2
"""


def planned(text: str = SMALL, *, place: int = 0, scale: int = 1) -> Plan:
    scenario = weir.Scenario.from_toml(text, "small.toml")
    result = simulated(scenario)
    name = result.disciplines[place]
    return planning.plan(scenario.normalised, result.flows, Path(), discipline=name, scale=scale)


def configured(plan: Plan, name: str) -> dict[str, Any]:
    router = next(each for each in plan.routers if each.name == name)
    ends = {
        each.to: End(name, "ns", f"to-{place}", "02:00:00:00:00:01", f"02:00:00:00:00:{place + 2:02x}")
        for place, each in enumerate(router.interfaces)
    }
    return tomllib.loads(configuration(router, "x", ends, memory="8MiB"))


def test_nodes_and_wires() -> None:
    plan = planned()
    assert plan.hosts == ("a", "b", "c")
    assert [each.name for each in plan.routers] == ["r", "q", "c (gateway to r)"]
    ends = {(each.one, each.other) for each in plan.wires}
    assert ends == {("a", "r"), ("c", "c (gateway to r)"), ("c (gateway to r)", "r"), ("q", "r"), ("b", "q")}
    addresses = [each for wire in plan.wires for each in (wire.one_address.ip, wire.other_address.ip)]
    assert len(set(addresses)) == len(addresses)
    assert plan.addresses["b"] == IPv4Address("192.0.2.7")
    assert plan.addresses["a"] == IPv4Address("10.77.0.1")


def test_a_line_becomes_an_interface() -> None:
    document = configured(planned(), "r")
    assert document["router"] == {
        "name": "x",
        "flows": "class",
        "defaults": "simulation",
        "memory": "8MiB",
    }
    line = document["interface"][2]
    # 43 us and the mean of the jitter, 100 us, are 24 bytes at this rate; forwarding takes 3 ms in the mean.
    assert (line["rate"], line["framing"], line["propagation"]) == ("1343941bit", "24B", "13000000ns")
    assert (line["mtu"], line["discipline"]) == ("1400B", "fifo:limit=100pkt")
    assert configured(planned(place=1), "r")["interface"][2]["framing"] == "42B"
    back = next(each for each in configured(planned(), "q")["interface"] if each.get("rate") == "1344000bit")
    assert (back["framing"], back["mtu"]) == ("38B", "1500B")


def test_the_scale_multiplies_rates_and_divides_times() -> None:
    line = configured(planned(scale=10), "r")["interface"][2]
    assert (line["rate"], line["framing"], line["propagation"]) == ("13439409bit", "24B", "1300000ns")
    assert planned(scale=10).streams == planned().streams


def test_routes_and_classes_lead_to_the_flows() -> None:
    document = configured(planned(), "r")
    (route,) = document["route"]
    assert route["to"] == "192.0.2.7/32"
    line = next(each for each in document["interface"] if each["name"] == route["interface"])
    assert route["via"] in line["neighbours"]
    names = [each["name"] for each in document["class"]]
    assert names == ["a to b 1", "a to b 2", "c to b"]
    assert [each["ports"] for each in document["class"]] == [[4001], [4002], [4003]]
    gateway = configured(planned(), "c (gateway to r)")["interface"]
    assert [each.get("rate") for each in gateway] == ["2000000bit", None]


def test_classes_of_the_scenario_are_those_of_the_routers() -> None:
    text = SMALL.replace('from = "c"\nto = "b"\n', 'from = "c"\nto = "b"\nclass = "high"\n')
    text = text.replace("[network]", '[network]\nclasses = ["high", "default"]')
    document = configured(planned(text), "r")
    assert document["router"]["flows"] == "5-tuple"
    assert [(each["name"], each["ports"]) for each in document["class"]] == [
        ("high", [4003]),
        ("flow default", [4001, 4002]),
    ]


def test_flows_become_scripts() -> None:
    first, second, third = planned().streams
    assert first.script == (
        "on 1 udp 192.0.2.7.4001\narrival exponential 0.004 length uniform 32 968 packet 9 time 8\n"
    )
    assert second.script.endswith("time 7\n")
    assert (second.start, third.start, third.tick) == (10**9, 2 * 10**9, 10**7)
    assert "arrival exponential 0.05 length constant 468 time 6" in third.script
    assert first.sink_script.startswith("on 1 udp 192.0.2.7.4001 server")
    # Its link, 532 bytes in the mean at 1 Mbit/s and 5 ms, and its processing; a gateway has the other.
    assert (first.before, first.after) == (4_256_000 + 5_000_000 + 3_000_000, 3_000_000)
    assert third.before == 3_000_000


def test_scripts_are_read_back_by_the_engine(tmp_path: Path) -> None:
    for place, stream in enumerate(planned().streams):
        for script in (stream.script, stream.sink_script):
            (tmp_path / f"{place}.tg").write_text(script)
            scripts.tg.facts(tmp_path / f"{place}.tg")


@pytest.mark.parametrize("name", ["fair", "starve", "degrade", "resource"])
def test_the_sfq_experiments_can_be_planned(name: str) -> None:
    (part, *_) = parts([name], ["sfq"])
    document = tomllib.loads(part.scenario)
    short = {**document, "stop": {"duration": "91s", "replications": 2}, "measure": {"tails": False}}
    scenario = weir.Scenario.from_toml(weir.toml.dumps(short), str(REPRODUCTIONS / "x.toml"))
    result = simulated(scenario, part.disciplines)
    plan = planning.plan(
        scenario.normalised, result.flows, REPRODUCTIONS, discipline=result.disciplines[0], scale=10
    )
    assert all(each.compatible and each.tick == 10**7 for each in plan.streams)
    assert all("arrival exponential" in each.script for each in plan.streams)
    line = next(each for router in plan.routers for each in router.interfaces if each.link == "AMES-LA")
    # 0.152 ms of overhead and 0.1 ms of jitter in the mean, at 1.344 Mb/s: 42.336 bytes beside 782.
    assert (line.rate, line.framing) == (13_434_522, 42)
    assert all(router.routes for router in plan.routers)


@pytest.mark.parametrize(
    ("old", "new", "reason", "remedy"),
    [
        (
            'rate = "80kbit"\nsize = "500B"',
            'tcp = { packet = "1000B" }',
            "flow c to b is of `tcp`",
            "simulated alone",
        ),
        ('size = "500B"', 'size = { exponential = "500B" }', "no largest", "bounded_exponential"),
        (
            'rate = "80kbit"\nsize = "500B"',
            'gap = { lognormal = { mean = "9ms", cv = 2.0 } }\nsize = "500B"',
            "the law `lognormal` is not one of TG",
            "markov2",
        ),
        ('size = "500B"', 'size = "20B"', "a size is 20B, must be from 32B to 1500B", "32B to 1500B"),
        (
            'count = 2\nstagger = "1s"',
            "count = 99",
            "there are 100 flows, a testbed has at most 64",
            "lower `count`",
        ),
    ],
)
def test_what_cannot_be_sent_is_refused(old: str, new: str, reason: str, remedy: str) -> None:
    text = SMALL.replace(old, new).replace('mtu = "1400B"\n', "")
    with pytest.raises(ConfigError) as caught:
        planned(text.replace('tick = "10ms"\n', "") if "tcp" in new else text)
    assert reason in caught.value.message
    assert remedy in (caught.value.remedy or "")


def test_another_model_is_refused() -> None:
    with pytest.raises(ConfigError, match="of a port, a testbed is built of a network"):
        planning.check({"model": "port"}, "x.toml")


def test_flows_that_part_are_refused() -> None:
    text = SMALL.replace(
        '[[link]]\nbetween = ["q", "unused"]\nrate = "10Mbit"',
        '[[link]]\nbetween = ["q", "unused"]\nrate = "10Mbit"\n'
        '[[link]]\nbetween = ["unused", "r"]\nrate = "1Mbit"',
    ).replace('from = "c"\nto = "b"\n', 'from = "c"\nto = "b"\nvia = ["r", "unused", "q"]\n')
    with pytest.raises(ConfigError, match=r"separate at r, to q and unused"):
        planned(text)


@pytest.mark.parametrize(
    ("text", "value"), [("500us", 500_000), ("0.5ms", 500_000), ("12s", 12 * 10**9), ("7ns", 7)]
)
def test_times(text: str, value: int) -> None:
    assert quantities.nanoseconds(text) == value
    assert quantities.nanoseconds(quantities.time(value)) == value


def test_seconds_are_exact() -> None:
    assert [quantities.seconds(each) for each in (0, 1, 7_692_000, 30 * 10**9)] == [
        "0",
        "0.000000001",
        "0.007692",
        "30",
    ]


@pytest.mark.parametrize(
    "options", [["--scale", "0"], ["--repeat", "0"], ["--together", "99"], ["--out", "x.pdf"]]
)
def test_bad_options_are_refused(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["live", "testbed", str(REPRODUCTIONS / "fair.toml"), *options]) == 2
    assert "remedy" in capsys.readouterr().err


def test_an_unknown_experiment_is_refused() -> None:
    with pytest.raises(ConfigError, match="must be one of fair, starve, degrade, resource"):
        parts(["unfair"])
