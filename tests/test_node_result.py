"""Results of the node: typed rows, strict reading, words, tables that fit, a page with timelines."""

import io
import itertools
import json
import re

import pytest
from rich.console import Console

import weir
from node_results import EPOCH, document, estimate, made, timeline
from weir.models.node.periods import Period, critical_periods, runs
from weir.models.node.verdict import warnings
from weir.results import page as report
from weir.results.terminal import show_comparison, show_run
from weir.results.verdict import verdict

EVERY = ("epoch", "cbs:reclaim=grub", "eevdf")


@pytest.fixture(scope="module")
def result() -> weir.NodeResult:
    return weir.Result.from_json(made())


def read(parsed: dict) -> weir.NodeResult:
    return weir.Result.from_json(json.dumps(parsed))


def printed(show, result: weir.Result, width: int = 110) -> str:
    out = io.StringIO()
    show(Console(file=out, width=width, highlight=False, markup=False), result)
    return out.getvalue()


def test_the_model_decides_the_class(result: weir.NodeResult):
    assert type(result) is weir.NodeResult
    assert repr(result).startswith("<weir.NodeResult 'Two generators and a sink': epoch, cbs")
    assert result.ok
    assert (result.nodes, result.queues, result.epoch, result.measured) == (
        ("node",), ("messages",), 0.1, 10.0,
    )  # fmt: skip
    assert [row.name for row in result.processes if not row.system] == ["g1", "g2", "sink"]
    assert list(result.labels.values()) == ["epoch", "cbs", "eevdf"]


def test_rows_are_found_by_what_they_are_about(result: weir.NodeResult):
    assert result.estimate("epoch", name="g1", metric="epoch_run").value == 0.032
    assert result.estimate("epoch", statistic="max").value == 0.012
    assert result.estimate("epoch", kind="queue", name="messages", metric="age").unit == "s"
    assert result.estimate("epoch", name="nobody") is None
    assert result.totals("eevdf", "sink").needs_missed == 400
    assert result.totals("eevdf", "all") is None
    assert result.difference("eevdf", statistic="replication_max").clear
    assert not result.difference("cbs:reclaim=grub", statistic="replication_max").clear
    assert result.timeline("eevdf").runs.level[:2] == (None, None)
    assert result.timeline("fifo") is None
    assert result.node_totals[0].paths[1] == 20_000


def test_estimates_and_samples_are_tables(result: weir.NodeResult):
    table = result.to_arrow()
    assert table.column_names[:5] == ["discipline", "kind", "name", "metric", "statistic"]
    assert len(result.to_pandas()) == len(result.to_polars()) == len(result.estimates)
    samples = result.samples_to_arrow()
    assert samples.column_names == [
        "discipline", "kind", "name", "metric", "unit", "from", "until", "value",
    ]  # fmt: skip
    assert samples.num_rows == 3 * 7 * 10
    assert samples.to_pylist()[1] == {
        "discipline": "epoch", "kind": "process", "name": "g1", "metric": "run_time", "unit": "ms/s",
        "from": 1.0, "until": 2.0, "value": 301.0,
    }  # fmt: skip


# Reading.


