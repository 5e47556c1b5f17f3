"""The rows of a result: what all models share of what is estimated, compared, computed and checked.

A row's class is made of parts: whom it is about, which is a model's own, and what was found. Dataclasses take
the fields of their last base first, so the parts of a class stand from the last of its fields to the first.
"""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Mapping

Row = TypeVar("Row")
Row_co = TypeVar("Row_co", covariant=True)


class Rows(tuple[Row_co, ...]):
    """Rows of one kind, in the order of the document."""

    _indexes: dict[tuple[str, ...], dict[tuple[object, ...], Row_co]]
    _written: Mapping[str, str]
    """As rows name them, the disciplines by their canonical specs."""

    def find(self, **wanted: object) -> Row_co | None:
        """Return the row with these fields, or None; O(1) after the first of its kind, which is O(rows).

        A discipline may be called as it is written in the scenario, or by its canonical spec.
        """
        under = wanted.get("discipline")
        if isinstance(under, str):
            wanted["discipline"] = self.__dict__.get("_written", {}).get(under, under)
        names = tuple(wanted)
        indexes = self.__dict__.setdefault("_indexes", {})
        if names not in indexes:
            indexes[names] = {tuple([getattr(row, name) for name in names]): row for row in self}
        found: Row_co | None = indexes[names].get(tuple(wanted.values()))
        return found


def rows(kind: type[Row], found: list[dict[str, Any]], written: Mapping[str, str] | None = None) -> Rows[Row]:
    """Return JSON objects as rows; a field missing from an object is its default, or None.

    ``written`` has the names of disciplines in these rows by their canonical specs.
    """
    defaults = {
        field.name: None if field.default is MISSING else field.default
        for field in fields(kind)  # type: ignore[arg-type]
    }
    made = Rows(
        kind(**{name: frozen(row.get(name.rstrip("_"), usual)) for name, usual in defaults.items()})
        for row in found
    )
    made.__dict__["_written"] = written or {}
    return made


def frozen(value: object) -> object:
    """Return a list as a tuple."""
    return tuple(value) if isinstance(value, list) else value


# Parts.


@dataclass(frozen=True, kw_only=True)
class Of:
    """Under which discipline."""

    __slots__ = ()
    discipline: str


@dataclass(frozen=True, kw_only=True)
class Against:
    """Under which discipline, held against which."""

    __slots__ = ()
    discipline: str
    reference: str


@dataclass(frozen=True, kw_only=True)
class OfClass:
    """A class of messages or requests; ``all`` of them."""

    __slots__ = ()
    class_: str


@dataclass(frozen=True, kw_only=True)
class Value:
    """What was found, with its 95 % confidence interval."""

    __slots__ = ()
    metric: str
    statistic: str
    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, kw_only=True)
class Sampled:
    """Where an estimate comes from; ``method`` says how its interval was made."""

    __slots__ = ()
    standard_error: float | None
    count: int
    method: str | None


@dataclass(frozen=True, kw_only=True)
class Measured(Value):
    """A value with its unit; where it is None, or has no interval, ``reason`` says why.

    ``settled`` is False where the run is too short for the interval to be relied on.
    """

    __slots__ = ()
    unit: str
    reason: str | None
    settled: bool = True


@dataclass(frozen=True, kw_only=True)
class Estimated(Measured, Sampled, Value):
    """One estimated quantity with its 95 % confidence interval."""

    __slots__ = ()


