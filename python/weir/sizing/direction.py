"""On which side of the answer needs are met: what is known of keys that make waiting longer or shorter.

More load makes every wait longer: of a queue in order of arrival, customer by customer (Lindley's recursion);
of other orders it is taken to be so in the mean and in the tail. More cores make it shorter where they share
one queue (Kiefer and Wolfowitz 1955, customer by customer), and where requests are spread over them without
regard to what they are; other dispatchers are not known to gain by every core, on a recording least of all.
Whatever is not known here is raced, value by value.

Source: Asmussen, *Applied Probability and Queues*, 2003, chapters III and XII.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weir.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["BETTER", "NEITHER", "WORSE", "checked_direction", "direction"]

BETTER, WORSE, NEITHER = "better", "worse", "no"
"""Needs are met more easily as the value grows, less easily, or neither is known."""
_WAITING = {
    "response",
    "delay",
    "wait",
    "latency",
    "total_latency",
    "message_latency",
    "slowdown",
    "dropped",
}
"""Metrics that are better the smaller they are, and grow with what waits."""
_LOADS = {("port", "workload.load"), ("server", "workload.load"), ("server", "workload.rate")}
_CORES = ("server", "server.cores")
_SHARED = {"cfcfs"}
_SPREAD = {"jsq", "least_work", "random", "rr"}


def direction(
    model: str, key: str, disciplines: Sequence[str], needs: Sequence[Mapping[str, Any]], *, recorded: bool
) -> str:
    """Return which way the needs get easier as a key's value grows; needs are tables of the scenario."""
    if not all(str(need["metric"]).split()[0] in _WAITING and "bound" in need for need in needs):
        return NEITHER
    if (model, key) in _LOADS:
        return WORSE
    known = _SHARED if recorded else _SHARED | _SPREAD
    if (model, key) == _CORES and set(disciplines) <= known:
        return BETTER
    return NEITHER


def checked_direction(given: str | None) -> str | None:
    """Return a direction that is given, if it is one.

    Raises
    ------
    ConfigError
        If it is none.
    """
    if given not in {None, BETTER, WORSE, NEITHER}:
        raise ConfigError(
            f"--monotonic is {given!r}, must be `{BETTER}`, `{WORSE}` or `{NEITHER}`",
            f"write `--monotonic {BETTER}` if needs are met more easily as the value grows",
        )
    return given
