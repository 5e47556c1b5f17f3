"""Two figures: rates against the slice, and what a scheduling costs against how many there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from weir.reproduce.engine.evidence import if_measured
from weir.reproduce.epoch import runs
from weir.reproduce.epoch.measured import GENERATOR, TRUE, Measured
from weir.results.style import PALETTE, Figure, axis, scale_of, specification

if TYPE_CHECKING:
    from weir.reproduce.epoch.evidence import Evidence

_FORMULA, _SIMULATED = "closed form", "simulated"
_COSTS = "true cost of a message", "from equation 3"


def drawings(evidence: Evidence) -> list[Figure]:
    """Return the figures, of those whose runs are there."""
    measured = Measured(evidence)
    return [*filter(None, (if_measured(draw, measured) for draw in (_rates, _overheads)))]


def _rates(measured: Measured) -> Figure:
    values = [
        {"x": float(length), "value": round(value, 1), "line": name}
        for length in runs.ROUNDS
        for name, value in ((_SIMULATED, measured.rate(length)), (_FORMULA, measured.formula(length)))
    ]
    caption = (
        "Messages a second of generator and simple sink in turn on one node; the report has 1345/s. At "
        "short slices the cost of a round counts."
    )
    chart = _lines(values, "slice (ms)", "messages/s")
    return Figure("Rate against the slice", caption, (("", chart),), _key((_SIMULATED, _FORMULA)))


def _overheads(measured: Measured) -> Figure:
    values = []
    for length in runs.LENGTHS:
        found = measured.evidence.setting(f"restart/{length}", GENERATOR)
        costs = TRUE[GENERATOR], measured.message(GENERATOR).value
        for name, message in zip(_COSTS, costs, strict=True):
            overhead = round(found.overhead(message).value, 2)
            values.append({"x": round(found.schedulings, 2), "value": overhead, "line": name})
    caption = (
        "What a scheduling costs a generator that is alone, against how many there are. At few, most are "
        "swaps to system processes, and an error of 0.2 % in the cost of a message moves the figure by 65 "
        "us; at many it is the 129 us of a restart."
    )
    chart = _lines(values, "schedulings (1/s)", "us a scheduling")
    return Figure("Cost of a scheduling", caption, (("", chart),), _key(_COSTS))


def _key(names: tuple[str, ...]) -> tuple[tuple[str, str, str], ...]:
    return tuple((name, shade, "") for name, shade in zip(names, PALETTE, strict=False))


def _lines(values: list[dict[str, Any]], x: str, y: str) -> dict[str, Any]:
    """Return lines with points, by name."""
    names = list(dict.fromkeys(each["line"] for each in values))
    across, up = ([each[name] for each in values] for name in ("x", "value"))
    shades = alt.Scale(domain=names, range=list(PALETTE[: len(names)]))
    base = alt.Chart().encode(
        x=alt.X("x:Q", scale=scale_of(across), axis=axis(x, across)),
        y=alt.Y("value:Q", scale=scale_of(up), axis=axis(y, up)),
        color=alt.Color("line:N", scale=shades, legend=None),
    )
    layers = (
        base.mark_line(strokeWidth=2),
        base.mark_point(filled=True, size=32).encode(tooltip=["line:N", "x:Q", "value:Q"]),
    )
    return specification(alt.layer(*layers), 220, values)
