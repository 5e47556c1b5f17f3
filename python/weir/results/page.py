"""The HTML report: one file that needs nothing else, neither the network nor this package.

Verdict first, then the picture that answers, the table with the columns that matter, further charts, the
checks and where it all comes from; what is long is folded. The drawing library is inlined; the page follows
the reader's light or dark theme and the width of the screen. A report is made from a result and never
recomputes one.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from html import escape
from importlib import metadata, resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weir.errors import ConfigError
from weir.extras import need
from weir.files import write_text
from weir.results.tables import LEGEND, checks_columns, has_marks, specs, split
from weir.results.verdict import agreement, capital, state, verdict
from weir.text import absent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from weir.results.result import Result
    from weir.results.style import Figure
    from weir.results.tables import Column

_WIDTH, _GAP = 104, 3
"""Characters of a table at the full width of the page, and those that the space next to a column takes."""
_LEAST_RANK = 3
"""Columns of a higher rank are folded."""
_MOST_ROWS = 12
"""Rows of the tables of a section that is not folded."""
_MOST_PANELS = 6
"""Panels of a figure that are shown at once: two rows on a wide screen."""
_MOST_STACKED = 2
"""As many of panels below each other."""


def write(result: Result, path: str | Path) -> None:
    """Write the report of a result; the file is never half-written."""
    write_text(Path(path), html(result))


def html(result: Result) -> str:
    """Return the report of a result as one HTML document.

    Raises
    ------
    MissingExtraError
        Without the extra ``charts``.
    """
    need("charts", "an HTML report")
    view = result.view()
    figured = view.figures()
    charts = [
        section(figure.title, drawn(figure, index), folded=figure.folded)
        for index, figure in enumerate(figured)
    ]
    leading = [chart for chart, figure in zip(charts, figured, strict=True) if figure.leads]
    sections = [
        _headline(result, verdict(result), state(result), view.facts()),
        *(f'<p class="warning">{escape(words)}</p>\n' for words in view.warnings()),
        *leading,
        *view.sections([chart for chart in charts if chart not in leading]),
        section("Self-checks", checks(result)),
        section("Provenance", _provenance(result, view.origin())),
    ]
    return page(result.title, "".join(sections), charts_of(figured))


def charts_of(figures: Sequence[Figure]) -> dict[str, dict[str, Any]]:
    """Return the specifications of figures, each by the ``id`` that `drawn` gives its panel."""
    return {
        f"f{i}p{j}": spec for i, figure in enumerate(figures) for j, (_, spec) in enumerate(figure.panels)
    }


def page(title: str, body: str, charts: dict[str, dict[str, Any]]) -> str:
    """Return a whole HTML document in the style of the reports.

    Parameters
    ----------
    title : str
        The title of the window, as plain text.
    body : str
        The content, as HTML.
    charts : dict
        Vega-Lite specifications, each by the ``id`` of the element of ``body`` that it is drawn in.
    """
    files = resources.files("weir") / "assets"
    style = (files / "report.css").read_text(encoding="utf-8")
    script = (files / "report.js").read_text(encoding="utf-8")
    library = f"<script>{_library()}</script>" if charts else ""
    data = json.dumps(charts, separators=(",", ":")).replace("<", "\\u003c")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)} – weir</title>\n<style>{style}</style>\n</head>\n"
        f"<body>\n<main>\n{body}</main>\n"
        f'{library}\n<script type="application/json" id="charts">{data}</script>\n<script>{script}</script>\n'
        "</body>\n</html>\n"
    )


def _library() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script, bundled once and then kept."""
    import vl_convert

    name = f"vega-{metadata.version('vl-convert-python')}.js"
    with suppress(OSError, RuntimeError, UnicodeError):  # none is kept, none can be read, or there is no home
        return (_cache() / name).read_text(encoding="utf-8")
    bundle: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;").replace(
        "</script", "<\\/script"
    )
    # A home that cannot be written costs a second a report, no more.
    with suppress(OSError, RuntimeError, ConfigError):
        _cache().mkdir(parents=True, exist_ok=True)
        write_text(_cache() / name, bundle)
    return bundle


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "weir"


