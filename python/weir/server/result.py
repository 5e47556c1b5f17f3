"""Results of the server: typed views on the document that the engine wrote.

Source: the model of ``crates/weir-sim/src/server/outcome.rs``. Times are in seconds. A figure is about a
discipline and a class of requests, or the cores; requests that arrive in the measured time count.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from weir.errors import ResultError
from weir.fabric.labels import labels
from weir.reading import REMEDY
from weir.result import Result
from weir.rows import rows
from weir.server.reading import ALL, check_columns, check_figures, check_subjects
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

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ALL", "ServerResult"]


@dataclass(frozen=True, eq=False, repr=False)
class ServerResult(Result):
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

    @classmethod
    def check(cls, document: dict[str, Any]) -> None:
        """Check what was read: as of every result, and that figures are about what it lists.

        Raises
        ------
        ResultError
            If something is not as the engine writes it; the error says where.
        """
        for name in (*cls._fields, *cls._sections, "replications", "theory", "checks", "engines"):
            if name not in document:
                raise ResultError(f"is not a result of weir: `{name}` is missing", REMEDY)
        super().check(document)
        check_subjects(document)
        check_figures(document)
        check_columns(document)

    @property
    def _row(self) -> type[Any]:
        return ServerEstimate

    @cached_property
    def estimates(self) -> tuple[ServerEstimate, ...]:
        """All estimates, one row each."""
        return rows(ServerEstimate, self.document["estimates"])

    @cached_property
    def differences(self) -> tuple[ServerDifference, ...]:
        """Paired differences to the reference."""
        return rows(ServerDifference, self.document["differences"])

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

    @property
    def measured(self) -> float:
        """The measured time of a replication, in seconds."""
        return float(self.document["measured"])

    @property
    def replications(self) -> int:
        """Independent replications behind the figures."""
        return int(self.document["replications"])

    @cached_property
    def labels(self) -> dict[str, str]:
        """A short name for each of `disciplines`."""
        return labels(self.disciplines)

    @cached_property
    def _index(self) -> dict[tuple[str, str, str, str, str], ServerEstimate]:
        return {
            (row.discipline, row.kind, row.name, row.metric, row.statistic): row for row in self.estimates
        }

    @cached_property
    def _differences(self) -> dict[tuple[str, str, str, str, str], ServerDifference]:
        return {
            (row.discipline, row.kind, row.name, row.metric, row.statistic): row for row in self.differences
        }

    @cached_property
    def _totals(self) -> dict[tuple[str, str], ClassTotals]:
        return {(row.discipline, row.class_): row for row in self.class_totals}

    def estimate(
        self,
        discipline: str,
        *,
        name: str = ALL,
        metric: str = "delay",
        statistic: str = "mean",
        kind: str = "class",
    ) -> ServerEstimate | None:
        """Return one estimate, or None if the run has no such row.

        Parameters
        ----------
        discipline : str
            A spec string of `disciplines`.
        name : str
            The class, or the core; all of the kind if not given.
        metric : str
            As `weir.server.ServerEstimate` lists them.
        statistic : str
            ``mean``, ``p50``, ``p90``, ``p99``, ``p99.9``, ``p99.99``, ``max`` or ``window_max``.
        kind : str
            ``class`` or ``core``.
        """
        return self._index.get((discipline, kind, name, metric, statistic))

    def difference(
        self,
        discipline: str,
        *,
        name: str = ALL,
        metric: str = "delay",
        statistic: str = "mean",
        kind: str = "class",
    ) -> ServerDifference | None:
        """Return the paired difference to the reference, if there is one; parameters as of `estimate`.

        Instead of ``max`` and ``window_max`` there are ``replication_max`` and ``replication_window_max``, of
        each replication's own longest.
        """
        return self._differences.get((discipline, kind, name, metric, statistic))

    def totals(self, discipline: str, class_: str = ALL) -> ClassTotals | None:
        """Return what was counted of a class under a discipline, if it was."""
        return self._totals.get((discipline, class_))
