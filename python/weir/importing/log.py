"""Scenarios of the server from logs of services: CSV, JSON lines, access logs of nginx, Apache and Envoy.

The requests of a log are brought into the order of arrival and become a trace that the scenario replays; or
laws are fitted to the times between arrivals and to the services of each class. `weir_workload::log` reads
the log, and says how; `weir.importing.log_columns` finds which column is what.

What a log cannot say is set by plain rules and noted: the number of cores is what keeps them busy to `LOAD`.
"""

from __future__ import annotations

import json
import math
import tomllib
from contextlib import ExitStack
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weir import _weir
from weir.errors import ConfigError
from weir.files import replacing
from weir.fitting import fits_of
from weir.importing.log_columns import Asked, chosen, remark, remembered
from weir.importing.log_notes import notes_of
from weir.importing.targets import folder
from weir.text import quantity
from weir.toml import dumps

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Mapping, Sequence

__all__ = ["DISORDER", "LOAD", "Imported", "write"]

LOAD = 0.7
"""The mean load of the cores, where their number is not given."""
DISORDER = "1s"
"""By how much lines may come too late, where nothing is said."""
DISCIPLINES = ("cfcfs", "jsq", "rr")
"""What the scenario compares."""
MOST_CORES = 1024
_TIMES = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
_POISSON_SCV = (0.8, 1.25)
"""Squared coefficients of variation of gaps that are near enough to those of a Poisson process."""
_EVEN_SCV = 1e-4
"""Of gaps that are as good as equal."""
_LEAST_CV, _MOST_CV = 0.001, 100.0
_MOST_GAMMA_CV = 4.47
_REQUESTS = 200_000
"""Requests that are drawn, in all replications together."""
_LONGEST = 1e7
"""Seconds that they take at most, a tenth of the longest run."""
_FAR = 0.05
"""By what part the mean of a law may differ from that of the log without a word."""
_ONLY = "request"
"""What the only class is called, where the log names none."""


@dataclass(frozen=True, kw_only=True)
class Imported:
    """What an import has written, and what the log holds.

    Attributes
    ----------
    scenario, requests : Path
        The files; ``requests`` is None where laws were fitted.
    reading : dict
        Which column is what.
    facts : dict
        What `weir._weir.import_log` tells of the log.
    cores : int
        The cores of the scenario.
    notes : list of str
        What is to be known before the scenario is relied on, warnings first.
    """

    scenario: Path
    requests: Path | None
    reading: dict[str, Any]
    facts: dict[str, Any]
    cores: int
    notes: list[str]

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as a JSON object."""
        return {
            "scenario": str(self.scenario),
            "requests": self.requests and str(self.requests),
            "columns": self.reading,
            "cores": self.cores,
            "notes": self.notes,
            "log": self.facts,
        }


def write(
    log: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    asked: Asked | None = None,
    ask: Callable[[str, Sequence[str]], str] | None = None,
    fitted: bool = False,
    cores: int | None = None,
    disorder: str = DISORDER,
    progress: Callable[[Mapping[str, float]], object] | None = None,
) -> Imported:
    """Write a scenario of the requests of a log, and the requests unless laws are fitted; all or nothing.

    Parameters
    ----------
    log : path
        The log; may be compressed by gzip. It is read twice, so that a pipe is refused.
    out : path
        The scenario, if it ends in ``.toml``; the requests are then next to it, ``NAME.requests.csv``. Else a
        folder, in which they are called ``scenario.toml`` and ``requests.csv``. Existing files are
        replaced, once the columns that the scenario names are known.
    asked : Asked, optional
        Which column is what.
    ask : callable, optional
        Answers a question about the columns; without it, what is not known is refused.
    fitted : bool
        Whether to fit laws instead of replaying the requests.
    cores : int, optional
        How many cores serve; by default as many as are busy to `LOAD`.
    disorder : str
        By how much a line may come after a later one.
    progress : callable, optional
        Called some times a second with ``done`` and ``total``, in bytes of the log.

    Raises
    ------
    TraceError
        With the line of what is refused.
    ConfigError
        If a column is not known, a value is refused, or a file cannot be written.
    KeyboardInterrupt
        At Ctrl-C; nothing is written then.
    """
    if cores is not None and not 1 <= cores <= MOST_CORES:
        raise ConfigError(f"cores is {cores}, must be from 1 to {MOST_CORES}", "write `--cores 8`")
    late = _nanoseconds(disorder)
    target, source = Path(out), Path(log)
    if source.is_fifo() or source.is_char_device():
        raise ConfigError("is a pipe, and a log is read twice", "save it as a file", str(source))
    scenario = target if target.suffix == ".toml" else target / "scenario.toml"
    survey = json.loads(_weir.survey_log(source))
    reading = chosen(survey, str(source), asked or Asked(), remembered(scenario), ask)
    requests = target.with_suffix(".requests.csv") if scenario == target else target / "requests.csv"
    with ExitStack() as parts:
        if scenario != target:
            parts.enter_context(folder(target))
        # Renamed in the reverse order: the scenario last, once what it names is there.
        part = parts.enter_context(replacing(scenario))
        rows = None if fitted else parts.enter_context(replacing(requests))
        order = json.dumps({**reading, "disorder": late})
        facts = json.loads(_weir.import_log(source, order, rows, fitted, progress))
        offered = _offered(facts)
        used = cores or min(MOST_CORES, max(1, math.ceil(offered / LOAD)))
        notes = [*notes_of(reading, facts), *_own_notes(facts, fitted, cores, used, offered)]
        document = _document(source.name, facts, used, None if fitted else requests.name)
        head = [f"Made from {json.dumps(source.name)} by `weir import log`.", remark(reading), *notes]
        part.write_text("".join(f"# {line}\n" for line in head) + dumps(document), encoding="utf-8")
    return Imported(
        scenario=scenario,
        requests=None if fitted else requests,
        reading=reading,
        facts=facts,
        cores=used,
        notes=notes,
    )


def _nanoseconds(text: str) -> int:
    """Return a time with its unit in nanoseconds."""
    number = text.rstrip("nmus")
    unit = text[len(number) :]
    if not number.isdecimal() or unit not in _TIMES or int(number) * _TIMES[unit] >= 2**62:
        message = f"disorder is {text!r}, must be a whole number with its unit, below 140 years"
        raise ConfigError(message, f"write it as in `--disorder {DISORDER}`")
    return int(number) * _TIMES[unit]


def _offered(facts: Mapping[str, Any]) -> float:
    """Return how many cores are busy in the mean, if none waits."""
    work = sum(each["count"] * each["mean_ns"] for each in facts["classes"])
    return float(work / max(1, facts["dispersion"]["span_ns"]))


def _document(name: str, facts: Mapping[str, Any], cores: int, requests: str | None) -> dict[str, Any]:
    classes = facts["classes"]
    named = any(each["name"] for each in classes)
    document: dict[str, Any] = {
        "weir": 1,
        "model": "server",
        "title": f"Requests of {name}",
        "seed": 1,
        "disciplines": list(DISCIPLINES),
        "server": {"cores": cores},
    }
    if requests is None:
        total = facts["dispersion"]["requests"]
        document["class"] = [
            {"name": each["name"] or _ONLY, "share": each["count"] / total, "service": _service(each)}
            for each in classes
        ]
        document["workload"] = _arrivals(facts)
        rate = 1e9 / facts["dispersion"]["gaps"]["mean_ns"]
        drawn = max(1, min(_REQUESTS, int(_LONGEST * rate)))
        document["stop"] = {"requests": drawn, "replications": 4}
        return document
    document["class"] = [{"name": each["name"] or _ONLY} for each in classes]
    trace = {
        "file": requests,
        "time": "time_ns",
        "time_unit": "ns",
        "service": {"per_unit": {"service_ns": "1ns"}},
    }
    document["workload"] = {"trace": {**trace, "class": "class"} if named else trace}
    return document


def _service(of: Mapping[str, Any]) -> object:
    """Return the law of the services of a class: the best that was fitted, or a constant."""
    for fit in fits_of(of["services"], "ns") if of["services"] else ():
        if fit.line is not None:
            return tomllib.loads(fit.line)["service"]
    return f"{max(1, round(of['mean_ns']))}ns"


def _far_means(classes: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a sentence for each class whose law has another mean than the log."""
    for of in classes:
        fits = fits_of(of["services"], "ns") if of["services"] else ()
        mean = next((fit.mean for fit in fits if fit.line is not None), None)
        if mean is not None and abs(mean / of["mean_ns"] - 1) > _FAR:
            found, own = (quantity(each / 1e9, "s") for each in (mean, of["mean_ns"]))
            yield (
                f"The law fitted to the services of `{of['name'] or _ONLY}` has a mean of {found}, the log "
                f"{own}: the load is another. A law for each kind of request (--class) may fit better."
            )


