"""Searches: from a scenario, what is varied, and what is needed, to the value that meets it."""

from __future__ import annotations

import copy
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weir import toml
from weir.arguments import check_confidence
from weir.axes import ALONE
from weir.axes import written as told
from weir.errors import ConfigError, ScenarioError
from weir.files import read_text
from weir.results.judging import MET
from weir.scenario import Scenario
from weir.settings import Setting
from weir.simulation import check_threads
from weir.sizing import need as needs_of
from weir.sizing import search as searching
from weir.sizing.direction import NEITHER, WORSE, checked_direction, direction
from weir.sizing.probe import Interrupted, Prober, Terms
from weir.sizing.result import Probe, Search, SizeResult
from weir.sizing.vary import OPTION, numbers, varied

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from weir.axes import Axis
    from weir.sizing.need import Asked
    from weir.sizing.probe import Tried

__all__ = ["LIMIT", "size", "sized"]

LIMIT = 64
"""How many times as much as its first look a value may take."""
_MOST_LIMIT = 1 << 20
_MOST_RACED = 1_000


def size(
    scenario: Scenario | str | Path | Mapping[str, object],
    key: str,
    values: str | Sequence[object],
    *,
    needs: Sequence[str] = (),
    settings: Sequence[str] = (),
    monotonic: str | None = None,
    confidence: float = 0.95,
    limit: int = LIMIT,
    seed: int | None = None,
    threads: int | None = None,
    progress: Callable[[dict[str, Any]], None] | None = None,
) -> SizeResult:
    """Search the first value of a key at which a scenario meets what is needed, for each discipline.

    Each value that is tried is a run that grows until its needs are decided, at a level so high that all that
    is said is right with the stated probability. Where needs are known to be met on one side of the answer it
    is found by bisection, elsewhere by a race.

    Parameters
    ----------
    scenario : Scenario, path or mapping
        What to simulate; its own ``[[need]]`` count too.
    key : str
        What is varied, such as ``server.cores``; ``discipline`` stands for the scenario's only one.
    values : str or sequence
        A text such as ``"1..64"`` or ``"0.5..0.99:0.01"``, one as an axis of a sweep has it, or a list in the
        order of preference.
    needs : sequence of str, optional
        Such as ``"p99 response < 200ms"`` or ``"loss of call < 0.1% under sfq"``.
    settings : sequence of str, optional
        ``key=value`` for all runs, in place of the scenario's.
    monotonic : str, optional
        ``better`` if the needs are met more easily as the value grows, so that the least is searched,
        ``worse`` if less easily, so that the highest is, ``no`` for a race; what weir knows of the key if not
        given.
    confidence : float
        The probability with which all that is said is right, from 0.5 to below 1.
    limit : int
        How many times as much as its first look a value may take.
    seed, threads, progress : optional
        As of `weir.run`; progress says in ``note`` which value runs.

    Returns
    -------
    SizeResult
        The answer under each discipline, or the values among which it is; every value that was tried.

    Raises
    ------
    ScenarioError, TraceError
        If the scenario, or a file it names, is refused.
    ConfigError
        If an argument is, or a need is about a figure that has no interval.
    """
    match scenario:
        case Scenario():
            text, name = scenario.text, scenario.name
            seed = scenario.seed if seed is None else seed
        case str() | Path():
            text, name = read_text(Path(scenario)), str(scenario)
        case _:
            text, name = toml.dumps(scenario), "scenario"
    read = [Setting.read(each) for each in settings]
    return sized(
        text,
        name,
        varied(key, values),
        needs=needs,
        settings=read,
        monotonic=monotonic,
        confidence=confidence,
        limit=limit,
        seed=seed,
        threads=threads,
        progress=progress,
    )


