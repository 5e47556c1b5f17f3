"""The tests of XDP programs behind a dispatcher, on a kernel that lets programs take the place of functions.

``make test-dispatcher`` boots a kernel of the distribution in a virtual machine (`machine`) and runs
``tests/live/test_dispatcher.py`` in it, on the files of this checkout. ``KERNEL=FILE.deb`` names another
kernel. Exit code 1: a test failed or was skipped, or none was run.

Source: kernel, kernel/bpf/syscall.c: ``BPF_PROG_TYPE_EXT`` is refused where no trampolines are built in.
"""

import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from kernel_vm import machine

_ROOT = Path(__file__).resolve().parent.parent.parent
_FOLDER = Path("target/kernel-vm-dispatcher").resolve()
_PATIENCE = 3600
_ALL_PASSED = re.compile(r"^=+ [1-9]\d* passed in [^=]*=+$", re.MULTILINE)
"""The last line of pytest, where nothing failed or was skipped."""
_COLOURS = re.compile(r"\x1b\[[\d;]*m")


def main() -> int:
    """Run the tests, print what they said, and return the exit code."""
    machine.programs({"xdp-loader": "xdp-tools", "bpftool": "bpftool", "clang": "clang"})
    _FOLDER.mkdir(parents=True, exist_ok=True)
    files = machine.kernel(_FOLDER)
    # The machine has one processor, slowed down, so each test may take minutes of real time.
    pytest = f"-m pytest -p no:cacheprovider -v -rs --rootdir={_ROOT} {_ROOT}/tests/live/test_dispatcher.py"
    command = f"/usr/bin/env HYPOTHESIS_STORAGE_DIRECTORY=/run/examples {sys.executable} {pytest}"
    said = machine.boot(files, _FOLDER, command, patience=_PATIENCE, console=True)
    sys.stdout.write(said)
    return int(not all_passed(said))


def all_passed(said: str) -> bool:
    """Whether pytest says that tests were run and every one passed, and ended so."""
    plain = _COLOURS.sub("", said).replace("\r", "")
    return _ALL_PASSED.search(plain) is not None and "ended with code 0" in plain


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (machine.MachineError, subprocess.CalledProcessError) as error:
        sys.exit(f"error: {error}")
