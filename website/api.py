"""The reference of the package, which Sphinx takes from its docstrings."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stage import Stage

GROUPS = (
    ("Run and compare", "run compare confirm theory size sweep Scenario"),
    (
        "Results",
        "Result Estimate Difference Distribution Check TheoryValue LengthClass SizeResult SweepResult",
    ),
    ("Results of the models", "PortResult NetworkResult FabricResult NodeResult ServerResult"),
    ("Queues and dispatchers", "Queue Grant Backlog Dispatcher Assigned Limiter"),
    ("Disciplines", "disciplines Discipline Item"),
    ("Queues in Kendall's notation", "kendall QueueTheory QueueFigure QueueParameter"),
    ("Overhead of programs", "estimate_overhead Overhead SettingOverhead Duration Counters"),
    (
        "Errors",
        (
            "WeirError ConfigError ScenarioError TraceError CaptureError PlanError ResultError "
            "DisciplineError Dropped GrantError UnsupportedError MissingExtraError Empty Full ShutDown"
        ),
    ),
)
"""The names of the package, by what they are for; a test demands that each has its place."""


def stage(to: Stage) -> None:
    """Write the page."""
    parts = [
        (
            "# Reference of the package\n\n[Python](python.md) shows how these are used. Names are those of "
            "the module `weir`.\n"
        )
    ]
    for title, names in GROUPS:
        parts.append(f"\n## {title}\n\n```{{eval-rst}}\n.. currentmodule:: weir\n")
        for name in names.split():
            kind = (
                "autofunction" if name[0].islower() else "autoexception" if title == "Errors" else "autoclass"
            )
            parts.append(f"\n.. {kind}:: {name}\n")
            parts.append("   :members:\n" if kind == "autoclass" else "")
        parts.append("```\n")
    to.write("reference/api", "".join(parts))
