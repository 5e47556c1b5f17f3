"""Settings of the whole suite: hypothesis draws the same examples in every run, and nothing is timed."""

import pytest
from hypothesis import settings

settings.register_profile("weir", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("weir")


@pytest.fixture(autouse=True)
def _own_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no width of the caller's terminal decide what the tests print."""
    monkeypatch.delenv("COLUMNS", raising=False)
