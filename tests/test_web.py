"""The engine in a page: the same bytes as the native engine, and a page that people can use.

To build it takes minutes, so that what needs it is asked for by ``WEIR_WEB``, which names the profile, and
skipped otherwise: ``make test-web``. A browser does with the page what people do: moves sliders, opens
files, stops runs.
"""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import weir
from browser import Browser, chromium
from web_scenarios import REPORT, SCENARIOS, network, port
from weir import _weir

if TYPE_CHECKING:
    from collections.abc import Iterator

    from browser import Page

ROOT = Path(__file__).resolve().parent.parent
BUILT = ROOT / "out" / "web" / "index.html"
EXAMPLES = sorted((ROOT / "crates" / "weir-web" / "page" / "examples").glob("*.toml"))
DESK, TELEPHONE = 1400, 390
LARGEST = 2_000_000
"""Bytes of the page, compressed."""

pytestmark = [
    pytest.mark.skipif("WEIR_WEB" not in os.environ, reason="builds the page, minutes: make test-web"),
    pytest.mark.skipif(chromium() is None, reason="no Chromium is installed: pages are not opened"),
]


def native(text: str, name: str, threads: int | None = None) -> str:
    """Return the result of the native engine."""
    return _weir.run(_weir.Scenario(text, name), threads, None, None)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def engine(browser: Browser) -> Page:
    """Return a page with another engine, which is asked directly."""
    page = browser.page()
    page.load(BUILT)
    page.wait("document.documentElement.dataset.ready === 'yes'")
    page.evaluate("globalThis.own = new weir.Engine(); own.equip(page.engine.module)")
    return page


@pytest.fixture
def page(browser: Browser) -> Page:
    """Return a page as it opens, with its first run at its end."""
    opened = browser.page()
    opened.show(DESK, dark=False)
    opened.load(BUILT)
    finished(opened)
    return opened


def finished(page: Page) -> None:
    page.wait("document.documentElement.dataset.ready === 'yes'")
    page.wait("document.getElementById('status').textContent === 'Finished.'")


def write(page: Page, text: str, name: str = "scenario.toml") -> None:
    """Put a scenario into the page as somebody who types does."""
    page.evaluate(
        f"page.state.name = {json.dumps(name)}; at('text').value = {json.dumps(text)}; "
        "at('text').dispatchEvent(new Event('input')); page.says('…')"
    )


def ask(page: Page, question: dict[str, object]) -> dict[str, object]:
    found = page.evaluate(f"own.ask({json.dumps(question)})")
    assert isinstance(found, dict)
    return found


def run(page: Page, text: str, name: str) -> str:
    """Return the last result of a run of the engine in the page."""
    begun = ask(page, {"call": "begin", "text": text, "name": name})
    assert "begun" in begun, begun
    last: dict[str, object] = {}
    for _ in range(begun["begun"]["replications"]):
        last = ask(page, {"call": "step"})
        assert "result" in last, last
    return last["result"]["text"]


@pytest.mark.parametrize("name", [*SCENARIOS, *(path.name for path in EXAMPLES)])
def test_the_bytes_are_those_of_the_native_engine(engine: Page, name: str) -> None:
    text = SCENARIOS.get(name) or next(path for path in EXAMPLES if path.name == name).read_text()
    expected, found = native(text, "s.toml"), run(engine, text, "s.toml")
    if expected != found:
        one, other = json.loads(expected), json.loads(found)
        differ = [key for key in one if one[key] != other.get(key)]
        parts = [
            (a, b)
            for key in differ
            if isinstance(one[key], list)
            for a, b in zip(one[key], other[key], strict=False)
            if a != b
        ]
        pytest.fail(f"{differ}: {parts[:3]}")


def test_there_are_scenarios_enough() -> None:
    assert len(SCENARIOS) + len(EXAMPLES) >= 30


