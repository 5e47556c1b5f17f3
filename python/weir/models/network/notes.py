"""What is to be known of a network's flows and disciplines before their figures are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.models.network.written import curved
from weir.results.labels import CLASSIC_QUEUES, is_classic
from weir.results.verdict import joined
from weir.text import plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weir.models.network.result import NetworkResult

_FEW = 2
_NAMED = 3
"""The most flows that are named."""


def notes(result: NetworkResult) -> Iterator[str]:
    """Yield a sentence for rates that follow the time, and for a discipline that is not as its name says."""
    following = curved(result)
    if following:
        names = joined(following[:_NAMED]) + (" and others" if len(following) > _NAMED else "")
        yield (
            f"the rate of {names} follows a curve: figures are means over the measured time, no share is "
            "said to be fair, and `measure.over_time` shows the course"
        )
    classic = [spec for spec in result.disciplines if is_classic(spec)]
    if classic and len(result.flows) >= _FEW:
        yield (
            f"{result.labels[classic[0]]} is that of 1993: {plural(len(result.flows), 'flow')} share "
            f"{CLASSIC_QUEUES} queues by a hash, and those that meet in one are served as one; "
            "`sfq:queues=1024` has more, `sfq_linux` is what Linux has, and `fq` has a queue for each flow"
        )
