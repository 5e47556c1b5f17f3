"""The documentation site: what its pages show is decided by the engine, and the site that is built is whole.

To build it takes a minute, so that what needs it is asked for by ``WEIR_SITE=1`` and skipped otherwise:
``make test-site``.
"""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import api
import links
import picture
import steps
import weir
from browser import Browser, chromium
from stage import Stage
from weir import _weir

if TYPE_CHECKING:
    from collections.abc import Iterator

    from browser import Page

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = sorted((ROOT / "tests" / "golden").glob("*.txt"))
DISCIPLINES = weir.disciplines()
DESK, TELEPHONE = 1400, 390
LOOKED_AT = (
    "index.html",
    "start.html",
    "guides/size-a-service.html",
    "guides/share-on-a-fabric.html",
    "concepts/pictures.html",
    "reference/disciplines/index.html",
    "reference/disciplines/drr.html",
    "reference/scenario.html",
    "reference/options.html",
    "reference/api.html",
    "documents/dtable.html",
    "gallery.html",
    "other-tools.html",
)
asked_for = pytest.mark.skipif(
    os.environ.get("WEIR_SITE") != "1", reason="builds the site, a minute: make test-site"
)
in_a_browser = pytest.mark.skipif(chromium() is None, reason="no Chromium is installed: pages are not opened")


def named(info: dict[str, Any]) -> str:
    return f"{info['name']}-{info['kind']}"


