"""What results that are made for tests share, in the shape that the engine writes."""

import json
import math

NORMAL = 1.959963984540054
KEYS = ("value", "low", "high", "standard_error", "count", "method", "unit", "reason")


def frame(model, title, disciplines, check, /, **changes):
    """Return what every model's document has; ``check`` is a name, what is expected and measured, a note."""
    name, expected, note = check
    made = {
        "weir": "0.1.0",
        "model": model,
        "title": title,
        "file": f"{model}.toml",
        "fingerprint": "6b1f0c9a2d3e4f50",
        "seed": 1,
        "scenario": f'weir = 1\nmodel = "{model}"\ndisciplines = {json.dumps(disciplines)}\n',
        "time_unit": "s",
        "interrupted": False,
        "unstable": None,
        "engines": [{"discipline": each, "engine": "accelerated"} for each in disciplines],
        "disciplines": list(disciplines),
        "reference": disciplines[0],
        "theory": [],
        "checks": [
            {
                "discipline": each,
                "check": name,
                "expected": expected,
                "measured": expected,
                "tolerance": 0.0,
                "ok": True,
                "note": note,
            }
            for each in disciplines
        ],
    }
    return {**made, **changes}


def row(about, metric, value, unit, *, statistic="mean", error=0.0, reason=None):
    """Return an estimate ``about`` something; without ``error`` it has no interval."""
    low, high = (None, None) if None in (value, error) else (value - NORMAL * error, value + NORMAL * error)
    known = value is not None
    method = "replications" if known and error is not None else None
    values = (value, low, high, error if known else None, 1000 if known else 0, method, unit, reason)
    return {**about, "metric": metric, "statistic": statistic, **dict(zip(KEYS, values, strict=True))}


def over_time(discipline, class_, mean, step=0.5, steps=9):
    """Return delays over time that rise and fall; in the third step nothing came."""
    means = [mean * (1 + 0.2 * math.sin(place)) for place in range(steps)]
    means[2] = None
    return {
        "discipline": discipline,
        "class": class_,
        "unit": "s",
        "step": step,
        "mean": means,
        "longest": [None if each is None else 3 * each for each in means],
    }


def subject_row(discipline, kind, name, metric, value, unit, **more):
    """Return an estimate about a kind and a name."""
    return row({"discipline": discipline, "kind": kind, "name": name}, metric, value, unit, **more)


def statistics(discipline, kind, name, metric, longest, unit, parts):
    """Return a metric by its mean, quantiles and maximum, which is the last and has no interval."""
    rows = [
        subject_row(
            discipline, kind, name, metric, longest * part, unit, statistic=each, error=0.01 * longest * part
        )
        for each, part in parts.items()
    ]
    none = {"low": None, "high": None, "standard_error": None, "method": None}
    return [*rows[:-1], {**rows[-1], **none, "reason": "the extreme of all replications"}]


def histogram(about, metric, unit, first, factor, bins, relative_error=0.02):
    """Return a histogram of ``bins`` bins from ``first`` on, each ``factor`` times as wide as that before."""
    edges = [first * factor**step for step in range(bins + 1)]
    return {
        **about,
        "metric": metric,
        "relative_error": relative_error,
        "unit": unit,
        "low": edges[:-1],
        "high": edges[1:],
        "count": [max(1, round(1000 * math.exp(-((step - 14) ** 2) / 20))) for step in range(bins)],
    }


def pairs(estimates, reference, keys):
    """Yield the rows of the other disciplines with those of the reference, where both have a value."""
    base = {tuple(each[key] for key in keys): each for each in estimates if each["discipline"] == reference}
    for each in estimates:
        against = base.get(tuple(each[key] for key in keys))
        if each["discipline"] != reference and against and None not in (each["value"], against["value"]):
            yield each, against
