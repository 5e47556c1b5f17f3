"""The runs of the study: four parts, each a list of variations of one scenario.

A line of 10 Mb/s carries 1,250 packets of 1,000 bytes a second. Where flows are *saturated* each offers
twice its equal share, so that a flow gets what its queue gets, and one that shares a queue gets half of it
or less. Every replication draws new hashes: an interval is one over maps, not over arrivals alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from weir import toml
from weir.reproduce.sfq import published

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

CAPACITY = 10e6
"""bit/s"""
PACKET = 8000
"""bit"""
OVERLOAD = 2.0
FLOWS = (4, 16, 64, 256, 1024, 4096)
QUEUES = (9, 32, 128, 1024)
_QUICK_FLOWS = 256
_MANY = 1024
"""Flows from which on one draw of the hashes holds enough chance, and fewer draws do."""

_DEPTH = 16
"""Packets that wait of one flow, on average, where a discipline limits their sum."""

COUNTED = {
    **{f"sfq:queues={queues}": f"sfq:queues={queues},depth={_DEPTH}pkt" for queues in QUEUES},
    "sfq_set:queues=1024,ways=8": "sfq_set:queues=1024,ways=8,limit={limit}pkt",
    "sfq_linux": "sfq_linux",
    "fq_codel": "fq_codel:limit={limit}pkt",
    "drr": f"drr:depth={_DEPTH}pkt",
    "fq": f"fq:depth={_DEPTH}pkt",
    "fifo": "fifo:limit={limit}pkt",
}
"""Disciplines of the first part, by label; FIFO has no queues to collide in."""

POLICIES = {
    "never": "sfq:queues=32,depth=16pkt,perturb=never",
    "idle": "sfq:queues=32,depth=16pkt,perturb=idle",
    "timer, 10 s": "sfq:queues=32,depth=16pkt,perturb=10s",
    "timer, 1 s": "sfq:queues=32,depth=16pkt,perturb=1s",
    "timer with rehash, 1 s (sfq_linux)": "sfq_linux:divisor=32,flows=128,limit=512pkt,perturb=1s",
    "never (sfq_linux)": "sfq_linux:divisor=32,flows=128,limit=512pkt",
}
"""When the seed changes, at 16 flows and 32 queues."""

_FAMILIES = ("xor", "xor_rotated", "rotate", "rotate_source", "rotate_seeded", "keyed")
HASHES = {name: f"sfq:queues=1024,depth=16pkt,hash={name},perturb=1s" for name in _FAMILIES}
"""The hashes of the report, and the keyed one, all with a new seed each second."""

STAGGERED = (
    "fifo",
    "sfq:queues=128",
    "sfq:queues=1024",
    "sfq_set:queues=1024,ways=8",
    "sfq_linux",
    "fq_codel",
    "fq",
)
"""Labels of `COUNTED`."""
_STEPS = 8
_STAGGERED_FLOWS = 2048

_ATTACKERS = 8
_VICTIM = (10, 0, 0, 1), (10, 1, 0, 1)
ATTACKS = {
    "none": [((10, 0, 7 + 13 * k, 1 + 29 * k), (10, 1, 3 + 11 * k, 2 + 31 * k)) for k in range(_ATTACKERS)],
    "equal xor": [((10, 0, k + 1, 1), (10, 1, k + 1, 1)) for k in range(_ATTACKERS)],
    "equal rotated xor": [((10, 0, k + 1, 1), (10 ^ (k + 1), 1, 0, 1)) for k in range(_ATTACKERS)],
    "high bits": [((10, 0, 0, 1), (10 + 4 * (k + 1), 1, 0, 1)) for k in range(_ATTACKERS)],
}
"""Source and destination of each attacker. Equal xor: source and destination change alike; or alike
after a rotation by 16 bits. High bits: the
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
    seed: int = 1

    @property
    def work(self) -> float:
        """How much there is to do, in packets offered."""
        return self.packets


def colliding(flows: int, queues: int) -> float:
    """Return the share of flows that share a queue with another, of ``flows`` hashed to ``queues``."""
    return 1.0 - (1.0 - 1.0 / queues) ** (flows - 1)


def template_path() -> Path:
    """Return where the scenario of the study is."""
    return published.folder() / "study.toml"


def scenario(run: Run) -> str:
    """Return the scenario of a run as TOML text."""
    template = published.FILES.template(template_path().name)
    changes = run.changes
    made = {
        **template,
        "title": f"{run.part}: {run.label}",
        "seed": run.seed,
        "disciplines": list(run.disciplines),
        "reference": run.disciplines[-1],
        "flow": changes["flow"],
        "stop": {**template["stop"], **changes["stop"]},
        "measure": {**template["measure"], **changes.get("measure", {})},
    }
    return toml.dumps(made)


