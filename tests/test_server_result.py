"""Results of the server: typed rows, strict reading, words, tables that fit, a page; and a run."""

import io
import json
import re

import pytest
from rich.console import Console

import weir
from server_results import document, estimate, made
from weir.models.server.verdict import price, warnings
from weir.registry import discipline
from weir.results import page as report
from weir.results.terminal import show_comparison, show_run
from weir.results.verdict import verdict


@pytest.fixture(scope="module")
def result() -> weir.ServerResult:
    return weir.Result.from_json(made())


def read(parsed: dict) -> weir.ServerResult:
    return weir.Result.from_json(json.dumps(parsed))


def printed(show, result: weir.Result, width: int = 110) -> str:
    out = io.StringIO()
    show(Console(file=out, width=width, highlight=False, markup=False), result)
    return out.getvalue()


def test_the_model_decides_the_class(result: weir.ServerResult):
    assert type(result) is weir.ServerResult
    assert repr(result).startswith("<weir.ServerResult 'Two classes on eight cores': rr, jsq")
    assert result.ok
    assert (result.cores, result.receivers, result.queue, result.load) == (8, 1, 4096, 0.7)
    assert [row.name for row in result.classes] == ["short", "long"]
    assert list(result.labels.values()) == ["rr", "jsq", "cfcfs", "dynamic"]


def test_rows_are_found_by_what_they_are_about(result: weir.ServerResult):
    assert result.estimate("jsq", metric="slowdown", statistic="p99.9").value == 45.0
    assert result.estimate("jsq", name="short", metric="slowdown", statistic="p99.9").value == pytest.approx(
        49.5
    )
    assert result.estimate("cfcfs", kind="core", metric="in_use").unit == "cores"
    assert result.estimate("jsq", name="nobody") is None
    assert result.difference("jsq", metric="slowdown", statistic="p99.9").clear
    assert result.difference("rr", metric="slowdown") is None
    assert result.totals("dynamic:add=50us").dropped == 2_000
    assert result.totals("dynamic:add=50us", "nobody") is None
    assert result.windows[0].values[0] is None
    assert result.in_use[-1].count == (2, 5, 6)


def test_estimates_are_a_table(result: weir.ServerResult):
    table = result.to_arrow()
    assert table.column_names[:5] == ["discipline", "kind", "name", "metric", "statistic"]
    assert len(result.to_pandas()) == len(result.to_polars()) == len(result.estimates)


def test_the_verdict_names_the_smallest_mean_response_and_its_price(result: weir.ServerResult):
    words = verdict(result)
    assert words.startswith(
        "A p99.9 slowdown of short within 10.0 is kept under cfcfs alone. "
        "Requests are dropped under dynamic alone, 2.00 % of all. "
        "The mean response is smallest under cfcfs, 800.0 ns (95 % interval 784.3 ns to 815.7 ns); under rr "
        "it is 90.00 µs, 113 times as much, and dynamic drops too many requests to be compared. "
    )
    assert words.endswith("All 4 self-checks hold.")
    assert price(result) == "the price of cfcfs is 8.00 cores in use, where dynamic has 5.50"


def test_equals_are_not_told_apart():
    parsed = document(("rr", "jsq"))
    for row in parsed["estimates"]:
        if row["discipline"] == "jsq":
            same = next(
                other
                for other in parsed["estimates"]
                if other["discipline"] == "rr"
                and all(other[key] == row[key] for key in ("kind", "name", "metric", "statistic"))
            )
            row.update({key: same[key] for key in ("value", "low", "high")})
    for row in parsed["differences"]:
        row.update(value=0.0, low=-1e-9, high=1e-9)
    assert "both disciplines cannot be distinguished at this length of run" in verdict(read(parsed))


def test_one_discipline_has_no_rival():
    words = verdict(read(document(("jsq",))))
    assert "not kept. The mean response is 4.500 µs (95 % interval" in words


def with_clients(disciplines, tipped, **back):
    """Return a document in which clients give up: of so many replications a share tips."""
    parsed = document(disciplines)
    for place, (name, part) in enumerate(zip(disciplines, tipped, strict=True)):
        goodput = estimate(name, "class", "all", "goodput", 1e6 + place, "1/s", error=1e3)
        share = estimate(name, "core", "all", "tipped", part, "1", error=0.05)
        recovery = estimate(name, "core", "all", "recovery", back.get(name), "s", error=0.1)
        if name not in back:
            recovery["reason"] = "some do not come back"
        parsed["estimates"] += [goodput, share, recovery]
    return parsed


