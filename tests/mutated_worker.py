"""A process that gives mutated cases to the commands, one after the other, and judges what they answer.

It reads ``KIND NUMBER`` from standard input, line by line, and writes a line of JSON for each. A case that
takes the process down, or hangs, is seen by who started it. ``python tests/mutated_worker.py KIND NUMBER``
shows one case.
"""

from __future__ import annotations

import fnmatch
import io
import json
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import unicodedata
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from documents import ROOT
from mutated_inputs import DATA_LINES, case
from weir import cli

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mutated_inputs import Case, Step

ROOM = 4 * 2**30
"""Bytes of address space that the process may have."""
PATIENCE = 2.0
"""Seconds after which a run is interrupted, as by Ctrl-C."""
LONGEST = 4_000
"""Characters of what is said when a file is refused."""
REFUSAL = re.compile(r"error: (?P<what>[^\n]+)\n  remedy: [^\n]+\n")


@dataclass
class Judged:
    """What came of a case: the commands with exit codes and seconds, and what is wrong with any of it."""

    kind: str
    number: int
    codes: list[tuple[str, int, float]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    memory: int = 0


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM))
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    with tempfile.TemporaryDirectory(prefix="mutated-") as scratch:
        folder = Path(scratch)
        shortened_data(folder / "shared" / "data")
        if len(sys.argv) > 1:
            made = case(sys.argv[1], int(sys.argv[2]))
            sys.stdout.write(f"{made.mutated.decode('utf-8', 'backslashreplace')}\n")
            judged = judge(sys.argv[1], int(sys.argv[2]), folder, show=True)
            sys.stdout.write(f"{json.dumps(asdict(judged), indent=1)}\n")
            return
        for line in sys.stdin:
            kind, number = line.split()
            answers.write(json.dumps(asdict(judge(kind, int(number), folder))) + "\n")
            answers.flush()


def shortened_data(target: Path) -> None:
    """Copy the data that scenarios name, without what makes runs long."""
    import gzip

    shutil.copytree(ROOT / "data", target)
    for path in [*target.glob("packets/*.csv"), *target.glob("requests/*.gz")]:
        opened = gzip.open if path.suffix == ".gz" else open
        with opened(path, "rt", encoding="utf-8") as source:
            kept = source.readlines()[:DATA_LINES]
        with opened(path, "wt", encoding="utf-8") as short:
            short.writelines(kept)


def judge(kind: str, number: int, scratch: Path, *, show: bool = False) -> Judged:
    """Run the commands of a case in a folder of its own."""
    made, judged = case(kind, number), Judged(kind, number)
    folder = scratch / "case"
    folder.mkdir()
    (folder / "data").symlink_to(scratch / "shared" / "data")
    for name, content in made.files.items():
        (folder / name).write_bytes(content)
    before = Path.cwd()
    os.chdir(folder)
    try:
        for place, step in enumerate(made.steps):
            if step.after and (place < step.after or judged_code(judged, place - step.after) != 0):
                judged.codes.append((step.arguments[0], -1, 0.0))
                continue
            take(step, made, judged, show=show)
    finally:
        os.chdir(before)
        shutil.rmtree(folder)
    judged.codes = [each for each in judged.codes if each[1] != -1]
    judged.memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return judged


def judged_code(judged: Judged, place: int) -> int:
    return judged.codes[place][1]


def take(step: Step, made: Case, judged: Judged, *, show: bool) -> None:
    """Run one command and write down what is wrong with it."""
    there = listing()
    began = time.monotonic()
    answer = answered(step)
    seconds = time.monotonic() - began
    command = " ".join(step.arguments[: 2 if step.arguments[0] == "import" else 1])
    judged.codes.append((command, answer.code, round(seconds, 3)))
    for fault in (*answer.faults(step), *left(step, answer, there)):
        judged.faults.append(f"weir {' '.join(step.arguments)}: {fault}")
    if show:
        sys.stdout.write(
            f"$ weir {' '.join(step.arguments)}\n{answer.out[-3000:]}{answer.err}"
            f"exit code {answer.code}, {seconds:.2f} s\n"
        )
    if made.name not in listing():
        judged.faults.append(f"weir {' '.join(step.arguments)}: its input is gone")


