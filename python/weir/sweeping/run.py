"""Sweeps: what is missing of the cells is played and kept, and their figures become one set.

A folder holds the logs of what was played, the plan, and the set, ``sweep.parquet``. The set is written
whole or not at all, and its bytes depend on the plan and on the engine alone: not on how many processes,
threads or shards have played, nor on how often they were killed. All cells have the same seed unless it is
an axis: in each replication they see the same arrivals.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import tempfile
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weir import _weir, axes
from weir.errors import ConfigError
from weir.extras import need
from weir.files import read_text, replacing, write_text
from weir.own import among, name_of, named
from weir.scenario import Scenario
from weir.settings import Setting
from weir.simulation import check_threads
from weir.sweeping.cluster import check_address, connected
from weir.sweeping.figure import WATCHED
from weir.sweeping.plan import Asked, Plan, make_plan
from weir.sweeping.table import FACTS, SweepResult, arrow, counts_of, widest_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

__all__ = ["SET", "merge", "read", "sweep", "swept"]

SET = "sweep.parquet"
"""The set, in the folder of a sweep."""
_PLAN = "plan.json"
_MOST = 64
"""How many times as many replications a precision may take."""


def sweep(
    scenario: Scenario | str | Path | Mapping[str, object],
    over: Mapping[str, Sequence[object] | str] | None = None,
    *,
    zip: Sequence[Sequence[str]] = (),  # noqa: A002 - as the option and the table call it
    cells: str | Path | None = None,
    leave_out: Sequence[str] = (),
    settings: Sequence[str] = (),
    seed: int | None = None,
    replications: int | None = None,
    precision: float | str | None = None,
    out: str | Path | None = None,
    threads: int | None = None,
    cluster: str | None = None,
    progress: Callable[[dict[str, Any]], None] | None = None,
) -> SweepResult:
    """Simulate a scenario over ranges of its keys and return the figures of all cells as one table.

    Parameters
    ----------
    scenario : Scenario, path or mapping
        What to begin with; its table ``[sweep]`` counts too.
    over : mapping, optional
        Keys with their values: lists, or texts such as ``"0.5:0.95:0.05"`` and ``"alpha:{1,3,10}"``. Values
        of ``discipline`` may be classes of your own (`weir.Discipline`), without ``out`` and ``cluster``.
    zip : sequence of sequences, optional
        Keys that advance together.
    cells : path, optional
        A CSV with keys in its first line, and a cell in each other.
    leave_out : sequence of str, optional
        Conditions such as ``"workload.load > 0.9"``; cells in which one holds are left out.
    settings : sequence of str, optional
        ``key=value`` for all cells, in place of the scenario's.
    seed : int, optional
        In place of the scenario's.
    replications : int, optional
        Of each cell, each as long as one of the scenario's own; as many as the scenario has if not given.
    precision : float or str, optional
        Cells get more replications until the interval of every mean time is at most this share of it, such
        as ``"1%"``.
    out : path, optional
        The folder in which replications are kept; what is there already is not played again. If not given,
        a folder that is removed when Python ends.
    threads : int, optional
        How many to use; never changes a result.
    cluster : str, optional
        ``local`` or the address of a Dask scheduler such as ``tcp://host:8786``: its workers play, and what
        they send back is kept here.
    progress : callable, optional
        Called some times a second with ``cells``, ``kept``, ``played``, ``total`` and ``widest``.

    Returns
    -------
    SweepResult
        The table of all figures; the best cells, the frontier.

    Raises
    ------
    ConfigError
        If an axis names no key, or the folder cannot be written. A cell that is refused or fails, as where
        a class of your own breaks the contract, is a row with the reason.
    """
    from weir.sweeping.plan import share_of

    text, name = _source(scenario)
    group = None if cells is None else axes.csv_group(read_text(Path(cells)), str(cells))
    asked = Asked(
        tuple(_axis(key, values) for key, values in (over or {}).items()),
        tuple(map(tuple, zip)),
        group,
        tuple(leave_out),
        replications,
        None if precision is None else share_of(precision, "precision"),
    )
    plan = make_plan(text, name, [Setting.read(each) for each in settings], asked, seed)
    folder = None if out is None else Path(out)
    return swept(plan, folder, threads=threads, cluster=cluster, progress=progress)


def _axis(key: str, values: Sequence[object] | str) -> axes.Axis:
    """Return an axis; classes of Python among the disciplines are added to those that are known."""
    if isinstance(values, list | tuple) and key == axes.ALONE:
        values = [name_of(each) if isinstance(each, str | type) else each for each in values]
    elif isinstance(values, list | tuple) and key == "disciplines":
        values = [
            [name_of(one) for one in each] if isinstance(each, list | tuple) else each for each in values
        ]
    return axes.make_axis(key, values, f"{key}={values}")


def _check_own(plan: Plan, out: Path | None, cluster: str | None) -> None:
    """Refuse classes of Python where what they did is kept beyond this process, or done in another."""
    written = [plan.base, *(axes.written(v) for g in plan.cells.groups for row in g.rows for v in row)]
    own = among(written)
    if not own or (out is None and cluster is None):
        return
    name = next(iter(named(own[0])))
    if cluster is not None:
        reason, remedy = "workers of a cluster do not have it", "leave out `cluster`"
    else:
        reason, remedy = (
            "what it does cannot be told from what it did when a replication was kept",
            "leave out `out`",
        )
    raise ConfigError(f"`{name}` is a class of Python: {reason}", remedy, plan.name)


def _source(scenario: Scenario | str | Path | Mapping[str, object]) -> tuple[str, str]:
    """Return the text and the name of a scenario."""
    match scenario:
        case Scenario():
            return scenario.text, scenario.name
        case str() | Path():
            return read_text(Path(scenario)), str(scenario)
    from weir import toml

    return toml.dumps(scenario), "scenario"


def swept(
    plan: Plan,
    out: Path | None,
    *,
    threads: int | None = None,
    alone: bool = False,
    shard: tuple[int, int] | None = None,
    cluster: str | None = None,
    most: int = _MOST,
    progress: Callable[[dict[str, Any]], None] | None = None,
    warn: Callable[[str], None] = lambda _: None,
) -> SweepResult:
    """Play what is missing of a plan, and make the set of it; of a shard, only play."""
    check_threads(threads)
    if shard is None:
        need("parquet", "the set of a sweep")
    _check_own(plan, out, cluster)
    if cluster is not None:
        check_address(cluster)
    cells = plan.engine  # which may be refused, before anything is written
    folder = _temporary() if out is None else out
    kept = _opened(folder, warn)
    _keep_plan(folder, plan)
    if shard is not None:
        cells = cells.some(list(range(shard[0] - 1, len(cells), shard[1])))
    elif (there := _there(kept, plan, folder)) is not None:
        return there
    if cluster is None:
        play = partial(kept.play, threads=threads, alone=alone, watched=list(WATCHED), progress=progress)
        cells, state = _played(kept, plan, cells, threads, most, play)
    else:
        with connected(cluster, threads, warn) as workers:
            cells, state = _played(
                kept, plan, cells, threads, most, lambda some: workers.play(kept, some, plan.name, progress)
            )
    interrupted = state["cells"] < len(cells)
    if interrupted or shard is not None:
        return SweepResult(plan, folder, state, interrupted, None, kept, cells, None)
    return _made(kept, plan, folder, state, cells, threads)


def _played(
    kept: _weir.Sweep,
    plan: Plan,
    cells: _weir.Cells,
    threads: int | None,
    most: int,
    play: Callable[[_weir.Cells], dict[str, Any]],
) -> tuple[_weir.Cells, dict[str, Any]]:
    """Play all cells; those that miss the precision again, with twice as many replications each time."""
    state = play(cells)
    if plan.precision is None or state["cells"] < len(cells):
        return cells, state
    begun = kept.replications(cells)
    counts, widths = list(begun), kept.widths(cells, list(WATCHED), threads)
    every = list(range(len(cells)))
    while True:
        wanting = [
            place
            for place, width in enumerate(widths)
            if width is not None and width > plan.precision and counts[place] * 2 <= begun[place] * most
        ]
        if not wanting:
            return cells.some(every, counts), state
        for place in wanting:
            counts[place] *= 2
        some = cells.some(wanting, [counts[place] for place in wanting])
        more = play(some)
        state["played"] += more["played"]
        if more["cells"] < len(some):
            state["cells"] -= len(some) - more["cells"]
            return cells, state
        for place, width in zip(wanting, kept.widths(some, list(WATCHED), threads), strict=True):
            # What was sampled once is exact: nothing is random in it.
            widths[place] = width


def merge(
    folders: Sequence[Path],
    out: Path,
    *,
    threads: int | None = None,
    warn: Callable[[str], None] = lambda _: None,
) -> SweepResult:
    """Put the shards of a sweep together, in another folder or in one of them, and make the set.

    Raises
    ------
    ConfigError
        If a folder is of no sweep, or of another one.
    """
    plans = [_plan_of(folder) for folder in folders]
    for folder, plan in zip(folders, plans, strict=True):
        if plan != plans[0]:
            raise ConfigError(
                f"is of another sweep than {folders[0]}", "merge the shards of one sweep", str(folder)
            )
    kept = _opened(out, warn)
    for folder in folders:
        if not (out.exists() and folder.samefile(out)):
            kept.merge(_opened(folder, warn))
    return swept(plans[0], out, threads=threads, warn=warn)


def read(folder: Path) -> SweepResult:
    """Return a sweep that was made, from its folder; nothing is played or looked at but the set.

    Raises
    ------
    ConfigError
        If the folder is of no sweep, or its set is of another plan.
    """
    plan = _plan_of(folder)
    there = _there(_weir.Sweep(str(folder)), plan, folder, with_files=True)
    if there is None:
        raise ConfigError(
            "has no set, or one of another plan", "give the command of the sweep again", str(folder)
        )
    return there


def _opened(folder: Path, warn: Callable[[str], None]) -> _weir.Sweep:
    kept = _weir.Sweep(str(folder))
    asides, damaged = kept.passed_over()
    for path, reason in asides:
        warn(f"{path} {reason}: it is left alone, and what it holds is played again")
    if damaged:
        warn(
            f"{folder}: {damaged:,} bytes of its logs are damaged or cut off: what they held is played again"
        )
    return kept


def _keep_plan(folder: Path, plan: Plan) -> None:
    with _writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        path, text = folder / _PLAN, plan.to_json()
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            write_text(path, text)


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Say what to do where a folder cannot be written, as the engine does of its logs."""
    try:
        yield
    except (OSError, ConfigError) as error:
        cause = error if isinstance(error, OSError) else error.__cause__
        if not isinstance(cause, OSError):
            raise
        remedy = "name another folder with `--out`"
        if cause.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
            remedy = "make room and give the same command again: what was finished is kept"
        elif cause.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
            remedy = "name a folder that may be written, with `--out`"
        reason = (cause.strerror or str(cause)).lower()
        raise ConfigError(f"cannot be written: {reason}", remedy, str(folder)) from error


