"""Builds the documentation site: `make site` calls it with the folder that it writes.

Documents of the tree are staged with their links led to pages, derived pages are written next to them,
Sphinx makes HTML of all of it, and every link of what came out is checked. A warning of Sphinx is an
error.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from pathlib import Path

from sphinx.cmd.build import build_main

import api
import gallery
import reference
import reproduced
from links import faults
from stage import ROOT, Stage, toctree

PLAYGROUND = ROOT / "out" / "web"
_GUIDES = (
    "size-a-service",
    "queue-for-an-uplink",
    "share-on-a-fabric",
    "control-loop",
    "steer-packets",
    "write-a-discipline",
    "sweep-on-a-cluster",
)
_NAVIGATION = {
    "Begin": ("start", "install", "guides/index", "concepts/index"),
    "See": ("Five documents <documents/index>", "gallery", "examples/index"),
    "Look up": (
        "reference/disciplines/index",
        "Scenario file <reference/scenario>",
        "Commands <reference/commands>",
        "Options of commands <reference/options>",
        "Python <reference/python>",
        "Package reference <reference/api>",
        "reference/crates/index",
        "Traffic language <reference/tg>",
    ),
    "In depth": (
        "manual/size",
        "manual/sweeps",
        "manual/scale",
        "Arbitration tables and plans <manual/plan>",
        "manual/live",
        "In front of traffic <manual/operate>",
    ),
    "About": ("performance", "design-defence", "other-tools", "reference/map", "project/index"),
}
"""What the first page has in its navigation, with shorter titles where those of documents are long."""


def staged(sources: Path) -> None:
    """Write the sources of all pages."""
    to = Stage(sources)
    extra = sources / "extra"
    reference.stage_disciplines(to)
    reference.stage_commands(to)
    reference.stage_crates(to)
    api.stage(to)
    reproduced.stage(to, extra / "_charts")
    gallery.stage(to, extra)
    has_playground = _playground(extra)
    _home(to, has_playground=has_playground)
    _sections(to)
    for source, page in to.pages.items():
        if page not in to.written:
            to.document(source)
    to.write_files()


def _playground(extra: Path) -> bool:
    """Take the page with the engine in it, if it was built; whether it was."""
    if not (PLAYGROUND / "index.html").is_file():
        return False
    shutil.copytree(PLAYGROUND, extra / "playground")
    return True


def _home(to: Stage, *, has_playground: bool) -> None:
    """Write the first page: what weir is and a picture, from the README, then where to go."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    opening = readme[: readme.index("\n## Install")]
    why = readme[readme.index("## Why believe it") : readme.index("## What it is not for")]
    ways = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    ways = ways[ways.index("\n## ") :]
    if has_playground:
        ways = ways.replace(
            "\n## ",
            '\n<p class="try"><a href="playground/index.html">Try it in this browser</a></p>\n\n## ',
            1,
        )
    # The gallery is made with the site: no link of the document could lead there.
    ways = to.linked(ways, "docs/index.md", "index").replace(
        "**Gallery of reports**", "**[Gallery of reports](gallery.md)**"
    )
    to.write(
        "index",
        to.linked(opening, "README.md", "index")
        + ways
        + "\n"
        + to.linked(why, "README.md", "index")
        + "".join(toctree(*pages, caption=title) for title, pages in _NAVIGATION.items()),
    )


def _sections(to: Stage) -> None:
    """Write the pages that list others, with what the navigation has below them."""
    to.document("docs/guides/README.md", after=toctree(*_GUIDES, "guide"))
    to.document("docs/concepts.md", after=toctree("pictures", "statistics", "studies"))
    examples = sorted(page for page in to.pages.values() if page.startswith("examples/"))
    to.write("examples/index", _listing("Examples", "Each is run by the tests.", to, examples))
    found = sorted(page for page in to.pages.values() if page.startswith("documents/"))
    words = (
        "Five published systems, reproduced table by table, misprints included. Each page has what was "
        "published next to "
        "what weir makes of it, and where something can be measured, how."
    )
    to.write("documents/index", _listing("Five documents", words, to, found))
    project = sorted(page for page in to.pages.values() if page.startswith("project/"))
    to.write("project/index", _listing("The project", "How weir is changed, and what changed.", to, project))


def _listing(title: str, words: str, to: Stage, pages: list[str]) -> str:
    """Return a page that lists pages of its folder by their titles."""
    sources = {page: source for source, page in to.pages.items()}
    lines = []
    for page in pages:
        text = (ROOT / sources[page]).read_text(encoding="utf-8")
        name = next(line for line in text.splitlines() if line.startswith("# ")).removeprefix("# ")
        lines.append(f"- [{name}]({page.rsplit('/', 1)[1]}.md)\n")
    return f"# {title}\n\n{words}\n\n{''.join(lines)}{toctree(*(page.rsplit('/', 1)[1] for page in pages))}"


def build(out: Path) -> list[str]:
    """Build the site into a folder and return what is wrong with it."""
    sources = out.with_name(f"{out.name}-sources")
    shutil.rmtree(sources, ignore_errors=True)
    # Scenarios name their data as from the root of the tree, and reports say where theirs stands.
    os.chdir(ROOT)
    staged(sources)
    shutil.rmtree(out, ignore_errors=True)
    doctrees = sources / "doctrees"
    arguments = [
        "-b",
        "html",
        "-c",
        str(Path(__file__).parent),
        "-d",
        str(doctrees),
        "-W",
        "--keep-going",
        "-q",
        "-j",
        "2",
    ]
    if build_main([*arguments, str(sources), str(out)]):
        return ["Sphinx warns, see above"]
    shutil.copytree(sources / "extra", out, dirs_exist_ok=True)
    shutil.rmtree(out / "_sources", ignore_errors=True)
    return list(faults(out))


def main() -> int:
    """Build the site that the command line asks for."""
    parser = argparse.ArgumentParser(description="Build the documentation site.")
    parser.add_argument("out", type=Path, help="the folder to write; what is there is replaced")
    began = time.monotonic()
    out = parser.parse_args().out.resolve()
    wrong = build(out)
    for each in wrong:
        sys.stderr.write(f"error: {each}\n")
    if not wrong:
        count = len(list(out.rglob("*.html")))
        sys.stdout.write(f"{count} pages in {time.monotonic() - began:.0f} s: {out / 'index.html'}\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
