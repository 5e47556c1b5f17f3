"""Results of the fabric: typed rows, strict reading, words, tables that fit, a page of its own."""

import io
import json
import re
from dataclasses import replace

import pytest
from rich.console import Console

import weir
from fabric_results import CHANNELS, DRR, DTABLE, document, made, paper
from weir.models.fabric.marks import point_of
from weir.models.fabric.verdict import standings, telling_load
from weir.results import page as report
from weir.results.labels import short_labels as labels
from weir.results.terminal import show_comparison, show_run
from weir.results.verdict import verdict
from weir.text import Scale


@pytest.fixture(scope="module")
def result() -> weir.FabricResult:
    return weir.Result.from_json(made())


def read(parsed: dict) -> weir.FabricResult:
    return weir.Result.from_json(json.dumps(parsed))


def printed(show, result: weir.Result, width: int = 110) -> str:
    out = io.StringIO()
    show(Console(file=out, width=width, highlight=False, markup=False), result)
    return out.getvalue()


def test_the_model_decides_the_class(result: weir.FabricResult):
    assert type(result) is weir.FabricResult
    assert repr(result).startswith("<weir.FabricResult 'Seven channels at 64 end-points': drr:")
    assert result.ok
    assert (result.size.hosts, result.size.switches, result.loads) == (64, 48, (0.5, 0.8, 0.9, 1.0))
    assert [row.name for row in result.channels] == list(CHANNELS)


def test_rows_are_found_by_what_they_are_about(result: weir.FabricResult):
    assert result.estimate(DRR, load=0.9, channel="D2").value == pytest.approx(24e-6)
    assert result.estimate(DRR, load=0.9, channel="D2", statistic="max").unit == "s"
    assert result.estimate(DTABLE, load=1.0, channel="D64", metric="accepted").value == 0.97
    assert result.estimate(DRR, load=0.9, channel="nobody") is None
    assert result.difference(DTABLE, load=0.9, channel="D2").value == pytest.approx(47)
    assert result.difference(DTABLE, load=0.9, channel="D2").clear
    assert not result.difference(DTABLE, load=0.9, channel="D16").clear
    assert result.difference(DTABLE, load=0.9, channel="D2", kind="difference").value < 0
    assert result.distribution(DRR, load=0.5).relative_error == 0.02
    assert (result.saturates(DTABLE, "D64"), result.saturates(DRR, "D64")) == (1.0, None)
    assert result.totals[0].most_examined == 64


def test_the_load_may_be_left_out_where_there_is_one(result: weir.FabricResult):
    one = weir.Result.from_json(made((0.8,)))
    assert one.estimate(DRR, channel="D2") == one.estimate(DRR, load=0.8, channel="D2")
    with pytest.raises(weir.ConfigError, match="the result has 4 loads"):
        result.estimate(DRR, channel="D2")


def test_estimates_are_a_table(result: weir.FabricResult):
    table = result.to_arrow()
    assert table.column_names[:5] == ["discipline", "load", "channel", "metric", "statistic"]
    assert str(table.schema.field("load").type) == str(table.schema.field("low_90").type) == "double"
    frame, polars = result.to_pandas(), result.to_polars()
    assert list(frame.columns) == polars.columns == table.column_names
    assert len(frame) == len(result.estimates)


# Reading.


def spoiled(change) -> str:
    parsed = json.loads(made((0.8,)))
    change(parsed)
    return json.dumps(parsed)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda d: d.pop("channels"), "`channels` is missing"),
        (lambda d: d.pop("saturation"), "`saturation` is missing"),
        (lambda d: d.update(loads="0.8"), "loads is"),
        (lambda d: d.update(loads=[0.8, 0.8]), "loads is"),
        (lambda d: d.update(loads=[-1.0]), "loads is"),
        (lambda d: d.update(reference="fifo"), "reference is"),
        (lambda d: d.update(size=[64]), r"size\[0\] is"),
        (lambda d: d["channels"].append({"name": "all", "share": 1.0}), "channels is"),
        (lambda d: d["channels"][0].update(share=None), r"channels\[0\].share is null"),
        (lambda d: d["estimates"][3].update(value="fast"), r"estimates\[3\].value is"),
        (lambda d: d["estimates"][3].update(value=True), r"estimates\[3\].value is true"),
        (
            lambda d: d["estimates"][3].update(value=float("inf")),
            "Infinity is no number|infinity is no number",
        ),
        (lambda d: d["estimates"][3].update(load=0.7), r"estimates\[3\].load is 0.7"),
        (lambda d: d["estimates"][3].update(channel="D3"), r"estimates\[3\].channel is"),
        (lambda d: d["estimates"][3].update(low=1.0), r"estimates\[3\].low is 1.0, must be at most `high`"),
        (lambda d: d["estimates"][3].update(high_90=None), r"estimates\[3\].low_90 is"),
        (lambda d: d["estimates"][3].update(value=None), r"estimates\[3\].low is"),
        (lambda d: d["differences"][0].pop("kind"), r"`differences\[0\].kind` is missing"),
        (lambda d: d["differences"][0].update(discipline="fifo"), r"differences\[0\].discipline is"),
        (lambda d: d["saturation"][0].update(load=0.3), r"saturation\[0\].load is 0.3"),
        (lambda d: d["distributions"][0]["count"].pop(), r"distributions\[0\].count is"),
        (lambda d: d["distributions"][0]["low"].reverse(), r"distributions\[0\].low is"),
        (lambda d: d["totals"][0].update(delivered=-1), r"totals\[0\].delivered is -1"),
    ],
)
def test_what_is_wrong_is_refused_with_its_place(change, told):
    with pytest.raises(weir.ConfigError, match=told) as error:
        weir.Result.from_json(spoiled(change), "r.json")
    assert error.value.file == "r.json"
    assert error.value.remedy


