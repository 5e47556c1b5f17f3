"""What is to be known of a network's figures before they are read: phases nobody chose, rates above a line's.

Where nothing is random, which of several transfers finds the one free place of a full drop-tail queue depends
on their phase (Floyd and Jacobson, *Internetworking: Research and Experience* 3, 1992): their shares are
artefacts. And throughput counts packets by the time at which they were sent: those on their way when the
measured time ends are in it, so that a full line seems to carry more than its rate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.results.labels import short_labels
from weir.results.verdict import joined
from weir.text import plural, quantity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weir.models.network.result import NetworkResult
    from weir.models.network.rows import LinkRow

_TRANSFERS = {"reno", "cubic"}
_DROP_TAIL = "fifo"
_ABOVE = 1e-6
"""By which part of a rate a throughput must be above it: less is rounding."""


def cautions(result: NetworkResult) -> list[str]:
    """Return what a reader is to be warned of."""
    found = (phases(result), above_the_line(result))
    return [words for words in found if words]


def phases(result: NetworkResult) -> str | None:
    """Return that phases decide, where nothing is random and transfers share a drop-tail queue."""
    if result.random:
        return None
    tails = [name for name in result.disciplines if name.partition(":")[0] == _DROP_TAIL]
    shared = next(_shared(result), None)
    if not tails or shared is None:
        return None
    link, count = shared
    labels = short_labels(result.disciplines)
    return (
        f"{plural(count, 'transfer')} share the drop-tail queue of {link.name} under "
        f"{joined(labels[name] for name in tails)}, and nothing is random: which of them finds a free place "
        'is a matter of phase; give a link some `jitter`, such as "0.1ms", or their shares are artefacts'
    )


def _shared(result: NetworkResult) -> Iterator[tuple[LinkRow, int]]:
    """Yield the links that several transfers go through and whose queue is the discipline compared."""
    for link in result.links:
        count = sum(flow.traffic in _TRANSFERS and link.name in flow.path for flow in result.flows)
        if count > 1 and link.compared:
            yield link, count


def above_the_line(result: NetworkResult) -> str | None:
    """Return that a flow delivers more than a line carries, where one does, and how that is meant."""
    rates = {link.name: link.rate for link in result.links}
    for flow in result.flows:
        least = min((rates[name] for name in flow.path), default=float("inf"))
        for name in result.disciplines:
            row = result.estimate(name, metric="throughput", flow=flow.name)
            if row is not None and row.value is not None and row.value > least * (1 + _ABOVE):
                got, line = quantity(row.value, row.unit), quantity(least, row.unit)
                return (
                    f"{flow.name} has a throughput of {got} over a line of {line}: packets count by the "
                    "time at which they were sent, and those on their way when the measured time ends are "
                    "among them; the longer the run, the smaller their part"
                )
    return None
