"""`weir live steer` without packets: plans, costs, windows, scenarios, orderings, terminal and page."""

import io
import json
import tomllib

import pytest

import weir
from steer_records import FIXED, GROWN, RAN, UNIT, answer, costs, document, outcome, run, settings, study
from weir import toml
from weir.cli import run as cli
from weir.errors import UnsupportedError, WeirError
from weir.live.steer import bed, measured, model, orderings, page, text
from weir.live.steer.costs import estimate, guess
from weir.live.steer.counts import client, poll, windows
from weir.live.steer.plan import LEVELS, PERIODS, POLICIES, Case, plan, spare, workers
from weir.live.steer.run import run as whole
from weir.reproduce.steer import published
from weir.results.terminal import console


@pytest.fixture(scope="module")
def made():
    return study()


@pytest.fixture(scope="module")
def html(made):
    return page.html(made)


def planned(processors=2, window=10**9):
    return plan(range(processors), costs(), window)


# Plans.


def test_one_processor_is_refused():
    with pytest.raises(UnsupportedError, match="1 processor may be used"):
        whole([0])


def test_up_to_two_processors_all_serve_and_of_more_the_first_is_left_out():
    assert workers([0]) == (0,)
    assert workers({1, 0}) == (0, 1)
    assert workers([3, 1, 0]) == (1, 3)
    assert [spare([0, 1]), spare([3, 1, 0])] == [None, 0]
    assert workers(range(64)) == (1, 2, 3, 4, 5, 6, 7)


@pytest.mark.parametrize("processors", range(2, 8))
def test_bursts_bring_each_processor_as_many_requests_as_in_the_lab(processors):
    made = planned(processors)
    requests = made.rates()[-1] * made.burst / 1e9 / processors
    assert requests == pytest.approx(0.85 * RAN * 2300 / 3.42, rel=0.15)
    assert made.period % made.burst == 0
    assert made.window == PERIODS * made.period == pytest.approx(1e9, rel=0.01)


def test_the_highest_rate_is_85_per_cent_of_what_all_processors_serve():
    made = planned(2)
    assert made.rates()[-1] * costs().passed.of(99) == pytest.approx(2 * 0.85)
    assert made.load == pytest.approx(0.85 * RAN, rel=1e-3)
    assert len(made.rates()) == LEVELS
    ratio = costs().service(100) / costs().service(made.short)
    assert ratio == pytest.approx(3.42 / 1.95, rel=0.02)


def test_short_windows_have_a_burst_in_every_period():
    made = planned(2, 10**8)
    assert made.period == made.burst == 20_000_000


def test_the_threshold_of_seven_processors_is_that_of_the_lab():
    made = planned(7)
    assert 0.20 < made.add / made.burst / (made.load / 0.85) < 0.26
    assert made.remove == pytest.approx(0.4 * made.add, abs=1)


def test_policies_are_specs_of_the_engine():
    made = planned(7)
    assert made.spec("RRCS") == "rr_separated:short=3"
    for policy in POLICIES:
        weir.Scenario.from_toml(toml.dumps(scenario("bimodal", made)), policy)


def test_one_processor_has_one_policy():
    assert [case.name for case in planned(1).cases()] == ["RR/unimodal", "RR/bimodal"]
    assert len(planned(2).cases()) == 8


def test_requests_of_unimodal_traffic_count_as_short():
    (only,) = planned().kinds("unimodal")
    assert (only.name, only.share) == ("short", 1.0)
    assert only.units < bed.AT_LEAST
    short, long = planned().kinds("bimodal")
    assert short.units < bed.AT_LEAST <= long.units < 256
    assert short.share + long.share == pytest.approx(1)


def test_options_of_the_client_are_those_of_the_plan():
    made = planned()
    words = measured.words(made, Case("RR", "bimodal"), 5)
    pairs = [words[place : place + 2] for place in range(0, len(words), 2)]
    assert ["--windows", "6"] in pairs
    assert ["--growth", "2"] in pairs
    assert ["--arrivals", f"bursts:{made.burst}ns"] in pairs
    assert [pair[1] for pair in pairs if pair[0] == "--class"] == [
        f"short:data={made.short},share=0.9",
        "long:data=100,share=0.1",
    ]


