"""Real inputs of every kind, each with the commands that read it, and mutated cases of them.

A case is decided by its kind and its number, and by nothing else: a failure is repeated by both.
"""

from __future__ import annotations

import random
import tomllib
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import mutated_texts as texts
import mutations
from documents import ROOT, blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

SIZED = ("--vary", "workload.load={0.3,0.6}", "--need", "p90 slowdown < 20", "--limit", "2")
"""What is searched in a scenario of a server."""
KINDS = ("scenarios", "traces", "requests", "captures")
DATA_LINES = 300
"""Lines that are kept of a file of `data`, which scenarios name; the files are as long as runs may take."""


@dataclass(frozen=True)
class Step:
    """A command of a case; ``after`` is the step, counted back, that must have ended with 0 before it."""

    arguments: tuple[str, ...]
    writes: tuple[str, ...] = ()
    after: int = 0
    is_ours: bool = False
    """Whether it reads what weir has written, and so must not refuse it."""
    is_run: bool = False
    """Whether it simulates, and so may take long: it is then interrupted, and has to end."""


@dataclass
class Case:
    """Files in a folder, one of them mutated, and what is done with them."""

    name: str
    files: dict[str, bytes] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)

    @property
    def mutated(self) -> bytes:
        return self.files[self.name]


def case(kind: str, number: int) -> Case:
    """Return one of the cases of a kind."""
    numbers = random.Random(f"{kind} {number}")  # noqa: S311 - no secret
    return _MAKERS[kind](numbers)


def simulated(name: str, text: bytes, numbers: random.Random) -> Iterator[Step]:
    """Yield what is done with a scenario: checked, run for a short while, its theory, and a search in it."""
    as_json = ("--json",) if numbers.random() < 0.25 else ()
    yield Step(("check", name, *as_json))
    document, length = parsed(text), settings(text)
    command = numbers.choice(("run", "compare"))
    out = numbers.choices(("r.json", "r.html", "r.csv", "r.parquet"), (16, 2, 1, 1))[0]
    asked = ("--threads", "1", "--out", out, *as_json)
    yield Step((command, name, *length, *asked), (out,), after=1, is_run=True)
    match document.get("model"):
        case "port":
            yield Step(("theory", name, *as_json), after=2, is_run=True)
        case "server" if numbers.random() < 0.3:
            yield Step(
                ("size", name, *length, *SIZED, "--threads", "1", *as_json),
                after=2,
                is_run=True,
            )


def parsed(text: bytes) -> dict[str, Any]:
    try:
        return tomllib.loads(text.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError, ValueError):
        return {}


def settings(text: bytes) -> tuple[str, ...]:
    """Return the options that make the run of a scenario short, whatever its own end is."""
    document = parsed(text)
    stop = document.get("stop")
    stop = stop if isinstance(stop, dict) else {}
    match document.get("model"):
        case "port" if "trace" in str(document.get("workload")):
            given: tuple[str, ...] = ("stop.replications=2",) if "replications" in stop else ()
        case "port":
            unit = "messages" if "messages" in stop else "packets"
            given = (f"stop.{unit}=4000", "stop.replications=2")
        case "network":
            given = ("stop.duration=300ms", "stop.replications=2", "stop.warm_up=0s")
        case "fabric":
            given = ("stop.duration=40us", "stop.replications=2", "stop.warm_up=4us")
        case "node":
            given = ("stop.duration=400ms", "stop.replications=2", "stop.warm_up=0s")
        case "server" if "trace" in str(document.get("workload")):
            given = ("stop.replications=2",)
        case "server" if "duration" in stop:
            given = ("stop.duration=2ms", "stop.replications=2")
        case "server":
            given = ("stop.requests=4000", "stop.replications=2")
        case _:
            given = ()
    return tuple(part for each in given for part in ("--set", each))


# Scenarios.


@cache
def scenarios() -> tuple[str, ...]:
    """Return the scenarios of documents, reproductions, examples and `weir new`."""
    pages = [path.read_text() for path in sorted((ROOT / "docs").glob("*.md"))]
    found = [block.body for page in pages for block in blocks(page) if block.language == "toml"]
    folders = ("reproduce/*", "examples/*", "python/weir/assets/new")
    found += [path.read_text() for folder in folders for path in sorted(ROOT.glob(f"{folder}/*.toml"))]
    known = (text.replace("../../data/", "data/") for text in found)
    return tuple(text for text in known if {"weir", "model"} <= parsed(text.encode()).keys())


