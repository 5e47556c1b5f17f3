"""What a router says on standard error: with time and level, and never at the cost of packets."""

import fcntl
import json
import os
import re
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

from live_bed import Bed, drain
from weir.live.namespaces import RUN

_LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z (error|warning|notice|info|debug): .")
_QUEUE = 1024


@contextmanager
def _started(
    bed: Bed, *options: str, stderr: int, **more: dict[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a router whose standard error is this, and wait until it answers."""
    path = bed.write(bed.configuration())
    command = [str(bed.weird), "route", str(path), *options]
    bed.router = bed.site.start("r", command, stdin=subprocess.DEVNULL, stderr=stderr, **more)
    deadline = time.monotonic() + 15
    while not bed.ready():
        assert time.monotonic() < deadline
        assert bed.router.poll() is None
        time.sleep(0.01)
    yield bed.router


def _full_pipe() -> tuple[int, int]:
    """Return both ends of a pipe without room."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
    os.write(writer, b"x" * 4095 + b"\n")
    return reader, writer


def _ask(bed: Bed, request: dict[str, str], count: int) -> None:
    """Ask the same many times over one connection."""
    with socket.socket(socket.AF_UNIX) as made:
        made.connect(str(RUN / bed.name / "control"))
        made.settimeout(30)
        answers = made.makefile("rb")
        for _ in range(count):
            made.sendall(json.dumps(request).encode() + b"\n")
            assert json.loads(answers.readline())["answer"] == "done"


def test_a_reader_who_does_not_read_stops_nothing(bed: Bed) -> None:
    reader, writer = _full_pipe()
    with _started(bed, stderr=writer) as router:
        os.close(writer)
        receiver, sender = bed.receiver(), bed.sender()
        # Each is a message; all of them are more than wait.
        _ask(bed, {"request": "drain", "interface": bed.left.interface, "resume": True}, _QUEUE + 100)
        for number in range(100):
            bed.send(sender, number, 200)
        bed.idle()
        assert len(drain(receiver)) == 100
        with os.fdopen(reader, "r") as said:
            for line in said:
                if "messages were lost: the reader of standard error is too slow" in line:
                    break
            else:
                raise AssertionError("nothing is said of what was lost")
            assert _LINE.match(line), line
            assert bed.ctl("stop").returncode == 0
            rest = said.read()
        assert all(_LINE.match(line) for line in rest.splitlines()), rest
        assert router.wait(10) == 0


def test_it_ends_though_nobody_reads(bed: Bed) -> None:
    reader, writer = _full_pipe()
    with _started(bed, stderr=writer) as router:
        os.close(writer)
        router.terminate()
        assert router.wait(15) == 0
        os.close(reader)


def test_levels_leave_out_what_matters_less(bed: Bed) -> None:
    path = bed.folder / "router.err"
    for level, words in (
        ("error", set()),
        ("notice", {"notice"}),
        ("info", {"info", "notice"}),
        ("debug", {"debug", "info", "notice"}),
    ):
        with path.open("wb") as file:
            options = ("--log-level", level)
            with _started(bed, *options, stderr=file.fileno()) as router:
                assert bed.ctl("stop").returncode == 0
                assert router.wait(15) == 0
        lines = [_LINE.match(line) for line in bed.messages().splitlines()]
        assert all(lines), bed.messages()
        # Warnings are about the machine, which may have nothing to be warned of.
        assert {line[1] for line in lines if line} - {"warning"} == words


def test_the_journal_is_given_priorities(bed: Bed) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        found = os.fstat(theirs.fileno())
        environment = {**os.environ, "JOURNAL_STREAM": f"{found.st_dev}:{found.st_ino}"}
        with _started(bed, stderr=theirs.fileno(), env=environment) as router:
            assert bed.ctl("stop").returncode == 0
            assert router.wait(15) == 0
        theirs.close()
        with ours.makefile("r") as read:
            lines = read.read().splitlines()
    assert any(re.match(r"<5>router \S+: running as process \d+$", line) for line in lines), lines
    assert any(re.match(r"<6>interface ", line) for line in lines), lines