def sized(
    text: str,
    name: str,
    axis: Axis,
    *,
    needs: Sequence[str],
    settings: Sequence[Setting],
    monotonic: str | None,
    confidence: float,
    limit: int,
    seed: int | None,
    threads: int | None,
    progress: Callable[[dict[str, Any]], None] | None,
) -> SizeResult:
    """Search as `size`, in the scenario of a text."""
    check_threads(threads)
    checked_direction(monotonic)
    check_confidence(confidence)
    if not 1 <= limit <= _MOST_LIMIT:
        raise ConfigError(f"--limit is {limit}, must be from 1 to {_MOST_LIMIT:,}", "write one such as 64")
    document = _document(text, name, settings, seed)
    asked = needs_of.asked_of(needs, document, name)
    base = {key: value for key, value in document.items() if key != "need"}
    questions = [_Question(base, name, axis, each, asked) for each in _disciplines(base, axis, name)]
    for each in questions:
        each.check()
    ways = [each.way(monotonic) for each in questions]
    values, preferred = _ordered(axis, next((way for way in ways if way != NEITHER), NEITHER))
    if NEITHER in ways and len(values) > _MOST_RACED:
        raise ConfigError(
            f"{OPTION} {axis.key}: {len(values):,} values in a race, at most {_MOST_RACED:,}",
            "take larger steps, or say with `--monotonic better` or `worse` on which side needs are met",
        )
    error = (1 - confidence) / len(questions)
    searches: list[Search] = []
    for question, way in zip(questions, ways, strict=True):
        begun = not searches or searches[-1].state != "interrupted"
        searches.append(question.search(values, way, error, limit, threads, progress, begun=begun))
    return SizeResult(
        scenario=name,
        key=axis.key,
        values=values,
        preferred=preferred,
        confidence=confidence,
        seed=int(Scenario.from_dict(base, name).normalised["seed"]),
        limit=limit,
        notes=tuple(_notes(base, axis.key)),
        searches=tuple(searches),
    )


