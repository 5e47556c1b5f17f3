"""Tables of a server's result: disciplines x statistics of a metric, class by class, and what cores did.

The rows of every table are the disciplines. Quantiles come with their intervals, but where nothing is random,
as of one recording: what their ends are there is only the step of the histogram. Where a figure is absent,
`absent_rows` says why.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.results.reading import ALL
from weir.results.tables import (
    ABSENT,
    NONE,
    PER_CENT,
    Column,
    Heading,
    bare,
    bare_difference,
    brief,
    column,
    column_scale,
    columns_of,
    difference,
    forms_columns,
    known,
    marked,
    others,
    some,
)
from weir.text import Scale, number, quantity

if TYPE_CHECKING:
    from collections.abc import Callable

    from weir.models.server.result import ServerResult
    from weir.models.server.rows import DisciplineTotals
    from weir.results.rows import Measured
    from weir.results.subjects import SubjectEstimate

    Take = Callable[[str, str], list[SubjectEstimate | None]]

METRICS = {
    "delay": "queueing delay",
    "response": "response",
    "slowdown": "slowdown",
}
"""The metrics of requests that have tails, with their titles."""
LOST = {
    "balked": "Balked did not join, since too many waited.",
    "missed": "Missed were dropped for their deadline.",
    "refused": "Refused were not sent, since the circuit breaker was open.",
}
"""Why requests are lost besides those that are dropped or leave, each with its words."""
_STATISTICS = ("mean", "p50", "p99", "p99.9", "p99.99", "window_max", "max")
_TITLES = {"window_max": "largest window"}
_OF_CORES = (
    Heading("busy", "utilisation", scale=PER_CENT, text=brief),
    Heading("overhead", "overhead", scale=PER_CENT, text=brief),
    Heading("in use", "in_use", scale=Scale(1.0, "cores"), text=brief),
)


def classes_of(result: ServerResult) -> tuple[str, ...]:
    """Return all requests together, then the classes where they are several."""
    names = tuple(row.name for row in result.classes)
    return (ALL, *names) if len(names) > 1 else (ALL,)


def _under_each(result: ServerResult, kind: str = "class", name: str = ALL) -> Take:
    """Return what finds a figure of a class, or of the cores, under each discipline."""
    return lambda metric, statistic: [
        result.estimate(each, kind=kind, name=name, metric=metric, statistic=statistic)
        for each in result.disciplines
    ]


def metric_columns(result: ServerResult, metric: str, class_: str = ALL) -> list[Column]:
    """Return the statistics of a metric of a class, with intervals; those that hold something."""
    text = brief if result.random else bare
    headings = (Heading(_TITLES.get(each, each), metric, each, text=text) for each in _STATISTICS)
    return known(columns_of(headings, _under_each(result, name=class_)))


def summary_columns(result: ServerResult) -> list[Column]:
    """Return what matters of all requests: the response and its tail, what is dropped, and the slowdown."""
    text = brief if result.random else bare
    headings = (
        *(Heading(each, "response", each, text=text) for each in ("mean", "p99", "max")),
        Heading("dropped", "dropped", scale=PER_CENT, text=text),
        *(Heading(f"{each} slowdown", "slowdown", each, text=text) for each in ("p99", "p99.9")),
    )
    made = known(columns_of(headings, _under_each(result)))
    return [column for column in made if any(cell != ABSENT for cell in column.cells)]


def difference_columns(result: ServerResult, metric: str) -> list[Column]:
    """Return the paired differences to the reference, of the mean and of quantiles."""
    text = difference if result.random else bare_difference
    headings = (Heading(each, metric, each, text=text) for each in _STATISTICS[:5])

    def take(metric: str, statistic: str) -> list[Measured | None]:
        return [result.difference(name, metric=metric, statistic=statistic) for name in others(result)]

    return known(columns_of(headings, take))


def loss_columns(result: ServerResult) -> list[Column]:
    """Return what is lost, reordered and late, what is done in a second, and in how many attempts."""
    lost = {"dropped" if class_ == ALL else f"of {class_}": class_ for class_ in classes_of(result)}
    rows = {title: _under_each(result, name=class_)("dropped", "mean") for title, class_ in lost.items()}
    rows |= {metric: _under_each(result)(metric, "mean") for metric in ("reordered", "cold")}
    rows |= _measured(result, "abandoned", *LOST, "late", "hedged", "cancelled")
    made = [column(title, found, scale=PER_CENT, text=brief) for title, found in rows.items()]
    rates = {"throughput": _under_each(result)("throughput", "mean")}
    rates |= _measured(result, "goodput", "attempts")
    titles = {"throughput": "done", "goodput": "in time"}
    made += [column(titles.get(metric, metric), found, text=brief) for metric, found in rates.items()]
    return known(made)


def gives_up(result: ServerResult) -> bool:
    """Return whether requests leave, or clients give up or try again."""
    return bool(_measured(result, "abandoned", "late", "attempts"))


def lost(result: ServerResult) -> str:
    """Return what the columns are of requests that were lost for other reasons than a full queue."""
    return "".join(f" {LOST[metric]}" for metric in _measured(result, *LOST))


def goes_apart(result: ServerResult) -> bool:
    """Return whether requests go to several cores, of whose answers not all are needed."""
    return bool(_measured(result, "hedged", "cancelled"))


def _measured(
    result: ServerResult, *metrics: str, kind: str = "class"
) -> dict[str, list[SubjectEstimate | None]]:
    """Return the means of metrics that only some scenarios have, of all together; those that this one has."""
    found = {metric: _under_each(result, kind)(metric, "mean") for metric in metrics}
    return {metric: rows for metric, rows in found.items() if any(row is not None for row in rows)}


def core_columns(result: ServerResult) -> list[Column]:
    """Return what the cores did: busy, overhead, in use, in vain; preemptions and moves of a request."""
    rows = [result.discipline_totals.find(discipline=name) for name in result.disciplines]

    def counted(title: str, rank: int, tell: Callable[[DisciplineTotals], str]) -> Column:
        return Column(title, tuple(NONE if row is None else tell(row) for row in rows), rank)

    def a_request(key: str) -> Column:
        return counted(f"{key} a request", 2, lambda row: f"{getattr(row, key) / max(1, row.done):.3f}")

    happened = [key for key in ("preemptions", "moved") if any(row and getattr(row, key) for row in rows)]
    most = counted("at most", 1, lambda row: f"{row.peak_in_use:,}")
    spent = [
        column(metric, found, scale=PER_CENT, text=brief)
        for metric, found in _measured(result, "wasted", "tipped", kind="core").items()
    ]
    spent += [
        column("back after", found, text=brief)
        for found in _measured(result, "recovery", kind="core").values()
    ]
    found = columns_of(_OF_CORES, _under_each(result, "core"))
    return known([*found, most, *map(a_request, happened), *spent])


def theory_columns(result: ServerResult) -> list[Column]:
    """Return the closed forms next to what was simulated, OK where they agree and !! where they do not.

    Nothing where there are none. Those that do not agree come first.
    """
    rows = sorted(
        (row for row in result.theory if row.value is not None), key=lambda row: row.agrees is not False
    )
    found = [result.estimate(row.discipline or "each", name=row.class_, metric=row.metric) for row in rows]
    values = {
        "closed form": [quantity(row.value or 0.0, row.unit) for row in rows],
        "simulated": [NONE if row is None else _with_margin(row) for row in found],
    }
    return forms_columns(result, rows, ("class", "mean"), values)


def _with_margin(row: Measured) -> str:
    """Return an estimate with its interval and its own unit."""
    scale = column_scale([row])
    unit = scale.header.strip("()")
    if row.value is not None and not row.settled:
        return marked(f"{number(row.value / scale.factor)} {unit}".rstrip(), row)
    return f"{brief(row, scale)} {unit}".rstrip()


def absent_rows(result: ServerResult) -> list[str]:
    """Return why figures are absent, a line for each reason."""
    about: dict[str, dict[str, None]] = {}
    for row in result.estimates:
        if row.value is None:
            words = f"{row.statistic} {row.metric}" if row.name == ALL else f"{row.metric} of {row.name}"
            about.setdefault(row.reason or "not measured", {})[words] = None
    return [f"{ABSENT}: {reason} ({some(list(found))})" for reason, found in about.items()]
