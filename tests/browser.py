"""A headless Chromium for tests: pages opened at a width and in a theme, and what the browser says of them.

It is driven by the DevTools protocol over a pipe: messages are JSON, each ended by a zero byte, on the file
descriptors 3 (to the browser) and 4 (from it). So there is neither a port nor a library.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from collections import deque
from dataclasses import dataclass, field
from functools import cache
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from pathlib import Path

PATIENCE = 30.0
"""Seconds for a page to be drawn."""
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-background-networking",
    "--no-first-run",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)


@cache
def chromium() -> str | None:
    """Return the path of a Chromium that is installed, if there is one."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((path for path in map(shutil.which, names) if path), None)


class BrowserError(Exception):
    """The browser refused something, or fell silent."""


@dataclass
class Page:
    """A page that is open."""

    browser: Browser
    session: str
    said: list[str] = field(default_factory=list)
    """What the console shows at the level of a warning or above."""

    def send(self, method: str, **parameters: object) -> dict[str, Any]:
        """Send a command to the page and return its result."""
        return self.browser.send(method, session=self.session, **parameters)

    def evaluate(self, expression: str) -> Any:
        """Return the value of an expression, of a promise once it is kept."""
        found = self.send("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in found:
            raise BrowserError(str(found["exceptionDetails"])[:2000])
        return found["result"].get("value")

    def show(self, width: int, *, dark: bool, height: int = 900) -> None:
        """Set the width of the window and the theme."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        self.send("Emulation.setEmulatedMedia", features=[scheme])

    def open(self, path: Path) -> None:
        """Load a file and wait until its charts are drawn."""
        self.said.clear()
        self.send("Page.navigate", url=path.resolve().as_uri())
        self.drawn()

    def load(self, path: Path, query: str = "") -> None:
        """Load a page without charts, with a query such as ``?q=word``, and wait until it is complete."""
        self.said.clear()
        self.send("Page.navigate", url=path.resolve().as_uri() + query)
        self.wait("document.readyState === 'complete'")

    def wait(self, condition: str) -> None:
        """Wait until an expression is true."""
        until = time.monotonic() + PATIENCE
        while not self.evaluate(condition):
            if time.monotonic() > until:
                raise BrowserError(f"it never came to {condition}")
            time.sleep(0.02)

    def drawn(self) -> None:
        """Wait until the page is loaded and every chart of it is drawn, or could not be."""
        ready = "document.readyState === 'complete' && document.documentElement.dataset.charts === 'drawn'"
        until = time.monotonic() + PATIENCE
        while not self.evaluate(ready):
            if time.monotonic() > until:
                raise BrowserError("the charts are not drawn")
            time.sleep(0.02)
        # Observers of sizes and what they draw anew come with the next frames.
        self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def screenshot(self, path: Path) -> None:
        """Write the whole page as a picture."""
        height = self.evaluate("Math.ceil(document.documentElement.scrollHeight)")
        width = self.evaluate("innerWidth")
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        found = self.send("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        path.write_bytes(base64.b64decode(found["data"]))


class Browser:
    """A browser of its own, with a profile that goes with it."""

    def __enter__(self) -> Self:
        self._profile = TemporaryDirectory(prefix="weir-browser-", ignore_cleanup_errors=True)
        commands, self._write = os.pipe()
        self._read, answers = os.pipe()
        # The shell puts the ends of the pipes where the browser looks for them.
        script = f'exec "$@" 3<&{commands} 4>&{answers}'
        arguments = [chromium() or "chromium", *_FLAGS, f"--user-data-dir={self._profile.name}"]
        self._process = subprocess.Popen(
            ["bash", "-c", script, "bash", *arguments],
            pass_fds=(commands, answers),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(commands)
        os.close(answers)
        self._last, self._held, self._pages = 0, b"", dict[str, Page]()
        self._messages: deque[dict[str, Any]] = deque()
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._write)
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._read)
        self._profile.cleanup()

    def page(self) -> Page:
        """Open an empty page."""
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = self._pages[session] = Page(self, session)
        for domain in ("Page", "Runtime", "Log"):
            page.send(f"{domain}.enable")
        return page

    def send(self, method: str, session: str | None = None, **parameters: object) -> dict[str, Any]:
        """Send a command and return its result; events that come before it are noted."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._write, data) :]
        while True:
            answer = self._receive()
            if answer.get("id") != self._last:
                self._note(answer)
            elif "error" in answer:
                raise BrowserError(f"{method}: {answer['error']}")
            else:
                found: dict[str, Any] = answer["result"]
                return found

    def _receive(self) -> dict[str, Any]:
        while not self._messages:
            if not select.select([self._read], [], [], PATIENCE)[0]:
                raise BrowserError("the browser does not answer")
            data = os.read(self._read, 1 << 16)
            if not data:
                raise BrowserError("the browser has ended")
            *whole, self._held = (self._held + data).split(b"\0")
            self._messages.extend(map(json.loads, whole))
        return self._messages.popleft()

    def _note(self, event: dict[str, Any]) -> None:
        """Keep what a console shows of warnings and errors."""
        page = self._pages.get(event.get("sessionId", ""))
        method, about = event.get("method"), event.get("params", {})
        if page is None:
            return
        if method == "Runtime.consoleAPICalled" and about["type"] in {"warning", "error", "assert"}:
            page.said.append(" ".join(str(each.get("value", each)) for each in about["args"]))
        elif method == "Runtime.exceptionThrown":
            page.said.append(str(about["exceptionDetails"])[:500])
        elif method == "Log.entryAdded" and about["entry"]["level"] in {"warning", "error"}:
            page.said.append(about["entry"]["text"])
