"""Results in notebooks: a summary as HTML, and charts as objects of Altair.

Both are those of the HTML report: the summary is its head and its tables, without scripts and charts, so
that it needs no package; a chart is one of its figures, of a fixed width where the page's follows the screen,
with its key.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from weir.errors import ConfigError
from weir.results import page
from weir.results.verdict import state, verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    import altair as alt

    from weir.results.result import Result
    from weir.results.style import Figure
    from weir.results.tables import Column

__all__ = ["chart", "of_tables", "shown", "summary"]

_STYLE = (
    ".weir-result h1, .weir-result h2, .weir-result h3 {font-size: 1.1em; margin: .8em 0 .4em}"
    " .weir-result summary > * {display: inline}"
)
"""A notebook has headings of its own; one that is folded stands next to its mark."""
_WIDTH, _SEVERAL = 480, 300
"""The width of a chart, and of each of several panels, in pixels."""
_BESIDE = 2
_LINE, _LETTER, _SPACE, _ROW = 26, 7, 20, 18
"""Of the key: a line, a letter of a name, the space behind it, and the height of a row."""


def summary(result: Result) -> str | None:
    """Return the head and the tables of a result; nothing of one without estimates."""
    if result.empty or not result.estimates:
        return None
    view = result.view()
    warnings = [warning for warning in (state(result), *view.warnings()) if warning]
    sentences = [verdict(result), " · ".join(view.facts())]
    return shown(_head(result.title, sentences, warnings) + "".join(view.sections([])))


def shown(html: str) -> str:
    """Return parts of a report as a notebook shows them."""
    return f'<div class="weir-result"><style>{_STYLE}</style>\n{html}</div>'


def of_tables(title: str, sentences: Sequence[str], tables: Sequence[Sequence[Column]]) -> str:
    """Return sentences below a title, and tables below them."""
    return shown(_head(title, sentences, ()) + "".join(map(page.table, tables)))


def _head(title: str, sentences: Sequence[str], warnings: Sequence[str]) -> str:
    marked = "".join(f"<p><strong>{escape(each)}</strong></p>\n" for each in warnings)
    told = "".join(f"<p>{escape(each)}</p>\n" for each in sentences)
    return f"<h2>{escape(title)}</h2>\n{marked}{told}"


def chart(figures: Sequence[Figure], title: str | None) -> alt.TopLevelMixin:
    """Return the figure of a title, or of words that its title begins with; the first if none is named.

    Raises
    ------
    ConfigError
        If there is none; the error has the titles that there are.
    """
    import altair as alt

    figure = _named(figures, title)
    panels = [{**spec, "title": name} if name else spec for name, spec in figure.panels]
    width = _WIDTH if len(panels) == 1 or figure.stacked else _SEVERAL
    each = [_alone(panel, width) for panel in panels]
    columns = 1 if figure.stacked else _BESIDE
    drawn = each[0] if len(each) == 1 else {"columns": columns, "concat": each}
    parts = [*_key(figure, _WIDTH if columns == 1 or len(each) == 1 else _BESIDE * _SEVERAL), drawn]
    return alt.Chart.from_dict({"title": figure.title, "vconcat": parts})


def _key(figure: Figure, width: int) -> list[dict[str, Any]]:
    """Return what says which line is whose, in rows of a width; nothing of a figure without a key."""
    layers: list[dict[str, Any]] = []
    left, top = 0, _ROW // 2
    for name, colour, dash in figure.key:
        long = _LINE + _LETTER * (len(name) + 1) + _SPACE
        if left and left + long > width:
            left, top = 0, top + _ROW
        ends = {"x": {"value": left}, "x2": {"value": left + _LINE}, "y": {"value": top}}
        stroke = {"type": "rule", "color": colour, "strokeWidth": 2.5}
        stroke |= {"strokeDash": [float(part) for part in dash.replace(",", " ").split()]} if dash else {}
        layers.append({"mark": stroke, "encoding": ends})
        beside = {"x": {"value": left + _LINE + _LETTER}, "y": {"value": top}, "text": {"value": name}}
        layers.append({"mark": {"type": "text", "align": "left", "baseline": "middle"}, "encoding": beside})
        left += long
    size = {"width": width, "height": top + _ROW // 2, "view": {"stroke": None}}
    return [{"data": {"values": [{}]}, "layer": layers, **size}] if layers else []


def _named(figures: Sequence[Figure], title: str | None) -> Figure:
    begins = (title or "").casefold()
    found = [figure for figure in figures if figure.title.casefold() == begins] or [
        figure for figure in figures if figure.title.casefold().startswith(begins)
    ]
    if not found:
        titles = ", ".join(f'"{figure.title}"' for figure in figures) or "none"
        raise ConfigError(f'there is no chart "{title or ""}"', f"there are: {titles}", "plot")
    return found[0]


def _alone(spec: dict[str, Any], width: int) -> dict[str, Any]:
    """Return a specification whose width does not follow the page's."""
    return {**spec, "width": width} if spec.get("width") == "container" else spec
