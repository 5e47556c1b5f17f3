"""Charts of a result, as Vega-Lite specifications that a report embeds.

Colour carries meaning and is the same in every chart: the alpha family, from FIFO (alpha 0) to shortest first
(alpha infinite), runs along one ramp by alpha; everything else takes a colour of the Okabe-Ito palette and a
shape or dash of its own, so that no reader depends on hue. A chart with more curves than can be told apart
draws a spread of them and says which are left out. Widths follow the page; the page sets light or dark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.models.port.delays import delays
from weir.models.port.frontier import frontier
from weir.models.port.lengths import by_length
from weir.models.port.theory import beside_theory

if TYPE_CHECKING:
    from weir.models.port.result import PortResult
    from weir.results.style import Figure

__all__ = ["figures"]


def figures(result: PortResult) -> list[Figure]:
    """Return the charts that the result has the rows for, in the order of a report."""
    made = (delays(result), by_length(result), frontier(result), beside_theory(result))
    return [figure for figure in made if figure is not None]
