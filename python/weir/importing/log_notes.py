"""What is to be known of a log before a scenario of it is relied on, a sentence or two each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weir.importing.log_columns import is_total
from weir.text import plural, quantity

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["dispersion_of", "notes_of"]

_RESOLUTIONS = {10**9: "seconds", 10**6: "milliseconds", 10**3: "microseconds"}
_REMEDY = (
    "Log the service alone (nginx `$upstream_response_time`, Envoy "
    "`%RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)%`, a "
    "timer in the handler) and name its column with --service, or import hours in which hardly any "
    "request waits."
)


def notes_of(reading: Mapping[str, Any], facts: Mapping[str, Any]) -> list[str]:
    """Return warnings and notes, each a line."""
    return [
        *_warnings(reading),
        *_order(reading, facts["noted"]),
        *_left(facts["noted"]),
        *dispersion_of(facts),
    ]


def _warnings(reading: Mapping[str, Any]) -> Iterator[str]:
    service = reading["service"][0]
    total = is_total(service)
    if total:
        yield (
            f"Warning: `{service}` is the time from a request to its answer. It contains the waiting "
            "in queues "
            f"already, and the scenario adds it again, so that delays come out too long. {_REMEDY}"
        )
    elif total is None:
        yield (
            f"Warning: whether `{service}` contains waiting in queues is not known. If it does, the "
            "scenario adds "
            f"it again, and delays come out too long. {_REMEDY}"
        )
    elif service in ("upstream_response_time", "urt", "upstream_service_time"):
        yield (
            f"`{service}` is what the proxy saw of the server behind it: the network between them is "
            "part of it, "
            "and so is any queue inside that server."
        )


def _order(reading: Mapping[str, Any], noted: Mapping[str, Any]) -> Iterator[str]:
    if reading["time_of"] == "end":
        name = (reading["duration"] or reading["service"])[0]
        yield (
            f"The times of the log are those of the end: a request arrived `{name}` earlier, and "
            "requests are in "
            "the order of arrival."
        )
    else:
        yield "The times of the log are those of the arrival; requests are in their order."
    if noted["disordered"]:
        step = quantity(noted["longest_disorder_ns"] / 1e9, "s")
        yield (
            f"{plural(noted['disordered'], 'line')} came after a later one, by up to {step}, and "
            "were sorted in."
        )
    if noted["spread"]:
        unit = _RESOLUTIONS[noted["time_resolution_ns"]]
        yield (
            f"Times are in whole {unit}, and several requests share one: each was put at random "
            "within its own. "
            "Gaps below that, and their burstiness, are not known. Log finer times: nginx `$msec`, Apache "
            "`%{usec}t`."
        )


def _left(noted: Mapping[str, Any]) -> Iterator[str]:
    if noted["without_service"]:
        yield f"Left out: {plural(noted['without_service'], 'request')} that no server behind the proxy saw."
    if noted["zero_services"]:
        half = quantity(max(1, noted["service_resolution_ns"] // 2) / 1e9, "s")
        yield (
            f"{plural(noted['zero_services'], 'request')} took 0, less than the log tells: each "
            f"counts as {half}."
        )
    statuses = dict(zip(("1xx", "2xx", "3xx", "4xx", "5xx", "other"), noted["statuses"], strict=True))
    shown = ", ".join(f"{count:,} {name}" for name, count in statuses.items() if count)
    if shown:
        yield f"Statuses: {shown}. All of them arrive and are served here."
    if noted["given_up"]:
        yield (
            f"{plural(noted['given_up'], 'request')} ended with status 408, 499 or 504: somebody gave "
            "up, and how "
            "long that took is no service time. `timeout` of [[class]] is for clients that give up."
        )


def dispersion_of(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield how arrivals and services vary, and what that means for a Poisson model."""
    found = facts["dispersion"]
    gaps, services, windows = found["gaps"], found["services"], found["windows"]
    if windows:
        shown = ", ".join(
            f"{each['index']:.3g} over {quantity(each['length_ns'] / 1e9, 's')} "
            f"(Poisson {each['poisson'][0]:.3g} to {each['poisson'][1]:.3g})"
            for each in windows
        )
        yield f"Index of dispersion of arrivals: {shown}. {_meaning(windows)}"
    else:
        yield f"{plural(found['requests'], 'request')} are too few for an index of dispersion."
    bound = found["independent"]
    for what, of, dependent in (
        ("gaps", gaps, "a Poisson process has none, nor has a renewal process"),
        ("services", services, "laws from which each is drawn for itself have none"),
    ):
        if of is None or of["correlation"] is None:
            continue
        correlation = (
            f"Lag-1 correlation of {what}: {of['correlation']:.2g} (independent: within ±{bound:.2g})"
        )
        if abs(of["correlation"]) <= bound:
            yield f"{correlation}: none is seen."
        else:
            yield f"{correlation}: {dependent}. A replay of the log keeps it, --fit does not."


def _meaning(windows: list[dict[str, Any]]) -> str:
    """Return what the indices say of a Poisson process."""
    above = [each for each in windows if each["index"] > each["poisson"][1]]
    below = [each for each in windows if each["index"] < each["poisson"][0]]
    if above and above[-1] is windows[-1]:
        return (
            "Arrivals are burstier than a Poisson process, or their rate changes with the hours: a "
            "Poisson model "
            "of this rate makes delays too short."
        )
    if below and below[-1] is windows[-1]:
        return "Arrivals are more even than a Poisson process, and a Poisson model makes delays too long."
    if above or below:
        return "A Poisson process fits over long windows, and not over short ones."
    return "A Poisson process of this rate fits at every window."
