"""The HTML report: one file, nothing fetched, verdict first, everything explained."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

import weir
from made_result import made
from weir.results import page as report


class Page(HTMLParser):
    """Collects what a browser would fetch, the text, and the elements with an id."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.ids: set[str] = set()
        self.words: list[str] = []
        self.scripts: list[str] = []
        self._inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside = tag
        for name, value in attrs:
            if name in {"src", "href", "srcset", "data", "poster", "action"}:
                self.fetched.append(value or "")
            if name == "id":
                self.ids.add(value or "")

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside in {"script", "style"}:
            self.scripts.append(data)
        else:
            self.words.append(data)


@pytest.fixture(scope="module")
def html() -> str:
    return report.html(weir.Result.from_json(made()))


@pytest.fixture(scope="module")
def page(html: str) -> Page:
    return Page(html)


def charts(html: str) -> dict:
    return json.loads(
        re.search(r'<script type="application/json" id="charts">(.*?)</script>', html, re.DOTALL)[1]
    )


def test_nothing_is_fetched(html: str, page: Page):
    assert page.fetched == []
    own = html.replace("".join(each for each in page.scripts if "vegaEmbed=" in each), "")
    assert not re.findall(r"https?://(?!www\.w3\.org)", own)
    assert "@import" not in own
    assert "url(" not in own


def test_the_verdict_comes_first(page: Page):
    words = [each.strip() for each in page.words if each.strip()]
    place = next(
        i for i, each in enumerate(words) if each.startswith("The lowest mean latency is that of sf")
    )
    assert place < words.index("The comparison")


def test_every_chart_has_its_place_and_its_data(html: str, page: Page):
    specs = charts(html)
    assert len(specs) == 2 + 1 + 7 + 4  # trade-off, lengths, distributions, theory
    assert set(specs) <= page.ids
    for spec in specs.values():
        assert spec["data"]["values"]
        assert spec["width"] == "container"


def test_every_chart_draws_a_mark_for_its_data(html: str):
    import vl_convert

    for name, spec in charts(html).items():
        assert "undefined" not in json.dumps(spec)
        svg = vl_convert.vegalite_to_svg({**spec, "width": 300})
        drawn = re.findall(r'aria-roledescription="(line mark|point)" [^>]*d="', svg) + re.findall(
            r'<path aria-label="', svg
        )
        assert len(drawn) >= min(3, len(spec["data"]["values"])), name
        assert ">undefined<" not in svg


def test_curves_are_few_and_those_left_out_are_named(html: str, page: Page):
    spec = charts(html)["f2p0"]
    assert len({point["discipline"] for point in spec["data"]["values"]}) == 8
    assert "Not drawn, to keep the curves apart: alpha:1, alpha:3" in " ".join(page.words)


def test_the_trade_off_labels_every_discipline(html: str):
    frontier = next(spec for spec in charts(html).values() if "label" in spec["data"]["values"][0])
    assert {point["discipline"] for point in frontier["data"]["values"]} == set(
        weir.Result.from_json(made()).disciplines
    )


def test_the_provenance_is_there(page: Page):
    words = " ".join(page.words)
    for fact in ("6b1f0c9a2d3e4f50", "seed", "detected (MSER-5)", 'model = "port"', "fifo accelerated"):
        assert fact in words


def test_text_from_the_scenario_cannot_become_markup():
    html = report.html(weir.Result.from_json(made(("fifo", "sf"), title="</title><script>alert(1)</script>")))
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert(1)" in html


@pytest.mark.parametrize(
    "changes",
    [
        {"interrupted": True},
        {
            "unstable": "offered load 1.2 is not below 1",
            "estimates": [],
            "distributions": [],
            "differences": [],
        },
        {"distributions": [], "theory": [], "checks": []},
        {"classes": [{"name": "all"}]},
    ],
)
def test_a_report_can_be_made_of_less(changes: dict):
    page = Page(report.html(weir.Result.from_json(made(("fifo", "sf"), **changes))))
    words = " ".join(page.words)
    assert "The comparison" in words
    assert ("Interrupted after" in words) == ("interrupted" in changes)
    assert ("No steady state" in words) == ("unstable" in changes)
    assert "nan" not in words.lower().split()


def test_what_is_absent_carries_its_reason():
    document = json.loads(made(("fifo", "sf")))
    for row in document["estimates"]:
        if row["statistic"] == "p99":
            row.update(value=None, reason="fewer than 1000 messages")
    page = Page(report.html(weir.Result.from_json(json.dumps(document))))
    assert "n/a (fewer than 1000 messages)" in page.words


def test_the_library_is_bundled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    first = report.html(weir.Result.from_json(made(("fifo", "sf"))))
    kept = list((tmp_path / "weir").iterdir())
    assert len(kept) == 1
    assert report.html(weir.Result.from_json(made(("fifo", "sf")))) == first
