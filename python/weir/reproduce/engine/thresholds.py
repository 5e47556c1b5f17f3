"""How many standard errors apart two numbers may be before they disagree.

A table has many cells, and each is a chance of a false alarm. With ``n`` comparisons each is tested at
``1 - (1 - p)**(1/n)``, so that the chance of any false alarm among them is at most ``p``: Šidák's inequality
(JASA 62, 1967) makes this hold for jointly normal deviations of any correlation, which matters here since all
strategies see the same arrivals. A standard error is itself an estimate, from a limited number of batches;
the threshold is therefore Student's, with the degrees of freedom that the run's own interval had.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["degrees_of_freedom", "per_comparison", "student_quantile", "student_tail"]

_NORMAL = NormalDist()
_MOST = 1e6
"""Degrees of freedom from which on Student's distribution is the normal one."""
_OUTSIDE = 0.05
"""What a 95 % interval leaves outside."""


def per_comparison(any_false_alarm: float, comparisons: int) -> float:
    """Return the two-sided level of one of several comparisons, given that of all together.

    Raises
    ------
    ValueError
        If ``any_false_alarm`` is not between 0 and 1, or there is no comparison.
    """
    if not 0 < any_false_alarm < 1:
        raise ValueError(f"chance of any false alarm is {any_false_alarm}, must be between 0 and 1")
    if comparisons < 1:
        raise ValueError(f"comparisons is {comparisons}, must be at least 1")
    return -math.expm1(math.log1p(-any_false_alarm) / comparisons)


@lru_cache(maxsize=4096)
def student_quantile(level: float, freedom: float) -> float:
    """Return the value that Student's ``|t|`` exceeds with probability ``level``."""
    normal = -_NORMAL.inv_cdf(level / 2)
    if freedom >= _MOST:
        return normal
    low, high = normal, 2 * normal
    while student_tail(high, freedom) > level:
        low, high = high, 2 * high
    return _bisect(low, high, lambda value: student_tail(value, freedom) > level)


def student_tail(value: float, freedom: float) -> float:
    """Return the probability that Student's ``|t|`` exceeds ``value``."""
    return _incomplete_beta(freedom / 2, 0.5, freedom / (freedom + value * value))


@lru_cache(maxsize=4096)
def degrees_of_freedom(margin: float) -> float:
    """Return the degrees of freedom of a 95 % interval that is ``margin`` standard errors to each side."""
    if student_tail(margin, _MOST) <= _OUTSIDE:
        outside = student_tail(margin, 1.0) <= _OUTSIDE
        return (
            1.0 if outside else _bisect(1.0, _MOST, lambda freedom: student_tail(margin, freedom) > _OUTSIDE)
        )
    return _MOST


def _bisect(low: float, high: float, is_low: Callable[[float], bool]) -> float:
    """Return where ``is_low`` turns false, to nine digits; both bounds are positive."""
    while high > low * (1 + 1e-9):
        middle = math.sqrt(low * high)
        if not low < middle < high:
            break
        low, high = (middle, high) if is_low(middle) else (low, middle)
    return high


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """Return the regularised incomplete beta function (NIST DLMF 8.17.22, by Lentz's method)."""
    if x >= 1:
        return 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - _incomplete_beta(b, a, 1 - x)
    front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(front) / (a * _continued_fraction(a, b, x))


def _continued_fraction(a: float, b: float, x: float) -> float:
    tiny = 1e-300
    value, c, d = 1.0, 1.0, 0.0
    for step in range(1, 500):
        half, odd = divmod(step, 2)
        if odd:
            term = -(a + half) * (a + b + half) * x / ((a + 2 * half) * (a + 2 * half + 1))
        else:
            term = half * (b - half) * x / ((a + 2 * half - 1) * (a + 2 * half))
        d = 1 / (1 + term * d or tiny)
        c = 1 + term / c or tiny
        value *= c * d
        if abs(c * d - 1) < 1e-14:
            break
    return value