@dataclass(frozen=True, kw_only=True)
class Comparison(Value):
    """What a discipline has less what the reference has, paired."""

    __slots__ = ()

    @property
    def clear(self) -> bool:
        """Whether the 95 % interval leaves out zero."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high


@dataclass(frozen=True, kw_only=True)
class Difference(Measured, Comparison):
    """A discipline's value less the reference's, paired on the same work, replication by replication."""

    __slots__ = ()


@dataclass(frozen=True, kw_only=True)
class Histogram(Of):
    """A histogram by its non-empty bins, from ``low`` to ``high``, with their counts.

    Quantiles read from it have at most ``relative_error``.
    """

    __slots__ = ()
    metric: str
    relative_error: float
    unit: str
    low: tuple[float, ...]
    high: tuple[float, ...]
    count: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DelayOverTime(OfClass, Of):
    """The delays of what came in each ``step`` of the first replication, from its beginning on.

    ``mean`` and ``longest`` have one value a step; None where nothing came.
    """

    unit: str
    step: float
    mean: tuple[float | None, ...]
    longest: tuple[float | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OverTime(Of):
    """Values of successive windows of ``interval`` seconds from the beginning; None: too few items.

    ``metric`` and ``statistic`` are, of a server, ``queue`` mean (requests that wait; sub-requests where they
    go to several cores), ``utilisation`` mean, ``arrivals`` count, ``delay`` p50 and p99 (s), and
    ``dropped``, ``abandoned`` and ``late`` share (of the attempts that arrive). Of a network they are
    ``queue`` (packets) and ``utilisation`` mean of the link ``name``, and of all packets ``sent`` count,
    ``delay`` mean, p50 and p99 (s) and ``loss`` share. Of a fabric they are, of the channel ``name`` and of
    all packets, ``outside`` and ``inside`` mean (packets before and behind the buffer of their interface),
    ``throughput`` share (of what links carry), ``delivered`` count, and ``latency`` mean, p50 and p99 (s).
    Of a port they are ``inside`` mean (messages), ``throughput`` share, ``departed`` count, and ``latency``
    or ``response`` mean, p50 and p99, also of the class ``name``. Of a node they are ``share`` (of a
    processor), ``response`` mean, p50 and p99 (s), ``responses`` count and ``late`` share of all processes or
    the process ``name``, ``length`` mean of the queue ``name``, and ``busy`` and ``uncharged`` mean of the
    node ``name``. All are means over the replications, whose 95 % intervals are from ``low`` to ``high``.
    """

    name: str | None = None
    metric: str
    statistic: str
    unit: str
    interval: float
    values: tuple[float | None, ...]
    low: tuple[float | None, ...] = ()
    high: tuple[float | None, ...] = ()


# Rows that every model has.


@dataclass(frozen=True, slots=True, kw_only=True)
class TheoryValue:
    """A closed form, with the name of its formula or, where ``value`` is None, why there is none.

    ``agrees`` says whether the simulated 99.9 % interval covers it; None where nothing was simulated, and
    where the run is too short for that interval: then ``settled`` is False, and ``unjudged`` says why.
    """

    discipline: str | None
    class_: str
    metric: str
    value: float | None
    unit: str
    formula: str
    agrees: bool | None
    settled: bool = True
    unjudged: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A self-check of a run: an identity that must hold, and how well it did.

    ``ok`` is None where it is not judged, since it rests on a figure that the run is too short for;
    ``unjudged`` says why. ``level`` is that of the interval which the tolerance is: chance fails one right
    figure in 1 / (1 - level). None where they can differ by a defect alone.
    """

    discipline: str | None
    check: str
    expected: float
    measured: float
    tolerance: float
    ok: bool | None
    note: str
    unjudged: str | None = None
    level: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settling:
    """How many times as long a run must be, with as many replications, until all figures are settled.

    ``figure`` names the one that needs ``longer``; ``means`` and ``quantiles`` are what these need, None
    where they are settled. ``count`` of the ``of`` figures with an interval are not settled. ``reason`` says
    why, where there is a formula for it.
    """

    longer: float
    figure: str
    means: float | None
    quantiles: float | None
    count: int
    of: int
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What the scenario says must hold: a figure at most, or at least, a bound.

    It is about all together, ``kind`` and ``name`` being ``all``, or about one ``class``, ``flow``,
    ``process``, ``queue``, ``link`` or ``channel``; at a ``load`` where the result is for several. ``floor``
    is what the figure comes to at the least, whatever the discipline, where that is beyond the bound: of a
    server what the service times alone do.
    """

    kind: str
    name: str
    load: float | None
    metric: str
    statistic: str
    side: str
    bound: float
    unit: str
    floor: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement(Of):
    """What became of a need, by its place among the needs, under a discipline.

    ``state`` is ``met``, ``missed`` or ``not_settled``; ``missed_by`` is how far the value is beyond the
    bound.
    """

    need: int
    state: str
    value: float | None
    low: float | None
    high: float | None
    missed_by: float | None
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lengthened:
    """What was done to settle the figures: a run ``times`` as long as the scenario has it, in ``runs`` runs.

    ``limit`` is how many times as long it might have become, ``length`` its length in words; ``reason`` says
    why it is no longer, where figures are not settled and the limit is not reached.
    """

    times: int
    limit: int
    runs: int
    length: str
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmed:
    """A self-check that failed, by its place among all, and whether it failed ``again`` with another seed."""

    place: int
    check: str
    discipline: str | None
    again: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """What a second ``seed`` says of the self-checks that failed and may have done so by chance."""

    seed: int
    checks: tuple[Confirmed, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine(Of):
    """Which engine ran a discipline."""

    engine: str
