"""What results say, in words: one to four sentences, the same in terminal, page and JSON.

First how finished the run is, then what the scenario declares: needs, deadlines, slowdowns. Where it declares
no needs, who is best and what that costs. Last whether the checks hold. What comes later gives way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from weir.results import checks
from weir.text import plural, quantity

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from weir.results.result import Result
    from weir.results.rows import Comparison, Measured, Value

BOTH = 2

ARow = TypeVar("ARow", bound="Measured")


MOST = 4
"""Sentences of a verdict."""


def verdict(result: Result) -> str:
    """Return the verdict as one text."""
    return " ".join(result.verdict)


def sentences(result: Result) -> list[str]:
    """Return the verdict: one to four sentences."""
    if result.empty:
        return [f"{state(result)}."]
    first, last = [part for part in (state(result),) if part], [part for part in (agreement(result),) if part]
    between = [part for part in _answers(result) if part][: MOST - len(first) - len(last)]
    return [f"{capital(part)}." for part in (*first, *between, *last)]


def _answers(result: Result) -> Iterator[str | None]:
    """Yield what a model's result says: of what is declared, then of what is best and its price."""
    from weir.results import needs

    view = result.view()
    if result.unstable:
        return
    asked = needs.told(result)
    yield from asked
    yield from view.declared()
    if not asked:
        yield from view.statements()


def state(result: Result) -> str | None:
    """Return why the numbers are to be read with care: no steady state, too short or an interrupted run."""
    parts = [part for part in (_ended(result), checks.unsettled(result)) if part]
    return "; ".join(parts) or None


def _ended(result: Result) -> str | None:
    if result.unstable:
        return f"No steady state: {result.unstable}"
    if result.empty:
        return "Interrupted before anything was finished"
    if not result.interrupted:
        return None
    counted = "message" if "messages" in result.document else "replication"
    count = int(result.document.get(f"{counted}s", 1))
    return f"Interrupted after {plural(count, counted)}: what follows was finished by then"


def agreement(result: Result) -> str | None:
    """Return what the figures rest on: length, chance, closed forms, and which self-checks hold."""
    if result.empty:
        return None
    tellers = (checks.own, checks.lengthened, checks.certain, checks.forms, checks.checks)
    return "; ".join(part for part in (tell(result) for tell in tellers) if part) or None


# Phrases.


def capital(words: str) -> str:
    """Return words as a sentence begins."""
    return f"{words[:1].upper()}{words[1:]}"


def joined(words: Iterable[str]) -> str:
    """Return words as a list in a sentence."""
    *most, last = list(words)
    return f"{', '.join(most)} and {last}" if most else last


def named(result: Result, names: Iterable[str]) -> str:
    """Return disciplines by their labels as a list in a sentence."""
    return joined(result.labels[name] for name in names)


def those(result: Result, names: Collection[str]) -> str:
    """Return disciplines as a list in a sentence, in their order; of more than two all as such."""
    if len(names) == len(result.disciplines) > BOTH:
        return "all disciplines"
    return named(result, (name for name in result.disciplines if name in names))


def under(result: Result, names: Sequence[str]) -> str:
    """Return under which disciplines something is so, where there are several."""
    if len(result.disciplines) == 1:
        return ""
    if len(names) == len(result.disciplines):
        return " under both" if len(names) == BOTH else " under every discipline"
    return f" under {named(result, names)}"


def told(row: Measured, exact: float = 0.0) -> str:
    """Return a value with its interval, unless that is narrower than ``exact`` of the value, or nothing."""
    words = quantity(row.value or 0.0, row.unit)
    if not row.settled:
        return f"{words} (not settled)"
    if row.low is None or row.high is None or row.high - row.low <= exact * row.high:
        return words
    low, high = quantity(max(row.low, 0.0), row.unit), quantity(row.high, row.unit)
    return f"{words} (95 % interval {low} to {high})"


def warned(result: Result, found: Iterable[tuple[str, str | None]]) -> list[str]:
    """Return texts each once, with the disciplines that they are about where these are some of all."""
    about: dict[str, list[str]] = {}
    for text, discipline in found:
        about.setdefault(text, []).extend([] if discipline is None else [result.labels[discipline]])
    every = len(result.disciplines)
    return [
        text + (f" (under {joined(names)})" if 0 < len(names) < every else "")
        for text, names in about.items()
    ]


def measured(result: Result, find: Callable[[str], ARow | None]) -> dict[str, ARow]:
    """Return what is found of each discipline, where there is a value."""
    rows = {name: find(name) for name in result.disciplines}
    return {name: row for name, row in rows.items() if row is not None and row.value is not None}


def lowest(rows: Mapping[str, ARow]) -> list[str]:
    """Return disciplines from the lowest value to the highest."""
    return sorted(rows, key=lambda name: rows[name].value or 0.0)


def rivals(
    result: Result,
    found: Iterable[str],
    best: str,
    paired: Callable[[str], bool | None],
    differ: Callable[[str, str], bool],
) -> list[str]:
    """Return the disciplines that cannot be distinguished from the best.

    ``paired`` says whether a discipline differs from the reference by their paired difference, None where
    there is none; ``differ`` whether two do by other means.
    """

    def apart(other: str) -> bool:
        clear = None
        if result.reference in {best, other}:
            clear = paired(other if best == result.reference else best)
        return differ(best, other) if clear is None else clear

    return [name for name in found if name != best and not apart(name)]


def clear(row: Comparison | None) -> bool | None:
    """Return whether the interval of a difference leaves out zero; None where it is not known."""
    return None if row is None or row.low is None else row.clear


def disjoint(one: Value | None, other: Value | None) -> bool | None:
    """Return whether two intervals do not overlap; None where one is not known."""
    if one is None or one.low is None or one.high is None:
        return None
    if other is None or other.low is None or other.high is None:
        return None
    return one.high < other.low or other.high < one.low
