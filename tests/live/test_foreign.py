"""What a daemon does about other users: names them, and trusts nothing that they may write to."""

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from live_bed import Bed

_NOBODY = 65534
_BIND = f"""
import os, socket, sys
os.setuid({_NOBODY})
made = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
made.bind("\\0weir/interface/" + sys.argv[1])
print("bound", flush=True)
sys.stdin.read()
"""


def _refused(bed: Bed, **more: dict[str, str]) -> str:
    """Return what a router says that does not start."""
    path = bed.write(bed.configuration())
    command = [str(bed.weird), "route", str(path)]
    started = bed.site.start("r", command, stderr=subprocess.PIPE, **more)
    _, told = started.communicate(timeout=15)
    assert started.returncode == 3, told
    return told.decode()


def test_who_keeps_an_interface_is_named(bed: Bed) -> None:
    interface = bed.left.interface
    command = [sys.executable, "-S", "-c", _BIND, interface]
    holder = bed.site.start("r", command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"bound\n"
    named = f"process {holder.pid} of user {_NOBODY} (`"
    assert f"interface {interface}: another process has it, {named}" in _refused(bed)
    doctor = bed.site.start("r", [str(bed.weird), "doctor", "--json"], stdout=subprocess.PIPE)
    findings = json.loads(doctor.communicate(timeout=60)[0])["findings"]
    found = [each for each in findings if each["area"] == "interfaces in use"]
    assert [(each["what"], each["state"]) for each in found] == [(interface, "warn")]
    assert named in found[0]["found"]
    assert f"`kill {holder.pid}`" in found[0]["remedy"]
    holder.kill()
    holder.wait()
    bed.start()


@pytest.mark.parametrize("where", ["base", "own"])
def test_a_run_directory_that_others_may_write_to_is_refused(bed: Bed, where: str) -> None:
    with TemporaryDirectory() as base:
        Path(base).chmod(0o777 if where == "base" else 0o755)
        path = Path(base)
        if where == "own":
            path = path / bed.name
            path.mkdir()
            path.chmod(0o777)
        told = _refused(bed, env={**os.environ, "WEIR_RUN_DIRECTORY": base})
    assert f"{path} is of mode 0777: whoever may write there" in told
    assert f"`chmod go-w {path}`" in told
