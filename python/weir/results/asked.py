"""What every result may be asked; each model has these with types and parameters of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weir.results.rows import Measured

if TYPE_CHECKING:
    from weir.results.rows import Rows, Value

__all__ = ["Asked"]


class Asked:
    """A result that has estimates."""

    if TYPE_CHECKING:

        @property
        def estimates(self) -> Rows[Value]:
            """All estimates, one row each."""

    @property
    def load(self) -> float | None:
        """The offered load, of a model that has one and where it is known."""
        return None

    def estimate(self, discipline: str, *args: Any, **about: Any) -> Measured | None:  # noqa: ANN401, ARG002
        """Return one estimate, or None if there is none; each model says in its own what ``about`` may be."""
        found = self.estimates.find(discipline=discipline, **about)
        return found if isinstance(found, Measured) else None
