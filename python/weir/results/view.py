"""What a model says of its results: the parts of a verdict, of a page and of what the terminal shows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pkgutil import resolve_name
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from weir.results.terminal import begin
from weir.text import plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from weir.results.result import Result
    from weir.results.style import Figure

_NEEDS = "weir.results.need_figures:figures"  # loaded with the library of charts, when a page is made

AResult = TypeVar("AResult", bound="Result")


class View(ABC, Generic[AResult]):
    """A result as it is shown; what all models share is in `results.verdict`, `page` and `terminal`."""

    charts: ClassVar[str]
    """Where the function is that returns the charts, None for those that there are no rows for.

    It is loaded, and the library of charts with it, when a page is made."""
    lists_specs: ClassVar[bool] = True
    """Whether the terminal begins with the whole spec strings, where labels are shorter."""

    def __init__(self, result: AResult) -> None:
        self.result = result

    def declared(self) -> Sequence[str | None]:
        """Return what the verdict says of what the scenario asks for besides its needs."""
        return ()

    @abstractmethod
    def statements(self) -> Sequence[str | None]:
        """Return what the verdict says where no needs are declared: who is best, and its price."""

    def warnings(self) -> Sequence[str]:
        """Return what was warned of."""
        return ()

    def show_run(self, out: Console) -> None:
        """Show verdict, warnings and specs, then each discipline by itself."""
        begin(out, self.result, self)
        self.show(out, compared=False)

    def show_comparison(self, out: Console) -> None:
        """Show verdict, warnings and specs, then the disciplines side by side."""
        begin(out, self.result, self)
        self.show(out, compared=True)

    @abstractmethod
    def show(self, out: Console, *, compared: bool) -> None:
        """Show each discipline by itself, or all side by side, below what every result begins with."""

    def spec_lines(self, spec: str, width: int) -> Sequence[str]:  # noqa: ARG002 - a model may need it
        """Return a spec string with its label as lines for a terminal of a width."""
        return [spec]

    def facts(self) -> Sequence[str]:
        """Return what stands below the verdict of a page: how much was simulated."""
        disciplines = plural(len(self.result.disciplines), "discipline")
        return [disciplines, *self.size(), plural(self.result.replications, "replication")]

    def size(self) -> Sequence[str]:
        """Return how much of what a model has was simulated."""
        return ()

    def figures(self) -> Sequence[Figure]:
        """Return the charts that the result has the rows for, what is declared first."""
        asked = resolve_name(_NEEDS)(self.result) if self.result.needs else []
        return [each for each in (*asked, *resolve_name(self.charts)(self.result)) if each is not None]

    @abstractmethod
    def sections(self, charts: Sequence[str]) -> Sequence[str]:
        """Return the sections of a page between its head and the checks, the ``charts`` among them."""

    def origin(self) -> dict[str, object]:
        """Return where the numbers come from, besides what all models say."""
        return {}
