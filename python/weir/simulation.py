"""Runs: from a scenario to a result."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from weir import _weir
from weir.errors import ConfigError
from weir.models import MODELS
from weir.own import among, with_disciplines
from weir.results.engine import of_engine
from weir.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from weir.records import RecordFile
    from weir.results.result import Result

__all__ = ["as_scenario", "check_threads", "compare", "confirm", "run"]


def as_scenario(scenario: Scenario | str | Path | Mapping[str, object]) -> Scenario:
    """Return a scenario, read from a file or built from a mapping where it is not one yet."""
    match scenario:
        case Scenario():
            return scenario
        case str() | Path():
            return Scenario.from_file(scenario)
    return Scenario.from_dict(scenario)


def run(
    scenario: Scenario | str | Path | Mapping[str, object],
    *,
    disciplines: Sequence[str | type] = (),
    seed: int | None = None,
    threads: int | None = None,
    records: str | Path | None = None,
    progress: Callable[[dict[str, float]], None] | None = None,
) -> Result:
    """Simulate all disciplines of a scenario on the same arrivals and services.

    The interpreter lock is released while the engine runs. The number of threads never changes a result.
    Ctrl-C ends the run and returns what is finished, with ``interrupted`` set; a second one raises
    `KeyboardInterrupt` at once.

    Parameters
    ----------
    scenario : Scenario, path or mapping
        What to simulate.
    disciplines : sequence of str or class, optional
        Run after those of the scenario: spec strings, or classes of your own (`weir.Discipline`), which take
        one thread and many times as long.
    seed : int, optional
        In place of the scenario's.
    threads : int, optional
        How many to use, at least 1; as many as the machine offers if not given.
    records : path, optional
        A ``.csv`` or ``.parquet`` file that gets one row an item (`weir.records`).
    progress : callable, optional
        Called some times a second with ``done`` and ``total``: packets (or messages served whole) over all
        disciplines and replications.

    Returns
    -------
    Result
        Estimates with 95 % confidence intervals, differences, closed forms, checks and histograms.

    Raises
    ------
    ScenarioError, TraceError
        If the scenario, or a file it names, is refused.
    ConfigError
        If an argument is.
    DisciplineError
        If a class of your own raises something, or breaks the contract.
    """
    checked = with_disciplines(as_scenario(scenario), disciplines)
    if seed is not None:
        checked = checked.with_seed(seed)
    check_threads(threads)
    if records is None:
        return _labelled(of_engine(_weir.run(checked.read, threads, progress, None)))
    from weir.records import RecordFile

    with RecordFile(Path(records), is_of_messages=checked.model == "port") as file:
        return _recorded(checked, threads, progress, file)


def _recorded(
    scenario: Scenario,
    threads: int | None,
    progress: Callable[[dict[str, float]], None] | None,
    file: RecordFile,
) -> Result:
    result = _labelled(of_engine(_weir.run(scenario.read, threads, progress, file.write)))
    if result.empty or result.unstable:
        file.discard()
    else:
        file.label(result)
    return result


def _labelled(result: Result) -> Result:
    """Return a result that says which of its disciplines are classes of Python."""
    own = among(result.disciplines)
    return _with(result, {"own": own}) if own else result


def _with(result: Result, words: dict[str, object]) -> Result:
    """Return a result with more in its document."""
    more = json.dumps(words, ensure_ascii=False)
    return of_engine(f"{result.text.rstrip().removesuffix('}')},{more[1:]}")


def compare(
    scenario: Scenario | str | Path | Mapping[str, object],
    *,
    disciplines: Sequence[str | type] = (),
    seed: int | None = None,
    threads: int | None = None,
    records: str | Path | None = None,
    progress: Callable[[dict[str, float]], None] | None = None,
) -> Result:
    """Run a scenario of two or more disciplines; parameters and result are those of `run`.

    Raises
    ------
    ConfigError
        If the scenario has one discipline only.
    """
    checked = with_disciplines(as_scenario(scenario), disciplines)
    if len(checked.disciplines) < 2:
        raise ConfigError(
            f"there is one discipline, `{checked.disciplines[0]}`, and nothing to compare it with",
            f'add another to `disciplines`, as in ["{checked.disciplines[0]}", "{_other(checked)}"]',
            checked.name,
        )
    return run(checked, seed=seed, threads=threads, records=records, progress=progress)


def confirm(
    result: Result,
    scenario: Scenario | str | Path | Mapping[str, object],
    *,
    threads: int | None = None,
    progress: Callable[[dict[str, float]], None] | None = None,
) -> Result:
    """Run a second seed where self-checks failed that fail one right figure in a thousand by chance.

    The second seed is that of the result plus one. Returns the result with ``confirmation``, which says of
    each such check whether it failed again; `Result.ok` is true if none did. Where no check failed, or one
    that chance cannot fail, the result is returned as it is.

    Parameters
    ----------
    result : Result
        Of a run of ``scenario``.
    scenario : Scenario, path or mapping
        What was simulated.
    threads, progress
        As of `run`.
    """
    places = [place for place, check in enumerate(result.checks) if check.ok is False]
    if not places or any(result.checks[place].level is None for place in places):
        return result
    seed = (int(result.document["seed"]) + 1) % 2**63
    second = run(as_scenario(scenario).with_seed(seed), threads=threads, progress=progress)
    held = {_named(second, place): check.ok for place, check in enumerate(second.checks)}
    rows = [
        {
            "place": place,
            "check": result.checks[place].check,
            "discipline": result.checks[place].discipline,
            "again": not held.get(_named(result, place)),
        }
        for place in places
    ]
    return _with(result, {"confirmation": {"seed": seed, "checks": rows}})


def _named(result: Result, place: int) -> tuple[str | None, str, int]:
    """Return what tells a self-check from all others: whose it is, which, and how many such came before."""
    own = result.checks[place]
    before = sum(
        1 for other in result.checks[:place] if (other.discipline, other.check) == (own.discipline, own.check)
    )
    return own.discipline, own.check, before


def _other(scenario: Scenario) -> str:
    """Return a discipline to compare the only one of a scenario with."""
    own = scenario.disciplines[0].partition(":")[0].partition("(")[0]
    return next(each for each in MODELS[scenario.model].usual if each.partition(":")[0] != own)


def check_threads(threads: int | None) -> None:
    """Refuse a number of threads out of its bounds."""
    if threads is not None and not 1 <= threads <= 1024:
        raise ConfigError(f"threads is {threads}, must be from 1 to 1024", "leave it out to use all cores")
