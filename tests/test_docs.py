"""The documents say what is so: examples run and print what stands there, links lead somewhere."""

import re
from pathlib import Path

import pytest

from documents import DOCUMENTS, FENCE, ROOT, RUN, SECTION, blocks, derived, replayed

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", RUN, ids=named)
def test_examples_run_and_print_what_stands_there(path: Path, tmp_path: Path):
    text = path.read_text(encoding="utf-8")
    fresh = replayed(text, tmp_path)
    for before, after in zip(blocks(text), blocks(fresh), strict=True):
        assert before.body == after.body, (
            f"{named(path)}:{before.line} prints something else: run `make docs`"
        )


@pytest.mark.parametrize("path", RUN, ids=named)
def test_what_is_derived_is_up_to_date(path: Path):
    text = path.read_text(encoding="utf-8")
    assert text == derived(text), f"{named(path)} is behind the registry or the schema: run `make docs`"


def test_every_derived_section_stands_somewhere():
    sections = [found[2] for path in RUN for found in SECTION.finditer(path.read_text(encoding="utf-8"))]
    assert sorted(sections) == ["disciplines", "scenario"]


def anchors(path: Path) -> set[str]:
    """Return the anchors of the headings of a document, as a forge makes them."""
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("path", DOCUMENTS, ids=named)
def test_links_lead_somewhere(path: Path):
    for link in LINK.findall(FENCE.sub("", path.read_text(encoding="utf-8"))):
        if re.match(r"[a-z]+:", link):
            continue
        file, _, anchor = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        assert target.exists(), f"{named(path)}: {link} does not exist"
        assert not anchor or anchor in anchors(target), f"{named(path)}: {link} has no such heading"


@pytest.mark.parametrize("path", DOCUMENTS, ids=named)
def test_blocks_are_of_a_known_language(path: Path):
    known = {"console", "toml", "python", "pycon", "text", "rust", "sh", "json", "csv"}
    for block in blocks(path.read_text(encoding="utf-8")):
        assert block.language in known, f"{named(path)}:{block.line}: ```{block.language}"