def spoiled(change) -> str:
    parsed = json.loads(made(("epoch",)))
    change(parsed)
    return json.dumps(parsed)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda d: d.pop("processes"), "`processes` is missing"),
        (lambda d: d.pop("timelines"), "`timelines` is missing"),
        (lambda d: d.update(epoch=0), "epoch is 0, must be above 0"),
        (lambda d: d.update(nodes=[]), "nodes is"),
        (lambda d: d.update(queues=["messages", "all"]), "queues is"),
        (lambda d: d["processes"][0].update(need="much"), r"processes\[0\].need is"),
        (lambda d: d["processes"][0].update(node="other"), r"processes\[0\].node is"),
        (lambda d: d["processes"][1].update(name="g1"), "processes is"),
        (lambda d: d["estimates"][3].update(kind="flow"), r"estimates\[3\].kind is"),
        (lambda d: d["estimates"][3].update(name="nobody"), r"estimates\[3\].name is"),
        (lambda d: d["estimates"][3].update(low=9.0), r"estimates\[3\].low is 9.0, must be at most `high`"),
        (lambda d: d["estimates"][3].update(value=None), r"estimates\[3\].low is"),
        (lambda d: d["process_totals"][0].update(needs_missed=-1), r"process_totals\[0\].needs_missed is -1"),
        (lambda d: d["process_totals"][0].update(process="all"), r"process_totals\[0\].process is"),
        (lambda d: d["node_totals"][0].update(paths=[1, 2]), r"node_totals\[0\].paths is"),
        (lambda d: d["node_totals"][0].update(paths=[1, 2, 3, 4, 5, -6]), r"node_totals\[0\].paths is"),
        (lambda d: d["samples"][0].update(interval=0), r"samples\[0\].interval is 0"),
        (lambda d: d["distributions"][0]["count"].pop(), r"distributions\[0\].count is"),
        (lambda d: d["timelines"][0].update(discipline="fifo"), r"timelines\[0\].discipline is"),
        (lambda d: d["timelines"][0].update(until=0.5), r"timelines\[0\].until is 0.5"),
        (lambda d: d["timelines"][0].pop("marks"), r"timelines\[0\].marks is null"),
        (lambda d: d["timelines"][0]["runs"]["node"].pop(), r"timelines\[0\].runs.process is"),
        (lambda d: d["timelines"][0]["runs"]["process"].__setitem__(1, 9), r"runs.process is 9"),
        (lambda d: d["timelines"][0]["runs"]["until"].__setitem__(0, 0.0), r"runs.until is 0.0"),
        (lambda d: d["timelines"][0]["runs"]["from"].__setitem__(0, "now"), r"runs.from is"),
        (lambda d: d["timelines"][0]["lengths"]["queue"].__setitem__(0, 1), r"lengths.queue is 1"),
        (lambda d: d["timelines"][0]["marks"]["what"].__setitem__(0, "slept"), r"marks.what is"),
        (lambda d: d.update(timelines=[5]), r"timelines\[0\] is 5"),
    ],
)
def test_what_is_wrong_is_refused_with_its_place(change, told):
    with pytest.raises(weir.ConfigError, match=told) as error:
        weir.Result.from_json(spoiled(change), "r.json")
    assert error.value.file == "r.json"
    assert error.value.remedy


# Words.


def test_the_verdict_says_who_misses_needs_and_who_waits_longest(result: weir.NodeResult):
    assert verdict(result) == (
        "Every need is met under epoch and cbs, in all 6,000 epochs of processes ready throughout; "
        "under eevdf "
        "sink misses its need in 400 of 1,000 epochs (40 %, 95 % interval 38 to 42 %), by up to 12.50 "
        "ms, and "
        "another too. By the longest response to a wake-up epoch and cbs cannot be distinguished at this "
        "length of "
        "run: it is 12.00 ms under epoch, and is longer under eevdf. All 3 "
        "self-checks hold."
    )


def test_the_verdict_of_one_discipline():
    assert verdict(weir.Result.from_json(made(("epoch",)))) == (
        "Every need is met, in all 3,000 epochs of processes ready throughout. The longest response to "
        "a wake-up "
        "is 12.00 ms. The self-check holds."
    )


def test_a_clear_winner_is_named_with_the_next():
    told = verdict(weir.Result.from_json(made(("epoch", "eevdf"))))
    assert (
        "The longest response to a wake-up is shortest under epoch, 12.00 ms; eevdf comes next, with 30.00 ms"
    ) in told


def never_over(disciplines: tuple[str, ...], *, under: str) -> weir.NodeResult:
    """Return a result in which responses of two processes are not over, one of them beyond all that were."""
    parsed = json.loads(made(disciplines))
    for row in parsed["process_totals"]:
        if row["discipline"] == under and row["process"] in {"g1", "g2"}:
            row["unfinished"] = 9.99 if row["process"] == "g1" else 1e-4
    return read(parsed)


def test_who_never_ends_a_response_makes_no_winner():
    told = verdict(never_over(("epoch", "eevdf"), under="epoch"))
    assert (
        "A response of g1 is not over after 9.990 s under epoch, so the longest is not known; "
        "the longest response to a wake-up is shortest under eevdf, 30.00 ms."
    ) in told


def test_nobody_wins_where_no_discipline_ends_all_responses():
    told = verdict(never_over(("epoch",), under="epoch"))
    assert "A response of g1 is not over after 9.990 s, so the longest is not known." in told
    assert "shortest" not in told
    assert "longest response" not in told