def section(title: str, content: str, *, folded: bool = False) -> str:
    """Return a section of a page, ``folded`` below its title; nothing where there is no content."""
    if not content:
        return ""
    head = f"<h2>{escape(title)}</h2>"
    if folded:
        return f"<section>\n<details><summary>{head}</summary>\n{content}</details>\n</section>\n"
    return f"<section>\n{head}\n{content}</section>\n"


def long_section(title: str, content: str) -> str:
    """Return a section that is folded where its tables have many rows."""
    return section(title, content, folded=content.count("<tr>") > _MOST_ROWS)


def _headline(result: Result, words: str, warning: str | None, facts: Sequence[str]) -> str:
    """Return the head of a page: title, warning, verdict and facts."""
    label = f'<p class="warning">{escape(warning)}.</p>\n' if warning else ""
    if warning:
        words = words.removeprefix(f"{warning}. ")
    return (
        f'<header>\n<p class="kicker">weir report</p>\n<h1>{escape(result.title)}</h1>\n{label}'
        f'<p class="verdict">{escape(words)}</p>\n'
        f'<p class="facts">{escape(" · ".join(facts))}</p>\n</header>\n'
    )


def note(words: str) -> str:
    """Return a remark below a table."""
    return f'<p class="note">{escape(words)}</p>\n'


def details(summary: str, content: str, *, shown: bool = False) -> str:
    """Return what is shown on a click, or at once; nothing where there is no content."""
    mark = " open" if shown else ""
    return f"<details{mark}><summary>{escape(summary)}</summary>\n{content}</details>\n" if content else ""


def headed(title: str, content: str) -> str:
    """Return a part of a section below its title; nothing where there is no content."""
    return f"<h3>{escape(title)}</h3>\n{content}" if content else ""


def noted(content: str, words: str, more: str = "") -> str:
    """Return content with a remark below it; nothing where there is no content."""
    return content + note(words) + more if content else ""


def by_discipline(result: Result, tell: Callable[[str], str]) -> str:
    """Return what is to be said of each discipline, shown on a click."""
    return "".join(details(label, tell(name)) for name, label in result.labels.items())


def in_full(result: Result, *, shown: bool = True) -> str:
    """Return the whole spec strings, where labels are shorter."""
    rows = "".join(
        f"<div><dt>{escape(label)}</dt><dd><code>{escape(spec)}</code></dd></div>\n"
        for label, spec in specs(result)
    )
    return details("The disciplines in full", f"<dl>{rows}</dl>" if rows else "", shown=shown)


def tables(first: Column, groups: Sequence[Sequence[Column]]) -> str:
    """Return a table for each group of columns, or several where it is wider than the page."""
    room = _WIDTH - first.width - _GAP
    return "".join(
        table([first, *columns]) for group in groups for columns in split([group], room, _GAP) if columns
    )


def table(columns: Sequence[Column]) -> str:
    """Return columns as an HTML table that scrolls sideways where the screen is narrow; nothing of none.

    Below it stands what marks a figure that is not settled, where there is one.
    """
    if not columns:
        return ""
    head = "".join(f'<th scope="col"{_kind(column)}>{_header(column)}</th>' for column in columns)
    rows = zip(*(column.cells for column in columns), strict=True)
    body = "\n".join(f"<tr>{_row(columns, cells)}</tr>" for cells in rows)
    markup = f"<table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table>"
    legend = note(LEGEND) if has_marks(columns) else ""
    return f'<div class="wide"><div class="scroll" tabindex="0">{markup}</div></div>\n{legend}'


def telling(columns: Sequence[Column], first_of_all: Sequence[str] = ()) -> str:
    """Return a table of the columns that matter, and below it, folded, one of the others.

    Those that matter are of the ranks that a narrow terminal keeps; those whose headers begin as
    ``first_of_all`` says come first, to be seen on a telephone. The words that begin a row stand in both.
    """
    first = [column for column in columns if not column.numeric and column.header]
    order = {column.header: place for place, column in enumerate(first)}
    for column in columns:
        begins = (place for place, words in enumerate(first_of_all) if column.header.startswith(words))
        order.setdefault(column.header, len(first) + next(begins, len(first_of_all)))
    matter = [column for column in columns if column in first or column.rank <= _LEAST_RANK]
    matter.sort(key=lambda column: order[column.header])
    rest = [column for column in columns if column not in matter]
    return table(matter) + details("More columns", table([*first, *rest]) if rest else "")


