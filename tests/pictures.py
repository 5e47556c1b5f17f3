"""The pictures of the documents, drawn from results of weir itself; ``make docs`` calls this file.

``docs/pictures/service.svg`` is the chart of response times from the report of the first question.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import vl_convert

import weir
from weir.models.server.figures import figures

ROOT = Path(__file__).resolve().parent.parent
WIDTH, HEIGHT = 640, 260
_TITLE = "Distribution of response"


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


if __name__ == "__main__":
    target = ROOT / "docs" / "pictures" / "service.svg"
    target.parent.mkdir(exist_ok=True)
    target.write_text(vl_convert.vegalite_to_svg(service()), encoding="utf-8")
