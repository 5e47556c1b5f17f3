"""The pictures of the documents, drawn from results of weir itself; ``make docs`` calls this file.

``docs/pictures/service.svg`` is the chart of response times from the report of the first question; the others
belong to ``docs/pictures.md``, which says what each shows.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import altair as alt
import vl_convert

import weir
from weir.models.node.timeline import timeline_figures
from weir.models.server.figures import figures
from weir.results.style import PALETTE

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "pictures"
WIDTH, HEIGHT = 640, 260
_TITLE = "Distribution of response"
_LOADS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.925, 0.95)
_LENGTHS = (10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)


def service() -> dict[str, Any]:
    """Return the chart of the responses of ``service.toml`` as Vega-Lite, with a title and a legend."""
    result = weir.compare(ROOT / "examples" / "first-questions" / "service.toml")
    figure = next(each for each in figures(result) if each is not None and each.title == _TITLE)
    ((_, chart),) = figure.panels
    for layer in chart.get("layer", [chart]):
        colour = layer.get("encoding", {}).get("color")
        if colour is not None:
            colour["legend"] = {"title": None, "orient": "top"}
    title = {"text": f"{result.title}: the share of requests that take longer", "anchor": "start"}
    return {**chart, "title": title, "width": WIDTH, "height": HEIGHT, "background": "white"}


def _port(load: float, packets: int, *disciplines: str, replications: int = 8, seed: int = 1) -> Any:
    """Run the message port of the alpha report."""
    document = {
        "weir": 1,
        "model": "port",
        "seed": seed,
        "disciplines": list(disciplines),
        "workload": {"load": load, "lengths": "report"},
        "stop": {"packets": packets, "replications": replications},
    }
    return weir.run(weir.Scenario.from_dict(document))


def _finished(chart: Any, title: str, height: int = HEIGHT) -> dict[str, Any]:
    whole = chart.properties(
        title=alt.TitleParams(title, anchor="start"), width=WIDTH, height=height, background="white"
    )
    return dict(whole.configure_view(stroke=None).to_dict())


def _coloured(names: list[str]) -> alt.Color:
    return alt.Color(
        "discipline:N",
        scale=alt.Scale(domain=names, range=list(PALETTE[: len(names)])),
        legend=alt.Legend(title=None, orient="top-left", symbolOpacity=1),
    )


def load() -> dict[str, Any]:
    """Return mean latency against load, with intervals, under three disciplines."""
    names = ["fifo", "rr", "sf"]
    rows = []
    for each in _LOADS:
        result = _port(each, 20_000_000, *names)
        for name in names:
            mean = result.estimate(name, metric="latency", statistic="mean")
            rows.append(
                {"load": each, "discipline": name, "mean": mean.value, "low": mean.low, "high": mean.high}
            )
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("load:Q", axis=alt.Axis(format="%", title="load", grid=False), scale=alt.Scale(zero=False)),
        color=_coloured(names),
    )
    line = base.mark_line(point=True).encode(y=alt.Y("mean:Q", title="mean latency, in services of a packet"))
    band = base.mark_area(opacity=0.25).encode(y="low:Q", y2="high:Q")
    return _finished(band + line, "The same work, in another order: mean latency against load")


def interval() -> dict[str, Any]:
    """Return the mean of runs that grow longer, with intervals, and the exact value."""
    rows = []
    for place, packets in enumerate(_LENGTHS):
        result = _port(0.9, packets, "fifo", seed=11 + place)
        mean = result.estimate("fifo", metric="latency", statistic="mean")
        settled = "settled" if mean.settled else "not settled"
        rows.append(
            {"packets": packets, "mean": mean.value, "low": mean.low, "high": mean.high, "run": settled}
        )
    (exact,) = {
        each.value for each in result.theory if each.discipline == "fifo" and each.metric == "latency"
        and each.class_ == "all"
    }  # fmt: skip
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X(
            "packets:Q",
            scale=alt.Scale(type="log", nice=False, padding=16),
            axis=alt.Axis(title="packets in the run", format="~s", values=list(_LENGTHS), grid=False),
        ),
        color=alt.Color(
            "run:N",
            scale=alt.Scale(domain=["not settled", "settled"], range=["#888888", PALETTE[0]]),
            legend=alt.Legend(title=None, orient="top-right"),
        ),
    )
    mean = base.mark_point(filled=True, size=60, opacity=1).encode(
        y=alt.Y("mean:Q", title="mean latency, in services of a packet", scale=alt.Scale(zero=False))
    )
    span = base.mark_rule(strokeWidth=2).encode(y="low:Q", y2="high:Q")
    truth = (
        alt.Chart(alt.Data(values=[{"exact": exact}]))
        .mark_rule(strokeDash=[5, 3], color=PALETTE[1], strokeWidth=1.5)
        .encode(y="exact:Q")
    )
    return _finished(truth + span + mean, "Longer runs say more: 95 % intervals, and the exact mean (dashed)")


def paired() -> dict[str, Any]:
    """Return the intervals of two means and of their difference, as if independent and paired."""
    names = ("alpha:30", "alpha:60")
    result = _port(0.95, 4_000_000, *names, replications=16)
    one, other = (result.estimate(name, metric="latency", statistic="mean") for name in names)
    apart = sum(((each.high - each.low) / 2) ** 2 for each in (one, other)) ** 0.5
    (found,) = (
        each
        for each in result.differences
        if each.metric == "latency" and each.statistic == "mean" and each.class_ == "all"
    )
    middle = -found.value
    half = (found.high - found.low) / 2
    rows = [
        {"what": f"mean under {names[0]}", "value": one.value, "low": one.low, "high": one.high},
        {"what": f"mean under {names[1]}", "value": other.value, "low": other.low, "high": other.high},
        {
            "what": "difference, as if independent",
            "value": middle,
            "low": middle - apart,
            "high": middle + apart,
        },
        {"what": "difference, paired", "value": middle, "low": middle - half, "high": middle + half},
    ]
    order = [row["what"] for row in rows]
    base = alt.Chart(alt.Data(values=rows)).encode(
        y=alt.Y("what:N", sort=order, title=None, axis=alt.Axis(labelLimit=220)),
        color=alt.Color("what:N", sort=order, legend=None, scale=alt.Scale(range=list(PALETTE[:4]))),
    )
    span = base.mark_rule(strokeWidth=3).encode(
        x=alt.X("low:Q", title="latency, in services of a packet"), x2="high:Q"
    )
    point = base.mark_point(filled=True, size=70, opacity=1).encode(x="value:Q")
    zero = alt.Chart(alt.Data(values=[{"x": 0}])).mark_rule(color="#888888").encode(x="x:Q")
    return _finished(zero + span + point, "What two disciplines have in common cancels", 130)


def timeline(discipline: str) -> dict[str, Any]:
    """Return who runs when on the core of ``control-loop.toml``, over half of an epoch."""
    file = ROOT / "examples" / "first-questions" / "control-loop.toml"
    text = file.read_text(encoding="utf-8")
    text = text.replace('duration = "61s"', 'duration = "2s"').replace("replications = 8", "replications = 1")
    text += '\n[measure]\ntimeline = { from = "1s", until = "1050ms" }\n'
    scenario = weir.Scenario.from_toml(text, str(file))
    result: Any = weir.run(scenario)
    figure = next(
        each
        for each, line in zip(timeline_figures(result), result.timelines, strict=True)
        if each is not None and line.discipline.startswith(discipline)
    )
    (_, chart), *_ = figure.panels
    title = {"text": f"50 ms of one core under {discipline}", "anchor": "start"}
    return {**chart, "title": title, "width": WIDTH, "background": "white"}


PICTURES = {
    "service": service,
    "load": load,
    "interval": interval,
    "paired": paired,
    "timeline-epoch": lambda: timeline("epoch"),
    "timeline-eevdf": lambda: timeline("eevdf"),
}


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, draw in PICTURES.items():
        (FOLDER / f"{name}.svg").write_text(vl_convert.vegalite_to_svg(draw()), encoding="utf-8")