def test_needs_that_nobody_could_miss():
    none = dict.fromkeys(("g1", "sink"), 0.0)
    assert "need" not in verdict(read(document(("epoch",), needs=none)))
    parsed = json.loads(made(("epoch",)))
    for row in parsed["process_totals"]:
        row.update(epochs_ready=0)
    assert verdict(read(parsed)).startswith("No process with a need was ready throughout an epoch")


def test_disciplines_that_no_need_was_tested_under_are_said_so():
    parsed = json.loads(made(("epoch", "eevdf")))
    for row in parsed["process_totals"]:
        if row["discipline"] == "epoch":
            row.update(epochs_ready=0)
    told = verdict(read(parsed))
    assert "not tested under epoch: no process with a need was ready throughout an epoch." in told
    assert "very need is met" not in told


def bound(late: dict[str, int], *, waits: int = 5000, disciplines=("epoch", "eevdf")) -> dict:
    """Return a result in which `g1` has a deadline, and so many of its responses are late."""
    parsed = json.loads(made(disciplines))
    parsed["processes"][0]["deadline"] = 0.01
    for row in parsed["process_totals"]:
        if row["process"] == "g1":
            row.update(late=late.get(row["discipline"], 0), waits=waits)
    for name in disciplines:
        error = 0.001 if name in late else 0.0
        row = estimate(name, "process", "g1", "late", late.get(name, 0) / 5000, "1", error=error)
        parsed["estimates"].append({**row, "count": waits})
    return parsed


def test_the_verdict_tells_of_deadlines():
    assert verdict(read(bound({}))).startswith(
        "Every deadline is met under both. Every need is met under epoch"
    )
    told = verdict(read(bound({"eevdf": 250})))
    assert told.startswith(
        "Every deadline is met under epoch; under eevdf g1 is late in 250 of 5,000 responses "
        "(5.0 %, 95 % interval 4.8 to 5.2 %). Every need"
    )
    assert "Process g1 is late in 5 of 5,000 responses (0.1 %" in verdict(
        read(bound({"epoch": 5}, disciplines=("epoch",)))
    )
    assert "Process g1 ended no response under both." in verdict(read(bound({}, waits=0)))


def test_equal_responses_are_told_once():
    parsed = json.loads(made(("epoch", "cbs:reclaim=grub", "eevdf"), replications=1))
    for row in (*parsed["estimates"], *parsed["differences"]):
        row.update(value=0.001 if "standard_error" in row else 0.0, low=None, high=None)
    told = verdict(read(parsed))
    assert "The longest response to a wake-up is 1.000 ms under every discipline." in told


def test_one_replication_has_no_intervals():
    parsed = json.loads(made(("epoch", "cbs:reclaim=grub"), replications=1))
    for row in (*parsed["estimates"], *parsed["differences"]):
        row.update(low=None, high=None)
    assert "is shortest under epoch, 12.00 ms; cbs comes next, with 12.10 ms." in verdict(read(parsed))


def test_an_interrupted_run_says_so():
    told = verdict(weir.Result.from_json(made(interrupted=True, replications=3)))
    assert told.startswith("Interrupted after 3 replications: what follows was finished by then.")


def warned() -> weir.NodeResult:
    row = {"node": "node", "text": "needs of 111 ms are promised in an epoch of 100 ms"}
    return weir.Result.from_json(made(warnings=[{**row, "discipline": name} for name in ("epoch", "eevdf")]))


def test_warnings_are_seen_everywhere():
    words = "node: needs of 111 ms are promised in an epoch of 100 ms (under epoch and eevdf)"
    assert warnings(warned()) == [words]
    assert f"warning: {words}" in printed(show_run, warned())
    assert f'<p class="warning">{words}</p>' in report.html(warned())


# The terminal.


@pytest.mark.parametrize("show", [show_run, show_comparison])
@pytest.mark.parametrize("width", [60, 80, 120])
def test_tables_fit_the_terminal_and_leave_nothing_out(result: weir.NodeResult, show, width):
    text = printed(show, result, width)
    assert max(map(len, text.splitlines())) <= width
    assert "left out" not in text
    for words in (
        "Epoch Scheduler",
        "400 of 1,000",
        "12.50",
        "from idle to the last",
        "messages",
        "windfall",
    ):
        assert words in text


