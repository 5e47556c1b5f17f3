"""Links of a scenario, one direction each: their rate, and what a packet takes besides its bytes.

Units: nanoseconds, bits a second, bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from weir.live import quantities

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Line", "lines", "mean"]


@dataclass(frozen=True, slots=True)
class Line:
    """One direction of a link."""

    name: str
    source: str
    target: str
    table: dict[str, Any]

    @property
    def rate(self) -> int:
        """Its rate, in bits a second."""
        return quantities.rate(self.table["rate"])

    @property
    def propagation(self) -> int:
        """Its propagation, in nanoseconds."""
        return quantities.nanoseconds(self.table.get("propagation", "0ns"))

    def discipline(self, compared: str) -> str:
        """Return its discipline where ``compared`` is the one that is compared."""
        return str(self.table.get("discipline", compared))

    def overhead_time(self, compared: str) -> int:
        """Return what a transmission takes besides bytes, in the mean: overhead as a time, and jitter."""
        overhead = self._overhead(compared)
        jitter = self.table.get("jitter")
        random = mean({"uniform": jitter} if isinstance(jitter, str) else jitter)
        return random + (0 if quantities.is_size(overhead) else quantities.nanoseconds(overhead))

    def framing(self, compared: str) -> int:
        """Return what a packet takes besides its bytes: the mean, in bytes at the line's rate, rounded."""
        return round(self.exact_framing(compared))

    def exact_framing(self, compared: str) -> Fraction:
        """Return the same, not rounded."""
        overhead = self._overhead(compared)
        own = quantities.size(overhead) if quantities.is_size(overhead) else 0
        return own + Fraction(self.overhead_time(compared) * self.rate, 8 * 10**9)

    def _overhead(self, compared: str) -> str:
        """Return what is written for the discipline: a time or a size."""
        overhead = self.table.get("overhead", "0ns")
        if isinstance(overhead, str):
            return overhead
        spec = self.discipline(compared)
        name = spec.partition(":")[0].partition("(")[0]
        return str(overhead.get(spec, overhead.get(name, overhead.get("default", "0ns"))))


def lines(scenario: dict[str, Any]) -> Iterator[Line]:
    """Yield the directions of all links, in the order of the engine."""
    for table in scenario["link"]:
        one, other = table["between"] if "between" in table else (table["from"], table["to"])
        name = table.get("name") or f"{one}-{other}"
        yield Line(name, one, other, table)
        if "between" in table:
            back = f"{name} reverse" if table.get("name") else f"{other}-{one}"
            yield Line(back, other, one, table)


def mean(delay: Any) -> int:  # noqa: ANN401 - a time or a table
    """Return the mean of a time with jitter, in nanoseconds."""
    if delay is None:
        return 0
    if isinstance(delay, str):
        return quantities.nanoseconds(delay)
    constant, exponential, uniform = (
        quantities.nanoseconds(delay.get(key, "0ns")) for key in ("constant", "exponential", "uniform")
    )
    return constant + exponential + uniform // 2
