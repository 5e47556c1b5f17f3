"""A server's result as it is shown: a table for each metric and class, losses, cores and closed forms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.models.server import tables
from weir.models.server.result import ServerResult
from weir.models.server.storm import storm
from weir.models.server.verdict import dropped, limits, price, ranking, warnings
from weir.results.page import details, headed, in_full, note, noted, section, table
from weir.results.page import tables as on_page
from weir.results.reading import ALL
from weir.results.tables import discipline_column, others
from weir.results.terminal import closed_forms, say, titled
from weir.results.verdict import capital
from weir.results.view import View
from weir.text import number, plural, quantity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from weir.results.tables import Column

_REQUESTS = (
    "Of the requests that arrive in the measured time: dropped of those offered; reordered and cold of those "
    "done. A request is cold if another core served the previous request of its flow."
)
_THEORY = (
    "Exact means next to the simulated ones with their 95 % intervals; OK where the 99.9 % interval covers "
    "the exact mean, !! where it does not."
)
_CORES = (
    "Busy and overhead are shares of the time of all cores; in use are cores that new requests may be sent "
    "to, on average and at most."
)
_GIVEN_UP = (
    " Abandoned are those whose service did not begin within their patience; late are those done after their "
    "client had given up, in time the others; attempts are those of a request."
)
_IN_VAIN = (
    " Wasted is the share of that time for requests whose client had given up when they were done; tipped "
    "are replications in which more than half of the attempts of the last tenth of the measured time fail."
)
_APART = (
    " Hedged are sub-requests, or requests, that were sent a second time; cancelled are sub-requests and "
    "second copies that were not served to their end since they were not needed any more."
)
_SPARE = " Wasted is the share of that time for sub-requests that were not needed."
_METRICS = (
    "Queueing delay is from arrival to where service begins first, response from arrival to the end of "
    "service, slowdown response over service. 95 % confidence intervals over the replications; "
    "differences are paired: the disciplines served the same requests."
)


class ServerView(View[ServerResult]):
    """What a server shows."""

    charts = "weir.models.server.figures:figures"

    def declared(self) -> Sequence[str | None]:
        """Return who keeps the slowdowns that are asked for, who answers in time and tips, and who drops."""
        return limits(self.result), storm(self.result), dropped(self.result)

    def statements(self) -> Sequence[str | None]:
        """Return whose mean response is smallest, and its price."""
        return ranking(self.result), price(self.result)

    def warnings(self) -> Sequence[str]:
        """Return what was warned of."""
        return warnings(self.result)

    def show(self, out: Console, *, compared: bool) -> None:
        """Show delay, response and slowdown, compared with paired differences, then losses and cores."""
        result, first = self.result, discipline_column(self.result)
        for metric in tables.METRICS:
            for title, columns in _by_class(result, metric):
                titled(out, title, first, [columns])
            if compared:
                title, columns = _differences(result, metric)
                titled(out, title, discipline_column(result, others(result)), [columns])
        titled(out, "requests", first, [tables.loss_columns(result)])
        titled(out, "cores", first, [tables.core_columns(result)])
        if any(row.agrees is False for row in result.theory):
            closed_forms(out, tables.theory_columns(result))
        for words in (*tables.absent_rows(result), *result.notes):
            say(out, f"\n{words}", style="dim")

    def size(self) -> Sequence[str]:
        """Return how many cores and classes there were, at which load, and for how long."""
        result = self.result
        return [
            plural(result.cores, "core"),
            plural(len(result.classes), "class"),
            *([] if result.load is None else [f"load {number(result.load, 3)}"]),
            f"{quantity(result.measured, 's')} measured",
        ]

    def sections(self, charts: Sequence[str]) -> Sequence[str]:
        """Return charts, comparison, losses, cores, closed forms, and what is absent."""
        result = self.result
        first = discipline_column(result)
        absent = [*tables.absent_rows(result), *result.notes]
        gives_up, apart = tables.gives_up(result), tables.goes_apart(result)
        requests = _REQUESTS + (_GIVEN_UP if gives_up else "") + tables.lost(result)
        requests += _APART if apart else ""
        cores = _CORES + (_IN_VAIN if gives_up else _SPARE if apart else "")
        return [
            section("The comparison", _comparison(result)),
            *charts,
            section("Requests", on_page(first, [tables.loss_columns(result)]) + note(requests), folded=True),
            section("Cores", on_page(first, [tables.core_columns(result)]) + note(cores), folded=True),
            section("Closed forms", _theory(result), folded=True),
            section("What is missing, and what to note", "".join(map(note, absent)), folded=True),
        ]

    def origin(self) -> dict[str, object]:
        """Return the cores, what was measured, and how much was counted."""
        result = self.result
        offered = sum(row.offered for row in result.class_totals if row.class_ == ALL)
        return {
            "cores": f"{result.cores:,}",
            "receivers": f"{result.receivers:,}",
            "requests in a queue": "any number" if result.queue is None else f"{result.queue:,}",
            "measured in a replication": quantity(result.measured, "s"),
            "requests counted": f"{offered:,}",
        }


def _by_class(result: ServerResult, metric: str) -> Iterator[tuple[str, list[Column]]]:
    """Yield the statistics of a metric, with a title: of all requests, and of each class."""
    for class_ in tables.classes_of(result):
        about = "" if class_ == ALL else f" of {class_}"
        yield tables.METRICS[metric] + about, tables.metric_columns(result, metric, class_)


def _differences(result: ServerResult, metric: str) -> tuple[str, list[Column]]:
    title = f"{tables.METRICS[metric]}, minus {result.labels[result.reference]}'s"
    return title, tables.difference_columns(result, metric) if others(result) else []


# The page.


def _comparison(result: ServerResult) -> str:
    first, second = discipline_column(result), discipline_column(result, others(result))
    summary = headed("Response of all requests", table([first, *tables.summary_columns(result)]))
    folds = []
    for metric, title in tables.METRICS.items():
        parts = [
            headed(capital(about), on_page(first, [columns])) for about, columns in _by_class(result, metric)
        ]
        minus, columns = _differences(result, metric)
        parts.append(headed(capital(minus), on_page(second, [columns])))
        folds.append(details(capital(title), "".join(parts)))
    return noted(summary, _METRICS, "".join(folds) + in_full(result, shown=False))


def _theory(result: ServerResult) -> str:
    """Return the closed forms, those that do not agree first, and why others have none."""
    without = {row.discipline: row.formula for row in result.theory if row.value is None}
    reasons = (f"{result.labels.get(name or '', name)}: none: {reason}" for name, reason in without.items())
    return noted(table(tables.theory_columns(result)), _THEORY) + "".join(map(note, reasons))
