"""The 1,040 published means of Section 15 against measured ones, and both against closed forms.

The tolerance of a mean is ``t * sqrt(se_measured**2 + se_published**2) + 0.005``. The published side's
standard error is the measured one scaled to its packets, since both runs sample the same process; 0.005 is
the rounding of print; ``t`` is Student's threshold at which the chance of any false alarm over all
comparisons is below 1 %.

The row of RR' at 97 % is an artefact of the original: its packet counter, a 32-bit integer, overflowed after
2^31 packets, and with negative counters RR' is RR. The row is explained by the mixture of both, by message.
"""

from __future__ import annotations

import math
import operator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from weir.reproduce.alpha import published
from weir.reproduce.alpha.evidence import Mean
from weir.reproduce.alpha.published import LOADS, PRINT_ROUNDING, QUANTITIES, STRATEGIES, Load
from weir.reproduce.engine.checks import Status
from weir.reproduce.engine.judgement import Found, checked
from weir.reproduce.engine.thresholds import per_comparison, student_quantile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from weir.reproduce.alpha.evidence import Evidence, LoadResult
    from weir.reproduce.engine.checks import Check

ANY_FALSE_ALARM = 0.01
COMPARISONS = 2500
"""At least as many as all checks of the reproduction make together: cells, closed forms, parts of claims."""
LEVEL = per_comparison(ANY_FALSE_ALARM, COMPARISONS)

ARTEFACT = (Load("97"), "rr_head")
"""The load and the strategy whose latencies suffered the overflow."""
_LARGEST_TICK = 2**31 - 1

Cell = tuple[Load, str, str]


def cells(evidence: Evidence) -> Iterator[Check]:
    """Yield one check for every published mean, in the order of the tables."""
    for load in LOADS:
        for strategy in STRATEGIES:
            for quantity in QUANTITIES:
                cell = (load, strategy, quantity)
                yield _guarded("table", evidence, cell, _cell)


def closed_forms(evidence: Evidence) -> Iterator[Check]:
    """Yield, where there is a closed form, the measured mean against it, and the published one."""
    for cell in published.exact():
        _load, strategy, quantity = cell
        if quantity == "qlen" and strategy != "fifo":
            continue  # the queue is the same under all
        yield _guarded("closed form", evidence, cell, _measured_to_exact)
        yield _guarded("published to closed form", evidence, cell, _published_to_exact)


def artefacts(evidence: Evidence) -> Iterator[Check]:
    """Yield the cells of the overflow against what explains them: RR' up to it, RR after it."""
    load, strategy = ARTEFACT
    for quantity in QUANTITIES[1:]:
        cell = (load, strategy, quantity)
        yield _guarded("artefact", evidence, cell, _mixture)


def _guarded(kind: str, evidence: Evidence, cell: Cell, find: Callable[[Evidence, Cell], Found]) -> Check:
    wanted = (published.exact() if kind == "closed form" else published.table())[cell]
    return checked("/".join((kind.replace(" ", "-"), *cell)), kind, wanted, partial(find, evidence, cell))


def _cell(evidence: Evidence, cell: Cell) -> Found:
    load, strategy, quantity = cell
    result = evidence.at(load)
    mean = result.mean(strategy, quantity)
    tolerance = mean.noise(evidence.level, result.published_ratio) + PRINT_ROUNDING
    found = Found.near(mean, published.table()[cell], tolerance)
    return _explained(evidence, cell, found) if (load, strategy) == ARTEFACT and quantity != "qlen" else found


def _explained(evidence: Evidence, cell: Cell, found: Found) -> Found:
    """Return what was found of a cell of the overflow as an artefact, if the overflow explains it."""
    mixture = _mixture(evidence, cell)
    if not mixture.met:
        return found
    return replace(found, met=Status.ARTEFACT, note=f"the original's counter overflowed: {mixture.note}")


def _floor(cell: Cell, messages: float) -> float:
    """Return a lower bound of the standard error of the mean wait of one-packet messages.

    Such a message waits only if the server is busy, with probability rho; a mean that so few contribute to
    has a relative error of at least ``1/sqrt(rho * messages)`` (Cauchy-Schwarz), even where none was seen.
    """
    load, _, quantity = cell
    if quantity != "lat1":
        return 0.0
    return published.exact()[cell] / math.sqrt(float(load) / 100 * messages)


def _measured_to_exact(evidence: Evidence, cell: Cell) -> Found:
    load, strategy, quantity = cell
    mean = evidence.at(load).mean(strategy, quantity)
    error = max(mean.standard_error, _floor(cell, mean.count))
    tolerance = student_quantile(evidence.level, mean.freedom) * error
    return Found.near(mean, published.exact()[cell], tolerance, "published is the closed form")


def _published_to_exact(evidence: Evidence, cell: Cell) -> Found:
    load, strategy, quantity = cell
    result = evidence.at(load)
    mean, ratio, exact = result.mean(strategy, quantity), result.published_ratio, published.exact()[cell]
    error = max(mean.standard_error * math.sqrt(ratio), _floor(cell, mean.count / ratio))
    tolerance = student_quantile(evidence.level, mean.freedom) * error + PRINT_ROUNDING
    found = Found(
        exact, abs(published.table()[cell] - exact) <= tolerance, "measured is the closed form", tolerance
    )
    if found.met or (load, strategy) != ARTEFACT:
        return found
    return replace(found, met=Status.ARTEFACT, note="the original's counter overflowed: see artefact")


def _mixture(evidence: Evidence, cell: Cell) -> Found:
    load, _, quantity = cell
    result = evidence.at(load)
    parts = result.mean("rr_head", quantity), result.mean("rr", quantity)
    shares = _before_and_after(load)
    value, low, high = (sum(map(operator.mul, shares, column)) for column in _columns(parts))
    error = math.hypot(*_mixture_errors(result, parts, shares))
    mean = Mean(value, low, high, error, parts[0].count)
    threshold = student_quantile(evidence.level, min(part.freedom for part in parts))
    note = f"{shares[0]:.1%} of the run as RR', {shares[1]:.1%} as RR give {value:.2f}; {_level_of(load)}"
    return Found.near(mean, published.table()[cell], threshold * error + PRINT_ROUNDING, note)


def _columns(parts: tuple[Mean, Mean]) -> Iterator[tuple[float, float]]:
    before, after = parts
    yield before.value, after.value
    yield before.low, after.low
    yield before.high, after.high


def _before_and_after(load: Load) -> tuple[float, float]:
    """Return the shares of the published run before and after the overflow."""
    total = published.packets()[load] or _LARGEST_TICK
    return _LARGEST_TICK / total, 1 - _LARGEST_TICK / total


def _mixture_errors(
    result: LoadResult, parts: tuple[Mean, Mean], shares: tuple[float, float]
) -> tuple[float, float, float]:
    """Return the standard errors of the measured mixture and of the published run's two sections.

    Both measured means come from the same run, so their errors add; the sections follow each other, so that
    the errors of the published run are independent, each of its section's length.
    """
    measured = sum(share * part.standard_error for share, part in zip(shares, parts, strict=True))
    before, after = (
        share * part.standard_error * math.sqrt(result.published_ratio / share)
        for share, part in zip(shares, parts, strict=True)
    )
    return measured, before, after


def _level_of(load: Load) -> str:
    """Return by how much the published run as a whole lies above the exact mean, as its queue shows."""
    cell = (load, "fifo", "qlen")
    above = published.table()[cell] / published.exact()[cell] - 1
    return f"the published queue lies {above:.2%} above its closed form"
