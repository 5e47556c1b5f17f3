"""The result of a model that weir does not know, `examples/new-model`: read, shown in tables and a page."""

import json
from html import unescape
from pathlib import Path

import pytest

import weir
from weir import cli
from weir.errors import ResultError
from weir.results import page
from weir.results.plain import PlainResult

SAVED = Path(__file__).parent / "bus-stop.json"
MODEL = Path(__file__).parents[1] / "examples" / "new-model"
MOST_LINES = 320


def test_the_model_is_as_short_as_is_said():
    lines = sum(len(path.read_text().splitlines()) for path in (MODEL / "src").glob("*.rs"))
    assert lines <= MOST_LINES
    assert f"{lines} lines" in (MODEL / "README.md").read_text()


def test_it_is_read_as_what_it_says():
    result = weir.Result.from_file(SAVED)
    assert isinstance(result, PlainResult)
    assert (result.model, result.disciplines, result.ok) == ("bus-stop", ("fifo", "sf"), True)
    row = result.estimate("fifo")
    assert (row.kind, row.name, row.metric, row.unit) == ("passengers", "all", "wait", "s")
    assert row.low < 300 < row.high + 60
    assert result.difference("sf", name="long", statistic="p99").value > 0
    assert result.to_arrow().num_rows == len(result.estimates)
    assert [row.name for row in result.distributions] == ["all", "short", "long"] * 2


def test_it_is_shown_in_tables_and_as_a_page(tmp_path, capsys):
    target = tmp_path / "bus.html"
    assert cli.run(["show", str(SAVED), "--out", str(target)]) == 0
    shown = capsys.readouterr().out
    for words in ("wait of passengers\n", "wait of passengers short, minus fifo's", "conservation OK", "±"):
        assert words in shown
    written = unescape(target.read_text())
    titles = ("The comparison", "Distribution of wait", "Self-checks", "Provenance")
    for words in ("A bus every ten minutes", *titles, "boarded of bus, minus fifo's"):
        assert words in written
    assert 'id="f0p2"' in written


@pytest.mark.parametrize(
    ("section", "place", "key", "value", "said"),
    [
        ("estimates", 3, "value", "x", r"estimates\[3\].value is \"x\", must be a finite number or null"),
        ("estimates", 0, "kind", None, r"estimates\[0\].kind is null, must be text"),
        ("distributions", 0, "count", [-1], r"distributions\[0\].count is \[-1\], must be as many as"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(section, place, key, value, said):
    document = json.loads(SAVED.read_text())
    document[section][place][key] = value
    with pytest.raises(ResultError, match=said):
        weir.Result.from_json(json.dumps(document))


def test_figures_without_a_subject_are_of_a_model_that_is_not_known():
    document = json.loads(SAVED.read_text())
    document["classes"] = []
    for row in document["estimates"]:
        del row["kind"]
    with pytest.raises(ResultError, match="model is 'bus-stop', must be one of port, network"):
        weir.Result.from_json(json.dumps(document))


def test_nothing_compared_and_nothing_measured_is_shown_too(capsys):
    document = json.loads(SAVED.read_text())
    for section in ("differences", "distributions", "theory", "checks"):
        document[section] = []
    for row in document["estimates"]:
        row.update(value=None, low=None, high=None, reason="too short a run")
    result = weir.Result.from_json(json.dumps(document))
    assert "n/a (too short a run)" in unescape(page.html(result))
    result.view().show_run(weir_console())
    assert "n/a (too short a run)" in capsys.readouterr().out


def weir_console():
    from weir.results.terminal import console

    return console()
