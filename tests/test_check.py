"""Plans held against their simulation, and the scenarios that are written of plans and options files."""

import dataclasses
import json
import tomllib
from pathlib import Path

import pytest

import weir
from weir import cli
from weir.errors import ConfigError
from weir.planning import check, opensm, request

ROOT = Path(__file__).resolve().parent.parent
CONFIGS = ROOT / "data" / "configs"


def asked(classes, *, entries=16, mtu="2048B", k=2, w=4, rate="10Gbit", coding="8b/10b"):
    """Return a request of classes, each written as its keys."""
    head = (
        f'weir = 1\n[table]\nentries = {entries}\nmtu = "{mtu}"\nk = {k}\nw = {w}\n'
        f'[link]\nrate = "{rate}"\ncoding = "{coding}"\n'
    )
    return head + "".join(f"[[class]]\n{each}\n" for each in classes)


PLAIN = (
    'name = "a \\u00fc"\nshare = "30%"',
    'name = "storage"\nshare = "45%"',
)
THREE = ('name = "control"\nshare = "6.25%"\nlatency = "25us"', *PLAIN)


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = Path("request.toml")
    path.write_text(asked(THREE))
    return path


def call(capsys, *arguments):
    code = cli.run([str(each) for each in arguments])
    return code, *capsys.readouterr()


@pytest.mark.parametrize(
    ("target", "text"),
    [
        (None, asked(THREE, mtu="4096B", entries=32, w=3, rate="100Gbit", coding="64b/66b")),
        (None, asked(THREE, mtu="256B", rate="1Gbit", coding="none")),
        ("opensm", asked(THREE)),
        ("pcie", asked(PLAIN, entries=8, w=2)),
        ("tc-drr", asked(THREE)),
    ],
)
def test_no_packet_waits_longer_than_its_bound(file, target, text):
    file.write_text(text)
    found = check.check(file, target=target)
    assert check.scheduler_of(target) == found.scheduler
    for row in found.classes:
        assert row.packets > 100
        assert row.largest <= row.bound
        # A bound that is far above whatever happens would say nothing.
        assert row.largest > 0.5 * row.bound
        assert row.p99 <= row.largest
    assert sum(row.share for row in found.classes) == pytest.approx(1, abs=1e-9)


def test_the_table_and_round_robin_share_as_planned(file):
    for target, own, whole in (
        ("scenario", "weight_credits", "weight_credits"),
        ("dcb", "quantum_credits", "frame_credits"),
    ):
        found = check.check(file, target=target)
        planned = request.plan(file, target)
        for row, of in zip(found.classes, planned["classes"], strict=True):
            assert row.share == pytest.approx(of[own] / planned[whole], rel=0.002)
            assert "share" not in row.failed


NARROW = (
    'name = "small"\nshare = "1.4%"\nlatency = "110us"',
    'name = "large"\nshare = "40%"',
    'name = "larger"\nshare = "45%"',
    'name = "rest"\nshare = "10%"',
)


def test_b7_the_percents_that_are_written_are_checked(file):
    """Finding B7: whole percents are searched that keep every need; bounds and check are of those."""
    file.write_text(asked(NARROW, entries=64, coding="none"))
    plan = request.plan(file, "dcb")
    percents = [row["percent"] for row in plan["classes"]]
    assert sum(percents) == 100
    written = " ".join(f"{lane}:{percent}" for lane, percent in enumerate(percents))
    assert f"tc-bw {written} " in request.emit(file, "dcb").text
    found = check.check(file, target="dcb")
    assert found.is_met
    for row, percent in zip(found.classes, percents, strict=True):
        assert row.share == pytest.approx(percent / 100, rel=0.005)
        assert row.asked is None or row.largest <= row.bound <= row.asked


def test_b7_shares_that_no_whole_percents_keep_are_not_met(capsys, file):
    """Finding B7: rounded up they come to 101 %."""
    file.write_text(
        asked([f'name = "{n}"\nshare = "{share}%"' for n, share in enumerate((33.4, 33.4, 32.2))], w=16)
    )
    code, out, _ = call(capsys, "plan", file, "--target", "dcb", "--check")
    assert code == 1
    assert "whole percents are written" in " ".join(out.split())
    assert "less is written than was asked for" in " ".join(out.split())


def test_what_fails_is_named():
    row = check.ClassCheck(
        name="a",
        asked_share=0.5,
        wanted=0.5,
        share=0.51,
        share_low=0.5,
        share_high=0.52,
        asked=None,
        bound=1e-5,
        largest=9e-6,
        p99=8e-6,
        packets=100,
        p99_at_load=None,
    )
    assert row.failed == ()
    changes = ({"asked_share": 0.6}, {"share_high": 0.49}, {"largest": 1.1e-5}, {"asked": 9e-6})
    assert [dataclasses.replace(row, **change).failed for change in changes] == [
        ("written",),
        ("share",),
        ("bound",),
        ("asked",),
    ]


def test_a_check_as_text(capsys, file):
    code, out, err = call(capsys, "plan", file, "--check")
    assert (code, err) == (0, "")
    assert "\ncheck, deficit table, seed 1:\n" in out
    assert out.endswith("\nall classes are met\n")


