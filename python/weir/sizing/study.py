"""How often does a search find the answer? Repeated searches whose answers are known from closed forms.

The queue is M/M/c. Its mean delay is weir's own closed form (`weir.theory`), from which its quantiles follow:
a request waits with probability ``C = E[W] (c mu - lambda)``, and whoever waits does so for an exponential
time of rate ``c mu - lambda`` (Kleinrock, *Queueing Systems* I, 1975, section 3.5). Bounds lie between the
figures of two neighbouring values, so that the answer is known without simulation.

``python -m weir.sizing.study [SEARCHES] [PROCESSES]`` prints a row a case. Work: some tenths of a second a
search. Units: seconds, and requests per second.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import weir
from weir.settings import Setting

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["CASES", "Case", "counted"]

_SERVICE = 0.01
_SEARCHES, _PROCESSES = 1_000, 2


@dataclass(frozen=True)
class Case:
    """A search: what is varied in which scenario, the figure that is bounded, and where the bound lies.

    Attributes
    ----------
    name : str
        What it is called in the table.
    workload : mapping
        The rate of requests, or their load.
    cores : int
        How many serve them, where that is not varied.
    key, values : str, tuple
        What is varied.
    figure : str
        A statistic and a metric, ``mean response`` or ``p99 delay``.
    answer, before : Any
        The answer, and its neighbour, which misses the need.
    between : float
        Where the bound lies, from the answer's own figure, 0, to its neighbour's, 1.
    """

    name: str
    workload: Mapping[str, Any]
    cores: int
    key: str
    values: tuple[Any, ...]
    figure: str
    answer: Any
    before: Any
    between: float

    def document(self, value: object = None) -> dict[str, Any]:
        """Return the scenario, with a value of what is varied if one is given."""
        document: dict[str, Any] = {
            "weir": 1,
            "model": "server",
            "disciplines": ["cfcfs"],
            "server": {"cores": self.cores, "queue": "unbounded"},
            "class": [{"name": "request", "service": {"exponential": f"{_SERVICE * 1e3:g}ms"}}],
            "workload": dict(self.workload),
            "stop": {"requests": 40_000, "replications": 8},
        }
        if value is not None:
            Setting.read(f"{self.key}={value}").put(document)
        return document

    def exact(self, value: object) -> float:
        """Return the figure at a value, by the closed form."""
        document = self.document(value)
        result = weir.theory(document)
        delay = next(row.value for row in result.theory if (row.metric, row.class_) == ("delay", "all"))
        statistic, metric = self.figure.split()
        if delay is None:
            raise RuntimeError(f"M/M/{self.cores} has a closed form")
        if statistic == "mean":
            return delay + (_SERVICE if metric == "response" else 0.0)
        above = 1 - float(statistic.removeprefix("p")) / 100
        spare = float(document["server"]["cores"]) / _SERVICE * (1 - float(result.document["load"]))
        return max(0.0, math.log(delay * spare / above) / spare)

    @cached_property
    def bound(self) -> float:
        """The bound, in seconds."""
        low, high = self.exact(self.answer), self.exact(self.before)
        return low + self.between * (high - low)

    def search(self, seed: int) -> str:
        """Return what became of one search: ``right``, ``open`` or ``wrong``."""
        found = weir.size(
            self.document(),
            self.key,
            self.values,
            needs=[f"{self.figure} < {self.bound * 1e9:.0f}ns"],
            seed=seed,
            threads=1,
        )
        (only,) = found.searches
        if only.state == "found":
            return "right" if only.answer == self.answer else "wrong"
        return "open" if self.answer in only.possible else "wrong"


_CORES = ("server.cores", tuple(range(4, 17)))
_LOADS = ("workload.load", tuple(place / 20 for place in range(8, 20)))
CASES = (
    Case("cores, mean response", {"rate": "700/s"}, 8, *_CORES, "mean response", 9, 8, 0.2),
    Case("cores, p99 delay", {"rate": "700/s"}, 8, *_CORES, "p99 delay", 10, 9, 0.3),
    Case("load, mean response", {"load": 0.5}, 4, *_LOADS, "mean response", 0.8, 0.85, 0.5),
)


def counted(case: Case, searches: int, processes: int = 1) -> Counter[str]:
    """Return how many of a number of searches, each with a seed of its own, were right, open and wrong."""
    if processes == 1:
        return Counter(map(case.search, range(1, searches + 1)))
    with ProcessPoolExecutor(processes) as pool:
        return Counter(pool.map(case.search, range(1, searches + 1), chunksize=10))


def main(arguments: list[str]) -> None:
    """Print a row a case."""
    searches, processes = (*map(int, arguments), *(_SEARCHES, _PROCESSES)[len(arguments) :])
    heads = ("case", "bound", "answer", "neighbour", "right", "open", "wrong")
    sys.stdout.write(f"| {' | '.join(heads)} |\n{'|---' * len(heads)}|\n")
    for case in CASES:
        found = counted(case, searches, processes)
        parts = [f"{100 * found[state] / searches:.1f} %" for state in ("right", "open", "wrong")]
        figures = [f"{1e3 * case.exact(value):.2f} ms at {value}" for value in (case.answer, case.before)]
        cells = [case.name, f"{1e3 * case.bound:.2f} ms", *figures, *parts]
        sys.stdout.write(f"| {' | '.join(cells)} |\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
