"""The runs of the study: four parts, each a list of variations of one scenario.

A line of 10 Mb/s carries 1,250 packets of 1,000 bytes a second. Where flows are *saturated* each offers
twice its equal share, so that a flow gets what its queue gets, and one that shares a queue gets half of it
or less. Every replication draws new hashes: an interval is one over maps, not over arrivals alone.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from weir import toml
from weir.files import read_text
from weir.reproduce.sfq import published

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "ATTACKS",
    "FLOWS",
    "HASHES",
    "POLICIES",
    "QUEUES",
    "Run",
    "colliding",
    "runs",
    "scenario",
    "template_path",
]

CAPACITY = 10e6
"""bit/s"""
PACKET = 8000
"""bit"""
OVERLOAD = 2.0
FLOWS = (4, 16, 64, 256, 1024, 4096)
QUEUES = (9, 32, 128, 1024)
_QUICK_FLOWS = 256

COUNTED = (
    *(f"sfq:queues={queues},depth=16pkt" for queues in QUEUES),
    "sfq_set:queues=1024,ways=8,limit=16384pkt",
    "sfq_linux",
    "fq_codel:limit=10240pkt",
    "drr:depth=16pkt",
    "fq:depth=16pkt",
    "fifo:limit=1000pkt",
)
"""Disciplines of the first part; FIFO has no queues to collide in."""

POLICIES = {
    "never": "sfq:queues=32,depth=16pkt,perturb=never",
    "idle": "sfq:queues=32,depth=16pkt,perturb=idle",
    "timer, 10 s": "sfq:queues=32,depth=16pkt,perturb=10s",
    "timer, 1 s": "sfq:queues=32,depth=16pkt,perturb=1s",
    "timer with rehash, 1 s": "sfq_linux:divisor=32,flows=128,limit=512pkt,perturb=1s",
    "no rehash needed: never, Linux": "sfq_linux:divisor=32,flows=128,limit=512pkt",
}
"""When the seed changes, at 16 flows and 32 queues."""

_FAMILIES = ("xor", "xor_rotated", "rotate", "rotate_source", "rotate_seeded", "keyed")
HASHES = {name: f"sfq:queues=1024,depth=16pkt,hash={name},perturb=1s" for name in _FAMILIES}
"""The hashes of the report, and the keyed one, all with a new seed each second."""

STAGGERED = (
    "fifo:limit=1000pkt",
    "sfq:queues=128,depth=16pkt",
    "sfq:queues=1024,depth=16pkt",
    "sfq_set:queues=1024,ways=8,limit=16384pkt",
    "sfq_linux",
    "fq_codel:limit=10240pkt",
    "fq:depth=16pkt",
)

_ATTACKERS = 8
_VICTIM = (10, 0, 0, 1), (10, 1, 0, 1)
ATTACKS = {
    "none": [((10, 0, 7 + 13 * k, 1 + 29 * k), (10, 1, 3 + 11 * k, 2 + 31 * k)) for k in range(_ATTACKERS)],
    "equal xor": [((10, 0, k + 1, 1), (10, 1, k + 1, 1)) for k in range(_ATTACKERS)],
    "high bits": [((10, 0, 0, 1), (10 + 4 * (k + 1), 1, 0, 1)) for k in range(_ATTACKERS)],
}
"""Source and destination of each attacker. Equal xor: source and destination change alike. High bits: the
destination differs only above the bits that 1,024 queues look at."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run: which part of the study it belongs to, what varies, and its scenario."""

    part: str
    label: str
    flows: int
    disciplines: tuple[str, ...]
    changes: dict[str, Any] = field(hash=False, compare=False)
    packets: float = 0.0


def colliding(flows: int, queues: int) -> float:
    """Return the share of flows that share a queue with another, of ``flows`` hashed to ``queues``."""
    return 1.0 - (1.0 - 1.0 / queues) ** (flows - 1)


def template_path() -> Path:
    """Return where the scenario of the study is."""
    return published.folder() / "study.toml"


@cache
def _template() -> dict[str, Any]:
    return tomllib.loads(read_text(template_path()))


def scenario(run: Run) -> str:
    """Return the scenario of a run as TOML text."""
    template = _template()
    changes = run.changes
    made = {
        **template,
        "title": f"{run.part}: {run.label}",
        "disciplines": list(run.disciplines),
        "reference": run.disciplines[-1],
        "flow": changes["flow"],
        "stop": {**template["stop"], **changes["stop"]},
        "measure": {**template["measure"], **changes.get("measure", {})},
    }
    return toml.dumps(made)


def runs(*, quick: bool = False) -> list[Run]:
    """Return the runs of all parts, in order."""
    often = 2 if quick else 16
    made = [*_counts(often), *_perturbed(often), *_attacked(often), *_staggered(often)]
    return [each for each in made if not quick or each.flows <= _QUICK_FLOWS]


