"""Results of a model that weir does not know: what there is in them is shown as it stands.

Source: ``Outcome`` of ``crates/weir-lab/src/result.rs``. Figures have a kind and a name; which, and what is
measured of them, the result says itself, so that whoever writes a model writes nothing here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from weir.results.marks import by_discipline, distribution
from weir.results.page import headed, in_full, note, noted, section, table
from weir.results.page import tables as on_page
from weir.results.reading import ALL, check_figures
from weir.results.result import Section
from weir.results.rows import Histogram
from weir.results.subjects import SubjectAbout, SubjectResult
from weir.results.tables import column, discipline_column, forms_columns, others, spread
from weir.results.terminal import closed_forms, titled
from weir.results.view import View
from weir.text import absent, number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from weir.results.rows import Measured
    from weir.results.style import Figure
    from weir.results.tables import Column

_INTERVALS = "95 % confidence intervals over the replications."
_PAIRED = "Differences are paired: the disciplines served the same work."


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainDistribution(Histogram, SubjectAbout):
    """A histogram by its non-empty bins, of a metric of a subject."""


@dataclass(frozen=True, eq=False, repr=False)
class PlainResult(SubjectResult):
    """What a run of a model found out that weir does not know.

    ``kind`` and ``metric`` are those of the first figure where `estimate` is not given them.
    """

    _whole: ClassVar[tuple[str, ...] | None] = ()
    _view: ClassVar[str] = "weir.results.plain:PlainView"

    distributions = Section(PlainDistribution)
    """Histograms."""

    @classmethod
    def _check(cls, document: dict[str, Any]) -> None:
        """Check that intervals and bins are in order."""
        check_figures(document)

    @property
    def usual(self) -> tuple[str, str]:
        """The kind and the metric of the first figure."""
        first = next(iter(self.estimates), None)
        return ("", "") if first is None else (first.kind, first.metric)


class PlainView(View[PlainResult]):
    """Every figure by what it is about, as a table of the disciplines."""

    def statements(self) -> Sequence[str | None]:
        """Return nothing: what a figure means, only its model knows."""
        return ()

    def show(self, out: Console, *, compared: bool) -> None:
        """Show the figures, compared each with its paired differences, then closed forms."""
        result = self.result
        for title, columns, differences in self._figures():
            titled(out, title, discipline_column(result), [columns])
            if compared:
                titled(out, self._minus(title), discipline_column(result, others(result)), [differences])
        closed_forms(out, self._theory())

    def facts(self) -> Sequence[str]:
        """Return what was simulated, of which model."""
        return [f"model {self.result.model}", *super().facts()]

    def figures(self) -> Sequence[Figure]:
        """Return the distributions: a figure a metric, a panel for each of whom it is about."""
        every = self.result.distributions
        keys = dict.fromkeys((row.kind, row.metric) for row in every)
        made = (self._distribution([row for row in every if (row.kind, row.metric) == key]) for key in keys)
        return [figure for figure in made if figure is not None]

    def _distribution(self, rows: Sequence[PlainDistribution]) -> Figure | None:
        held, words = [row for row in rows if row.count], rows[0].metric.replace("_", " ")
        panels = {row.name: _about(row.kind, row.name) for row in held}
        lines = by_discipline(self.result.labels)
        caption = f"The share of all that is above a {words}."
        return distribution(words, caption, held, panels, lambda row: row.name, lines)

    def sections(self, charts: Sequence[str]) -> Sequence[str]:
        """Return the figures with their differences, charts and closed forms."""
        result = self.result
        first, second = discipline_column(result), discipline_column(result, others(result))
        parts = []
        for title, columns, differences in self._figures():
            parts.append(headed(title, on_page(first, [columns])))
            parts.append(headed(self._minus(title), on_page(second, [differences])))
        words = f"{_INTERVALS} {_PAIRED}" if others(result) else _INTERVALS
        missing = "".join(map(note, self._absent()))
        listed = noted("".join(parts), words, missing + in_full(result))
        return [section("The comparison", listed), *charts, section("Closed forms", table(self._theory()))]

    def _figures(self) -> Iterator[tuple[str, list[Column], list[Column]]]:
        """Yield the statistics of each figure, with a title, and their paired differences."""
        result = self.result
        for kind, name, metric in dict.fromkeys((row.kind, row.name, row.metric) for row in result.estimates):
            about = {"kind": kind, "name": name, "metric": metric}
            title = f"{metric.replace('_', ' ')} of {_about(kind, name)}"
            yield (
                title,
                _statistics(result.estimates, result.disciplines, about),
                _statistics(result.differences, others(result), about),
            )

    def _minus(self, title: str) -> str:
        return f"{title}, minus {self.result.labels[self.result.reference]}'s"

    def _absent(self) -> list[str]:
        """Return why there are figures without a value, each reason once."""
        reasons = {row.reason for row in self.result.estimates if row.value is None}
        return sorted(absent(reason) for reason in reasons)

    def _theory(self) -> list[Column]:
        rows = [row for row in self.result.theory if row.value is not None]
        values = {"exact": [f"{number(row.value or 0.0)} {row.unit}" for row in rows]}
        return forms_columns(self.result, rows, ("of", "metric"), values)


def _about(kind: str, name: str) -> str:
    """Return what a figure is about, in words."""
    return kind if name == ALL else f"{kind} {name}"


def _statistics(rows: Any, names: Sequence[str], about: dict[str, str]) -> list[Column]:  # noqa: ANN401
    """Return a column for each statistic that there is of something, a row a discipline."""
    found = [row for row in rows if (row.kind, row.name, row.metric) == tuple(about.values())]
    by_place: dict[tuple[str, str], Measured] = {(row.discipline, row.statistic): row for row in found}
    statistics = dict.fromkeys(row.statistic for row in found)
    if not names:
        return []
    return [
        column(statistic.replace("_", " "), [by_place.get((name, statistic)) for name in names], text=spread)
        for statistic in statistics
    ]
