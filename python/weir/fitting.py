"""Laws fitted to measured times: what `weir fit` prints, the line of a scenario, and the picture.

The fits are those of the engine (`weir_workload::fit`): maximum likelihood, ranked by Akaike's criterion,
the best of them tested by the Kolmogorov–Smirnov distance with a parametric bootstrap.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weir import _weir
from weir.errors import ConfigError

if TYPE_CHECKING:
    from os import PathLike

__all__ = ["UNITS", "Fit", "Fits", "fit_column", "fits_of", "unit_of"]

UNITS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
"""Nanoseconds of each unit."""
SHOWN = 3
"""Laws that are tested, printed and drawn."""
_DIGITS = 4
_HIGHEST_CV = 100.0
_MOST_REPLICATES = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """One law fitted to a column; times are in the unit of the column."""

    name: str
    parameters: dict[str, Any]
    log_likelihood: float
    aic: float
    bic: float
    distance: float
    """The Kolmogorov–Smirnov distance from the values."""
    p_value: float | None
    """Of a parametric bootstrap; ``None`` where the law was not tested."""
    mean: float | None
    """``None`` where it is infinite."""
    cv: float | None
    """``None`` where the variance is infinite."""
    survival: list[float]
    """At the points of :attr:`Fits.survival`."""
    line: str | None
    """The line of a scenario; ``None`` where the law has no mean or lies beyond the bounds of documents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fits:
    """What a column holds, and the laws fitted to it, the best by Akaike's criterion first."""

    column: str
    unit: str
    count: int
    tested: int
    """Of the values, those by which laws are tested: all, or as many drawn at random."""
    mean: float
    cv: float
    survival: list[tuple[float, float]]
    """Values with the share of values that are at least as large."""
    fits: list[Fit]


def unit_of(column: str, unit: str | None) -> str:
    """Return the unit that was given, or the one in which the name of the column ends, as in ``service_ms``.

    Raises
    ------
    ConfigError
        There is neither, or what was given is no unit.
    """
    if unit is not None:
        if unit not in UNITS:
            raise ConfigError(f"--unit is {unit}, must be one of {', '.join(UNITS)}", "write --unit ms")
        return unit
    ending = column.rsplit("_", 1)[-1]
    if "_" in column and ending in UNITS:
        return ending
    raise ConfigError(
        f"the unit of column `{column}` is not known", f"give it: --unit {', --unit '.join(UNITS)}"
    )


def fit_column(
    file: str | PathLike[str],
    column: str,
    *,
    unit: str | None = None,
    replicates: int = 299,
    seed: int = 1,
) -> Fits:
    """Fit laws to a column of positive times of a CSV file, which may be compressed by gzip.

    Parameters
    ----------
    file, column
        The file, with a header, and the name of the column.
    unit
        ``ns``, ``us``, ``ms`` or ``s``; default: that in which the name of the column ends.
    replicates
        Samples of each of the best three laws by which it is tested, from 1 to 10,000.
    seed
        That of the replicates.

    Raises
    ------
    ConfigError
        The unit is not known, or the number of replicates is out of bounds.
    TraceError
        The file cannot be read, has no such column, or a value that is missing or not above 0; with the line.
    """
    named = unit_of(column, unit)
    if not 1 <= replicates <= _MOST_REPLICATES:
        raise ConfigError(f"replicates are {replicates}, must be from 1 to {_MOST_REPLICATES}", "write 299")
    if not 0 <= seed < 1 << 64:
        raise ConfigError(f"seed is {seed}, must be from 0 to 2^64 - 1", "write 1")
    told = json.loads(_weir.fit_laws(Path(file), column, SHOWN, replicates, seed))
    points = [(value, share) for value, share in told["survival"]]
    return Fits(
        column=column,
        unit=named,
        count=told["count"],
        tested=told["tested"],
        mean=told["mean"],
        cv=told["cv"],
        survival=points,
        fits=fits_of(told, named),
    )


def fits_of(told: dict[str, Any], unit: str) -> list[Fit]:
    """Return the fits that the engine tells of, the best first, of values in this unit."""
    return [_fit(row, unit) for row in told["fits"]]


def _fit(row: dict[str, Any], unit: str) -> Fit:
    return Fit(
        name=row["name"],
        parameters=row["parameters"],
        log_likelihood=row["log_likelihood"],
        aic=row["aic"],
        bic=row["bic"],
        distance=row["distance"],
        p_value=row["p_value"],
        mean=row["mean"],
        cv=row["cv"],
        survival=row["survival"],
        line=_line(row, unit),
    )


def _line(row: dict[str, Any], unit: str) -> str | None:
    """Return the law as a scenario has it: four digits, times in whole nanoseconds."""
    of: dict[str, Any] = row["parameters"]
    mean, cv = row["mean"], row["cv"]
    if mean is None or mean * UNITS[unit] < 1:
        return None

    def time(value: float) -> str:
        return f'"{_time(value * UNITS[unit])}"'

    match row["name"]:
        case "exponential":
            law = time(mean)
        case "erlang":
            law = f"{{ stages = {of['stages']}, mean = {time(mean)} }}"
        case "gamma" | "lognormal":
            if cv is None or cv > _HIGHEST_CV:
                return None
            law = f"{{ mean = {time(mean)}, cv = {_number(cv)} }}"
        case "weibull":
            law = f"{{ shape = {_number(of['shape'])}, mean = {time(mean)} }}"
        case "pareto":
            law = f"{{ alpha = {_number(of['alpha'])}, minimum = {time(of['minimum'])} }}"
        case _:
            branches = ", ".join(f"[{time(branch)}, {share:.6f}]" for branch, share in of["branches"])
            law = f"{{ branches = [{branches}] }}"
    return f"service = {{ {row['name']} = {law} }}"


def _number(value: float) -> str:
    """Return a number that TOML reads as one with a fraction."""
    text = f"{value:.{_DIGITS}g}"
    return text if "." in text or "e" in text else f"{text}.0"


def _time(nanoseconds: float) -> str:
    """Return a span of time of four digits, at least a nanosecond, in its own unit."""
    whole = max(1, round(float(f"{nanoseconds:.{_DIGITS}g}")))
    unit = next(name for name in reversed(UNITS) if whole >= UNITS[name])
    return f"{whole / UNITS[unit]:.9g}{unit}"
