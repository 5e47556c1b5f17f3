"""A plan against the simulation of its own table: does each class get its share, and does its bound hold.

The tables are those of the emitted scenario, run by the engine of the fabric. Two end-points at one
switch send to each other, so that each interface is one output whose link has room: the place for which
a plan's bounds are made. Behind it nothing waits, for a packet goes through the switch as it comes; what
that takes is constant and is taken off.

What is simulated is what is written, rounding included: whole credits in a table, whole percents for an
adapter, quanta with the header of Ethernet for Linux.

**Shares.** All classes offer twice what they are planned to get, in packets of different sizes, of one
law for all classes; what each gets of what is delivered is its saturated share, with an interval over
replications. The same at a load below 1, where each class offers its planned part, gives the latency of
daily use; no bound is made for that, as a packet may stand behind others of its class there.

**Bounds.** A run for each class, whose packets are all of the MTU while every other class has always one
waiting (almost: its buffer may hold a single large one). The buffer is too small for two packets of the
MTU, so a packet of the class enters when the one before it has left: it is the first of its class to
wait, and its latency, less the way behind the output, is what the bound bounds. The bound also counts a
packet of the same class that is being sent when it comes, which does not happen here; so the largest
latency comes up to the bound less one packet.

A largest latency that is seen proves nothing; one above the bound would disprove it.
"""

from __future__ import annotations

import tomllib
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from weir.errors import ConfigError
from weir.planning.request import TARGETS, emit, plan

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Mapping

    from weir.models.fabric.result import FabricResult

__all__ = ["LOAD", "OVERLOAD", "SCHEDULERS", "Check", "ClassCheck", "check", "scheduler_of"]

