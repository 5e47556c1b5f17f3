"""Results of the server: typed views on the document that the engine wrote.

Source: the model of ``crates/weir-sim/src/server/outcome.rs``. Times are in seconds. A figure is about a
discipline and a class of requests, or the cores; requests that arrive in the measured time count.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from weir.result import LISTED
from weir.rows import rows
from weir.server.reading import check_columns, check_figures, check_subjects
from weir.server.rows import (
    ClassRow,
    ClassTotals,
    CoreTotals,
    DisciplineTotals,
    InUse,
    ServerDifference,
    ServerDistribution,
    ServerEstimate,
    ServerWarning,
    Windows,
)
from weir.subjects import ALL, SubjectResult

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ALL", "ServerResult"]


@dataclass(frozen=True, eq=False, repr=False)
class ServerResult(SubjectResult[ServerEstimate, ServerDifference]):
    """What a run of the server found out: delays and slowdowns of requests, drops, and what the cores did.

    Examples
    --------
    >>> result = weir.run("server.toml")                                            # doctest: +SKIP
    >>> result.estimate("jsq", metric="slowdown", statistic="p99.9").value          # doctest: +SKIP
    >>> result.estimate("jsq", kind="core", metric="in_use").value                  # doctest: +SKIP
    """

    _fields: ClassVar[Mapping[str, str]] = {
        "load": "float | None",
        "cores": "int",
        "receivers": "int",
        "queue": "int | None",
        "measured": "float",
    }
    _sections: ClassVar[Mapping[str, type]] = {
        "classes": ClassRow,
        "warnings": ServerWarning,
        "class_totals": ClassTotals,
        "discipline_totals": DisciplineTotals,
        "core_totals": CoreTotals,
        "estimates": ServerEstimate,
        "differences": ServerDifference,
        "distributions": ServerDistribution,
        "windows": Windows,
        "in_use": InUse,
    }
    _required: ClassVar[tuple[str, ...]] = (*_fields, *_sections, *LISTED)
    _usual: ClassVar[tuple[str, str]] = ("class", "delay")

    @classmethod
    def check(cls, document: dict[str, Any]) -> None:
        """Check what was read: as of every result, and that figures are about what it lists.

        Raises
        ------
        ResultError
            If something is not as the engine writes it; the error says where.
        """
        super().check(document)
        check_subjects(document)
        check_figures(document)
        check_columns(document)

    @cached_property
    def distributions(self) -> tuple[ServerDistribution, ...]:
        """Histograms of delay, response and slowdown."""
        return rows(ServerDistribution, self.document["distributions"])

    @cached_property
    def classes(self) -> tuple[ClassRow, ...]:
        """The classes of requests."""
        return rows(ClassRow, self.document["classes"])

    @cached_property
    def warnings(self) -> tuple[ServerWarning, ...]:
        """What was warned of."""
        return rows(ServerWarning, self.document["warnings"])

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What figures do not say of themselves."""
        return tuple(self.document.get("notes", []))

    @cached_property
    def class_totals(self) -> tuple[ClassTotals, ...]:
        """What was counted of each class, and of all, under each discipline."""
        return rows(ClassTotals, self.document["class_totals"])

    @cached_property
    def discipline_totals(self) -> tuple[DisciplineTotals, ...]:
        """What was counted of each discipline."""
        return rows(DisciplineTotals, self.document["discipline_totals"])

    @cached_property
    def core_totals(self) -> tuple[CoreTotals, ...]:
        """What was counted of each core under each discipline."""
        return rows(CoreTotals, self.document["core_totals"])

    @cached_property
    def windows(self) -> tuple[Windows, ...]:
        """Means of successive windows of the first replication."""
        return rows(Windows, self.document["windows"])

    @cached_property
    def in_use(self) -> tuple[InUse, ...]:
        """How many cores were in use in the first replication, at each change."""
        return rows(InUse, self.document["in_use"])

    @property
    def load(self) -> float | None:
        """The offered load, all cores together being 1, where it is known."""
        return self.document.get("load")

    @property
    def cores(self) -> int:
        """How many cores serve requests."""
        return int(self.document["cores"])

    @property
    def receivers(self) -> int:
        """How many receivers see to requests first."""
        return int(self.document["receivers"])

    @property
    def queue(self) -> int | None:
        """How many requests may wait for each core; None: any number."""
        return self.document.get("queue")

    @cached_property
    def _totals(self) -> dict[tuple[str, str], ClassTotals]:
        return {(row.discipline, row.class_): row for row in self.class_totals}

    def totals(self, discipline: str, class_: str = ALL) -> ClassTotals | None:
        """Return what was counted of a class under a discipline, if it was."""
        return self._totals.get((discipline, class_))