def test_the_configuration_of_the_daemon_is_toml():
    written = bed.configuration("kv", "w0b", (0, 1), "rr", 120)
    read = tomllib.loads(toml.dumps(written))
    assert read["steer"]["processors"] == [0, 1]
    assert read["steer"]["queue"] == "4096pkt"
    assert read["classes"]["long"] == {"byte": 3, "at_least": 100}
    assert read["service"] == {"field": 0, "iterations": 120, "reflect": True}


# Costs.


def test_costs_are_those_that_the_settings_were_made_with():
    found = estimate(settings(), 120)
    assert found.served.fixed.value == pytest.approx(FIXED, rel=1e-3)
    assert found.served.unit.value == pytest.approx(UNIT, rel=1e-3)
    assert found.passed.of(100) == pytest.approx(51e-6 / RAN, rel=1e-3)
    assert found.service(100) == pytest.approx(51e-6, rel=1e-3)
    assert found.units_of(51e-6) == 100


def test_costs_have_an_interval_that_covers_them():
    found = costs()
    for duration, true in ((found.served.fixed, FIXED), (found.served.unit, UNIT)):
        assert duration.low < true < duration.high
        assert duration.high - duration.low < true


def test_settings_that_were_not_saturated_are_left_out():
    good, bad = settings(), settings(sizes=(400,), noise=0.9, saturated=False)
    assert estimate([*good, *bad], 120).served == estimate(good, 120).served
    with pytest.raises(WeirError, match="0 of 6 settings saturated"):
        estimate(settings(saturated=False), 120)


def test_requests_that_cost_less_the_larger_they_are_are_refused():
    sizes = (250, 200, 150, 100, 75, 50)
    wrong = [measured_as(units, each) for units, each in zip(sizes, settings(), strict=True)]
    with pytest.raises(WeirError, match="must be more than 0"):
        estimate(wrong, 120)


def measured_as(units, setting):
    from dataclasses import replace

    return replace(setting, units=units)


def test_the_guess_says_how_many_iterations_a_service_needs():
    found = guess((100, 6.2e-6), (20_000, 46e-6))
    assert found.service(1, 10_000) == pytest.approx(26e-6, rel=0.01)
    assert found.service(100, found.iterations(50e-6, 100)) == pytest.approx(50e-6, rel=0.01)
    assert found.iterations(1e-6, 100) == 1
    with pytest.raises(WeirError, match="20,000 iterations took"):
        guess((100, 6e-6), (20_000, 5e-6))


# Windows.