def test_the_comparison_has_differences_with_intervals(result: weir.NodeResult):
    text = printed(show_comparison, result, 120)
    assert "processes under each discipline, and minus epoch's" in text
    assert "cbs − epoch" in text
    assert "less" not in text
    assert re.search(r"g1 +9.60 ±0.19 +9.68 ±0.19 +24.00 ±0.47 +\+0.08 ±0.19 +\+14.40 ±0.19", text)
    assert re.search(r"epoch, messages +980.0 ±3.9", text)
    assert re.search(r"epoch, node +10.00 +200.0 ", text)
    assert "self-checks: time conserved OK" in text


def test_moves_are_told_where_a_scenario_rebalances():
    parsed = document(("epoch", "eevdf"))
    assert "moves" not in printed(show_run, read(parsed))
    parsed["scenario"] += '[balance]\nevery = "1s"\n'
    for row in parsed["process_totals"]:
        row["moves"] = {"g1": 1234, "sink": 5}.get(row["process"], 0)
    for show in (show_run, show_comparison):
        assert re.search(
            r"moves.*\n(.*\n)?g1 .* 1,234\n(.*\n){3}all .* 1,239\n", printed(show, read(parsed), 200)
        )
    assert "moves<br>eevdf" in report.html(read(parsed))


def test_what_is_below_the_resolution_of_time_is_nothing():
    parsed = document(("epoch", "eevdf"))
    for row in parsed["estimates"]:
        if row["metric"] == "idle":
            row.update(value=1e-8, low=1e-8, high=1e-8)
    for row in parsed["differences"]:
        if row["metric"] == "epoch_run":
            row.update(value=-1e-9, low=-1e-9, high=-1e-9)
    text = printed(show_comparison, read(parsed), 200)
    assert "0.00000" not in text
    assert re.search(r"g1 +32.00 ±0.20 +28.00 ±0.20 +0 ±0", text)
    assert re.search(r"epoch, node +95.00 ±0.20 +0 ±0", text)


def test_tables_of_the_page_are_no_wider_than_it():
    names = tuple(f"cbs:reclaim=grub,length={place}ms" for place in range(1, 8))
    html = report.html(read(document(names)))
    for head in re.findall(r"<table><thead><tr>(.*?)</tr>", html):
        columns = re.findall(r"<th[^>]*>(.*?)</th>", head)
        if columns[0] == "<br>process":
            assert sum(max(map(len, column.split("<br>"))) + 3 for column in columns[1:]) < 104
    for name in names:
        assert html.count("response max") >= len(names)
        assert name in html


def test_many_processes_are_cut_and_said_to_be():
    many = read(document(("epoch",), needs={f"p{place}": 0.01 for place in range(40)}))
    text = printed(show_run, many, 120)
    assert "17 more rows are left out; --out FILE.html has all" in text
    assert "\np22 " in text
    assert "\np23 " not in text
    assert "\nall " in text
    assert ">p39<" in report.html(many)


def test_what_is_absent_carries_its_reason():
    parsed = json.loads(made(("epoch",)))
    for row in parsed["estimates"]:
        if (row["metric"], row["name"]) == ("response", "g2"):
            row.update(value=None, low=None, high=None, standard_error=None, reason="it never waited")
    found = read(parsed)
    for text in (printed(show_run, found, 200), report.html(found)):
        assert "n/a: it never waited (response of g2)" in text  # under the only discipline


# Timelines.


def test_runs_are_of_three_kinds(result: weir.NodeResult):
    kinds = [run.kind for run in runs(result.timeline("epoch"))]
    assert (kinds.count("normal"), kinds.count("windfall"), kinds.count("overhead")) == (35, 10, 5)
    assert {run.kind for run in runs(result.timeline("eevdf"))} == {"normal", "overhead"}


def test_a_critical_period_begins_where_the_present_reaches_it(result: weir.NodeResult):
    found = critical_periods(result.timeline("epoch"))
    # What runs on normal queues until 70 ms puts it off; then what is left is allocated.
    expected = [Period(0, 1.07 + EPOCH * epoch, 1.1 + EPOCH * epoch) for epoch in range(5)]
    assert [tuple(map(round6, each)) for each in found] == [tuple(map(round6, each)) for each in expected]
    assert critical_periods(result.timeline("eevdf")) == []


def round6(value: float) -> float:
    return round(value, 6)


