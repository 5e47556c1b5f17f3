"""Decisions of a discipline on one small trace, taken by the engine itself: what the stepped pictures show.

Messages and packets go through the queue of the package, as a server of one worker or a line would drive
it; tasks, dispatchers and pools are run in their models, and the steps are read from the timeline and the
records of the run. Nothing here decides anything.
"""

from __future__ import annotations

import csv
import itertools
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import weir
from weir import _weir
from weir.models.node.periods import OVERHEAD, runs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

SECOND, MICROSECOND = 1_000_000_000, 1_000


@dataclass(frozen=True)
class Arrival:
    """An item of a trace: its name, when it arrives, how much service it needs, whose it is."""

    name: str
    at: float
    size: int
    flow: int


@dataclass(frozen=True)
class Bar:
    """A piece of service: in which row, from when until when, of which item, and in which colour."""

    lane: int
    begin: float
    end: float
    name: str
    tone: int


@dataclass(frozen=True)
class Mark:
    """Something that happens to an item at an instant: ``arrives``, or ``dropped``."""

    lane: int
    at: float
    name: str
    tone: int
    what: str


@dataclass(frozen=True)
class Decision:
    """Who is served from an instant on, and who waits then, in the order in which they would be served."""

    at: float
    chosen: str
    tone: int
    how: str
    """For how much, or where, in words."""
    waiting: tuple[tuple[str, int], ...]


@dataclass
class Steps:
    """What happened: rows, pieces of service, arrivals and losses, and decisions in their order."""

    spec: str
    lanes: list[str]
    unit: str
    bars: list[Bar] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)
    waits: list[tuple[int, float, float]] = field(default_factory=list)
    """Row, and from when until when an item that has it to itself is in the system."""


# Messages, one unit of service after another.

MESSAGES = (
    Arrival("A", 0, 4, 0),
    Arrival("B", 0.5, 3, 1),
    Arrival("C", 1.5, 1, 0),
    Arrival("D", 2.5, 2, 1),
    Arrival("E", 5.5, 1, 0),
)
"""The trace of every picture of messages: in units of service, and of two flows, A C E and B D."""


def messages(spec: str, trace: Sequence[Arrival] = MESSAGES) -> Steps:
    """Serve messages a unit at a time; a grant closes when its last unit begins, as in ``port``."""
    steps = Steps(spec, [f"{each.name}  {each.size}" for each in trace], "units of service")
    queue, clock = _weir.Queue(spec), 0
    coming = list(enumerate(trace))
    served: dict[int, float] = {}
    grant: tuple[int, int, int] | None = None
    while coming or grant or queue.backlog()[0]:
        now = clock * SECOND
        while coming and coming[0][1].at <= clock:
            place, each = coming.pop(0)
            at = round(each.at * SECOND)
            outranks, lost = queue.enqueue(place, each.size, each.flow, each.flow, at)
            steps.marks.append(Mark(place, each.at, each.name, place, "arrives"))
            steps.marks += [Mark(one, each.at, trace[one].name, one, "dropped") for one, _ in lost]
            if outranks and grant:
                queue.requeue(grant[0], 0, at)
                grant = None
        if grant is None:
            order = queue.order(now)
            grant, _ = queue.take(now)
            if grant is None:
                clock += 1
                continue
            place, quantum, remaining = grant
            how = "all that remains" if quantum >= remaining else f"for {quantum}"
            waiting = tuple((trace[one].name, one) for one in order if one != place)
            steps.decisions.append(Decision(clock, trace[place].name, place, how, waiting))
        place, quantum, remaining = grant
        if remaining == 1:
            queue.finish(place, 1, now)
            grant = None
        elif quantum == 1:
            queue.requeue(place, 1, now)
            grant = None
        else:
            queue.charge(place, 1, now)
            grant = (place, quantum - 1, remaining - 1)
        steps.bars.append(Bar(place, clock, clock + 1, trace[place].name, place))
        clock += 1
        served[place] = clock
    steps.waits = [(place, trace[place].at, until) for place, until in served.items()]
    return steps


# Packets, whole, on a line that takes a microsecond for a byte.