# What the pictures show.


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_steps_of_messages_are_those_decided_by_hand(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    (spec,) = re.findall(r"^discipline (.*)$", text, re.MULTILINE)
    (service,) = re.findall(r"^service (\d+)$", text, re.MULTILINE)
    trace = [
        steps.Arrival(name, int(at) / int(service), int(size), int(flow))
        for name, at, size, flow in re.findall(r"^arrive (\w+) (\d+) (\d+) (\d+)", text, re.MULTILINE)
    ]
    served = re.findall(r"^serve \d+ (\w+)", text, re.MULTILINE)
    found = steps.messages(spec, trace)
    assert [bar.name for bar in sorted(found.bars, key=lambda bar: bar.begin)] == served


@pytest.mark.parametrize("info", DISCIPLINES, ids=named)
def test_every_discipline_has_a_picture(info: dict[str, Any]) -> None:
    found = steps.steps_of(info)
    assert found.bars
    assert found.decisions
    for lane in range(len(found.lanes)):
        spans = sorted((bar.begin, bar.end) for bar in found.bars if bar.lane == lane)
        assert all(end <= begin + 1e-9 for (_, end), (begin, _) in itertools.pairwise(spans))
    drawn = ET.fromstring(picture.svg(found, info["name"]))  # noqa: S314 - it is ours
    assert drawn.tag == "svg"


def test_packets_are_sent_or_dropped_and_none_twice() -> None:
    sent = len(steps.PACKETS)
    for info in DISCIPLINES:
        if info["kind"] != "packet":
            continue
        found = steps.steps_of(info)
        names = [bar.name for bar in found.bars] + [
            mark.name for mark in found.marks if mark.what == "dropped"
        ]
        assert len(names) == len(set(names)) == sent, info["name"]


# What the pages are made of.


def test_every_name_of_the_package_has_its_place() -> None:
    listed = " ".join(names for _, names in api.GROUPS).split()
    assert sorted(listed) == sorted(set(weir.__all__) - {"__version__"})


def test_links_lead_to_pages(tmp_path: Path) -> None:
    to = Stage(tmp_path)
    text = (
        "[a](concepts.md#the-grant) [b](disciplines.md#drr) [c](../crates/weir-core) "
        "[d](../fuzz/fuzz_targets)\n"
        "`[code](concepts.md)` [e](#here) [f](../examples/first-questions/service.toml)\n"
        "```text\n[code](concepts.md)\n```\n"
    )
    assert to.linked(text, "docs/guide.md", "guides/guide") == (
        "[a](../concepts/index.md#the-grant) [b](../reference/disciplines/drr.md) "
        "[c](../reference/crates/index.md#weir-core) d\n"
        "`[code](concepts.md)` [e](#here) [f](../files/examples-first-questions-service-toml.md)\n"
        "```text\n[code](concepts.md)\n```\n"
    )


def test_the_check_of_links_finds_what_is_planted(tmp_path: Path) -> None:
    page = '<a href="other.html#there">x</a><a href="none.html">y</a><a href="other.html#nowhere">z</a>'
    fetched = '<script src="https://example.org/x.js"></script><img src="data:,"><img src="none.png">'
    (tmp_path / "index.html").write_text(page + fetched, encoding="utf-8")
    (tmp_path / "other.html").write_text('<p id="there">', encoding="utf-8")
    (tmp_path / "x.css").write_text("@import '//example.org/x.css'", encoding="utf-8")
    found = list(links.faults(tmp_path))
    assert [re.sub(r"leads to |fetches ", "", fault.split(",")[0]) for fault in found] == [
        "index.html https://example.org/x.js",
        "index.html none.png",
        "index.html none.html",
        "index.html other.html#nowhere",
        "x.css a style",
    ]


# The site.


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a site that was built without a word but its last."""
    pytest.importorskip("sphinx", reason="Sphinx is not installed: make test-site")
    out = tmp_path_factory.mktemp("built") / "site"
    command = [sys.executable, str(ROOT / "website" / "make.py"), str(out)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=540, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    assert done.stderr == ""
    return out


@asked_for
def test_recorded_reproductions_are_of_these_numbers() -> None:
    import reproduced

    for path in reproduced.RECORDED.glob("*.xz"):
        _, numbers, _ = reproduced.recorded(path.stem)
        assert numbers == _weir.Sweep.version(), f"run `python website/reproduced.py --record {path.stem}`"


@asked_for
def test_every_link_leads_somewhere_and_no_other_host_is_asked(site: Path) -> None:
    assert list(links.faults(site)) == []


@asked_for
@pytest.mark.parametrize("info", DISCIPLINES, ids=named)
def test_every_discipline_has_a_page(info: dict[str, Any], site: Path) -> None:
    import reference

    text = (site / f"{reference.page_of(info)}.html").read_text(encoding="utf-8")
    assert '<figure class="steps">' in text
    assert all(f">{each['name']}<" in text for each in info["parameters"])


@asked_for
def test_what_is_built_names_no_folder_of_the_machine(site: Path) -> None:
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert str(ROOT) not in text, path.name
        assert str(site) not in text, path.name


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with Browser() as browser:
        yield browser.page()


@asked_for
@in_a_browser
@pytest.mark.parametrize("name", LOOKED_AT)
def test_pages_are_whole_at_both_widths_light_and_dark(name: str, site: Path, page: Page) -> None:
    papers = {}
    for width, dark in ((DESK, False), (DESK, True), (TELEPHONE, True), (TELEPHONE, False)):
        page.show(width, dark=dark)
        page.load(site / name)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, (width, dark)
        asked = "performance.getEntriesByType('resource').map(each => each.name)"
        assert all(each.startswith(("file:", "data:")) for each in page.evaluate(asked))
        broken = "[...document.images].filter(each => each.complete && !each.naturalWidth && each.currentSrc)"
        assert page.evaluate(f"{broken}.length") == 0
        papers[dark] = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert page.said == []
    assert papers[False] != papers[True]


@asked_for
@in_a_browser
@pytest.mark.parametrize(
    ("words", "goal"),
    [("deficit", "reference/disciplines/drr.html"), ("uplink", "guides/queue-for-an-uplink.html")],
)
def test_a_search_in_a_folder_finds_the_page(words: str, goal: str, site: Path, page: Page) -> None:
    page.show(TELEPHONE, dark=False)
    page.load(site / "search.html", f"?q={words}")
    # Results come one after the other.
    links = "[...document.querySelectorAll('#search-results li a')]"
    page.wait(f"{links}.some(each => each.href.includes('{goal}'))")
    assert page.said == []
