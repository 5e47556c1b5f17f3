"""Results with windows over time, where ``measure.over_time`` asks for them.

Source: ``crates/weir-lab/src/stats/windows.rs``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weir.results.reading import check_positive
from weir.results.result import Result, Section
from weir.results.rows import OverTime

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Windowed"]


@dataclass(frozen=True, eq=False, repr=False)
class Windowed(Result):
    """What a run found out, with figures of successive windows."""

    windows = Section(OverTime, later=True)
    """Figures by window, where `measure.over_time` asks for them."""

    def samples_to_arrow(self) -> pa.Table:
        """Return `windows` as an Arrow table, one row a value.

        Returns
        -------
        pyarrow.Table
            ``discipline``, ``name`` (of what the row is about, or None where that is all), ``metric``,
            ``statistic``, ``unit``, ``from``, ``until`` (from the beginning, in the unit of time of the
            result), ``value``, ``low`` and ``high`` (its 95 % interval).
        """
        from weir.results.windows import to_arrow

        return to_arrow(self.windows)

    @staticmethod
    def _check_windows(document: dict[str, Any]) -> None:
        """Check that windows have a length."""
        for place, row in enumerate(document.get("windows", ())):
            check_positive(f"windows[{place}].interval", row["interval"])
