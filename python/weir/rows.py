"""The rows of a result: what is estimated, compared, computed and checked, one dataclass each."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

__all__ = [
    "Check",
    "Comparison",
    "Difference",
    "Distribution",
    "Engine",
    "Estimate",
    "LengthClass",
    "Measured",
    "TheoryValue",
    "rows",
]

Row = TypeVar("Row")


class Measured(Protocol):
    """What the estimates of all models share."""

    @property
    def metric(self) -> str: ...  # noqa: D102 - the fields of an estimate
    @property
    def value(self) -> float | None: ...  # noqa: D102
    @property
    def low(self) -> float | None: ...  # noqa: D102
    @property
    def high(self) -> float | None: ...  # noqa: D102
    @property
    def unit(self) -> str: ...  # noqa: D102
    @property
    def reason(self) -> str | None: ...  # noqa: D102


class Comparison:
    """What the differences share of all models that take them replication by replication."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def low(self) -> float | None: ...  # noqa: D102 - the fields of a difference
        @property
        def high(self) -> float | None: ...  # noqa: D102

    @property
    def clear(self) -> bool:
        """Whether the 95 % interval leaves out zero."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """One estimated quantity with its 95 % confidence interval.

    ``unit`` is ``u`` (mean packet services), ``s``, ``pkt``, ``B`` or ``1``. ``discipline`` is None where the
    quantity is the same under all; ``class_`` is ``"all"`` or the name of a class; ``flow`` is None where all
    applications are counted together. ``method`` says where the interval comes from. Where ``value`` is None,
    ``reason`` says why.
    """

    discipline: str | None
    class_: str
    flow: int | None
    metric: str
    statistic: str
    value: float | None
    low: float | None
    high: float | None
    standard_error: float | None
    count: int
    method: str | None
    unit: str
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A discipline's mean minus that of the reference, paired on the same arrivals and services.

    ``ratio`` is the discipline's mean over the reference's; ``low`` to ``high`` and ``ratio_low`` to
    ``ratio_high`` are 95 % confidence intervals. Where ``value`` is None, ``reason`` says why.
    """

    discipline: str
    reference: str
    class_: str
    metric: str
    statistic: str
    value: float | None
    low: float | None
    high: float | None
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    ratio_standard_error: float | None
    unit: str
    reason: str | None

    @property
    def relative(self) -> float | None:
        """The difference over the reference's mean."""
        return None if self.ratio is None else self.ratio - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class TheoryValue:
    """A closed form, with the name of its formula or, where ``value`` is None, why there is none.

    ``agrees`` says whether the simulated 99.9 % interval covers it; None where nothing was simulated.
    """

    discipline: str | None
    class_: str
    metric: str
    value: float | None
    unit: str
    formula: str
    agrees: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A self-check of a run: an identity that must hold, and how well it did."""

    discipline: str | None
    check: str
    expected: float
    measured: float
    tolerance: float
    ok: bool
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """A histogram by its non-empty bins, from ``low`` to ``high``, with their counts.

    Quantiles read from it have at most ``relative_error``.
    """

    discipline: str
    class_: str
    metric: str
    relative_error: float
    unit: str
    low: tuple[float, ...]
    high: tuple[float, ...]
    count: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """Which engine ran a discipline."""

    discipline: str
    engine: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthClass:
    """A class of messages, ``count`` of them; by length from ``low`` to ``high`` where it is one."""

    name: str
    low: float | None = None
    high: float | None = None
    count: int | None = None
    mean_length: float | None = None


def rows(kind: type[Row], rows: list[dict[str, Any]]) -> tuple[Row, ...]:
    """Return JSON objects as rows; a field missing from an object is None."""
    names = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    return tuple(kind(**{name: _frozen(row.get(name.rstrip("_"))) for name in names}) for row in rows)


def _frozen(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value
