"""`weir live steer` with short windows: a whole report, requests accounted for, nothing left behind."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from weir.live.namespaces import JOURNALS, RUN

_QUICK = ("--window", "200ms", "--repeat", "1")


def _start(*words: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(part for part in sys.path if part)}
    command = [sys.executable, "-m", "weir", "live", "steer", *words]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )


def _left(process: int) -> list[str]:
    """Return what a run has in namespaces, folders and journals."""
    namespaces = [each.name for each in Path("/run/netns").glob(f"weir-{process}-*")]
    folders = [str(each) for each in RUN.glob(f"t{process}-*")]
    return [*namespaces, *folders, *(str(each) for each in JOURNALS.glob(f"{process}-*"))]


def _until(there: bool, process: int) -> list[str]:
    deadline = time.monotonic() + 60
    while bool(left := _left(process)) != there and time.monotonic() < deadline:
        time.sleep(0.05)
    return left


def test_the_report_is_complete_and_nothing_is_left(tmp_path: Path) -> None:
    page = tmp_path / "steer.html"
    run = _start(*_QUICK, "--json", "--out", str(page))
    told, errors = run.communicate(timeout=180)
    assert run.returncode in {0, 1}, errors
    made = json.loads(told)
    many = len(made["plan"]["processors"])
    assert len(made["runs"]) == (8 if many > 1 else 2)
    for each in made["runs"]:
        assert each["requests"]["unaccounted"] == each["requests"]["waiting"] == 0, each
        assert each["requests"]["served"] > 0.2 * each["requests"]["sent"], each
    assert made["costs"]["served"]["unit"]["value"] > 0
    assert all(cell["simulated"]["value"] is not None for cell in made["cells"])
    first = [cell for cell in made["cells"] if cell["policy"] == "RR"]
    assert all(cell["measured"]["value"] > 0 for cell in first)
    assert all(cell["round_trip"]["value"] > cell["measured"]["value"] for cell in first)
    assert len(made["orderings"]) == 13
    for row in made["orderings"]:
        assert (row["measured"]["holds"] is None) == (row["measured"]["reason"] is not None), row
    assert page.read_text().count("<figure>") == 4
    assert _left(run.pid) == []


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_nothing_is_left_behind(how: signal.Signals) -> None:
    run = _start()
    assert _until(True, run.pid), run.communicate()
    time.sleep(2)
    assert run.poll() is None, run.communicate()
    run.send_signal(how)
    told = run.communicate(timeout=60)
    assert _until(False, run.pid) == [], told
    processes = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert f"t{run.pid}-" not in processes
