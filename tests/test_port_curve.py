"""A port whose rate follows the time: what is said of it, closed forms that do not hold, windows."""

import pytest

import weir
from weir import cli

CURVE = 'curve = { factors = [["0u", 0.5], ["1000u", 1.5]], period = "2000u" }\n'
TEXT = """weir = 1
model = "port"
disciplines = ["fifo", "sf"]
[workload]
load = 0.6
"""


def scenario(curve: str = CURVE, rest: str = "") -> weir.Scenario:
    """Return a port whose messages come so."""
    return weir.Scenario.from_toml(TEXT + curve + rest, "p.toml")


def test_the_load_is_said_and_no_closed_form_is_shown(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.toml").write_text(TEXT + CURVE)
    assert cli.run(["run", "p.toml"]) in {0, 1}
    out = " ".join(capsys.readouterr().out.split())
    assert (
        "the rate follows workload.curve: the load is 0.6000 over its period of 2000u, at most 0.9000" in out
    )
    result = weir.run("p.toml")
    assert len(result.notes) == 1
    assert all(row.value is None for row in result.theory)
    assert all(check.ok is not False for check in result.checks)
    assert not weir.run(scenario("")).notes


def test_a_burst_of_a_curve_is_called_one(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    curve = 'curve = { factors = [["0u", 3.0], ["1000u", 1.0]] }\n'
    (tmp_path / "p.toml").write_text((TEXT + curve).replace("0.6", "1.2"))
    assert cli.run(["run", "p.toml"]) in {0, 1}
    out = " ".join(capsys.readouterr().out.split())
    assert "the curve brings 120 % of the work that the server can do in its time" in out


def test_windows_follow_the_curve():
    result = weir.run(scenario(rest='[measure]\nwindow = "200u"\nover_time = true\n'))
    served = result.windows.find(discipline="fifo", name=None, metric="throughput", statistic="share")
    low, high = served.values[1:5], served.values[6:9]
    assert sum(low) / len(low) == pytest.approx(0.3, abs=0.1)
    assert sum(high) / len(high) == pytest.approx(0.9, abs=0.15)


def test_an_example_of_a_file(tmp_path):
    (tmp_path / "day.csv").write_text("time,rate\n0,100\n60,700\n120,100\n")
    (tmp_path / "p.toml").write_text(
        'weir = 1\nmodel = "port"\ndisciplines = ["fifo"]\n[workload]\n'
        'curve = { csv = { file = "day.csv", time_unit = "s", rate_unit = "/s" }, period = "180s" }\n'
        'lengths = { constant = "100B" }\n[service]\nrate = "1Mbit"\n'
    )
    result = weir.run(tmp_path / "p.toml")
    # 300 messages a second in the mean, of 0.8 ms each.
    assert result.load == pytest.approx(0.24)
    assert result.messages == pytest.approx(540_000, rel=0.01)


def test_a_steady_state_is_not_looked_for():
    with pytest.raises(weir.ScenarioError, match=r"p\.toml:8:11: stop\.warm_up is \"mser\", has no meaning"):
        scenario(rest='[stop]\nwarm_up = "mser"\n')
