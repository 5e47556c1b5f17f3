"""What is to be known of a network's disciplines before their figures are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.results.labels import CLASSIC_QUEUES, is_classic
from weir.text import plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weir.models.network.result import NetworkResult

_FEW = 2


def notes(result: NetworkResult) -> Iterator[str]:
    """Yield a sentence for a discipline that does what its name does not lead to expect."""
    classic = [spec for spec in result.disciplines if is_classic(spec)]
    if classic and len(result.flows) >= _FEW:
        yield (
            f"{result.labels[classic[0]]} is that of 1993: {plural(len(result.flows), 'flow')} share "
            f"{CLASSIC_QUEUES} queues by a hash, and those that meet in one are served as one; "
            "`sfq:queues=1024` has more, `sfq_linux` is what Linux has, and `fq` has a queue for each flow"
        )
