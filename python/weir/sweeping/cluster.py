"""Replications that are played by the workers of a Dask cluster; what comes back is kept here.

Workers get the text of a cell and which of its replications are wanting, and send their states back, so
that they need no folder of the sweep and no file system in common: the same version of weir, and files of
data at the same place. They may come, go and die: what a dead worker played is played again by another.
Some tenths of a second of replications are handed out at a time, and a few times as many as there are
threads to play them, so that memory is flat.

Nobody asks other processes by locks: two clusters in one folder play the same twice, and keep the same.
"""

from __future__ import annotations

import logging
import time
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from weir import _weir
from weir.errors import ConfigError
from weir.extras import need
from weir.text import plural

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["LOCAL", "Cluster", "check_address", "connected"]

LOCAL = "local"
_KINDS = ("tcp://", "tls://", "ucx://")
_LONG = 0.3
"""Seconds of replications that are handed out at a time."""
_MOST = 64
"""Replications that are handed out at a time."""
_AHEAD = 3
"""How many times as much is handed out as there are threads to play it."""
_ANSWER = "10s"
_LOOKED_EVERY = 1.0
_TOLD_EVERY = 0.1
_PATIENCE = 10.0
"""Seconds without a worker before that is reported."""

Key = tuple[str, int, int, int]
Played = list[tuple[int, bool, bytes]]


def check_address(address: str) -> str:
    """Refuse what is no address of a scheduler.

    Raises
    ------
    ConfigError
        If it is neither ``local`` nor such as ``tcp://host:8786``.
    """
    if address != LOCAL and not (address.startswith(_KINDS) and address.rpartition(":")[2].isdecimal()):
        raise ConfigError(
            f"--cluster is {address!r}, must be `local` or the address of a Dask scheduler",
            "write one such as `tcp://host:8786`, which `dask scheduler` prints",
        )
    return address


def play(
    text: str, name: str, folder: str, count: int | None, wanted: list[int]
) -> tuple[Key, Played, float]:
    """Play some replications of a cell, on a worker; return their key there, states and the seconds."""
    began = time.perf_counter()
    key, played = _weir.play_replications(text, name, folder, count, wanted)
    return key, played, time.perf_counter() - began


def play_all(tasks: list[tuple[str, str, str, int | None, list[int]]]) -> list[tuple[Key, Played, float]]:
    """Play what was handed out together."""
    return [play(*task) for task in tasks]


@dataclass
class _Unit:
    """Replications of one cell that are handed out."""

    place: int
    key: Key
    wanted: list[int]


class Cluster:
    """A cluster that plays cells.

    Parameters
    ----------
    client : distributed.Client
        Connected to its scheduler.
    address : str
        As it was given.
    warn : callable
        Called with what the user should know.
    """

    def __init__(self, client: Any, address: str, warn: Callable[[str], None]) -> None:  # noqa: ANN401
        self.client, self.address, self.warn = client, address, warn

    def play(
        self,
        kept: _weir.Sweep,
        cells: _weir.Cells,
        name: str,
        progress: Callable[[dict[str, Any]], None] | None,
    ) -> dict[str, Any]:
        """Play what is missing of the cells, and keep it; Ctrl-C ends it, as of `_weir.Sweep.play`.

        Raises
        ------
        ConfigError
            If the scheduler is gone, a worker is another version of weir or finds other files, or workers
            die of a cell. What came back before is kept.
        """
        played = _Play(self, kept, cells, name)
        try:
            played.run(progress)
        except KeyboardInterrupt:
            pass  # the state says that cells are missing
        finally:
            kept.sync()
        if played.deadly:
            first = " ".join(cells.text(played.deadly[0])[0].split())[:200]
            raise ConfigError(
                f"workers died of {plural(len(played.deadly), 'replication')}, each that tried; the first is "
                f"of the cell: {first}",
                "see the logs of the workers, which may lack memory; the same command plays what is missing",
            )
        return played.told()


