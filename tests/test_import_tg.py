"""Scenarios made of TG scripts: what they say, what they name, and every refusal with a remedy."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import weir
from weir import _weir, cli
from weir.errors import ConfigError, ScenarioError, TraceError
from weir.importing import tg

STREAM = """\
on 15 udp 10.0.2.1.4000
at 5 setup
at 10 arrival exponential 0.007692 length 750 time 245
"""


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "stream.tg"
    path.write_text(STREAM)
    return path


def made(script: Path, text: str, **options: Any) -> dict[str, Any]:
    script.write_text(text)
    return tomllib.loads(tg.scenario(script, **options))


def test_the_facts_of_a_script(script: Path) -> None:
    told = tg.facts(script)
    assert (told["on"], told["protocol"], told["remote"], told["local"]) == (15, "udp", "10.0.2.1", None)
    assert (told["end"], told["largest_size"]) == (255.0, 782)
    assert told["expected_packets"] == pytest.approx(245 / 0.007692)
    (burst,) = told["bursts"]
    assert (burst["at"], burst["time"], burst["arrival"]) == (10.0, 245.0, "exponential 0.007692")


def test_a_scenario_of_a_script(script: Path) -> None:
    scenario = tomllib.loads(tg.scenario(script, rate="1344kbit", random="compatible"))
    assert scenario["model"] == "network"
    assert scenario["network"]["addresses"] == {"receiver": "10.0.2.1"}
    assert [link["rate"] for link in scenario["link"]] == ["13440kbit", "1344kbit"]
    assert scenario["flow"] == [
        {"from": "sender", "to": "receiver", "tg": {"file": "stream.tg", "random": "compatible"}}
    ]
    assert scenario["stop"] == {"duration": "255s"}


def test_the_script_is_named_from_the_folder_of_the_scenario(script: Path, capsys) -> None:
    Path("made").mkdir()
    assert cli.run(["import", "tg", str(script), "--out", "made/scenario.toml"]) == 0
    assert capsys.readouterr().out == "wrote made/scenario.toml\n"
    scenario = tomllib.loads(Path("made/scenario.toml").read_text())
    assert scenario["flow"][0]["tg"]["file"] == "../stream.tg"
    assert scenario["link"][1]["rate"] == "10Mbit"


def test_without_out_the_scenario_is_printed(script: Path, capsys) -> None:
    assert cli.run(["import", "tg", str(script), "--duration", "9s"]) == 0
    assert tomllib.loads(capsys.readouterr().out)["stop"]["duration"] == "9s"


def test_what_is_not_simulated_is_said(script: Path) -> None:
    script.write_text("on 1 tcp 1.2.3.4.5 6.7.8.9.10 ttl 3 arr 1 l 5 resp 7 packet 9")
    text = tg.scenario(script)
    for said in ("leave here on schedule", "Responses are not", "Not simulated: ttl 3.", "has no end"):
        assert said in text
    scenario = tomllib.loads(text)
    assert scenario["network"]["addresses"] == {"sender": "1.2.3.4", "receiver": "6.7.8.9"}
    assert scenario["stop"]["duration"] == "60s"


def test_fractions_of_a_second(script: Path) -> None:
    assert made(script, "on 1 udp 1.2.3.4.5 arr 1 l 5 time 1:00.25")["stop"]["duration"] == "60.25s"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("on 15 udp 10.0.2.1.4000 server at 1.1 wait", "only receives"),
        ("on 15 test 10.0.2.1.4000 arr 1 l 1", "sends nothing"),
        ("on 15 udp 10.0.2.1.4000", "sends nothing"),
    ],
)
def test_a_script_that_sends_nothing_is_refused(script: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said) as refused:
        made(script, text)
    assert refused.value.remedy
    assert refused.value.file == str(script)


@pytest.mark.parametrize(
    ("text", "end"), [("arr 1 l 5 time 0", "0"), ("at 99999 arr 1 l 5 time 2", "100001")]
)
def test_an_end_that_no_scenario_has_is_refused(script: Path, text: str, end: str) -> None:
    with pytest.raises(ConfigError, match=f"the script ends at {end} s") as refused:
        made(script, f"on 1 udp 1.2.3.4.5 {text}")
    assert refused.value.file == str(script)
    assert tg.scenario(script, duration="100000s")


@pytest.mark.parametrize(
    ("arrival", "options", "said"),
    [
        ("0.000000008", {}, "sends about 3.1e+10 packets in 245s, at most 4e+09 are simulated"),
        ("0.000000008", {"duration": "33s"}, "sends about 4.1e+09 packets in 33s"),
    ],
)
def test_more_packets_than_a_scenario_has_are_refused(
    script: Path, arrival: str, options: dict[str, str], said: str
) -> None:
    with pytest.raises(ConfigError, match=re.escape(said)) as refused:
        made(script, f"on 8 udp 10.0.0.1.4000 arrival {arrival} length 750 time 245", **options)
    assert refused.value.file == str(script)


def test_the_most_packets_are_what_a_scenario_takes(script: Path) -> None:
    script.write_text("on 8 udp 10.0.0.1.4000 arrival 0.000000008 length 750 time 245")
    Path("s.toml").write_text(tg.scenario(script, duration="32s"))
    weir.Scenario.from_file("s.toml")
    Path("s.toml").write_text(Path("s.toml").read_text().replace('"32s"', '"33s"'))
    with pytest.raises(ScenarioError, match="at most 4e9 are simulated"):
        weir.Scenario.from_file("s.toml")


@pytest.mark.parametrize(
    "options",
    [
        {"rate": "0bit"},
        {"rate": "fast"},
        {"rate": "9" * 99 + "bit"},
        {"random": "none"},
        {"duration": "1h"},
        {"duration": "0s"},
        {"duration": "1.5ns"},
        {"duration": "100000.1s"},
        {"duration": "9" * 99 + "s"},
    ],
)
def test_options_are_checked(script: Path, options: dict[str, str]) -> None:
    (name,) = options
    with pytest.raises(ConfigError, match=f"{name} is ") as refused:
        tg.scenario(script, **options)
    assert refused.value.remedy


def test_a_refused_script_has_its_place(script: Path, capsys) -> None:
    script.write_text("on 15 udp 10.0.2.1.4000\nat 5 setup\nat 10 arrival exponential 0.1 lenght 750\n")
    with pytest.raises(TraceError, match="expected `length`") as refused:
        tg.facts(script)
    assert (refused.value.line, refused.value.column, refused.value.value) == (3, 31, "lenght")
    assert cli.run(["import", "tg", str(script)]) == 2
    _, err = capsys.readouterr()
    assert re.search(r"^error: .*stream\.tg:3:31: found `lenght`", err, re.MULTILINE)
    assert "  remedy: " in err


def test_included_files_are_read_from_the_folder_of_the_script(script: Path, tmp_path: Path) -> None:
    (tmp_path / "common.tg").write_text("on 15 udp 10.0.2.1.4000")
    assert made(script, 'include "common.tg" arr 1 l 5 time 9')["stop"]["duration"] == "9s"
    for name, said in (("none.tg", "cannot be read"), ("stream.tg", "includes itself"), (".", "not a file")):
        script.write_text(f'include "{name}"')
        with pytest.raises(TraceError, match=said):
            tg.facts(script)


def test_a_script_that_is_not_there_is_said_not_to_be(script: Path, capsys) -> None:
    assert cli.run(["import", "tg", "nofile.tg"]) == 2
    assert capsys.readouterr().err == (
        "error: nofile.tg: does not exist\n  remedy: name an existing TG script\n"
    )
    with pytest.raises(ConfigError, match="is not a file"):
        tg.facts(script.parent)


def test_an_imported_scenario_can_be_compared_at_once(script: Path, capsys) -> None:
    script.write_text("on 1 udp 10.0.2.1.4000 at 1 arrival 0.1 length 100 time 5")
    assert cli.run(["import", "tg", str(script), "--out", "scenario.toml"]) == 0
    assert cli.run(["compare", "scenario.toml"]) == 0
    out = capsys.readouterr().out
    assert "fifo" in out
    assert "sfq" in out


def test_out_is_given_once(script: Path, capsys) -> None:
    assert cli.run(["import", "tg", str(script), "--out", "a.toml", "--out", "b.toml"]) == 2
    assert capsys.readouterr().err.startswith("error: --out is given 2 times, may be given once\n")
    assert [path.name for path in script.parent.iterdir()] == ["stream.tg"]


def test_what_is_no_script_is_refused(script: Path, tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none", Path("/dev/zero")):
        with pytest.raises(ConfigError):
            tg.facts(path)
    script.write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="UTF-8"):
        tg.facts(script)
    script.write_text(" " * (1 << 21))
    with pytest.raises(TraceError, match="at most 1048576"):
        tg.facts(script)


def test_the_printed_form_reads_the_same() -> None:
    told = json.loads(_weir.tg_parse(STREAM, "a.tg"))
    assert json.loads(_weir.tg_parse(told["text"], "a.tg")) == told