@cache
def scripts() -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((ROOT / "reproduce/sfq").glob("*.tg"))}


def scenario_case(numbers: random.Random) -> Case:
    base = numbers.choice(scenarios())
    text = mutations.text(numbers, base, scenarios())
    files = {"s.toml": text} | (scripts() if b".tg" in text else {})
    return Case("s.toml", files, list(simulated("s.toml", text, numbers)))


# Traces.


def head(path: str, lines: int = 30) -> str:
    return "".join((ROOT / path).read_text().splitlines(keepends=True)[:lines])


@cache
def traced() -> tuple[tuple[str, str], ...]:
    """Return data files, each with a scenario that reads it."""
    sizes, packets = "data/sizes/homa-w2.csv", ("data/packets/web-quic.csv", "data/packets/scada-modbus.csv")
    return (
        *((texts.MESSAGES, texts.PORT + rest) for rest in texts.OF_MESSAGES),
        (texts.TOKENS, texts.PORT + texts.OF_TOKENS),
        (head(sizes), texts.PORT + texts.OF_SIZES),
        (head(sizes, 12), texts.FABRIC),
        *((head(path), texts.NETWORK + rest) for path, rest in zip(packets, texts.OF_PACKETS, strict=True)),
        (texts.REPLAY, texts.NODE),
    )


@cache
def scripts_of_tg() -> tuple[str, ...]:
    corpus = sorted((ROOT / "fuzz/corpus/tg").iterdir())
    found = [path.read_text().split("---")[0] for path in corpus]
    return (*(text.decode() for text in scripts().values()), *found)


@cache
def task_sets() -> tuple[str, ...]:
    return (texts.TASKS, (ROOT / "tests/tasks/audio.json").read_text())


@cache
def timings() -> tuple[str, ...]:
    return ((ROOT / "tests/tasks/timehist.csv").read_text(),)


def trace_case(numbers: random.Random) -> Case:
    which = numbers.randrange(len(traced()) + 4)
    if which < len(traced()):
        base, scenario = traced()[which]
        return read_by(numbers, base, scenario, [base for base, _ in traced()])
    match which - len(traced()):
        case 0:
            return imported(numbers, "perf", "x.csv", timings())
        case 1:
            return imported(numbers, "rtapp", "x.json", task_sets())
    return imported(numbers, "tg", "x.tg", scripts_of_tg())


def read_by(numbers: random.Random, base: str, scenario: str, others: Sequence[str]) -> Case:
    """Return a data file, and what is done with the scenario that reads it."""
    files = {"x.csv": mutations.text(numbers, base, others), "s.toml": scenario.encode()}
    return Case("x.csv", files, list(simulated("s.toml", files["s.toml"], numbers)))


def imported(numbers: random.Random, command: str, name: str, bases: Sequence[str]) -> Case:
    """Return a file that a scenario is made of, and the run of what is made."""
    made = mutations.text(numbers, numbers.choice(bases), bases)
    length = settings(b'model = "network"' if command == "tg" else b'model = "node"')
    steps = [
        Step(("import", command, name, "--out", "s.toml"), ("s.toml", "s.*.csv")),
        Step(("check", "s.toml"), after=1, is_ours=True),
        Step(("run", "s.toml", *length, "--threads", "1", "--out", "r.json"), ("r.json",), 1, is_run=True),
    ]
    return Case(name, {name: made}, steps)


# Requests: for plans, options of OpenSM, and logs of requests to servers.


@cache
def plans() -> tuple[str, ...]:
    frozen = sorted((ROOT / "tests/frozen/files").glob("*/request.toml"))
    return tuple(path.read_text() for path in (*frozen, *sorted((ROOT / "examples").glob("*/request.toml"))))


@cache
def options() -> tuple[str, ...]:
    files = (*sorted((ROOT / "data/configs").glob("opensm*.conf")), ROOT / "examples/infiniband/opensm.conf")
    return tuple(path.read_text() for path in files)


