"""The compiled part of weir; use the package `weir`, which re-exports what is public."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, Final, Self, final

__all__ = [
    "Cells",
    "Dispatcher",
    "Item",
    "Queue",
    "Scenario",
    "Sweep",
    "__version__",
    "add_discipline",
    "bench_names",
    "bench_run",
    "best_of",
    "disciplines",
    "enact",
    "estimate_overhead",
    "fit_laws",
    "frontier_of",
    "import_capture",
    "import_log",
    "kendall",
    "laws",
    "opensm_import",
    "opensm_lint",
    "opensm_tables",
    "plan",
    "plan_emit",
    "play_replications",
    "reach",
    "read_recording",
    "recorded_events",
    "remove_discipline",
    "run",
    "schema",
    "survey_log",
    "textbook",
    "tg_packets",
    "tg_parse",
    "theory",
    "verify",
]

__version__: Final[str]
"""Version of the compiled module, which is the version of the package."""

@final
class Item:
    """What a discipline written in Python is given: something that waits to be served."""

    @property
    def flow(self) -> int:
        """Whose it is."""

    @property
    def class_(self) -> int:
        """What kind it is."""

    @property
    def size(self) -> int:
        """What is still to be served of it: packets, nanoseconds, bytes, or the unit of a queue."""

    @property
    def arrival(self) -> float:
        """When it arrived, in seconds."""

def add_discipline(name: str, title: str, packets: bool, class_: type, /) -> None:
    """Add a class to the disciplines, under a name, in place of one that was added under it before.

    Parameters
    ----------
    name, title : str
        As listings have them.
    packets : bool
        Whether it orders packets, and not messages.
    class_ : type
        What is made for each queue, without arguments; see `weir.own.Discipline`.

    Raises
    ------
    weir.errors.ConfigError
        If the name is that of a discipline of weir, or a spec could not name it.
    """

def remove_discipline(name: str, /) -> bool:
    """Take away a class that was added; queues that were made of it stay.

    Parameters
    ----------
    name : str
        The name it was added under.

    Returns
    -------
    bool
        Whether there was one.
    """

def verify(spec: str, promises: Sequence[str]) -> str:
    """Hold a discipline of messages or packets to the contract.

    Parameters
    ----------
    spec : str
        What names it.
    promises : sequence of str
        What it is held to besides: ``work_conserving``, ``flow_order``, ``resumable``.

    Returns
    -------
    str
        How many plans and sequences it was held to.

    Raises
    ------
    weir.errors.DisciplineError
        If it breaks the contract or a promise; the message names the plan.
    weir.errors.ConfigError
        If the spec is refused, or names what orders neither messages nor packets.
    """

def disciplines() -> str:
    """Return all disciplines in the order of the listings.

    Returns
    -------
    str
        A JSON list of objects with ``name``, ``kind``, ``models``, ``title``, ``rule``, ``source``, ``work``,
        ``parameters``, ``example`` and ``closed_forms``.
    """

def textbook() -> str:
    """Return what textbooks call what is here under another name, or not at all.

    Returns
    -------
    str
        A JSON list of objects with ``name``, ``means``, ``here`` (names of disciplines) and ``note``.
    """

def enact(
    scenario: Scenario,
    discipline: int,
    nanoseconds: int,
    record: str | PathLike[str],
    pinned: bool,
    real_time: int | None,
    progress: Callable[[dict[str, int]], object] | None,
) -> str:
    """Run the programs of a scenario of the node as tasks of this process, for real.

    Parameters
    ----------
    scenario : Scenario
        Of the model ``node``.
    discipline : int
        The place of the discipline in the scenario.
    nanoseconds : int
        For how long.
    record : path
        Where the recording goes.
    pinned : bool
        Whether each worker is bound to a processor of its own.
    real_time : int or None
        The priority of the workers under SCHED_FIFO; None leaves them ordinary threads.
    progress : callable or None
        Called some times a second with ``done`` and ``total`` in nanoseconds.

    Returns
    -------
    str
        JSON: ``workers``, each with ``elapsed``, ``idle``, ``paths``, ``wakes``, ``polls``, ``longest_poll``,
        ``longest_poll_of`` and ``tasks``; the first ``reports`` of the executor, and ``reported``, how
        many there were. Times are in seconds. ``late``: the name of each process
        that came late to an instant of its grid, when that was and when it came, in nanoseconds.

    Raises
    ------
    weir.errors.ConfigError
        If the scenario is of another model, or cannot be run for real.
    """

def fit_laws(file: str | PathLike[str], column: str, tested: int, replicates: int, seed: int) -> str:
    """Fit laws to a column of a CSV file; the best ``tested`` are tested by ``replicates`` samples each."""

def laws() -> str:
    """Return what is known of every law of a time: a JSON list."""

def estimate_overhead(
    settings: Sequence[tuple[float, float, float, float, float, float]], message_time: float | None = None
) -> str:
    """Estimate what a message takes of a process and what a scheduling costs.

    Parameters
    ----------
    settings : sequence of tuples
        Of each setting the run time in seconds a second, messages and schedulings a second, and the standard
        errors of the three; 0 where none is known.
    message_time : float or None
        What a message takes, in seconds, where that is known.

    Returns
    -------
    str
        A JSON object: ``unit``, ``message_time`` and ``overhead`` (each ``value``, ``low``, ``high``,
        ``standard_error``), ``correlation``, ``misfit``, ``settings`` (each ``overhead``, ``sensitivity``,
        ``residual``), ``method`` and ``reason``.

    Raises
    ------
    ConfigError
        If there are too few settings, a value is not a finite number of at least 0, or the settings do not
        tell the two apart.
    """

def read_recording(file: str | PathLike[str], most: int) -> tuple[str, bytes]:
    """Read a recording of weir-exec.

    Parameters
    ----------
    file : path
        As ``Builder::record`` wrote it.
    most : int
        How many bursts are kept; those behind are left out.

    Returns
    -------
    str
        JSON: ``discipline``, ``epoch``, ``workers``, ``events``, ``lost``, ``gaps``, ``until``, ``is_whole``,
        ``is_cut``, ``damage``, ``swap``, ``restart`` (what the executor needed, the median, or null) and
        ``tasks``, with ``bursts``, how many each has. Times are nanoseconds.
    bytes
        The bursts of all tasks, of each five 64-bit numbers: when it was ready, how long it ran, when it was
        done, how often the worker went to it from another task, and from itself.

    Raises
    ------
    weir.errors.TraceError
        If nothing of it can be read.
    """

def recorded_events(file: str | PathLike[str], most: int) -> bytes:
    """Read the events of a recording of weir-exec, as they stand there.

    Parameters
    ----------
    file : path
        As ``Builder::record`` wrote it.
    most : int
        How many are kept; those behind are left out.

    Returns
    -------
    bytes
        Of each event four 64-bit numbers: the task, by its place in the recording; from when until when it
        was polled, in nanoseconds; the level, -128 where there is none. A task that became ready has the same
        time twice, and 128 for the level.

    Raises
    ------
    weir.errors.TraceError
        If nothing of it can be read.
    """

def survey_log(file: str | PathLike[str]) -> str:
    """Return the format and the columns of a log of a service.

    Returns
    -------
    str
        A JSON object: ``format``, and ``columns``, each with ``name``, ``example``, ``stamp`` (how a time
        is written, where it looks like one) and ``unit`` (of a duration, where it is known).

    Raises
    ------
    weir.errors.TraceError
        If the log cannot be read, is empty, or its first lines do not fit its format.
    """

def import_log(
    file: str | PathLike[str],
    reading: str,
    requests: str | PathLike[str] | None,
    fitted: bool,
    progress: Callable[[dict[str, int]], object] | None,
) -> str:
    """Read the requests of a log of a service.

    Parameters
    ----------
    file : path
        The log; may be compressed by gzip.
    reading : str
        Which column is what: ``weir_workload::log::Reading`` as JSON.
    requests : path or None
        Where the requests are written in order of arrival, as CSV: ``time_ns``, ``service_ns`` and, where
        they have names, ``class``.
    fitted : bool
        Whether laws are fitted to the services of each class and to the times between arrivals.
    progress : callable or None
        Called some times a second with ``done`` and ``total``, in bytes of the file.

    Returns
    -------
    str
        A JSON object: ``dispersion``, ``noted`` (what was left out or put right), ``classes`` with ``name``,
        ``count``, ``mean_ns`` and ``services`` (fits, or null), ``gaps`` (fits, or null).

    Raises
    ------
    weir.errors.TraceError
        With the line that is refused.
    """

def import_capture(
    file: str | PathLike[str],
    schedule: str | PathLike[str],
    rest: str | PathLike[str],
    addresses: bool,
    largest: int,
    progress: Callable[[dict[str, int]], object] | None,
) -> str:
    """Read a packet capture, pcap or pcapng, and write its schedule.

    Parameters
    ----------
    file : path
        The capture; may be compressed by gzip.
    schedule : path
        Where the schedule is written, as CSV.
    rest : path
        Where those rows of it are written that go forward and belong to none of the largest flows; left alone
        if there are no such rows.
    addresses : bool
        Whether the schedule has addresses and ports.
    largest : int
        How many flows are told apart.
    progress : callable or None
        Called some times a second with ``done`` and ``total``, in bytes of the file.

    Returns
    -------
    str
        A JSON object: ``format``, ``frames``, ``packets``, ``bytes``, ``largest_frame``, ``span_ns``,
        ``flows``, ``largest`` (the largest flows), ``notes`` (what was left out or put right) and ``rest``
        (``packets``, ``bytes`` and ``first_ns`` of the other file).

    Raises
    ------
    CaptureError
        If the file is refused.
    KeyboardInterrupt
        At Ctrl-C. What was written until then is of no use.
    """

def bench_names(prefix: str) -> list[str]:
    """Return the names of the benchmarks that begin with ``prefix``."""

def bench_run(name: str) -> str:
    """Run one benchmark.

    Returns
    -------
    str
        A JSON object with ``bench``, ``unit``, ``value`` (the median), ``low`` and ``high``.

    Raises
    ------
    ValueError
        If no benchmark has this name.
    """

def schema() -> str:
    """Return the JSON Schema of scenario files."""

@final
class Scenario:
    """A scenario, read and checked once, with the data files that it names.

    Parameters
    ----------
    text : str
        The scenario, as TOML.
    name : str
        The file that errors speak of; data files that the scenario names are relative to its folder.

    Raises
    ------
    ScenarioError
        If the text is refused.
    TraceError
        If a data file is.
    """

    def __new__(cls, text: str, name: str) -> Self: ...
    @property
    def normalised(self) -> str:
        """The scenario in normalised form, as TOML."""

    @property
    def fingerprint(self) -> str:
        """16 hexadecimal digits that change with the normalised form, or with the bytes of a data file."""

    @property
    def disciplines(self) -> list[str]:
        """The disciplines as they are written, in their order: their names in results."""

    @property
    def replications(self) -> int:
        """How many replications make its result."""

    def grown(self, times: int, replications: int) -> Scenario:
        """Return the same with a run `times` as long, in this number of replications.

        Raises
        ------
        ScenarioError
            If its runs cannot be longer, or are as long as it takes.
        """

    def with_seed(self, seed: int) -> Scenario:
        """Return the same scenario with another seed; nothing is read again."""

    def settling(self) -> Scenario:
        """Return the same scenario, to be run for as long as it takes until every figure is settled."""

def theory(scenario: Scenario) -> str:
    """Return the closed forms of a scenario, as the JSON of a result without estimates.

    Raises
    ------
    ConfigError
        If the scenario is of neither the port nor the server, whose they are.
    """

def kendall(
    notation: str,
    arrival: str | None,
    service: str | None,
    patience: str | None,
    scv_arrival: float | None,
    scv_service: float | None,
    batch: float | None,
    scv_batch: float | None,
) -> str:
    """Return what is known of a queue in Kendall's notation, as JSON; times are in seconds.

    Raises
    ------
    ConfigError
        If the notation or a parameter is refused, nothing is known of the queue, or it has no steady state.
    """

def opensm_import(
    text: str,
    name: str,
    prefix: str,
    scenario: bool,
    mtu: int,
    high_capacity: int,
    low_capacity: int,
    lanes: int,
    rate_bits: int,
    coding: str,
) -> str:
    """Return a request, or a scenario of the fabric, made of an options file of OpenSM, as TOML.

    Raises
    ------
    PlanError
        If the file is malformed.
    ConfigError
        If ``prefix`` or ``coding`` is unknown, or no lane of a scenario is served.
    """

def opensm_lint(text: str, name: str, mtu: int, high_capacity: int, low_capacity: int, lanes: int) -> str:
    """Judge an options file of OpenSM on a port.

    Returns
    -------
    str
        A JSON list of findings: ``severity``, ``rule``, ``option``, ``line``, ``column``, ``what``, ``why``,
        ``remedy``.

    Raises
    ------
    PlanError
        If the file is malformed.
    """

def opensm_tables(text: str, name: str) -> str:
    """Return what an options file of OpenSM gives to each kind of port, as written.

    Returns
    -------
    str
        A JSON object with one object a prefix: ``own``, ``max_vls``, ``high_limit``, ``high``, ``low``,
        ``sl2vl``.

    Raises
    ------
    PlanError
        If the file is malformed.
    """

def plan(text: str, name: str, target: str | None = None) -> str:
    """Read a request and plan it, for ``target`` instead of that of the request.

    Returns
    -------
    str
        A JSON object with ``kind`` and ``form``, the target. Of an arbitration table (kind ``table``):
        ``title``, ``table``, ``link``, ``scheduler``, ``classes``, ``slots``, ``refused``, ``notes``. Of
        processes on nodes (kind ``nodes``): ``title``, ``epoch_ns``, ``reserve_ns``, ``capacity_ns``,
        ``nodes``, ``processes``, ``fewest``, ``balance``, ``max_steps``, ``refused``, ``notes``.

    Raises
    ------
    PlanError
        If the request is refused as a whole.
    ConfigError
        If the target is unknown.
    """

def plan_emit(text: str, name: str, form: str, target: str | None = None) -> str:
    """Plan a request for ``target``, without it for ``form``, and write the plan in ``form``.

    A plan of nodes is the same for every target.

    Returns
    -------
    str
        A JSON object: ``text``, and ``lost``, what the target cannot keep.

    Raises
    ------
    PlanError
        If the request is refused as a whole.
    ConfigError
        If the target is unknown, a class or a process does not fit, or the target cannot carry the plan.
    """

def run(
    scenario: Scenario,
    threads: int | None,
    progress: Callable[[dict[str, float]], None] | None,
    records: Callable[[dict[str, Any]], None] | None,
) -> str:
    """Simulate a scenario, with the interpreter lock released.

    Parameters
    ----------
    scenario : Scenario
        What to simulate.
    threads : int or None
        How many to use; None for as many as the machine offers. The result does not depend on it.
    progress : callable or None
        Called ten times a second with ``done`` and ``total`` over all disciplines and replications: of a
        port in packets (or messages served whole), of a network in simulated nanoseconds.
    records : callable or None
        Called from another thread with blocks of the first replication's records: ``discipline``, and one
        ``bytes`` a column in native order, as `weir.records.RecordFile.write` takes them.

    Returns
    -------
    str
        The result as JSON; ``interrupted`` is true after a Ctrl-C. A second Ctrl-C raises at once.

    Raises
    ------
    ConfigError
        If a discipline's queue outgrows what is simulated, or records are asked of a network.
    """

def reach(level: float, groups: int) -> float:
    """Return how many times as far an interval of a level reaches as one at 95 %, of this number of groups.

    Parameters
    ----------
    level : float
        The confidence, inside (0, 1).
    groups : int
        The independent groups, two at least; Student's t has one degree of freedom less.

    Raises
    ------
    ConfigError
        If a parameter is out of its bounds.
    """

def tg_packets(text: str, name: str, until: int) -> float:
    """Return about how many packets a script in the TG traffic language sends.

    Parameters
    ----------
    text, name : str
        As of `tg_parse`.
    until : int
        Nanoseconds since the script's start after which nothing is counted.

    Returns
    -------
    float
        The number.

    Raises
    ------
    TraceError
        If the script is refused, or a file that it includes.
    """

def tg_parse(text: str, name: str) -> str:
    """Read and check a script in the TG traffic language.

    Parameters
    ----------
    text : str
        The script.
    name : str
        The file that errors speak of; files that the script includes are relative to its folder.

    Returns
    -------
    str
        A JSON object: ``on``, ``protocol``, the addresses ``local``, ``remote`` and ``server`` where there
        are, ``qualities``, ``responses`` (whether any are asked for), ``bursts``, ``end`` (in seconds since
        the script's start; null where draws decide it or nothing does), ``largest_size`` (in bytes, headers
        included), ``expected_packets``, ``sources`` (the files) and ``text`` (keywords in full, nothing
        included).

    Raises
    ------
    TraceError
        If the script is refused, or a file that it includes.
    """

@final
class Dispatcher:
    """A dispatcher of requests over servers, with what each has; the core of `weir.Dispatcher`.

    Parameters
    ----------
    spec : str
        A spec string of a dispatcher.
    servers : int
        How many servers there are.

    Raises
    ------
    ConfigError
        If the spec or the number is refused.
    """

    def __new__(cls, spec: str, servers: int) -> Dispatcher: ...
    def assign(self, size: int, flow: int, class_: int, now: int) -> int | None:
        """Return the server that a request joins, which has it from now on; None if it joins none."""

    def done(self, server: int, size: int) -> None:
        """Note that a request of this size has left the server."""

    def loads(self) -> list[tuple[int, int]]:
        """Return what each server has: the number of requests, and their sizes together."""

@final
class Queue:
    """A discipline of messages or packets over handles, behind a lock; the core of `weir.Queue`.

    Times are in nanoseconds, sizes in a unit of the caller's. A time before the latest one seen counts
    as the latest.

    Parameters
    ----------
    spec : str
        A spec string of a discipline of messages or packets.

    Raises
    ------
    ConfigError
        If the spec is refused.
    """

    def __new__(cls, spec: str) -> Queue: ...
    def enqueue(
        self, handle: int, size: int, flow: int, class_: int, now: int
    ) -> tuple[bool, list[tuple[int, str]]]:
        """Take a handle.

        Returns
        -------
        preempts : bool
            Whether it outranks the item of the open grant.
        dropped : list of (handle, reason)
            What the discipline dropped.

        Raises
        ------
        ConfigError
            If ``size`` is not from 1 to 2**40.
        """

    def push_front(self, handle: int, size: int) -> None:
        """Put a handle before all others; the discipline does not learn of it.

        Raises
        ------
        ConfigError
            If ``size`` is not from 1 to 2**40.
        """

    def remove(self, handle: int) -> bool:
        """Take a handle out, wherever it waits; whether it did."""

    def clear(self) -> None:
        """Remove all that waits; the open grant stays open."""

    def order(self, now: int, most: int | None = None) -> list[int]:
        """Return the handles in the order in which they would be served if nothing else arrived.

        Raises
        ------
        UnsupportedError
            If the discipline's state cannot be copied.
        """

    def event(self, now: int) -> int | None:
        """Return how long after ``now`` the discipline may serve what it holds; None if it holds nothing."""

    def dequeue(self, now: int) -> tuple[int | None, list[tuple[int, str]] | None]:
        """Return the next handle, served whole at this instant, and what the discipline dropped.

        The handle is None if nothing can be served, or if something was dropped: what would have been next
        is in front then.

        Raises
        ------
        GrantError
            If a grant is open.
        """

    def take(self, now: int) -> tuple[tuple[int, int, int] | None, list[tuple[int, str]] | None]:
        """Open a grant.

        Returns
        -------
        granted : (handle, quantum, remaining)
            Or None if nothing can be served now, or something was dropped.
        dropped : list of (handle, reason)
            As of `dequeue`.

        Raises
        ------
        GrantError
            If a grant is open.
        """

    def charge(self, handle: int, used: int, now: int) -> None:
        """Charge ``used`` more to the open grant, which goes on.

        Raises
        ------
        GrantError
            If the grant of ``handle`` is not open.
        ConfigError
            If more is used than remains.
        """

    def requeue(self, handle: int, used: int, now: int) -> list[tuple[int, str]]:
        """Close the open grant over an item of which something remains.

        Returns
        -------
        list of (handle, reason)
            What the discipline dropped.

        Raises
        ------
        GrantError
            If the grant of ``handle`` is not open.
        ConfigError
            If more is used than remains, or nothing would remain.
        """

    def finish(self, handle: int, used: int | None, now: int) -> None:
        """Close the open grant; its item leaves, whole unless ``used`` says otherwise.

        Raises
        ------
        GrantError
            If the grant of ``handle`` is not open.
        ConfigError
            If more is used than remains.
        """

    def backlog(self) -> tuple[int, int]:
        """Return the items waiting and their sizes together, without the item of an open grant."""

@final
class Cells:
    """Cells of a sweep, whose texts are made where they are needed."""

    def __new__(
        cls,
        name: str,
        groups: Sequence[tuple[Sequence[int], Sequence[Sequence[str]]]],
        shapes: Sequence[tuple[Sequence[int], Sequence[tuple[str, int, int]], str]],
        kept: Sequence[int] | None,
        replications: int | None,
    ) -> Self:
        """Take groups of axes and the texts into which they write.

        Parameters
        ----------
        name : str
            The file that the scenario came from, to which data files are relative.
        groups : sequence of (forms, written)
            Of each group the form of each row, and of each of its keys what is written in each row. All
            combinations of rows are cells, the first group slowest.
        shapes : sequence of (forms, pieces, end)
            The text of cells whose rows have these forms: pieces, each with the group and the key that
            follow it, and the end.
        kept : sequence of int or None
            Which combinations are cells.
        replications : int or None
            Of each cell, if not as many as its text says.
        """

    def __len__(self) -> int:
        """Return how many cells there are."""

    def some(self, places: Sequence[int], counts: Sequence[int] | None = None) -> Cells:
        """Return some of them; with the replications of each, where these are given."""

    def text(self, place: int) -> tuple[str, int | None]:
        """Return the text of a cell, and how many replications it has, if not as many as that says."""

@final
class Sweep:
    """The folder of a sweep, and what is kept there.

    ``words`` choose figures: columns and what stands there, ``a|b`` for either, an empty text for nothing.
    """

    def __new__(cls, folder: str | PathLike[str]) -> Self:
        """Open a folder and read what is kept; nothing is written yet."""

    def __len__(self) -> int:
        """Return how many replications are kept."""

    @staticmethod
    def version() -> str:
        """Return the versions of numbers and states that are kept."""

    def passed_over(self) -> tuple[list[tuple[str, str]], int]:
        """Return the logs that are left alone, with the reasons, and how many bytes are damaged."""

    def play(
        self,
        cells: Cells,
        threads: int | None,
        alone: bool,
        watched: Sequence[tuple[str, str]] | None,
        progress: Callable[[dict[str, Any]], object] | None,
    ) -> dict[str, Any]:
        """Play what is missing, and keep it; Ctrl-C ends it.

        Returns
        -------
        dict
            ``cells`` that are done, replications ``kept`` before, ``played``, ``failed`` of these, played
            ``elsewhere`` meanwhile, and the ``widest`` interval of the figures that are watched with the
            place of its cell, or None; of short cells some are looked at, not each.
        """

    def table(
        self, cells: Cells, threads: int | None
    ) -> tuple[list[tuple[str, str, bytes, bytes, list[str]]], int, int, bool]:
        """Return the figures of all cells as columns.

        A column is its name, its kind (``words``, ``numbers`` or ``truths``), its values as bytes, which
        rows have one as bits, and its words. Then how many rows there are, of how many replications, and
        whether a cell names files of data or is refused.
        """

    def result(self, cells: Cells, place: int) -> str:
        """Return the result of one cell, as JSON."""

    def widths(
        self, cells: Cells, words: Sequence[tuple[str, str]], threads: int | None
    ) -> list[float | None]:
        """Return the widest interval of the chosen figures in each cell, as a share of its value."""

    def numbers(
        self, cells: Cells, words: Sequence[tuple[str, str]], threads: int | None
    ) -> list[list[float | None]]:
        """Return the number of each replication of every cell, of the figure that is chosen."""

    @staticmethod
    def replications(cells: Cells) -> list[int]:
        """Return how many replications each cell has: none where it is refused, or not played."""

    def wanting(self, cells: Cells, place: int) -> tuple[tuple[str, int, int, int], int, list[int]] | None:
        """Return what is wanting of a cell: its key, how many replications it has, which are not kept.

        The key is the version, the content, the seed and the grain. None where the cell is refused.
        """

    def keep(self, key: tuple[str, int, int, int], played: Sequence[tuple[int, bool, bytes]]) -> None:
        """Keep what `play_replications` has returned."""

    def sync(self) -> None:
        """Wait until all that was kept is on the disk."""

    def merge(self, other: Sweep) -> int:
        """Keep all that another folder keeps and this one does not; return how many replications that are."""

def play_replications(
    text: str, name: str, folder: str | PathLike[str], count: int | None, wanted: Sequence[int], /
) -> tuple[tuple[str, int, int, int], list[tuple[int, bool, bytes]]]:
    """Play some replications of a cell, kept nowhere; return its key as it is here, and what each left.

    Each is its number, whether a state follows or the reason why there is none, and that in bytes.

    Raises
    ------
    ConfigError
        If the cell is refused, as where a file of data is missing.
    """

def best_of(
    systems: Sequence[Sequence[float | None]], confidence: float
) -> tuple[int, list[bool], list[tuple[float, float | None, int] | None]] | None:
    """Return what is known of the best of some systems, by their numbers, of which less is better.

    Returns
    -------
    tuple or None
        The place of the least mean; which may be the best; by how much each is behind, with half the width
        of that interval and the number of pairs. None where no system has a number.
    """

def frontier_of(
    one: Sequence[Sequence[float | None]], other: Sequence[Sequence[float | None]], confidence: float
) -> list[str]:
    """Return where each system stands to the frontier of two figures, of both of which less is better.

    Returns
    -------
    list of str
        ``frontier``, ``possible``, ``dominated`` or ``unknown``.
    """
