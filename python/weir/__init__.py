"""weir: who is served next at a point of contention, and what that does to everybody's waiting time.

A discipline decides who is served next. `run` simulates the disciplines of a `Scenario` on the same arrivals
and services and returns a `Result` with confidence intervals; `theory` gives the closed forms there are; and
`Queue` is the discipline itself, as a queue for a server::

    result = weir.run("scenario.toml")
    result.estimate("alpha:10", statistic="p99")
    result.to_pandas()

    queue: weir.Queue[object] = weir.Queue("alpha:10")
    queue.put(request, size=3)
    request = queue.get()

`Dispatcher` says which of several servers a request joins, and `Limiter` how much may begin in a time.

Errors are drawn in `weir.errors`. Modules are loaded on first use, so that importing weir is cheap.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in typing, which takes a while to load
if TYPE_CHECKING:
    from weir._weir import __version__
    from weir.closed_forms import theory
    from weir.dispatcher import Assigned, Dispatcher
    from weir.errors import (
        CaptureError,
        ConfigError,
        DisciplineError,
        Dropped,
        GrantError,
        MissingExtraError,
        ResultError,
        ScenarioError,
        TraceError,
        UnsupportedError,
        WeirError,
    )
    from weir.limiter import Limiter
    from weir.models.fabric.result import FabricResult
    from weir.models.network.result import NetworkResult
    from weir.models.node.result import NodeResult
    from weir.models.port.result import Difference, Distribution, Estimate, LengthClass, PortResult
    from weir.models.server.result import ServerResult
    from weir.notation import QueueFigure, QueueParameter, QueueTheory, kendall
    from weir.overhead import Counters, Duration, Overhead, SettingOverhead, estimate_overhead
    from weir.own import Discipline, Item
    from weir.queue import Backlog, Grant, Queue
    from weir.queue_errors import Empty, Full, ShutDown
    from weir.registry import disciplines
    from weir.results.result import Result
    from weir.results.rows import Check, TheoryValue
    from weir.scenario import Scenario
    from weir.simulation import compare, confirm, run
    from weir.sizing.result import SizeResult
    from weir.sizing.run import size
    from weir.sweeping.run import sweep
    from weir.sweeping.table import SweepResult

__all__ = [
    "Assigned",
    "Backlog",
    "CaptureError",
    "Check",
    "ConfigError",
    "Counters",
    "Difference",
    "Discipline",
    "DisciplineError",
    "Dispatcher",
    "Distribution",
    "Dropped",
    "Duration",
    "Empty",
    "Estimate",
    "FabricResult",
    "Full",
    "Grant",
    "GrantError",
    "Item",
    "LengthClass",
    "Limiter",
    "MissingExtraError",
    "NetworkResult",
    "NodeResult",
    "Overhead",
    "PlanError",
    "PortResult",
    "Queue",
    "QueueFigure",
    "QueueParameter",
    "QueueTheory",
    "Result",
    "ResultError",
    "Scenario",
    "ScenarioError",
    "ServerResult",
    "SettingOverhead",
    "ShutDown",
    "SizeResult",
    "SweepResult",
    "TheoryValue",
    "TraceError",
    "UnsupportedError",
    "WeirError",
    "__version__",
    "compare",
    "confirm",
    "disciplines",
    "estimate_overhead",
    "kendall",
    "run",
    "size",
    "sweep",
    "theory",
]

_HOME = {
    "_weir": {"__version__"},
    "dispatcher": {"Assigned", "Dispatcher"},
    "errors": {name for name in __all__ if name.endswith("Error") or name == "Dropped"},
    "limiter": {"Limiter"},
    "models.fabric.result": {"FabricResult"},
    "models.network.result": {"NetworkResult"},
    "models.node.result": {"NodeResult"},
    "models.port.result": {"Difference", "Distribution", "Estimate", "LengthClass", "PortResult"},
    "models.server.result": {"ServerResult"},
    "notation": {"QueueFigure", "QueueParameter", "QueueTheory", "kendall"},
    "overhead": {"Counters", "Duration", "Overhead", "SettingOverhead", "estimate_overhead"},
    "own": {"Discipline", "Item"},
    "queue": {"Backlog", "Grant", "Queue"},
    "queue_errors": {"Empty", "Full", "ShutDown"},
    "registry": {"disciplines"},
    "results.result": {"Result"},
    "results.rows": {"Check", "TheoryValue"},
    "simulation": {"compare", "confirm", "run"},
    "scenario": {"Scenario"},
    "sizing.result": {"SizeResult"},
    "sizing.run": {"size"},
    "sweeping.run": {"sweep"},
    "sweeping.table": {"SweepResult"},
    "closed_forms": {"theory"},
}


def __getattr__(name: str) -> object:
    """Load the module that defines ``name``, on first use."""
    from importlib import import_module

    home = next((module for module, names in _HOME.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module 'weir' has no attribute {name!r}")
    value: object = getattr(import_module(f"weir.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
