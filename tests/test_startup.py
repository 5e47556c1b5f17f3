"""The command line starts fast because it loads the large libraries only where they are used."""

import subprocess
import sys

LARGE = {"altair", "numpy", "pandas", "perfetto", "polars", "pyarrow", "vl_convert"}


def test_the_command_line_starts_without_the_large_libraries() -> None:
    program = f"import sys, weir.cli.commands; print(*sorted({LARGE!r} & set(sys.modules)))"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert loaded.stdout.split() == []
