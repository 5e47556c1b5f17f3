"""Max-min shares of the flows of a network: what each could have, if links were divided evenly.

A rate is *max-min fair* if it can be raised only by lowering one that is no larger. It is found by filling:
all rates grow together until a flow has what it asks for, or a link on its path is full; its rate stays
there, and the others go on (Bertsekas and Gallager, *Data Networks*, 2nd edition, section 6.5.2). Where the
discipline has weights, rates grow in proportion to them: those of flows one by one, or of classes, whose
flows divide the class's part evenly.

Open-loop traffic asks for what it offers. A transfer that lasts for the whole run asks for all it can get;
one that begins later, ends earlier or has so much to send asks for what it sent. A transfer that its own
window holds asks for what it got: without loss, with a window's worth of packets in a round trip.

| | |
|-|-|
| Work | O(flows x flows x links of a path), once for all disciplines with the same weights and demands |
| Units | bit/s, of packets: what framing takes of a line is not theirs |
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weir.models.network.written import called
from weir.results.reading import ALL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from weir.models.network.result import NetworkResult
    from weir.models.network.rows import FlowRow, LinkRow

_TRANSFERS = {"reno", "cubic"}
_WINDOW, _PACKET = 1024, 1500
"""Packets of the largest window, and bytes of a packet, where the scenario does not say."""
_ROUND_TRIPS = 2.5
"""A round trip takes at most this many times the delay one way; beyond, no window held the transfer."""
_MOST_FLOWS = 512
"""Beyond this many flows the filling takes longer than a verdict may."""
_FULL = 1e-9
_LEAST_USED = 0.3
"""Less of a busy time than this is not for packets only where counts are not of one run."""
_WEIGHTS = re.compile(r"\bweights=([0-9/]+)")


@dataclass(frozen=True, slots=True)
class Transfer:
    """What a transfer could send: its largest window in bits, and whether it lasts for the whole run."""

    window: float
    packets: int
    whole: bool


@dataclass(frozen=True, slots=True)
class Share:
    """A flow's rate, and its max-min share."""

    flow: str
    rate: float
    fair: float

    @property
    def part(self) -> float:
        """The rate in parts of the share, at most 1."""
        return min(1.0, self.rate / self.fair) if self.fair > 0 else 1.0


def transfers(result: NetworkResult) -> dict[str, Transfer]:
    """Return the transfers of the scenario by the names of their flows."""
    scenario = tomllib.loads(result.document["scenario"])
    warm_up = scenario.get("stop", {}).get("warm_up")
    names = [flow.name for flow in result.flows if flow.traffic in _TRANSFERS]
    made: dict[str, Transfer] = {}
    for written in scenario.get("flow", []):
        if "tcp" not in written:
            continue
        base = called(written)
        own = [name for name in names if name == base or _numbered(name, base, written)]
        made |= dict.fromkeys(own, _transfer(written, warm_up))
    return made


def _numbered(name: str, base: str, written: Mapping[str, Any]) -> bool:
    return "count" in written and name.startswith(f"{base} ") and name[len(base) + 1 :].isdigit()


def _transfer(written: Mapping[str, Any], warm_up: str | None) -> Transfer:
    tcp = written["tcp"]
    size = str(tcp.get("packet", f"{_PACKET}B")).removesuffix("B")
    packets = int(tcp.get("window", _WINDOW))
    begins = written.get("start", "0ns")
    starts = begins in {"0ns", "0s", warm_up}
    whole = starts and not {"stop", "stagger"} & set(written) and "packets" not in tcp
    return Transfer(8.0 * packets * int(size) if size.isdigit() else float("inf"), packets, whole)


def held(result: NetworkResult, discipline: str, known: Mapping[str, Transfer]) -> dict[str, float]:
    """Return the transfers that their own window holds, each with its rate."""
    found = {}
    for name, transfer in known.items():
        rows = {
            metric: result.estimate(discipline, metric=metric, flow=name)
            for metric in ("throughput", "delay", "loss")
        }
        rate, delay, loss = (None if row is None else row.value for row in rows.values())
        # In a round trip, which is no shorter than the way there, a full window arrives and no more.
        if rate and delay and loss == 0 and transfer.whole and transfer.window <= _ROUND_TRIPS * rate * delay:
            found[name] = rate
    return found


