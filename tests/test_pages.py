"""Pages in a browser: every kind, at the width of a desk and of a telephone, light and dark (finding C1).

A headless Chromium opens each page. Without one the tests are skipped, and say so.
"""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import page_kinds
import weir
from browser import Browser, chromium
from made_result import MEANS, made
from weir.results import page as report
from weir.results.style import DASHES, PALETTE, SHAPES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from browser import Page

DESK, TELEPHONE = 1400, 390
TALLEST = 6000
"""Pixels of a page at the width of a desk, before anything is unfolded."""
in_a_browser = pytest.mark.skipif(chromium() is None, reason="no Chromium is installed: pages are not opened")

QUESTIONS = (Path(__file__).parent / "pages.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with Browser() as browser:
        yield browser.page()


def opened(page: Page, html: str, path: Path) -> None:
    """Open a page at the width of a desk, light."""
    path.write_text(html, encoding="utf-8")
    page.show(DESK, dark=False)
    page.open(path)
    page.evaluate(QUESTIONS)


def settle(page: Page) -> None:
    """Wait until all charts that are shown are drawn at their width."""
    page.drawn()
    page.evaluate("pages.settled()")


@in_a_browser
@pytest.mark.parametrize("kind", page_kinds.KINDS)
def test_c1_pages_are_whole_at_both_widths_light_and_dark(kind: str, page: Page, tmp_path: Path) -> None:
    """Nothing is warned of, no axis is empty, nothing is cut off; folded and unfolded."""
    opened(page, page_kinds.KINDS[kind](), tmp_path / "page.html")
    assert page.evaluate("document.documentElement.scrollHeight") <= TALLEST
    found = {}
    for width, dark in ((DESK, False), (DESK, True), (TELEPHONE, True), (TELEPHONE, False)):
        page.show(width, dark=dark)
        settle(page)
        found[width, dark] = page.evaluate("pages.faults()") + page.evaluate("pages.hidden()")
    page.evaluate("pages.unfold()")
    settle(page)
    found["unfolded"] = page.evaluate("pages.faults()")
    assert not {where: faults for where, faults in found.items() if faults}
    assert page.said == []


def charts(html: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="charts">(.*?)</script>', html, re.DOTALL)
    assert found
    return dict(json.loads(found[1]))


def below_zero() -> str:
    """Return a report in whose classes the shortest messages have an interval that reaches below zero."""
    document = json.loads(made(("fifo", "sf")))
    for row in document["estimates"]:
        if (row["statistic"], row["metric"], row["class_" if "class_" in row else "class"]) == (
            "mean",
            "latency",
            "1pkt",
        ):
            row.update(value=row["value"] / 100, low=-row["value"], high=row["value"])
    return report.html(weir.Result.from_json(json.dumps(document)))


@in_a_browser
def test_c1_an_interval_below_zero_does_not_empty_the_axis(page: Page, tmp_path: Path) -> None:
    html = below_zero()
    opened(page, html, tmp_path / "page.html")
    assert page.evaluate("pages.faults()") == []
    assert page.said == []
    name = next(name for name, spec in charts(html).items() if "length" in spec["data"]["values"][0])
    tops = page.evaluate(f"pages.middles('#{name} .mark-symbol path')")
    assert len({round(top) for top in tops}) > 3, "the means stand on one line"


@in_a_browser
def test_c1_intervals_stand_on_the_middle_of_their_bars(page: Page, tmp_path: Path) -> None:
    opened(page, page_kinds.KINDS["server"](), tmp_path / "page.html")
    bars, spans = (
        page.evaluate(f"pages.middles('#f0p0 .role-mark.mark-{mark}')") for mark in ("rect path", "rule line")
    )
    assert bars
    assert len(bars) == len(spans)
    assert all(abs(bar - span) < 1 for bar, span in zip(bars, spans, strict=True))


def headings(html: str) -> list[str]:
    return re.findall(r"<h2>(.*?)</h2>", html)


def test_c1_the_picture_that_answers_comes_before_the_table() -> None:
    first = {
        "port": "Trade-off: mean against tail",
        "network": "Shares",
        "fabric": "Improvement over drr",
        "node": "Timeline under epoch",
        "server": "Mean response",
    }
    for kind, title in first.items():
        found = headings(page_kinds.KINDS[kind]())
        assert found[0] == title
        assert found.index(title) < found.index("The comparison")


def with_needs(*needs: str) -> str:
    """Return the report of a small server that is to keep needs, each given as the keys of its table."""
    text = (
        'weir = 1\nmodel = "server"\ndisciplines = ["rr", "cfcfs"]\n[server]\ncores = 4\n'
        '[[class]]\nname = "api"\nservice = { exponential = "20ms" }\n'
        "[workload]\nload = 0.7\n[stop]\nrequests = 20_000\nreplications = 4\n"
    )
    needs = (f"[[need]]\n{each}\n" for each in needs)
    return report.html(weir.run(weir.Scenario.from_toml(text + "".join(needs))))


def test_the_metric_of_a_need_leads_with_its_bound() -> None:
    html = with_needs('metric = "response p99"\nbound = "160ms"', 'metric = "dropped"\nbound = "1%"')
    first = headings(html)[0]
    assert first == "The needs"
    assert [name for name in ("p99 response, at most 160 ms", "Share of dropped") if name not in html] == []
    response, dropped = (charts(html)[f"f0p{place}"]["data"]["values"] for place in (0, 1))
    assert {(point["discipline"], point["bound"]) for point in response} == {("rr", 160), ("cfcfs", 160)}
    outcomes = {point["discipline"]: point["outcome"].split()[-1] for point in response}
    assert outcomes == {"rr": "missed", "cfcfs": "met"}
    assert {(point["unit"], point["bound"], point["value"]) for point in dropped} == {("%", 1, 0)}


def test_without_needs_the_mean_response_leads() -> None:
    assert headings(with_needs())[0] == "Mean response"


@in_a_browser
def test_the_picture_of_needs_is_whole_at_both_widths(page: Page, tmp_path: Path) -> None:
    """Bars are as far from their bounds as they may be, on both sides, and the outcome is written out."""
    opened(
        page,
        with_needs('metric = "response p99"\nbound = "9s"', 'metric = "slowdown p99"\nbound = 1.1'),
        tmp_path / "page.html",
    )
    for width, dark in ((DESK, False), (TELEPHONE, True)):
        page.show(width, dark=dark)
        settle(page)
        assert page.evaluate("pages.faults()") == []
    assert page.said == []


@pytest.mark.parametrize(
    ("kind", "title"), [("network", "Delay over time"), ("server", "Queueing delay over time")]
)
def test_c1_delay_over_time_is_drawn(kind: str, title: str) -> None:
    html = page_kinds.KINDS[kind]()
    assert title in headings(html)
    drawn = [spec["data"]["values"] for spec in charts(html).values() if "time" in spec["data"]["values"][0]]
    assert drawn
    for points in drawn:
        assert len({point["time"] for point in points}) > 60
        assert len({point["discipline"] for point in points}) > 1


def test_c1_tables_show_no_digit_that_is_not_known() -> None:
    """No figure of a page has a tail such as ``+0.00000894 ±0.0000052``."""
    for kind in ("network", "server", "fabric", "node", "port"):
        cells = re.findall(r"<td[^>]*>([^<]*±[^<]*)</td>", page_kinds.KINDS[kind]())
        assert cells
        for cell in cells:
            digits = re.sub(r"\D", "", cell.partition("±")[0]).lstrip("0")
            assert len(digits) <= 6 or "." not in cell, cell
            assert not re.search(r"±0\.00000\d", cell), cell


def test_c1_shares_are_told_as_per_cent() -> None:
    axes = [
        encoding["y"]["axis"]
        for spec in charts(below_zero()).values()
        if (encoding := spec.get("encoding", {})).get("y", {}).get("field") == "above"
    ]
    assert axes
    for axis in axes:
        assert "%" in axis["labelExpr"]
        assert all(0 < tick <= 1 for tick in axis["values"])


# What the colour-blind see: Machado, Oliveira and Fernandes (2009), severity 1, on linear light.
SEEN_BY = {
    "everybody": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    "protanopes": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopes": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopes": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
TO_XYZ = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
INK, PAPERS = {"light": "#1c2024", "dark": "#e6e9ec"}, {"light": "#ffffff", "dark": "#1b1f24"}


def linear(colour: str) -> list[float]:
    parts = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def times(matrix: tuple[tuple[float, ...], ...], vector: list[float]) -> list[float]:
    return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix]


def lab(light: list[float]) -> list[float]:
    xyz = times(TO_XYZ, [min(1.0, max(0.0, part)) for part in light])
    x, y, z = (
        part ** (1 / 3) if part > 0.008856 else 7.787 * part + 16 / 116
        for part in (each / white for each, white in zip(xyz, (0.9505, 1.0, 1.089), strict=True))
    )
    return [116 * y - 16, 500 * (x - y), 200 * (y - z)]


@pytest.mark.parametrize("theme", INK)
@pytest.mark.parametrize("eyes", SEEN_BY)
def test_c1_eight_colours_are_told_apart(eyes: str, theme: str) -> None:
    """A difference of 10 (CIE 1976) is seen between lines that are far apart; what was there before had 5."""
    colours = [INK[theme] if colour == "#000000" else colour for colour in PALETTE]
    seen = [lab(times(SEEN_BY[eyes], linear(colour))) for colour in colours]
    assert len(seen) == 8
    for one, other in itertools.combinations(seen, 2):
        assert sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) ** 0.5 > 15
    for colour in colours:
        bright = sorted(times(TO_XYZ, linear(each))[1] + 0.05 for each in (colour, PAPERS[theme]))
        assert bright[1] / bright[0] > 2.2, f"{colour} is faint on {PAPERS[theme]}"


def test_c1_eight_curves_are_told_apart_on_paper() -> None:
    assert len({tuple(dash) for dash in DASHES}) == len(set(SHAPES)) == len(PALETTE) == 8
    names = tuple(MEANS)[:8]
    html = report.html(weir.Result.from_json(made(names)))
    assert "Not drawn" not in html
    drawn = charts(html)["f2p0"]["encoding"]
    assert drawn["color"]["scale"]["domain"] == list(names)
    assert len(set(drawn["color"]["scale"]["range"])) == 8
    assert len(set(map(tuple, drawn["strokeDash"]["scale"]["range"]))) == 8
