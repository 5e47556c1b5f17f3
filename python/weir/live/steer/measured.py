"""One run with real packets: a policy on a traffic, six rates, what waited and what went round.

The daemon is asked at the end of every period. Windows begin with the first request that comes to the
server, which is known to within the time between two answers, some milliseconds; the daemon decides shortly
before the end of each period, as it does in the simulation.

Source: Ouyang, 2024. Units: seconds; times of this process in nanoseconds.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from weir.live.quantities import time as written
from weir.live.steer.bed import FLOWS
from weir.live.steer.counts import client, poll, windows
from weir.live.steer.model import Outcome
from weir.live.steer.plan import LEVELS, PERIODS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weir.live.steer.bed import Bed, Client, Steering
    from weir.live.steer.counts import Client as Seen
    from weir.live.steer.counts import Poll, Trips
    from weir.live.steer.plan import Case, Plan

__all__ = ["Ledger", "Run", "measure", "words"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """What became of the requests of one run."""

    sent: int
    steered: int
    served: int
    dropped: int
    """Those that found a queue full."""
    waiting: int
    refused: int
    """Those that no processor could be found for."""
    received: int
    """By the client, which has sent them."""

    @property
    def unaccounted(self) -> int:
        """Requests that came to a queue, and of which nothing more is known."""
        return self.steered - self.served - self.dropped - self.waiting

    @property
    def unseen(self) -> int:
        """Requests that were sent and came to no queue."""
        return self.sent - self.steered - self.refused

    @property
    def not_returned(self) -> int:
        """Requests that were served and did not come back."""
        return self.served - self.received


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What one run came to."""

    case: Case
    repetition: int
    outcome: Outcome
    trips: dict[str, Trips]
    """By class."""
    ledger: Ledger
    late: float | None
    """Seconds that 99 of 100 requests were sent late at most; of a burst all are due at its begin."""
    warnings: tuple[str, ...]


def words(plan: Plan, case: Case, seed: int) -> list[str]:
    """Return the options of ``weird load`` for a run."""
    made = [
        *("--rate", f"{plan.rate:.3f}/s", "--arrivals", f"bursts:{written(plan.burst)}"),
        *("--windows", str(LEVELS), "--window", written(plan.window), "--growth", "2"),
        *("--flows", str(FLOWS), "--seed", str(seed)),
    ]
    for kind in plan.kinds(case.traffic):
        made += ["--class", f"{kind.name}:data={kind.units},share={kind.share:g}"]
    return made


def measure(bed: Bed, plan: Plan, case: Case, repetition: int, seed: int) -> Run:
    """Run a case.

    Raises
    ------
    WeirError
        If daemon or client fail.
    """
    label = f"{case.policy}-{case.traffic}-{repetition + 1}"
    with bed.steering(label, plan.processors, plan.spec(case.policy), plan.iterations) as steering:
        before = poll(steering.answer())
        steering.wait_for_a_decision(plan.period)
        sender = steering.send("load", words(plan, case, seed))
        polls = [before, *_watched(steering, before, sender, plan)]
        seen = client(sender.result(plan.seconds))
        last = steering.wait_until_all_are_served()
    return Run(
        case=case,
        repetition=repetition,
        outcome=_outcome(plan, case, polls),
        trips=seen.trips,
        ledger=_ledger(before, last, seen),
        late=seen.late,
        warnings=seen.warnings,
    )


def _watched(steering: Steering, before: Poll, sender: Client, plan: Plan) -> list[Poll]:
    """Return the counts at the end of each period."""
    begin = steering.wait_for_requests(before, sender)
    found = []
    for period in range(1, PERIODS * LEVELS + 1):
        time.sleep(max(0.0, (begin + period * plan.period - time.monotonic_ns()) / 1e9))
        found.append(poll(steering.answer()))
    return found


def _outcome(plan: Plan, case: Case, polls: Sequence[Poll]) -> Outcome:
    steered = polls[-1].steered - polls[0].steered
    lost = polls[-1].dropped - polls[0].dropped
    return Outcome(
        delays={kind.name: windows(polls, kind.name) for kind in plan.kinds(case.traffic)},
        cores=fmean(each.in_use for each in polls[1:]),
        dropped=lost / steered if steered else 0.0,
    )


def _ledger(before: Poll, last: Poll, seen: Seen) -> Ledger:
    return Ledger(
        sent=seen.sent,
        steered=last.steered - before.steered,
        served=last.served - before.served,
        dropped=last.dropped - before.dropped,
        waiting=last.waiting,
        refused=last.refused - before.refused,
        received=seen.received,
    )