def test_data_files_are_handed_over(engine: Page, tmp_path: Path) -> None:
    rows = "time,size\n" + "".join(f"{n * 0.0007:.4f},{100 + n % 900}\n" for n in range(400))
    (tmp_path / "t.csv").write_text(rows)
    text = network(["fifo", "drr"], 'trace = { file = "t.csv", time_unit = "s" }')
    held = base64.b64encode(rows.encode()).decode()
    engine.evaluate(f"own.take('t.csv', Uint8Array.from(atob('{held}'), c => c.charCodeAt(0)).buffer)")
    found = json.loads(run(engine, text, "s.toml"))
    expected = json.loads(native(text, str(tmp_path / "s.toml")))
    assert found.pop("file") == "s.toml"
    expected.pop("file")
    assert found == expected
    missing = ask(engine, {"call": "check", "text": text.replace("t.csv", "u.csv"), "name": "s.toml"})
    assert "u.csv" in missing["refused"]["message"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "weir = 1\n",
        port(["fifo"], 'load = -1\nlengths = "report"'),
        port(["fifo", "alpa:3"], REPORT),
        'weir = 1\nmodel = "port"\ndisciplines = ["fifo"',
        network(["fifo"], 'size = "1B"'),
    ],
)
def test_refusals_are_those_of_the_command_line(engine: Page, text: str) -> None:
    refused = ask(engine, {"call": "check", "text": text, "name": "s.toml"})["refused"]
    with pytest.raises(Exception, match=re.escape(refused["message"])) as caught:
        _weir.Scenario(text, "s.toml")
    assert (caught.value.line, caught.value.column) == (refused["line"], refused["column"])
    assert caught.value.remedy == refused["remedy"]


# The page.


@pytest.mark.skipif(
    os.environ.get("WEIR_WEB") != "web", reason="of another profile than users get: make test-web"
)
def test_the_page_is_small() -> None:
    assert len(gzip.compress(BUILT.read_bytes(), 9)) < LARGEST


def test_the_page_is_alone() -> None:
    text = BUILT.read_text()
    outside = re.findall(r"""(?:src|href)=["'](?!data:|\.\./index\.html)[^"']+""", text.split("<script>")[0])
    assert outside == []


def test_it_opens_with_a_result(page: Page) -> None:
    assert page.evaluate("document.querySelectorAll('#chart circle').length") == 3
    assert page.evaluate("document.querySelectorAll('#table tbody tr').length") == 3
    assert "none failed" in page.evaluate("at('checks').textContent")
    assert page.said == []


