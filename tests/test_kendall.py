"""Queues in Kendall's notation: from the command line and from Python, without a file."""

import json
import math
from pathlib import Path

import pytest

import weir
from weir import cli


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = cli.run(["theory", *arguments])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_one_server_by_hand():
    found = weir.kendall("M/M/1", arrival="0.4/s", service="2s")
    values = {each.metric: each.value for each in found.figures}
    expected = {
        "utilisation": 0.8,
        "probability_of_waiting": 0.8,
        "mean_wait": 8.0,
        "mean_response": 10.0,
        "mean_number_waiting": 3.2,
        "mean_number_in_system": 4.0,
        "wait_p50": 10 * math.log(0.8 / 0.5),
        "wait_p90": 10 * math.log(0.8 / 0.1),
        "wait_p99": 10 * math.log(0.8 / 0.01),
    }
    assert values == pytest.approx(expected, rel=1e-9)
    assert {each.status for each in found.figures} == {"exact"}
    assert all(each.source for each in found.figures)


def test_a_time_or_a_rate_is_the_same_service():
    by_time = weir.kendall("M/M/3+M", arrival="2.4k/s", service="1ms", patience="2ms")
    by_rate = weir.kendall("M/M/3+M", arrival="2400/s", service="1k/s", patience="500/s")
    assert by_time == by_rate
    assert [(each.name, each.unit) for each in by_time.parameters] == [
        ("arrival", "1/s"),
        ("service", "s"),
        ("patience", "s"),
    ]


def test_a_bound_is_told_from_an_approximation(capsys):
    arguments = (
        "G/G/2",
        "--arrival",
        "1.6/s",
        "--service",
        "1s",
        "--scv-arrival",
        "0.5",
        "--scv-service",
        "2",
    )
    code, out, _ = call(capsys, *arguments)
    assert code == 0
    assert "upper bound" in out
    assert "approximation" in out
    rows = json.loads(call(capsys, *arguments, "--json")[1])["figures"]
    waits = {row["status"]: row["value"] for row in rows if row["metric"] == "mean_wait"}
    assert waits == pytest.approx({"upper bound": 5.78125, "approximation": 20 / 9}, rel=1e-9)
    found = weir.kendall("G/G/2", arrival="1.6/s", service="1s", scv_arrival=0.5, scv_service=2)
    assert found.figure("mean_wait").status == "approximation"


@pytest.mark.parametrize(
    ("arguments", "message", "remedy"),
    [
        (["M/M/x"], "`M/M/x`, at character 5: `x` is no number of servers", "write a number"),
        (["M/M/3/"], "M/M/3 needs `arrival`, the rate of arrivals", "--arrival 2.4/s"),
        (["M/M/3", "--arrival", "2/s"], "M/M/3 needs `service`", "--service 1s"),
        (["M/M/3+M", "--arrival", "2/s", "--service", "1s"], "M/M/3+M needs `patience`", "--patience 1s"),
        (["M/G/1", "--arrival", "2/s", "--service", "9ms"], "M/G/1 needs `scv-service`", "--scv-service 1.5"),
        (["M/M/3", "--arrival", "2/s", "--service", "1s", "--batch", "2"], "no use for `batch`", "leave out"),
        (["M/M/3", "--arrival", "4.5/s", "--service", "1s"], "load is 1.5, must be below 1", "below 3/s"),
        (["M^5/M/1", "--arrival", "4/s", "--service", "100ms"], "load is 2, must be below 1", "below 2/s"),
        (["M/M/3", "--arrival", "4.5", "--service", "1s"], "arrival is `4.5`", "2.4/s"),
        (["M/M/3", "--arrival", "2/s", "--service", "0s"], "service is `0s`", "500ms"),
        (["M/M/3", "--arrival", "2/s", "--service", "1u"], "service is `1u`", "500ms"),
        (
            ["M/G/3/10", "--arrival", "2/s", "--service", "1s"],
            "no closed form is known of M/G/3/10",
            "M/M/3/10",
        ),
        (["MAP/M/1", "--arrival", "2/s", "--service", "1s"], "MAP/M/1 needs more than rates", "`MapM1`"),
        (["M/M/3", "--set", "seed=1"], "--set is of a scenario", "leave it out"),
        (["port.toml", "--service", "1s"], "--service is of a queue", "--set KEY=VALUE"),
        (["M/M/none.toml"], "M/M/none.toml", ""),
    ],
)
def test_what_is_wrong_is_said_with_a_remedy(capsys, arguments: list[str], message: str, remedy: str):
    code, out, err = call(capsys, *arguments)
    assert code == 2
    assert not out
    first, *rest = err.splitlines()
    assert first.startswith("error: ")
    assert message in first
    assert remedy in " ".join(rest)


def test_a_figure_that_is_not_known_is_refused_with_those_that_are():
    found = weir.kendall("M/D/1/5", arrival="2/s", service="1s")
    with pytest.raises(weir.ConfigError, match="no mean_wait is known of M/D/1/5"):
        found.figure("mean_wait")


def test_a_file_that_is_called_like_a_queue_is_a_file(
    capsys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "M").mkdir()
    (tmp_path / "M" / "port").write_text(
        'weir = 1\nmodel = "port"\ndisciplines = ["fifo"]\nworkload = { load = 0.5 }\n'
    )
    assert call(capsys, "M/port")[0] == 0


@pytest.mark.parametrize("text", ["M/" + "x" * 5000, "M/\0", "M/M/" + "9" * 500, "∞/∞/∞", "M/M/3/∞/∞/∞"])
def test_no_text_is_too_strange(capsys, text: str):
    assert call(capsys, text)[0] == 2