def _arrivals(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rate, and the law of the times between arrivals."""
    dispersion = facts["dispersion"]
    gaps = dispersion["gaps"]
    if gaps is None or gaps["mean_ns"] <= 0:
        raise ConfigError(
            "no two requests of the log have different times: there is no rate", "replay it, or log more"
        )
    rate = f"{Decimal(format(1e9 / gaps['mean_ns'], '.5g')):f}/s"
    if gaps["scv"] is not None and gaps["scv"] < _EVEN_SCV:
        return {"rate": rate, "arrivals": "deterministic"}
    low, high = _POISSON_SCV
    if gaps["scv"] is None or low <= gaps["scv"] <= high or not facts["gaps"]:
        return {"rate": rate}
    law = next((law for law in map(_renewal, fits_of(facts["gaps"], "ns")) if law), None)
    return {"rate": rate, "arrivals": {"renewal": law}} if law else {"rate": rate}


def _renewal(fit: Any) -> dict[str, Any] | None:  # noqa: ANN401 - weir.fitting.Fit
    """Return the law of times between arrivals as a scenario has it, without its mean; None if it has not."""
    most = {"gamma": _MOST_GAMMA_CV, "lognormal": _MOST_CV, "hyperexponential": _MOST_CV}
    if fit.name in most:
        least = 1.0 if fit.name == "hyperexponential" else _LEAST_CV
        fits = fit.cv is not None and least <= fit.cv <= most[fit.name]
        return {fit.name: {"cv": float(f"{fit.cv:.4g}")}} if fits else None
    if fit.name == "erlang":
        return {"erlang": {"stages": fit.parameters["stages"]}}
    if fit.name == "weibull":
        return {"weibull": {"shape": float(f"{fit.parameters['shape']:.4g}")}}
    return None


def _own_notes(
    facts: Mapping[str, Any], fitted: bool, given: int | None, cores: int, offered: float
) -> list[str]:
    """Return what was set here and not found."""
    notes = []
    if given is None:
        busy = f"{offered:.3g}"
        notes.append(
            f"The log does not say how many cores there are: {cores}, as {busy} are busy in the mean "
            f"(a load of {offered / cores:.2g}). Write `--cores N` if you know."
        )
    if fitted:
        notes.append(
            "Laws were fitted to at most 20,000 values each, evenly from all of the log; `weir fit` "
            "tests them. "
            "Drawn arrivals and services do not depend on each other, whatever those of the log do."
        )
        notes.extend(_far_means(facts["classes"]))
    return notes
