"""What a message takes and a scheduling costs, from counters: the function, the file and the command."""

import json
import math
from pathlib import Path

import pytest

import weir
from weir import cli
from weir.errors import ConfigError
from weir.overhead import read, seconds

MESSAGE_TIME = 552.2e-6
OVERHEAD = 129e-6
HEAD = "run_time,messages,schedulings"


def counted(slice_length: float, **errors: float) -> weir.Counters:
    schedulings = 0.961 / slice_length
    messages = (0.961 - schedulings * OVERHEAD) / MESSAGE_TIME
    return weir.Counters(run_time=0.961, messages=messages, schedulings=schedulings, **errors)


def line(row: weir.Counters) -> str:
    return f"{row.run_time!r},{row.messages!r},{row.schedulings!r}"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path("counters.csv")
    path.write_text("\n".join([HEAD, line(counted(0.096)), line(counted(0.001)), ""]))
    return path


def test_two_settings_tell_both() -> None:
    found = weir.estimate_overhead([counted(0.096), counted(0.001)])
    assert found.overhead.value == pytest.approx(OVERHEAD)
    assert found.message_time.value == pytest.approx(MESSAGE_TIME)
    assert found.overhead.low is None
    assert found.method is None
    assert found.reason is not None


def test_standard_errors_give_intervals() -> None:
    found = weir.estimate_overhead([counted(length, run_time_error=1e-3) for length in (0.096, 0.001)])
    assert found.overhead.low is not None
    assert found.overhead.high is not None
    assert found.overhead.low < OVERHEAD < found.overhead.high
    assert found.correlation is not None
    assert -1 <= found.correlation < 0
    assert found.method == "given standard errors"


def test_a_known_time_of_a_message_needs_one_setting() -> None:
    row = counted(0.001)
    found = weir.estimate_overhead([row], message_time=MESSAGE_TIME)
    assert found.overhead.value == pytest.approx(OVERHEAD)
    assert found.settings[0].sensitivity == pytest.approx(-row.messages / row.schedulings)


def test_mappings_are_settings_too() -> None:
    rows: list[weir.Counters | dict[str, float]] = [
        {"run_time": 0.9, "messages": 1500.0, "schedulings": 25},
        counted(0.001),
    ]
    assert math.isfinite(weir.estimate_overhead(rows).overhead.value)
    with pytest.raises(ConfigError, match="has no schedulings"):
        weir.estimate_overhead([{"run_time": 0.9, "messages": 1500.0}])
    with pytest.raises(ConfigError, match="slices, which is unknown"):
        weir.estimate_overhead([{"run_time": 1.0, "messages": 1.0, "schedulings": 1.0, "slices": 1.0}])


@pytest.mark.parametrize("value", [math.nan, math.inf, -1.0])
def test_what_is_no_number_is_refused(value: float) -> None:
    with pytest.raises(ConfigError, match="messages of setting 1"):
        weir.estimate_overhead([weir.Counters(run_time=1, messages=value, schedulings=1), counted(0.01)])


def test_run_times_in_another_unit_are_refused() -> None:
    wrong = weir.Counters(run_time=961.0, messages=1738.0, schedulings=10.0)
    with pytest.raises(ConfigError, match="run_time of setting 2 is 961, must be at most 1") as refused:
        weir.estimate_overhead([counted(0.01), wrong])
    assert refused.value.remedy == "write 0.961 for 961 ms/s"
    assert weir.estimate_overhead([weir.Counters(run_time=1, messages=9, schedulings=1)], 0.1).overhead


def test_settings_that_do_not_differ_are_refused() -> None:
    with pytest.raises(ConfigError, match="the same number of schedulings for each message") as refused:
        weir.estimate_overhead([counted(0.01), counted(0.01)])
    assert "differ in the slice" in str(refused.value.remedy)


def test_times_are_read_with_their_unit() -> None:
    assert seconds("552.2us") == pytest.approx(MESSAGE_TIME)
    assert seconds("1 ms") == pytest.approx(1e-3)
    for text in ("552.2", "us", "-1us", "1e3us", ""):
        with pytest.raises(ConfigError, match="must be a number with s, ms, us or ns"):
            seconds(text)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "column run_time is missing"),
        ("run_time,messages\n", "column schedulings is missing"),
        (f"{HEAD},messages\n", "column messages appears 2 times"),
        (f"{HEAD},cpu\n", "column 'cpu' is unknown"),
        (f"{HEAD}\n1,2\n", "counters.csv:2: row has 2 cells, must have 3"),
        (f"{HEAD}\n1,2,3\n1,two,3\n", "counters.csv:3: messages is 'two'"),
        (f"{HEAD}\n961,2,3\n", "counters.csv:2: run_time is 961, must be at most 1"),
        (f"{HEAD}\n1,nan,3\n", "counters.csv:2: messages is 'nan'"),
        (f'{HEAD}\n1,"2,3\n', "is not CSV"),
        (f"{HEAD}\n1,2,3\n", "settings are 1, must be at least 2"),
    ],
)
def test_a_wrong_file_is_refused_where_it_is_wrong(
    file: Path, capsys: pytest.CaptureFixture[str], text: str, told: str
) -> None:
    file.write_text(text)
    assert cli.run(["overhead", str(file)]) == 2
    assert told in capsys.readouterr().err


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        read(tmp_path / "none.csv")
    (tmp_path / "bytes.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="not text in UTF-8"):
        read(tmp_path / "bytes.csv")


def test_the_command_shows_both(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["overhead", str(file)]) == 0
    shown = capsys.readouterr().out
    assert "overhead of a scheduling: 129.0 µs" in shown
    assert "time of a message:        552.2 µs" in shown
    assert "intervals:                none" in shown
    assert "e-" not in shown  # what two equations leave over is rounding


def test_the_command_prints_json(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["overhead", str(file), "--message-time", "552.2us", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["unit"] == "s"
    assert told["overhead"]["value"] == pytest.approx(OVERHEAD)
    assert told["overhead"]["low"] is not None
    assert len(told["settings"]) == 2
