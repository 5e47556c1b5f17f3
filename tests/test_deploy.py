"""What is installed next to the daemon: units, alerts, dashboards; each read by the program it is for."""

import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parent.parent
_DEPLOY = _ROOT / "deploy"
_PROGRAM = _ROOT / ".venv" / "bin" / "weird"
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


def _packed(folder: Path, **environment: str) -> Path:
    if not _PROGRAM.exists():
        pytest.skip("the daemon is not built: make weird")
    command = [sys.executable, _ROOT / "scripts" / "tarball", _PROGRAM, folder]
    subprocess.run(command, env={**os.environ, **environment}, check=True, capture_output=True, timeout=120)
    [archive] = folder.glob("weird-*.tar.gz")
    return archive


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _packed(tmp_path_factory.mktemp("tarball"))


@pytest.fixture(scope="module")
def usr(archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return what a machine has below `/usr` once the archive is unpacked there."""
    folder = tmp_path_factory.mktemp("usr")
    subprocess.run(["tar", "-C", folder, "--strip-components=1", "-xzf", archive], check=True, timeout=60)
    return folder


def test_the_archive_has_what_the_units_and_the_manual_name(usr: Path) -> None:
    files = {path.relative_to(usr).as_posix() for path in usr.rglob("*") if path.is_file()}
    for folder, path in (("systemd", "lib/systemd/system"), ("prometheus", "share/weird/prometheus")):
        assert {f"{path}/{file.name}" for file in (_DEPLOY / folder).iterdir()} <= files
    assert {"README", "bin/weird", "lib/sysusers.d/weir.conf", "lib/tmpfiles.d/weir.conf"} <= files
    assert {f"share/weird/grafana/{name}.json" for name in ("router", "steering")} <= files
    assert {f"share/doc/weird/{name}" for name in ("LICENSE-MIT", "LICENSE-APACHE", "operate.md")} <= files
    assert {f"share/man/man1/{name}.1" for name in ("weird", "weird-route", "weird-ctl")} <= files
    assert {"share/bash-completion/completions/weird", "share/zsh/site-functions/_weird"} <= files
    for unit in (usr / "lib" / "systemd" / "system").glob("*.service"):
        assert "/usr/bin/weird" in unit.read_text()
        assert "man:weird(1)" in unit.read_text()


def test_the_program_of_the_archive_runs_and_is_as_its_readme_says(usr: Path) -> None:
    program, readme = usr / "bin" / "weird", (usr / "README").read_text()
    assert _run(program, "--version").startswith("weird ")
    sections = _run("readelf", "--sections", "--wide", program)
    assert ".debug" not in sections
    assert ".symtab" not in sections
    for library in ("glibc 2.", "libelf.so.1", "libz.so.1"):
        assert library in readme
    examples = usr / "share" / "doc" / "weird" / "examples"
    _run(program, "route", "--check", examples / "edge.toml")


def test_the_archive_is_the_same_twice_and_owned_by_root(archive: Path, tmp_path: Path) -> None:
    assert _packed(tmp_path).read_bytes() == archive.read_bytes()
    with tarfile.open(archive) as packed:
        entries = packed.getmembers()
    assert [entry.name for entry in entries] == sorted(entry.name for entry in entries)
    assert {(entry.uid, entry.gid, entry.uname) for entry in entries} == {(0, 0, "root")}
    assert {entry.mode for entry in entries} == {0o644, 0o755}
    (tmp_path / "later").mkdir()
    later = _packed(tmp_path / "later", SOURCE_DATE_EPOCH="1700000000")
    with tarfile.open(later) as packed:
        assert {entry.mtime for entry in packed.getmembers()} == {1_700_000_000}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_reads_the_completions_of_the_daemon(shell: str, usr: Path) -> None:
    [script] = [
        path
        for path in usr.rglob("*weird*")
        if f"/{shell}/" in path.as_posix() or f"/{shell}-" in path.as_posix()
    ]
    _run(shell, "-n", script)


def test_bash_completes_the_commands_of_the_daemon(usr: Path) -> None:
    script = usr / "share" / "bash-completion" / "completions" / "weird"
    line = (
        f"source {script}; COMP_WORDS=(weird do) COMP_CWORD=1; _weird weird do weird; echo ${{COMPREPLY[@]}}"
    )
    assert _run("bash", "-c", line) == "doctor\n"


def test_the_manual_pages_of_the_daemon_are_sound(usr: Path) -> None:
    for page in sorted((usr / "share" / "man" / "man1").iterdir()):
        assert _run("groff", "-man", "-ww", "-z", "-Tutf8", page) == "", page.name
