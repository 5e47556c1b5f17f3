"""The models: what only one of them shows, and here the list of all, which nothing else repeats.

A model is a folder with the class of its results (``result``), its tables, charts and words, and the ``view``
that puts these together for the terminal and the page. No model knows another.
"""

from __future__ import annotations

from dataclasses import dataclass
from pkgutil import resolve_name
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from weir.results.result import Result

__all__ = ["MODELS", "Model"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """What is to be known of a model without a result of it."""

    name: str
    result_class: str
    subjects: str = "classes"
    """The key under which a result lists what its figures are about."""
    usual: tuple[str, str]
    """Two disciplines, one of which can be compared with the only one of a scenario."""
    packets: bool = False
    """Whether progress is reported in packets, and not in nanoseconds simulated."""

    def result(self) -> type[Result]:
        """Return the class of its results; the module is loaded when it is first asked for."""
        found: type[Result] = resolve_name(f"weir.models.{self.name}.result:{self.result_class}")
        return found


_LISTED = (
    Model(name="port", result_class="PortResult", usual=("sf", "fifo"), packets=True),
    Model(name="network", result_class="NetworkResult", usual=("drr:quantum=1514B", "fifo")),
    Model(
        name="fabric",
        result_class="FabricResult",
        subjects="channels",
        usual=("drr:quantum=2048B", "scfq"),
    ),
    Model(
        name="node",
        result_class="NodeResult",
        subjects="processes",
        usual=("epoch", "eevdf"),
    ),
    Model(
        name="server",
        result_class="ServerResult",
        usual=("cfcfs", "rr"),
    ),
)
MODELS = {model.name: model for model in _LISTED}
"""By name, in the order in which they came to be."""