def request_case(numbers: random.Random) -> Case:
    match numbers.choices(("plan", "options", "log", "requests"), (6, 2, 2, 3))[0]:
        case "plan":
            return plan_case(numbers)
        case "options":
            return options_case(numbers)
        case "log":
            return log_case(numbers)
    rest = ((texts.REQUESTS, texts.OF_REQUESTS), (texts.TOKENS, texts.OF_TOKENS_OF_REQUESTS))
    base, service = numbers.choice(rest)
    return read_by(numbers, base, texts.SERVER + service, [texts.REQUESTS, texts.TOKENS])


@cache
def logs() -> tuple[str, ...]:
    access = head("examples/service-log/access.log", 12)
    rows = ("arrival_s,took_ms,kind", "0.25,12,a", "0.5,7.5,b", "0.5,0,a", "1.75,3e2,a")
    lines = (
        '{"start": "2026-05-11T09:30:00Z", "http": {"took_ms": 3}}',
        '{"start": "2026-05-11T09:30:01.5Z", ',
    )
    envoy = (
        '[2026-05-11T09:30:0{}.250Z] "GET /a?x=1 HTTP/2" 200 - 1 2 {} {} "-" "x" "id" "host" "192.0.2.1:80"'
    )
    return (
        access,
        "\n".join(rows) + "\n",
        f'{lines[0]}\n{lines[1]}"http": {{"took_ms": 4}}}}\n',
        "".join(envoy.format(n, 9 - n, 7 - n) + "\n" for n in range(4)),
    )


def log_case(numbers: random.Random) -> Case:
    made = mutations.text(numbers, numbers.choice(logs()), logs())
    asked = numbers.choice(
        ((), ("--fit",), ("--json",), ("--class", "method"), ("--time-of", "end", "--unit", "ms"))
    )
    steps = [
        Step(("import", "log", "x.log", "--out", "o", *asked), ("o",)),
        Step(("check", "o/scenario.toml"), after=1, is_ours=True),
    ]
    return Case("x.log", {"x.log": made}, steps)


def options_case(numbers: random.Random) -> Case:
    made = mutations.text(numbers, numbers.choice(options()), options())
    room, form = ("--capacity", numbers.choice(("8", "16", "64"))), numbers.choice(("plan", "scenario"))
    steps = [
        Step(("lint", "x.conf", *room)),
        Step(("import", "opensm", "x.conf", *room, "--as", form, "--out", "y.toml"), ("y.toml",)),
        Step(("plan" if form == "plan" else "check", "y.toml"), after=1, is_ours=True),
    ]
    return Case("x.conf", {"x.conf": made}, steps)


TARGETS = ("opensm", "pcie", "tc-ets", "tc-drr", "dcb", "scenario")


def plan_case(numbers: random.Random) -> Case:
    base = numbers.choice(plans())
    made = mutations.text(numbers, base, plans())
    as_json = ("--json",) if numbers.random() < 0.25 else ()
    steps = [Step(("plan", "x.toml", *as_json))]
    target = numbers.choice(("scenario", "rebalance") if "[nodes]" in base else TARGETS)
    steps.append(Step(("plan", "x.toml", "--target", target, "--out", "y.out", *as_json), ("y.out",)))
    if numbers.random() < 0.1:
        steps.append(Step(("plan", "x.toml", "--check", "--threads", "1", *as_json), after=2, is_run=True))
    return Case("x.toml", {"x.toml": made}, steps)


# Captures.


@cache
def captures() -> tuple[bytes, ...]:
    return tuple(path.read_bytes() for path in sorted((ROOT / "fuzz/corpus/capture").iterdir()))


def capture_case(numbers: random.Random) -> Case:
    made = mutations.capture(numbers, numbers.choice(captures()))
    asked = numbers.choice(
        ((), (), ("--json",), ("--rate", "10Mbit"), ("--keep-addresses",), ("--flows", "1"))
    )
    steps = [
        Step(("import", "pcap", "x.pcap", "--out", "o", *asked), ("o",)),
        Step(("check", "o/scenario.toml"), after=1, is_ours=True),
    ]
    if numbers.random() < 0.2:
        steps.append(
            Step(
                ("run", "o/scenario.toml", "--set", "stop.duration=300ms", "--threads", "1"),
                (),
                1,
                is_run=True,
            )
        )
    return Case("x.pcap", {"x.pcap": made}, steps)


_MAKERS: dict[str, Callable[[random.Random], Case]] = {
    "scenarios": scenario_case,
    "traces": trace_case,
    "requests": request_case,
    "captures": capture_case,
}
