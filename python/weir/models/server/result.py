"""Results of the server: typed views on the document that the engine wrote.

Source: the model of ``crates/weir-server/src/outcome.rs``. Times are in seconds. A figure is about a
discipline and a class of requests, or the cores; requests that arrive in the measured time count.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

from weir.models.server import rows
from weir.results.reading import (
    ALL,
    check_counts,
    check_delays,
    check_figures,
    check_listed,
    check_names,
    check_positive,
    check_texts,
    refuse,
)
from weir.results.result import Field, Section
from weir.results.rows import DelayOverTime, OverTime
from weir.results.subjects import SubjectResult, check_about

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from weir.results.rows import Need
    from weir.results.subjects import SubjectEstimate


@dataclass(frozen=True, eq=False, repr=False)
class ServerResult(SubjectResult):
    """What a run of the server found out: delays and slowdowns of requests, drops, and what the cores did.

    Examples
    --------
    >>> result = weir.run("server.toml")                                            # doctest: +SKIP
    >>> result.estimate("jsq", metric="slowdown", statistic="p99.9").value          # doctest: +SKIP
    >>> result.estimate("jsq", kind="core", metric="in_use").value                  # doctest: +SKIP
    """

    _whole: ClassVar[tuple[str, ...] | None] = ()
    _usual: ClassVar[tuple[str, str]] = ("class", "delay")
    _view: ClassVar[str] = "weir.models.server.view:ServerView"

    load = Field[float | None]("float | None")
    """The offered load, all cores together being 1, where it is known."""
    cores = Field[int]("int")
    """How many cores serve requests."""
    receivers = Field[int]("int")
    """How many receivers see to requests first."""
    queue = Field[int | None]("int | None")
    """How many requests may wait for each core; None: any number."""
    measured = Field[float]("float")
    """The measured time of a replication, in seconds."""
    notes = Field[tuple[str, ...]](default=())
    """What figures do not say of themselves."""
    classes = Section(rows.ClassRow)
    """The classes of requests."""
    warnings = Section(rows.ServerWarning)
    """What was warned of."""
    class_totals = Section(rows.ClassTotals)
    """What was counted of each class, and of all, under each discipline."""
    discipline_totals = Section(rows.DisciplineTotals)
    """What was counted of each discipline."""
    core_totals = Section(rows.CoreTotals)
    """What was counted of each core under each discipline."""
    estimates = Section(rows.ServerEstimate)
    """All estimates, one row each."""
    differences = Section(rows.ServerDifference)
    """Paired differences to the reference."""
    distributions = Section(rows.ServerDistribution)
    """Histograms of delay, response and slowdown."""
    windows = Section(rows.Windows)
    """Means of successive windows of the first replication."""
    over_time = Section(OverTime, later=True)
    """Queue, utilisation, delays and losses, window by window, where `measure.over_time` asks for them."""
    delay_over_time = Section(DelayOverTime, later=True)
    """Queueing delays over time in the first replication, by the time of arrival."""
    in_use = Section(rows.InUse)
    """How many cores were in use in the first replication, at each change."""

    @classmethod
    def _check(cls, document: dict[str, Any]) -> None:
        """Check that figures are about what the result lists."""
        _check_subjects(document)
        check_positive("measured", document["measured"])
        check_figures(document)
        check_counts(document, ("class_totals", "discipline_totals", "core_totals"))
        _check_columns(document)

    def lost(self, discipline: str, need: Need) -> SubjectEstimate | None:
        """Return the share of requests that were dropped, of those whose time a need is about."""
        if need.metric not in {"delay", "response", "slowdown"}:
            return None
        return self.estimate(discipline, name=need.name, metric="dropped")

    def samples_to_arrow(self) -> pa.Table:
        """Return the windows of `over_time` as an Arrow table, one row a value.

        Returns
        -------
        pyarrow.Table
            ``discipline``, ``name`` (None), ``metric``, ``statistic``, ``unit``, ``from``, ``until`` (s from
            the beginning), ``value``, ``low`` and ``high`` (its 95 % interval).
        """
        from weir.results.windows import to_arrow

        return to_arrow(self.over_time)

    def totals(self, discipline: str, class_: str = ALL) -> rows.ClassTotals | None:
        """Return what was counted of a class under a discipline, if it was."""
        return self.class_totals.find(discipline=discipline, class_=class_)


def _check_subjects(document: Mapping[str, Any]) -> None:
    """Refuse classes that cannot be distinguished, rows about others, and notes that are no text."""
    names = [row["name"] for row in document["classes"]]
    check_names("classes", names)
    cores = document["cores"]
    if cores < 1:
        refuse("cores", cores, "1 or more")
    check_texts(document, "notes")
    known = {"class": names, "core": [str(core) for core in range(cores)]}
    check_about(document, ("estimates", "differences"), known)
    check_listed(document, ("class_totals", "distributions", "windows"), "class", [ALL, *names])
    check_delays(document, [ALL, *names])
    for place, row in enumerate(document["core_totals"]):
        if not 0 <= row["core"] < cores:
            refuse(f"core_totals[{place}].core", str(row["core"]), "one that the result lists")


def _check_columns(document: Mapping[str, Any]) -> None:
    """Refuse windows and changes of the cores in use whose columns do not go together."""
    for place, row in enumerate(document["windows"]):
        check_positive(f"windows[{place}].interval", row["interval"])
        if len(row["counts"]) != len(row["values"]):
            refuse(f"windows[{place}].counts", row["counts"], "as many as `values`")
    for place, row in enumerate(document.get("over_time", ())):
        check_positive(f"over_time[{place}].interval", row["interval"])
    for place, row in enumerate(document["in_use"]):
        if len(row["count"]) != len(row["at"]):
            refuse(f"in_use[{place}].count", row["count"], "as many as `at`")
        if any(after < before for before, after in pairwise(row["at"])):
            refuse(f"in_use[{place}].at", row["at"], "in order")
