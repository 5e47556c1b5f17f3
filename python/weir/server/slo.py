"""The highest load of a server at which a quantile of the slowdown stays within a bound."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weir import _weir
from weir.errors import ConfigError
from weir.rows import rows
from weir.simulation import as_scenario, check_threads

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from weir.scenario import Scenario

__all__ = ["LoadSearch", "Probe", "highest_loads"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """What a run at one load has shown, of the class that is worst off.

    ``low`` to ``high`` is the 95 % interval of the quantile, ``dropped`` the share of requests that were
    dropped; ``verdict`` is ``met``, ``not_met`` or ``undecided``.
    """

    load: float
    class_: str
    value: float | None
    low: float | None
    high: float | None
    dropped: float
    verdict: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadSearch:
    """What the search of one discipline has found.

    ``met`` is the highest load tried that meets the bound, None where none does; ``not_met`` the lowest tried
    that does not, None where all do. ``reached``: the two are as close as `precision` asks for.
    """

    discipline: str
    class_: str | None
    quantile: str
    bound: float
    precision: float
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

    Every load that is tried is run with as many requests as the scenario has, on the same random numbers. A
    bound is met if the whole 95 % interval of the quantile is within it. Where the run cannot decide, the two
    loads that are found are farther apart than asked for: longer runs bring them together.

    Parameters
    ----------
    scenario : Scenario, path or mapping
        A scenario of the server, of arrivals at one load, in two replications or more.
    bound : float
        The slowdown that is not to be exceeded, above 1.
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
        One a discipline, in the order of the scenario; fewer where Ctrl-C ended the search.

    Raises
    ------
    ScenarioError, TraceError
        If the scenario, or a file it names, is refused.
    ConfigError
        If an argument is, or the scenario has no one load.
    """
    checked = as_scenario(scenario)
    if seed is not None:
        checked = checked.with_seed(seed)
    check_threads(threads)
    for name, value in (("bound", bound), ("precision", precision)):
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ConfigError(f"{name} is {value!r}, must be a number", "write one such as 10.0")
    if not (math.isfinite(bound) and bound > 1.0):
        raise ConfigError(f"bound is {bound:g}, must be above 1, a slowdown", "write one such as 10.0")
    question = (class_, quantile, float(bound), float(precision))
    text = _weir.highest_loads(checked.text, checked.name, question, threads, progress)
    return tuple(_search(each) for each in json.loads(text))


def _search(found: dict[str, Any]) -> LoadSearch:
    probes = {key: rows(Probe, [found[key]])[0] if found[key] else None for key in ("met", "not_met")}
    (plain,) = rows(LoadSearch, [{**found, "met": None, "not_met": None, "tried": []}])
    values = {name: getattr(plain, name) for name in LoadSearch.__slots__}
    return LoadSearch(**{**values, **probes, "tried": rows(Probe, found["tried"])})