def source(run: Run) -> tuple[str, str]:
    """Return the scenario of a run, and the name under which errors speak of it."""
    return scenario(run), str(template_path().with_name(f"study.toml ({run.part}, {run.label})"))


def runs(*, quick: bool = False) -> list[Run]:
    """Return the runs of all parts, in order."""
    often = 2 if quick else 16
    made = [*_counts(often), *_singles(often // 2), *_perturbed(often), *_attacked(often), *_staggered(often)]
    return [each for each in made if not quick or each.flows <= _QUICK_FLOWS]


def _saturated(flows: int, **more: object) -> dict[str, Any]:
    """Return the entry of equal flows, each offering twice its share."""
    rate = f"{round(OVERLOAD * CAPACITY / flows)}bit"
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
    seed: int = 1,
    warm_up: float = 0.0,
    measure: dict[str, Any] | None = None,
) -> Run:
    stop = {"duration": f"{seconds:g}s", "replications": often, "warm_up": f"{warm_up:g}s"}
    packets = load * CAPACITY / PACKET * seconds * often * len(disciplines)
    changes = {"flow": entries, "stop": stop, "measure": measure or {}}
    return Run(part, label, flows, disciplines, changes, packets, seed)


def _specs(labels: Iterable[str], flows: int) -> tuple[str, ...]:
    """Return the spec strings of labels of `COUNTED`, with room for 16 packets a flow."""
    return tuple(COUNTED[label].format(limit=_DEPTH * flows) for label in labels)


def _counts(often: int) -> list[Run]:
    """Return the runs over the number of flows."""
    return [
        _run(
            "flows",
            str(flows),
            flows,
            _specs(COUNTED, flows),
            [_saturated(flows)],
            seconds=1.25 * _seconds(flows),
            warm_up=0.25 * _seconds(flows),
            often=often if flows < _MANY else max(2, often // 4),
        )
        for flows in FLOWS
    ]


def _singles(draws: int) -> list[Run]:
    """Return the runs that tell who collides, one a draw of the hashes."""
    alone = _specs(list(COUNTED)[: len(QUEUES)], 0)
    return [
        _run(
            "collisions",
            f"{flows}, draw {seed}",
            flows,
            alone,
            [_saturated(flows)],
            seconds=2 * _seconds(flows),
            often=1,
            seed=seed,
            measure={"flows": True},
        )
        for flows in FLOWS
        if flows <= max(QUEUES)
        for seed in range(1, draws + 1)
    ]


def _perturbed(often: int) -> list[Run]:
    """Return the runs over policies: overloaded, where the line is never idle, and at 95 % of it."""
    flows, seconds = 16, 60.0
    overloaded = [_saturated(flows)]
    rate = f"{round(0.95 * CAPACITY / flows)}bit"
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
        for label, entries, load in (("overloaded", overloaded, OVERLOAD), ("95 % load", light, 0.95))
    ]


def _attacked(often: int) -> list[Run]:
    """Return the runs with a victim, 15 others and 8 attackers who choose their addresses."""
    others, seconds = 15, 20.0
    flows = 1 + others + _ATTACKERS
    rate = _saturated(flows)["rate"]
    disciplines = (*HASHES.values(), *_specs(("sfq_set:queues=1024,ways=8", "fq"), flows))

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
                seconds=1.2 * seconds,
                warm_up=0.2 * seconds,
                often=often,
                measure={"flows": True},
            )
        )
    return made


def _dotted(address: tuple[int, ...]) -> str:
    return ".".join(map(str, address))


def _staggered(often: int) -> list[Run]:
    """Return the runs of flows that begin in eight groups, one after the other, until 2,048 are there.

    Each offers four times its final share, so that the line is half loaded by the first group.
    """
    made = []
    for flows in (_QUICK_FLOWS, _STAGGERED_FLOWS):
        each, step = flows // _STEPS, 40 * flows * PACKET / CAPACITY
        rate = f"{round(4 * CAPACITY / flows)}bit"
        entries = [
            {**_saturated(each), "name": f"group {k + 1}", "rate": rate, "start": f"{k * step:g}s"}
            for k in range(_STEPS)
        ]
        made.append(
            _run(
                "staggered",
                f"{flows:,} flows",
                flows,
                _specs(STAGGERED, flows),
                entries,
                seconds=_STEPS * step,
                often=max(2, often // 4),
                load=4 * (_STEPS + 1) / (2 * _STEPS),
                measure={"intervals": [f"{k * step:g}s" for k in range(_STEPS + 1)]},
            )
        )
    return made
