"""Costs of a request, measured: processors that are given more than they can serve, with several sizes.

First the loop is tried at a low rate, to know how many iterations make the service that is wanted and at
which rate processors are saturated; this guess is by the run time of the threads of the queues, and used for
no more. Then requests of each size come faster than they can be served, and what is served in a span is
counted.

Source: `weir.live.steer.costs`. Units: nanoseconds, unless a name says otherwise.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weir.errors import UnsupportedError, WeirError
from weir.live.quantities import time as written
from weir.live.steer.bed import FLOWS, ran
from weir.live.steer.costs import SIZES, Setting, estimate, guess
from weir.live.steer.counts import poll
from weir.live.steer.plan import LONG

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from weir.live.steer.bed import Bed, Steering
    from weir.live.steer.costs import Costs, Guess
    from weir.live.steer.counts import Poll

__all__ = ["measure"]

_TRIED = (100, 20_000)
"""Iterations of the requests by which the loop is tried."""
_TRIED_RATE, _TRIED_SECONDS = 1500.0, 0.4
_OVERLOAD = 1.25
"""What comes over what can be served."""
_BURST = 5_000_000
_SETTLED = 0.2
"""Seconds until every queue has requests."""


@dataclass(frozen=True, slots=True)
class _Moment:
    """What was counted, and how long the threads of the queues have run."""

    counts: Poll
    ran: int


def measure(
    bed: Bed,
    processors: Sequence[int],
    service: int,
    span: int,
    told: Callable[[float], None] | None = None,
) -> Costs:
    """Measure what a request takes.

    Parameters
    ----------
    bed : Bed
        Server and client.
    processors : sequence of int
        Those that serve.
    service : int
        What a long request is to take, in nanoseconds.
    span : int
        How long what is served is counted with each size, in nanoseconds.
    told : callable, optional
        Called with the share that is done.
    """
    with bed.steering("loop", processors, "rr", 1) as steering:
        found = _tried(steering)
    iterations = found.iterations(service / 1e9, LONG)
    settings = []
    with bed.steering("costs", processors, "rr", iterations) as steering:
        for place, units in enumerate(SIZES, 1):
            rate = _OVERLOAD * len(processors) / found.service(units, iterations)
            settings.append(_setting(steering, units, rate, span))
            if told is not None:
                told(place / len(SIZES))
    return estimate(settings, iterations)


def words(units: int, rate: float, seconds: float) -> list[str]:
    """Return the options of ``weird load`` for requests of one size at one rate.

    They come in bursts, between which the client sleeps: it would else wait for each without leaving its
    processor to those that serve.
    """
    return [
        *("--rate", f"{rate:.3f}/s", "--arrivals", f"bursts:{written(_BURST)}", "--flows", str(FLOWS)),
        *("--windows", "1", "--window", written(round(seconds * 1e9))),
        *("--class", f"short:data={units},share=1"),
    ]


def _tried(steering: Steering) -> Guess:
    """Return how long few and many iterations take, by the run time of the threads."""
    pairs = []
    for units in _TRIED:
        before = _now(steering)
        client = steering.send(f"loop-{units}", words(units, _TRIED_RATE, _TRIED_SECONDS))
        client.result(_TRIED_SECONDS)
        steering.wait_until_all_are_served()
        pairs.append((units, _by_run_time(before, _now(steering))))
    return guess(*pairs)


def _now(steering: Steering) -> _Moment:
    answer = steering.answer()
    running = ran(answer)
    if running is None:
        what = "the kernel does not report the run time of its threads"
        raise UnsupportedError(what, "a kernel with CONFIG_SCHED_INFO reports it")
    return _Moment(poll(answer), running)


def _by_run_time(before: _Moment, after: _Moment) -> float:
    """Return the seconds that the threads of the queues ran for each request between two moments."""
    served = after.counts.served - before.counts.served
    if served == 0:
        raise WeirError("no request was served", "`weird doctor` says what is in the way")
    return (after.ran - before.ran) / 1e9 / served


def _setting(steering: Steering, units: int, rate: float, span: int) -> Setting:
    seconds = 2 * _SETTLED + span / 1e9
    before = poll(steering.answer())
    client = steering.send(f"size-{units}", words(units, rate, seconds))
    steering.wait_for_requests(before, client)
    time.sleep(_SETTLED)
    first = _now(steering)
    time.sleep(span / 1e9)
    last = _now(steering)
    client.result(seconds)
    steering.wait_until_all_are_served()
    return _between(units, first, last)


def _between(units: int, first: _Moment, last: _Moment) -> Setting:
    begin, end = first.counts, last.counts
    seconds = (end.at - begin.at) / 1e9
    many = len(begin.queues)
    return Setting(
        units=units,
        served=end.served - begin.served,
        seconds=seconds,
        processors=many,
        saturated=min(*begin.queues, *end.queues) > 0,
        ran=(last.ran - first.ran) / 1e9 / seconds / many,
    )
