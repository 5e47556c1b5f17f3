"""Short scenarios for the engine in a page: three models, and laws, queues and transfers of many kinds.

Each is run in a page and natively, and both results are held to be the same bytes (`test_web.py`).
"""

from __future__ import annotations

import json

PORT = """weir = 1
model = "port"
seed = {seed}
disciplines = {disciplines}

[workload]
{workload}

{service}
[stop]
{stop}
"""
SERVER = """weir = 1
model = "server"
seed = 5
disciplines = {disciplines}

[server]
{server}

{classes}
[workload]
{workload}

[stop]
requests = 4_000
replications = 3
"""
NETWORK = """weir = 1
model = "network"
seed = 9
disciplines = {disciplines}

[network]
hosts = ["a", "b"]

[[link]]
name = "line"
between = ["a", "b"]
rate = "10Mbit"
propagation = "2ms"

{flows}
[stop]
duration = "2s"
replications = 3
"""
WHOLE = '[service]\nrate = "8Mbit"\n'
ONE = '[[class]]\nname = "one"\nservice = {}\n'


def port(disciplines: list[str], workload: str, service: str = "", stop: str = "packets = 6_000") -> str:
    written = json.dumps(disciplines)
    return PORT.format(seed=3, disciplines=written, workload=workload, service=service, stop=stop)


def server(disciplines: list[str], service: str, workload: str, cores: str = "cores = 4") -> str:
    return SERVER.format(
        disciplines=json.dumps(disciplines), server=cores, classes=ONE.format(service), workload=workload
    )


def network(disciplines: list[str], *flows: str) -> str:
    head = '[[flow]]\nname = "f{}"\nfrom = "a"\nto = "b"\n{}\n'
    text = "\n".join(head.format(place, flow) for place, flow in enumerate(flows))
    return NETWORK.format(disciplines=json.dumps(disciplines), flows=text)


UDP = 'rate = "3Mbit"\nsize = "500B"'
TCP = 'tcp = {{ congestion = "{}" }}'
REPORT = 'load = 0.9\nlengths = "report"'
MESSAGES = "messages = 3_000\nreplications = 3"
SCENARIOS = {
    "the report": port(["fifo", "rr", "rr_head", "sf", "alpha:10"], REPORT),
    "a pilot and replications": port(["alpha:3", "sf"], REPORT, stop="packets = 6_000\nreplications = 5"),
    "in order": port(["in_order(sf)", "outstanding(alpha:5,limit=1)", "alpha_tracking"], REPORT),
    "ranks": port(["rank:-arrival", "hrrn", "las", "ros"], REPORT),
    "bursts": port(
        ["fifo", "alpha:5"], f"{REPORT}\narrivals = {{ bursty = {{ peak = 4.0, burst = 20.0 }} }}"
    ),
    "renewal": port(["fifo", "sf"], f"{REPORT}\narrivals = {{ renewal = {{ gamma = {{ cv = 0.4 }} }} }}"),
    "batches": port(
        ["fifo", "rr"], f"{REPORT}\narrivals = {{ batches = {{ size = {{ geometric = 4.0 }} }} }}"
    ),
    "closed": port(["rr", "fifo"], 'closed = { applications = 8, think = { exponential = "20u" } }'),
    "exponential": port(
        ["fifo", "ps", "psjf", "rank:-arrival"],
        'load = 0.8\nlengths = { exponential = "1000B" }',
        WHOLE,
        MESSAGES,
    ),
    "lognormal": port(
        ["fifo", "sf"], 'load = 0.7\nlengths = { lognormal = { mean = "1000B", cv = 2.0 } }', WHOLE, MESSAGES
    ),
    "gamma": port(
        ["fifo", "sf"], 'load = 0.7\nlengths = { gamma = { mean = "1000B", cv = 0.5 } }', WHOLE, MESSAGES
    ),
    "weibull": port(
        ["fifo"], 'load = 0.7\nlengths = { weibull = { mean = "1000B", shape = 0.7 } }', WHOLE, MESSAGES
    ),
    "bounded pareto": port(
        ["fifo", "las:1ms"],
        'load = 0.6\nlengths = { bounded_pareto = { alpha = 1.2, low = "100B", high = "100kB" } }',
        WHOLE,
        MESSAGES,
    ),
    "tails": port(["fifo", "sf"], REPORT, stop="packets = 20_000\nreplications = 4")
    + '\n[measure]\nclasses = "decile"\n',
    "one queue": server(["cfcfs", "random", "jsq"], '{ exponential = "5ms" }', 'rate = "600/s"'),
    "power of two": server(
        ["power_of_two", "rr", "jiq"], '{ lognormal = { mean = "5ms", cv = 1.5 } }', 'rate = "600/s"'
    ),
    "stealing": server(
        ["work_stealing", "preemptive:quantum=1ms"],
        '{ erlang = { mean = "5ms", stages = 3 } }',
        'rate = "600/s"',
    ),
    "patience": server(
        ["cfcfs", "jsq"], '{ exponential = "5ms" }\npatience = { exponential = "20ms" }', 'rate = "900/s"'
    ),
    "one core": server(["cfcfs"], '{ gamma = { mean = "1ms", cv = 0.5 } }', 'rate = "700/s"', "cores = 1"),
    "markovian": server(
        ["cfcfs"],
        '{ exponential = "5ms" }',
        'rate = "600/s"\narrivals = { mmpp = { changes = [[-1.0, 1.0], [2.0, -2.0]], rates = [1.0, 3.0] } }',
    ),
    "a day": server(
        ["cfcfs"],
        '{ exponential = "5ms" }',
        'rate = "600/s"\ncurve = { factors = [["0s", 0.5], ["1s", 1.5]], period = "2s" }',
    ),
    "bounded": server(["cfcfs", "jsq"], '{ exponential = "5ms" }', 'rate = "900/s"', "cores = 4\nqueue = 20"),
    "udp": network(["fifo", "drr", "sfq_linux"], UDP, UDP, 'gap = "20ms"\nsize = "200B"'),
    "poisson": network(["fifo", "wf2q_plus"], 'gap = { exponential = "1ms" }\nsize = "700B"', UDP),
    "reno": network(["fifo:limit=50pkt", "codel"], TCP.format("reno"), UDP),
    "cubic": network(["fifo:limit=50pkt", "fq_codel"], TCP.format("cubic"), 'gap = "20ms"\nsize = "200B"'),
}
"""Scenarios by name, besides the examples of the page."""