def _document(text: str, name: str, settings: Sequence[Setting], seed: int | None) -> dict[str, Any]:
    """Return the scenario as nested mappings with some of its keys set, without its own end by precision."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        Scenario.from_toml(text, name)  # which says where
        raise
    Scenario.from_toml(text, name)  # what is wrong with it has a place in this text
    for each in settings:
        each.put(document)
    document.pop("sweep", None)
    if seed is not None:
        document["seed"] = seed
    stop = document.get("stop")
    if isinstance(stop, dict):
        for key in ("settle", "settle_limit", "precision"):
            stop.pop(key, None)
    return document


def _disciplines(document: Mapping[str, Any], axis: Axis, name: str) -> Sequence[str | None]:
    """Return the disciplines for each of which there is a search; none by itself where they are varied."""
    if axis.key in {ALONE, "disciplines"}:
        return [None]
    return Scenario.from_dict(document, name).disciplines


def _ordered(axis: Axis, way: str) -> tuple[tuple[Any, ...], str]:
    """Return the values as they are preferred, and what that is called."""
    found = numbers(axis.values)
    if not found:
        return axis.values, "first"
    pairs = sorted(zip(found, axis.values, strict=True), key=lambda pair: pair[0])
    if way == NEITHER:
        return axis.values, "least" if [number for number, _ in pairs] == found else "first"
    ascending = tuple(value for _, value in pairs)
    return (ascending[::-1], "highest") if way == WORSE else (ascending, "least")


def _notes(document: Mapping[str, Any], key: str) -> list[str]:
    """Return what is to be known of what is varied."""
    workload = document.get("workload")
    workload = workload if isinstance(workload, dict) else {}
    if key == "workload.load" and "trace" in workload:
        note = "the times of the recording are scaled to each load; no request is left out or takes longer"
        return [note]
    if key == "server.cores" and "load" in workload:
        note = "workload.load is of all cores: more of them get more requests; a `rate` keeps the traffic"
        return [note]
    return []


class _Question:
    """What is asked of one discipline."""

    def __init__(
        self,
        base: dict[str, Any],
        name: str,
        axis: Axis,
        discipline: str | None,
        asked: Sequence[Asked],
    ) -> None:
        self.discipline = discipline
        self._axis, self._name = axis, name
        self._base = copy.deepcopy(base)
        if discipline is not None:
            self._base["disciplines"] = [discipline]
            self._base.pop("reference", None)
        tables = [dict(each.table) for each in needs_of.under(asked, discipline)]
        if tables:
            self._base["need"] = tables

    def document(self, value: object) -> dict[str, Any]:
        """Return the scenario with a value, as nested mappings."""
        document = copy.deepcopy(self._base)
        self._axis.setting(value).put(document)
        if self._axis.key in {ALONE, "disciplines"}:
            document.pop("reference", None)  # of a list that is no more
        return document

    def check(self) -> None:
        """Refuse a key that is none, a value at either end that the scenario does not take, and no needs."""
        if "need" not in self._base:
            raise ConfigError(
                f"nothing is needed under {self.discipline}", f"give it a `{needs_of.OPTION}`", self._name
            )
        for value in (self._axis.values[0], self._axis.values[-1]):
            try:
                Scenario.from_dict(self.document(value), self._name)
            except ScenarioError as error:
                place = f"{OPTION} {self._axis.key}={told(value)}"
                raise ConfigError(
                    f"{place}: {error.message}", error.remedy, self._name, key=error.key
                ) from None

    def way(self, given: str | None) -> str:
        """Return which way the needs get easier as the value grows."""
        if given is not None:
            return given if numbers(self._axis.values) else NEITHER
        scenario = Scenario.from_dict(self.document(self._axis.values[0]), self._name)
        recorded = "trace" in scenario.normalised.get("workload", {})
        heads = [each.partition(":")[0] for each in scenario.disciplines]
        return direction(
            scenario.model, self._axis.key, heads, scenario.normalised["need"], recorded=recorded
        )

    def search(
        self,
        values: Sequence[Any],
        way: str,
        error: float,
        limit: int,
        threads: int | None,
        progress: Callable[[dict[str, Any]], None] | None,
        *,
        begun: bool,
    ) -> Search:
        """Search among the values; say what is known where it is broken off."""
        is_monotonic = way != NEITHER
        most = searching.most_tried(len(values), is_monotonic=is_monotonic)
        terms = Terms(error, most, len(self._base["need"]), limit)
        prober = Prober(self.document, self._name, terms, threads, self._telling(progress))
        tried: dict[int, Tried] = {}
        interrupted = not begun
        try:
            if begun and is_monotonic:
                searching.bisect(values, prober.decide, tried)
            elif begun:
                searching.race(values, prober.look, tried)
        except (Interrupted, KeyboardInterrupt):
            interrupted = True
        return self._found(values, tried, prober, way, interrupted=interrupted)

    def _telling(
        self, progress: Callable[[dict[str, Any]], None] | None
    ) -> Callable[[dict[str, Any], Any], None] | None:
        if progress is None:
            return None
        under = f" under {self.discipline}" if self.discipline else ""

        def tell(state: dict[str, Any], value: object) -> None:
            progress({**state, "note": f"run {state['run']}: {self._axis.key}={told(value)}{under}"})

        return tell

    def _found(
        self,
        values: Sequence[Any],
        tried: dict[int, Tried],
        prober: Prober,
        way: str,
        *,
        interrupted: bool,
    ) -> Search:
        tried = {place: each for place, each in sorted(tried.items()) if each.looks}
        left, may_be_none = searching.possible(len(values), tried, is_monotonic=way != NEITHER)
        decided = len(left) == 1 and not may_be_none
        state = "found" if decided else "none" if not left else "interrupted" if interrupted else "open"
        safe = next((each.value for each in tried.values() if each.state == MET), None)
        return Search(
            discipline=self.discipline,
            monotonic=way,
            state=state,
            answer=values[left[0]] if decided else None,
            safe=safe,
            possible=tuple(values[place] for place in left),
            may_be_none=may_be_none,
            needs=prober.needs,
            level=prober.terms.level,
            is_random=prober.is_random,
            runs=prober.runs,
            probes=tuple(map(_probe, tried.values())),
        )


def _probe(tried: Tried) -> Probe:
    return Probe(
        value=tried.value,
        state=tried.state,
        judgements=tried.judgements,
        looks=tried.looks,
        times=tried.last[0],
        replications=tried.last[1],
        reason=tried.reason if tried.state != MET else None,
    )
