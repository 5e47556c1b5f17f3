"""The study of steering in the terminal: verdict, what delays grow up to, orderings, windows, costs.

Columns of tables are those of the page too. Units: each column has its own, in its header.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.live.steer.plan import LEVELS
from weir.results.tables import Column
from weir.results.terminal import print_table, say
from weir.text import number, percent, plural, quantity, scale_for, value_with_margin

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console

    from weir.live.figures import Value
    from weir.live.steer.orderings import Judged
    from weir.live.steer.study import Cell, Peak, Published, Study
    from weir.overhead import Duration

__all__ = [
    "TITLE",
    "cost_columns",
    "costs",
    "ledger_columns",
    "ordering_columns",
    "peak_columns",
    "reasons",
    "setting",
    "show",
    "trip_columns",
    "use_columns",
    "window_columns",
]

TITLE = "Packets steered to processors, with real packets"
_SOURCES = {"report_cores": "7 cores", "simulated": "simulated", "measured": "measured"}
_JUDGED = {"report": "report", **_SOURCES}
"""Where something is known, with what stands above its columns."""
_ABSENT = "–"
_WORDS = {True: "holds", False: "fails", None: "n/a"}


def show(out: Console, study: Study) -> None:
    """Print the study."""
    say(out, TITLE, style="bold")
    for line in study.verdicts():
        say(out, line)
    say(out, setting(study))
    _table(out, "Largest delays: the largest mean of a window", peak_columns(study.peaks))
    _table(out, "Largest round trips: the largest mean at a rate", trip_columns(study.peaks))
    _table(out, "The report's orderings of delays", ordering_columns(study))
    for line in reasons(study):
        say(out, line)
    _table(out, "Processors in use, and requests that found a queue full", use_columns(study))
    out.print()
    say(out, costs(study), style="bold")
    print_table(out, cost_columns(study))
    for case, name in study.subjects:
        title = f"Means at each rate: {case.policy}, {_requests(case.traffic, name)}"
        _table(out, title, window_columns(study.rates(case, name)))
    _table(out, "What became of the requests", ledger_columns(study))
    out.print()
    say(out, "How the measurement differs", style="bold")
    for each in study.departures():
        say(out, f"- {each}")


def _table(out: Console, title: str, columns: list[Column]) -> None:
    out.print()
    say(out, title, style="bold")
    print_table(out, columns)


def setting(study: Study) -> str:
    """Return what was run, in a sentence."""
    plan = study.plan
    low, high = plan.rates()[0], plan.rates()[-1]
    return (
        f"{plural(len(plan.processors), 'processor')}, {number(low, 3)} to {number(high, 3)} requests/s in "
        f"{LEVELS} windows of {_span(plan.window)}, a burst every {_span(plan.burst)}, ADD "
        f"{_span(plan.add)}, REMOVE {_span(plan.remove)}; {plural(study.repeat, 'repetition')}"
    )


def _span(nanoseconds: int) -> str:
    return quantity(float(f"{nanoseconds / 1e9:.3g}"), "s")


def _requests(traffic: str, name: str) -> str:
    """Return whose delay it is: unimodal traffic has one class."""
    return traffic if traffic == "unimodal" else name


def _values(title: str, values: Sequence[Value], rank: int = 0) -> Column:
    """Return values with their intervals in the unit that suits the largest."""
    known = [each.value for each in values if each.value is not None]
    scale = scale_for([max(known, default=None)], "s")

    def cell(each: Value) -> str:
        if each.value is None:
            return _ABSENT
        if each.low is None or each.high is None:
            return number(each.value / scale.factor, 3)
        return value_with_margin(*(end / scale.factor for end in (each.value, each.low, each.high)))

    return Column(f"{title}\n{scale.header}".rstrip(), tuple(map(cell, values)), rank)


def _told(title: str, values: Sequence[Published]) -> Column:
    def cell(each: Published) -> str:
        sign = "< " if each.bound else ""
        return _ABSENT if each.value is None else f"{sign}{each.value * 1e6:,.0f}"

    return Column(f"{title}\n(µs)", tuple(map(cell, values)))


def _classes(peaks: Sequence[Peak]) -> list[Column]:
    return [
        Column("policy", tuple(each.policy for each in peaks), numeric=False),
        Column("requests", tuple(_requests(each.traffic, each.class_) for each in peaks), numeric=False),
    ]


def peak_columns(peaks: Sequence[Peak]) -> list[Column]:
    """Return classes x what their delay grows up to: published, simulated twice, measured."""
    values = (_values(title, [getattr(each, name) for each in peaks]) for name, title in _SOURCES.items())
    return [*_classes(peaks), _told("report", [each.report for each in peaks]), *values]


def trip_columns(peaks: Sequence[Peak]) -> list[Column]:
    """Return classes x what their round trip grows up to: published and measured."""
    published = _told("report", [each.report_round_trip for each in peaks])
    return [*_classes(peaks), published, _values("measured", [each.round_trip for each in peaks])]


def ordering_columns(study: Study) -> list[Column]:
    """Return orderings x whether they hold of the report, of simulations, and as measured."""
    rows = study.orderings
    return [
        Column("", tuple(row.id for row in rows), numeric=False),
        Column("ordering", tuple(row.text for row in rows), numeric=False),
        *(
            Column(title, tuple(_word(getattr(row, name)) for row in rows), numeric=False)
            for name, title in _JUDGED.items()
        ),
        Column("", tuple("!!" if row.reversed else "" for row in rows)),
    ]


def _word(judged: Judged) -> str:
    """Return whether it holds; with a question mark where the interval does not say so."""
    return _WORDS[judged.holds] + ("?" if judged.clear is False else "")


def reasons(study: Study) -> tuple[str, ...]:
    """Return why orderings do not hold, or cannot be judged, one sentence each."""
    made = []
    for row in study.orderings:
        for name, where in _JUDGED.items():
            judged = getattr(row, name)
            if judged.reason is not None:
                made.append(f"{row.id}, {where}: {judged.reason}")
            elif judged.holds is False or judged.clear is False:
                made.append(f"{row.id}, {where}: {_both(judged)}")
    marks = [row for row in study.orderings if False in {row.simulated.clear, row.measured.clear}]
    if marks:
        made.append("?: the 95 % interval of the difference does not say so")
    return tuple(made)


def _both(judged: Judged) -> str:
    sides = [each.value for each in (judged.left, judged.right) if each.value is not None]
    return " against ".join(quantity(float(f"{side:.3g}"), "s") for side in sides)


def use_columns(study: Study) -> list[Column]:
    """Return cases x processors in use and requests dropped: simulated and measured."""
    cases = study.plan.cases()
    columns = [
        Column("policy", tuple(case.policy for case in cases), numeric=False),
        Column("traffic", tuple(case.traffic for case in cases), numeric=False),
    ]
    for head, value, shown in (("in use", study.cores, _plain), ("dropped", study.dropped, _share)):
        for place, (name, found) in enumerate(study.sources.items()):
            title = f"{'' if place else head}\n{_SOURCES[name]}"
            columns.append(Column(title, tuple(shown(value(found, case)) for case in cases)))
    return columns


def _plain(value: Value) -> str:
    if value.value is None:
        return _ABSENT
    if value.low is None:
        return number(value.value, 3)
    return value_with_margin(value.value, value.low, value.high)


def _share(value: Value) -> str:
    if value.value is None:
        return _ABSENT
    return "0 %" if value.value == 0 else percent(value.value)


def window_columns(cells: Sequence[Cell]) -> list[Column]:
    """Return rates x the mean delay of one class: simulated twice, measured, and its round trips."""
    return [
        Column("requests/s", tuple(number(each.rate, 3) for each in cells)),
        *(_values(title, [getattr(each, name) for each in cells]) for name, title in _SOURCES.items()),
        _values("round trip", [each.round_trip for each in cells]),
        _values("99 % within", [each.round_trip_p99 for each in cells], 1),
    ]


def costs(study: Study) -> str:
    """Return what a request takes, in a sentence."""
    served, passed = study.costs.served, study.costs.passed
    return (
        f"A request takes {_duration(served.fixed)} and {_duration(served.unit)} for each unit of service "
        f"({plural(study.costs.iterations, 'iteration')}) of the thread that serves it; with all that client "
        f"and kernel take, {_duration(passed.fixed)} and {_duration(passed.unit)}"
    )


def _duration(found: Duration) -> str:
    scale = scale_for([found.value], "s")
    ends = (None if end is None else end / scale.factor for end in (found.low, found.high))
    return f"{value_with_margin(found.value / scale.factor, *ends)} {scale.unit}"


def cost_columns(study: Study) -> list[Column]:
    """Return sizes x what a request took of a saturated processor, and what the fit says."""
    rows = study.costs.settings
    known = [row for row in rows if row.served]
    return [
        Column("units", tuple(str(row.units) for row in known)),
        Column("served (1/s)", tuple(f"{row.served / row.seconds:,.0f}" for row in known)),
        Column("threads ran", tuple(percent(row.ran) for row in known)),
        Column("took (µs)", tuple(number(row.service * 1e6, 4) for row in known)),
        Column("fitted (µs)", tuple(number(study.costs.service(row.units) * 1e6, 4) for row in known)),
        Column("passed (µs)", tuple(number(row.passed * 1e6, 4) for row in known)),
        Column("fitted (µs)", tuple(number(study.costs.passed.of(row.units) * 1e6, 4) for row in known)),
        Column("", tuple("" if row.saturated else "not saturated: left out" for row in known), numeric=False),
    ]


def ledger_columns(study: Study) -> list[Column]:
    """Return runs x what became of their requests, and how late they were sent."""
    rows = study.runs
    ledgers = [each.ledger for each in rows]

    def counts(values: Iterable[int]) -> tuple[str, ...]:
        return tuple(f"{value:,}" for value in values)

    return [
        Column("policy", tuple(each.case.policy for each in rows), numeric=False),
        Column("traffic", tuple(each.case.traffic for each in rows), numeric=False),
        Column("sent", counts(each.sent for each in ledgers)),
        Column("served", counts(each.served for each in ledgers)),
        Column("dropped", counts(each.dropped for each in ledgers)),
        Column("unseen", counts(each.unseen for each in ledgers)),
        Column("not back", counts(each.not_returned for each in ledgers)),
        Column("waiting", counts(each.waiting for each in ledgers), 3),
        Column("unaccounted", counts(each.unaccounted for each in ledgers), 1),
        Column("99 % sent\nwithin (ms)", tuple(_late(each.late) for each in rows), 2),
        Column("", tuple("!!" if each.unaccounted else "OK" for each in ledgers)),
    ]


def _late(late: float | None) -> str:
    return _ABSENT if late is None else number(late * 1e3, 3)
