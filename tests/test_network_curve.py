"""Rates of flows that follow the time: the load by window, what is said of it, and what is refused."""

import pytest

import weir
from test_records import NETWORK
from weir import cli

GAP = 'gap = { exponential = "1500us" }\n'
CURVE = 'curve = { factors = [["0s", 0.5], ["1s", 1.5]], period = "2s" }\n'
WINDOWS = '[measure]\nwindow = "100ms"\nover_time = true\n'


def scenario(gap: str = GAP, curve: str = CURVE) -> str:
    """Return a network whose first flow sends so, the second as before."""
    return NETWORK.replace(GAP, gap + curve, 1) + WINDOWS


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "n.toml").write_text(scenario())


def test_the_load_follows_the_curve():
    second = NETWORK[NETWORK.rindex("[[flow]]") : NETWORK.index("[stop]")]
    alone = scenario('gap = "1ms"\n').replace(second, "")
    result = weir.run(weir.Scenario.from_toml(alone, "n.toml"))
    name = result.disciplines[0]
    sent = result.windows.find(discipline=name, name=None, metric="sent", statistic="count")
    # A packet every 2 ms, then three in 2 ms; a departure on a boundary is of the window that begins there.
    assert [*sent.values[1:10], *sent.values[11:20]] == [50.0] * 9 + [150.0] * 9
    assert sum(sent.values) in {1999, 2000}
    # A packet takes 1 ms of the link.
    used = result.windows.find(discipline=name, name="r1-r2", metric="utilisation", statistic="mean")
    assert used.values[1:10] == pytest.approx([0.5] * 9, abs=0.011)
    assert used.values[11:20] == pytest.approx([1.0] * 9, abs=1e-9)


def test_what_a_curve_does_not_have_is_said_or_left_out(capsys):
    assert cli.run(["run", "n.toml"]) in {0, 1}
    out = " ".join(capsys.readouterr().out.split())
    assert "the rate of a to b follows a curve: figures are means over the measured time" in out
    assert "fair share" not in out
    assert not weir.run("n.toml").theory


def test_a_curve_of_one_rate_is_none():
    text = scenario(curve='curve = { factors = [["0s", 3.0], ["1s", 3.0]] }\n')
    plain, level = (weir.run(weir.Scenario.from_toml(each, "n.toml")) for each in (scenario(curve=""), text))
    for part in ("estimates", "windows", "totals", "differences"):
        assert level.document[part] == plain.document[part]


def test_only_drawn_packets_follow_a_curve():
    text = scenario("tcp = {}\n").replace('size = "1000B"\n', "", 1)
    with pytest.raises(weir.ScenarioError, match=r"n\.toml:26:9: flow\.curve has no effect with flow\.tcp"):
        weir.Scenario.from_toml(text, "n.toml")