PACKETS = (
    *(Arrival(f"a{n}", 0.1 * n, 1500, 0) for n in range(1, 6)),
    *(Arrival(f"b{n}", 0.2 + 2.2 * n, 500, 1) for n in range(4)),
    *(Arrival(f"c{n}", 0.3 + 0.1 * n, 1000, 2) for n in range(1, 4)),
)
"""The trace of every picture of packets, in milliseconds and bytes: a burst of flow a, slow b, and c."""
_FLOWS = ("a", "b", "c")
_MILLISECOND = 1_000_000
_MOST_EVENTS = 1_000


def _named(trace: Sequence[Arrival]) -> list[Arrival]:
    """Return a trace in the order of arrival, the packets of each flow numbered from 1."""
    seen: dict[int, int] = {}
    made = []
    for each in sorted(trace, key=lambda one: one.at):
        seen[each.flow] = seen.get(each.flow, 0) + 1
        made.append(Arrival(f"{_FLOWS[each.flow]}{seen[each.flow]}", each.at, each.size, each.flow))
    return made


def packets(spec: str, given: Sequence[Arrival] = PACKETS) -> Steps:
    """Send packets over a line of 8 Mbit/s."""
    trace = _named(given)
    steps = Steps(spec, [f"flow {name}" for name in _FLOWS], "ms")
    queue, now = _weir.Queue(spec), 0
    coming = list(enumerate(trace))
    held: set[int] = set()

    def lose(lost: Sequence[tuple[int, str]]) -> None:
        for place, _ in lost:
            held.discard(place)
            each = trace[place]
            steps.marks.append(Mark(each.flow, now / _MILLISECOND, each.name, each.flow, "dropped"))

    for _ in range(_MOST_EVENTS):
        while coming and round(coming[0][1].at * _MILLISECOND) <= now:
            place, each = coming.pop(0)
            at = round(each.at * _MILLISECOND)
            held.add(place)
            steps.marks.append(Mark(each.flow, each.at, each.name, each.flow, "arrives"))
            lose(queue.enqueue(place, each.size, each.flow, each.flow, at)[1])
        order = _order(queue, now, held)
        found, lost = queue.dequeue(now)
        lose(lost or ())
        if found is not None:
            held.discard(found)
            each = trace[found]
            waiting = tuple((trace[one].name, trace[one].flow) for one in order if one in held)
            end = now + each.size * MICROSECOND
            begin = now / _MILLISECOND
            steps.decisions.append(Decision(begin, each.name, each.flow, f"{each.size:,} B", waiting))
            steps.bars.append(Bar(each.flow, begin, end / _MILLISECOND, each.name, each.flow))
            now = end
        elif not lost:
            ready = queue.event(now)
            times = [round(coming[0][1].at * _MILLISECOND)] if coming else []
            times += [now + max(ready, 1)] if ready is not None else []
            if not times:
                break
            now = min(times)
    return steps


def _order(queue: Any, now: int, held: set[int]) -> list[int]:  # noqa: ANN401 - the core of a queue
    """Return who waits, in the order of service where the discipline can tell it, else in that of arrival."""
    try:
        return list(queue.order(now)) or sorted(held)
    except weir.UnsupportedError:
        return sorted(held)


# Tasks, on one processor.

_TASKS = """
weir = 1
model = "node"
title = "Three processes"
disciplines = ["{spec}"]

[node]
epoch = "20ms"
names = ["core"]

[[process]]
name = "control"
priority = 2
need = "4ms"
{period}
program = "loop {{ sleep until every 5ms; compute 1ms }}"

[[process]]
name = "video"
priority = 1
need = "8ms"
{slower}
program = "loop {{ sleep until every 10ms offset 1ms; compute 6ms }}"

[[process]]
name = "batch"
priority = 0
need = "6ms"
slice = "2ms"
program = "loop {{ compute 1ms }}"

[stop]
warm_up = "20ms"
duration = "60ms"
replications = 1

[measure]
timeline = {{ from = "20ms", until = "40ms" }}
"""


