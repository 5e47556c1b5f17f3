"""Results that the engine has just written.

They are not checked as a file is, which would take longer than a short run.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from weir.models import MODELS

if TYPE_CHECKING:
    from weir.results.result import Result

__all__ = ["of_engine"]


def of_engine(text: str) -> Result:
    """Return the result of a text that the engine has just written."""
    document = json.loads(text)
    return MODELS[document["model"]].result().of_document(text, document)
