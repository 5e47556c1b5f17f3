"""Closed forms: exact means of a scenario's disciplines, without simulation."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from weir import _weir
from weir.simulation import as_scenario

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from weir.scenario import Scenario

__all__ = ["theory"]


def theory(scenario: Scenario | str | Path | Mapping[str, object]) -> list[dict[str, Any]]:
    """Return the closed forms of a scenario.

    Parameters
    ----------
    scenario : Scenario, path or mapping
        Its load, lengths, service and disciplines are read; nothing is simulated.

    Returns
    -------
    list of dict
        One row for each discipline, class and metric: ``discipline``, ``class``, ``metric``, ``value``, ``unit`` and
        ``reason``. Where no closed form is known ``value`` is None and ``reason`` says why. Times are means
        in ``u``, the mean packet service, or in seconds.

    Raises
    ------
    ScenarioError
        If the scenario is refused.
    """
    checked = as_scenario(scenario)
    rows: list[dict[str, Any]] = json.loads(_weir.theory(checked.text, checked.name))
    return rows
