"""Every example runs: scenario files, scripts, and the text that quotes them."""

import re
import runpy
import shlex
import sys
from pathlib import Path

import pytest

import weir
from weir.planning import opensm, request

EXAMPLES = Path(__file__).parents[1] / "examples"
SIZES = sorted((EXAMPLES / "message-sizes").glob("*.toml"))
TRACES = sorted((EXAMPLES / "inference-queue").glob("*.toml"))
UPLINK = EXAMPLES / "site-link" / "uplink.toml"


def small(path):
    """Return a scenario with a hundredth of its packets."""
    text = path.read_text(encoding="utf-8")
    shorter = re.sub(
        r"^packets = ([\d_]+)$", lambda found: f"packets = {int(found[1]) // 100}", text, flags=re.MULTILINE
    )
    assert shorter != text
    return weir.Scenario(shorter, str(path))


def command(capsys, monkeypatch, line):
    """Run `python FILE ...` as the README writes it, and return what it prints."""
    name, *arguments = shlex.split(line)[1:]
    monkeypatch.chdir(EXAMPLES.parent)
    monkeypatch.setattr(sys, "argv", [name, *arguments])
    runpy.run_path(name, run_name="__main__")
    return capsys.readouterr().out


def test_all_examples_are_here():
    assert len(SIZES) == 10
    assert [path.stem for path in TRACES] == ["code", "conv"]


@pytest.mark.parametrize("path", SIZES, ids=lambda path: path.stem)
def test_message_sizes_run(path):
    result = weir.run(small(path))
    assert result.unstable is None
    assert result.load == pytest.approx(float(path.stem.split("-")[1]))
    slowdowns = [result.estimate(name, metric="slowdown").value for name in result.disciplines]
    assert all(value >= 1 for value in slowdowns)
    assert slowdowns[-1] < slowdowns[0]


@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.stem)
def test_inference_queues_run(path):
    result = weir.run(path)
    assert result.load == pytest.approx(0.8)
    mean = {name: result.estimate(name, metric="wait").value for name in result.disciplines}
    most = {name: result.estimate(name, metric="wait", statistic="max").value for name in result.disciplines}
    assert mean["sjf"] < mean["alpha:512"] < mean["fifo"]
    assert most["fifo"] < most["alpha:512"] < most["sjf"]


@pytest.mark.parametrize(
    "story", ["core-steering", "inference-pool", "inference-queue", "site-link", "subscribers", "task-set"]
)
def test_the_advice_in_the_readme_is_what_the_script_prints(capsys, monkeypatch, story):
    readme = (EXAMPLES / story / "README.md").read_text(encoding="utf-8")
    line = re.search(r"^\$ (python .*)$", readme, re.MULTILINE)[1]
    quoted = re.search(r"```text\n(.*?)```", readme, re.DOTALL)[1]
    assert command(capsys, monkeypatch, line) == quoted


def test_the_subscribers_in_the_folder_are_what_the_script_writes(capsys, monkeypatch, tmp_path):
    written = tmp_path / "subscribers.csv"
    command(capsys, monkeypatch, f"python examples/subscribers/network.py --out {written}")
    kept = EXAMPLES / "subscribers" / "subscribers.csv"
    assert written.read_text(encoding="utf-8") == kept.read_text(encoding="utf-8")
    readme = (EXAMPLES / "subscribers" / "README.md").read_text(encoding="utf-8")
    quoted = re.search(r"```text\n(name,.*?)```", readme, re.DOTALL)[1].splitlines()
    assert set(quoted) <= set(kept.read_text(encoding="utf-8").splitlines())


def test_advice_says_when_nothing_fits(capsys, monkeypatch):
    line = "python examples/inference-queue/advise.py examples/inference-queue/conv.toml --p90 0.1 --max 1"
    assert "none of these. Nearest is" in command(capsys, monkeypatch, line)


def test_the_advice_for_a_line_says_when_nothing_fits(capsys, monkeypatch):
    line = "python examples/site-link/protect.py examples/site-link/uplink.toml --max 1"
    assert "none of these. Nearest is priority, 10.1 ms" in command(capsys, monkeypatch, line)


def test_a_hash_can_put_the_controllers_behind_a_copy():
    text = UPLINK.read_text(encoding="utf-8").replace("replications = 128", "replications = 1")
    result = weir.run(weir.Scenario(text, str(UPLINK)), seed=9)
    largest = {
        name.partition("(")[0].partition(":")[0]: result.estimate(
            name, statistic="max", class_="control"
        ).value
        for name in result.disciplines
    }
    assert largest["priority"] < largest["drr"] < 0.02 < largest["sfq"] < 0.04
    assert largest["fq_codel"] == pytest.approx(0.56, abs=0.01)
    assert largest["fifo"] > 3


def test_the_line_to_paste_makes_a_queue():
    readme = (EXAMPLES / "inference-queue" / "README.md").read_text(encoding="utf-8")
    line = re.search(r"^ *(queue = weir\.Queue.*)$", readme, re.MULTILINE)[1]
    names = {"weir": weir}
    exec(line, names)  # noqa: S102 - the line that users paste
    queue = names["queue"]
    queue.put("long", size=4000)
    queue.put("short", size=40)
    assert queue.get_nowait() == "short"


def test_deciles_are_printed(capsys, monkeypatch, tmp_path):
    path = EXAMPLES / "message-sizes" / "w3-0.5.toml"
    scenario = tmp_path / "small.toml"
    data = (EXAMPLES.parent / "data").as_posix()
    scenario.write_text(small(path).text.replace("../../data", data), encoding="utf-8")
    script = EXAMPLES / "message-sizes" / "deciles.py"
    lines = command(capsys, monkeypatch, f"python {script} {scenario}").splitlines()
    assert lines[1].split() == ["size", "fifo", "rr", "rr_head", "alpha:1", "alpha:10", "alpha:100", "sf"]
    assert len(lines) > 4


def test_the_tables_of_the_subnet_are_those_of_its_files(tmp_path):
    folder = EXAMPLES / "infiniband"
    planned = tmp_path / "qos.conf"
    planned.write_text(request.emit(folder / "request.toml", "opensm").text, encoding="utf-8")
    port = opensm.Port(mtu="4096B", capacity=16)
    specs = [
        weir.Scenario.from_toml(opensm.convert(file, "scenario", port=port)).disciplines[0]
        for file in (folder / "opensm.conf", planned)
    ]
    # Nothing is sent in the lanes from 4 on, which have no channel there.
    simulated = [re.sub(r"\b[4-7]@\d+cr", "-", spec) for spec in specs]
    assert weir.Scenario.from_file(folder / "fabric.toml").disciplines == tuple(simulated)
    assert opensm.lint(planned, port) == []
    assert {each["rule"] for each in opensm.lint(folder / "opensm.conf", port)} >= {
        "starvation",
        "over-capacity",
        "weight-below-mtu",
        "level-masked",
    }
