"""Names of processes that a scenario has a meaning of its own for, and what imports call them instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["notes", "renamed"]

_TAKEN = ("all", "idle")
"""What results call all processes together, and a processor that runs nothing."""


def renamed(names: Iterable[str]) -> dict[str, str]:
    """Return what each name that is taken becomes: with an underscore behind it, and no other's name."""
    known = set(names)
    made = {}
    for name in _TAKEN:
        if name in known:
            other = f"{name}_"
            while other in known:
                other += "_"
            made[name] = other
    return made


def notes(changed: dict[str, str]) -> Iterator[str]:
    """Yield a sentence for each name that was changed."""
    for name, other in changed.items():
        yield f"Task {name!r} is called {other!r} here: results have {name!r} for something else."
