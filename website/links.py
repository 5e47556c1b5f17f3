"""The check of a built site: links within it lead somewhere, nothing comes from another host."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_FETCHED = {
    *((tag, "src") for tag in ("script", "img", "source", "iframe", "video", "audio", "embed")),
    *((tag, "href") for tag in ("link", "use", "image")),
    ("object", "data"),
}
_STYLED = re.compile(r"(?:@import\s+|url\()\s*['\"]?(?:https?:)?//")
_WHOLE = ("gallery/", "playground/")
"""What was made elsewhere and brings its own script: only the links to it are checked."""


@dataclass
class Page:
    """What a page leads to, and where one can be led in it."""

    links: list[str] = field(default_factory=list)
    fetched: list[str] = field(default_factory=list)
    names: set[str] = field(default_factory=set)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = Page()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for key, value in attrs:
            if not value:
                continue
            if key in {"id", "name"}:
                self.page.names.add(value)
            if (tag, key) in _FETCHED:
                self.page.fetched.append(value)
            elif (tag, key) == ("a", "href"):
                self.page.links.append(value)


def read(path: Path) -> Page:
    """Return what a page of HTML leads to."""
    reader = _Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    return reader.page


def faults(site: Path) -> Iterator[str]:
    """Yield what is wrong with a site, page by page."""
    pages = {path: read(path) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        name = path.relative_to(site).as_posix()
        if name.startswith(_WHOLE):
            continue
        for link in page.fetched:
            parts = urlsplit(link)
            if parts.netloc:
                yield f"{name} fetches {link}"
            elif parts.scheme != "data":
                yield from _missing(path, link, pages, name)
        for link in page.links:
            if not urlsplit(link).scheme and not link.startswith("//"):
                yield from _missing(path, link, pages, name)
    for path in site.rglob("*.css"):
        if _STYLED.search(path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(site)} fetches a style, font or picture of another host"


def _missing(path: Path, link: str, pages: dict[Path, Page], name: str) -> Iterator[str]:
    parts = urlsplit(link)
    goal = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not goal.is_file():
        yield f"{name} leads to {link}, which does not exist"
    elif parts.fragment and goal in pages and unquote(parts.fragment) not in pages[goal].names:
        yield f"{name} leads to {link}, and there is no such place on that page"
