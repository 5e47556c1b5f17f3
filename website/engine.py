"""Builds the page with the engine in it: `make web` calls it with the compiled engine and the file to write.

The page is one file: styles, scripts, the worker and the engine, compressed, stand in it. So it works from
a folder, from any static host and by mail, and asks nobody for anything.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import json
import sys
import tomllib
from pathlib import Path

import pyarrow as pa

PAGE = Path(__file__).parents[1] / "crates" / "weir-web" / "page"
_LEVEL = 19
SCRIPTS = ("vendor/fzstd", "client", "toml", "knobs", "figures", "steps", "link", "main")
"""In the order in which they are read; the worker is a text of the page."""


def packed(engine: bytes) -> str:
    """Return the engine as the page holds it, in letters.

    Zstandard finds again what comes some megabytes later, as compilers repeat themselves: its result is a
    third shorter than that of gzip, whose view is 32 KiB.
    """
    packed: bytes = pa.Codec("zstd", compression_level=_LEVEL).compress(engine, asbytes=True)
    return base64.b64encode(packed).decode()


def examples() -> list[dict[str, str]]:
    """Return the scenarios that the page offers, in the order of their files."""
    found = []
    for path in sorted((PAGE / "examples").glob("*.toml")):
        text = path.read_text()
        name = path.name.partition("-")[2]
        found.append({"name": name, "title": tomllib.loads(text)["title"], "text": text})
    return found


def script(text: str) -> str:
    """Return a script as an element; what would end it early is written otherwise."""
    return "<script>\n" + text.replace("</script", "<\\/script") + "</script>\n"


def letters(engine: bytes) -> str:
    """Return the packed engine as an element of plain text.

    As a string of a script its two million letters would be read as JavaScript, which takes longer
    (docs/performance.md).
    """
    return f'<script type="text/plain" id="engine">{packed(engine)}</script>\n'


def html(engine: bytes, home: str | None) -> str:
    """Return the page; ``home`` is where its site begins, if it is part of one."""
    held = {"worker": (PAGE / "worker.js").read_text(), "examples": examples()}
    # `<!--` in a script would begin a comment.
    data = json.dumps(held, ensure_ascii=False).replace("<", "\\u003c")
    scripts = [f"const weirEngine = {data};\n", *((PAGE / f"{name}.js").read_text() for name in SCRIPTS)]
    link = f'<a href="{home}">What weir is, and how to run it on your own machine</a>.' if home else ""
    page = (PAGE / "index.html").read_text()
    for mark, text in (
        ("/* page.css */", (PAGE / "page.css").read_text()),
        ("<!-- home -->", link),
        ("<!-- scripts -->", letters(engine) + "".join(map(script, scripts))),
    ):
        if page.count(mark) != 1:
            raise SystemExit(f"index.html has {mark} {page.count(mark)} times, must have it once")
        page = page.replace(mark, text)
    return page


def main() -> None:
    """Write the page, and say how large it is."""
    parser = argparse.ArgumentParser(description="Build the page with the engine in it.")
    parser.add_argument("engine", type=Path, help="weir_web.wasm")
    parser.add_argument("out", type=Path, help="the file to write")
    parser.add_argument("--home", help="where the site of the page begins, relative to it")
    given = parser.parse_args()
    engine = given.engine.read_bytes()
    page = html(engine, given.home)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(page)
    sizes = len(engine), len(gzip.compress(page.encode(), 9))
    sys.stdout.write("engine {:,} bytes, page {:,} compressed: {}\n".format(*sizes, given.out))


if __name__ == "__main__":
    main()