class _Play:
    """Cells that are being played."""

    def __init__(self, cluster: Cluster, kept: _weir.Sweep, cells: _weir.Cells, name: str) -> None:
        self._cluster, self._kept, self._cells, self._name = cluster, kept, cells, name
        self._folder = str(Path(name).parent.resolve())
        self._workers = _Workers(cluster)
        self._units = self._wanting()
        # What was handed out, and what came back.
        self._out: dict[str, Any] = {}
        self._back: SimpleQueue[tuple[Any, list[_Unit]]] = SimpleQueue()
        # The seconds of a replication, about.
        self._each: float | None = None
        # Of each cell that is begun, how many replications are wanting.
        self._left: dict[int, int] = {}
        self._counts = {"cells": 0, "kept": 0, "played": 0, "failed": 0}
        # Places of cells of which workers died.
        self.deadly: list[int] = []

    def told(self) -> dict[str, Any]:
        """Return how far it is, as `_weir.Sweep.play` does."""
        return {**self._counts, "elsewhere": 0, "widest": None}

    def run(self, progress: Callable[[dict[str, Any]], None] | None) -> None:
        """Play until nothing is left."""
        tell = _Now(_TOLD_EVERY)
        look = _Now(_LOOKED_EVERY)
        self._hand_out()
        while self._out:
            if look.is_time():
                self._assert_there()
                self._workers.look()
                self._kept.sync()
            if progress is not None and tell.is_time():
                progress(self.told())
            self._take_back()
            self._hand_out()
        if progress is not None:
            progress(self.told())

    def _wanting(self) -> Iterator[_Unit]:
        """Yield what is wanting, a replication at a time."""
        for place in range(len(self._cells)):
            found = self._kept.wanting(self._cells, place)
            wanted = found[2] if found else []
            if found:
                self._counts["kept"] += found[1] - len(wanted)
            if not found or not wanted:
                self._counts["cells"] += 1
                continue
            self._left[place] = len(wanted)
            for replication in wanted:
                yield _Unit(place, found[0], [replication])

    def _hand_out(self) -> None:
        """Hand out as much as keeps all threads busy."""
        while len(self._out) < _AHEAD * max(self._workers.threads, 1):
            batch = self._batch()
            if not batch:
                return
            self._send(batch)

    def _batch(self) -> list[_Unit]:
        """Return what is handed out next: as much as takes some tenths of a second."""
        wanted = 1 if self._each is None else min(_MOST, max(1, round(_LONG / max(self._each, 1e-6))))
        batch: list[_Unit] = []
        for unit in islice(self._units, wanted):
            if batch and batch[-1].place == unit.place:
                batch[-1].wanted += unit.wanted
            else:
                batch.append(unit)
        return batch

    def _send(self, batch: list[_Unit]) -> None:
        tasks = []
        for unit in batch:
            text, count = self._cells.text(unit.place)
            tasks.append((text, self._name, self._folder, count, unit.wanted))
        future = self._cluster.client.submit(play_all, tasks, pure=False)
        self._out[future.key] = future
        future.add_done_callback(lambda done: self._back.put((done, batch)))

    def _take_back(self) -> None:
        """Keep what comes back, if something does in a while."""
        try:
            future, batch = self._back.get(timeout=_TOLD_EVERY)
        except Empty:
            return
        del self._out[future.key]
        if future.status == "finished":
            self._keep(batch, future.result())
        elif future.status == "error":
            self._failed(batch, future.exception())
        else:  # cancelled or lost
            self._assert_there()
            self._send(batch)

    def _keep(self, batch: list[_Unit], results: list[tuple[Key, Played, float]]) -> None:
        for unit, (key, played, seconds) in zip(batch, results, strict=True):
            if tuple(key) != unit.key:
                raise ConfigError(
                    f"a worker of {self._cluster.address} has another version of weir or other files of data",
                    "install the same version there, and put the files of data at the same place",
                )
            self._kept.keep(unit.key, played)
            self._counts["played"] += len(played)
            self._counts["failed"] += sum(not is_state for _, is_state, _ in played)
            each = seconds / len(played)
            self._each = each if self._each is None else self._each + (each - self._each) / 8
            self._left[unit.place] -= len(played)
            if not self._left[unit.place]:
                del self._left[unit.place]
                self._counts["cells"] += 1

    def _failed(self, batch: list[_Unit], error: BaseException) -> None:
        """Hand out again what workers died with, each replication by itself: one of them may be the cause."""
        from distributed.scheduler import KilledWorker

        if isinstance(error, ConfigError):
            raise error
        if not isinstance(error, KilledWorker):
            raise ConfigError(
                f"a worker of {self._cluster.address} cannot play: {type(error).__name__}: {error}",
                "install the same version of weir there; the same command plays what is missing",
            ) from error
        if len(batch) == 1 and len(batch[0].wanted) == 1:
            self.deadly.append(batch[0].place)
            return
        for unit in batch:
            for each in unit.wanted:
                self._send([_Unit(unit.place, unit.key, [each])])

    def _assert_there(self) -> None:
        """Refuse to wait for a scheduler that is gone."""
        if self._cluster.client.status != "running":
            address = self._cluster.address
            raise ConfigError(
                f"the scheduler at {address} is gone; {len(self._kept):,} replications are kept",
                "start a scheduler and workers, and give the same command: it plays what is missing",
            )


class _Now:
    """Says when it is time again."""

    def __init__(self, every: float) -> None:
        self._every, self._last = every, -every

    def is_time(self) -> bool:
        now = time.monotonic()
        if now - self._last < self._every:
            return False
        self._last = now
        return True


class _Workers:
    """How many threads there are to play, and a word where there are none."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.threads = 1
        self._since: float | None = None
        self._told = False

    def look(self) -> None:
        """Count them."""
        self.threads = sum(self._cluster.client.nthreads().values())
        if self.threads:
            self._since, self._told = None, False
            return
        now = time.monotonic()
        self._since = self._since or now
        if not self._told and now - self._since >= _PATIENCE:
            address = self._cluster.address
            self._cluster.warn(
                f"{address} has no workers: start some with `dask worker {address}`; this waits for them, "
                f"and Ctrl-C ends it"
            )
            self._told = True


@contextmanager
def connected(address: str, threads: int | None, warn: Callable[[str], None]) -> Iterator[Cluster]:
    """Yield the cluster at an address; a local one is started, with a process a thread, and ended.

    Raises
    ------
    ConfigError
        If no scheduler answers.
    MissingExtraError
        If Dask is not installed.
    """
    need("dask", "a cluster")
    distributed: Any = import_module("distributed")
    # What they log is said here in other words; some of the loggers have a level of their own.
    for name in logging.root.manager.loggerDict:
        if name.partition(".")[0] in {"distributed", "tornado"}:
            logging.getLogger(name).setLevel(logging.CRITICAL)
    local = None
    try:
        if address == LOCAL:
            local = distributed.LocalCluster(
                n_workers=threads, threads_per_worker=1, dashboard_address=None, silence_logs=logging.CRITICAL
            )
        client = distributed.Client(local or address, timeout=_ANSWER)
    except (OSError, TimeoutError) as error:
        raise ConfigError(
            f"no scheduler answers at {address} within {_ANSWER}",
            "start one with `dask scheduler`, and workers with `dask worker`",
        ) from error
    try:
        yield Cluster(client, address, warn)
    finally:
        client.close(timeout=5)
        if local is not None:
            local.close(timeout=5)