# Labels.


@pytest.mark.parametrize(
    ("specs", "told"),
    [
        ([DRR, DTABLE], ["drr", "dtable"]),
        ([DTABLE, f"{DTABLE},stall=keep"], ["dtable", "dtable stall=keep"]),
        ([DTABLE, DTABLE.replace("32cr", "64cr"), DRR], ["dtable 1", "dtable 2", "drr"]),
        (
            [f"{DTABLE},read_ahead=1", f"{DTABLE},read_ahead=8"],
            ["dtable read_ahead=1", "dtable read_ahead=8"],
        ),
        (["scfq(fifo,depth=9)", "scfq(fifo,depth=9)"], ["scfq"]),
    ],
)
def test_labels_are_short_and_unique(specs, told):
    assert list(labels(specs).values()) == told


# Words.


def test_the_verdict_says_who_is_best_for_whom_and_where_it_saturates(result: weir.FabricResult):
    assert telling_load(result) == 0.9
    assert verdict(result) == (
        "At load 0.9 the mean latency is lowest under dtable for D2, D4 and D8 (32 to 47 % below drr) and "
        "under drr for D32, D64 and D64' (dtable is 17 to 57 % above); for D16 drr and dtable cannot be "
        "distinguished at this length of run. First to saturate, with less than 99 % of what is offered "
        "arriving: D64 and D64' from load 1 under dtable; no channel up to load 1 under drr. All 2 "
        "self-checks hold."
    )


def test_the_verdict_of_one_discipline():
    told = verdict(read(document({DRR: paper((0.8,))[DRR]})))
    assert told.startswith(
        "At load 0.8 the mean latency is 23.00 µs over all channels, from 20.00 µs (D2) to 26.00 µs (D64'). "
        "No channel saturates up to load 0.8: at least 99 % of what is offered arrives."
    )


def test_one_channel_has_its_interval_in_the_verdict():
    told = verdict(read(document({DRR: {0.5: [2e-6]}, DTABLE: {0.5: [1e-6]}}, channels=("D2",))))
    assert told.startswith(
        "At load 0.5 the mean latency is lowest under dtable for D2 (50 % below drr, 95 % interval 49 to 51)."
    )


def test_disciplines_without_a_paired_difference_are_told_apart_by_their_intervals():
    near = {DRR: {0.5: [9e-6]}, "wfq": {0.5: [2e-6]}, "scfq": {0.5: [2.001e-6]}}
    close = read(document(near, channels=("D2",)))
    assert standings(close, 0.5)[0].rivals == ("scfq",)
    assert "for any channel wfq and scfq cannot be distinguished" in verdict(close)
    apart = read(document({**near, "scfq": {0.5: [3e-6]}}, channels=("D2",)))
    assert standings(apart, 0.5)[0].rivals == ()


def test_channels_are_close_for_disciplines_of_their_own():
    flat = {"drr": [9e-6, 9e-6, 9e-6], "wfq": [2e-6, 2e-6, 9e-6], "scfq": [2e-6, 2e-6, 9e-6]}
    by_load = {name: {0.5: found} for name, found in flat.items()}
    told = verdict(read(document(by_load, channels=("a", "b", "c"))))
    assert told.startswith(
        "At load 0.5 for a and b wfq and scfq cannot be distinguished at this length of run, nor all "
        "disciplines for c."
    )
    assert "without intervals, of one replication" in verdict(weir.Result.from_json(made(replications=1)))


