"""The methodology of section 2.2 as arithmetic: pool, bounds of a share, entries, weights, places.

=============  ====================================================================================
Source         Martínez, Alfaro and Sánchez, 2007, section 2.2; Table 1 is its example
Units          weights, quanta and MTU: credits of 64 bytes; shares: from 0 to 1
Exact          whole numbers and fractions; nothing is rounded
Departs        the planner (`weir plan`) admits requests one by one; here a whole table is computed
=============  ====================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Shape:
    """A table: entries, MTU, the pool over its least (k), the largest weight over the MTU (w)."""

    entries: int
    mtu: int
    k: int
    w: int

    @property
    def pool(self) -> int:
        """Credits of weight that there are to hand out, and the frame of the table."""
        return self.k * self.entries * self.mtu

    @property
    def largest(self) -> int:
        """The largest weight of an entry."""
        return self.w * self.mtu

    def row(self, phi: Fraction, distance: int) -> Row:
        """Return what a channel with a share and a distance has of the table."""
        number = self.entries // distance
        total = phi * self.pool
        return Row(
            phi=phi,
            entries=number,
            share_of_entries=Fraction(number, self.entries),
            least=Fraction(number, self.entries * self.k),
            most=Fraction(number * self.w, self.entries * self.k),
            entry_weight=total / number,
            total=total,
        )

    def quanta(self, rows: list[Row]) -> list[Fraction]:
        """Return the quanta of DRR: totals scaled so that the smallest is the MTU."""
        return [row.total * self.mtu / min(each.total for each in rows) for row in rows]

    def places(self, distances: list[int]) -> list[int | None]:
        """Return the flow of each entry: the shortest distance first, along the bit-reversed sequence."""
        bits = self.entries.bit_length() - 1
        order = [int(format(place, f"0{bits}b")[::-1], 2) for place in range(self.entries)]
        table: list[int | None] = [None] * self.entries
        for flow in sorted(range(len(distances)), key=lambda each: distances[each]):
            for _ in range(self.entries // distances[flow]):
                table[order.pop(0)] = flow
        return table


@dataclass(frozen=True, slots=True)
class Row:
    """What a channel has of a table."""

    phi: Fraction
    entries: int
    share_of_entries: Fraction
    least: Fraction
    """The smallest share that its entries can carry, each with the MTU."""
    most: Fraction
    """The largest, each with the largest weight."""
    entry_weight: Fraction
    total: Fraction


TABLE_1 = Shape(entries=64, mtu=32, k=2, w=4)
"""The table of section 3.2."""


def visit(discipline: str, weight: int, size: int) -> Fraction:
    """Return the mean packets of a visit to a saturated flow, all of one size, in credits."""
    match discipline:
        case "basic":
            return Fraction(1)
        case "weighted":
            return Fraction(-(-weight // size))
    return Fraction(weight, size)


def saturated_shares(discipline: str, weight: int, sizes: list[int]) -> list[float]:
    """Return the shares of saturated flows with equal entries from the sizes of their packets, in bytes."""
    served = [visit(discipline, weight, -(-size // 64)) * size for size in sizes]
    return [float(each / sum(served)) for each in served]