SCHEDULERS = {
    "deficit_table": "deficit table",
    "weighted_table": "weighted table",
    "basic_table": "basic table",
    "round_robin": "deficit round robin",
}
"""The schedulers that plans have bounds for, by the key of the bound."""
LOAD = 0.95
"""Of daily use, where none is given."""
OVERLOAD = 2.0
"""What classes offer, over what they are planned to get, where a link is to be saturated."""
_OF_TARGET = {
    "opensm": "weighted_table",
    "pcie": "basic_table",
    "tc-ets": "round_robin",
    "tc-drr": "round_robin",
    "dcb": "round_robin",
    "scenario": "deficit_table",
}
_HEADER = 8  # bytes of each packet that are no payload
_REPLICATIONS = 5  # of the shares
_ROUNDS = 400  # of the table that a run lasts,
_PACKETS = 30_000  # or this many packets of an interface, if they are fewer,
_LEAST_ROUNDS = 4  # but this many rounds
_MEAN = 0.46  # of the law of sizes, over the MTU
_BUFFER = 16  # packets of the MTU in a buffer where none is to run short
_SWITCH = {"speed_up": 1.5, "latency": "145ns"}
_LATENCY = 145  # ns, of the switch
_PROPAGATION = 20  # ns, of each of two links
_LARGEST_WEIGHT = 255  # credits, of an entry of InfiniBand
_TICK = 1e-9  # s: times of the model are rounded up, less than this in all
_TOLERANCE = 0.002  # of a share: packets are of different sizes, and one interval in forty ends too low


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassCheck:
    """A class in the check; shares are parts of 1, times in seconds.

    ``share`` with ``share_low`` to ``share_high`` is the saturated share with its 95 % interval, ``wanted``
    the least that counts as met: ``asked_share``, what was asked for, or what is planned where that is less.
    ``largest`` and ``p99`` are of packets that are first of their class while all others wait; ``bound`` is
    what the plan says of them. ``p99_at_load`` is of daily use.
    """

    name: str
    asked_share: float
    wanted: float
    share: float
    share_low: float
    share_high: float
    asked: float | None
    bound: float
    largest: float
    p99: float
    packets: int
    p99_at_load: float | None

    @property
    def failed(self) -> tuple[str, ...]:
        """What is not met, of four.

        ``written``: less than was asked for is written; ``share``: it gets less than is wanted; ``bound``: it
        waits longer than its bound; ``asked``: its bound is above the latency that was asked for.
        """
        held = {
            "written": self.wanted >= self.asked_share * (1 - _TOLERANCE),
            "share": self.share_high >= self.wanted * (1 - _TOLERANCE),
            "bound": self.largest <= self.bound + _TICK,
            "asked": self.asked is None or self.bound <= self.asked,
        }
        return tuple(name for name, is_met in held.items() if not is_met)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What a check found; ``load`` is that of ``p99_at_load``."""

    scheduler: str
    discipline: str
    load: float
    seed: int
    interrupted: bool
    classes: tuple[ClassCheck, ...]

    @property
    def is_met(self) -> bool:
        """Whether every class has its share and its bound."""
        return not any(row.failed for row in self.classes)

    def to_dict(self) -> dict[str, Any]:
        """Return the check as a JSON object."""
        rows = [{**asdict(row), "met": not row.failed, "failed": list(row.failed)} for row in self.classes]
        return {**asdict(self), "classes": rows, "met": self.is_met}


def scheduler_of(target: str | None) -> str:
    """Return the key of `SCHEDULERS` that a target has; of none, the deficit table.

    Raises
    ------
    ConfigError
        If there is no such target.
    """
    if target is not None and target not in _OF_TARGET:
        raise ConfigError(f"target is {target!r}, must be one of {', '.join(TARGETS)}", "use one of them")
    return _OF_TARGET[target or "scenario"]


def check(
    request: str | os.PathLike[str],
    *,
    target: str | None = None,
    load: float = LOAD,
    seed: int = 1,
    threads: int | None = None,
    progress: Callable[[dict[str, float]], None] | None = None,
) -> Check:
    """Plan a request for a target and simulate the plan under the scheduler that the target has.

    Parameters
    ----------
    request : path
        The request.
    target : str, optional
        One of `weir.planning.request.TARGETS`; without it, the plan and the check are of the deficit table.
    load : float
        Of daily use, above 0 and below 1.
    seed, threads, progress
        As of `weir.run`.

    Raises
    ------
    ConfigError
        If the file cannot be read, a class does not fit, or the plan cannot be simulated.
    PlanError
        If the request is refused as a whole.
    """
    if not 0 < load < 1:
        raise ConfigError(f"load is {load}, must be above 0 and below 1", "write `--load 0.95`")
    scheduler = scheduler_of(target)
    runs = _runs(request, target or "scenario", scheduler)
    run = partial(_simulated, file=str(request), seed=seed, threads=threads, progress=progress)
    rows: list[ClassCheck] = []
    shares = run(runs.shares(load))
    stopped = shares.interrupted
    for place, row in enumerate(runs.planned["classes"]):
        if stopped:
            break
        waits = run(runs.waits(place))
        stopped = waits.interrupted
        if not stopped:
            rows.append(_found(row, scheduler, shares, waits, load, runs.way))
    return Check(
        scheduler=scheduler,
        discipline=runs.spec,
        load=load,
        seed=seed,
        interrupted=stopped,
        classes=tuple(rows),
    )


def _runs(request: str | os.PathLike[str], target: str, scheduler: str) -> _Runs:
    """Plan a request for a target, and return the scenarios of its check."""
    planned = plan(request, target)
    if planned["kind"] != "table":
        raise ConfigError("is no request for a table", "use weir.planning.nodes.check", str(request))
    base = tomllib.loads(emit(request, "scenario", target).text)
    return _Runs(planned, base, _spec(planned, base, scheduler), str(request))


def _simulated(
    scenario: dict[str, Any],
    *,
    file: str,
    seed: int,
    threads: int | None,
    progress: Callable[[dict[str, float]], None] | None,
) -> FabricResult:
    from weir.scenario import Scenario
    from weir.simulation import run

    checked = Scenario.from_dict(scenario, file)
    return cast("FabricResult", run(checked, seed=seed, threads=threads, progress=progress))


def _spec(planned: Mapping[str, Any], base: Mapping[str, Any], scheduler: str) -> str:
    """Return the scheduler with the plan's table: of the emitted scenario, or entry by entry."""
    table, round_robin = base["disciplines"]
    if scheduler == "deficit_table":
        return str(table)
    if scheduler == "round_robin":
        return str(round_robin)
    slots = planned["slots"]
    if scheduler == "basic_table":
        return "table_basic:" + "/".join("-" if slot is None else str(slot["class"]) for slot in slots)
    most = max(slot["weight"] for slot in slots if slot is not None)
    if most > _LARGEST_WEIGHT:
        raise ConfigError(
            f"an entry weighs {most} credits, a weighted table has at most {_LARGEST_WEIGHT}", "lower table.w"
        )
    entries = ("-" if slot is None else f"{slot['class']}@{slot['weight']}cr" for slot in slots)
    return "table_weighted:" + "/".join(entries)