def accepted(value, low, high, replications=10):
    """Return a result of two channels, of the first of which so much is accepted at load 1."""
    flat = {load: [2e-6, 2e-6] for load in (0.5, 1.0)}
    made = document({DRR: flat}, channels=("a", "b"), replications=replications)
    for row in made["estimates"]:
        if (row["metric"], row["channel"], row["load"]) == ("accepted", "a", 1.0):
            row.update(value=value, low=low, high=high, low_90=low, high_90=high)
    return read(made)


def test_whether_a_channel_saturates_is_left_open_where_its_interval_is_wide():
    doubtful = accepted(0.98, 0.955, 1.005)
    assert telling_load(doubtful) == 0.5
    assert (
        "Whether a at load 1 saturates is not known at this length of run: 95.5 to 100.5 % of what is "
        "offered arrives (90 % interval)."
    ) in verdict(doubtful)
    assert "o channel saturates" not in verdict(doubtful)
    narrow = accepted(0.989, 0.985, 0.993)
    assert telling_load(narrow) == 1.0
    assert "No channel saturates up to load 1" in verdict(narrow)


def test_one_replication_does_not_tell_whether_a_channel_saturates():
    one = accepted(0.98, None, None, replications=1)
    assert (
        "Whether channels saturate is not known from one replication: of what is offered at least 98.0 % "
        "arrives, for a at load 1."
    ) in verdict(one)


def test_intervals_of_latencies_end_at_zero_in_charts():
    result = read(document({DRR: {0.5: [2e-6]}}, channels=("a",)))
    row = replace(result.estimate(DRR, load=0.5, channel="a"), low=-1e-6)
    assert point_of(result, row, Scale(1e-6, "µs"))[0]["low"] == 0.0


def test_an_interrupted_run_says_so():
    told = verdict(weir.Result.from_json(made(interrupted=True, replications=3)))
    assert told.startswith("Interrupted after 3 replications: what follows was finished by then.")


# The terminal.


@pytest.mark.parametrize("show", [show_run, show_comparison])
@pytest.mark.parametrize("width", [40, 80, 120])
def test_tables_fit_the_terminal_and_leave_nothing_out(result: weir.FabricResult, show, width):
    text = printed(show, result, width)
    assert max(map(len, text.splitlines())) <= width
    assert "left out" not in text
    for words in ("D64'", "accepted", "max (µs)", "throughput", "examined"):
        assert words in text
    assert DTABLE in "".join(line.strip() for line in text.splitlines())


def test_the_comparison_has_improvements_with_intervals(result: weir.FabricResult):
    text = printed(show_comparison, result, 100)
    assert "dtable: improvement of the mean latency over drr (%)" in text
    assert re.search(r"D2 +24.00 ±0.47 +12.72 ±0.25 +\+47.00 ±0.98", text)
    assert re.search(r"D64' +above 1 +1$", text, re.MULTILINE)
    assert "self-checks: credits conserved OK" in text


def test_five_disciplines_take_several_tables():
    five = {f"drr:quantum={size}B": paper((0.8,))[DRR] for size in (256, 512, 1024, 2048, 4096)}
    text = printed(show_comparison, read(document(five)), 80)
    assert max(map(len, text.splitlines())) <= 80
    for label in ("drr quantum=256B", "drr quantum=4096B"):
        assert label in text


def test_many_loads_are_cut_and_said_to_be():
    many = weir.Result.from_json(made(tuple(place / 10 for place in range(1, 10))))
    text = printed(show_comparison, many, 120)
    assert "loads not shown: 0.2, 0.5, 0.8; --out FILE.html has all" in text
    assert text.count("\nload 0.") == 6


def test_what_is_absent_carries_its_reason():
    parsed = json.loads(made((0.8,)))
    nothing = dict.fromkeys(("value", "low", "high", "low_90", "high_90", "standard_error"))
    for row in parsed["estimates"]:
        if row["metric"] == "latency" and row["channel"] == "D8":
            row.update(nothing, reason="nothing arrived")
    found = read(parsed)
    assert "n/a (nothing arrived)" in printed(show_comparison, found, 200)
    assert "n/a (nothing arrived)" in report.html(found)
    assert "D8" not in verdict(found)