def shares(
    result: NetworkResult, discipline: str, known: Mapping[str, Transfer], window_bound: Mapping[str, float]
) -> list[Share]:
    """Return the rate and the max-min share of each flow that was measured; none where there are too many."""
    measured = set(result.flows_measured)
    flows = [flow for flow in result.flows if flow.name in measured]
    if not flows or len(flows) < len(result.flows) or len(flows) > _MOST_FLOWS:
        return []
    rates, demands = {}, {}
    for flow in flows:
        offer = result.estimate(discipline, metric="offer", flow=flow.name)
        rate = result.estimate(discipline, metric="throughput", flow=flow.name)
        if offer is None or rate is None or not offer.value or rate.value is None:
            continue
        transfer = known.get(flow.name)
        rates[flow.name] = rate.value
        endless = transfer is not None and transfer.whole
        demands[flow.name] = window_bound.get(flow.name, float("inf") if endless else offer.value)
    asking = [flow for flow in flows if flow.name in demands]
    fair = filled(asking, demands, capacities(result, discipline), weights(result, discipline))
    return [Share(name, rates[name], fair[name]) for name in rates]


def capacities(result: NetworkResult, discipline: str) -> dict[str, float]:
    """Return what each link carries of packets: its rate, less what framing takes of the busy time."""
    whole = result.intervals.find(name=ALL)
    seconds = 0.0 if whole is None else (whole.to - whole.from_) * result.replications
    return {link.name: link.rate * _used(result, discipline, link, seconds) for link in result.links}


def _used(result: NetworkResult, discipline: str, link: LinkRow, seconds: float) -> float:
    """Return the part of the busy time in which bits of packets are sent, not framing."""
    busy = result.estimate(discipline, metric="utilisation", link=link.name)
    sent = result.estimate(discipline, metric="wait", link=link.name)
    if busy is None or sent is None or not busy.value or not seconds:
        return 1.0
    bits, packets = 0.0, 0
    for flow in result.flows:
        row = result.estimate(discipline, metric="throughput", flow=flow.name)
        if link.name in flow.path and row is not None and row.value:
            bits, packets = bits + row.value * seconds, packets + row.count
    own_time = bits / max(1, packets) / link.rate
    used = own_time * sent.count / (busy.value * seconds)
    return min(1.0, used) if used > _LEAST_USED else 1.0


def weights(result: NetworkResult, discipline: str) -> dict[str, tuple[str, float]]:
    """Return of each flow which part it is of, and the weight of that; 1 where there are none."""
    spec = result.spec(discipline)
    found = _WEIGHTS.search(spec)
    listed = [float(weight) for weight in found.group(1).split("/")] if found else []
    by_class = "by=class" in spec

    def weight(place: int) -> float:
        return listed[place] if place < len(listed) else 1.0

    places = {name: place for place, name in enumerate(result.classes)}
    if by_class:
        return {flow.name: (flow.class_, weight(places[flow.class_])) for flow in result.flows}
    return {flow.name: (flow.name, weight(place)) for place, flow in enumerate(result.flows)}


def filled(
    flows: Sequence[FlowRow],
    demands: Mapping[str, float],
    links: Mapping[str, float],
    parts: Mapping[str, tuple[str, float]],
) -> dict[str, float]:
    """Return the max-min rates of flows over links, by filling."""
    rates = dict.fromkeys(demands, 0.0)
    left = dict(links)
    growing = {flow.name: flow for flow in flows if demands[flow.name] > 0}
    while growing:
        members: dict[str, int] = {}
        for name in growing:
            members[parts[name][0]] = members.get(parts[name][0], 0) + 1
        speed = {name: parts[name][1] / members[parts[name][0]] for name in growing}
        load: dict[str, float] = {}
        for name, flow in growing.items():
            for link in flow.path:
                load[link] = load.get(link, 0.0) + speed[name]
        step = min(
            min((demands[name] - rates[name]) / speed[name] for name in growing),
            min((left[link] / total for link, total in load.items()), default=float("inf")),
        )
        if step == float("inf"):
            break
        for name in growing:
            rates[name] += step * speed[name]
        for link, total in load.items():
            left[link] -= step * total
        full = {link for link in load if left[link] <= _FULL * links[link]}
        growing = {
            name: flow
            for name, flow in growing.items()
            if rates[name] < demands[name] * (1 - _FULL) and not full & set(flow.path)
        }
    return rates
