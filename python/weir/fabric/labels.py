"""Short names of disciplines whose spec strings are long: whole arbitration tables stand in them.

As in a network (`weir.network.labels`), a label is the name, and where others have it too the parameters that
differ. Parameters too long to stand in a table's header are left out, and labels that are equal then are
numbered in the order of the scenario. Every report has the whole specs beside them.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from weir.network.labels import labels as told_apart

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["labels"]

_NAME = re.compile(r"[:(]")
_LONGEST = 20
"""Characters of a parameter in a label."""


def labels(disciplines: Sequence[str]) -> dict[str, str]:
    """Return a short label for each spec string, no two alike.

    Examples
    --------
    >>> table = "dtable:distances=2/4/4,weights=32cr/64cr/64cr"
    >>> list(labels([table, table + ",stall=keep", "drr:quantum=2048B"]).values())
    ['dtable', 'dtable stall=keep', 'drr']
    """
    found = {spec: _shortened(label) for spec, label in told_apart(disciplines).items()}
    often = Counter(found.values())
    seen: Counter[str] = Counter()
    for spec, label in found.items():
        if often[label] > 1:
            seen[label] += 1
            found[spec] = f"{label} {seen[label]}"
    return found


def _shortened(label: str) -> str:
    """Return a label without its long parameters."""
    head, *parameters = label.split(" ")
    name = _NAME.split(head, maxsplit=1)[
        0
    ]  # of a whole spec too, where nothing shorter tells it from another
    return " ".join([name, *(each for each in parameters if len(each) <= _LONGEST)])