def test_a_class_that_is_planned_less_than_it_asked_for_is_named(capsys, file):
    shares = (("a", "50.1%"), ("b", "49.9%"))
    classes = [f'name = "{name}"\nshare = "{share}"' for name, share in shares]
    file.write_text(asked(classes, entries=4, k=1, w=2))
    code, out, _ = call(capsys, "plan", file, "--check")
    assert code == 0
    assert "note: `a` asked for 50.1% and gets 50%: weights are whole credits" in out
    assert "\nplanned and wanted is less than was asked for: a (50 % of 50.1 %)\n" in out
    row = json.loads(call(capsys, "plan", file, "--check", "--json")[1])["check"]["classes"][0]
    assert (row["asked_share"], row["wanted"]) == (0.501, 0.5)


def test_a_latency_that_the_target_does_not_bound(capsys, file):
    text = (ROOT / "examples" / "infiniband" / "request.toml").read_text(encoding="utf-8")
    file.write_text(text.replace("25us", "20us").replace('form = "opensm"', ""))
    assert call(capsys, "plan", file, "--check")[0] == 0
    code, out, _ = call(capsys, "plan", file, "--check", "--target", "opensm")
    assert code == 1
    assert "asks for 20us; at distance 8 the weighted table bounds it by 22.7" in out.replace("\n", " ")
    assert out.endswith("\nnot checked: not every class fits\n")


def test_a_check_as_json_is_the_same_for_any_number_of_threads(capsys, file):
    line = ("plan", file, "--check", "--target", "tc-ets", "--json", "--seed", 3, "--load", 0.5)
    told = [call(capsys, *line, "--threads", threads)[1] for threads in (1, 2)]
    assert told[0] == told[1]
    found = json.loads(told[0])["check"]
    assert (found["scheduler"], found["seed"], found["load"], found["met"]) == ("round_robin", 3, 0.5, True)
    assert [row["name"] for row in found["classes"]] == ["control", "a ü", "storage"]
    assert json.loads(call(capsys, "plan", file, "--json")[1]).keys() == {"plan", "target"}


def test_a_plan_that_is_refused_is_not_checked(capsys, file):
    file.write_text(asked((*THREE, 'name = "more"\nshare = "90%"')))
    code, out, _ = call(capsys, "plan", file, "--check")
    assert (code, out.splitlines()[-1]) == (1, "not checked: not every class fits")
    assert json.loads(call(capsys, "plan", file, "--check", "--json")[1])["check"] is None


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--load", 0.5), "--load is 0.5, and nothing is simulated"),
        (("--seed", 5), "--seed is 5, and nothing is simulated"),
        (("--check", "--load", 1), "load is 1.0, must be above 0 and below 1"),
        (("--check", "--load", "nan"), "load is nan, must be above 0"),
        (("--check", "--seed", -1), "seed is -1, must be from 0"),
        (("--check", "--threads", 0), "threads is 0, must be from 1"),
    ],
)
def test_options_of_a_check_are_checked(capsys, file, options, said):
    code, _, err = call(capsys, "plan", file, *options)
    assert code == 2
    assert said in err
    assert "  remedy: " in err
    with pytest.raises(ConfigError):
        check.scheduler_of("none")


@pytest.mark.parametrize(
    "text",
    [
        asked(THREE),
        asked(PLAIN, mtu="64B"),
        asked(PLAIN, mtu="400B"),
        asked(PLAIN, mtu="32768B", rate="1000Gbit", coding="none"),
        asked(PLAIN, mtu="5000B", rate="8Gbit", coding="128b/130b"),
        asked(PLAIN[1:], entries=1, k=64, w=64),
        asked(PLAIN, entries=512, k=64, w=64, rate="1250kbit"),
        asked([f'name = "{place}"\nshare = "{place + 1}.3%"' for place in range(12)], entries=64),
    ],
    ids=range(8),
)
def test_every_scenario_that_is_written_is_read(file, text):
    file.write_text(text)
    scenario = weir.Scenario.from_toml(request.emit(file, "scenario").text)
    assert scenario.model == "fabric"
    assert len(scenario.disciplines) == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (asked(PLAIN, mtu="40000B"), "the MTU is 40000B, at most 32768B are simulated"),
        (asked(PLAIN, rate="1Mbit"), "carries 800kbit of data"),
        (asked(PLAIN, rate="2000Gbit"), "carries 1600Gbit of data"),
        (asked(['name = "all"\nshare = "5%"']), "a class is called `all`"),
        (
            asked([f'name = "{place}"\nshare = "1%"' for place in range(17)], entries=64),
            "17 classes, at most 16",
        ),
    ],
)
def test_what_cannot_be_simulated_is_refused(capsys, file, text, said):
    file.write_text(text)
    for options in (("--target", "scenario"), ("--check",)):
        code, _, err = call(capsys, "plan", file, *options)
        assert code == 2
        assert said in err
        assert "  remedy: " in err


@pytest.mark.parametrize("name", ["opensm-qos-defaults.conf", "opensm-qos-example.conf"])
@pytest.mark.parametrize("rate", ["1250kbit", "10Gbit", "1000Gbit"])
def test_scenarios_of_options_files_are_read(name, rate):
    port = opensm.Port(mtu="4096B", capacity=16)
    text = opensm.convert(CONFIGS / name, "scenario", port=port, rate=rate)
    assert weir.Scenario.from_toml(text).model == "fabric"
    assert tomllib.loads(text)["fabric"]["link"]["rate"]


def test_a_link_that_cannot_be_simulated_is_refused():
    with pytest.raises(ConfigError, match="carries 800bit of data"):
        opensm.convert(CONFIGS / "opensm-qos-example.conf", "scenario", rate="1kbit")
