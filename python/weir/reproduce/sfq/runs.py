"""The runs of the reproduction: four experiments, each under all disciplines, at three fidelities.

``reproduce/sfq`` holds one scenario an experiment. The run with the maps of sfq41 frozen into its routers is
experiment 4.3 with disciplines of their own at two links. The random maps of perturbed runs are drawn again
and again, one short run a draw, since what matters is the distribution and not the mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from weir import toml
from weir.errors import ConfigError
from weir.reproduce.engine.series import Fidelity, changed
from weir.reproduce.sfq import published

SEED = 1993
FREE, STATED, FIFO, PERTURBED, STRICT, FROZEN = "free", "stated", "fifo", "perturbed", "strict", "frozen"


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """One of the four experiments: section, title, and what the disciplines of its scenario stand for."""

    section: str
    title: str
    roles: tuple[str, ...]
    starts: dict[str, float]
    """When its streams begin, in seconds; each lasts 245 s."""


_TOGETHER = {"Lawndart to Ant": 0.0, "MM6 to Dart5": 0.0}
EXPERIMENTS = {
    "fair": Experiment(
        section="4.1",
        title="fair utilisation",
        roles=(FIFO, STATED, FREE, PERTURBED, STRICT),
        starts=dict.fromkeys(("Dartnet1 to Malarky", "Lawndart to Dart5", "LBL to Dart3", "MM6 to Ant"), 0.0),
    ),
    "starve": Experiment(
        section="4.2",
        title="starvation prevention",
        roles=(FIFO, FREE, STATED, PERTURBED, STRICT),
        starts={**_TOGETHER, "Dartnet1 to Malarky": 0.0},
    ),
    "degrade": Experiment(
        section="4.3",
        title="graceful degradation",
        roles=(FIFO, STATED, PERTURBED, STRICT),
        starts={
            "Dartnet1 to Malarky": 0.0,
            "LBL to Dart3": 30.0,
            "Lawndart to Dart5": 60.0,
            "MM6 to Ant": 90.0,
        },
    ),
    "resource": Experiment(
        section="4.4",
        title="resource usage",
        roles=(FIFO, FREE, STATED, PERTURBED, STRICT),
        starts={**_TOGETHER, "Malarky to Dartnet1": 0.0},
    ),
}
STREAM_SECONDS = 245.0


@dataclass(frozen=True, slots=True)
class Reading:
    """Which discipline of which experiment a run of the report is read as."""

    experiment: str
    role: str


RUNS = {
    "fifo29": Reading("fair", FIFO),
    "sfq29": Reading("fair", STATED),
    "sfq49": Reading("fair", FREE),
    "fifo27": Reading("starve", FIFO),
    "sfq28": Reading("starve", FREE),
    "sfq47": Reading("starve", FREE),
    "fifo31": Reading("degrade", FIFO),
    "sfq31": Reading("degrade", STATED),
    "sfq41": Reading("degrade", FROZEN),
    "fifo21": Reading("resource", FIFO),
    "sfq24": Reading("resource", FREE),
}
"""The runs of the report, by its own labels. Perturbed runs are read with the maps that their delays show."""

_DARTNET_AND_MM6 = ("Dartnet1 to Malarky", "MM6 to Ant")
_LBL_AND_LAWNDART = ("LBL to Dart3", "Lawndart to Dart5")
COLLISIONS = {
    "sfq29": (_DARTNET_AND_MM6,),
    "sfq31": (_DARTNET_AND_MM6,),
    "sfq41": (_DARTNET_AND_MM6, _LBL_AND_LAWNDART),
}
"""Pairs of streams that share a queue somewhere in a run."""

_FROZEN_HERE = {
    ("SRI", "AMES"): "sfq:queues=9,depth=100pkt,map=0/1/2/0",
    ("LA", "DC"): "sfq:queues=9,depth=100pkt,map=0/1/1/2",
}
"""Where streams collide in sfq41: Dartnet1 with MM6, and LBL with Lawndart."""
_FROZEN_ELSEWHERE = "sfq:queues=9,depth=100pkt,map=0/1/2/3"


_REPLICATIONS = {Fidelity.QUICK: 8, Fidelity.DEFAULT: 16, Fidelity.FULL: 64}
_FROZEN = {Fidelity.QUICK: 32, Fidelity.DEFAULT: 64, Fidelity.FULL: 128}
"""More, since the split of one queue between LBL and Lawndart has two modes (README, "Two modes")."""
_DRAWS = {Fidelity.QUICK: 40, Fidelity.DEFAULT: 64, Fidelity.FULL: 256}


class Measured(StrEnum):
    """Which part of an experiment a run measures."""

    COMPARED = "compared"
    """All disciplines of its scenario."""
    FROZEN = "frozen"
    """The maps of sfq41."""
    DRAW = "draw"
    """One draw of random maps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One run: an experiment, which part of it, how often, and from which seed."""

    experiment: str
    measured: Measured
    replications: int
    seed: int

    @property
    def work(self) -> int:
        """How much there is to do, in streams times replications."""
        roles = len(EXPERIMENTS[self.experiment].roles) if self.measured == Measured.COMPARED else 1
        return self.replications * roles * len(EXPERIMENTS[self.experiment].starts)


def plans(fidelity: Fidelity, seed: int = SEED) -> list[Plan]:
    """Return all runs: the experiments, the frozen maps, then the draws of random maps."""
    often = _REPLICATIONS[fidelity]
    compared = [
        Plan(experiment=name, measured=Measured.COMPARED, replications=often, seed=seed)
        for name in EXPERIMENTS
    ]
    frozen = Plan(experiment="degrade", measured=Measured.FROZEN, replications=_FROZEN[fidelity], seed=seed)
    return [*compared, frozen, *draws(fidelity, seed)]


def draws(fidelity: Fidelity, seed: int = SEED) -> list[Plan]:
    """Return the draws of random maps for the experiments that were run with perturbation."""
    perturbed = ("fair", "starve", "degrade")
    return [
        Plan(experiment=name, measured=Measured.DRAW, replications=1, seed=seed + 1 + place)
        for place in range(_DRAWS[fidelity])
        for name in perturbed
    ]


def scenario(plan: Plan) -> str:
    """Return the scenario of a run as TOML text."""
    path = published.folder() / f"{plan.experiment}.toml"
    template = published.FILES.template(path.name)
    roles = EXPERIMENTS[plan.experiment].roles
    if len(template["disciplines"]) != len(roles):
        message = f"there are {len(template['disciplines'])} disciplines, must be {len(roles)}"
        raise ConfigError(message, f"restore {path.name}", str(path))
    made = changed(template, {"seed": plan.seed, "stop.replications": plan.replications})
    return toml.dumps(_narrowed(made, plan, roles))


def _narrowed(document: dict[str, Any], plan: Plan, roles: tuple[str, ...]) -> dict[str, Any]:
    """Return the scenario with the disciplines of its part."""
    match plan.measured:
        case Measured.FROZEN:
            links = [_frozen(link) for link in document["link"]]
            return {**_only(document, _FROZEN_ELSEWHERE), "link": links}
        case Measured.DRAW:
            drawn = _only(document, document["disciplines"][roles.index(PERTURBED)])
            intervals = {key: value for key, value in document["measure"].items() if key == "intervals"}
            return {**drawn, "measure": {**intervals, "tails": False}}
    return document


def _only(document: dict[str, Any], discipline: str) -> dict[str, Any]:
    return {**document, "disciplines": [discipline], "reference": discipline}


def _frozen(link: dict[str, Any]) -> dict[str, Any]:
    """Return a link with the map that was frozen at it, in the direction that the streams take."""
    ends = tuple(link["between"]) if "between" in link else (link["from"], link["to"])
    found = _FROZEN_HERE.get(ends)
    return {**link, "discipline": found} if found else link
