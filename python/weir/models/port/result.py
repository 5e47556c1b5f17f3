"""Results of the port: delays of messages at one point of contention, by class and by application."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from weir.results.reading import ALL, check_fields, check_texts, refuse
from weir.results.result import Field, Section
from weir.results.rows import Against, Comparison, Estimated, Histogram, Measured, Of, OfClass
from weir.results.windowed import Windowed

if TYPE_CHECKING:
    from weir.results.rows import Need, TheoryValue


@dataclass(frozen=True, kw_only=True)
class _About:
    """What an estimate is about; no discipline where it is the same under all, no flow where it is of all."""

    __slots__ = ()
    discipline: str | None
    class_: str
    flow: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate(Estimated, _About):
    """One estimated quantity with its 95 % confidence interval.

    ``unit`` is ``u`` (mean packet services), ``s``, ``pkt``, ``B`` or ``1``. ``discipline`` is None where the
    quantity is the same under all; ``class_`` is ``"all"`` or the name of a class; ``flow`` is None where all
    applications are counted together. ``method`` says where the interval comes from. Where ``value`` is None,
    ``reason`` says why.
    """


@dataclass(frozen=True, kw_only=True)
class _Ratio:
    """A discipline's mean over the reference's, with its 95 % confidence interval."""

    __slots__ = ()
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    ratio_standard_error: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference(Measured, _Ratio, Comparison, OfClass, Against):
    """A discipline's mean minus that of the reference, paired on the same arrivals and services.

    ``ratio`` is the discipline's mean over the reference's; ``low`` to ``high`` and ``ratio_low`` to
    ``ratio_high`` are 95 % confidence intervals. Where ``value`` is None, ``reason`` says why.
    """

    @property
    def relative(self) -> float | None:
        """The difference over the reference's mean."""
        return None if self.ratio is None else self.ratio - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution(Histogram, OfClass, Of):
    """A histogram of the delay of a class."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthClass:
    """A class of messages, ``count`` of them; by length from ``low`` to ``high`` where it is one."""

    name: str
    low: float | None = None
    high: float | None = None
    count: int | None = None
    mean_length: float | None = None


@dataclass(frozen=True, eq=False, repr=False)
class PortResult(Windowed):
    """What a run of the port found out: delays of messages, by class and by application."""

    _view: ClassVar[str] = "weir.models.port.view:PortView"

    load = Field[float | None]("float | None")
    """The offered load, where it is known."""
    ticks = Field[int]("int")
    """Packets that were served."""
    messages = Field[int]("int", 0)
    """Messages that were simulated."""
    unfinished = Field[int]("int", 0)
    """Messages that were not finished at the end."""
    duration = Field[float | None]("float | None")
    """The simulated time, where it is recorded."""
    notes = Field[tuple[str, ...]](default=())
    """What is to be known of a load that follows a curve."""
    classes = Section(LengthClass)
    """The classes of messages; the first is all of them."""
    estimates = Section(Estimate)
    """All estimates, one row each."""
    differences = Section(Difference)
    """Paired differences to the reference."""
    distributions = Section(Distribution)
    """Histograms of delay."""

    @classmethod
    def _check(cls, document: dict[str, Any]) -> None:
        """Check the warm-up and the windows too."""
        warm_up = document.get("warm_up")
        if warm_up is not None and not isinstance(warm_up, dict):
            refuse("warm_up", warm_up, "an object")
        check_fields(warm_up or {}, {"rule": "str"}, "warm_up.")
        check_texts(document, "notes")
        cls._check_windows(document)

    @property
    def metric(self) -> str:
        """The delay that a report is about: ``latency`` of packets, ``response`` of whole messages."""
        return "latency" if any(row.metric == "latency" for row in self.estimates) else "response"

    def estimate(
        self,
        discipline: str | None,
        *,
        metric: str | None = None,
        statistic: str = "mean",
        class_: str = "all",
        flow: int | None = None,
    ) -> Estimate | None:
        """Return one estimate, or None if the run has no such row.

        Parameters
        ----------
        discipline : str or None
            A spec string of `disciplines`; None for what all share, such as the queue length.
        metric : str, optional
            ``latency``, ``response``, ``wait``, ``slowdown``, ...; `metric` of the result if not given.
        statistic : str
            ``mean``, ``p50``, ``p90``, ``p99``, ``p99.9``, ``max`` or ``share``.
        class_ : str
            ``all`` or the name of one of `classes`.
        flow : int, optional
            An application; all together if not given.
        """
        return self.estimates.find(
            discipline=discipline, class_=class_, metric=metric or self.metric, statistic=statistic, flow=flow
        )

    def needed(self, discipline: str, need: Need) -> Estimate | None:
        """Return the figure that a need is about."""
        class_ = need.name if need.kind == "class" else ALL
        flow = int(need.name) if need.kind == "flow" else None
        about = {"metric": need.metric, "statistic": need.statistic, "class_": class_, "flow": flow}
        return self.estimates.find(discipline=discipline, **about)

    def difference(
        self, discipline: str, *, class_: str = "all", metric: str | None = None
    ) -> Difference | None:
        """Return the paired difference of a discipline's mean to the reference, if there is one."""
        return self.differences.find(discipline=discipline, class_=class_, metric=metric or self.metric)

    def closed_form(
        self, discipline: str | None, *, class_: str = "all", metric: str | None = None
    ) -> TheoryValue | None:
        """Return the closed form of a discipline's mean, if there is one."""
        return self.theory.find(discipline=discipline, class_=class_, metric=metric or self.metric)
