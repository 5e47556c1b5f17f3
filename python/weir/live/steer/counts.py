"""Windows of a run, out of what the daemon has counted since its start and what the client has seen.

The daemon's counters only grow; the mean delay of a window is the difference of two sums over that of two
counts. Requests count in the window in which their service begins, round trips in that in which they were
to be sent. Windows begin with the first request.

Source: the answers of ``weird ctl NAME stats --json`` and the document of ``weird load --json``. Work: O(1) a
window and class. Units: answers are in nanoseconds, what is returned here in seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from weir.live.figures import longest_of
from weir.live.steer.plan import LEVELS, PERIODS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Client", "Mean", "Poll", "Trips", "Windows", "client", "over", "poll", "windows", "windows_of"]

_NANO = 1e-9


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean in seconds and of how many; None where there were none."""

    value: float | None
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Poll:
    """What the daemon had counted at one moment."""

    at: int
    """Nanoseconds since the daemon began."""
    in_use: int
    steered: int
    served: int
    dropped: int
    waiting: int
    refused: int
    """Requests that no processor could be found for."""
    queues: tuple[int, ...]
    """Waiting, by processor."""
    classes: dict[str, tuple[int, int]]
    """Requests whose service has begun, and the sum of their delays in nanoseconds, by class."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Windows:
    """Delays of one class."""

    periods: tuple[Mean, ...]
    levels: tuple[Mean, ...]

    @property
    def largest(self) -> float | None:
        """The largest mean of a period, in seconds."""
        return max((each.value for each in self.periods if each.value is not None), default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trips:
    """Round trips of one class."""

    levels: tuple[Mean, ...]
    tails: tuple[float | None, ...]
    """Seconds that 99 of 100 took at most at each rate, to within the width of a bucket, a quarter."""

    @property
    def largest(self) -> float | None:
        """The largest mean at a rate, in seconds."""
        return max((each.value for each in self.levels if each.value is not None), default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """What the client has seen."""

    sent: int
    received: int
    reordered: int
    duplicates: int
    late: float | None
    """Seconds that 99 of 100 requests were sent late at most."""
    trips: dict[str, Trips]
    warnings: tuple[str, ...]


def poll(answer: dict[str, Any]) -> Poll:
    """Return an answer of the daemon as what is needed of it."""
    processors = answer["processors"]

    def total(name: str) -> int:
        return sum(each[name] for each in processors)

    return Poll(
        at=answer["at_ns"],
        in_use=answer["in_use"],
        steered=total("steered"),
        served=total("served"),
        dropped=total("dropped"),
        waiting=total("waiting"),
        refused=answer["frames"]["no_server"],
        queues=tuple(each["waiting"] for each in processors),
        classes={each["name"]: (each["requests"], each["sum_ns"]) for each in answer["classes"]},
    )


def over(means: Iterable[Mean]) -> Mean:
    """Return the mean over all that several means are of."""
    known = [(each.value, each.count) for each in means if each.value is not None]
    count = sum(each for _, each in known)
    return Mean(sum(value * each for value, each in known) / count if count else None, count)


def windows(polls: Sequence[Poll], name: str) -> Windows:
    """Return the delays of a class from polls at the ends of the periods, the first at their begin."""
    return windows_of(_between(before, after, name) for before, after in pairwise(polls))


def windows_of(means: Iterable[Mean]) -> Windows:
    """Return the means of the periods with those of the rates."""
    periods = tuple(means)
    parts = (periods[PERIODS * level : PERIODS * (level + 1)] for level in range(LEVELS))
    return Windows(periods=periods, levels=tuple(map(over, parts)))


def _between(before: Poll, after: Poll, name: str) -> Mean:
    (old, old_sum), (new, new_sum) = before.classes[name], after.classes[name]
    count = new - old
    return Mean(_NANO * (new_sum - old_sum) / count if count else None, count)


def client(document: dict[str, Any]) -> Client:
    """Return what the client has written as what is needed of it."""
    rows = [each for window in document["windows"] for each in window["classes"]]

    def total(key: str) -> int:
        return sum(row[key] for row in rows)

    names = dict.fromkeys(row["name"] for row in rows)
    return Client(
        sent=total("sent"),
        received=total("received"),
        reordered=total("reordered"),
        duplicates=total("duplicates"),
        late=_tail(window["lateness"] for window in document["windows"]),
        trips={name: _trips(document["windows"], name) for name in names},
        warnings=tuple(document.get("warnings", ())),
    )


def _trips(found: Sequence[dict[str, Any]], name: str) -> Trips:
    means, tails = [], []
    for window in found:
        rows = [each for each in window["classes"] if each["name"] == name]
        count = sum(each["received"] for each in rows)
        total = sum(each["rtt"]["sum_ns"] for each in rows)
        means.append(Mean(_NANO * total / count if count else None, count))
        tails.append(_tail(each["rtt"] for each in rows))
    return Trips(levels=tuple(means), tails=tuple(tails))


def _tail(spans: Iterable[dict[str, Any]]) -> float | None:
    """Return what 99 of 100 took at most, in seconds."""
    found = longest_of(spans, 0.99)
    return None if found is None else _NANO * found
