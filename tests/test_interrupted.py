"""Ctrl-C at any moment: exit code 130, a line that says so, and no file of which nothing was finished."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import made_result
import network_results
import weir
from weir import cli, demo, simulation
from weir.results import page as report
from weir.results.verdict import verdict

NETWORK = """\
weir = 1
model = "network"
disciplines = ["fifo:limit=20pkt", "fq:depth=20pkt"]
network = { hosts = ["a", "b"] }
link = [{ from = "a", to = "b", rate = "1Mbit" }]
flow = [{ from = "a", to = "b", rate = "900kbit", size = "500B" }]
stop = { duration = "1s" }
"""
PORT = """\
weir = 1
model = "port"
disciplines = ["fifo", "sf"]
workload = { load = 0.5 }
"""
BEGUN = {
    "port": made_result.made(("fifo", "sf"), interrupted=True, messages=0, replications=0),
    "network": json.dumps({**json.loads(network_results.made()), "interrupted": True, "replications": 0}),
}


def test_it_is_answered_before_the_commands_are_loaded():
    program = (
        "import sys, weir.cli\n"
        "class Stop:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'typer': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Stop())\n"
        "weir.cli.main()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


def test_it_is_answered_while_the_command_line_itself_is_loaded():
    program = (
        "import runpy, sys\n"
        "class Stop:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'weir.cli': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Stop())\n"
        "runpy.run_module('weir', run_name='__main__')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


def test_little_is_loaded_before_it_is_answered():
    """Ctrl-C is the interpreter's until `weir.cli` is there: that takes no other module of some size."""
    root = str(Path(weir.__file__).parents[1])
    program = (
        f"import sys; sys.path.insert(0, {root!r}); before = set(sys.modules)\n"
        "import weir.cli; print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-Ic", program], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) <= {"__future__", "weir", "weir.cli"}


def test_it_is_answered_within_a_command(monkeypatch, capsys):
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, "run", stop)
    assert cli.run(["demo"]) == 130
    assert capsys.readouterr() == ("", "interrupted\n")


@pytest.fixture(params=BEGUN)
def begun(request, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Have the engine interrupted before anything is finished; return the model."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "network.toml").write_text(NETWORK)
    (tmp_path / "port.toml").write_text(PORT)

    class Engine:
        """What the compiled module does then."""

        def run(self, *_: object) -> str:
            return BEGUN[request.param]

    monkeypatch.setattr(simulation, "_weir", Engine())
    return request.param


@pytest.mark.parametrize("command", ["run", "compare"])
def test_where_nothing_was_finished_nothing_is_written(begun: str, command: str, capsys):
    arguments = [command, f"{begun}.toml", "--out", "r.json", "--out", "r.html", "--records", "items.csv"]
    assert cli.run(arguments) == 130
    assert capsys.readouterr() == ("", "interrupted: nothing was finished, and nothing was written\n")
    assert sorted(path.name for path in Path().iterdir()) == ["network.toml", "port.toml"]
    assert cli.run([*arguments, "--json"]) == 130
    assert weir.Result.from_json(capsys.readouterr().out).empty


def test_the_tour_writes_nothing_either(begun: str, capsys):
    assert begun in BEGUN
    assert cli.run(["demo"]) == 130
    assert "nothing was finished" in capsys.readouterr().err
    assert not Path("weir-demo.html").exists()


def test_no_check_is_said_to_hold_where_nothing_was_finished():
    for model in ("port", "network"):
        result = weir.Result.from_json(BEGUN[model])
        assert result.empty
        assert verdict(result) == "Interrupted before anything was finished."
        assert "self-checks hold" not in report.html(result)


def test_what_is_finished_is_not_empty():
    some = weir.Result.from_json(network_results.made(interrupted=True, replications=3))
    assert not some.empty
    assert not weir.Result.from_json(network_results.made()).empty
