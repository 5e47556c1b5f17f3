"""The documents of the tree as sources of the site: which page each becomes, and where its links lead there.

Markdown in the tree links to other files of the tree. On the site a document is a page; another file of
text that something links to becomes a page that shows it; a folder is its README or the entry of its
crate. A link to anything else keeps its words and loses its address.
"""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

PAGES = {
    "README.md": "index",
    "docs/README.md": "index",
    "docs/index.md": "index",
    "docs/start.md": "start",
    "docs/install.md": "install",
    "docs/guides/README.md": "guides/index",
    "docs/guide.md": "guides/guide",
    "docs/concepts.md": "concepts/index",
    "docs/pictures.md": "concepts/pictures",
    "docs/statistics.md": "concepts/statistics",
    "docs/disciplines.md": "reference/disciplines/index",
    "docs/scenario.md": "reference/scenario",
    "docs/commands.md": "reference/commands",
    "docs/python.md": "reference/python",
    "docs/tg.md": "reference/tg",
    "docs/map.md": "reference/map",
    "docs/size.md": "manual/size",
    "docs/sweeps.md": "manual/sweeps",
    "docs/scale.md": "manual/scale",
    "docs/plan.md": "manual/plan",
    "docs/live.md": "manual/live",
    "docs/operate.md": "manual/operate",
    "docs/performance.md": "performance",
    "docs/studies.md": "concepts/studies",
    "docs/design-defence.md": "design-defence",
    "docs/other-tools.md": "other-tools",
    "CONTRIBUTING.md": "project/contributing",
    "CHANGELOG.md": "project/changes",
    "data/README.md": "project/data",
    "data/LICENSES.md": "project/data-licences",
}
"""The page of each document, without its ending."""
_FAMILIES = (
    ("docs/guides/*.md", "guides/{stem}"),
    ("examples/*/README.md", "examples/{parent}"),
    ("reproduce/*/README.md", "documents/{parent}"),
    ("crates/*/README.md", "reference/crates/{parent}"),
    ("*/README.md", "project/{parent}"),
)
"""Documents of which there are many; the first pattern that fits says the page."""

_FENCE = re.compile(r"^( *)(`{3,})[^\n]*\n.*?^\1\2 *$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
_LINK = re.compile(r"(?P<image>!?)\[(?P<words>(?:[^\[\]]|\[[^\[\]]*\])*)\]\((?P<target>[^)\s]+)\)")
_MOST_BYTES = 60_000
"""Of a file that is shown as a page."""
_LANGUAGES = {".toml": "toml", ".py": "python", ".rs": "rust", ".json": "json", ".sh": "sh"}
_LEFT_AS_THEY_ARE = re.compile(r"[a-z][a-z0-9+.-]*:")


def pages() -> dict[str, str]:
    """Return the page of every document of the tree."""
    found = dict(PAGES)
    for pattern, name in _FAMILIES:
        for path in sorted(ROOT.glob(pattern)):
            known = path.relative_to(ROOT).as_posix()
            found.setdefault(known, name.format(stem=path.stem, parent=path.parent.name))
    return found


@dataclass
class Stage:
    """The folder of sources that Sphinx reads, and what has to be put there yet."""

    folder: Path
    pages: dict[str, str] = field(default_factory=pages)
    files: dict[str, str] = field(default_factory=dict)
    """Files of the tree that something links to, and the page that shows each."""
    written: set[str] = field(default_factory=set)

    def write(self, page: str, text: str) -> None:
        """Write the source of a page."""
        path = self.folder / f"{page}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        self.written.add(page)

    def document(self, source: str, page: str | None = None, *, before: str = "", after: str = "") -> None:
        """Write the page of a document of the tree, with what is generated around its text."""
        page = page or self.pages[source]
        text = (ROOT / source).read_text(encoding="utf-8")
        self.write(page, f"{before}{self.linked(text, source, page)}{after}")

    def linked(self, text: str, source: str, page: str) -> str:
        """Return Markdown whose links lead to pages; ``source`` is where it stands in the tree."""
        kept: list[str] = []

        def put_aside(found: re.Match[str]) -> str:
            kept.append(found[0])
            return f"\0{len(kept) - 1}\0"

        def put_back(text: str) -> str:
            while "\0" in text:
                text = re.sub(r"\0(\d+)\0", lambda found: kept[int(found[1])], text)
            return text

        # Fences first; then code within a line, but not the words of a link.
        bare = _CODE.sub(put_aside, _FENCE.sub(put_aside, text))
        led = _LINK.sub(lambda found: self._led(found, source, page), bare)
        return put_back(led)

    def _led(self, found: re.Match[str], source: str, page: str) -> str:
        target = found["target"]
        if _LEFT_AS_THEY_ARE.match(target) or target.startswith("#"):
            return found[0]
        name, _, anchor = target.partition("#")
        path = os.path.normpath(f"{Path(source).parent.as_posix()}/{name}")
        if found["image"]:
            return f"![{found['words']}]({relative(self.asset(path), page)})"
        goal = self.goal(path, anchor)
        if goal is None:
            return found["words"]
        goal, _, anchor = goal.partition("#")
        return f"[{found['words']}]({relative(f'{goal}.md', page)}{anchor and f'#{anchor}'})"

    def goal(self, path: str, anchor: str = "") -> str | None:
        """Return the page, with a heading, that stands for a path of the tree; None if there is none."""
        if path == "docs/disciplines.md" and anchor and anchor != "all":
            return f"reference/disciplines/{anchor}"
        if path in self.pages:
            return self.pages[path] + (f"#{anchor}" if anchor else "")
        whole = ROOT / path
        if whole.is_dir():
            return self._folder(path)
        if not whole.is_file() or whole.stat().st_size > _MOST_BYTES or not _is_text(whole):
            return None
        return self.files.setdefault(path, f"files/{path.replace('/', '-').replace('.', '-')}")

    def _folder(self, path: str) -> str | None:
        if re.fullmatch(r"crates/weir-\w+", path):
            return f"reference/crates/index#{Path(path).name}"
        if path == "reproduce":
            return "documents/index"
        return self.pages.get(f"{path}/README.md")

    def asset(self, path: str) -> str:
        """Copy a file of the tree as it is, and return its place among the sources."""
        place = f"pictures/{Path(path).name}"
        goal = self.folder / place
        goal.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, goal)
        return place

    def write_files(self) -> None:
        """Write the pages of the files that something links to."""
        for path, page in sorted(self.files.items()):
            text = (ROOT / path).read_text(encoding="utf-8")
            ticks = "`" * max(3, *(len(run) + 1 for run in re.findall(r"`+", text) or [""]))
            language = _LANGUAGES.get(Path(path).suffix, "text")
            block = f"{ticks}{language}\n{text.rstrip()}\n{ticks}\n"
            head = f"---\norphan: true\n---\n\n# {Path(path).name}\n\n"
            self.write(page, f"{head}`{path}` in the repository.\n\n{block}")


def relative(goal: str, page: str) -> str:
    """Return the way from a page to a place among the sources."""
    return os.path.relpath(goal, Path(page).parent.as_posix())


def _is_text(path: Path) -> bool:
    try:
        path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return False
    return True


def toctree(*pages: str, caption: str = "", hidden: bool = True, depth: int = 1) -> str:
    """Return a list of pages as Sphinx reads it, in the order of the navigation."""
    options = [f":maxdepth: {depth}"] + [":hidden:"] * hidden + [f":caption: {caption}"] * bool(caption)
    return "\n".join(["", "```{toctree}", *options, "", *pages, "```", ""])
