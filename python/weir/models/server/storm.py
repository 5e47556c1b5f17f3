"""What a server's result says of clients that give up: who is answered in time, and whether it comes back.

A server tips where most attempts fail at the end of the run, long after what set it off. How soon it is back
is reported where it comes back in every replication.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.results.verdict import joined, lowest, measured
from weir.text import number, quantity, share

if TYPE_CHECKING:
    from weir.models.server.result import ServerResult
    from weir.results.subjects import SubjectEstimate


def storm(result: ServerResult) -> str | None:
    """Return how many are done in time, and under whom the server tips; None where nobody gives up."""
    return "; ".join(part for part in (_in_time(result), _tips(result), _back(result)) if part) or None


def _in_time(result: ServerResult) -> str | None:
    found = measured(result, lambda name: result.estimate(name, metric="goodput"))
    if not found:
        return None
    best = lowest(found)[-1]
    done = result.estimate(best, metric="throughput")
    whole = number(done.value) if done is not None and done.value is not None else "all"
    good = number(found[best].value or 0.0)
    if len(result.disciplines) == 1:
        return f"of {whole} requests that are done in a second, {good} are in time"
    return f"most requests are done in time under {result.labels[best]}, {good} of {whole} in a second"


def _tips(result: ServerResult) -> str | None:
    found = _of_cores(result, "tipped")
    if not found:
        return None
    many = len(result.disciplines) > 1
    tipping = [name for name in reversed(lowest(found)) if found[name].value]
    if not tipping:
        highest = share(max(row.high or 0.0 for row in found.values()))
        return f"the server tips in no replication{' of any discipline' if many else ''} (at most {highest})"
    if not many:
        return f"the server tips in {_part(found[tipping[0]])}: most attempts fail at the end"
    each = (f"in {_part(found[name])} under {result.labels[name]}" for name in tipping)
    return f"the server tips {joined(each)}"


def _part(row: SubjectEstimate) -> str:
    ends = f" ({share(row.low)} to {share(row.high)})" if row.low is not None and row.high is not None else ""
    return f"{share(row.value or 0.0)} of the replications{ends}"


def _back(result: ServerResult) -> str | None:
    found = _of_cores(result, "recovery")
    if not found:
        return None
    best = lowest(found)[0]
    whose = f" under {result.labels[best]}" if len(result.disciplines) > 1 else ""
    first = "first, " if len(found) > 1 else ""
    after = quantity(found[best].value or 0.0, found[best].unit)
    return f"it is back {first}{after} after the burst{whose}"


def _of_cores(result: ServerResult, metric: str) -> dict[str, SubjectEstimate]:
    return measured(result, lambda name: result.estimate(name, kind="core", metric=metric))
