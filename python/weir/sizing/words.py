"""What a search has found, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.axes import written as told
from weir.results.judging import MET, MISSED, NOT_SETTLED, past
from weir.results.needs import bound, figure, written
from weir.results.verdict import BOTH, capital, joined
from weir.sizing.probe import OPEN
from weir.text import plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weir.results.rows import Judgement, Need
    from weir.sizing.result import Probe, Search, SizeResult

__all__ = ["sentences"]

_FEW = 4
"""Values that are named one by one."""


def sentences(result: SizeResult) -> Iterator[str]:
    """Yield what was found under each discipline, then how sure that is."""
    if len(result.searches) > BOTH and all(search.state in {"found", "none"} for search in result.searches):
        yield f"{capital(_each(result))}."
    else:
        for search in result.searches:
            yield f"{capital(_told(result, search))}."
    if any(search.probes for search in result.searches):
        yield f"{_sure(result)}."


def _each(result: SizeResult) -> str:
    """Return the answers under many disciplines, the best first."""
    found = [search for search in result.searches if search.state == "found"]
    found.sort(key=lambda search: result.values.index(search.answer))
    none = [str(search.discipline) for search in result.searches if search.state == "none"]
    needs = {_needs(search.needs) for search in result.searches}
    asked = f"the {result.preferred} {result.key} at which {needs.pop() if len(needs) == 1 else _needs(())}"
    parts = [f"{told(search.answer)} under {search.discipline}" for search in found]
    whole = [f"{asked} is {joined(parts)}"] if parts else []
    if none:
        whole.append(
            f"there is none {_span(result.values)} under {joined(none)}"
            if parts
            else f"{asked} is none of them"
        )
    return "; ".join(whole)


def _told(result: SizeResult, search: Search) -> str:
    under = f" under {search.discipline}" if search.discipline and len(result.searches) > 1 else ""
    if not search.probes:
        return f"not searched{under}: interrupted before"
    asked = f"the {result.preferred} {result.key} at which {_needs(search.needs)}{under}"
    match search.state:
        case "found":
            return f"{asked} is {told(search.answer)}: {_margin(search)}{_before(result, search)}"
        case "none":
            last = search.probe(result.values[-1])
            why = f": at {told(result.values[-1])} {_missed(search, last)}" if last is not None else ""
            return f"at no {result.key} {_span(result.values)} {_needs(search.needs)}{under}{why}"
    begun = "interrupted: " if search.state == "interrupted" else ""
    none = ", or there is none" if search.may_be_none else ""
    safe = "" if search.safe is None else f"; {told(search.safe)} meets {_it(search)}"
    rest = "" if begun else f"; {_why(search)}"
    return f"{begun}{asked} is {_among(search.possible)}{none}{safe}{rest}"


def _why(search: Search) -> str:
    """Return why a search leaves values, and what to do about it."""
    first = next((each for each in search.probes if each.state == OPEN), None)
    if first is None:
        reason = "not all values were tried"
    else:
        reason = f"at {told(first.value)} {_undecided(search, first)}"
    return f"{reason}; a larger `--limit` may decide it" if search.is_random else reason


def _undecided(search: Search, probe: Probe) -> str:
    """Return what is not decided at a value, and why."""
    row = next((row for row in probe.judgements if row.state == NOT_SETTLED), None)
    if row is None or row.value is None:
        return probe.reason or "nothing is known yet"
    need = search.needs[row.need]
    return f"{figure(need)} is {written(row.value, need)}, and {row.reason}"


def _needs(needs: Sequence[Need]) -> str:
    match len(needs):
        case 0:
            return "the needs are met"
        case 1:
            return f"{figure(needs[0])} is {bound(needs[0])}"
        case count if count == BOTH:
            return "both needs are met"
    return f"all {len(needs)} needs are met"


def _it(search: Search) -> str:
    return "it" if len(search.needs) == 1 else "them"


def _among(values: Sequence[object]) -> str:
    if len(values) <= _FEW:
        return told(values[0]) if len(values) == 1 else f"one of {joined(map(told, values))}"
    return f"one of {len(values)}, {_span(values)}"


def _span(values: Sequence[object]) -> str:
    if len(values) == 1:
        return f"of {told(values[0])}"
    return f"from {told(values[0])} to {told(values[-1])}"


def _spare(judgement: Judgement, need: Need) -> float:
    """Return what is left to the bound, in parts of it."""
    left = -past(judgement.value or 0.0, need)
    return left / need.bound if need.bound else left


def _margin(search: Search) -> str:
    """Return the figure that is nearest to its bound at the answer."""
    probe = search.probe(search.answer)
    rows = [] if probe is None else [row for row in probe.judgements if row.state == MET]
    if not rows:
        return "it meets what is needed"
    row = min(rows, key=lambda row: _spare(row, search.needs[row.need]))
    need = search.needs[row.need]
    value = written(row.value or 0.0, need)
    if len(search.needs) == 1:
        return f"{figure(need)} is {value}"
    return f"nearest to its bound is {figure(need)}, {value} for {bound(need)}"


def _before(result: SizeResult, search: Search) -> str:
    """Return what the value before the answer misses."""
    place = result.values.index(search.answer)
    if not place:
        return ", and it is the first of all"
    before = search.probe(result.values[place - 1])
    return "" if before is None else f"; at {told(before.value)} {_missed(search, before)}"


def _missed(search: Search, probe: Probe | None) -> str:
    """Return what a value misses most."""
    rows = () if probe is None else probe.judgements
    if not rows:
        return "there is no steady state"
    beyond = [row for row in rows if row.value is not None and past(row.value, search.needs[row.need]) > 0]
    if not beyond:
        return next((row.reason for row in rows if row.state == MISSED and row.reason), "a need is missed")
    row = min(beyond, key=lambda row: _spare(row, search.needs[row.need]))
    need = search.needs[row.need]
    return f"{figure(need)} is {written(row.value or 0.0, need)}"


def _sure(result: SizeResult) -> str:
    count = sum(len(search.probes) for search in result.searches)
    tried = plural(count, "value")
    runs = plural(sum(search.runs for search in result.searches), "run")
    if not any(search.is_random for search in result.searches):
        return f"Nothing is random between replications: each of the {tried} that were tried is one run"
    level = f"{100 * result.confidence:g} %"
    return (
        f"All of this is right with a probability of at least {level}: of "
        f"{plural(len(result.values), 'value')} {count:,} were tried, in {runs}"
    )
