"""From a request, one TOML file, to a plan, and from a plan to what a target takes.

The engine plans; a plan is the JSON object that it returns: ``table``, ``link``, ``classes``, ``slots``,
``refused`` and ``notes``. Weights are in credits, sizes in bytes, times in nanoseconds, as the keys say;
shares are parts of 1.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weir.planning.read import text_of

if TYPE_CHECKING:
    import os

__all__ = ["TARGETS", "Emission", "emit", "plan"]

TARGETS = ("opensm", "pcie", "tc-ets", "tc-drr", "dcb", "scenario")
"""The forms in which a plan is written."""
_KIND = "a request, a TOML file,"


@dataclass(frozen=True, slots=True)
class Emission:
    """A plan as a target takes it.

    Attributes
    ----------
    text : str
        The file, or the commands.
    lost : tuple of str
        What the target cannot keep of the plan, and what is to be checked there.
    """

    text: str
    lost: tuple[str, ...]


def plan(request: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the plan of a request.

    Classes that do not fit are in ``refused``, each with a reason, a remedy and the nearest requests that do.

    Raises
    ------
    ConfigError
        If the file cannot be read.
    PlanError
        If the request is refused as a whole.
    """
    from weir import _weir

    planned: dict[str, Any] = json.loads(_weir.plan(text_of(request, _KIND), str(request)))
    return planned


def emit(request: str | os.PathLike[str], target: str) -> Emission:
    """Return the plan of a request in the form of one of `TARGETS`.

    Raises
    ------
    ConfigError
        If the file cannot be read, a class does not fit, or the target cannot carry the plan.
    PlanError
        If the request is refused as a whole.
    """
    from weir import _weir

    told = json.loads(_weir.plan_emit(text_of(request, _KIND), str(request), target))
    return Emission(text=told["text"], lost=tuple(told["lost"]))