def test_the_fingerprint_is_that_of_the_command(
    page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, name = page.evaluate("[page.state.text, page.state.name]")
    (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    expected = weir.run(name).digest
    page.wait("at('fingerprint').dataset.digest")
    assert page.evaluate("at('fingerprint').dataset.digest") == expected


def test_a_slider_writes_the_text_and_runs(page: Page) -> None:
    page.evaluate(
        "{ const load = document.querySelector('#knobs input[data-name=\"workload.load\"]'); "
        "page.says('…'); load.value = 0.5; load.dispatchEvent(new Event('input')); }"
    )
    finished(page)
    assert re.search(r"^load = 0\.50$", page.evaluate("at('text').value"), re.MULTILINE)
    text, name = page.evaluate("[page.state.text, page.state.name]")
    own = json.loads(native(text, name))["estimates"]
    shown = page.evaluate(
        "weir.chosen(page.result, page.state.figure, page.state.subject).map(row => row.estimate)"
    )
    assert [row for row in own if row in shown] == shown
    assert page.said == []


def test_it_needs_no_network_and_may_not_have_one(page: Page) -> None:
    page.send("Network.enable")
    none = {"latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
    page.send("Network.emulateNetworkConditions", offline=True, **none)
    page.evaluate("page.says('…'); page.run()")
    finished(page)
    assert page.said == []
    asked = page.evaluate("fetch('https://example.org/').then(() => 'answered', () => 'refused')")
    assert asked == "refused"
    assert any("Content Security Policy" in each for each in page.said)


def test_a_discipline_is_picked(page: Page) -> None:
    before = page.evaluate("weir.disciplines(page.state.text)")
    page.evaluate(
        "{ page.says('…'); const box = [...document.querySelectorAll('#disciplines input')]"
        ".find(each => each.value === 'hrrn'); box.click(); }"
    )
    finished(page)
    assert page.evaluate("weir.disciplines(page.state.text)") == [*before, "hrrn"]
    assert page.evaluate("document.querySelectorAll('#chart circle').length") == len(before) + 1


@pytest.mark.parametrize("example", range(len(EXAMPLES)))
def test_every_example_runs_and_is_followed(page: Page, example: int) -> None:
    page.evaluate(
        f"page.says('…'); at('example').value = {example}; at('example').dispatchEvent(new Event('change'))"
    )
    finished(page)
    assert page.evaluate("document.querySelectorAll('#chart .dot').length") >= 3
    page.evaluate("page.says('…'); at('follow').click()")
    finished(page)
    assert page.evaluate("document.querySelectorAll('#lanes rect.served').length") > 10
    page.evaluate("at('after').click(); at('after').click()")
    assert page.evaluate("at('presence').textContent").startswith("At ")
    assert page.said == []


def test_a_curve_has_its_points_and_intervals(page: Page) -> None:
    page.evaluate("page.says('…'); at('over').value = 'workload.load'; at('draw').click()")
    finished(page)
    assert page.evaluate("document.querySelectorAll('#curve .dot').length") == 27
    assert page.evaluate("document.querySelectorAll('#curve .whisker').length") == 27


def test_what_is_needed_is_shown_first_with_its_bound(page: Page) -> None:
    need = '[[need]]\nmetric = "response p99"\nclass = "page"\nbound = "200ms"\n'
    example = next(text for text in map(Path.read_text, EXAMPLES) if 'name = "page"' in text)
    page.evaluate("page.says('…')")
    write(page, f"{example.split('[[need]]')[0]}\n{need}")
    finished(page)
    assert page.evaluate("[at('figure').value, at('subject').value]") == ["response p99", "class page"]
    assert page.evaluate("document.querySelector('#chart text.bound').textContent") == "at most 200\xa0ms"
    assert page.evaluate("document.querySelectorAll('#chart line.bound').length") == 1
    page.evaluate("at('figure').value = 'response mean'; at('figure').dispatchEvent(new Event('change'))")
    assert page.evaluate("document.querySelectorAll('#chart .bound').length") == 0
    assert page.said == []


def test_a_refusal_stands_at_its_line(page: Page) -> None:
    text = page.evaluate("page.state.text").replace("load = 0.8", "load = -1")
    write(page, text)
    page.wait("!document.getElementById('refusal').hidden")
    line = text.split("\n").index("load = -1") + 1
    assert page.evaluate("at('refusal-words').textContent").startswith(
        f"scenario.toml:{line}:8: workload.load is -1"
    )
    assert page.evaluate("document.querySelector('#numbers .refused').textContent.trim()") == str(line)
    page.evaluate("at('refusal-line').click()")
    chosen = page.evaluate("at('text').value.slice(at('text').selectionStart, at('text').selectionEnd)")
    assert chosen == "load = -1"


def test_a_long_run_is_stopped_and_the_page_stays_awake(page: Page) -> None:
    long = port(["fifo", "sf"], REPORT, stop="packets = 2_000_000_000")
    write(page, long)
    page.wait(
        "!at('stop').disabled && page.state.text.includes('2_000_000_000') "
        "&& at('status').textContent === 'Running…'"
    )
    time.sleep(0.3)
    longest = page.evaluate(
        "new Promise(done => { let last = performance.now(), longest = 0, n = 0; const tick = () => { "
        "const now = performance.now(); longest = Math.max(longest, now - last); last = now; "
        "if (++n < 20) setTimeout(tick, 10); else done(longest); }; tick(); })"
    )
    assert longest < 2_000  # a page that froze would wait for the whole run, minutes
    page.evaluate("at('stop').click()")
    assert page.evaluate("at('stop').disabled")
    page.evaluate("page.example(weirEngine.examples[0]); page.says('…')")
    finished(page)
    assert page.said == []


def test_a_link_holds_the_state(browser: Browser, page: Page) -> None:
    text = page.evaluate("page.state.text").replace("seed = 1", "seed = 77")
    write(page, text)
    finished(page)
    page.evaluate("page.remember()")
    other = browser.page()
    other.load(BUILT, page.evaluate("location.hash"))
    finished(other)
    assert other.evaluate("at('text').value") == text
    assert other.evaluate("at('fingerprint').dataset.digest") == page.evaluate(
        "at('fingerprint').dataset.digest"
    )
    damaged = browser.page()
    damaged.load(BUILT, "#s=zzzz")
    finished(damaged)
    assert damaged.said == []


def test_files_are_opened_and_large_ones_refused(page: Page) -> None:
    text = port(["fifo", "rr"], REPORT)
    page.evaluate(f"page.says('…'); page.take([new File([{json.dumps(text)}], 'mine.toml')])")
    finished(page)
    assert page.evaluate("page.state.name") == "mine.toml"
    page.evaluate("page.take([{ name: 'big.csv', size: 500 * 2 ** 20 }])")
    words = page.evaluate("at('refusal-words').textContent")
    assert words.startswith("big.csv has 500 MiB, must have at most 256 MiB in a page")


def test_memory_that_is_not_there_is_said(page: Page) -> None:
    died = page.evaluate("weir.Engine.reason('memory')")
    assert "2 GiB" in died["message"]
    # A trace whose rows take more than there is.
    answer = page.evaluate(
        "(async () => { const bytes = new Uint8Array(200 * 2 ** 20).fill(10); "
        "for (const name of 'abcdefghijk') { "
        "const said = await page.engine.send({ file: name, bytes: bytes.buffer }); if (said) return said; } "
        "return null; })()"
    )
    assert answer["failed"]["message"] == died["message"]


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [DESK, TELEPHONE])
def test_it_fits(browser: Browser, width: int, dark: bool, tmp_path: Path) -> None:
    page = browser.page()
    page.show(width, dark=dark)
    page.load(BUILT)
    finished(page)
    page.evaluate("page.says('…'); at('follow').click()")
    finished(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    kept = os.environ.get("WEIR_PICTURES")
    page.screenshot(Path(kept or tmp_path) / f"web-{width}-{'dark' if dark else 'light'}.png")
    assert page.said == []


def test_the_keyboard_is_enough(page: Page) -> None:
    reached = page.evaluate(
        "[...document.querySelectorAll('button, select, textarea, input')]"
        ".filter(each => !each.closest('[hidden]') && !each.disabled)"
        ".every(each => { each.focus(); return document.activeElement === each; })"
    )
    assert reached
    assert page.evaluate("[...document.querySelectorAll('[tabindex]')].length") == 0
    page.evaluate("document.querySelector('#knobs input').focus(); page.says('…')")
    for kind in ("keyDown", "keyUp"):
        page.send(
            "Input.dispatchKeyEvent", type=kind, key="ArrowLeft", code="ArrowLeft", windowsVirtualKeyCode=37
        )
    finished(page)
    assert "load = 0.79" in page.evaluate("at('text').value")


def test_an_old_browser_gets_a_sentence(browser: Browser) -> None:
    page = browser.page()
    page.send("Page.addScriptToEvaluateOnNewDocument", source="delete globalThis.DecompressionStream")
    page.load(BUILT)
    assert page.evaluate("!document.getElementById('old').hidden && document.getElementById('main').hidden")
