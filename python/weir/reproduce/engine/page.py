"""A reproduction as one HTML file: its verdict, then the sections of the document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weir.reproduce.engine.markup import STYLE, headline
from weir.results.page import charts_of, drawn, page, section

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from weir.reproduce.engine.document import Reproduction
    from weir.results.style import Figure

__all__ = ["figure_sections", "shown"]

Section = tuple[str, str]
"""A title, and what stands below it; without content it is left out."""


def shown(
    reproduction: Reproduction[Any, Any],
    sections: Iterable[Section],
    figures: Sequence[Figure] = (),
    charts: dict[str, dict[str, Any]] | None = None,
) -> str:
    """Return the document, with the charts of figures or those given."""
    title = f"{reproduction.title}, reproduced ({reproduction.checks.fidelity})"
    head = headline("weir reproduction", title, reproduction.verdict(), reproduction.facts())
    body = "".join([STYLE, head, *(section(*each) for each in sections)])
    return page(title, body, charts_of(figures) if charts is None else charts)


def figure_sections(figures: Sequence[Figure]) -> list[Section]:
    """Return a section for each figure."""
    return [(figure.title, drawn(figure, index)) for index, figure in enumerate(figures)]
