"""Disciplines of the kernel, and those of weir that they are compared with.

Both have the same parameters, written out where their defaults differ or are random. A pair is shaped by a
token bucket, the kernel's or weir's, which takes one packet from its child ahead; cake shapes by itself.
Sizes are those of IP: the kernel counts 14 bytes of Ethernet more, which its size table takes off.

Source: tc-tbf(8), tc-pfifo(8), tc-sfq(8), tc-drr(8), tc-fq_codel(8), tc-stab(8).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

__all__ = ["PAIRS", "RATE", "Pair"]

RATE = 2_000_000
"""Bits a second, of IP."""
_BURST = 1514
_ROOT = "root handle 1: stab overhead -14"


@dataclass(frozen=True, slots=True)
class Pair:
    """A discipline of the kernel and the same of weir."""

    name: str
    kernel: str
    """As ``tc qdisc add`` takes it."""
    weir: str
    """As a scenario takes it."""
    by_class: tuple[str, str] | None = None
    """A class and its queue, one for each flow, where the kernel tells flows apart by classes."""
    shapes: bool = False
    """Whether it holds to the rate by itself."""
    runs: int = 1
    """How often it is run, where what follows depends on microseconds."""

    @property
    def discipline(self) -> str:
        """The name of weir's."""
        return self.weir.partition("(")[0].partition(":")[0]

    @property
    def spec(self) -> str:
        """The discipline of the interface, with its shaper."""
        return self.weir if self.shapes else f"tbf({self.weir},rate={RATE}bit,burst={_BURST}B)"

    def commands(self, device: str, ports: Sequence[int]) -> Iterator[str]:
        """Yield the words for ``tc`` that give an interface the discipline of the kernel."""
        if self.shapes:
            yield f"qdisc add dev {device} {_ROOT} {self.kernel}"
            return
        yield f"qdisc add dev {device} {_ROOT} tbf rate {RATE}bit burst {_BURST}b limit 1000000b"
        yield f"qdisc add dev {device} parent 1:1 handle 2: {self.kernel}"
        if self.by_class is None:
            return
        own, leaf = self.by_class
        for place, port in enumerate(ports, start=1):
            yield f"class add dev {device} parent 2: classid 2:{place} {own}"
            yield f"qdisc add dev {device} parent 2:{place} handle {place + 2}: {leaf}"
            rule = f"u32 match ip dport {port} 0xffff flowid 2:{place}"
            yield f"filter add dev {device} parent 2: protocol ip prio 1 {rule}"


# The packet that a shaper will send next still counts in its child with the kernel, and not with weir, which
# has room for one more under the same limit of all flows (docs/studies.md).
PAIRS = (
    Pair("fifo", "pfifo limit 60", "fifo:limit=60pkt"),
    Pair(
        "sfq",
        "sfq perturb 0 quantum 1514 limit 127 depth 127 flows 128 divisor 65536",
        "sfq_linux(quantum=1514B,limit=127pkt,depth=127pkt,flows=128,divisor=65536)",
    ),
    Pair("drr", "drr", "drr(quantum=1514B,depth=40pkt)", ("drr quantum 1514", "pfifo limit 40")),
    Pair(
        "fq_codel",
        "fq_codel limit 1000 flows 65536 target 5ms interval 100ms quantum 1514 noecn",
        "fq_codel(limit=1000pkt,flows=65536,target=5ms,interval=100ms,quantum=1514B,ecn=no)",
        runs=7,
    ),
    Pair(
        "cake",
        f"cake bandwidth {RATE}bit besteffort flows raw rtt 100ms no-split-gso nowash no-ack-filter",
        f"cake(rate={RATE}bit,diffserv=besteffort,fairness=flows,rtt=100ms)",
        shapes=True,
    ),
)
