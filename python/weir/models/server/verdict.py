"""What a server's result says, in words: whose mean response is smallest, and what that costs.

Two disciplines are distinguished by the interval of their paired difference, or where there is none by
intervals that do not overlap. A small mean may be a long response of a few: the price says how much longer
responses get in the tail and at worst, and for which class most, and how much larger the slowdown is, which
is what short requests feel. Disciplines that drop requests are reported first: what they drop does not wait.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.results.verdict import BOTH, clear, disjoint, joined, lowest, measured, named, rivals, told, warned
from weir.text import number, plural, quantity, share

if TYPE_CHECKING:
    from weir.models.server.result import ServerResult
    from weir.results.subjects import About, SubjectEstimate

_BEYOND = 0.001
"""A dropped request is beyond every bound: of a share as large as this, mean and p99.9 say nothing."""
_PRICES = {
    ("response", "p99"): "p99 response",
    ("response", "max"): "longest response",
    ("slowdown", "p99.9"): "p99.9 slowdown",
}
"""What the smallest mean may cost, of all requests."""
_NEAR = 1.05
"""A price below one part in twenty is none to name."""
_LONGER = 1.5
"""The longest of all is by chance longer than the longest of another: a price from here on."""


def warnings(result: ServerResult) -> list[str]:
    """Return what was warned of, with the disciplines that it is about where it is not all."""
    return warned(result, ((row.text, row.discipline) for row in result.warnings))


def _responses(result: ServerResult) -> dict[str, SubjectEstimate]:
    return measured(result, lambda name: result.estimate(name, metric="response"))


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


def ranking(result: ServerResult) -> str | None:
    """Return whose mean response is smallest, and by how much."""
    found = _responses(result)
    if not found:
        return None
    whole = {name: row for name, row in found.items() if _lost(result, name) < _BEYOND}
    if not whole:
        return "too many requests are dropped for a comparison by the mean response"
    dropping = _others_drop(result, [name for name in found if name not in whole])
    best = lowest(whole)[0]
    label, value = result.labels[best], told(whole[best])
    if len(whole) == 1:
        return f"the mean response is {value}" + (f" under {label}{dropping}" if dropping else "")
    close = _rivals(result, whole, best)
    if len(close) + 1 == len(whole):
        who = "both disciplines" if len(whole) == BOTH else "all disciplines"
        return (
            f"by the mean response {who} cannot be distinguished at this length of run: it is {value} under "
            f"{label}{dropping}"
        )
    with_rivals = f", not distinguishable from {named(result, close)}" if close else ""
    return (
        f"the mean response is smallest under {label}, {value}{with_rivals}"
        f"{_against(result, whole, best)}{dropping}"
    )


def best_of(result: ServerResult) -> str | None:
    """Return whose mean is smallest, of several that drop little, if it differs clearly from all others."""
    found = _responses(result)
    whole = {name: row for name, row in found.items() if _lost(result, name) < _BEYOND}
    if len(whole) < BOTH:
        return None
    best = lowest(whole)[0]
    return best if len(_rivals(result, whole, best)) + 1 < len(whole) else None


def _rivals(result: ServerResult, found: dict[str, SubjectEstimate], best: str) -> list[str]:
    """Return what cannot be distinguished from the best; exact values, which have no interval, can."""
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
    """Return the best compared with the reference, or with the next where it is the reference."""
    rest = [name for name in lowest(found) if name != best]
    other = result.reference if result.reference in rest else rest[0]
    value = found[other].value or 0.0
    least = found[best].value or 0.0
    times = value / least if least else 0.0
    factor = f", {number(times, 3)} times as much" if times >= _NEAR else ""
    return f"; under {result.labels[other]} it is {quantity(value, found[other].unit)}{factor}"


def price(result: ServerResult) -> str | None:
    """Return what the smallest mean costs, compared with the least of all: tail, slowdown, cores."""
    best = best_of(result)
    if best is None:
        return None
    parts = [_more(result, best, *about) for about in _PRICES]
    parts += [_worst_class(result, best), _more_cores(result, best)]
    told = [part for part in parts if part]
    return f"the price of {result.labels[best]} is {joined(told)}" if told else None


def _more(result: ServerResult, best: str, metric: str, statistic: str) -> str:
    """Return how many times a figure is that of whoever has the least, where it clearly is more."""
    rows = _comparable(result, "all", metric, statistic)
    if best not in rows:
        return ""
    least = lowest(rows)[0]
    times = _times(rows[best], rows[least], _LONGER if statistic == "max" else _NEAR)
    if times is None:
        return ""
    value = quantity(rows[best].value or 0.0, rows[best].unit)
    words = _PRICES[metric, statistic]
    return f"a {words} of {value} ({number(times, 2)} times that of {result.labels[least]})"


def _worst_class(result: ServerResult, best: str) -> str:
    """Return the class whose mean response gets longer most, compared with the least of it."""
    found = []
    for each in result.classes:
        rows = _comparable(result, each.name, "response", "mean")
        times = _times(rows[best], rows[lowest(rows)[0]], _NEAR) if best in rows else None
        if times is not None:
            found.append((times, each.name, result.labels[lowest(rows)[0]]))
    if len(result.classes) == 1 or not found:
        return ""
    times, class_, other = max(found)
    return f"a mean response of {class_}, which suffers most, {number(times, 2)} times that of {other}"


def _comparable(result: ServerResult, class_: str, metric: str, statistic: str) -> dict[str, SubjectEstimate]:
    """Return a figure of a class under the disciplines that drop little of it."""
    rows = measured(
        result, lambda name: result.estimate(name, name=class_, metric=metric, statistic=statistic)
    )
    return {name: row for name, row in rows.items() if _lost(result, name, class_) < _BEYOND}


def _times(row: SubjectEstimate, least: SubjectEstimate, bound: float) -> float | None:
    """Return how many times a value is another, where that is at least ``bound`` and not by chance."""
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
    kept = [name for name, value in found.items() if value <= bound and _lost(result, name, class_) < _BEYOND]
    if len(kept) == len(found):
        return f"{limit} is kept" + (" under every discipline" if len(found) > 1 else "")
    if kept:
        return f"{limit} is kept under {named(result, kept)} alone"
    return f"{limit} is kept under no discipline" if len(found) > 1 else f"{limit} is not kept"
