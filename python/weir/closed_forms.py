"""Closed forms: exact means of a scenario's disciplines, without simulation."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from weir import _weir
from weir.errors import ConfigError
from weir.results.engine import of_engine
from weir.simulation import as_scenario

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from weir.results.result import Result
    from weir.scenario import Scenario

__all__ = ["exact_for", "theory"]

_MOST_CORES = 1024
"""The most cores of a server."""


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


def exact_for(queue: str) -> list[dict[str, Any]]:
    """Return the disciplines of whose mean delay a closed form is known in a queue.

    Parameters
    ----------
    queue : str
        Poisson arrivals, exponential, constant or general service, and a number of servers: ``M/M/c``,
        ``M/D/c`` or ``M/G/c``.

    Returns
    -------
    list of dict
        Rows as of `weir.registry.disciplines`, in their order, each with the ``formula`` that applies. A
        single server is looked at as a port whose messages are served whole, too.

    Raises
    ------
    ConfigError
        If it is no such queue.
    """
    from weir.registry import disciplines

    rows = disciplines()
    service, cores = _queue(queue)
    found = {
        ("a pool of cores", name): formula for name, formula in _over_cores(rows, service, cores).items()
    }
    if cores == 1:
        found |= {("whole messages", name): formula for name, formula in _in_port(rows, service).items()}
    told: list[dict[str, Any]] = []
    for row in rows:
        formulas = [found[way, row["name"]] for way in row["closed_forms"] if (way, row["name"]) in found]
        told += [row | {"formula": formula} for formula in formulas]
    return told


def _queue(written: str) -> tuple[str, int]:
    """Return the letter of the service and the number of servers."""
    parts = re.fullmatch(r"M/([MDG])/([1-9][0-9]*)", written.strip().upper())
    if parts is None or int(parts[2]) > _MOST_CORES:
        raise ConfigError(
            f"`{written}` is not a queue of Poisson arrivals and from 1 to {_MOST_CORES} servers",
            "write M/M/c, M/D/c or M/G/c with a number for c, such as M/M/1; "
            "`weir theory QUEUE` reads all others",
        )
    return parts[1], int(parts[2])


def _known(rows: list[dict[str, Any]], way: str) -> list[str]:
    return [row["name"] for row in rows if row["closed_forms"].get(way, {}).get("formula")]


def _formulas(result: Result) -> dict[str, str]:
    """Return the formula of each discipline that has a number."""
    return {str(row.discipline): row.formula.split(":")[0] for row in result.theory if row.value is not None}


def _over_cores(rows: list[dict[str, Any]], service: str, cores: int) -> dict[str, str]:
    of_law = {"M": {"exponential": "1ms"}, "D": "1ms", "G": {"uniform": ["1ms", "3ms"]}}
    scenario = {
        "weir": 1,
        "model": "server",
        "disciplines": _known(rows, "a pool of cores"),
        "server": {"cores": cores, "queue": "unbounded"},
        "class": [{"name": "request", "service": of_law[service]}],
        "workload": {"load": 0.5},
    }
    return _formulas(theory(scenario))


def _in_port(rows: list[dict[str, Any]], service: str) -> dict[str, str]:
    of_law = {
        "M": {"exponential": "1000tok"},
        "D": {"constant": "10tok"},
        "G": {"uniform": ["1tok", "99tok"]},
    }
    scenario = {
        "weir": 1,
        "model": "port",
        "disciplines": _known(rows, "whole messages"),
        "workload": {"load": 0.5, "lengths": of_law[service]},
        "service": {"per_token": "1us"},
    }
    return _formulas(theory(scenario))