def test_windows_are_differences_of_what_was_counted():
    first = answer(0, {"short": (5, 500), "long": (0, 0)})
    polls = [poll(first)]
    for period in range(1, PERIODS * LEVELS + 1):
        short = (5 + 10 * period, 500 + 1000 * period * (period + 1) // 2)
        polls.append(poll(answer(period * 10**8, {"short": short, "long": (0, 0)})))
    found = windows(polls, "short")
    assert [each.count for each in found.periods] == [10] * 30
    assert found.periods[2].value == pytest.approx(300e-9)
    assert found.levels[1].value == pytest.approx(800e-9)
    assert found.levels[1].count == 50
    assert found.largest == pytest.approx(3000e-9)


def test_a_window_without_requests_has_no_mean():
    polls = [poll(answer(at, {"short": (5, 500), "long": (0, 0)})) for at in range(31)]
    found = windows(polls, "long")
    assert found.largest is None
    assert {each.value for each in found.levels} == {None}


def test_counts_of_processors_are_put_together():
    found = poll(answer(9, {"short": (5, 500), "long": (2, 9)}, steered=10, dropped=1, waiting=2))
    assert (found.steered, found.served, found.dropped, found.waiting) == (10, 7, 1, 2)
    assert found.queues == (2, 0)
    assert found.classes["long"] == (2, 9)


def test_what_the_client_wrote_is_read():
    found = client(document(100, 5_000_000))
    assert (found.sent, found.received, found.reordered) == (1212, 1200, 24)
    assert found.trips["long"].largest == pytest.approx(5e-3)
    assert found.late == pytest.approx(900e-9)
    assert found.warnings == ("the clock is slow",)
    assert found.trips["long"].tails == pytest.approx([5e-3] * LEVELS)
    nothing = client(document(0, 1)).trips["short"]
    assert nothing.largest is None
    assert nothing.tails == (None,) * LEVELS


# Scenarios.


def scenario(traffic, made=None, seed=3):
    return model.of_machine(made or planned(), costs(), seed)[traffic]


def test_scenarios_of_the_machine_are_those_of_the_lab_scaled():
    made = planned()
    document = scenario("bimodal", made)
    assert document["seed"] == 3
    assert document["server"]["cores"] == 2
    assert document["server"]["queue"] == 4096
    services = [round(1e9 * costs().service(units)) for units in (made.short, 100)]
    assert [each["service"] for each in document["class"]] == [f"{each}ns" for each in services]
    assert document["workload"]["levels"]["every"] == f"{made.window}ns"
    assert document["measure"]["window"] == f"{made.period}ns"
    assert document["disciplines"] == [made.spec(policy) for policy in POLICIES]


def test_simulations_of_the_machine_have_every_window_of_every_policy():
    short = planned(2, 10**8)
    found = model.simulate(lambda seed: model.of_machine(short, costs(), seed), range(2))
    assert list(found) == sorted(short.cases(), key=lambda case: case.traffic, reverse=True)
    for case, outcomes in found.items():
        assert len(outcomes) == 2
        for each in outcomes:
            assert set(each.delays) == {kind.name for kind in short.kinds(case.traffic)}
            assert all(len(delays.periods) == 30 for delays in each.delays.values())
    assert found[Case("RR", "unimodal")][0].cores == 2
    assert 1 < found[Case("DCA", "unimodal")][0].cores < 2
    again = model.simulate(lambda seed: model.of_machine(short, costs(), seed), range(2))
    assert again == found


def test_the_delays_of_two_processors_are_those_that_a_burst_brings():
    made = planned()
    found = model.simulate(lambda seed: model.of_machine(made, costs(), seed), range(1))
    longest = found[Case("RR", "unimodal")][0].delays["short"].largest
    assert longest == pytest.approx(made.load * made.burst / 2e9, rel=0.05)
    assert found[Case("RRCS", "unimodal")][0].delays["short"].largest > 10 * longest


# Orderings.


def test_orderings_of_the_report_hold_of_its_own_figures_where_it_has_them():
    told = {each.id: orderings.told_published(each).holds for each in published.orderings()}
    assert told["O01"]
    assert told["O04"]
    assert told["O09"] is told["O10"] is None
    assert False not in told.values()


def test_orderings_are_told_in_a_few_signs():
    told = {each.id: orderings.brief(each) for each in published.orderings()}
    assert told["O01"] == "RRCS unimodal > 5 x RR unimodal"
    assert told["O10"] == "DCA long ~ DCA short (x 1.1)"


def test_an_ordering_that_is_reversed_is_not_met(made):
    assert made.ok
    assert made.verdicts()[1].startswith("MET: of 13 of the report's orderings 11 hold as measured")
    other = study(RRCS_unimodal_short=50e-3)
    assert [row.id for row in other.orderings if row.reversed] == ["O01"]
    assert not other.ok
    assert "clearly against the simulation: O01" in other.verdicts()[1]


def test_a_difference_within_its_interval_is_not_clear():
    name = next(each for each in published.orderings() if each.id == "O05")
    left, right = Case("RRCS", "bimodal"), Case("RR", "bimodal")
    far = {left: [outcome(left, each) for each in (1, 1.1, 0.9)], right: [outcome(right)] * 3}
    assert orderings.judge(name, far, 2).clear
    near = {left: [outcome(left, each) for each in (3, 1.1, 4)], right: [outcome(right)] * 3}
    judged = orderings.judge(name, near, 2)
    assert (judged.holds, judged.clear) == (True, False)
    alone = {left: [outcome(left)], right: [outcome(right)]}
    assert orderings.judge(name, alone, 2).clear is None


def test_what_cannot_be_judged_says_why():
    few = study(processors=1)
    rows = {row.id: row for row in few.orderings}
    assert rows["O01"].measured.reason == "RRCS needs two processors, there is one"
    assert rows["O02"].measured.holds
    cut = study(repeat=1, interrupted=True)
    rows = {row.id: row for row in cut.orderings}
    assert rows["O09"].measured.reason == "DCA on bimodal traffic was not run to its end"
    assert any("interrupted" in line for line in cut.verdicts())


def test_without_a_run_nothing_is_met():
    nothing = study(repeat=0)
    assert not nothing.ok
    assert nothing.verdicts()[0].startswith("NOT CHECKED")
    assert nothing.to_dict()["runs"] == []


# Terminal and page.


def shown(made, width):
    out = io.StringIO()
    wide = console(out)
    wide.width = width
    text.show(wide, made)
    return out.getvalue()


def test_the_terminal_has_everything_within_80_columns(made):
    told = shown(made, 80)
    assert max(map(len, told.splitlines())) <= 80
    for words in ("RRCS unimodal > 5 x RR unimodal", "14,000", "What became of the requests", "< 500"):
        assert words in told
    for policy in POLICIES:
        assert policy in told
    assert "nan" not in told.lower()


def test_the_verdict_comes_first(made, html):
    assert shown(made, 80).splitlines()[1].startswith("MET")
    assert html.index("MET: of") < html.index("<figure>")


def test_the_document_is_json_without_gaps(made):
    told = json.loads(json.dumps(made.to_dict(), allow_nan=False))
    assert len(told["cells"]) == 12 * LEVELS
    assert len(told["peaks"]) == 12
    assert len(told["orderings"]) == 13
    assert len(told["runs"]) == 24
    first = told["peaks"][0]
    assert first["report"] == {"value": 1e-3, "bound": False}
    assert first["measured"]["value"] == pytest.approx(1.01 * GROWN["RR/unimodal/short"])
    assert first["measured"]["low"] < first["measured"]["value"] < first["measured"]["high"]
    assert told["costs"]["served"]["fixed"]["low"] is not None


def test_one_repetition_has_intervals_over_its_periods():
    cells = study(repeat=1).cells
    assert all(cell.measured.low is not None for cell in cells)
    assert all(cell.round_trip.low is None for cell in cells)
    assert all(cell.round_trip_p99.value == pytest.approx(2 * cell.round_trip.value) for cell in cells)


def test_the_page_needs_nothing_else(made, html):
    assert "src=" not in html.partition("<script>")[0]
    assert page.figures(made)[0].title.startswith("7 cores")
    assert len(page.figures(made)) == 4
    assert "NaN" not in html.partition("<script>")[0]


def test_an_interrupted_study_shows_what_there_is(html):
    cut = study(repeat=1, interrupted=True)
    assert "was not run to its end" not in html
    assert "was not run to its end" in shown(cut, 120)
    assert len(page.figures(cut)) == 4


def test_a_run_that_lost_requests_is_told():
    lost = run(Case("RR", "unimodal"), 0).ledger
    assert (lost.unaccounted, lost.unseen, lost.not_returned) == (0, 0, 0)


# Command line.


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--window", "3"], "not a quantity"),
        (["--window", "1ms"], "must be from 100ms to 60s"),
        (["--service", "2s"], "must be from 20us to 1ms"),
        (["--repeat", "0"], "--repeat is 0"),
        (["--out", "steer.txt"], "must end in .html or .json"),
    ],
)
def test_options_out_of_their_bounds_are_refused(words, told, capsys):
    assert cli(["live", "steer", *words]) == 2
    assert told in capsys.readouterr().err
