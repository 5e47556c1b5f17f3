"""What a study of steering comes to, in sentences: the verdict, and in what the measurement departs.

Source: this project. Units: in the sentences.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.live.steer.plan import UNIMODAL
from weir.text import be, plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weir.live.steer.measured import Run
    from weir.live.steer.orderings import Row
    from weir.live.steer.study import Study

__all__ = ["departures", "verdicts"]

_OUT_OF_SIGHT = 0.01
"""The share of a run's requests that may be lost on the way before that is reported."""


def verdicts(study: Study) -> tuple[str, ...]:
    """Return one line for requests, one for orderings, and what else is to be known first."""
    made = [_requests(study.runs), _ordered(study.orderings)]
    missed = [each for each in study.runs if each.ledger.unseen > _OUT_OF_SIGHT * each.ledger.sent]
    if missed:
        made.append(
            f"in {len(missed)} of {plural(len(study.runs), 'run')} more than 1 % of the requests were lost "
            "before they came to the server"
        )
    if study.interrupted:
        made.append("interrupted: figures are those of the runs that were finished")
    return tuple(made)


def _requests(found: Sequence[Run]) -> str:
    if not found:
        return "NOT CHECKED: no run was finished"
    steered = sum(each.ledger.steered for each in found)
    lost = sum(abs(each.ledger.unaccounted) for each in found)
    state = "NOT MET" if lost else "MET"
    runs = plural(len(found), "run")
    return f"{state}: of {steered:,} requests in {runs} {lost:,} {be(lost)} not accounted for"


def _ordered(rows: Sequence[Row]) -> str:
    both = [row for row in rows if row.simulated.holds is not None and row.measured.holds is not None]
    if not both:
        return "NOT CHECKED: no ordering can be judged"
    agree = sum(row.simulated.holds == row.measured.holds for row in both)
    kept = sum(bool(row.measured.holds) for row in both)
    against = [row.id for row in both if row.reversed]
    state = "NOT MET" if against else "MET"
    clearly = f"; clearly against the simulation: {', '.join(against)}" if against else ""
    return (
        f"{state}: of {len(both)} of the report's orderings {kept} hold as measured, and {agree} do as in "
        f"the simulation of this machine{clearly}"
    )


def departures(study: Study) -> tuple[str, ...]:
    """Return in what the measurement differs from the report and from the simulation."""
    many, service = len(study.plan.processors), study.costs.service
    times = service(study.plan.short) * 1e6, service(UNIMODAL) * 1e6
    made = [
        f"{many} of {study.present} processors serve, of the lab's seven",
        (
            f"a short request takes {times[0]:.1f} us and any other {times[1]:.1f} us, not 1.95 and 3.42 us, "
            "so that the processors are the bottleneck and not the client; bursts and thresholds are "
            "scaled with it"
        ),
        (
            f"each rate lasts {study.plan.window / 1e9:g} s and not 5 s, with five means of the delay, and "
            f"decisions of DCA, of {study.plan.period / 1e6:g} ms and not 1 s"
        ),
        (
            "where there are no other processors, receiving and the client take time of those that serve: "
            "at the highest rate unimodal traffic is 85 % of what processors serve in addition to that, "
            "and "
            f"{study.plan.load:.0%} of it in the simulation, which knows only the threads that serve"
        ),
        (
            "round trips count from when a request was to be sent, so that a burst's own sending is in them; "
            "the report does not say how it has them"
        ),
    ]
    if many > 1:
        made.append(
            "DCA begins with one processor and not two; RRCS has the lab's three sevenths for short "
            "requests, rounded, and at least one"
        )
    return tuple(made)
