"""Laws of the textbooks: explanations, and fits of measured times."""

import gzip
import json
import math
from pathlib import Path

import numpy as np
import pytest

import weir
from weir import cli
from weir.errors import ConfigError, TraceError
from weir.fitting import fit_column, unit_of
from weir.registry import law, laws

SERVER = """weir = 1
model = "server"
disciplines = ["cfcfs"]
[server]
cores = 1
[[class]]
name = "a"
{service}
[workload]
load = 0.5
"""


@pytest.fixture
def times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write 3,000 lognormal times of mean 2 ms and cv 1.5."""
    monkeypatch.chdir(tmp_path)
    sigma = math.sqrt(math.log(1 + 1.5**2))
    logarithms = np.random.default_rng(5).normal(math.log(2) - sigma**2 / 2, sigma, 3000)
    values = np.exp(logarithms).tolist()
    path = Path("times.csv")
    path.write_text("id,service_ms\n" + "".join(f"{i},{value!r}\n" for i, value in enumerate(values)))
    return path


def test_the_law_of_the_sample_is_the_best(times: Path) -> None:
    found = fit_column(times, "service_ms", replicates=49)
    assert (found.count, found.unit) == (3000, "ms")
    best = found.fits[0]
    assert best.name == "lognormal"
    assert best.mean == pytest.approx(2, rel=0.1)
    assert best.cv == pytest.approx(1.5, rel=0.15)
    assert best.p_value is not None
    assert best.p_value > 0.02
    assert [fit.aic for fit in found.fits] == sorted(fit.aic for fit in found.fits)
    assert all(fit.p_value is None for fit in found.fits[3:])
    again = fit_column(times, "service_ms", unit="ms", replicates=49)
    assert again == found


def test_lines_are_read_by_scenarios(times: Path) -> None:
    lines = [fit.line for fit in fit_column(times, "service_ms", replicates=1).fits if fit.line]
    assert len(lines) >= 5
    for line in lines:
        weir.Scenario.from_toml(SERVER.format(service=line))


def test_examples_of_laws_are_read_by_scenarios() -> None:
    assert {"lognormal", "pareto", "phase_type", "mixture"} <= {row["name"] for row in laws()}
    for row in laws():
        weir.Scenario.from_toml(SERVER.format(service=f"service = {row['example']['written']}"))
    assert law("Bounded Pareto")["name"] == "bounded_pareto"
    assert law("lognormal")["example"]["cv"] == pytest.approx(1.5)
    with pytest.raises(ConfigError, match="no law is called `lognorml`"):
        law("lognorml")


def test_the_command_prints_three_laws_and_their_lines(
    times: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["fit", str(times), "--column", "service_ms", "--replicates", "9", "--plot"]
    assert cli.run([*command, "fit.svg"]) == 0
    told = capsys.readouterr().out
    assert "3,000 values of service_ms" in told or "3000 values of service_ms" in told
    assert told.count("service = {") == 3
    assert "service = { lognormal = { mean = " in told
    # The sample and three laws, and the lines of the key.
    drawn = Path("fit.svg").read_text()
    assert drawn.startswith("<svg")
    assert drawn.count("<polyline") == 8
    assert cli.run([*command, "fit.html"]) == 0
    assert "<svg" in Path("fit.html").read_text()
    capsys.readouterr()
    packed = Path("times.csv.gz")
    packed.write_bytes(gzip.compress(times.read_bytes()))
    assert cli.run(["fit", str(packed), "--column", "service_ms", "--replicates", "9", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["fits"][0]["name"] == "lognormal"


@pytest.mark.parametrize(
    ("text", "column", "expected"),
    [
        ("id,a_ms\n1,2\n", "b_ms", "the columns are `id`, `a_ms`"),
        ("a_ms\n1\n\n-2\n", "a_ms", "x.csv:4:1: a_ms is -2, must be a number above 0"),
        ("id,a_ms\n1,\n", "a_ms", "x.csv:2:2: a_ms is empty, must be a number above 0"),
        ("a_ms\n1\n2\n", "a_ms", "there are 2 values, must be at least 10"),
        ("a_ms\n" + "3\n" * 12, "a_ms", "all values are 3"),
        ("a\n1\n", "a", "the unit of column `a` is not known"),
    ],
)
def test_bad_input_is_refused(
    text: str,
    column: str,
    expected: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.csv").write_text(text)
    assert cli.run(["fit", "x.csv", "--column", column, "--plot", "fit.svg"]) == 2
    assert expected in capsys.readouterr().err
    assert not Path("fit.svg").exists()


def test_options_out_of_bounds_are_refused(times: Path) -> None:
    with pytest.raises(ConfigError, match="must be one of"):
        unit_of("a_ms", "h")
    with pytest.raises(ConfigError, match="from 1 to 10000"):
        fit_column(times, "service_ms", replicates=0)
    with pytest.raises(TraceError, match="cannot be read"):
        fit_column("none.csv", "service_ms")


def test_laws_are_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["explain", "law", "lognormal"]) == 0
    told = capsys.readouterr().out
    for part in ("exp(mu + sigma^2/2)", "0.001 to 100", "cv 1.5", "Johnson, Kotz, Balakrishnan"):
        assert part in told
    assert cli.run(["explain", "law", "pareto"]) == 0
    assert "skewness infinite" in capsys.readouterr().out
    assert cli.run(["explain", "law"]) == 0
    assert "hyperexponential" in capsys.readouterr().out
    assert cli.run(["explain", "law", "lognorml"]) == 2
    assert "did you mean `lognormal`?" in capsys.readouterr().err
    assert cli.run(["explain", "fifo", "lognormal"]) == 2
