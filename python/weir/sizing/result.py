"""What a search has found."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weir.results.rows import Judgement, Need

__all__ = ["Probe", "Search", "SizeResult"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """What is known of a value that was tried.

    Attributes
    ----------
    value : Any
        The value.
    state : str
        ``met``, ``missed``, or ``open``: not decided by so much of a run.
    judgements : tuple of Judgement
        What became of each need, by its place in `Search.needs`, with the figure and its interval at
        `Search.level`; none where there is no steady state.
    looks, times, replications : int
        How many runs that took, how many times as long as the scenario has it the last was, and in how many
        replications.
    reason : str or None
        Why it is open, or that there is no steady state.
    """

    value: Any
    state: str
    judgements: tuple[Judgement, ...]
    looks: int
    times: int
    replications: int
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What was found under one discipline.

    Attributes
    ----------
    discipline : str or None
        The discipline; None where disciplines are what is varied.
    monotonic : str
        ``better`` or ``worse``, as needs get easier or harder to meet as the value grows: a bisection;
        ``no``: a race.
    state : str
        ``found``; ``none``: every value misses a need; ``open``: the answer is among ``possible``, or there
        is none if ``may_be_none``; ``interrupted``: broken off with ``possible`` left, or not begun.
    answer : Any
        The first value that meets the needs; None where it is not known, or there is none.
    safe : Any
        The first value that is known to meet the needs, the answer itself where that is known.
    possible : tuple
        The values among which the answer is, in their order.
    may_be_none : bool
        No value is known to meet the needs.
    needs : tuple of Need
        What must hold.
    level : float
        The level of the intervals that decide.
    is_random : bool
        Whether chance had a part in it.
    runs : int
        How many runs it took.
    probes : tuple of Probe
        What was tried, by value.
    """

    discipline: str | None
    monotonic: str
    state: str
    answer: Any
    safe: Any
    possible: tuple[Any, ...]
    may_be_none: bool
    needs: tuple[Need, ...]
    level: float
    is_random: bool
    runs: int
    probes: tuple[Probe, ...]

    def probe(self, value: object) -> Probe | None:
        """Return what is known of a value, if it was tried."""
        return next((each for each in self.probes if each.value == value), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeResult:
    """What `weir.size` has found.

    Attributes
    ----------
    scenario, key : str
        The file, and what was varied.
    values : tuple
        The values, in the order in which they are preferred.
    preferred : str
        ``least``, ``highest`` or ``first``: which end of the values comes first.
    confidence : float
        The probability with which everything that is said of all disciplines is right.
    seed, limit : int
        The seed of all runs, and how many times as much as its first look a value may take.
    notes : tuple of str
        What holds of all values.
    searches : tuple of Search
        One a discipline, in the order of the scenario.
    """

    scenario: str
    key: str
    values: tuple[Any, ...]
    preferred: str
    confidence: float
    seed: int
    limit: int
    notes: tuple[str, ...]
    searches: tuple[Search, ...]

    @property
    def answer(self) -> Any:  # noqa: ANN401 - whatever a scenario can hold
        """The answer under the first discipline."""
        return self.searches[0].answer

    @property
    def interrupted(self) -> bool:
        """Whether it was broken off."""
        return any(each.state == "interrupted" for each in self.searches)

    @property
    def ok(self) -> bool:
        """Whether every search found a value."""
        return all(each.state == "found" for each in self.searches)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON objects."""
        return asdict(self)

    def _repr_html_(self) -> str:
        """Return the summary that a notebook shows: what was found, and what was tried next to it."""
        from weir.results.notebook import of_tables
        from weir.sizing.terminal import tables

        return of_tables(f"Size of {self.key}", [*self.verdict, *self.notes], list(tables(self)))

    @property
    def verdict(self) -> tuple[str, ...]:
        """What was found, in words: a sentence a discipline."""
        from weir.sizing.words import sentences

        return tuple(sentences(self))
