"""Languages of blocks of code that Pygments has under another name or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pygments.lexers.special import TextLexer

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the lexers with Sphinx."""
    for name in ("csv", "tg"):
        app.add_lexer(name, TextLexer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
