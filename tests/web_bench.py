"""How fast the engine is in a page: `make bench-web` runs a few scenarios there and natively, in turns.

Each is run on one thread, some times; medians are printed, with the time from opening the page to its first
figure. What is compared is the same bytes (`test_web.py`).
"""

from __future__ import annotations

import json
import sys
import time
from statistics import median

from browser import Browser
from test_web import BUILT, native
from web_scenarios import MESSAGES, REPORT, UDP, WHOLE, network, port, server

REPEATS = 5
_EXPONENTIAL = 'load = 0.8\nlengths = { exponential = "1000B" }'
SCENARIOS = {
    "port, packet by packet": port(["fifo", "rr", "alpha:10"], REPORT, stop="packets = 2_000_000"),
    "port, whole messages": port(
        ["fifo", "ps", "sf"], _EXPONENTIAL, WHOLE, MESSAGES.replace("3_000", "300_000")
    ),
    "server, 4 cores": server(["cfcfs", "jsq"], '{ exponential = "5ms" }', 'rate = "600/s"').replace(
        "requests = 4_000", "requests = 400_000"
    ),
    "network, one link": network(["fifo", "drr", "fq_codel"], UDP, UDP).replace('"2s"', '"60s"'),
}


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def first_figure(browser: Browser) -> float:
    """Return the seconds from the call for a page to the first dot of its chart."""
    page = browser.page()
    began = time.perf_counter()
    page.load(BUILT)
    page.wait("document.querySelector('#chart .dot') !== null")
    return time.perf_counter() - began


def main() -> None:
    """Measure, and print a row a scenario."""
    with Browser() as browser:
        say(f"first figure after {median(first_figure(browser) for _ in range(REPEATS)):.2f} s")
        page = browser.page()
        page.load(BUILT)
        page.wait("document.documentElement.dataset.ready === 'yes'")
        page.evaluate(
            "globalThis.own = new weir.Engine(); own.equip(page.engine.module); "
            "globalThis.timed = async (text) => { "
            "const began = performance.now(); "
            "const begun = await own.ask({ call: 'begin', text, name: 's.toml' }); "
            "for (let n = 0; n < begun.begun.replications; n++) await own.ask({ call: 'step' }); "
            "return (performance.now() - began) / 1e3; }"
        )
        for name, text in SCENARIOS.items():
            here, there = [], []
            for _ in range(REPEATS):
                began = time.perf_counter()
                native(text, "s.toml", threads=1)
                here.append(time.perf_counter() - began)
                there.append(page.evaluate(f"timed({json.dumps(text)})"))
            share = median(one / other for one, other in zip(here, there, strict=True))
            say(
                f"{name}: native {median(here):.3f} s, page {median(there):.3f} s, "
                f"{share:.0%} of native speed"
            )


if __name__ == "__main__":
    main()
