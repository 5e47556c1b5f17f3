"""Which value is tried next: bisection where needs are met on one side of the answer, a race elsewhere.

Values stand in the order in which they are preferred. The answer is the first that meets the needs.

**Bisection.** All before the answer miss the needs and all after it meet them. The value in the middle of
what is left is tried until it is decided. One that stays open leaves two parts, before and after it, which
are closed in on in turn; so what is left in the end is the answer, or the values among which it is.

**Race.** All values are in it. In each round those that are still open have one more look, in their order;
one that misses a need is out, and one that meets all of them puts out all that come after it.

Every verdict is right at a level that is shared out over all of them (Bonferroni), whichever are taken: so
the answer, or that it is among the values that are left, is right with at least the stated probability. A
bisection takes at most twice ``log2`` of the values, and a race all of them.

Source: Kim and Nelson, *Selecting the best system*, Handbooks in Operations Research 13, 2006, section 3, for
elimination; the project's own for the rest. Work: O(log values) runs, or O(values).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from weir.results.judging import MET, MISSED
from weir.sizing.probe import OPEN, Tried

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["bisect", "most_tried", "possible", "race"]


def most_tried(values: int, *, is_monotonic: bool) -> int:
    """Return how many values are tried at most."""
    return 2 * math.ceil(math.log2(values + 1)) if is_monotonic else values


def bisect(values: Sequence[object], decide: Callable[[Tried], None], tried: dict[int, Tried]) -> None:
    """Close in on the answer, by the places of values; what is tried is put into ``tried``."""
    most = most_tried(len(values), is_monotonic=True)
    while len(tried) < most and (place := _middle(len(values), tried)) is not None:
        tried[place] = Tried(values[place])
        decide(tried[place])


def _bounds(count: int, tried: dict[int, Tried]) -> tuple[int, int, list[int]]:
    """Return the last place that misses, the first that meets, and those between that stay open."""
    high = min((place for place, each in tried.items() if each.state == MET), default=count)
    low = max((place for place, each in tried.items() if each.state == MISSED and place < high), default=-1)
    still_open = sorted(place for place, each in tried.items() if each.state == OPEN and low < place < high)
    return low, high, still_open


def _middle(count: int, tried: dict[int, Tried]) -> int | None:
    low, high, still_open = _bounds(count, tried)
    first, last = (still_open[0], still_open[-1]) if still_open else (high, high)
    parts = [(low, first)] if not still_open else [(low, first), (last, high)]
    return next(((below + above) // 2 for below, above in parts if above - below > 1), None)


def race(values: Sequence[object], look: Callable[[Tried], None], tried: dict[int, Tried]) -> None:
    """Take looks, round by round, until the first that meets the needs is known or nothing more is."""
    left = list(range(len(values)))
    while left:
        for place in left:
            each = tried.setdefault(place, Tried(values[place]))
            look(each)
            if each.state == MET:
                break
        best = min((place for place, each in tried.items() if each.state == MET), default=len(values))
        left = [place for place in left if place < best and not (place in tried and tried[place].is_done)]


def possible(count: int, tried: dict[int, Tried], *, is_monotonic: bool) -> tuple[list[int], bool]:
    """Return the places at which the answer may be, and whether there may be none."""
    low, high, _ = _bounds(count, tried)
    if is_monotonic:
        return list(range(low + 1, min(high + 1, count))), high == count
    out = {place for place, each in tried.items() if each.state == MISSED}
    return [place for place in range(min(high + 1, count)) if place not in out], high == count