def _saturated(flows: int, **more: object) -> dict[str, Any]:
    """Return the entry of equal flows, each offering twice its share."""
    rate = f"{OVERLOAD * CAPACITY / flows:.3f}bit"
    return {
        "name": "flow",
        "from": "source",
        "to": "sink",
        "count": flows,
        "rate": rate,
        "size": "1000B",
        **more,
    }


def _seconds(flows: int) -> float:
    """Return how long to run for 200 packets a flow, at least 10 s."""
    return max(10.0, 200 * flows * PACKET / (OVERLOAD * CAPACITY))


def _run(
    part: str,
    label: str,
    flows: int,
    disciplines: tuple[str, ...],
    entries: list[dict[str, Any]],
    *,
    seconds: float,
    often: int,
    load: float = OVERLOAD,
    measure: dict[str, Any] | None = None,
) -> Run:
    stop = {"duration": f"{seconds:g}s", "replications": often}
    packets = load * CAPACITY / PACKET * seconds * often * len(disciplines)
    changes = {"flow": entries, "stop": stop, "measure": measure or {}}
    return Run(part, label, flows, disciplines, changes, packets)


def _counts(often: int) -> list[Run]:
    """Return the runs over the number of flows; those up to 256 also tell who collides, from single draws."""
    made = [
        _run("flows", str(flows), flows, COUNTED, [_saturated(flows)], seconds=_seconds(flows), often=often)
        for flows in FLOWS
    ]
    alone = COUNTED[: len(QUEUES)]
    singles = [
        _run(
            "collisions",
            f"{flows}",
            flows,
            alone,
            [_saturated(flows)],
            seconds=_seconds(flows) * 4,
            often=1,
            measure={"flows": True},
        )
        for flows in FLOWS
        if flows <= max(QUEUES)
    ]
    return [*made, *singles]


def _perturbed(often: int) -> list[Run]:
    """Return the runs over policies: overloaded, where the line is never idle, and at 80 % of it."""
    flows, seconds = 16, 60.0
    overloaded = [_saturated(flows)]
    rate = f"{0.8 * CAPACITY / flows:.3f}bit"
    light = [{**_saturated(flows), "rate": rate}]
    return [
        _run(
            "perturbation",
            label,
            flows,
            tuple(POLICIES.values()),
            entries,
            seconds=seconds,
            often=often,
            load=load,
            measure={"intervals": ["0s", "1s", "2s", f"{seconds:g}s"]},
        )
        for label, entries, load in (("overloaded", overloaded, OVERLOAD), ("80 % load", light, 0.8))
    ]


def _attacked(often: int) -> list[Run]:
    """Return the runs with a victim, 15 others and 8 attackers who choose their addresses."""
    others, seconds = 15, 20.0
    flows = 1 + others + _ATTACKERS
    rate = _saturated(flows)["rate"]
    disciplines = (*HASHES.values(), "sfq_set:queues=1024,ways=8,limit=16384pkt", "fq:depth=16pkt")

    def entry(
        name: str, source: tuple[int, ...], destination: tuple[int, ...], **more: object
    ) -> dict[str, Any]:
        addresses = {"source_address": _dotted(source), "destination_address": _dotted(destination)}
        plain = {"name": name, "from": "source", "to": "sink", "rate": rate, "size": "1000B"}
        return {**plain, "class": name.split()[0], **addresses, **more}

    made = []
    for label, addresses in ATTACKS.items():
        entries = [
            entry("victim", *_VICTIM),
            entry("other", (10, 2, 0, 17), (10, 3, 0, 99), count=others),
            *(entry(f"attacker {k + 1}", *each) for k, each in enumerate(addresses)),
        ]
        made.append(
            _run(
                "adversary",
                label,
                flows,
                disciplines,
                entries,
                seconds=seconds,
                often=often,
                measure={"flows": True},
            )
        )
    return made


def _dotted(address: tuple[int, ...]) -> str:
    return ".".join(map(str, address))


def _staggered(often: int) -> list[Run]:
    """Return the runs of flows that begin one after the other until 2,048 are there."""
    made = []
    for flows in (256, 2048):
        seconds = 4 * 40 * flows * PACKET / CAPACITY
        quarter = seconds / 4
        stagger = f"{1000 * seconds * 3 / 4 / flows:.6f}ms"
        entries = [_saturated(flows, stagger=stagger)]
        intervals = [f"{quarter * i:g}s" for i in range(5)]
        made.append(
            _run(
                "staggered",
                f"{flows} flows",
                flows,
                STAGGERED,
                entries,
                seconds=seconds,
                often=max(2, often // 2),
                measure={"intervals": intervals},
            )
        )
    return made
