"""Programs of a node run for real, as text and as one HTML file: simulated and measured side by side."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from weir.live.epoch import FEWEST, NOISE, SHARE, summary
from weir.reproduce.engine.page import headline
from weir.results.page import details, note, page, section, table
from weir.results.tables import Column
from weir.results.terminal import print_table, say
from weir.text import quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from weir.live.epoch import Cost, Response, Study
    from weir.live.figures import Value

__all__ = ["html", "show"]

_TITLE = "The programs of a node, run for real"
_MARKS = {True: "OK", False: "!!", None: ""}
_WORDS = (
    f"OK and !! mark what is held against the simulation: within {SHARE:.0%} of it or {NOISE * 1e6:g} us; "
    f"a 99 % quantile is of at least {FEWEST} responses. Measured has a 95 % interval over runs, where there "
    "are several."
)


def show(out: Console, study: Study) -> None:
    """Print the study."""
    say(out, _TITLE, style="bold")
    say(out, summary(study))
    for line in study.verdicts():
        say(out, line)
    for discipline in _disciplines(study):
        out.print()
        say(out, f"{discipline}: response", style="bold")
        print_table(out, _columns([each for each in study.responses if each.discipline == discipline]))
    out.print()
    say(out, "What the scheduler takes", style="bold")
    print_table(out, _costs(study.costs))
    say(out, _WORDS)
    for report in study.reports[:5]:
        say(out, f"reported: {report.splitlines()[0]}")


def html(study: Study) -> str:
    """Return the report."""
    head = headline(
        "weir live epoch", _TITLE, " ".join(f"{line}." for line in study.verdicts()), (summary(study),)
    )
    tables = "".join(
        f"<h3>{escape(discipline)}</h3>\n"
        + table(_columns([each for each in study.responses if each.discipline == discipline]))
        for discipline in _disciplines(study)
    )
    parts = [
        head,
        section("Response: simulated and measured", note(_WORDS) + tables),
        section("What the scheduler takes", table(_costs(study.costs))),
    ]
    if study.reports:
        listed = "".join(f"<pre>{escape(report)}</pre>" for report in study.reports)
        parts.append(section("What the executor reported", details("Reports", listed)))
    return page(_TITLE, "".join(parts), {})


def _disciplines(study: Study) -> list[str]:
    return list(dict.fromkeys(each.discipline for each in study.responses))


def _columns(responses: Sequence[Response]) -> list[Column]:
    shown = [
        each for each in responses if each.measured.value is not None or each.simulated.value is not None
    ]
    return [
        Column("process", tuple(each.process for each in shown), numeric=False),
        Column("", tuple(each.statistic for each in shown), numeric=False),
        Column("responses", tuple(f"{each.count:,}" for each in shown), 2),
        Column("simulated", tuple(_value(each.simulated) for each in shown)),
        Column("measured", tuple(_value(each.measured) for each in shown)),
        Column("measured −\nsimulated", tuple(_value(each.difference) for each in shown), 1),
        Column("", tuple(_MARKS[each.met] for each in shown)),
    ]


def _costs(costs: Sequence[Cost]) -> list[Column]:
    names = {"restart": "the same task goes on", "swap": "another task is started"}
    return [
        Column("path", tuple(names[each.path] for each in costs), numeric=False),
        Column("published, 1983", tuple(quantity(each.published, "s") for each in costs)),
        Column(
            "measured",
            tuple("–" if each.measured is None else quantity(each.measured, "s") for each in costs),
        ),
    ]


def _value(value: Value) -> str:
    if value.value is None:
        return "–"
    text = quantity(value.value, "s").replace("-", "−")
    return text if not value.half else f"{text} ±{quantity(value.half, 's')}"
