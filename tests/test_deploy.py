"""What is installed next to the daemon: units, alerts, dashboards; each read by the program it is for."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

_DEPLOY = Path(__file__).resolve().parent.parent / "deploy"
_EXPOSURE = 19
"""The most that `systemd-analyze security` may find, in tenths: under 2.0."""


def _run(*command: str | Path) -> str:
    """Run a program that may not be there, and return what it said."""
    name = str(command[0])
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    return said


@pytest.mark.parametrize("name", ["weird-route@", "weird-steer@"])
def test_units_are_read_without_a_complaint_and_are_shut_in(name: str, tmp_path: Path) -> None:
    text = (_DEPLOY / "systemd" / f"{name}.service").read_text()
    unit = tmp_path / f"{name}edge.service"
    # The program and its manual are not installed here.
    lines = [line for line in text.splitlines() if not line.startswith("Documentation=")]
    unit.write_text("\n".join(lines).replace("/usr/bin/weird", "/bin/true"))
    assert _run("systemd-analyze", "verify", unit) == ""
    _run("systemd-analyze", "security", "--offline=yes", f"--threshold={_EXPOSURE}", unit)


def test_alerts_fire_when_they_should() -> None:
    rules = _DEPLOY / "prometheus"
    _run("promtool", "check", "rules", rules / "weir.rules.yaml")
    _run("promtool", "test", "rules", rules / "weir.tests.yaml")


@pytest.mark.parametrize("name", ["router", "steering"])
def test_dashboards_have_a_unit_on_every_axis(name: str) -> None:
    board = json.loads((_DEPLOY / "grafana" / f"{name}.json").read_text())
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"]) > 4
    for panel in board["panels"]:
        assert panel["fieldConfig"]["defaults"]["unit"], panel["title"]
