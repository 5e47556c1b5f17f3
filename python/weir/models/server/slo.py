"""The highest load of a server at which a quantile of the slowdown stays within a bound."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weir import _weir
from weir.errors import ConfigError
from weir.results.rows import rows
from weir.simulation import as_scenario, check_threads

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from weir.scenario import Scenario


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """What a run at one load has shown, of the class that is worst off.

    ``value`` is the quantile of the slowdown of all requests, those that were dropped being slower than
    any; None where it is one of these. ``beyond`` is the share of requests that were slower than the bound,
    or dropped, and ``low`` to ``high`` its 95 % interval, which decides; ``dropped`` is the share that were
    dropped. ``verdict`` is ``met``, ``not_met`` or ``undecided``.
    """

    load: float
    class_: str
    value: float | None
    beyond: float | None
    low: float | None
    high: float | None
    dropped: float
    verdict: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadSearch:
    """What the search of one discipline has found.

    Loads are searched from ``from_`` to ``to``. ``met`` is the highest that was tried and meets the bound,
    None where none does; ``not_met`` the lowest tried that does not, None where all do. ``reached``: the
    two, or the one and the end of the loads that are searched, are as close as `precision` asks for.
    ``interrupted``: the search was broken off, or, where ``probes`` is 0, did not begin.
    """

    discipline: str
    class_: str | None
    quantile: str
    bound: float
    precision: float
    from_: float
    to: float
    met: Probe | None
    not_met: Probe | None
    reached: bool
    probes: int
    tried: tuple[Probe, ...]
    interrupted: bool


def highest_loads(
    scenario: Scenario | str | Path | Mapping[str, object],
    *,
    bound: float = 10.0,
    quantile: str = "p99.9",
    class_: str | None = None,
    precision: float = 0.01,
    seed: int | None = None,
    threads: int | None = None,
    progress: Callable[[dict[str, float]], None] | None = None,
) -> tuple[LoadSearch, ...]:
    """Search the highest load of each discipline at which a quantile of the slowdown stays within a bound.

    Every load that is tried is run with as many requests as the scenario has, on the same random numbers.
    Of all requests that are offered, no more than the quantile leaves out may be beyond the bound: slower,
    or dropped. It is met if the whole 95 % interval of their share is within that. Where the run cannot
    decide, the two loads that are found are farther apart than asked for: longer runs bring them together.

    Parameters
    ----------
    scenario : Scenario, path or mapping
        A scenario of the server, of arrivals at one load, in two replications or more.
    bound : float
        The slowdown that is not to be exceeded: 1.001 or more, as slowdowns are told in thousandths.
    quantile : str
        ``p50``, ``p90``, ``p99``, ``p99.9`` or ``p99.99``.
    class_ : str, optional
        A class, or ``all`` requests together; each class by itself if not given.
    precision : float
        How close the two loads are to be, over the higher one.
    seed, threads, progress : optional
        As of `weir.run`.

    Returns
    -------
    tuple of LoadSearch
        One a discipline, in the order of the scenario; Ctrl-C ends the search, and those that did not begin
        have no probes.

    Raises
    ------
    ScenarioError, TraceError
        If the scenario, or a file it names, is refused, or it has no one load that could be changed: a trace,
        clients, levels, or a single replication.
    ConfigError
        If an argument is refused.
    """
    checked = as_scenario(scenario)
    if seed is not None:
        checked = checked.with_seed(seed)
    check_threads(threads)
    if checked.normalised.get("stop", {}).get("settle"):
        raise ConfigError(
            "stop.settle is true, must be false: a search runs each load for as long as the scenario says",
            "remove it, and raise stop.requests where loads stay undecided",
            checked.name,
        )
    for name, value in (("bound", bound), ("precision", precision)):
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ConfigError(f"{name} is {value!r}, must be a number", "write one such as 10.0")
    question = (class_, quantile, float(bound), float(precision))
    text = _weir.highest_loads(checked.read, question, threads, progress)
    return tuple(_search(each) for each in json.loads(text))


def _search(found: dict[str, Any]) -> LoadSearch:
    probes = {key: rows(Probe, [found[key]])[0] if found[key] else None for key in ("met", "not_met")}
    (plain,) = rows(LoadSearch, [{**found, "met": None, "not_met": None, "tried": []}])
    values = {name: getattr(plain, name) for name in LoadSearch.__slots__}
    return LoadSearch(**{**values, **probes, "tried": rows(Probe, found["tried"])})