@dataclass(frozen=True, slots=True)
class _Runs:
    """The scenarios of a check."""

    planned: Mapping[str, Any]
    base: Mapping[str, Any]
    spec: str
    file: str

    @property
    def way(self) -> float:
        """Seconds from the output to the other end-point: two links, the header, and the switch."""
        header = _HEADER * 8 / int(self.planned["link"]["data_rate_bits"])
        return (_LATENCY + 2 * _PROPAGATION) * 1e-9 + header

    def shares(self, load: float) -> dict[str, Any]:
        """All classes alike, at a load and far above it."""
        sizes: Iterator[dict[str, Any]] = (self._mixed for _ in self.base["channel"])
        return self._scenario(
            sizes, [load, OVERLOAD], _BUFFER * self._packet, {"replications": _REPLICATIONS}
        )

    def waits(self, tested: int) -> dict[str, Any]:
        """One class in packets of the MTU, of which its buffer holds one, the others in overload."""
        sizes = (
            {"constant": _bytes(self._mtu - _HEADER)} if place == tested else self._mixed
            for place in range(len(self.base["channel"]))
        )
        buffer = 2 * self._packet - self.planned["table"]["credit_bytes"]
        # The largest of one replication, not a mean of such.
        return self._scenario(sizes, [OVERLOAD], buffer, {"replications": 1})

    @property
    def _mtu(self) -> int:
        return int(self.planned["table"]["mtu_bytes"])

    @property
    def _packet(self) -> int:
        """The MTU in whole credits."""
        credit = int(self.planned["table"]["credit_bytes"])
        return -(-self._mtu // credit) * credit

    @property
    def _mixed(self) -> dict[str, Any]:
        """Payloads from a quarter of the MTU to all of it; where that is too little room, all of it."""
        largest = self._mtu - _HEADER
        least = self._mtu // 4
        if least >= largest:
            return {"constant": _bytes(largest)}
        return {"pareto": {"minimum": _bytes(least), "maximum": _bytes(largest), "shape": 1.0}}

    def _scenario(
        self,
        sizes: Iterator[dict[str, Any]],
        loads: list[float],
        interface_buffer: int,
        stop: dict[str, Any],
    ) -> dict[str, Any]:
        room = _bytes(_BUFFER // 2 * self._packet)
        link = self.base["fabric"]["link"] | {"propagation": f"{_PROPAGATION}ns", "header": _bytes(_HEADER)}
        fabric = {
            "topology": {"single": {"ports": 2}},
            "mtu": self.base["fabric"]["mtu"],
            "credit": self.base["fabric"]["credit"],
            "link": link,
            "switch": {**_SWITCH, "input_buffer": room, "output_buffer": room},
            "interface_buffer": _bytes(interface_buffer),
        }
        lasting = self._lasting
        flow_rate = max(1, self.planned["link"]["data_rate_bits"] // 1000)
        return {
            "weir": 1,
            "model": "fabric",
            "title": f"The check of {self.file}",
            "seed": 1,
            "disciplines": [self.spec],
            "fabric": fabric,
            "channel": [
                channel | {"size": size} for channel, size in zip(self.base["channel"], sizes, strict=True)
            ],
            "traffic": {"loads": loads, "header": _bytes(_HEADER), "flow_rate": f"{flow_rate}bit"},
            "stop": {"warm_up": f"{lasting // 10}ns", "duration": f"{lasting}ns", **stop},
        }

    @property
    def _lasting(self) -> int:
        """Nanoseconds that a run lasts."""
        turn = self.planned["weight_credits"] * self.planned["table"]["credit_bytes"]
        sent = max(_LEAST_ROUNDS * turn, min(_ROUNDS * turn, round(_PACKETS * _MEAN * self._mtu)))
        return int(sent * 8 * 10**9 // self.planned["link"]["data_rate_bits"])


def _bytes(size: int) -> str:
    return f"{size}B"


def _found(
    row: Mapping[str, Any],
    scheduler: str,
    shares: FabricResult,
    waits: FabricResult,
    load: float,
    way: float,
) -> ClassCheck:
    name = row["name"]

    def value(result: FabricResult, statistic: str, at: float) -> float | None:
        found = result.estimate(result.disciplines[0], load=at, channel=name, statistic=statistic)
        return None if found is None or found.value is None else found.value - way

    whole = shares.estimate(shares.disciplines[0], load=OVERLOAD, metric="throughput")
    part = shares.estimate(shares.disciplines[0], load=OVERLOAD, channel=name, metric="throughput")
    mean = waits.estimate(waits.disciplines[0], load=OVERLOAD, channel=name)
    largest, p99 = value(waits, "max", OVERLOAD), value(waits, "p99", OVERLOAD)
    if not whole or not whole.value or not part or part.value is None or mean is None:
        raise ConfigError(f"nothing of {name} was delivered", "raise its share")
    if largest is None or p99 is None:
        raise ConfigError(f"no packet of {name} was delivered in the time measured", "raise its share")
    low, high = (part.value if end is None else end for end in (part.low, part.high))
    asked = row["requested"]["latency_ns"]
    return ClassCheck(
        name=name,
        asked_share=row["requested"]["share"],
        wanted=min(row["requested"]["share"], row["share"]),
        share=part.value / whole.value,
        share_low=low / whole.value,
        share_high=high / whole.value,
        asked=None if asked is None else asked / 1e9,
        bound=row["bounds"][scheduler]["latency_ns"] / 1e9,
        largest=largest,
        p99=p99,
        packets=mean.count,
        p99_at_load=value(shares, "p99", load),
    )
