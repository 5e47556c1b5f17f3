"""How far a result is to be trusted, in words: settled or not, checks held or not judged, chance or not.

A check whose tolerance is an interval fails one right figure in a thousand: that is said, and that a second
seed tells (`weir.simulation.confirm`). A check that the run is too short for is *not judged*, and counted.
"""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

from weir.text import number, plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from weir.results.result import Result
    from weir.results.rows import Check, TheoryValue

LEVEL = "99.9 %"
"""The level of the intervals that checks and closed forms are held against."""
LIMIT = 64
"""How many times as long ``--settle`` makes a run where ``stop.settle_limit`` says nothing."""
_MOST = 1e6
"""A run is never said to need more: beyond it nothing is known but that it is far too short."""
_CHANCE = "of right figures one in 1,000 fails this check"


def own(result: Result) -> str | None:
    """Return which disciplines are classes of Python, if any."""
    names = [f"`{name}`" for name in result.document.get("own", ())]
    if not names:
        return None
    listed = " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)
    return f"{listed} {'is a class' if len(names) == 1 else 'are classes'} of Python, and slow"


def unsettled(result: Result) -> str | None:
    """Return that figures are not settled, by how much the run is too short, and what to do, if so."""
    settling, lengthened = result.settling, result.lengthened
    if settling is None:
        return None
    least = "at least " if settling.longer >= _MOST else ""
    needed = f"the run must be {least}{number(settling.longer, 2)} times as long"
    others = settling.count - 1
    more = f" and {plural(others, 'other figure')}" if others else ""
    words = f"Not settled: {settling.figure}{more}"
    if lengthened is None:
        return f"{words}; {needed}{_remedy(result)}"
    after = f"after {plural(lengthened.times, 'time')} the scenario's length"
    if lengthened.reason:
        return f"{words}, {after}; {needed}, but: {lengthened.reason}"
    return f"{words}, {after}, the limit; {needed}: raise `stop.settle_limit`"


def _remedy(result: Result) -> str:
    """Return what makes a run longer: `--settle`, unless it ends by itself or has windows over time."""
    scenario = tomllib.loads(result.document["scenario"])
    if "trace" in scenario.get("workload", {}):
        return ", which takes a longer trace"
    if scenario.get("measure", {}).get("over_time"):
        return ": write a longer one in `[stop]`, since windows over time are those of one length"
    if result.settling is not None and result.settling.longer > LIMIT:
        return (
            f", more than the {LIMIT} times that `--settle` makes of it unless `stop.settle_limit` says more"
        )
    return f"; `weir run {_file(result)} --settle` runs as long as it takes"


def _file(result: Result) -> str:
    """Return the file of the scenario, to be written in a command."""
    file = str(result.document.get("file") or "")
    return file if file.endswith(".toml") else "FILE"


def lengthened(result: Result) -> str | None:
    """Return how long the run has become until its figures were settled, if that was asked for."""
    found = result.lengthened
    if found is None:
        return None
    if found.times == 1:
        return f"settled at the scenario's own length, {found.length}"
    return f"ran {found.times:,} times as long: {found.length}"


def certain(result: Result) -> str | None:
    """Return that nothing is random, where that is so."""
    if result.random:
        return None
    return "nothing is random between replications: one is run, and its figures have no ±"


def forms(result: Result) -> str | None:
    """Return how many closed forms the simulation agrees with, and how many are not judged."""
    tested = [row for row in result.theory if row.agrees is not None]
    unjudged = [row for row in result.theory if _is_open(row)]
    every = len(tested) + len(unjudged)
    if not every:
        return None
    agreeing = sum(1 for row in tested if row.agrees)
    agree = "agrees" if every == 1 else "agree"
    count = plural(every, "closed form")
    words = f"{agreeing} of {count} {agree} with the simulation"
    return words + _unjudged(unjudged)


def checks(result: Result) -> str | None:
    """Return how many self-checks hold, which failed, and how many are not judged."""
    every = len(result.checks)
    failed = [check for check in result.checks if check.ok is False]
    unjudged = [check for check in result.checks if check.ok is None]
    if failed:
        words = f"{len(failed)} of {plural(every, 'self-check')} failed: {failed[0].check}"
        return words + _unjudged(unjudged) + (_by_chance(result, failed) or "")
    if unjudged:
        hold = "holds" if every == 1 else "hold"
        return f"{every - len(unjudged):,} of {plural(every, 'self-check')} {hold}{_unjudged(unjudged)}"
    if every == 1:
        return "the self-check holds"
    return f"all {every:,} self-checks hold" if every else None


def _is_open(row: TheoryValue) -> bool:
    return row.agrees is None and (not row.settled or row.unjudged is not None)


def _unjudged(rows: Sequence[Check | TheoryValue]) -> str:
    """Return how many are not judged, and why the first is not."""
    if not rows:
        return ""
    reason = next((row.unjudged for row in rows if row.unjudged), None)
    return f", {len(rows):,} not judged" + (f" ({reason})" if reason else "")


def _by_chance(result: Result, failed: Iterable[Check]) -> str | None:
    """Return what chance has to do with checks that failed: nothing, if one of them cannot fail by chance."""
    if any(check.level is None for check in failed):
        return None
    confirmation = result.confirmation
    if confirmation is None:
        return f"; {_CHANCE}: `weir run {_file(result)} --confirm` runs a second seed"
    again = [row for row in confirmation.checks if row.again]
    if not again:
        return f"; with a second seed, {confirmation.seed}, it holds: {_CHANCE} by chance"
    return f"; with a second seed, {confirmation.seed}, it fails again, which is no chance: report it"
