"""Mutated scenarios, traces, requests and captures: each is taken or refused as documented, and nothing else.

No traceback, no panic, no hang, no exit code but those of `weir --help`; a refusal says where, what and what
to do instead, a file that is written is whole, memory is bounded. Some hundreds in the normal run, 10,000 of
each kind in the slow one (`make test-mutated`).
"""

from __future__ import annotations

import json
import select
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mutated_inputs import KINDS, case

if TYPE_CHECKING:
    from collections.abc import Iterator

WORKER = Path(__file__).with_name("mutated_worker.py")
WORKERS = 2
HANG = 60.0
"""Seconds after which a case hangs: one of two or three commands, each of which answers within 20."""
RENEWED = 1000
"""Cases after which a worker is replaced, so that its memory says something of single cases."""
SHOWN = 2_000


@dataclass
class Found:
    """What came of many cases: how often each command ended with each exit code, and what was wrong."""

    codes: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    slowest: tuple[float, str] = (0.0, "")
    memory: int = 0

    def take(self, kind: str, number: int, judged: dict[str, Any]) -> None:
        for command, code, seconds in judged["codes"]:
            self.codes[f"{command}: {code}"] += 1
            self.slowest = max(self.slowest, (seconds, f"{command}, {kind} {number}"))
        self.memory = max(self.memory, judged["memory"])
        self.faults += [shown(kind, number, fault) for fault in judged["faults"]]

    def __str__(self) -> str:
        rows = ", ".join(f"{name} × {count:,}" for name, count in sorted(self.codes.items()))
        seconds, which = self.slowest
        return f"{rows}; the longest {seconds:.1f} s ({which}); at most {self.memory // 1024} MiB"


def shown(kind: str, number: int, fault: str) -> str:
    text = case(kind, number).mutated[:SHOWN]
    return f"{fault}\nagain: python tests/mutated_worker.py {kind} {number}\nof {text!r}"


def started() -> subprocess.Popen[str]:
    """Start a process that judges cases."""
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, WORKER], stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def answer(worker: subprocess.Popen[str], kind: str, number: int) -> str:
    """Return what a process says of a case; nothing if it dies of it, or hangs."""
    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdin.write(f"{kind} {number}\n")
    worker.stdin.flush()
    is_there = select.select([worker.stdout], [], [], HANG)[0]
    return worker.stdout.readline() if is_there else ""


def lost(worker: subprocess.Popen[str]) -> dict[str, Any]:
    """End a process that gave no answer, and judge its case by that."""
    try:
        fault = f"died with {worker.wait(1)}: "
    except subprocess.TimeoutExpired:
        fault = f"no answer in {HANG:g} s: "
        worker.kill()
    fault += worker.communicate()[1][-SHOWN:]
    return {"codes": [], "faults": [fault], "memory": 0}


def judged_by_one(kind: str, numbers: range) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield what came of each case, by one process after the other."""
    worker = started()
    for age, number in enumerate(numbers, start=1):
        said = answer(worker, kind, number)
        yield number, json.loads(said) if said else lost(worker)
        if said and age % RENEWED == 0:
            worker.communicate()
        if not said or age % RENEWED == 0:
            worker = started()
    worker.communicate()


def judge(kind: str, count: int) -> Found:
    """Give so many cases of a kind to some processes."""
    found = Found()

    def part(first: int) -> None:
        for number, judged in judged_by_one(kind, range(first, count, WORKERS)):
            found.take(kind, number, judged)

    with ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(part, range(WORKERS)))
    return found


def none_is_wrong(kind: str, count: int) -> None:
    found = judge(kind, count)
    sys.stdout.write(f"\n{count:,} mutated {kind}: {found}\n")
    assert not found.faults, f"{len(found.faults)} faults, such as:\n" + "\n\n".join(found.faults[:5])


@pytest.mark.parametrize("kind", KINDS)
def test_mutated_files_are_taken_or_refused(kind: str):
    none_is_wrong(kind, 75)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_ten_thousand_mutated_files_are_taken_or_refused(kind: str):
    none_is_wrong(kind, 10_000)
