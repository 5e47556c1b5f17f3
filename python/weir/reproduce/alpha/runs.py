"""The runs of the reproduction: one scenario for each load, from one template, at three fidelities.

The number of replications belongs to the scenario, so a result never depends on the machine. Each replication
starts empty, as the original did, and leaves out five relaxation times. The relaxation time of a queue near
saturation is that of reflected Brownian motion, ``2 * variance / drift**2``, with drift ``1 - rho`` and
variance ``lambda * E[S**2]`` (S: the service of a whole message): 8,300 services at 95 %, 53,000 at 98 %.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weir import toml
from weir.errors import ConfigError
from weir.reproduce.alpha import published
from weir.reproduce.engine.series import Fidelity, changed

if TYPE_CHECKING:
    from weir.reproduce.alpha.published import Load

SEED = 15
WARM_UP_RELAXATIONS = 5
_REPLICATIONS = 8
_PACKETS_IDLE = 625_000
"""Packets of a replication at 0.01 %: the server is idle for so long that one clock holds few of them."""
_SAMPLES = 200.0
_SAMPLES_IDLE = 20_000.0
"""Time between two samples of the queue; the listing has 200, which at 0.01 % samples an empty queue."""

MILLION = 1_000_000


# Millions of packets at each load. Low loads settle soon, but only few of their messages wait at all.
_QUICK = dict(zip(published.LOADS, (3, 3, 10, 30, 20, 20, 30, 100, 50, 80), strict=True))
_DEFAULT = dict(zip(published.LOADS, (10, 10, 50, 100, 100, 200, 200, 350, 400, 600), strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One load's run: how long, how often, and what of it is left out."""

    load: Load
    packets: int
    replications: int
    warm_up: float
    queue_period: float
    seed: int

    @property
    def work(self) -> int:
        """How much there is to do, in packets."""
        return self.packets

    @property
    def utilisation(self) -> float:
        """The load as a fraction."""
        return float(self.load) / 100


def relaxation_time(utilisation: float) -> float:
    """Return how long the queue remembers, in mean packet services."""
    second_moment = sum(share * (length**2 + 0.25 * length) for length, share in published.LENGTHS.items())
    variance = utilisation / published.MEAN_LENGTH * second_moment
    return 2 * variance / (1 - utilisation) ** 2


def _packets(load: Load, fidelity: Fidelity) -> int:
    match fidelity:
        case Fidelity.QUICK:
            return _QUICK[load] * MILLION
        case Fidelity.DEFAULT:
            return _DEFAULT[load] * MILLION
    return max(published.packets()[load] or 0, _QUICK[load] * MILLION)


def plan(load: Load, fidelity: Fidelity, seed: int = SEED) -> Plan:
    """Return the run of one load."""
    packets = _packets(load, fidelity)
    utilisation = float(load) / 100
    idle = utilisation < 0.001
    return Plan(
        load=load,
        packets=packets,
        replications=packets // _PACKETS_IDLE if idle else _REPLICATIONS,
        warm_up=100.0 * math.ceil(WARM_UP_RELAXATIONS * relaxation_time(utilisation) / 100),
        queue_period=_SAMPLES_IDLE if idle else _SAMPLES,
        seed=seed + published.LOADS.index(load),
    )


def plans(fidelity: Fidelity, seed: int = SEED) -> list[Plan]:
    """Return the runs of all loads."""
    return [plan(load, fidelity, seed) for load in published.LOADS]


def scenario(plan: Plan) -> str:
    """Return the scenario of a run as TOML text: the template with this load in place of its own."""
    return toml.dumps(_filled(published.FILES.template("section15.toml"), plan))


def _filled(template: dict[str, Any], plan: Plan) -> dict[str, Any]:
    if tuple(template["disciplines"]) != published.STRATEGIES:
        message = "the disciplines of the template are not those of the tables"
        raise ConfigError(message, "restore section15.toml", str(published.folder() / "section15.toml"))
    changes = {
        "title": f"Section 15 at {plan.load} % load",
        "seed": plan.seed,
        "workload.load": plan.utilisation,
        "stop": {
            "packets": plan.packets,
            "replications": plan.replications,
            "warm_up": f"{plan.warm_up:.0f}u",
        },
        "measure.queue_period": f"{plan.queue_period:.0f}u",
    }
    return changed(template, changes)
