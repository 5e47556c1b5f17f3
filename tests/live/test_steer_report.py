"""`weir live steer` with short windows: a whole report, requests accounted for, nothing left behind."""

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest

from live_runs import left, start, until

_QUICK = ("--window", "200ms", "--repeat", "1")


def test_the_report_is_complete_and_nothing_is_left(tmp_path: Path) -> None:
    page = tmp_path / "steer.html"
    run = start("steer", *_QUICK, "--json", "--out", str(page))
    told, errors = run.communicate(timeout=180)
    assert run.returncode in {0, 1}, errors
    assert told, errors
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
    assert left(run.pid) == []


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_nothing_is_left_behind(how: signal.Signals) -> None:
    run = start("steer")
    assert until(True, run.pid), run.communicate()
    time.sleep(2)
    assert run.poll() is None, run.communicate()
    run.send_signal(how)
    told = run.communicate(timeout=60)
    assert until(False, run.pid) == [], told
    processes = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert f"t{run.pid}-" not in processes