def test_free_time_goes_while_nobody_runs_out_of_what_is_owed():
    parsed = json.loads(made(("epoch",)))
    line = parsed["timelines"][0]
    line["until"] = 1.1
    line["critical"] = {"node": [0, 0], "at": [1.0, 1.0], "begins": [0.9, 1.03]}
    line["runs"] = {
        "node": [0, 0, 0], "process": [0, 1, 0], "level": [1, -3, 1], "from": [1.01, 1.04, 1.05],
        "until": [1.04, 1.05, 1.06],
    }  # fmt: skip
    # 30 ms are free: 10 go before the first run, 10 while a low queue runs, 10 after the last run.
    (found,) = critical_periods(read(parsed).timelines[0])
    assert (round6(found.begin), round6(found.end)) == (1.07, 1.1)


def test_an_overcommitted_epoch_is_critical_from_its_turn_on():
    parsed = json.loads(made(("epoch",)))
    line = parsed["timelines"][0]
    line["critical"] = {"node": [0, 0], "at": [1.0, 1.1], "begins": [0.99, 1.05]}
    line["until"] = 1.2
    found = critical_periods(read(parsed).timelines[0])
    assert [(round6(each.begin), round6(each.end)) for each in found[:2]] == [(1.0, 1.1), (1.1, 1.2)]


# The page.


def charts(html: str) -> dict:
    found = re.search(r'<script type="application/json" id="charts">(.*?)</script>', html, re.DOTALL)
    return json.loads(found[1])


def test_the_page_needs_nothing_else_and_draws_every_chart(result: weir.NodeResult):
    import vl_convert

    html = report.html(result)
    body = re.sub(r"<script.*?</script>", "", html, flags=re.DOTALL)
    assert not re.search(r" (?:src|srcset|href)=", body)
    specs = charts(html)
    assert len(specs) == 3 * 2 + 3 + 5 + 3
    for name, spec in specs.items():
        assert f'id="{name}"' in html
        assert spec["data"]["values"], name
        svg = vl_convert.vegalite_to_svg({**spec, "width": 300})
        assert "mark-rect" in svg or "mark-line" in svg, name
        assert ">undefined<" not in svg


def test_the_page_tells_the_timeline_in_words(result: weir.NodeResult):
    html = report.html(result)
    for words in ("Timeline under epoch", "runs on a low queue (windfall)", "turn of an epoch", "Needs met"):
        assert words in html
    assert "from 1.000 s to 1.500 s of the first replication" in html


def test_a_long_timeline_is_cut_and_said_to_be():
    long = timeline("epoch", ["g1", "g2", "sink", "x"], epochs=400, truncated=True)
    html = report.html(weir.Result.from_json(made(("epoch",), timelines=[long])))
    cut = "The chart ends after 3,000 runs; --trace FILE.pftrace has those until 41.00 s."
    assert f"{cut} More happened than was kept" in html
    long = timeline("epoch", ["g1", "g2", "sink", "x"], epochs=400)
    html = report.html(weir.Result.from_json(made(("epoch",), timelines=[long])))
    assert "The chart ends after 3,000 runs; --trace FILE.pftrace has all." in html
    assert "More happened" not in html
    long["truncated"] = True
    text = printed(show_run, weir.Result.from_json(made(("epoch",), timelines=[long])))
    assert "the timeline is cut" in text


def test_who_never_runs_has_an_empty_row():
    line = timeline("epoch", ["g1", "starved", "sink"], epochs=1)
    line["runs"]["process"] = [None if run is None else 0 for run in line["runs"]["process"]]
    parsed = document(("epoch",), needs={"g1": 0.01, "starved": 0.0, "Epoch Scheduler": 0.001})
    html = report.html(read({**parsed, "timelines": [line]}))
    rows = next(iter(charts(html).values()))["layer"][0]["encoding"]["y"]["scale"]["domain"]
    assert rows == ["g1", "starved", "(node)"]
    assert "A process with an empty row did not run." in html


def test_of_many_processes_those_with_a_need_have_their_rows():
    needs = {f"p{place}": 0.01 if place >= 30 else 0.0 for place in range(40)}
    line = timeline("epoch", list(needs), epochs=1)
    html = report.html(read({**document(("epoch",), needs=needs), "timelines": [line]}))
    rows = next(iter(charts(html).values()))["layer"][0]["encoding"]["y"]["scale"]["domain"]
    assert len(rows) == 30
    assert {f"p{place}" for place in (*range(9), *range(30, 40))} < set(rows)
    assert "Not drawn: 11 more processes." in html


