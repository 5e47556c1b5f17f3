"""The network of section 3.1, built from its text: perfect-shuffle stages, bidirectional links.

An end-point with digits ``d2 d1 d0`` to the base k hangs at port ``d0`` of row ``d2 d1`` of the first stage.
Upper port ``u`` of row ``r`` has the label ``k r + u``; its digits, moved around by one place to the left,
name the row and the lower port that it meets in the next stage. A naive oracle: paths are found by search,
not from formulas.
"""

from __future__ import annotations

from collections import Counter, deque

Node = tuple[int, int]
"""Stage and row of a switch."""


class Wiring:
    """Who is joined to whom: ``k ** n`` end-points under ``n`` stages of switches."""

    def __init__(self, k: int = 4, n: int = 3) -> None:
        self.k, self.n = k, n
        self.hosts: int = k**n
        self.rows: int = k ** (n - 1)
        self.up: dict[Node, list[Node]] = {}
        self.down: dict[Node, list[Node | int]] = {}
        self._join()

    def _join(self) -> None:
        nodes = [(stage, row) for stage in range(self.n) for row in range(self.rows)]
        self.up = {node: [] for node in nodes}
        self.down = {node: [] for node in nodes}
        for host in range(self.hosts):
            self.down[0, host // self.k].append(host)
        for stage, row in nodes:
            if stage == self.n - 1:
                continue
            for port in range(self.k):
                above = (stage + 1, self._shuffled(self.k * row + port) // self.k)
                self.up[stage, row].append(above)
                self.down[above].append((stage, row))

    def _shuffled(self, label: int) -> int:
        """Return a label whose first digit has become its last but one.

        The lower port is the digit that went around; the rest names the row.
        """
        first, rest = divmod(label, self.rows)
        return rest * self.k + first

    @property
    def switches(self) -> int:
        """Switches of all stages."""
        return len(self.up)

    def degrees(self) -> set[int]:
        """Return the ports in use of the switches below the last stage."""
        return {len(self.up[node]) + len(self.down[node]) for node in self.up if node[0] < self.n - 1}

    def crossed(self, host: int) -> Counter[int]:
        """Return how many end-points are reached over how many switches, by up-then-down paths."""
        least: dict[int, int] = {}
        start: Node = (0, host // self.k)
        waiting: deque[tuple[Node, bool, int]] = deque([(start, True, 1)])
        seen = {(start, True)}
        while waiting:
            node, rising, count = waiting.popleft()
            for below in self.down[node]:
                if isinstance(below, int):
                    least.setdefault(below, count)
                elif (below, False) not in seen:
                    seen.add((below, False))
                    waiting.append((below, False, count + 1))
            for above in self.up[node] if rising else ():
                if (above, True) not in seen:
                    seen.add((above, True))
                    waiting.append((above, True, count + 1))
        return Counter(least.values())

    def mean_links(self) -> float:
        """Return the mean links of a path to another end-point."""
        total = sum(
            (switches + 1) * number
            for host in range(self.hosts)
            for switches, number in self.crossed(host).items()
        )
        own = 2 * self.hosts  # to itself, over one switch
        return (total - own) / (self.hosts * (self.hosts - 1))