def tasks(spec: str) -> Steps:
    """Run three processes on a core for an epoch of 20 ms."""
    served = spec.startswith("cbs")
    text = _TASKS.format(
        spec=spec, period='period = "5ms"' if served else "", slower='period = "10ms"' if served else ""
    )
    result = weir.run(weir.Scenario.from_toml(text, "three-processes.toml"))
    (line,) = result.timelines
    names = [row.name for row in result.processes if not row.system]
    steps = Steps(spec, names, "ms")
    for run in runs(line):
        if run.kind == OVERHEAD or run.process is None:
            continue
        name = result.processes[run.process].name
        if name not in names:
            continue
        lane = names.index(name)
        begin, end = ((at - line.from_) * 1000 for at in (run.begin, run.end))
        last = steps.bars[-1] if steps.bars else None
        if last and last.name == name and abs(last.end - begin) < 1e-9:
            steps.bars[-1] = Bar(lane, last.begin, end, name, lane)
        else:
            steps.bars.append(Bar(lane, begin, end, name, lane))
    for what, process, at in zip(line.marks.what, line.marks.process, line.marks.at, strict=True):
        if what == "woke" and process is not None and result.processes[process].name in names:
            lane = names.index(result.processes[process].name)
            steps.marks.append(Mark(lane, (at - line.from_) * 1000, names[lane], lane, "arrives"))
    steps.decisions = [
        Decision(bar.begin, bar.name, bar.tone, f"for {bar.end - bar.begin:.3g} ms", ()) for bar in steps.bars
    ]
    return steps


# Requests, over three servers.

REQUESTS = (
    *((0, 9, "long", 0), (1, 2, "short", 1), (2, 9, "long", 2), (3, 2, "short", 0), (4, 2, "short", 1)),
    *((5, 2, "short", 2), (6, 9, "long", 0), (7, 2, "short", 1), (8, 2, "short", 2), (11, 2, "short", 0)),
)
"""The trace of every picture of requests: when, for how long, of which class and flow; in microseconds."""
SERVERS = 3
_REQUESTS = """
weir = 1
model = "server"
title = "Ten requests"
disciplines = ["{spec}"]

[server]
cores = {servers}

[[class]]
name = "short"

[[class]]
name = "long"

[workload.trace]
file = "requests.csv"
time_unit = "us"
service = {{ per_unit = {{ service = "1us" }} }}
class = "class"
flow = "flow"
"""


def requests(spec: str) -> Steps:
    """Serve ten requests on three servers, and read from the records who served which."""
    steps = Steps(spec, [f"server {n}" for n in range(SERVERS)], "µs")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = "".join(f"{at},{service},{kind},{flow}\n" for at, service, kind, flow in REQUESTS)
        (folder / "requests.csv").write_text(f"time,service,class,flow\n{rows}", encoding="utf-8")
        scenario = folder / "requests.toml"
        scenario.write_text(_REQUESTS.format(spec=spec, servers=SERVERS), encoding="utf-8")
        weir.run(scenario, records=folder / "records.csv")
        with (folder / "records.csv").open(encoding="utf-8") as file:
            records = list(csv.DictReader(file))
    rows = sorted(records, key=lambda row: int(row["id"]))
    for row in rows:
        _add_request(steps, row)
    return _apart(steps) if _overlap(steps) else steps


def _overlap(steps: Steps) -> bool:
    """Whether a server begins with a request before another that it has is over: one was interrupted."""
    spans = sorted((bar.lane, bar.begin, bar.end) for bar in steps.bars)
    return any(
        lane == other and begin < end for (lane, _, end), (other, begin, _) in itertools.pairwise(spans)
    )


def _apart(steps: Steps) -> Steps:
    """Return the same with a row for each request, where servers put requests aside."""
    steps.lanes = [f"request {bar.name}" for bar in steps.bars]
    steps.bars = [Bar(place, bar.begin, bar.end, bar.name, bar.tone) for place, bar in enumerate(steps.bars)]
    return steps


