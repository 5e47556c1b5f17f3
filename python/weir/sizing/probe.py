"""One value of what is varied: a run that grows until its needs are decided, or has grown as far as it may.

A look is a run of the scenario with the value, and whether its needs are met, missed, or still open at a
level so high that all looks of a search are right together (`Terms`). Where one is open the run is made anew,
at least twice as much of it: longer where its figures are not settled, since more replications that are too
short do not help, else with more replications, each as long as before. All runs have the same seed, so that
values are compared on the same arrivals, and a longer run begins as the shorter one did.

A figure that is not settled is of a run that is too short. It began with empty queues, so what it says of
waiting is too little rather than too much, and one that is beyond its bound all the same misses it.

Source: the project's own; the lengths that double are those of Chow and Robbins 1965. Work: that of the last
look, and of all before it at most as much again. Units: those of the figures.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from weir.errors import ConfigError, ScenarioError
from weir.results.judging import MET, MISSED, NOT_SETTLED, TOO_SHORT, ends, judged, past
from weir.results.needs import figure
from weir.scenario import Scenario
from weir.simulation import run

if TYPE_CHECKING:
    from collections.abc import Callable

    from weir.results.result import Result
    from weir.results.rows import Judgement, Need

__all__ = ["OPEN", "Interrupted", "Prober", "Terms", "Tried"]

OPEN = "open"
_FEWEST, _MANY = 8, 128
"""Replications of a first look at the least; and from how many on runs get longer instead."""
_LARGEST_STEP = 16.0


class Interrupted(Exception):  # noqa: N818 - no error, but how a search ends
    """A run was broken off by Ctrl-C."""


@dataclass(frozen=True, slots=True)
class Terms:
    """How sure a search is to be, and what it may cost.

    Attributes
    ----------
    error : float
        The probability that anything of a search is wrong.
    probes, needs : int
        How many values may be tried, and how many needs each has.
    limit : int
        How many times as much as its first look a value may take.
    """

    error: float
    probes: int
    needs: int
    limit: int

    @property
    def looks(self) -> int:
        """How many looks a value may have, each at least twice the one before."""
        return int(math.log2(self.limit)) + 1

    @property
    def level(self) -> float:
        """The level of the interval of one look at one need, of which one end alone can mislead."""
        return 1 - 2 * self.error / (self.probes * self.needs * self.looks)


@dataclass(slots=True)
class Tried:
    """What is known of a value: ``state`` is ``met``, ``missed`` or ``open``.

    ``times`` is how many times as long as the scenario has it the next run is, and ``replications`` how many
    it has; ``last`` has both of the last result. ``is_done`` says that no further look would tell more.
    """

    value: Any
    state: str = OPEN
    is_done: bool = False
    looks: int = 0
    times: int = 1
    replications: int = 0
    last: tuple[int, int] = (1, 0)
    judgements: tuple[Judgement, ...] = ()
    reason: str | None = None
    own: int = field(default=0, repr=False)


class Prober:
    """Takes looks at values.

    Parameters
    ----------
    document : callable
        Returns the scenario with a value, as nested mappings.
    name : str
        What the scenario is called in errors.
    terms : Terms
        How sure, and how far.
    tell : callable
        Called with the progress of the runs: how far each is, and a value.
    """

    def __init__(
        self,
        document: Callable[[Any], dict[str, Any]],
        name: str,
        terms: Terms,
        threads: int | None,
        tell: Callable[[dict[str, Any], Any], None] | None,
    ) -> None:
        self._document, self._name, self.terms = document, name, terms
        self._threads, self._tell = threads, tell
        self.needs: tuple[Need, ...] = ()
        self.is_random = False
        self.runs = 0
        self._done = self._total = 0.0

    def scenario(self, value: object) -> Scenario:
        """Return the scenario with a value."""
        return Scenario.from_dict(self._document(value), self._name)

    def look(self, tried: Tried) -> None:
        """Take one more look at a value.

        Raises
        ------
        Interrupted
            If the run was broken off.
        ScenarioError
            If the scenario is refused with this value.
        ConfigError
            If a need is about a figure of which nothing can be said with a probability.
        """
        scenario = self.scenario(tried.value)
        if not tried.looks:
            tried.own = tried.replications = max(_FEWEST, scenario.replications)
        try:
            result = self._run(scenario, tried)
        except ConfigError as error:
            if not tried.looks:
                raise
            tried.is_done, tried.reason = True, error.message  # more than is simulated: no look tells more
            return
        if result.interrupted:
            raise Interrupted
        self._done += self._total
        self.runs += 1
        tried.looks += 1
        tried.last = (tried.times, result.replications)
        self.needs = tuple(result.needs)
        self.is_random = self.is_random or result.random
        self._judge(tried, result)
        if not tried.is_done:
            self._grow(tried, scenario, result)

    def _run(self, scenario: Scenario, tried: Tried) -> Result:
        grown = scenario.grown(tried.times, tried.replications)
        return run(grown, threads=self._threads, progress=self._progress(tried.value))

    def decide(self, tried: Tried) -> None:
        """Take looks at a value until it is decided, or no look would tell more."""
        while not tried.is_done:
            self.look(tried)

    def _progress(self, value: object) -> Callable[[dict[str, float]], None] | None:
        self._total, tell = 0.0, self._tell
        if tell is None:
            return None

        def told(state: dict[str, float]) -> None:
            self._total = max(self._total, state["done"])
            tell({"done": self._done + state["done"], "total": 0, "run": self.runs + 1}, value)

        return told

    def _judge(self, tried: Tried, result: Result) -> None:
        if result.unstable:
            tried.state, tried.is_done, tried.reason = MISSED, True, result.unstable
            return
        tried.judgements = tuple(judged(result, self.terms.level))
        tried.reason = next((each.reason for each in tried.judgements if each.state == NOT_SETTLED), None)
        self._refuse_extremes(tried, result)
        states = {each.state for each in tried.judgements}
        if states == {MET}:
            tried.state = MET
        elif MISSED in states or any(self._is_surely_past(each, result) for each in tried.judgements):
            tried.state = MISSED
        tried.is_done = tried.state != OPEN or not result.random

    def _refuse_extremes(self, tried: Tried, result: Result) -> None:
        """Refuse figures that have no interval though chance decides over them: longer runs find others."""
        for each in tried.judgements:
            if result.random and each.low is None and each.state != NOT_SETTLED and each.value is not None:
                told = figure(result.needs[each.need])
                raise ConfigError(
                    f"{told} has no interval, so that nothing can be said of it with a probability",
                    "ask for a mean or a quantile, such as `p99.9 response`",
                    self._name,
                    key="need.metric",
                )

    def _is_surely_past(self, judgement: Judgement, result: Result) -> bool:
        """Return whether a figure of a run that is too short is beyond its bound all the same."""
        need = result.needs[judgement.need]
        if judgement.reason != TOO_SHORT or need.side != "at_most":
            return False
        row = result.needed(judgement.discipline, need)
        interval = None if row is None else ends(row, self.terms.level)
        return interval is not None and past(interval[0], need) > 0

    def _grow(self, tried: Tried, scenario: Scenario, result: Result) -> None:
        """Say how much of it the next look takes, or that there is none."""
        taken = tried.times * tried.replications // tried.own
        left = self.terms.limit // taken
        if left < 2:
            tried.is_done = True
            return
        is_short = tried.replications >= _MANY or any(each.reason == TOO_SHORT for each in tried.judgements)
        if is_short and _can_be_longer(scenario):
            wanted = result.settling.longer if result.settling is not None else 2.0
            step = math.ceil(min(_LARGEST_STEP, max(2.0, wanted)))
            tried.times *= min(1 << (step - 1).bit_length(), 1 << (left.bit_length() - 1))
        else:
            tried.replications *= 2


def _can_be_longer(scenario: Scenario) -> bool:
    """Return whether a run of the scenario can be longer: one that ends by itself cannot."""
    try:
        scenario.grown(2, scenario.replications)
    except ScenarioError:
        return False
    return True
