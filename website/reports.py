"""Reports of the package as parts of the site: their charts as pictures of both themes, their text as pages.

A report carries its charts as Vega-Lite specifications, which its own script draws. On a page of the site
they are drawn beforehand by the same library, once for each theme.
"""

from __future__ import annotations

import html
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import vl_convert

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_THEMES = {
    "light": {"ink": "#1c2024", "soft": "#5b646d", "line": "#d9dee3"},
    "dark": {"ink": "#e6e9ec", "soft": "#a3adb6", "line": "#3a424a"},
}
_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Helvetica Neue', Arial, sans-serif"
_WHOLE, _HALF = 700, 350
"""Pixels of a chart that has the page for itself, and of one of two."""
_BLACK = re.compile(r'"#000(?:000)?"')


def drawn(spec: Mapping[str, Any], theme: str, width: int) -> str:
    """Return a chart as SVG in the colours of a theme, at a width in pixels."""
    colours = _THEMES[theme]
    axis = {
        "labelColor": colours["soft"],
        "titleColor": colours["soft"],
        "gridColor": colours["line"],
        "domainColor": colours["line"],
        "tickColor": colours["line"],
        "gridOpacity": 0.7,
        "titleFontWeight": 500,
        "labelFontSize": 11,
        "titleFontSize": 11.5,
    }
    config = {
        "background": "transparent",
        "font": _FONT,
        "view": {"stroke": None},
        "axis": axis,
        "legend": {"labelColor": colours["ink"], "titleColor": colours["soft"], "labelFontSize": 12},
        "text": {"color": colours["ink"]},
        "title": {"color": colours["ink"], "subtitleColor": colours["soft"], "fontSize": 13},
    }
    # What is black in a chart is the ink of the page.
    text = _BLACK.sub(f'"{colours["ink"]}"', json.dumps(spec))
    whole = {**json.loads(text), "config": config, "autosize": {"type": "fit-x", "contains": "padding"}}
    if whole.get("width", "container") == "container":
        whole["width"] = width
    return str(vl_convert.vegalite_to_svg(whole))


def picture(spec: Mapping[str, Any], name: str, label: str, folder: Path, way: str, width: int) -> str:
    """Write a chart for both themes into a folder, and return the HTML that shows the one of the page's.

    ``way`` leads from the page to that folder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    images = []
    for theme in _THEMES:
        svg = drawn(spec, theme, width)
        (folder / f"{name}-{theme}.svg").write_text(svg, encoding="utf-8")
        size = re.search(r'width="([\d.]+)" height="([\d.]+)"', svg)
        sized = f' width="{float(size[1]):.0f}" height="{float(size[2]):.0f}"' if size else ""
        images.append(
            f'<img class="drawn if-{theme}" src="{way}/{name}-{theme}.svg" alt="{html.escape(label)}"{sized} '
            'loading="lazy">'
        )
    return "".join(images)


@dataclass(frozen=True)
class Report:
    """What a report says: title, verdict, facts, sections of HTML by title, charts by name."""

    title: str
    verdict: str
    facts: str
    sections: tuple[tuple[str, str], ...]
    charts: dict[str, dict[str, Any]]

    @staticmethod
    def of(page: str) -> Report:
        """Return what the HTML of a report says."""
        found = re.search(r'<script type="application/json" id="charts">(.*?)</script>', page, re.DOTALL)
        charts = json.loads(found[1]) if found else {}
        main = page[page.index("<main>") : page.index("</main>")]

        def said(kind: str) -> str:
            inner = re.search(rf'<p class="{kind}">(.*?)</p>', main, re.DOTALL)
            return html.unescape(inner[1]) if inner else ""

        title = re.search(r"<h1>(.*?)</h1>", main, re.DOTALL)
        sections = tuple(
            _section(each) for each in re.findall(r"<section>\n(.*?)</section>\n", main, re.DOTALL)
        )
        return Report(
            html.unescape(title[1]) if title else "", said("verdict"), said("facts"), sections, charts
        )

    def to_json(self) -> str:
        """Return it as text that `from_json` reads."""
        return json.dumps(self.__dict__, ensure_ascii=False, separators=(",", ":"))

    @staticmethod
    def from_json(text: str) -> Report:
        """Return what `to_json` has written."""
        read = json.loads(text)
        return Report(**{**read, "sections": tuple((title, body) for title, body in read["sections"])})

    def markdown(self, name: str, folder: Path, way: str) -> str:
        """Return the sections as Markdown with blocks of HTML; charts are drawn into a folder."""
        parts = []
        for title, body in self.sections:
            shown = re.sub(
                r'<div class="chart" id="(\w+)" role="img" aria-label="([^"]*)"></div>',
                lambda found: self._chart(found[1], html.unescape(found[2]), name, folder, way),
                body,
            )
            block = f'<div class="report">{_inked(shown).strip()}</div>'
            heading = "" if shown.startswith("<details>") else f"### {title}\n\n"
            parts.append(f"{heading}```{{raw}} html\n{block}\n```\n")
        return "\n".join(parts)

    def _chart(self, key: str, label: str, name: str, folder: Path, way: str) -> str:
        # Panels that stand side by side have half of the page each.
        is_one_of_several = f"{key[: key.index('p')]}p1" in self.charts if "p" in key else False
        width = _HALF if is_one_of_several else _WHOLE
        drawn = picture(self.charts[key], f"{name}-{key}", label, folder, way, width)
        return f'<div class="chart">{drawn}</div>'


def _inked(body: str) -> str:
    """Return HTML whose black strokes, those of keys, are of the colour of the text."""
    return body.replace('stroke="#000000"', 'stroke="currentColor"')


def _section(body: str) -> tuple[str, str]:
    """Return title and content of a section; of one that is folded the title is what unfolds it."""
    found = re.search(r"<h2>(.*?)</h2>\n?", body, re.DOTALL)
    if not found:
        return "", body
    title = html.unescape(found[1])
    if body.startswith("<details><summary><h2>"):
        return title, body.replace(found[0].rstrip("\n"), found[1], 1)
    return title, body.replace(found[0], "", 1)
