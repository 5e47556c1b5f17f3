"""Round trips over time, before, while and after a line is full, as one HTML file.

The picture is that of Flent's tests of delay under load: who has a long queue shows it at once.
"""

from typing import Any

import altair as alt
from bench_loads import Loaded

from weir.results.page import charts_of, drawn, note, page, section
from weir.results.style import DASHES, PALETTE, Figure, axis, scale_of, specification

_TITLE = "Round trips beside load"
_HEIGHT = 340
_WIDTH = 0.1
"""Seconds whose probes are shown as their median: the lines are told apart."""


def html(found: dict[str, Loaded], rate: int) -> str:
    """Return the page."""
    styles = list(zip(found, PALETTE, DASHES, strict=False))
    points = [point for name, measured in found.items() for point in _points(name, measured)]
    caption = (
        f"A probe every 10 ms through a line of {rate} Mbit/s, the median of each {_WIDTH:g} s, on a "
        "logarithmic axis; in the middle four TCP connections fill the line."
    )
    key = tuple((name, shade, " ".join(map(str, dash))) for name, shade, dash in styles)
    figure = Figure(_TITLE, caption, (("all ways", _chart(points, styles)),), key)
    rates = ", ".join(f"{name} {measured.rate:.1f}" for name, measured in found.items())
    body = section(_TITLE, drawn(figure, 0) + note(f"Mbit/s of the connections: {rates}."))
    return page(_TITLE, body, charts_of([figure]))


def _points(name: str, measured: Loaded) -> list[dict[str, Any]]:
    slots: dict[int, list[float]] = {}
    for at, trip in measured.trips:
        slots.setdefault(int(at / _WIDTH), []).append(trip)
    return [
        {"line": name, "at": round(slot * _WIDTH, 2), "trip": round(sorted(trips)[len(trips) // 2] / 1e3, 4)}
        for slot, trips in sorted(slots.items())
    ]


def _chart(points: list[dict[str, Any]], styles: list[tuple[str, str, list[int]]]) -> dict[str, Any]:
    names, shades, dashes = (list(each) for each in zip(*styles, strict=True))
    trips = [point["trip"] for point in points]
    lines = (
        alt.Chart()
        .mark_line(strokeWidth=2)
        .encode(
            x=alt.X("at:Q", axis=alt.Axis(title="time (s)", tickCount=8)),
            y=alt.Y("trip:Q", scale=scale_of(trips), axis=axis("round trip (ms)", trips)),
            color=alt.Color("line:N", scale=alt.Scale(domain=names, range=shades), legend=None),
            strokeDash=alt.StrokeDash("line:N", scale=alt.Scale(domain=names, range=dashes), legend=None),
            tooltip=["line:N", "at:Q", "trip:Q"],
        )
    )
    return specification(alt.layer(lines), _HEIGHT, points)
