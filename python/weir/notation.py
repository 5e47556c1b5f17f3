"""Queues in Kendall's notation: what is known of one from its rates and means, without simulation."""

from __future__ import annotations

import json
from dataclasses import dataclass

from weir import _weir
from weir.errors import ConfigError

__all__ = ["QueueFigure", "QueueParameter", "QueueTheory", "kendall"]


@dataclass(frozen=True, slots=True)
class QueueParameter:
    """A parameter of a queue: a rate in ``1/s``, a mean in ``s``, or a number."""

    name: str
    value: float
    unit: str


@dataclass(frozen=True, slots=True)
class QueueFigure:
    """One figure: ``metric``, its value in ``unit`` (``s``, ``share``, ``customers``), status and source.

    The status is ``exact``, ``upper bound`` or ``approximation``.
    """

    metric: str
    value: float
    unit: str
    status: str
    source: str


@dataclass(frozen=True, slots=True)
class QueueTheory:
    """What is known of a queue: its notation in full, its parameters, and its figures."""

    queue: str
    parameters: tuple[QueueParameter, ...]
    figures: tuple[QueueFigure, ...]
    text: str
    """The same as JSON."""

    def figure(self, metric: str) -> QueueFigure:
        """Return the figure of a metric, such as ``mean_wait``; an exact or approximate one before a bound.

        Raises
        ------
        ConfigError
            If it is not known of this queue.
        """
        found = [each for each in self.figures if each.metric == metric]
        if not found:
            known = ", ".join(dict.fromkeys(each.metric for each in self.figures))
            raise ConfigError(f"no {metric} is known of {self.queue}", f"known are {known}")
        return next((each for each in found if each.status != "upper bound"), found[0])


def kendall(
    queue: str,
    *,
    arrival: str | None = None,
    service: str | None = None,
    patience: str | None = None,
    scv_arrival: float | None = None,
    scv_service: float | None = None,
    batch: float | None = None,
    scv_batch: float | None = None,
) -> QueueTheory:
    """Return what is known of a queue in Kendall's notation, such as ``M/M/3/10+M``.

    Parameters
    ----------
    queue : str
        Arrivals, service, servers, and if bounded the places (those in service counted) and the sources;
        patience after a plus, a discipline after a hyphen.
    arrival : str
        The rate of arrivals, ``"2.4/s"``: of batches with ``M^X``; of each source that has no customer here
        where there is a number of sources.
    service, patience : str
        The mean time, ``"500ms"``, or the rate, ``"2/s"``.
    scv_arrival, scv_service : float
        Squared coefficients of variation, variance over squared mean, of gaps and of services that are ``G``.
    batch, scv_batch : float
        The mean number of customers in a batch and its squared coefficient of variation, with ``M^X``.

    Returns
    -------
    QueueTheory
        Each figure with its unit, its status and its source. Shares are of all who arrive; times are of
        those who are let in.

    Raises
    ------
    ConfigError
        If the notation is not understood, nothing is known of the queue, a parameter is missing, of no use
        or out of bounds, or there is no steady state.

    Examples
    --------
    >>> kendall("M/M/3", arrival="2.4/s", service="1s").figure("mean_wait").value
    1.0786...
    """
    text = _weir.kendall(queue, arrival, service, patience, scv_arrival, scv_service, batch, scv_batch)
    found = json.loads(text)
    return QueueTheory(
        found["queue"],
        tuple(QueueParameter(**each) for each in found["parameters"]),
        tuple(QueueFigure(**each) for each in found["figures"]),
        text,
    )
