"""From a request, one TOML file, to a plan, and from a plan to what a target takes.

The engine plans; a plan is the JSON object that it returns. Its ``kind`` is ``table`` or ``nodes``. Of an
arbitration table it has ``table``, ``link``, ``classes``, ``slots``, ``refused``, ``notes``, and
``scheduler``, that of the target, under which latencies are kept; of processes on nodes ``nodes``,
``processes``, ``fewest``, ``balance``, ``refused``, ``notes``. Weights are in credits, sizes in bytes, times
in nanoseconds, as the keys say; shares are parts of 1.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weir.planning.read import text_of

if TYPE_CHECKING:
    import os

__all__ = ["NODE_TARGETS", "TARGETS", "Emission", "emit", "plan"]

TARGETS = ("opensm", "pcie", "tc-ets", "tc-drr", "dcb", "scenario")
"""The forms in which a plan for a table is written."""
NODE_TARGETS = ("scenario", "rebalance")
"""The forms in which a placement on nodes is written."""
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


def plan(request: str | os.PathLike[str], target: str | None = None) -> dict[str, Any]:
    """Return the plan of a request for a target; without it, for that of the request.

    Targets are one of `TARGETS` for a table, of `NODE_TARGETS` for nodes.

    Latencies are kept under the scheduler of the target; without any, under the deficit table. Classes that
    do not fit are in ``refused``, each with a reason, a remedy and the nearest requests that do.

    Raises
    ------
    ConfigError
        If the file cannot be read, or there is no such target.
    PlanError
        If the request is refused as a whole.
    """
    from weir import _weir

    planned: dict[str, Any] = json.loads(_weir.plan(text_of(request, _KIND), str(request), target))
    return planned


def emit(request: str | os.PathLike[str], form: str, target: str | None = None) -> Emission:
    """Return the plan of a request for ``target``, without it for the form, in a form; both as for `plan`.

    Raises
    ------
    ConfigError
        If the file cannot be read, a class does not fit, or the target cannot carry the plan.
    PlanError
        If the request is refused as a whole.
    """
    from weir import _weir

    told = json.loads(_weir.plan_emit(text_of(request, _KIND), str(request), form, target))
    return Emission(text=told["text"], lost=tuple(told["lost"]))