@dataclass
class Answer:
    """What a command wrote, how it ended, and what was raised out of it."""

    code: int
    out: str
    err: str
    raised: str
    interrupted: bool

    def faults(self, step: Step) -> Iterator[str]:
        if self.raised or "Traceback" in self.err or "panicked" in self.err:
            yield f"raised {self.raised}{self.err}"
            return
        allowed = {0, 1, 2} | ({130} if self.interrupted else set())
        if self.code not in allowed:
            yield f"exit code {self.code}: {self.err}"
        if self.code == 2 and step.is_ours:
            yield f"refuses what weir has written: {self.err}"
        yield from self._of_texts(step)

    def _of_texts(self, step: Step) -> Iterator[str]:
        control = {
            each for each in self.out + self.err if unicodedata.category(each) == "Cc" and each != "\n"
        }
        if control:
            yield f"control characters {sorted(control)} in {self.out[:500]!r} {self.err[:500]!r}"
        if self.code == 2:
            yield from self._of_refusal()
        elif self.err and self.code == 0:
            yield f"accepted, and complained {self.err!r}"
        if "--json" in step.arguments and not (self.interrupted and not self.out):
            yield from json_faults(self.out)

    def _of_refusal(self) -> Iterator[str]:
        said = REFUSAL.fullmatch(self.err)
        if said is None:
            yield f"no refusal with a remedy: {self.err[:1000]!r}"
        elif not any(each in said["what"] for each in ("--set", "data/", *listing())):
            yield f"a refusal without a place: {self.err[:1000]!r}"
        if len(self.err) > LONGEST:
            yield f"a refusal of {len(self.err):,} characters: {self.err[:300]!r}"


def json_faults(text: str) -> Iterator[str]:
    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is no JSON")

    try:
        json.loads(text, parse_constant=refuse)
    except ValueError as error:
        yield f"no JSON: {error}: {text[:500]!r}"


def answered(step: Step) -> Answer:
    """Run a command with its outputs in files, as a shell does."""
    with captured() as (out, err):
        began = time.monotonic()
        try:
            code, raised = ended(step)
        except KeyboardInterrupt:  # which came just when the command had ended
            code, raised = 130, ""
        interrupted = step.is_run and time.monotonic() - began >= PATIENCE
    return Answer(code, out.getvalue(), err.getvalue(), raised, interrupted)


def ended(step: Step) -> tuple[int, str]:
    """Run a command; return its exit code, and what it raised."""
    if step.is_run:
        signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    try:
        return cli.run(step.arguments), ""
    except KeyboardInterrupt:
        return 130, ""
    except BaseException:  # whatever it is, it is found
        return -2, traceback.format_exc()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


class Text:
    """What was written to a descriptor."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.file = tempfile.TemporaryFile()  # noqa: SIM115 - `end` closes it
        self.saved = os.dup(number)
        self.content = b""
        os.dup2(self.file.fileno(), number)

    def end(self) -> None:
        os.dup2(self.saved, self.number)
        os.close(self.saved)
        self.file.seek(0)
        self.content = self.file.read()
        self.file.close()

    def getvalue(self) -> str:
        return self.content.decode("utf-8", "backslashreplace")


@contextmanager
def captured() -> Iterator[tuple[Text, Text]]:
    """Send both outputs to files: descriptors too, to which the engine's own complaints go."""
    sys.stdout.flush()
    sys.stderr.flush()
    out, err = Text(1), Text(2)
    streams = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = stream(1, "strict"), stream(2, "backslashreplace")
    try:
        yield out, err
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        sys.stdout, sys.stderr = streams
        out.end()
        err.end()


def stream(descriptor: int, errors: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.FileIO(descriptor, "w", closefd=False), "utf-8", errors, write_through=True)


def listing() -> set[str]:
    return {str(path.relative_to(Path.cwd())) for path in Path.cwd().rglob("*") if path.parts[-1] != "data"}


def says_why(name: str) -> bool:
    """Return whether a file is a result that says that there is no steady state, which ends with 2 too."""
    if not name.endswith(".json"):
        return name in {"r.html", "r.csv", "r.parquet"}
    return bool(json.loads(Path(name).read_text(encoding="utf-8")).get("unstable"))


def left(step: Step, answer: Answer, there: set[str]) -> Iterator[str]:
    """Yield what is wrong with the files that a command has left: those of a refusal, and halves."""
    new = listing() - there
    if answer.code == 2 and not all(map(says_why, new)):
        yield f"refused, and wrote {sorted(new)}"
    for each in sorted(new):
        if not any(fnmatch.fnmatch(each, known) or each.startswith(f"{known}/") for known in step.writes):
            yield f"wrote {each}, which nobody asked for"
        if each.endswith(".json"):
            yield from json_faults(Path(each).read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