def test_lengths_of_queues_begin_where_the_timeline_does():
    line = timeline("epoch", ["g1", "g2"], epochs=1)
    line["lengths"] = {"queue": [0], "at": [1.05], "length": [1]}
    html = report.html(read({**document(("epoch",)), "timelines": [line]}))
    points = list(charts(html).values())[1]["data"]["values"]
    assert [(point["from"], point["length"]) for point in points] == [(1000, 0), (1050, 1), (1100, 1)]


def test_zero_and_what_is_absent_are_written_where_a_bar_would_be():
    parsed = document(("epoch",))
    for row in parsed["estimates"]:
        if row["metric"] == "need_met" and row["name"] in {"g1", "sink"}:
            row.update(value=0.0, low=0.0, high=0.0)
        if row["metric"] == "need_met" and row["name"] == "sink":
            row.update(value=None, low=None, high=None, standard_error=None, reason="it was never ready")
    points = next(iter(charts(report.html(read({**parsed, "timelines": []}))).values()))["data"]["values"]
    assert {point["process"]: point.get("label") for point in points} == {
        "g1": "0 %", "sink": "n/a", "Epoch Scheduler": None,
    }  # fmt: skip


def test_titles_and_names_cannot_become_markup():
    parsed = document(("epoch",), needs={"<script>alert(1)</script>": 0.01}, title="</title><script>")
    assert "<script>alert" not in report.html(read(parsed))


def test_a_report_can_be_made_of_less():
    bare = {
        name: []
        for name in ("distributions", "differences", "samples", "timelines", "checks", "process_totals")
    }
    assert "The comparison" in report.html(weir.Result.from_json(made(**bare)))
    nothing = read(
        {**document(), **bare, "estimates": [], "node_totals": [], "interrupted": True, "replications": 0}
    )
    assert "Provenance" in report.html(nothing)
    assert printed(show_comparison, nothing)


# Running.


class Node(weir.Scenario):
    """A scenario that the engine need not know."""

    read = None
    disciplines = tuple(EVERY)

    @property
    def normalised(self) -> dict:
        return {"model": "node", "measure": {}}


def test_a_run_gives_what_the_engine_wrote(monkeypatch):
    from weir import _weir

    monkeypatch.setattr(_weir, "run", lambda *_: made())
    assert weir.compare(Node("", "node.toml")) == weir.Result.from_json(made())


SCENARIO = {
    "weir": 1,
    "model": "node",
    "disciplines": ["epoch", "eevdf", "priority_rr"],
    "node": {"epoch": "10ms", "costs": {"swap": "10us", "timer": "5us"}},
    "queue": [{"name": "frames"}],
    "process": [
        {
            "name": "camera", "need": "1ms",
            "program": "loop {\nsleep 5ms\ncompute uniform(200us, 500us)\nenqueue frames\n}",
        },
        {
            "name": "detector", "need": "4ms", "deadline": "4ms",
            "program": "loop {\ndequeue frames\ncompute 1500us\n}",
        },
        {"name": "planner", "need": "4ms", "program": "loop { compute 1s }"},
        {"name": "log", "program": "loop { compute 1s }"},
    ],
    "stop": {"warm_up": "20ms", "duration": "220ms", "replications": 3},
    "measure": {"sample": "20ms"},
}  # fmt: skip


def test_what_the_engine_writes_is_shown_in_every_form(tmp_path):
    result = weir.run(SCENARIO, threads=1)
    assert isinstance(result, weir.NodeResult)
    assert result.ok
    assert [line.discipline for line in result.timelines] == list(result.disciplines)
    for line in result.timelines:
        # One processor, charged for one at a time, and never idle here.
        spans = sorted((run.begin, run.end) for run in runs(line))
        assert all(end <= begin + 1e-12 for (_, end), (begin, _) in itertools.pairwise(spans))
        assert sum(end - begin for begin, end in spans) == pytest.approx(line.until - line.from_)
    assert critical_periods(result.timeline("epoch"))
    for show in (show_run, show_comparison):
        text = printed(show, result, 80)
        assert max(map(len, text.splitlines())) <= 80
        assert "planner" in text
    assert "Timeline under epoch" in report.html(result)
    result.save_trace(tmp_path / "t.pftrace")
    assert (tmp_path / "t.pftrace").stat().st_size > 1000
    assert result.samples_to_arrow().num_rows > 0
