"""The study of flows against queues: its scenarios, its tables, its page."""

import itertools
import json
import tomllib

import pytest

from network_results import document
from weir import NetworkResult
from weir.reproduce.sfq import study
from weir.reproduce.sfq.study import parts
from weir.reproduce.sfq.study.tables import colliding_share, tables


def result(run, flows=("victim", "other 1", "other 2")):
    """Return a result with the disciplines and intervals of a run, and some flows."""
    got = {name: (1e6, 4e5 / (1 + place), 0.1, 0.01) for place, name in enumerate(flows)}
    written = run.changes.get("measure", {}).get("intervals", [])
    edges = [float(edge.removesuffix("s")) for edge in written]
    whole = (0.0, float(run.changes["stop"]["duration"].removesuffix("s")))
    intervals = (whole, *itertools.pairwise(edges))
    figures = {
        spec: {name: [each] * len(intervals) for name, each in got.items()} for spec in run.disciplines
    }
    made = document(figures, intervals=intervals, replications=run.changes["stop"]["replications"])
    return NetworkResult(json.dumps(made))


@pytest.fixture(scope="module")
def made():
    planned = iter(parts.runs())
    return study.run(runner=lambda *_, **__: result(next(planned)))


def test_every_scenario_is_the_template_with_other_flows():
    for run in parts.runs():
        scenario = tomllib.loads(parts.scenario(run))
        assert scenario["disciplines"] == list(run.disciplines)
        assert scenario["reference"] in scenario["disciplines"]
        assert scenario["link"] == tomllib.loads(parts.template_path().read_text())["link"]
        assert sum(entry.get("count", 1) for entry in scenario["flow"]) == run.flows
        assert run.packets > 0


def test_quick_is_part_of_the_whole():
    quick, whole = parts.runs(quick=True), parts.runs()
    assert {(run.part, run.label) for run in quick} < {(run.part, run.label) for run in whole}
    assert sum(run.packets for run in quick) < sum(run.packets for run in whole) / 10


def test_attacks_collide_as_they_say():
    def number(address):
        return int.from_bytes(bytes(address), "big")

    pairs = {label: [(number(a), number(b)) for a, b in each] for label, each in parts.ATTACKS.items()}
    victim = number((10, 0, 0, 1)) ^ number((10, 1, 0, 1))
    assert {source ^ destination for source, destination in pairs["equal xor"]} == {victim}
    assert {(a << 16 | a >> 16) % 2**32 ^ b for a, b in pairs["equal rotated xor"]} == {
        (number((0, 1, 10, 0))) ^ number((10, 1, 0, 1))
    }
    assert {(source ^ destination) % 1024 for source, destination in pairs["high bits"]} == {victim % 1024}
    assert len({(source ^ destination) % 1024 for source, destination in pairs["none"]}) > 4
    assert all(len(set(each)) == 8 for each in pairs.values())


@pytest.mark.parametrize(("flows", "queues", "share"), [(4, 9, 0.298), (2, 2, 0.5), (1, 9, 0.0)])
def test_the_exact_share_of_colliding_flows(flows, queues, share):
    assert parts.colliding(flows, queues) == pytest.approx(share, abs=1e-3)


def test_flows_that_get_less_than_a_turn_collide():
    run = next(each for each in parts.runs() if each.part == "collisions")
    assert colliding_share(result(run), run.disciplines[0]) == pytest.approx(2 / 3)


def test_all_parts_have_their_tables(made):
    titles = [table.title for table in tables(made)]
    assert len(titles) == 2 + 1 + 2 + 1 + 2
    text = made.text()
    assert text.count("| discipline |") == 2 + 1
    assert "29.8 %" in text  # four flows in nine queues: 70 % are alone
    assert "nan" not in text


def test_the_page_needs_nothing_else(made, tmp_path):
    made.write_html(tmp_path / "study.html")
    page = (tmp_path / "study.html").read_text(encoding="utf-8")
    assert "src=" not in page.partition("<script>")[0]
    charts = json.loads(page.partition('id="charts">')[2].partition("</script>")[0])
    assert len(charts) == 2


def test_an_interrupted_study_keeps_what_is_finished():
    planned = iter(parts.runs())

    def runner(*_, **__):
        run = next(planned)
        found = result(run)
        return found if run.flows < 64 else NetworkResult(json.dumps({**found.document, "interrupted": True}))

    made = study.run(runner=runner)
    assert [run.flows for run in made.results] == [4, 16]