def _header(column: Column) -> str:
    return escape(column.header).replace("\n", "<br>")


def _row(columns: Sequence[Column], cells: Iterable[str]) -> str:
    made = []
    for index, (column, cell) in enumerate(zip(columns, cells, strict=True)):
        tag, scope = ("th", ' scope="row"') if index == 0 else ("td", "")
        mark = {"OK": ' class="ok"', "!!": ' class="bad"'}.get(cell, _kind(column))
        made.append(f"<{tag}{scope}{mark}>{escape(cell)}</{tag}>")
    return "".join(made)


def _kind(column: Column) -> str:
    return "" if column.numeric else ' class="text"'


def drawn(figure: Figure, index: int) -> str:
    """Return a figure: its key, the places of its panels, its caption."""
    panels = [_panel(figure.title, title, f"f{index}p{j}") for j, (title, _) in enumerate(figure.panels)]
    kind = "panels several" if len(panels) > 1 and not figure.stacked else "panels"
    most = _MOST_STACKED if figure.stacked else _MOST_PANELS
    shown, more = panels[:most], panels[most:]
    drawn = f'<div class="{kind}">\n{"".join(shown)}</div>'
    drawn += details(f"{len(more)} more", f'<div class="{kind}">\n{"".join(more)}</div>' if more else "")
    caption = f"<figcaption>{escape(figure.caption)}</figcaption>"
    return f"<figure>{_key(figure)}{drawn}{caption}</figure>\n"


def _panel(figure: str, title: str, name: str) -> str:
    heading = f"<h3>{escape(title)}</h3>" if title else ""
    label = escape(f"{figure} {title}".strip())
    chart = f'<div class="chart" id="{name}" role="img" aria-label="{label}"></div>'
    return f'<div class="panel">{heading}{chart}</div>\n'


def _key(figure: Figure) -> str:
    if not figure.key:
        return ""
    entries = (
        f'<li><svg width="26" height="10" aria-hidden="true"><line x1="0" y1="5" x2="26" y2="5"'
        f' stroke="{colour}" stroke-width="2.5" stroke-dasharray="{dash}"/></svg> {escape(name)}</li>'
        for name, colour, dash in figure.key
    )
    return f'<ul class="key">{"".join(entries)}</ul>\n'


def checks(result: Result) -> str:
    """Return the self-checks; opened where one failed."""
    if not result.checks:
        return ""
    listed = table(checks_columns(result.checks, result.labels))
    failed = any(check.ok is False for check in result.checks)
    return (
        f"<p>{escape(capital(agreement(result) or ''))}.</p>\n{details('All checks', listed, shown=failed)}"
    )


def _provenance(result: Result, more: dict[str, object]) -> str:
    """Return where the numbers come from: what all models have, ``more`` of this one, and the scenario."""
    document = result.document
    facts = {
        "weir": document["weir"],
        "model": document["model"],
        "scenario": document.get("file") or "given in the program",
        "fingerprint": document.get("fingerprint") or absent("not recorded"),
        "seed": document["seed"],
        "replications": document.get("replications", 1),
        **more,
        "engine": ", ".join(
            f"{result.labels.get(row['discipline'], row['discipline'])} {row['engine']}"
            for row in document.get("engines", [])
        ),
    }
    listed = "".join(
        f"<div><dt>{escape(key)}</dt><dd>{escape(str(value))}</dd></div>\n" for key, value in facts.items()
    )
    text = escape(document["scenario"])
    scenario = f"<summary>The scenario as it was understood</summary><pre><code>{text}</code></pre>"
    return f"<dl>{listed}</dl>\n<details>{scenario}</details>\n"
