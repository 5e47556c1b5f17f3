"""Turns of phrase that readers have to read twice are not in what is written for them.

Only documents that people write are checked: those that programs write follow the texts of the programs.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
GENERATED = {"docs/commands.md"}
"""Documents that a program writes."""
BEGINS = {"docs/scenario.md": "### PortScenario"}
"""Where the part of a document begins that a program writes."""
BANNED = (
    (r"told\b(?! (apart|from))", "reported, said, shown"),
    (r"beside\b", "next to"),
    (r"so many\b", "a number, how many"),
    (r"that (is|are) there\b", "existing, or nothing at all"),
    (r"for want of", "without, since there is no"),
    (r"what hangs on", "what depends on"),
    (r"measured back", "measured"),
    (r"in the small\b", "on a small scale"),
    (r"is of no use to anybody", "is useless"),
)
"""Each turn, and what to write in its place."""


def documents() -> list[Path]:
    """Return the documents that people write."""
    found = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("**/*.md"))]
    for folder in ("examples", "bpf", "crates", "data", "deploy", "fuzz", "reproduce"):
        found += sorted((ROOT / folder).glob("**/*.md"))
    return [path for path in found if str(path.relative_to(ROOT)) not in GENERATED]


def prose(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines outside of blocks of code, with their numbers; words in backquotes are left out."""
    is_code = False
    for number, line in enumerate(text.splitlines(), start=1):
        if line.lstrip().startswith("```"):
            is_code = not is_code
        elif not is_code:
            yield number, re.sub(r"`[^`]*`", "", line)


def found_in(text: str, name: str) -> list[str]:
    """Return what is to be mended: file, line, the turn, and what to write."""
    return [
        f'{name}:{number}: "{match[0]}": write {better}'
        for number, line in prose(text)
        for turn, better in BANNED
        if (match := re.search(rf"\b{turn}", line, re.IGNORECASE))
    ]


@pytest.mark.parametrize("path", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_document_has_no_banned_turn(path: Path) -> None:
    name = str(path.relative_to(ROOT))
    text = path.read_text(encoding="utf-8")
    written, begins, _ = text.partition(BEGINS.get(name, "\0"))
    assert bool(begins) == (name in BEGINS), "where the generated part begins"
    assert not found_in(written, name), "\n".join(found_in(written, name))


def test_the_check_finds_what_is_planted() -> None:
    text = "The result is told.\n```\nwhat is told here is code\n```\nTold apart, `told`, foretold.\nSo many."
    assert found_in(text, "x.md") == [
        'x.md:1: "told": write reported, said, shown',
        'x.md:6: "So many": write a number, how many',
    ]
