"""What a model says of its results: the parts of a verdict, of a page and of what the terminal shows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from weir.results.result import Result
    from weir.results.style import Figure

__all__ = ["View"]

AResult = TypeVar("AResult", bound="Result")


class View(ABC, Generic[AResult]):
    """A result as it is shown; what all models share is in `results.verdict`, `page` and `terminal`."""

    capitals = True
    """Whether the statements of the verdict begin with a capital: not where a spec string begins them."""

    def __init__(self, result: AResult) -> None:
        self.result = result

    @abstractmethod
    def statements(self) -> Sequence[str | None]:
        """Return what the verdict says between the state of the run and the checks."""

    def warnings(self) -> Sequence[str]:
        """Return what was warned of."""
        return ()

    @abstractmethod
    def show_run(self, out: Console) -> None:
        """Show each discipline by itself."""

    @abstractmethod
    def show_comparison(self, out: Console) -> None:
        """Show the disciplines beside each other."""

    @abstractmethod
    def facts(self) -> Sequence[str]:
        """Return what stands below the verdict of a page."""

    @abstractmethod
    def figures(self) -> Sequence[Figure]:
        """Return the charts that the result has the rows for."""

    @abstractmethod
    def sections(self, charts: Sequence[str]) -> Sequence[str]:
        """Return the sections of a page between its head and the checks, the ``charts`` among them."""

    @abstractmethod
    def origin(self) -> dict[str, object]:
        """Return where the numbers come from, beside what all models tell."""
