"""The notebooks run as they stand, and have no outputs; what a notebook shows of a result.

The cells are executed without a kernel: each is compiled and run in one namespace, in the folder of the
notebook, and what its last line gives is shown as a notebook would show it.
"""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import weir
from weir.results import notebook

_FOLDER = Path(__file__).resolve().parent.parent / "examples" / "notebooks"
_NOTEBOOKS = sorted(_FOLDER.glob("*.ipynb"))


def _cells(path: Path) -> list[dict[str, Any]]:
    cells: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return cells


def _shown(value: object) -> str:
    """Return what a notebook shows of a value."""
    for name in ("_repr_mimebundle_", "_repr_html_"):
        if made := getattr(value, name, lambda: None)():
            return str(made)
    return repr(value)


def _run(source: str, names: dict[str, Any]) -> str | None:
    """Run a cell, and return what it shows."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)  # noqa: S102 - that is what a notebook is for
    if last is None:
        return None
    value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # noqa: S307
    return None if value is None else _shown(value)


@pytest.mark.parametrize("path", _NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(path.parent)
    names: dict[str, Any] = {"__name__": "__main__"}
    shown = [_run("".join(cell["source"]), names) for cell in _cells(path) if cell["cell_type"] == "code"]
    assert sum(text is not None and ("<table" in text or "vega" in text) for text in shown) >= 2


@pytest.mark.parametrize("path", _NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_outputs(path: Path):
    document = json.loads(path.read_text(encoding="utf-8"))
    assert (document["nbformat"], document["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in document["cells"]}) == len(document["cells"])
    for cell in document["cells"]:
        if cell["cell_type"] == "code":
            assert (cell["outputs"], cell["execution_count"]) == ([], None)


def test_there_are_three():
    assert len(_NOTEBOOKS) == 3


@pytest.fixture(scope="module")
def result() -> weir.Result:
    return weir.run(
        {
            "weir": 1,
            "model": "port",
            "title": "a < b",
            "disciplines": ["fifo", "sf"],
            "workload": {"load": 0.5},
            "stop": {"packets": 20_000, "replications": 2},
        }
    )


def test_a_summary_has_the_verdict_and_tables_and_is_escaped(result: weir.Result):
    shown = result._repr_html_()
    assert shown is not None
    assert "<h2>a &lt; b</h2>" in shown
    assert "The lowest mean" in shown
    assert "<table>" in shown
    assert "<script" not in shown


def test_closed_forms_alone_have_no_summary():
    result = weir.theory({"weir": 1, "model": "port", "disciplines": ["fifo"], "workload": {"load": 0.5}})
    assert result._repr_html_() is None


def test_a_chart_is_found_by_how_its_title_begins(result: weir.Result):
    titles = [figure.title for figure in result.view().figures()]
    assert result.plot().to_dict()["title"] == titles[0]
    assert result.plot(titles[-1][:-2].upper()).to_dict()["title"] == titles[-1]
    with pytest.raises(weir.ConfigError, match='there is no chart "nothing"') as refused:
        result.plot("nothing")
    assert titles[0] in str(refused.value.remedy)


def test_several_panels_are_one_chart(result: weir.Result):
    figure = next(figure for figure in result.view().figures() if len(figure.panels) > 1 and figure.key)
    key, panels = notebook.chart([figure], None).to_dict()["vconcat"]
    names = [layer["encoding"]["text"]["value"] for layer in key["layer"] if "text" in layer["encoding"]]
    assert names == ["fifo", "sf"]
    assert len(panels["concat"]) == len(figure.panels)
    assert all(part["width"] != "container" for part in panels["concat"])


def test_whoever_reads_arrow_streams_reads_a_result(result: weir.Result):
    assert pl.DataFrame(result).height == result.to_arrow().num_rows