def _plan_of(folder: Path) -> Plan:
    path = folder / _PLAN
    if not path.exists():
        raise ConfigError(
            "is no folder of a sweep", "name one that `weir sweep --shard` has made", str(folder)
        )
    return Plan.from_json(read_text(path), str(path))


def _made(
    kept: _weir.Sweep,
    plan: Plan,
    folder: Path,
    state: dict[str, Any],
    cells: _weir.Cells,
    threads: int | None,
) -> SweepResult:
    """Make the set: whole, and on the disk, or not at all."""
    import pyarrow.parquet as pq

    columns, rows, replications, has_files = kept.table(cells, threads)
    facts = {"replications": replications, "plan": _made_of(plan), "files": has_files}
    table = arrow(plan, columns, rows, facts)
    with _writing(folder), replacing(folder / SET) as part:
        pq.write_table(table, part, compression="zstd")
        _sync(part)
    _sync(folder)
    return SweepResult(plan, folder, state, False, widest_of(table), kept, cells, table)


def _made_of(plan: Plan) -> str:
    """Return digits that change with whatever the set of a plan depends on, but for files of data."""
    version = f"{_weir.__version__} {_weir.Sweep.version()}"
    return hashlib.sha256(f"{version}\n{plan.to_json()}".encode()).hexdigest()[:16]


