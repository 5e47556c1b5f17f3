"""The command line starts fast: it loads what a command needs, and large libraries where they are used."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from weir.cli.commands import GROUPS
from weir.models import MODELS

LARGE = {"altair", "numpy", "pandas", "perfetto", "polars", "pyarrow", "vl_convert"}
PORT = """\
weir = 1
model = "port"
disciplines = ["fifo"]
workload = { load = 0.5 }
stop = { packets = 10_000, replications = 2 }
"""


def _loaded(program: str) -> set[str]:
    """Return the modules that a program has loaded at its end."""
    program += "; import sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_the_command_line_starts_without_the_large_libraries() -> None:
    assert not LARGE & _loaded("from weir.cli.commands import application; application()")


def test_a_command_loads_its_own_module_alone() -> None:
    loaded = _loaded("from weir.cli.commands import application; application('list')")
    assert {name for name in GROUPS if f"weir.cli.{name}" in loaded} == {"describe"}


def test_the_version_is_printed_without_the_libraries_of_commands() -> None:
    loaded = _loaded("from weir.cli import run; run(['--version'])")
    assert not {"typer", "pydantic", "rich"} & loaded


def test_a_run_loads_its_own_model_alone(tmp_path: Path) -> None:
    file = tmp_path / "port.toml"
    file.write_text(PORT)
    loaded = _loaded(f"from weir.cli import run; run(['run', {str(file)!r}])")
    assert {name for name in MODELS if f"weir.models.{name}.result" in loaded} == {"port"}


@pytest.mark.parametrize("name", GROUPS)
def test_every_module_adds_the_commands_that_are_said_to_be_its_own(name: str) -> None:
    app = typer.Typer()
    importlib.import_module(f"weir.cli.{name}").add_to(app)
    commands = typer.main.get_group(app).commands
    assert tuple(commands) == GROUPS[name]
