"""Settings of the whole suite: hypothesis draws the same examples in every run, and nothing is timed."""

import signal
import sys
from collections.abc import Iterator

import pytest
from hypothesis import settings

settings.register_profile("weir", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("weir")

# A shell starts what runs in the background deaf to interrupts, its children too; the tests send them.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _own_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no width of the caller's terminal decide what the tests print."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture(autouse=True)
def _no_discipline_stays() -> Iterator[None]:
    """Take away the classes that a test has added, which listings and refusals of others would name."""
    yield
    if own := sys.modules.get("weir.own"):
        own.remove_all()
