"""What was measured: results by the name of their run, and values with their intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, ParamSpec, Protocol, TypeVar

from weir.results.result import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from weir.reproduce.engine.series import Plan

    PlanT = TypeVar("PlanT", bound=Plan)

__all__ = ["Evidence", "Measured", "NotMeasuredError", "if_measured", "measured"]

ResultT = TypeVar("ResultT", bound=Result)
T = TypeVar("T")
P = ParamSpec("P")


class NotMeasuredError(LookupError):
    """Something that was not measured; the text says what and why."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A value with the ends of its 95 % interval, where it has one."""

    value: float
    lower: float | None = None
    upper: float | None = None

    @property
    def low(self) -> float:
        """The lower end; the value where there is none."""
        return self.value if self.lower is None else self.lower

    @property
    def high(self) -> float:
        """The upper end; the value where there is none."""
        return self.value if self.upper is None else self.upper

    @property
    def half(self) -> float:
        """Half of the interval."""
        return (self.high - self.low) / 2

    @property
    def ci95(self) -> tuple[float, float] | None:
        """Both ends, if there are any."""
        return None if self.lower is None or self.upper is None else (self.lower, self.upper)

    def scaled(self, factor: float) -> Measured:
        """Return the value in another unit."""
        lower, upper = (None if end is None else factor * end for end in (self.lower, self.upper))
        return Measured(factor * self.value, lower, upper)


def if_measured(find: Callable[P, T], *given: P.args, **named: P.kwargs) -> T | None:
    """Return what a function finds, or None where something that it needs was not measured."""
    try:
        return find(*given, **named)
    except NotMeasuredError:
        return None


class Estimated(Protocol):
    """A row of a result: a value with its ends, or the reason why there is none."""

    @property
    def value(self) -> float | None: ...
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...
    @property
    def reason(self) -> str | None: ...


def measured(row: Estimated | None, what: str) -> Measured:
    """Return the value of a row.

    Raises
    ------
    NotMeasuredError
        If there is none; the error says of ``what``, and why.
    """
    if row is None or row.value is None:
        raise NotMeasuredError(f"{what}: {(row.reason if row else None) or 'it was not measured'}")
    return Measured(row.value, row.low, row.high)


class Evidence(Generic[ResultT]):
    """The results of all runs that were made, by name.

    Parameters
    ----------
    results : mapping
        A result for each plan that was run.
    """

    def __init__(self, results: Mapping[PlanT, ResultT]) -> None:
        self.results = {plan.name: each for plan, each in results.items()}

    @property
    def empty(self) -> bool:
        """Whether no run was finished."""
        return not self.results

    def result(self, name: str) -> ResultT:
        """Return the result of a run.

        Raises
        ------
        NotMeasuredError
            If it was interrupted before.
        """
        if name not in self.results:
            raise NotMeasuredError(f"the run was interrupted before `{name}`")
        return self.results[name]
