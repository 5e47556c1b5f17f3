"""Who ran when as a Perfetto trace, for the timeline of ui.perfetto.dev and for `trace_processor`.

Each discipline is a process group of its own, so that several stand below each other. In it are:

- ``epochs``: an instant at each turn of an epoch;
- ``processor NODE``: a slice named after the process that runs, or ``overhead`` where it is busy for nobody;
- ``critical period NODE``: a slice for each critical scheduling period;
- one track a process: slices named by kind, ``normal`` or ``windfall``, and instants where it wakes, waits or
  moves;
- one counter a dual queue: the data it holds.

Times are nanoseconds from the beginning of the first replication. The file appears when it is complete.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from weir.errors import ConfigError
from weir.extras import need
from weir.files import replacing
from weir.models.node.periods import OVERHEAD, critical_periods, epochs, lengths, runs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from weir.models.node.result import NodeResult
    from weir.models.node.rows import Timeline
    from weir.scenario import Scenario

ENDING = ".pftrace"
_SEQUENCE = 1
"""All packets are of one writer."""
_CLEARED = 1
"""Of `sequence_flags`: nothing of an earlier packet is referred to."""
_CRITICAL = "critical scheduling period"
_LAST = "the timeline is cut here: more happened than is kept"
_END, _MOMENT, _BEGIN = range(3)
"""What comes first of one instant: a slice ends before another begins."""
_REMEDY = 'write `timeline = { from = "0ms", until = "500ms" }` under [measure]'


class _Event(NamedTuple):
    """Something on a track at a time in nanoseconds."""

    at: int
    order: int
    track: int
    name: str = ""
    value: int | None = None
    level: int | None = None


def check_scenario(scenario: Scenario) -> None:
    """Refuse a scenario of which no trace could be written, before it is run.

    Raises
    ------
    ConfigError
        If it is of another model. An empty `measure.timeline` is refused when the scenario is read.
    """
    if scenario.model != "node":
        raise ConfigError(
            f"a trace is of the model `node`, and this scenario is of the model `{scenario.model}`",
            "leave out `--trace`",
            scenario.name,
        )


def write(result: NodeResult, path: Path) -> None:
    """Write the timelines of a result as a Perfetto trace.

    Parameters
    ----------
    result : NodeResult
        What was run.
    path : Path
        Ends in ``.pftrace``; an existing file is replaced.

    Raises
    ------
    ConfigError
        If the name ends otherwise, the file cannot be written, or no timeline was kept.
    """
    if path.suffix != ENDING:
        raise ConfigError(
            f"a trace goes to a file that ends in {ENDING}, not `{path.suffix}`",
            f"write `--trace {path.stem or 'node'}{ENDING}`",
            str(path),
        )
    if not any(line.runs.node or line.marks.at for line in result.timelines):
        raise ConfigError(
            "no timeline was kept, and a trace is made of it", _REMEDY, result.document.get("file")
        )
    need("trace", "a Perfetto trace")
    from perfetto.trace_builder.proto_builder import StreamingTraceProtoBuilder

    with replacing(path) as part, part.open("wb") as file:
        builder = StreamingTraceProtoBuilder(file)
        for packet in _packets(result, builder.create_packet):
            builder.write_packet(packet)


def _packets(result: NodeResult, create: Callable[[], Any]) -> Iterator[Any]:
    """Yield the packets of a trace: the tracks of each discipline, then what is on them in order of time."""
    first = True
    uuid = 0
    for place, line in enumerate(result.timelines):
        group = _Group(result, line, uuid)
        uuid += len(group.names)
        for track in range(len(group.names)):
            packet = create()
            packet.trusted_packet_sequence_id = _SEQUENCE
            if first:
                packet.sequence_flags = _CLEARED
                first = False
            group.describe(packet.track_descriptor, track, place + 1)
            yield packet
        for event in sorted(group.events(), key=lambda event: event[:3]):
            packet = create()
            packet.trusted_packet_sequence_id = _SEQUENCE
            packet.timestamp = event.at
            group.fill(packet.track_event, event)
            yield packet


class _Group:
    """The tracks of one discipline: of the group itself, epochs, processors, processes and queues."""

    def __init__(self, result: NodeResult, line: Timeline, before: int) -> None:
        self.result = result
        self.line = line
        self._before = before
        self._nodes = 2
        self._critical = self._nodes + len(result.nodes)
        self._processes = self._critical + len(result.nodes)
        self._queues = self._processes + len(result.processes)
        self.names = (
            result.labels[line.discipline],
            "epochs",
            *(f"processor {name}" for name in result.nodes),
            *(f"critical period {name}" for name in result.nodes),
            *(row.name for row in result.processes),
            *result.queues,
        )

    def _uuid(self, track: int) -> int:
        return self._before + track + 1

    def describe(self, descriptor: Any, track: int, pid: int) -> None:  # noqa: ANN401 - made at run time
        """Fill in what a track is: the first is the group, as a process of the trace."""
        descriptor.uuid = self._uuid(track)
        if track == 0:
            descriptor.process.pid = pid
            descriptor.process.process_name = self.names[0]
            descriptor.child_ordering = descriptor.EXPLICIT
            return
        descriptor.name = self.names[track]
        descriptor.parent_uuid = self._uuid(0)
        descriptor.sibling_order_rank = track
        descriptor.sibling_merge_behavior = descriptor.SIBLING_MERGE_BEHAVIOR_NONE
        if track >= self._queues:
            descriptor.counter.unit_name = "data"

    def fill(self, made: Any, event: _Event) -> None:  # noqa: ANN401 - made at run time
        """Fill in an event of a track."""
        made.track_uuid = self._uuid(event.track)
        if event.value is not None:
            made.type = made.TYPE_COUNTER
            made.counter_value = event.value
            return
        made.type = (made.TYPE_SLICE_END, made.TYPE_INSTANT, made.TYPE_SLICE_BEGIN)[event.order]
        if event.order != _END:
            made.name = event.name
        if event.level is not None:
            note = made.debug_annotations.add()
            note.name = "level"
            note.int_value = event.level

    def events(self) -> Iterator[_Event]:
        """Yield what is on the tracks, in no order."""
        yield from self._runs()
        yield from self._turns()
        yield from self._marks()
        for queue, at, length in lengths(self.line, len(self.result.queues)):
            yield _Event(_ns(at), _MOMENT, self._queues + queue, value=length)

    def _runs(self) -> Iterator[_Event]:
        for run, level in zip(runs(self.line), self.line.runs.level, strict=True):
            who = OVERHEAD if run.process is None else self.result.processes[run.process].name
            yield from _slice(self._nodes + run.node, who, run.begin, run.end, level)
            if run.process is not None:
                yield from _slice(self._processes + run.process, run.kind, run.begin, run.end, level)

    def _turns(self) -> Iterator[_Event]:
        for at in epochs(self.line):
            yield _Event(_ns(at), _MOMENT, 1, "epoch")
        for period in critical_periods(self.line):
            yield from _slice(self._critical + period.node, _CRITICAL, period.begin, period.end)
        if self.line.truncated:
            yield _Event(_ns(self.line.until), _MOMENT, 1, _LAST)

    def _marks(self) -> Iterator[_Event]:
        marks: Iterable[tuple[str, int | None, float]] = zip(
            self.line.marks.what, self.line.marks.process, self.line.marks.at, strict=True
        )
        for what, process, at in marks:
            if process is not None:
                yield _Event(_ns(at), _MOMENT, self._processes + process, what)


def _slice(track: int, name: str, begin: float, end: float, level: int | None = None) -> Iterator[_Event]:
    """Yield the two ends of a slice, unless it is shorter than a nanosecond."""
    if _ns(begin) < _ns(end):
        yield _Event(_ns(begin), _BEGIN, track, name, level=level)
        yield _Event(_ns(end), _END, track)


def _ns(seconds: float) -> int:
    return max(0, round(seconds * 1e9))
