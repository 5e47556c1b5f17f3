"""What is to be known of a network's figures before they are read: phases nobody chose, rates that surprise.

Where nothing is random, which of several transfers finds the one free place of a full drop-tail queue depends
on their phase (Floyd and Jacobson, *Internetworking: Research and Experience* 3, 1992): their shares are
artefacts. And throughput counts packets by the time at which they were sent: those on their way when the
measured time ends are in it, so that a full line seems to carry more than its rate. Jitter holds the line, so
that it carries less.
"""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

from weir.results.labels import short_labels
from weir.results.reading import ALL
from weir.results.verdict import joined
from weir.text import percent, plural, quantity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weir.models.network.result import NetworkResult
    from weir.models.network.rows import LinkRow

_TRANSFERS = {"reno", "cubic"}
_DROP_TAIL = "fifo"
_ABOVE = 1e-6
"""By which part of a rate a throughput must be above it: less is rounding."""
_MUCH = 0.05
"""The part of a line's time that jitter may take without a word."""
_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}


def cautions(result: NetworkResult) -> list[str]:
    """Return what a reader is to be warned of."""
    found = (phases(result), jittered(result), above_the_line(result))
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


def jittered(result: NetworkResult) -> str | None:
    """Return that jitter takes much of a line's time, of the line where it takes most."""
    taken = {link.name: _taken(result, link, jitter) for link, jitter in _jitters(result)}
    most = max(taken, key=lambda name: taken[name], default="")
    if taken.get(most, 0.0) < _MUCH:
        return None
    return (
        f"jitter takes {percent(taken[most])} of the time of {most}: it is added to each transmission and "
        "holds the line meanwhile, which carries that much less than its rate; a smaller jitter takes less"
    )


def _jitters(result: NetworkResult) -> Iterator[tuple[LinkRow, float]]:
    """Yield the links that have jitter with its mean in seconds, from the scenario as it was understood."""
    links = iter(result.links)
    for written in tomllib.loads(result.document["scenario"]).get("link", []):
        jitter = _mean(written.get("jitter"))
        for _ in range(2 if "between" in written else 1):
            link = next(links, None)
            if link is not None and jitter:
                yield link, jitter


def _mean(jitter: Any) -> float:  # noqa: ANN401 - a value of a TOML document
    """Return the mean of a jitter: of a time it is half, since that is the longest of a uniform one."""
    if not isinstance(jitter, dict):
        return _seconds(jitter) / 2
    return _seconds(jitter["exponential"]) if "exponential" in jitter else _seconds(jitter.get("uniform")) / 2


def _seconds(text: object) -> float:
    number = str(text).rstrip("nums")
    unit = str(text)[len(number) :]
    return float(number) * _SECONDS[unit] if unit in _SECONDS else 0.0


def _taken(result: NetworkResult, link: LinkRow, jitter: float) -> float:
    """Return the part of a link's time that jitter takes, under the discipline where it takes least."""
    measured = sum(row.to - row.from_ for row in result.intervals if row.name == ALL) * result.replications
    rows = (result.estimate(name, metric="utilisation", link=link.name) for name in result.disciplines)
    packets = min((row.count for row in rows if row is not None), default=0)
    return jitter * packets / measured if measured else 0.0


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