def test_messages_have_columns_of_their_own():
    parsed = json.loads(made((0.8,)))
    messages = [
        {**row, "metric": "message_latency", "value": 2e-3, "low": 1.9e-3, "high": 2.1e-3}
        for row in parsed["estimates"]
        if row["metric"] == "latency"
    ]
    found = read({**parsed, "estimates": parsed["estimates"] + messages})
    assert re.search(r"message mean \(ms\) +message mean \(ms\)", printed(show_comparison, found, 200))
    assert re.search(r"message +message +message$", printed(show_run, found, 200), re.MULTILINE)


def test_closed_forms_that_disagree_are_shown():
    row = {"discipline": DTABLE, "class": "D2", "metric": "share", "value": 0.25, "unit": "1"}
    parsed = json.loads(made((0.8,)))
    parsed["theory"] = [{**row, "formula": "weights over pool", "agrees": agrees} for agrees in (True, False)]
    found = read(parsed)
    assert "weights over pool" in printed(show_comparison, found, 120)
    assert "Closed forms" in report.html(found)
    assert "1 of 2 closed forms agree with the simulation" in verdict(found)


# The page.


def charts(html: str) -> dict:
    return json.loads(
        re.search(r'<script type="application/json" id="charts">(.*?)</script>', html, re.DOTALL)[1]
    )


@pytest.mark.parametrize(("loads", "count"), [((0.5, 0.9, 1.0), 1 + 8 + 8 + 2 + 2 + 8), ((0.8,), 4 + 8)])
def test_the_page_needs_nothing_else_and_draws_every_chart(loads, count):
    import vl_convert

    html = report.html(weir.Result.from_json(made(loads)))
    body = re.sub(r"<script.*?</script>", "", html, flags=re.DOTALL)
    assert not re.search(r" (?:src|srcset|href)=", body)
    assert "<script src" not in html
    specs = charts(html)
    assert len(specs) == count
    for name, spec in specs.items():
        assert f'id="{name}"' in html
        assert spec["data"]["values"], name
        svg = vl_convert.vegalite_to_svg({**spec, "width": 300})
        assert len(re.findall(r'<path aria-label="|aria-roledescription="line mark"', svg)) >= 2, name
        assert ">undefined<" not in svg


def test_the_page_has_the_whole_specs_and_every_load(result: weir.FabricResult):
    html = report.html(result)
    assert f"<code>{DTABLE}</code>" in html
    for title in (
        "The comparison",
        "Improvement over drr",
        "Saturation",
        "Work of the schedulers",
        "load 0.5",
    ):
        assert title in html
    assert "improvement (%)<br>dtable" in html


def test_titles_and_channels_cannot_become_markup():
    parsed = document({DRR: {0.5: [1e-6]}}, channels=("<script>alert(1)</script>",), title="</title><script>")
    assert "<script>alert" not in report.html(read(parsed))


def test_a_report_can_be_made_of_less():
    bare = {"distributions": [], "differences": [], "saturation": [], "totals": [], "checks": []}
    assert "The comparison" in report.html(weir.Result.from_json(made(**bare)))
    nothing = read(
        {**document(paper((0.8,))), **bare, "estimates": [], "interrupted": True, "replications": 0}
    )
    assert "Provenance" in report.html(nothing)
    assert printed(show_comparison, nothing)


def test_the_command_line_makes_a_report(tmp_path, monkeypatch, capsys):
    from weir.cli import run as call

    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.json").write_text(made())
    assert call(["report", "r.json"]) == 0
    assert (tmp_path / "r.html").read_text().startswith("<!doctype html>")
    assert capsys.readouterr().out == "wrote r.html\n"


# What a fabric does not have.


class Fabric(weir.Scenario):
    """A scenario that the engine need not know."""

    read = None
    disciplines = (DRR, DTABLE)

    @property
    def normalised(self) -> dict:
        return {"model": "fabric"}


def test_closed_forms_are_refused_where_there_are_none(monkeypatch):
    from weir import _weir

    monkeypatch.setattr(_weir, "theory", lambda *_: made((0.8,)))
    with pytest.raises(weir.ConfigError, match="no closed form is known of this fabric"):
        weir.theory(Fabric("", "fabric.toml"))
    form = {"discipline": DRR, "class": "D2", "metric": "share", "value": 0.25, "unit": "1", "agrees": None}
    monkeypatch.setattr(_weir, "theory", lambda *_: made((0.8,), theory=[{**form, "formula": "quanta"}]))
    assert weir.theory(Fabric("", "fabric.toml")).theory[0].value == 0.25


def test_a_run_gives_what_the_engine_wrote(monkeypatch):
    from weir import _weir

    monkeypatch.setattr(_weir, "run", lambda *_: made())
    assert weir.compare(Fabric("", "fabric.toml")) == weir.Result.from_json(made())
