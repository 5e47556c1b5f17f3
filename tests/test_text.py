"""Numbers and tables as text."""

import io

import pytest

import weir
from made_result import made
from weir import toml
from weir.errors import ConfigError
from weir.models.port.tables import comparison_columns
from weir.progress import line
from weir.results import terminal
from weir.results.tables import Column
from weir.text import absent, number, percent, quantity, scale_for, value_with_margin


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (12.3456, "12.35"),
        (0.00123456, "0.001235"),
        (123456.7, "123,457"),
        (-2.5, "-2.500"),
        (1e20, "1.000e+20"),
    ],
)
def test_numbers_have_four_digits(value: float, text: str):
    assert number(value) == text


@pytest.mark.parametrize(
    ("value", "low", "high", "text"),
    [
        (10.0, 9.95, 10.05, "10.000 ±0.050"),
        (1234.5, 1200.0, 1269.0, "1,234 ±34"),
        (5.0, None, None, "5.000"),
        (5.0, 5.0, 5.0, "5.000"),
        (1.1, 1.0, 1.3, "1.10 ±0.20"),
    ],
)
def test_a_margin_says_how_many_digits_are_known(
    value: float, low: float | None, high: float | None, text: str
):
    assert value_with_margin(value, low, high) == text


def test_units_are_scaled_to_the_column():
    assert quantity(0.0021, "s") == "2.100 ms"
    assert quantity(2.1, "u") == "2.100 u"
    assert quantity(0.3, "1") == "0.3000"
    assert scale_for([None, 1e-6, 2e-6], "s").unit == "µs"
    assert percent(-0.0412, signed=True) == "−4.1 %"
    assert absent("too few") == "n/a (too few)"


def printed(columns: list[Column], width: int, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("COLUMNS", str(width))
    out = io.StringIO()
    terminal.print_table(terminal.console(out), columns)
    return out.getvalue()


GOLDEN = """\
discipline    mean (u)  vs fifo  p99 (u)  max (u)  theory  at 99.9 %
fifo         107.0 ±1.1        –    494.3     1585   107.2  OK
alpha:10   68.00 ±0.68    −36 %    440.0     2284       –
sf         30.59 ±0.31    −71 %    608.4     3225   30.65  OK
"""


def test_the_comparison_is_a_table(monkeypatch: pytest.MonkeyPatch):
    result = weir.Result.from_json(made(("fifo", "alpha:10", "sf")))
    lines = printed(comparison_columns(result), 100, monkeypatch).splitlines()
    assert [each.split() for each in lines] == [each.split() for each in GOLDEN.splitlines()]


@pytest.mark.parametrize("width", [40, 50, 60, 80])
def test_a_narrow_terminal_gets_fewer_columns_and_is_told(width: int, monkeypatch: pytest.MonkeyPatch):
    result = weir.Result.from_json(made(("fifo", "alpha:10", "sf")))
    text = printed(comparison_columns(result), width, monkeypatch)
    assert all(len(each) <= width for each in text.splitlines())
    assert ("not shown at this width" in text) == (width < 80)
    assert "30.59 ±0.31" in text


def test_there_is_no_colour_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch):
    result = weir.Result.from_json(made(("fifo", "sf")))
    assert "\x1b" not in printed(comparison_columns(result), 100, monkeypatch)


def test_progress_tells_share_rate_and_rest():
    assert line(5e6, 2e7, 2.0, "packets") == " 25%  5 M packets  2.5 M/s  6 s left"
    assert line(500, 0, 2.0, "packets") == "500  packets  250 /s"
    assert "10 min 0 s left" in line(1e6, 7e6, 100.0, "packets")


def test_toml_holds_what_it_is_given():
    import tomllib

    document = {
        "weir": 1,
        "title": 'a "quoted" é 𝛼 \x7f\n',
        "flag": True,
        "list": ["fifo", 2, 0.5],
        "workload": {"load": 0.95, "arrivals": {"bursty": {"peak": 3.0}}},
        "empty": {},
    }
    assert tomllib.loads(toml.dumps(document)) == document
    tables = {
        "flow": [{"name": "a b", "trace": {"file": "x", "keep": {"dir": "f"}}}, {}],
        "stop": {"at": "1s"},
    }
    assert tomllib.loads(toml.dumps(tables)) == tables
    assert toml.dumps(tables).startswith(
        '\n[[flow]]\nname = "a b"\ntrace = {file = "x", keep = {dir = "f"}}\n'
    )
    with pytest.raises(ConfigError, match=r"workload\.load is nan"):
        toml.dumps({"workload": {"load": float("nan")}})
    with pytest.raises(ConfigError, match=r"inline\.key is None"):
        toml.dumps({"inline": [{"key": None}]})
