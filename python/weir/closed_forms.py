"""Closed forms: exact means of a scenario's disciplines, without simulation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir import _weir
from weir.errors import ConfigError
from weir.results.engine import of_engine
from weir.simulation import as_scenario

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from weir.results.result import Result
    from weir.scenario import Scenario

__all__ = ["theory"]


def theory(scenario: Scenario | str | Path | Mapping[str, object]) -> Result:
    """Return the closed forms of a scenario.

    Parameters
    ----------
    scenario : Scenario, path or mapping
        Its load, lengths or classes, service and disciplines are read; nothing is simulated.

    Returns
    -------
    Result
        Without estimates; `Result.theory` has one row for each discipline, class and metric. Times are
        means in ``u``, the mean packet service, or in seconds. Where there is no form, ``formula`` says why.

    Raises
    ------
    ScenarioError
        If the scenario is refused.
    ConfigError
        If it is of a network or a node, which have no closed forms, or of a fabric for which none is known.
    """
    checked = as_scenario(scenario)
    result = of_engine(_weir.theory(checked.read))
    if result.model == "fabric" and all(row.value is None for row in result.theory):
        raise ConfigError(
            "no closed form is known of this fabric: what a channel gets depends on the others' traffic",
            "simulate it, `weir compare FILE`",
            checked.name,
        )
    return result