def test_the_verdict_says_who_answers_in_time_and_who_tips():
    words = verdict(read(with_clients(("jsq",), (1.0,))))
    assert (
        "Of 2,000,000 requests that are done in a second, 1,000,000 are in time; the server tips in 100 % of "
        in words
    )
    assert "of the replications (" in words
    assert words.count("it is back") == 0
    words = verdict(read(with_clients(("rr", "jsq"), (0.0, 0.0), rr=2.0, jsq=1.5)))
    assert "ost requests are done in time under jsq, 1,000,001 of 2,000,000 in a second; " in words
    assert "the server tips in no replication of any discipline (at most " in words
    assert "it is back first, 1.500 s after the burst under jsq" in words
    words = verdict(read(with_clients(("rr", "jsq"), (0.25, 0.5), rr=2.0)))
    assert "the server tips in 50.0 % of the replications" in words
    assert "under jsq and in 25.0 % of" in words


def test_warnings_name_the_disciplines_that_they_are_about():
    parsed = document()
    parsed["warnings"] = [
        {"discipline": None, "text": "offered load 1.2 is not below 1"},
        {"discipline": "rr", "text": "the queue grows"},
    ]
    assert warnings(read(parsed)) == ["offered load 1.2 is not below 1", "the queue grows (under rr)"]


def test_what_has_no_means_is_a_statement():
    parsed = document()
    parsed |= {"unstable": "offered load 1.2 is not below 1; lower it", "replications": 0, "estimates": []}
    for section in ("class_totals", "discipline_totals", "core_totals", "differences", "distributions"):
        parsed[section] = []
    parsed |= {"windows": [], "in_use": [], "checks": [], "engines": []}
    assert "offered load 1.2 is not below 1" in verdict(read(parsed))


@pytest.mark.parametrize("show", [show_run, show_comparison])
@pytest.mark.parametrize("width", [40, 80, 140])
def test_the_terminal_has_a_table_for_each_metric(result: weir.ServerResult, show, width: int):
    text = printed(show, result, width)
    for title in ("queueing delay", "response of long", "slowdown of short", "requests", "cores"):
        assert f"\n{title}\n" in text
    assert "measure.order is false" in text
    assert ("slowdown, minus rr's" in text.replace("\n", " ")) == (show is show_comparison)


def test_lines_fit_the_terminal(result: weir.ServerResult):
    for width in (80, 110, 160):
        assert max(map(len, printed(show_comparison, result, width).splitlines())) <= width


def test_the_page_has_charts_and_tables(result: weir.ServerResult):
    page = report.html(result)
    for title in (
        "p99.9 slowdown",
        "Distribution of slowdown",
        "Distribution of queueing delay",
        "Queueing delay over time",
        "Cores in use over time",
        "Requests",
        "Cores",
    ):
        assert f">{title}<" in page, title
    # The picture that answers comes before the numbers.
    places = [page.index(f"<h2>{title}<") for title in ("p99.9 slowdown", "The comparison", "Requests")]
    assert places == sorted(places)
    assert page.index("<h2>The comparison<") < page.index("<h2>Cores in use over time<")


def with_theory() -> dict:
    """Return a result with a closed form that agrees, one that does not, and one that there is not."""
    row = {"class": "all", "metric": "slowdown", "value": 90.0, "unit": "1", "formula": "Erlang C, M/M/k"}
    parsed = document()
    parsed["theory"] = [
        {**row, "discipline": "cfcfs", "value": 0.8, "agrees": True},
        {**row, "discipline": "rr", "agrees": False},
        {
            **row,
            "discipline": "jsq",
            "value": None,
            "formula": "closed forms of jsq need one core",
            "agrees": None,
        },
    ]
    return parsed


@pytest.mark.parametrize("show", [show_run, show_comparison])
def test_closed_forms_that_disagree_are_shown_beside_the_simulation(show):
    text = printed(show, read(with_theory()))
    found = text[text.index("\nclosed forms\n") + 1 :].splitlines()
    assert "simulated" in found[1]
    assert found[2].split()[:6] == ["rr", "all", "slowdown", "90.00", "90.0", "±1.8"]
    assert "!!" in found[2]
    assert "OK" in found[3]
    page = report.html(read(with_theory()))
    assert page.index("<h2>The comparison<") < page.index("<h2>Closed forms<")
    assert "jsq: none: closed forms of jsq need one core" in page
    agreeing = with_theory()
    del agreeing["theory"][1]
    assert "closed forms\n" not in printed(show, read(agreeing))


def test_notes_are_under_the_tables():
    parsed = {**document(), "notes": ["the mean slowdown of `short` has no limit"]}
    assert "the mean slowdown of `short` has no limit" in printed(show_run, read(parsed))
    assert "the mean slowdown of `short` has no limit" in report.html(read(parsed))


