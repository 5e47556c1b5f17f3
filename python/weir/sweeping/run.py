"""Sweeps: what is missing of the cells is played and kept, and their figures become one set.

A folder holds the logs of what was played, the plan, and the set, ``sweep.parquet``. The set is written
whole or not at all, and its bytes depend on the plan and on the engine alone: not on how many processes,
threads or shards have played, nor on how often they were killed. All cells have the same seed unless it is
an axis: in each replication they see the same arrivals.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weir import _weir
from weir.errors import ConfigError
from weir.extras import need
from weir.files import read_text, replacing, write_text
from weir.scenario import Scenario
from weir.settings import Setting
from weir.simulation import check_threads
from weir.sweeping import axes
from weir.sweeping.figure import WATCHED
from weir.sweeping.plan import Asked, Plan, make_plan
from weir.sweeping.table import SweepResult, arrow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

__all__ = ["SET", "merge", "sweep", "swept"]

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
    progress: Callable[[dict[str, Any]], None] | None = None,
) -> SweepResult:
    """Simulate a scenario over ranges of its keys and return the figures of all cells as one table.

    Parameters
    ----------
    scenario : Scenario, path or mapping
        What to begin with; its table ``[sweep]`` counts too.
    over : mapping, optional
        Keys with their values: lists, or texts such as ``"0.5:0.95:0.05"`` and ``"alpha:{1,3,10}"``.
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
    progress : callable, optional
        Called some times a second with ``cells``, ``kept``, ``played``, ``total`` and ``widest``.

    Returns
    -------
    SweepResult
        The table of all figures; the best cells, the frontier.

    Raises
    ------
    ConfigError
        If an axis names no key, or the folder cannot be written.
    """
    from weir.sweeping.plan import share_of

    text, name = _source(scenario)
    group = None if cells is None else axes.csv_group(read_text(Path(cells)), str(cells))
    asked = Asked(
        tuple(axes.make_axis(key, values, f"{key}={values}") for key, values in (over or {}).items()),
        tuple(map(tuple, zip)),
        group,
        tuple(leave_out),
        replications,
        None if precision is None else share_of(precision, "precision"),
    )
    plan = make_plan(text, name, [Setting.read(each) for each in settings], asked, seed)
    return swept(plan, None if out is None else Path(out), threads=threads, progress=progress)


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
    most: int = _MOST,
    progress: Callable[[dict[str, Any]], None] | None = None,
    warn: Callable[[str], None] = lambda _: None,
) -> SweepResult:
    """Play what is missing of a plan, and make the set of it; of a shard, only play."""
    check_threads(threads)
    if shard is None:
        need("parquet", "the set of a sweep")
    folder = _temporary() if out is None else out
    kept = _opened(folder, warn)
    _keep_plan(folder, plan)
    places = range(len(plan.cells)) if shard is None else range(shard[0] - 1, len(plan.cells), shard[1])
    cells = [(plan.text(place), plan.replications) for place in places]
    cells, state, widest = _played(kept, plan, cells, threads, alone, most, progress)
    interrupted = state["cells"] < len(cells)
    if interrupted or shard is not None:
        return SweepResult(plan, folder, state, interrupted, widest, kept, tuple(cells), None)
    return _made(kept, plan, folder, state, cells, widest, threads)


def _played(
    kept: _weir.Sweep,
    plan: Plan,
    cells: list[tuple[str, int | None]],
    threads: int | None,
    alone: bool,
    most: int,
    progress: Callable[[dict[str, Any]], None] | None,
) -> tuple[list[tuple[str, int | None]], dict[str, Any], float | None]:
    """Play all cells; those that miss the precision again, with twice as many replications each time."""
    state = kept.play(cells, plan.name, threads, alone, list(WATCHED), progress)
    widest = state["widest"] and state["widest"][0]
    if plan.precision is None or state["cells"] < len(cells):
        return cells, state, widest
    begun = kept.replications(cells, plan.name)
    counts, widths = list(begun), kept.widths(cells, plan.name, list(WATCHED), threads)
    while True:
        wanting = [
            place
            for place, width in enumerate(widths)
            if width is not None and width > plan.precision and counts[place] * 2 <= begun[place] * most
        ]
        if not wanting:
            break
        for place in wanting:
            counts[place] *= 2
            cells[place] = (cells[place][0], counts[place])
        some = [cells[place] for place in wanting]
        more = kept.play(some, plan.name, threads, alone, list(WATCHED), progress)
        state["played"] += more["played"]
        if more["cells"] < len(some):
            state["cells"] -= len(some) - more["cells"]
            break
        for place, width in zip(wanting, kept.widths(some, plan.name, list(WATCHED), threads), strict=True):
            # What was sampled once is exact: nothing is random in it.
            widths[place] = width
    return cells, state, max((width for width in widths if width is not None), default=None)


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
    check_threads(threads)
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
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ConfigError(
            f"cannot be made: {reason}", "name another folder with `--out`", str(folder)
        ) from error
    path, text = folder / _PLAN, plan.to_json()
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        write_text(path, text)


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
    cells: Iterable[tuple[str, int | None]],
    widest: float | None,
    threads: int | None,
) -> SweepResult:
    """Make the set: whole, and on the disk, or not at all."""
    import pyarrow.parquet as pq

    cells = list(cells)
    columns, rows = kept.table(cells, plan.name, threads)
    table = arrow(plan, columns, rows)
    with replacing(folder / SET) as part:
        pq.write_table(table, part, compression="zstd")
        _sync(part)
    _sync(folder)
    return SweepResult(plan, folder, state, False, widest, kept, tuple(cells), table)


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