def _add_request(steps: Steps, row: dict[str, str]) -> None:
    number = int(row["id"])
    tone = 0 if row["class"] == "short" else 1
    name = str(number + 1)
    arrival = int(row["arrival_ns"]) / MICROSECOND
    if not row["core"]:
        steps.marks.append(Mark(0, arrival, name, tone, "dropped"))
        return
    core = int(row["core"])
    begin, end = (int(row[key]) / MICROSECOND for key in ("start_ns", "end_ns"))
    steps.bars.append(Bar(core, begin, end, name, tone))
    waited = f", after {begin - arrival:.3g} µs" if begin > arrival else ", at once"
    steps.decisions.append(Decision(arrival, name, tone, f"server {core}{waited}", ()))


# Which of these shows a discipline.

_SPECS = {
    "alpha": "alpha:1",
    "alpha_tracking": "alpha_tracking:low=0,high=4,weight=0.5",
    "in_order": "in_order(sf)",
    "outstanding": "outstanding(sf,limit=1)",
    "rank": "rank:arrival+2*size",
    "las": "las:quantum=1",
    "sfq": "sfq:queues=9",
    "sfq_linux": "sfq_linux",
    "sfq_set": "sfq_set:queues=16,ways=4",
    "drr": "drr:quantum=1500B",
    "table_basic": "table_basic:distances=2/4/4,entries=4",
    "table_weighted": "table_weighted:distances=2/4/4,entries=4,weights=16cr/16cr/32cr",
    "dtable": "dtable:distances=2/4/4,entries=4,weights=24cr/24cr/24cr,mtu=1500B",
    "fq": "fq(fifo)",
    "wfq": "wfq:rate=8Mbit,weights=1/2/1",
    "scfq": "scfq:weights=1/2/1",
    "wf2q_plus": "wf2q_plus:weights=1/2/1",
    "codel": "codel:target=1ms,interval=3ms,mtu=500B",
    "fq_codel": "fq_codel:target=1ms,interval=3ms,mtu=500B",
    "cake": "cake:rate=8Mbit,fairness=flows",
    "priority": "priority(fifo,bands=3)",
    "tbf": "tbf(fifo,rate=4Mbit,burst=3000B)",
    "htb": "htb(fifo,rate=8Mbit,classes=2Mbit/2Mbit-8Mbit/4Mbit-8Mbit)",
    "epoch": "epoch:20ms",
    "priority_rr": "priority_rr:2ms",
    "share": "share:2ms",
    "stride": "stride:2ms",
    "cbs": "cbs:20ms,slice=2ms",
    "eevdf": "eevdf:2ms",
    "dynamic": "dynamic:add=2us,min=1,period=2us",
    "dynamic_separated": "dynamic_separated:add=2us,period=2us",
    "stale": "stale(jsq,every=5us)",
    "health": "health(jsq,after=1ms)",
    "preemptive": "preemptive:quantum=2us,cost=0ns",
    "per_server": "per_server(rr,discipline=sjf)",
    "work_stealing": "work_stealing:cost=0ns",
    "jbsq": "jbsq:depth=2,cost=0ns",
    "core_allocation": "core_allocation:period=2us,delay=1us",
    "peak_ewma": "peak_ewma:decay=10us",
}
"""Parameters that show the rule on so small a trace; else the registry's example is shown."""
_HOW: dict[str, Callable[[str], Steps]] = {
    "message": messages,
    "packet": packets,
    "task": tasks,
    "dispatcher": requests,
    "pool": requests,
}
_OF_PACKETS = frozenset({"priority", "tbf", "htb"})


def steps_of(info: dict[str, Any]) -> Steps:
    """Return the steps of a discipline, as the registry describes it."""
    name, kind = info["name"], info["kind"]
    spec = _SPECS.get(name, info["example"]) if (name, kind) != ("rr", "dispatcher") else "rr"
    if kind == "wrapper":
        kind = "packet" if name in _OF_PACKETS else "message"
    return _HOW[kind](spec)


def told(steps: Steps) -> Iterator[str]:
    """Yield the decisions in words."""
    for each in steps.decisions:
        waiting = ", ".join(name for name, _ in each.waiting)
        behind = f"; then {waiting}" if waiting else ""
        yield f"{each.at:.4g} {steps.unit}: {each.chosen}, {each.how}{behind}"
