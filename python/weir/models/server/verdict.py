"""What a server's result says, in words: whose slowdown is smallest in the tail, and what that costs.

The tail is p99.9 of the slowdown where it was measured, else of the response, else the mean delay. Two
disciplines are distinguished by the interval of their paired difference, or where there is none by intervals
that do not overlap. A small slowdown may be a long response of those whose service is long: the price says
how much longer responses get, in the mean, in the tail and at worst, and for which class most. Disciplines
that drop requests are told first: what they drop does not wait.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.results.verdict import BOTH, clear, disjoint, joined, lowest, measured, named, rivals, told, warned
from weir.text import number, plural, quantity, share

if TYPE_CHECKING:
    from weir.models.server.result import ServerResult
    from weir.results.subjects import About, SubjectEstimate

_WORDS = {"slowdown": "slowdown", "response": "response", "delay": "queueing delay"}
_TAILS = (
    ("slowdown", "p99.9"),
    ("slowdown", "p99"),
    ("response", "p99.9"),
    ("slowdown", "mean"),
    ("delay", "mean"),
)
# A dropped request is beyond every bound: of a share as large as this the quantile says nothing.
_BEYOND = {"p99.9": 0.001, "p99": 0.01, "mean": 0.001}
_NEAR = 1.05
"""A price below one part in twenty is none to name."""
_LONGER = 1.5
"""The longest of all is by chance longer than the longest of another: a price from here on."""


def warnings(result: ServerResult) -> list[str]:
    """Return what was warned of, with the disciplines that it is about where it is not all."""
    return warned(result, ((row.text, row.discipline) for row in result.warnings))


def tail_of(result: ServerResult) -> tuple[str, str]:
    """Return the metric and the statistic that a verdict is about."""
    for metric, statistic in _TAILS:
        if _found(result, metric, statistic):
            return metric, statistic
    return _TAILS[-1]


def _found(result: ServerResult, metric: str, statistic: str) -> dict[str, SubjectEstimate]:
    return measured(result, lambda name: result.estimate(name, metric=metric, statistic=statistic))


def dropped(result: ServerResult) -> str | None:
    """Return who drops most, if anybody drops."""
    found = {name: row for name in result.disciplines if (row := result.totals(name)) is not None}
    dropping = [name for name, row in found.items() if row.dropped]
    if not dropping:
        return None
    worst = max(dropping, key=lambda name: found[name].dropped / max(1, found[name].offered))
    row = found[worst]
    part = share(row.dropped / max(1, row.offered))
    if len(result.disciplines) == 1:
        return f"{part} of all requests are dropped"
    label = result.labels[worst]
    if len(dropping) == 1:
        return f"requests are dropped under {label} alone, {part} of all"
    return (
        f"requests are dropped under {plural(len(dropping), 'discipline')}, most under {label}, {part} of all"
    )


def tail(result: ServerResult) -> str | None:
    """Return whose tail is smallest, by how much, and what it costs."""
    metric, statistic = tail_of(result)
    found = _found(result, metric, statistic)
    if not found:
        return None
    words = f"{statistic} of the {_WORDS[metric]}" if statistic != "mean" else f"mean {_WORDS[metric]}"
    whole = {name: row for name, row in found.items() if _lost(result, name) < _BEYOND[statistic]}
    if not whole:
        return f"too many requests are dropped for a comparison by the {words}"
    dropping = _others_drop(result, [name for name in found if name not in whole])
    best = lowest(whole)[0]
    label, value = result.labels[best], told(whole[best])
    if len(whole) == 1:
        return f"the {words} is {value}" + (f" under {label}{dropping}" if dropping else "")
    close = _rivals(result, whole, best)
    if len(close) + 1 == len(whole):
        who = "both disciplines" if len(whole) == BOTH else "all disciplines"
        return (
            f"by the {words} {who} cannot be distinguished at this length of run: it is {value} under {label}"
            f"{dropping}"
        )
    with_rivals = f", not distinguishable from {named(result, close)}" if close else ""
    return (
        f"the {words} is smallest under {label}, {value}{with_rivals}"
        f"{_against(result, whole, best)}{dropping}"
    )


def best_of(result: ServerResult) -> str | None:
    """Return whose tail is smallest, of several that drop little, if it can be told from all of them."""
    metric, statistic = tail_of(result)
    found = _found(result, metric, statistic)
    whole = {name: row for name, row in found.items() if _lost(result, name) < _BEYOND[statistic]}
    if len(whole) < BOTH:
        return None
    best = lowest(whole)[0]
    return best if len(_rivals(result, whole, best)) + 1 < len(whole) else None


def _rivals(result: ServerResult, found: dict[str, SubjectEstimate], best: str) -> list[str]:
    """Return who cannot be told from the best; exact values, which have no interval, can."""
    about: About = {"metric": found[best].metric, "statistic": found[best].statistic}

    def differ(one: str, other: str) -> bool:
        known = disjoint(found[one], found[other])
        return found[one].value != found[other].value if known is None else known

    return rivals(result, found, best, lambda name: clear(result.difference(name, **about)), differ)


def _lost(result: ServerResult, discipline: str, class_: str = "all") -> float:
    """Return the share of requests that a discipline drops."""
    row = result.estimate(discipline, name=class_, metric="dropped")
    return row.value or 0.0 if row is not None else 0.0


def _others_drop(result: ServerResult, names: list[str]) -> str:
    """Say who is not compared, since a dropped request has no time."""
    if not names:
        return ""
    verb = "drops" if len(names) == 1 else "drop"
    return f", and {named(result, names)} {verb} too many requests to be compared"


def _against(result: ServerResult, found: dict[str, SubjectEstimate], best: str) -> str:
    """Return the best beside the reference, or beside the next where it is the reference."""
    rest = [name for name in lowest(found) if name != best]
    other = result.reference if result.reference in rest else rest[0]
    value = found[other].value or 0.0
    least = found[best].value or 0.0
    times = value / least if least else 0.0
    factor = f", {number(times, 3)} times as much" if times >= _NEAR else ""
    return f"; under {result.labels[other]} it is {quantity(value, found[other].unit)}{factor}"


def price(result: ServerResult) -> str | None:
    """Return what the smallest tail costs, beside the least of all: longer responses, and cores."""
    best = best_of(result)
    if best is None:
        return None
    parts = [_longer(result, best, statistic) for statistic in ("mean", "p99.9", "max")]
    parts += [_worst_class(result, best), _more_cores(result, best)]
    told = [part for part in parts if part]
    return f"the price of {result.labels[best]} is {joined(told)}" if told else None


def _longer(result: ServerResult, best: str, statistic: str) -> str:
    """Return how many times a response is that of whoever has the least, where it clearly is more."""
    rows = _comparable(result, "all", statistic)
    if best not in rows:
        return ""
    least = lowest(rows)[0]
    times = _times(rows[best], rows[least], _LONGER if statistic == "max" else _NEAR)
    if times is None:
        return ""
    words = {"mean": "a mean response", "max": "a longest response"}.get(statistic, f"a {statistic} response")
    value = quantity(rows[best].value or 0.0, rows[best].unit)
    return f"{words} of {value} ({number(times, 2)} times that of {result.labels[least]})"


def _worst_class(result: ServerResult, best: str) -> str:
    """Return the class whose mean response gets longer most, beside the least of it."""
    found = []
    for each in result.classes:
        rows = _comparable(result, each.name, "mean")
        times = _times(rows[best], rows[lowest(rows)[0]], _NEAR) if best in rows else None
        if times is not None:
            found.append((times, each.name, result.labels[lowest(rows)[0]]))
    if len(result.classes) == 1 or not found:
        return ""
    times, class_, other = max(found)
    return f"a mean response of {class_}, which suffers most, {number(times, 2)} times that of {other}"


def _comparable(result: ServerResult, class_: str, statistic: str) -> dict[str, SubjectEstimate]:
    """Return the responses of a class under the disciplines that drop little of it."""
    rows = measured(
        result, lambda name: result.estimate(name, name=class_, metric="response", statistic=statistic)
    )
    return {name: row for name, row in rows.items() if _lost(result, name, class_) < _BEYOND["mean"]}


def _times(row: SubjectEstimate, least: SubjectEstimate, bound: float) -> float | None:
    """Return how many times a value is another, where it is so many at least and not by chance."""
    if not row.value or not least.value or row.value < bound * least.value:
        return None
    return None if disjoint(row, least) is False else row.value / least.value


def _more_cores(result: ServerResult, best: str) -> str:
    rows = measured(result, lambda name: result.estimate(name, kind="core", metric="in_use"))
    cores = {name: row.value for name, row in rows.items() if row.value}
    fewest = min(cores, key=lambda name: cores[name], default="")
    if best not in cores or cores[best] <= _NEAR * cores[fewest]:
        return ""
    whose, count = result.labels[fewest], number(cores[fewest], 3)
    return f"{number(cores[best], 3)} cores in use, where {whose} has {count}"


def limits(result: ServerResult) -> str | None:
    """Return who keeps the slowdowns that classes ask for, at p99.9."""
    return (
        "; ".join(_limit(result, row.name, row.slo) for row in result.classes if row.slo is not None) or None
    )


def _limit(result: ServerResult, class_: str, bound: float) -> str:
    found = {
        name: row.value if row.high is None else row.high
        for name in result.disciplines
        if (row := result.estimate(name, name=class_, metric="slowdown", statistic="p99.9")) is not None
        and row.value is not None
    }
    limit = f"a p99.9 slowdown of {class_} within {number(bound, 3)}"
    if not found:
        return f"whether {limit} is kept is not known from so few requests"
    kept = [
        name
        for name, value in found.items()
        if value <= bound and _lost(result, name, class_) < _BEYOND["p99.9"]
    ]
    if len(kept) == len(found):
        return f"{limit} is kept" + (" under every discipline" if len(found) > 1 else "")
    if kept:
        return f"{limit} is kept under {named(result, kept)} alone"
    return f"{limit} is kept under no discipline" if len(found) > 1 else f"{limit} is not kept"
