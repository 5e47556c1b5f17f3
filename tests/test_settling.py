"""Findings A1 and A3: a figure that the run is too short for is marked, and nothing is judged by it."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

import weir
from weir.errors import ResultError
from weir.results.result import Result
from weir.results.tables import LEGEND, NOT_JUDGED, UNSETTLED
from weir.results.terminal import console, show_comparison, show_run

SHORT = {
    "weir": 1,
    "model": "port",
    "disciplines": ["fifo", "sf"],
    "workload": {"load": 0.95},
    "stop": {"packets": 200_000},
}
LONG = {**SHORT, "workload": {"load": 0.6}, "stop": {"packets": 1_000_000}}
SERVER = {
    "weir": 1,
    "model": "server",
    "disciplines": ["cfcfs"],
    "server": {"cores": 4, "queue": "unbounded"},
    "class": [{"name": "a", "service": {"exponential": "10us"}}],
    "workload": {"load": 0.85},
    "stop": {"requests": 200_000},
}


@pytest.fixture(scope="module")
def short() -> Result:
    return weir.run(SHORT)


@pytest.fixture(scope="module")
def long() -> Result:
    return weir.run(LONG)


def shown(result: Result, show: Any) -> str:
    text = io.StringIO()
    show(console(text), result)
    return text.getvalue()


def test_a1_a_short_run_marks_its_figures_and_judges_nothing_by_them(short: Result) -> None:
    """Finding A1: it printed ``fifo 92.1 ±16``, a p99 of a quarter too little, and OK beside them."""
    settling = short.settling
    assert settling is not None
    assert settling.longer > 2
    assert settling.quantiles is not None
    assert settling.means is not None
    assert settling.count <= settling.of
    assert short.estimate("fifo").settled is False
    lines = shown(short, show_comparison).splitlines()
    fifo = next(line for line in lines if line.startswith("fifo"))
    assert fifo.count(f" {UNSETTLED}") == 2
    assert NOT_JUDGED in fifo
    assert "±" not in fifo.replace("not judged: interval ±", "")
    for show in (show_comparison, show_run):
        assert shown(short, show).count(f"\n{LEGEND}\n") == 1
    assert all(row.agrees is None for row in short.theory if row.discipline == "fifo" and not row.settled)
    assert not any(check.ok is False for check in short.checks)
    assert short.ok


def test_a1_the_page_marks_them_too(short: Result) -> None:
    page = "".join(short.view().sections(()))
    assert f" {UNSETTLED}</td>" in page
    assert page.count(LEGEND) == sum(f" {UNSETTLED}</td>" in table for table in page.split("</table>"))


def test_a1_a_run_that_is_long_enough_has_no_mark(long: Result) -> None:
    assert long.settling is None
    assert "settled" not in long.text
    text = shown(long, show_comparison)
    assert f" {UNSETTLED}" not in text
    assert LEGEND not in text
    assert NOT_JUDGED not in text
    assert "OK" in text


def test_a3_p999_of_a_server_is_marked_where_few_are_above_it() -> None:
    """Finding A3: 200,000 requests at load 0.85, of whose p99.9 the interval held the truth in 74 %."""
    result = weir.run(SERVER)
    found = {
        name: result.estimate("cfcfs", metric="delay", statistic=name) for name in ("mean", "p99", "p99.9")
    }
    assert [row.settled for row in found.values()] == [True, True, False]
    # Its mark is all: the run as a whole is not judged by quantiles so far out.
    assert result.settling is None


def test_a_column_of_a_data_frame_says_what_is_settled(short: Result) -> None:
    column = short.to_arrow().column("settled").to_pylist()
    assert column.count(False) == sum(not row.settled for row in short.estimates) > 0


def test_a1_the_terminal_warns_where_no_warm_up_was_found(short: Result) -> None:
    document = json.loads(short.text)
    document["warm_up"] = {
        "rule": "a pilot of 20000 ticks, in which MSER-5 found no steady state",
        "ticks": 0,
    }
    text = " ".join(shown(Result.from_json(json.dumps(document)), show_comparison).split())
    assert "warning: no warm-up was found: a pilot of 20000 ticks, in which MSER-5" in text
    document["warm_up"]["rule"] = "MSER-5 on a pilot of 20000 ticks under fifo"
    assert "no warm-up" not in shown(Result.from_json(json.dumps(document)), show_comparison)


@pytest.mark.parametrize(
    ("key", "value", "where"),
    [("settling", {"longer": 2}, "settling[0].figure"), ("settling", [], "settling[0]")],
)
def test_what_is_read_is_checked(short: Result, key: str, value: object, where: str) -> None:
    document = {**json.loads(short.text), key: value}
    with pytest.raises(ResultError) as caught:
        Result.from_json(json.dumps(document))
    assert where in str(caught.value)