def test_quantiles_of_too_few_requests_are_absent_everywhere():
    parsed = document()
    for row in parsed["estimates"]:
        if row["statistic"] == "p99.9" and row["metric"] == "slowdown" and row["name"] == "short":
            row.update(dict.fromkeys(("value", "low", "high", "standard_error", "method")))
            row["reason"] = "a p99.9 needs 10000 requests"
    found = read(parsed)
    words = verdict(found)
    assert "Whether a p99.9 slowdown of short within 10.0 is kept is not known from so few requests." in words
    assert "n/a: a p99.9 needs 10000 requests" in printed(show_run, found)
    page = report.html(found)
    assert "Of short there are too few requests for it." in page
    assert "NaN" not in page[: page.index("<script")]
    table = found.to_arrow().to_pylist()
    assert [row["value"] for row in table if row["reason"] == "a p99.9 needs 10000 requests"] == [None] * 4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.pop("cores"), "`cores` is missing"),
        (lambda d: d.update(cores=0), "cores is 0, must be 1 or more"),
        (lambda d: d.update(notes=[7]), "notes is"),
        (lambda d: d["classes"].append(d["classes"][0]), "by different names"),
        (lambda d: d["estimates"][0].update(kind="queue"), r"estimates\[0\].kind is"),
        (lambda d: d["estimates"][0].update(name="nobody"), r"estimates\[0\].name is"),
        (lambda d: d["estimates"][0].update(low=1e9), r"estimates\[0\].low is"),
        (lambda d: d["class_totals"][0].update(dropped=-1), r"class_totals\[0\].dropped is -1"),
        (lambda d: d["core_totals"][0].update(core=8), r"core_totals\[0\].core is"),
        (lambda d: d["windows"][0]["counts"].pop(), r"windows\[0\].counts is"),
        (lambda d: d["windows"][0].update(interval=0.0), r"windows\[0\].interval is"),
        (lambda d: d["in_use"][-1].update(at=[0.2, 0.1, 0.3]), r"in_use\[3\].at is"),
        (lambda d: d["in_use"][-1]["count"].pop(), r"in_use\[3\].count is"),
        (lambda d: d["distributions"][0]["count"].pop(), r"distributions\[0\].count is"),
    ],
)
def test_damage_is_an_error_with_its_place(change, message: str):
    parsed = document()
    change(parsed)
    with pytest.raises(weir.ResultError, match=message):
        read(parsed)


def test_absent_figures_have_their_reason():
    parsed = document(("rr",))
    parsed["estimates"].append(
        estimate("rr", "class", "all", "slowdown", None, "1", statistic="p99.999", reason="too few requests")
    )
    assert "n/a: too few requests (p99.999 slowdown)" in printed(show_run, read(parsed), 160)


# Runs.

SCENARIO = {
    "weir": 1,
    "model": "server",
    "disciplines": ["rr", "cfcfs"],
    "server": {"cores": 2},
    "class": [
        {"name": "short", "share": 0.9, "service": "1us"},
        {"name": "long", "service": {"exponential": "20us"}, "slo": 20.0},
    ],
    "workload": {"load": 0.6},
    "stop": {"requests": 20_000, "replications": 4},
    "measure": {"window": "1ms", "order": True, "verify": True},
}


def test_a_scenario_runs_and_every_thread_count_gives_the_same():
    one = weir.run(SCENARIO, threads=1)
    assert isinstance(one, weir.ServerResult)
    assert one.ok
    assert one.text == weir.run(SCENARIO, threads=2).text
    central = one.estimate("cfcfs").value
    assert central < one.estimate("rr").value
    assert one.estimate("cfcfs", kind="core", metric="utilisation").value == pytest.approx(0.6, rel=0.1)
    assert re.search(r"\d+ of \d+ self-checks hold, \d+ not judged \(tolerance ±[\d.]+ %\)\.$", verdict(one))
    assert report.html(one)
    assert printed(show_comparison, one)


def test_closed_forms_are_found_without_a_run():
    asked = SCENARIO | {
        "disciplines": ["cfcfs", "darc"],
        "server": {"cores": 2, "queue": "unbounded"},
        "class": [{"name": "one", "service": {"exponential": "10us"}}],
        "workload": {"load": 0.5},
    }
    found = weir.theory(asked)
    assert (type(found), found.estimates) == (weir.ServerResult, ())
    # M/M/2 at half load: a third of a service.
    (delay,) = (row for row in found.theory if (row.discipline, row.metric) == ("cfcfs", "delay"))
    assert delay.value == pytest.approx(1e-5 / 3)
    assert delay.formula.startswith("Erlang C, M/M/k: applies since arrivals are Poisson")
    assert [row.formula for row in found.theory if row.value is None] == ["no closed form for darc"]
    assert "grid of 1ns" in found.notes[0]
    assert weir.theory(asked | {"workload": {"load": 1.5}}).unstable
    listed = discipline("cfcfs")["closed_forms"]
    assert "Erlang C, M/M/k" in listed["a pool of cores"]["formula"]


def test_a_run_too_short_for_its_load_is_warned_of():
    short = SCENARIO | {"workload": {"load": 0.99}, "stop": {"requests": 1000}, "disciplines": ["cfcfs"]}
    words = " ".join(warnings(weir.run(short)))
    assert "the run is short for load 0.99" in words
    assert "let a replication last at least" in words


def test_refusals_have_their_place():
    with pytest.raises(weir.ScenarioError, match=r"must be from 1 to 1024"):
        weir.Scenario.from_dict(SCENARIO | {"server": {"cores": 0}})