def _there(kept: _weir.Sweep, plan: Plan, folder: Path, *, with_files: bool = False) -> SweepResult | None:
    """Return the sweep of a set that was made of this very plan, and of no file that may have changed.

    Then all replications were there, and neither they nor their cells are looked at. ``with_files`` takes a
    set of this plan as it is, whatever became of the files.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / SET
    try:
        metadata = pq.read_schema(path).metadata or {}
        facts = json.loads(metadata.get(FACTS.encode(), b"{}"))
        if facts.get("plan") != _made_of(plan) or (facts["files"] and not with_files):
            return None
        table = pq.read_table(path)
    except (OSError, ValueError, KeyError, pa.ArrowException):
        return None  # is made anew
    count = facts["replications"]
    state = {"cells": len(plan.cells), "kept": count, "played": 0, "failed": 0, "elsewhere": 0}
    cells = plan.engine
    if plan.precision is not None:
        cells = cells.some(list(range(len(cells))), counts_of(table, len(cells)))
    return SweepResult(plan, folder, state, False, widest_of(table), kept, cells, table)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


_FOLDERS: list[tempfile.TemporaryDirectory[str]] = []
"""Removed when Python ends."""


def _temporary() -> Path:
    _FOLDERS.append(tempfile.TemporaryDirectory(prefix="weir-sweep-"))
    return Path(_FOLDERS[-1].name)
